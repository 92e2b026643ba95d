/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VirtualMachineInstanceMigrations at the API: made, read, changed and deleted as any other
 * object; what is wrong with one is said in words. No peer answers here, so that what is accepted
 * waits for its turn.
 */
#include <check.h>
#include <string.h>

#include "test/lib/api_fixture.h"

Suite *test_api_migrations_suite(void);

#define NS    "/apis/kubevirt.io/v1/namespaces/default"
#define VMIMS NS "/virtualmachineinstancemigrations"
#define OLD   "/apis/kubevirt.io/v1alpha3/namespaces/default/virtualmachineinstancemigrations"

/* clang-format off */
#define TO_B "addedNodeSelector: {kubernetes.io/hostname: b}"
#define MOVE(name, spec)                                                                                \
	"apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstanceMigration\nmetadata: {name: " name "}\n" \
	"spec: {vmiName: web" spec "}\n"
/* clang-format on */

static struct api_fixture f;

static void set_up(void)
{
	api_fixture_start(&f);
	f.options.migrations = true;
	api_expect(&f, "POST " NS "/virtualmachines", api_vm("web", "Always"), 201, NULL);
	api_until_text(&f, "GET " NS "/virtualmachineinstances/web", "\"phase\":\"Running\"");
}

static void tear_down(void)
{
	api_fixture_stop(&f);
}

START_TEST(one_is_made_and_read)
{
	api_expect(&f, "POST " VMIMS, MOVE("there", ", " TO_B), 201, "\"phase\":\"Pending\"");
	api_expect(&f, "GET " VMIMS "/there", NULL, 200,
		"\"labels\":{\"kubevirt.io/vmi-name\":\"web\"}");
	api_expect(&f, "GET " VMIMS "/there", NULL, 200,
		"\"finalizers\":[\"kubevirt.io/migrationJobFinalize\"]");
	api_expect(&f, "GET " VMIMS "/there", NULL, 200,
		"\"spec\":{\"vmiName\":\"web\",\"addedNodeSelector\":{\"kubernetes.io/hostname\":\"b\"}}");
	api_expect(&f, "GET " VMIMS "/there/status", NULL, 200,
		"\"phaseTransitionTimestamps\":[{\"phase\":\"Pending\",");
	api_expect(&f, "GET " VMIMS "?labelSelector=kubevirt.io/vmi-name=web", NULL, 200,
		"\"name\":\"there\"");
	api_expect(&f, "GET " VMIMS "?labelSelector=kubevirt.io/vmi-name=db", NULL, 200,
		"\"items\":[]");
	api_expect(&f, "GET " OLD "/there", NULL, 200, "\"name\":\"there\"");
	api_expect(&f, "POST " VMIMS, MOVE("there", ", " TO_B), 409, "already exists");
}
END_TEST

START_TEST(one_without_a_name_or_a_selector)
{
	api_expect(&f, "POST " VMIMS,
		"apiVersion: kubevirt.io/v1alpha3\nkind: VirtualMachineInstanceMigration\n"
		"metadata: {generateName: go-, annotations: {vmagent.io/peer: c}}\n"
		"spec: {vmiName: web, priority: system-critical}\n",
		201, "\"name\":\"go-");
	api_expect(&f, "GET " VMIMS, NULL, 200, "\"priority\":\"system-critical\"");
}
END_TEST

/* The best of the peers is looked for. */
START_TEST(one_that_does_not_say_where_to)
{
	api_expect(&f, "POST " VMIMS, MOVE("there", ""), 201, "\"phase\":\"Pending\"");
	api_expect(&f, "POST " VMIMS, MOVE("again", ""), 409, "it is to move already: there");
}
END_TEST

