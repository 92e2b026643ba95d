/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every path and method of KubeVirt's API is asked for, with a machine that runs and whatever else
 * the path names: it is served, or refused for the reason that test/fixtures/api-paths.txt gives.
 * Those of api-paths-must.txt are served.
 */
#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/edit.h"
#include "daemon/api/resources.h"
#include "test/lib/api_fixture.h"

Suite *test_api_walk_suite(void);

#define FIXTURES "test/fixtures/"
#define VMS      "/apis/kubevirt.io/v1/namespaces/default/virtualmachines"
#define VMIS     "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances"

struct row { /* owned texts */
	char *method, *path;
	char *state; /* "served", a status, or NULL in a list of what must be served */
	char *words; /* of the refusal, or NULL */
};

struct rows {
	struct row *list;
	size_t n;
};

static char *read_text(const char *name)
{
	FILE *file = fopen(name, "re");
	struct buf text = { 0 };
	char part[4096];
	size_t n;

	ck_assert_msg(file != NULL, "no %s", name);
	while ((n = fread(part, 1, sizeof(part), file)))
		buf_add(&text, part, n);
	fclose(file);
	return text.data;
}

static void read_row(struct rows *rows, char *line)
{
	char *method = strsep(&line, " "), *path, *state;

	if (!*method || *method == '#')
		return;
	line += strspn(line, " ");
	path = strsep(&line, " ");
	state = strsep(&line, " ");
	rows->list = xrealloc_array(rows->list, rows->n + 1, sizeof(*rows->list));
	rows->list[rows->n++] =
		(struct row){ xstrdup(method), xstrdup(path), xstrdup(state), xstrdup(line) };
}

static struct rows read_rows(const char *name)
{
	autofree char *text = read_text(name);
	char *rest = text, *line;
	struct rows rows = { 0 };

	while ((line = strsep(&rest, "\n")))
		read_row(&rows, line);
	return rows;
}

static void rows_done(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		free(rows->list[i].method);
		free(rows->list[i].path);
		free(rows->list[i].state);
		free(rows->list[i].words);
	}
	free(rows->list);
}

/* ---- what is asked --------------------------------------------------------------------------- */

static const struct {
	const char *place, *value;
} places[] = {
	{ "{namespace}", "default" },
	{ "{name}", "web" },
	{ "{port}", "22" },
	{ "{protocol}", "tcp" },
};

/* A path with names for its placeholders; owned by the caller. */
static char *filled(const char *path)
{
	struct buf out = { 0 };

	while (*path) {
		size_t i = 0;

		while (i < ARRAY_SIZE(places) && !starts_with(path, places[i].place))
			i++;
		buf_printf(&out, "%.*s", i < ARRAY_SIZE(places) ? 0 : 1, path);
		buf_puts(&out, i < ARRAY_SIZE(places) ? places[i].value : "");
		path += i < ARRAY_SIZE(places) ? strlen(places[i].place) : 1;
	}
	return out.data;
}

/* The resource of a collection's or an object's path, or NULL. */
static const struct resource *resource_of(const char *path)
{
	const struct resource *found = NULL;
	const char *last = path; /* namespaces are in the paths of others, too */

	for (const struct resource *r = api_resources; r->plural; r++) {
		autofree char *group = *r->group ? xasprintf("/apis/%s/", r->group)
						 : xstrdup("/api/v1/");
		const char *at = starts_with(path, group) ? strstr(path, r->plural) : NULL;

		if (!at || at < last || at[-1] != '/' || !strchr("/?", at[strlen(r->plural)]))
			continue;
		found = r;
		last = at;
	}
	return found;
}

#define VMI_SPEC "{\"domain\":{\"devices\":{},\"memory\":{\"guest\":\"64Mi\"}}}"
#define MOVE_SPEC \
	"{\"vmiName\":\"web\",\"priority\":\"user-triggered\",\"addedNodeSelector\":{\"kubernetes.io/hostname\":\"b\"}}"
#define TYPE_SPEC "{\"cpu\":{\"guest\":1},\"memory\":{\"guest\":\"64Mi\"}}"

static const char *spec_of(enum object_kind kind)
{
	if (kind == KIND_INSTANCETYPE || kind == KIND_CLUSTER_INSTANCETYPE)
		return TYPE_SPEC;
	if (kind == KIND_MIGRATION)
		return MOVE_SPEC;
	if (kind == KIND_MIGRATION_POLICY)
		return "{\"selectors\":{}}";
	return kind == KIND_VMI ? VMI_SPEC : "{}";
}

