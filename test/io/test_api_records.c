/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that are kept as given, and namespaces, through the API. */
#include <check.h>
#include <string.h>

#include "daemon/api/resources.h"
#include "test/lib/api_fixture.h"

Suite *test_api_records_suite(void);

#define WALL    INT64_C(1795910400000)
#define V1      "/api/v1"
#define DEFAULT V1 "/namespaces/default"
#define LAB_VMS "/apis/kubevirt.io/v1/namespaces/lab/virtualmachines"

static struct api_fixture f;

static void set_up(void)
{
	api_fixture_start(&f);
}

static void tear_down(void)
{
	api_fixture_stop(&f);
}

/* ---- every kind ------------------------------------------------------------------------------ */

#define CLAIM_SPEC                              \
	"{\"accessModes\":[\"ReadWriteOnce\"]," \
	"\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}"
#define TYPE_SPEC "{\"cpu\":{\"guest\":1},\"memory\":{\"guest\":\"64Mi\"}}"

/* What each kind must have at least; NULL: a spec. */
static const char *const contents[KIND_MAX] = {
	[KIND_SECRET] = "",
	[KIND_CONFIG_MAP] = "",
	[KIND_PRIORITY_CLASS] = ",\"value\":1",
	[KIND_PVC] = ",\"spec\":" CLAIM_SPEC,
	[KIND_DATA_VOLUME] = ",\"spec\":{\"source\":{\"blank\":{}},\"pvc\":" CLAIM_SPEC "}",
	[KIND_MIGRATION_POLICY] = ",\"spec\":{\"selectors\":{}}",
	[KIND_INSTANCETYPE] = ",\"spec\":" TYPE_SPEC,
	[KIND_CLUSTER_INSTANCETYPE] = ",\"spec\":" TYPE_SPEC,
};

static char *object_of(const struct resource *r, const char *name)
{
	const char *version = api_group_find(r->group, strlen(r->group))->versions[0];

	return xasprintf("{\"apiVersion\":\"%s%s%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\"}%s}",
		r->group, *r->group ? "/" : "", version, r->kind, name,
		contents[r->object] ? contents[r->object] : ",\"spec\":{}");
}

static char *path_of(const struct resource *r)
{
	const char *version = api_group_find(r->group, strlen(r->group))->versions[0];

	return xasprintf("/api%s%s%s/%s%s/%s", *r->group ? "s" : "", *r->group ? "/" : "", r->group,
		version, r->namespaced ? "/namespaces/default" : "", r->plural);
}

static void live(const struct resource *r)
{
	autofree char *path = path_of(r), *object = object_of(r, "one");
	autofree char *post = xasprintf("POST %s", path), *get = xasprintf("GET %s/one", path);
	autofree char *list = xasprintf("GET %s", path), *delete = xasprintf("DELETE %s/one", path);
	autofree char *put = xasprintf("PUT %s/one", path);

	api_expect(&f, post, object, 201, "\"uid\":\"");
	api_expect(&f, post, object, 409, "AlreadyExists");
	api_expect(&f, get, NULL, 200, r->kind);
	api_expect(&f, list, NULL, 200, "\"name\":\"one\"");
	api_expect(&f, put, object, 200, "\"name\":\"one\"");
	api_expect(&f, delete, NULL, 200, NULL);
	if (r->object == KIND_PVC) /* its data goes first */
		api_until(&f, get, 404);
	api_expect(&f, get, NULL, 404, r->plural);
	api_expect(&f, delete, NULL, 404, "NotFound");
}

START_TEST(test_each_kind_lives)
{
	unsigned n = 0;

	for (const struct resource *r = api_resources; r->plural; r++) {
		if (r->object == KIND_MAX || object_kind_home(r->object) != HOME_RECORD)
			continue;
		live(r);
		n++;
	}
	ck_assert_uint_eq(n, 12);
}
END_TEST

#define SECRET(rest) \
	"{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"key\"}," rest "}"
#define KEY DEFAULT "/secrets/key"