START_TEST(a_table)
{
	struct client_request list = { .line = "GET " VMIMS,
		.headers = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n" };
	autofree char *body = NULL;

	api_expect(&f, "POST " VMIMS, MOVE("there", ", " TO_B), 201, NULL);
	ck_assert_int_eq(client_request(&f.loop, f.path, &list, NULL, &body), 200);
	ck_assert_msg(strstr(body, "\"cells\":[\"there\",\"Pending\",\"web\"]") != NULL, "%s",
		body);
}
END_TEST

/* KubeVirt's rule: one at a time for each run. */
START_TEST(a_second_is_refused)
{
	api_expect(&f, "POST " VMIMS, MOVE("there", ", " TO_B), 201, NULL);
	api_expect(&f, "POST " VMIMS, MOVE("again", ", " TO_B), 409,
		"it is to move to 'b' already: there");
	api_expect(&f, "GET " VMIMS "/again", NULL, 404, "not found");
	api_expect(&f,
		"PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/web/migrate",
		"{\"addedNodeSelector\":{\"kubernetes.io/hostname\":\"b\"}}", 409, "already");
}
END_TEST

/* The selector of a verb's options is an object's: what every host has selects none. */
START_TEST(selectors_of_the_verb)
{
	static const struct {
		const char *selector;
		int status;
		const char *words;
	} rows[] = {
		{ "{\"kubernetes.io/os\":\"plan9\"}", 400,
			"addedNodeSelector.kubernetes.io/os: every host has 'linux' here" },
		{ "{\"zone\":\"east\"}", 400,
			"addedNodeSelector.zone: peers do not tell each other their labels" },
		{ "{\"kubernetes.io/hostname\":1}", 400, "expected labels with their values" },
		{ "\"b\"", 400, "expected labels with their values" },
		{ "{\"kubernetes.io/hostname\":\"d\"}", 404, "'d' is no peer" },
		{ "{\"kubernetes.io/hostname\":\"b\",\"kubernetes.io/os\":\"linux\"}", 202, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autofree char *body = xasprintf("{\"addedNodeSelector\":%s}", rows[i].selector);

		api_expect(&f,
			"PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/web/migrate",
			body, rows[i].status, rows[i].words);
	}
	api_expect(&f, "GET " VMIMS, NULL, 200,
		"\"addedNodeSelector\":{\"kubernetes.io/hostname\":\"b\"}");
}
END_TEST

/* A verb makes an object, too. */
START_TEST(one_of_the_verb)
{
	api_expect(&f,
		"PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/web/migrate",
		"{\"addedNodeSelector\":{\"kubernetes.io/hostname\":\"b\"}}", 202, NULL);
	api_expect(&f, "GET " VMIMS, NULL, 200,
		"\"spec\":{\"vmiName\":\"web\",\"addedNodeSelector\":{\"kubernetes.io/hostname\":\"b\"}}");
	api_expect(&f, "GET " VMIMS, NULL, 200, "\"labels\":{\"kubevirt.io/vmi-name\":\"web\"}");
}
END_TEST

static const struct {
	const char *body;
	int status;
	const char *words;
} bad[] = {
	{ MOVE("x", ", addedNodeSelector: {kubernetes.io/hostname: d}"), 404,
		"'d' is no peer in the configuration" },
	{ MOVE("x", ", addedNodeSelector: {kubernetes.io/hostname: node}"), 409,
		"it is on 'node' already" },
	{ MOVE("x", ", addedNodeSelector: {zone: east}"), 422,
		"spec.addedNodeSelector.zone: peers do not tell each other their labels" },
	{ MOVE("x", ", addedNodeSelector: {kubernetes.io/os: plan9}"), 422,
		"every host has 'linux' here" },
	{ MOVE("x", ", priority: high"), 422,
		"spec.priority: 'high' is not supported, known: system-critical" },
	{ MOVE("x", ", sendTo: {migrationID: m}"), 422, "spec.sendTo" },
	{ MOVE("x", ", receive: {migrationID: m}"), 422,
		"the agents move a guest between them by themselves" },
	{ MOVE("x", ", vmName: web"), 422, "did you mean 'vmiName'" },
	{ "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstanceMigration\n"
	  "metadata: {name: x}\nspec: {}\n",
		422, "spec.vmiName" },
	{ "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstanceMigration\n"
	  "metadata: {name: x}\nspec: {vmiName: none}\n",
		422,
		"\"message\":\"the VMI \\\"default/none\\\" does not exist\","
		"\"field\":\"spec.vmiName\"" },
	{ "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstanceMigration\n"
	  "metadata: {name: x, annotations: {vmagent.io/peer: c}}\n"
	  "spec: {vmiName: web, " TO_B "}\n",
		422, "metadata.annotations.vmagent.io/peer: addedNodeSelector names 'b'" },
};

START_TEST(one_that_cannot_be)
{
	api_expect(&f, "POST " VMIMS, bad[_i].body, bad[_i].status, bad[_i].words);
	api_expect(&f, "GET " VMIMS, NULL, 200, "\"items\":[]");
}
END_TEST

START_TEST(none_where_migrations_are_not_enabled)
{
	f.options.migrations = false;
	api_expect(&f, "POST " VMIMS, MOVE("x", ", " TO_B), 403,
		"say 'migrations: {enabled: true}' in the configuration of both hosts");
	api_expect(&f, "GET " VMIMS, NULL, 200, "\"items\":[]");
}
END_TEST

START_TEST(its_labels_change_and_its_spec_does_not)
{
	struct client_request patch = { .line = "PATCH " VMIMS "/there",
		.headers = "Content-Type: application/merge-patch+json\r\n",
		.body = "{\"metadata\":{\"labels\":{\"why\":\"patches\"}}}" };
	autofree char *body = NULL;

	api_expect(&f, "POST " VMIMS, MOVE("there", ", " TO_B), 201, NULL);
	ck_assert_int_eq(client_request(&f.loop, f.path, &patch, NULL, NULL), 200);
	api_expect(&f, "GET " VMIMS "/there", NULL, 200,
		"\"labels\":{\"kubevirt.io/vmi-name\":\"web\",\"why\":\"patches\"}");
	patch.body = "{\"spec\":{\"priority\":\"system-critical\"}}";
	ck_assert_int_eq(client_request(&f.loop, f.path, &patch, NULL, &body), 422);
	ck_assert_msg(strstr(body, "\"message\":\"the order to move a guest cannot be changed") !=
			NULL,
		"%s", body);
	ck_assert_msg(strstr(body, "\"field\":\"spec\"") != NULL, "%s", body);
	api_expect(&f, "PUT " VMIMS "/there?dryRun=All", MOVE("there", ", " TO_B), 200,
		"\"labels\":{\"kubevirt.io/vmi-name\":\"web\"}");
	api_expect(&f, "GET " VMIMS "/there", NULL, 200, "\"why\":\"patches\"");
}
END_TEST

/* One that waits has done nothing: it is called off at once, and its record goes with it. */
START_TEST(deleting_calls_off)
{
	api_expect(&f, "POST " VMIMS, MOVE("there", ", " TO_B), 201, NULL);
	api_expect(&f, "DELETE " VMIMS "/there", "{\"dryRun\":[\"All\"]}", 200, NULL);
	api_expect(&f, "GET " VMIMS "/there", NULL, 200, "Pending");
	api_expect(&f, "DELETE " VMIMS "/there", NULL, 200, NULL);
	api_until(&f, "GET " VMIMS "/there", 404);
	api_expect(&f,
		"GET /api/v1/namespaces/default/events?fieldSelector=involvedObject.name=there",
		NULL, 200, "\"reason\":\"SuccessfulAbortMigration\"");
	api_expect(&f, "POST " VMIMS, MOVE("again", ", " TO_B), 201, NULL);
}
END_TEST

START_TEST(all_of_them_are_deleted)
{
	api_expect(&f, "POST " VMIMS, MOVE("there", ", " TO_B), 201, NULL);
	api_expect(&f, "DELETE " VMIMS, NULL, 200, NULL);
	api_until(&f, "GET " VMIMS "/there", 404);
}
END_TEST

Suite *test_api_migrations_suite(void)
{
	Suite *s = suite_create("api_migrations");
	TCase *tc = tcase_create("migrations");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, one_is_made_and_read);
	tcase_add_test(tc, one_without_a_name_or_a_selector);
	tcase_add_test(tc, one_that_does_not_say_where_to);
	tcase_add_test(tc, a_table);
	tcase_add_test(tc, a_second_is_refused);
	tcase_add_test(tc, one_of_the_verb);
	tcase_add_test(tc, selectors_of_the_verb);
	tcase_add_loop_test(tc, one_that_cannot_be, 0, ARRAY_SIZE(bad));
	tcase_add_test(tc, none_where_migrations_are_not_enabled);
	tcase_add_test(tc, its_labels_change_and_its_spec_does_not);
	tcase_add_test(tc, deleting_calls_off);
	tcase_add_test(tc, all_of_them_are_deleted);
	suite_add_tcase(s, tc);
	return s;
}