/* An object for a POST; owned by the caller. */
static char *object_of(const struct resource *r, const char *name)
{
	const char *version = api_group_find(r->group, strlen(r->group))->versions[0];
	const char *spec = spec_of(r->object);
	bool has_spec = r->object != KIND_SECRET && r->object != KIND_CONFIG_MAP;

	if (r->object == KIND_VM)
		return xstrdup(api_vm(name, "Halted"));
	return xasprintf("{\"apiVersion\":\"%s%s%s\",\"kind\":\"%s\",\"metadata\":"
			 "{\"name\":\"%s\"}%s%s}",
		r->group, *r->group ? "/" : "", version, r->kind, name,
		has_spec ? ",\"spec\":" : "", has_spec ? spec : "");
}

static bool is_made(enum object_kind kind)
{
	return object_kind_home(kind) == HOME_RECORD || kind == KIND_MIGRATION;
}

/* What runs can be moved. */
static void allow_moves(struct api_fixture *f)
{
	f->options.migrations = true;
	api_until_text(f, "GET " VMIS "/web", "\"phase\":\"Running\"");
}

/* Machine web runs; what else is called that is made first. */
static void make(struct api_fixture *f, const char *path)
{
	const struct resource *r = resource_of(path);
	const char *end = strstr(path, "/web");
	autofree char *line = end ? xasprintf("POST %.*s", (int)(end - path), path) : NULL;
	autofree char *object = NULL;

	api_expect(f, "POST " VMS, api_vm("web", "Always"), 201, NULL);
	if (r && r->object == KIND_MIGRATION)
		allow_moves(f);
	if (!r || !line || !is_made(r->object))
		return;
	object = object_of(r, "web");
	ck_assert_msg(api_ask(f, line, object, NULL) == 201, "%s makes nothing", line);
}

/* What is sent along; owned by the caller. */
static char *body_of(struct api_fixture *f, const struct row *row, const char *path)
{
	const struct resource *r = resource_of(path);
	autofree char *get = xasprintf("GET %s", path);
	char *object = NULL;

	if (streq(row->method, "PATCH"))
		return xstrdup("{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
	if (strstr(path, "/expand-vm-spec"))
		return xstrdup(api_vm("any", "Halted"));
	if (streq(row->method, "POST") && r)
		return object_of(r, "made");
	if (streq(row->method, "PUT") && r && api_ask(f, get, NULL, &object) == 200)
		return object;
	free(object);
	return xstrdup("");
}

static bool is_stream(const char *path)
{
	static const char *const parts[] = { "/console", "/vnc", "/portforward/", "/watch/" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(path, parts[i]) && !strstr(path, "/screenshot"))
			return true;
	return false;
}

/* Of what does not end by itself: its head, and a refusal's Status. */
static int ask_stream(struct api_fixture *f, const char *path, char **ret_body)
{
	struct client c;
	int status = 0;

	client_open(&c, &f->loop, f->path);
	client_printf(&c, "GET %s HTTP/1.1\r\nHost: x\r\n", path);
	client_printf(&c, "%s",
		strstr(path, "/watch/")
			? "\r\n"
			: "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
			  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
			  "Sec-WebSocket-Protocol: plain.kubevirt.io\r\n\r\n");
	ck_assert_msg(client_sees(&c, "\r\n\r\n"), "%s: no answer", path);
	ck_assert_int_eq(sscanf(c.in.data, "HTTP/1.1 %d", &status), 1);
	if (status >= 400)
		ck_assert_msg(client_sees(&c, "\"code\":"), "%s: no Status", path);
	*ret_body = xstrdup(strstr(c.in.data, "\r\n\r\n") + 4);
	client_close(&c);
	return status;
}

static int ask(struct api_fixture *f, const struct row *row, const char *path, char **ret_body)
{
	autofree char *line = xasprintf("%s %s", row->method, path);
	autofree char *body = body_of(f, row, path);
	struct client_request request = { .line = line, .body = body };

	if (is_stream(path))
		return ask_stream(f, path, ret_body);
	if (streq(row->method, "PATCH"))
		request.headers = "Content-Type: application/merge-patch+json\r\n";
	return client_request(&f->loop, f->path, &request, NULL, ret_body);
}

/* ---- what is answered ------------------------------------------------------------------------ */

/* An answer, or a refusal that is about the object as it is: it names that. */
static bool is_served(int status, const char *body)
{
	static const int good[] = { 200, 201, 202, 101 };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		if (status == good[i])
			return true;
	return status != 404 && status != 405 && status != 501 && status != 500 &&
		strstr(body, "\"details\":{\"name\":\"web\"");
}

static void check_row(const struct row *row)
{
	autofree char *path = filled(row->path), *body = NULL, *message = NULL;
	struct node *status_object = NULL;
	struct api_fixture f;
	int status, port[2]; /* of the guest: whoever asks for it gets its end */

	api_fixture_start(&f);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, port), 0);
	f.yes.fd = port[0];
	f.yes.graphics = "/tmp/no-display";
	f.yes.image = "P6 1 1 255\nabc";
	f.yes.image_len = strlen(f.yes.image);
	make(&f, path);
	status = ask(&f, row, path, &body);
	if (!row->state || streq(row->state, "served")) {
		ck_assert_msg(is_served(status, body), "%s %s is not served: %d %s", row->method,
			row->path, status, body);
	} else {
		status_object = text_tree(body);
		message = xstrdup(node_text(status_object, "message"));
		ck_assert_msg(status == atoi(row->state) && message && strstr(message, row->words),
			"%s %s is not refused by %s, '%s': %d %s", row->method, row->path,
			row->state, row->words, status, body);
		node_free(status_object);
	}
	api_fixture_stop(&f);
	if (f.yes.fd)
		close(f.yes.fd);
	close(port[1]);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const struct row *row_of(const struct rows *rows, const char *method, const char *path)
{
	const struct row *found = NULL;

	for (size_t i = 0; i < rows->n; i++) {
		if (strcasecmp(rows->list[i].method, method) != 0 ||
			!streq(rows->list[i].path, path))
			continue;
		ck_assert_msg(!found, "%s %s is there twice", method, path);
		found = &rows->list[i];
	}
	return found;
}