START_TEST(test_changes)
{
	struct client_request patch = { .line = "PATCH " KEY,
		.headers = "Content-Type: application/merge-patch+json\r\n",
		.body = "{\"data\":{\"b\":\"YQ==\"}}" };

	api_expect(&f, "POST " DEFAULT "/secrets", SECRET("\"stringData\":{\"a\":\"x\"}"), 201,
		"\"data\":{\"a\":\"eA==\"}");
	ck_assert_int_eq(client_request(&f.loop, f.path, &patch, NULL, NULL), 200);
	api_expect(&f, "GET " KEY, NULL, 200, "\"data\":{\"a\":\"eA==\",\"b\":\"YQ==\"}");
	patch.body = "{\"type\":\"other\"}";
	ck_assert_int_eq(client_request(&f.loop, f.path, &patch, NULL, NULL), 422);
	patch.body = "{\"data\":{\"b\":\"*\"}}";
	ck_assert_int_eq(client_request(&f.loop, f.path, &patch, NULL, NULL), 422);
	api_expect(&f, "PUT " KEY "?dryRun=All", SECRET("\"data\":{}"), 200, "\"data\":{}");
	api_expect(&f, "GET " KEY, NULL, 200, "\"b\":\"YQ==\"");
	api_expect(&f, "DELETE " KEY, "{\"preconditions\":{\"uid\":\"other\"}}", 409, "Conflict");
	api_expect(&f, "DELETE " KEY "?dryRun=All", NULL, 200, NULL);
	api_expect(&f, "GET " KEY, NULL, 200, NULL);
}
END_TEST

/* kubectl knows these kinds, and so sends what it sends for no other. */
START_TEST(test_strategic_merge)
{
	struct client_request patch = { .line = "PATCH " KEY,
		.headers = "Content-Type: application/strategic-merge-patch+json\r\n",
		.body = "{\"stringData\":{\"a\":\"y\"},\"metadata\":{\"labels\":{\"l\":\"m\"}}}" };

	api_expect(&f, "POST " DEFAULT "/secrets", SECRET("\"stringData\":{\"a\":\"x\"}"), 201,
		NULL);
	ck_assert_int_eq(client_request(&f.loop, f.path, &patch, NULL, NULL), 200);
	api_expect(&f, "GET " KEY, NULL, 200, "\"labels\":{\"l\":\"m\"}");
	api_expect(&f, "GET " KEY, NULL, 200, "\"data\":{\"a\":\"eQ==\"}");
	patch.body = "{\"data\":{\"$patch\":\"replace\"}}";
	ck_assert_int_eq(client_request(&f.loop, f.path, &patch, NULL, NULL), 400);
	patch.line = "PATCH " LAB_VMS "/web";
	ck_assert_int_eq(client_request(&f.loop, f.path, &patch, NULL, NULL), 415);
}
END_TEST

START_TEST(test_a_watch_sees_each_change)
{
	struct client c;

	client_open(&c, &f.loop, f.path);
	client_printf(&c, "GET " DEFAULT "/secrets?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n");
	api_expect(&f, "POST " DEFAULT "/secrets", SECRET("\"data\":{}"), 201, NULL);
	ck_assert(client_sees(&c,
		"{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Secret\""));
	api_expect(&f, "DELETE " KEY, NULL, 200, NULL);
	ck_assert(client_sees(&c,
		"{\"type\":\"DELETED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Secret\""));
	client_close(&c);
}
END_TEST

/* What is created again in the turn that deleted it is another object, and the log says both. */
START_TEST(test_again_within_a_turn)
{
	autofree char *before = NULL, *after = NULL;

	api_expect(&f, "POST " DEFAULT "/secrets", SECRET("\"data\":{}"), 201, NULL);
	ck_assert_int_eq(api_ask(&f, "GET " KEY, NULL, &before), 200);
	f.frozen = true;
	struct client first, second;

	client_open(&first, &f.loop, f.path);
	client_printf(&first, "DELETE " KEY " HTTP/1.1\r\nHost: x\r\n\r\n");
	client_open(&second, &f.loop, f.path);
	const char *body = SECRET("\"data\":{}");

	client_printf(&second,
		"POST " DEFAULT "/secrets HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
		strlen(body), body);
	for (int i = 0; i < 20; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	f.frozen = false;
	ck_assert(client_sees(&first, "200 OK"));
	ck_assert(client_sees(&second, "201 Created"));
	client_close(&first);
	client_close(&second);
	ck_assert_int_eq(api_ask(&f, "GET " KEY, NULL, &after), 200);
	ck_assert_str_ne(before, after);
}
END_TEST

/* ---- namespaces ------------------------------------------------------------------------------ */

#define NAMESPACE(name) \
	"{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"" name "\"}}"

START_TEST(test_a_namespace_exists_by_use)
{
	api_expect(&f, "GET " V1 "/namespaces", NULL, 200, "\"name\":\"default\"");
	api_expect(&f, "GET " V1 "/namespaces/lab", NULL, 404, "namespaces \\\"lab\\\" not found");
	api_expect(&f, "POST " V1 "/namespaces/lab/secrets", SECRET("\"data\":{}"), 201,
		"\"namespace\":\"lab\"");
	api_expect(&f, "GET " V1 "/namespaces/lab", NULL, 200, "\"phase\":\"Active\"");
	api_expect(&f, "POST " V1 "/namespaces", NAMESPACE("lab"), 409, "AlreadyExists");
	api_expect(&f, "DELETE " V1 "/namespaces/default", NULL, 403, "may not be deleted");
	api_expect(&f, "DELETE " V1 "/namespaces/lab?dryRun=All", NULL, 200, NULL);
	api_expect(&f, "GET " V1 "/namespaces/lab", NULL, 200, "\"phase\":\"Active\"");
}
END_TEST

START_TEST(test_the_end_of_a_namespace)
{
	api_expect(&f, "POST " V1 "/namespaces", NAMESPACE("lab"), 201, "\"phase\":\"Active\"");
	api_expect(&f, "POST " LAB_VMS, api_vm("web", "Always"), 201, NULL);
	api_expect(&f, "POST " V1 "/namespaces/lab/secrets", SECRET("\"data\":{}"), 201, NULL);
	api_expect(&f, "GET " V1 "/namespaces/lab/events", NULL, 200, "\"name\":\"web");
	f.yes.hold = true; /* its guest takes its time */
	api_expect(&f, "DELETE " V1 "/namespaces/lab", NULL, 200, "\"phase\":\"Terminating\"");
	api_expect(&f, "GET " V1 "/namespaces/lab/secrets", NULL, 200, "\"items\":[]");
	api_expect(&f, "GET " LAB_VMS "/web", NULL, 200, "deletionTimestamp");
	api_expect(&f, "POST " V1 "/namespaces/lab/secrets", SECRET("\"data\":{}"), 403,
		"unable to create new content in namespace lab because it is being terminated");
	api_expect(&f, "DELETE " V1 "/namespaces/lab", NULL, 200, "\"phase\":\"Terminating\"");
	f.yes.hold = false;
	api_until(&f, "GET " V1 "/namespaces/lab", 404);
	api_expect(&f, "GET " V1 "/namespaces/lab/events", NULL, 200, "\"items\":[]");
	api_expect(&f, "GET " LAB_VMS, NULL, 200, "\"items\":[]");
	api_expect(&f, "GET " DEFAULT "/events", NULL, 200, "delete accepted");
	api_expect(&f, "POST " V1 "/namespaces/lab/secrets", SECRET("\"data\":{}"), 201, NULL);
}
END_TEST

static void drop_row(const char *name)
{
	struct object_row row = { .kind = KIND_NAMESPACE,
		.ns = "",
		.name = name,
		.uid = "",
		.object = "{}" };

	row.rv = store_next_rv(f.store);
	ck_assert_int_eq(store_begin(f.store, NULL), 0);
	ck_assert_int_eq(store_remove(f.store, &row, NULL), 0);
	ck_assert_int_eq(store_commit(f.store, NULL), 0);
}

static int count_row(void *ctx, const struct object_row *row)
{
	(void)row;
	++*(unsigned *)ctx;
	return 0;
}

/* In a database of before there were namespaces nobody wrote down the one that a machine lies
 * in. */
START_TEST(test_namespaces_of_an_older_database)
{
	struct object_query lab = { .kind = KIND_NAMESPACE, .ns = "", .name = "lab" };
	struct now now = { .boot = 1, .wall = WALL };
	struct agent *again;
	unsigned n = 0;
	struct err err;

	api_expect(&f, "POST " LAB_VMS, api_vm("web", "Halted"), 201, NULL);
	drop_row("lab");
	ck_assert_int_eq(store_each(f.store, &lab, count_row, &n, &err), 0);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(agent_new(&f.options, now, &again, &err), 0);
	agent_turn(again, now);
	ck_assert_int_eq(store_each(f.store, &lab, count_row, &n, &err), 0);
	ck_assert_uint_eq(n, 1);
	agent_free(again);
}
END_TEST

Suite *test_api_records_suite(void)
{
	Suite *suite = suite_create("api_records");
	TCase *tcase = tcase_create("records");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_each_kind_lives);
	tcase_add_test(tcase, test_changes);
	tcase_add_test(tcase, test_strategic_merge);
	tcase_add_test(tcase, test_a_watch_sees_each_change);
	tcase_add_test(tcase, test_again_within_a_turn);
	tcase_add_test(tcase, test_a_namespace_exists_by_use);
	tcase_add_test(tcase, test_the_end_of_a_namespace);
	tcase_add_test(tcase, test_namespaces_of_an_older_database);
	suite_add_tcase(suite, tcase);
	return suite;
}