START_TEST(test_each_path_of_kubevirts_has_its_row)
{
	autofree char *text = read_text(FIXTURES "kubevirt-api-paths.json");
	struct rows rows = read_rows(FIXTURES "api-paths.txt");
	struct node *paths = text_tree(text);
	size_t n = 0;

	ck_assert_uint_eq(paths->n_children, 203);
	for (size_t i = 0; i < paths->n_children; i++) {
		const struct node *path = paths->children[i];

		for (size_t m = 0; m < path->n_children; m++, n++)
			ck_assert_msg(row_of(&rows, path->children[m]->text, path->key) != NULL,
				"no row: %s %s", path->children[m]->text, path->key);
	}
	ck_assert_uint_eq(rows.n, n);
	node_free(paths);
	rows_done(&rows);
}
END_TEST

START_TEST(test_each_is_served_or_refused_as_said)
{
	struct rows rows = read_rows(FIXTURES "api-paths.txt");
	size_t served = 0;

	for (size_t i = 0; i < rows.n; i++) {
		check_row(&rows.list[i]);
		served += streq(rows.list[i].state, "served");
	}
	printf("KubeVirt's paths and methods: %zu, served %zu, refused with a reason %zu\n", rows.n,
		served, rows.n - served);
	rows_done(&rows);
}
END_TEST

#define MUST_MIN 60

START_TEST(test_what_clients_use_is_served)
{
	struct rows rows = read_rows(FIXTURES "api-paths-must.txt");
	size_t paths = 0;

	for (size_t i = 0; i < rows.n; i++) {
		struct rows before = { rows.list, i };
		bool again = false;

		for (size_t b = 0; b < before.n; b++)
			again |= streq(rows.list[b].path, rows.list[i].path);
		row_of(&rows, rows.list[i].method, rows.list[i].path);
		check_row(&rows.list[i]);
		paths += !again;
	}
	ck_assert_uint_ge(paths, MUST_MIN);
	printf("what clients must have: %zu requests of %zu paths, all served\n", rows.n, paths);
	rows_done(&rows);
}
END_TEST

Suite *test_api_walk_suite(void)
{
	Suite *suite = suite_create("api_walk");
	TCase *tcase = tcase_create("walk");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, test_each_path_of_kubevirts_has_its_row);
	tcase_add_test(tcase, test_each_is_served_or_refused_as_said);
	tcase_add_test(tcase, test_what_clients_use_is_served);
	suite_add_tcase(suite, tcase);
	return suite;
}
