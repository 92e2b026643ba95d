/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API through its socket, with the real agent and store behind it: objects, verbs, and how each
 * refusal is said.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "test/lib/api_fixture.h"

#define KV   "/apis/kubevirt.io/v1"
#define NS   KV "/namespaces/default"
#define VMS  NS "/virtualmachines"
#define VMIS NS "/virtualmachineinstances"
#define SUB  "/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines"

static void create_vm(struct api_fixture *f, const char *name, const char *strategy)
{
	api_expect(f, "POST " VMS, api_vm(name, strategy), 201, "\"uid\":\"");
}

START_TEST(says_what_it_is)
{
	struct api_fixture f;

	api_fixture_start(&f);
	api_expect(&f, "GET /livez", NULL, 200, "ok");
	api_expect(&f, "GET /healthz", NULL, 200, "ok");
	api_expect(&f, "GET /version", NULL, 200, "\"gitVersion\":\"v1.");
	api_expect(&f, "GET /api", NULL, 200, "\"versions\":[\"v1\"]");
	api_expect(&f, "GET /apis", NULL, 200, "\"name\":\"subresources.kubevirt.io\"");
	api_expect(&f, "GET /apis/kubevirt.io", NULL, 200, "\"kind\":\"APIGroup\"");
	api_expect(&f, "GET " KV, NULL, 200, "\"groupVersion\":\"kubevirt.io/v1\"");
	api_expect(&f, "GET /apis/kubevirt.io/v1alpha3", NULL, 200, "kubevirt.io/v1alpha3");
	api_expect(&f, "GET /api/v1", NULL, 200, "\"name\":\"events\"");
	api_expect(&f, "GET /openapi/v3", NULL, 200, "apis/kubevirt.io/v1alpha3");
	api_expect(&f, "GET /openapi/v3/apis/kubevirt.io/v1", NULL, 200, "\"openapi\":\"3.0.0\"");
	api_expect(&f, "GET /openapi/v2", NULL, 200, "2.0");
	api_fixture_stop(&f);
}
END_TEST

START_TEST(says_when_it_is_not_well)
{
	struct input down = { .kind = INPUT_CONNECTION, .connection = { false, "no libvirtd" } };
	struct api_fixture f;

	api_fixture_start(&f);
	agent_input(f.agent, &down, (struct now){ 1, 1 });
	api_expect(&f, "GET /healthz", NULL, 503, "no libvirtd");
	api_expect(&f, "GET /livez", NULL, 200, "ok");
	api_fixture_stop(&f);
}
END_TEST

START_TEST(unknown_paths_and_methods)
{
	struct api_fixture f;

	api_fixture_start(&f);
	api_expect(&f, "GET /apiv1", NULL, 404, "\"reason\":\"NotFound\"");
	api_expect(&f, "GET /apis/kubevirt.io/v2/virtualmachines", NULL, 404, "\"code\":404");
	api_expect(&f, "GET " KV "/events", NULL, 404, "\"kind\":\"Status\"");
	api_expect(&f, "GET " VMS "/a/b", NULL, 404, NULL);
	api_expect(&f, "POST " KV "/virtualmachines", "{}", 405, "MethodNotAllowed");
	api_expect(&f, "PATCH " VMS, "{}", 405, "does not allow method PATCH");
	api_expect(&f, "GET " VMS "/nobody", NULL, 404,
		"virtualmachines.kubevirt.io \\\"nobody\\\" not found");
	api_expect(&f, "GET " VMS "/nobody", NULL, 404,
		"\"details\":{\"name\":\"nobody\",\"group\":\"kubevirt.io\",\"kind\":"
		"\"virtualmachines\"}");
	api_fixture_stop(&f);
}
END_TEST

START_TEST(creates_gets_and_lists)
{
	struct api_fixture f;
	autofree char *body = NULL;

	api_fixture_start(&f);
	api_expect(&f, "GET " VMS, NULL, 200, "\"kind\":\"VirtualMachineList\"");
	api_expect(&f, "GET " VMS, NULL, 200, "\"items\":[]}");
	create_vm(&f, "a", "Halted");
	create_vm(&f, "b", "Halted");
	api_expect(&f, "GET " VMS "/a", NULL, 200, "\"printableStatus\":\"Stopped\"");
	ck_assert_int_eq(api_ask(&f, "GET " KV "/virtualmachines", NULL, &body), 200);
	ck_assert_ptr_nonnull(strstr(body, "\"name\":\"a\""));
	ck_assert_ptr_nonnull(strstr(body, "\"name\":\"b\""));
	ck_assert_ptr_null(strstr(body, "\"metadata\":{\"resourceVersion\":\"0\"}"));
	api_expect(&f, "GET " KV "/namespaces/other/virtualmachines", NULL, 200, "\"items\":[]}");
	api_expect(&f, "GET " KV "/namespaces/other/virtualmachines/a", NULL, 404, NULL);
	api_expect(&f, "GET " NS "/virtualmachineinstances", NULL, 200,
		"VirtualMachineInstanceList");
	api_expect(&f, "GET /apis/kubevirt.io/v1alpha3/namespaces/default/virtualmachines/a", NULL,
		200, "\"apiVersion\":\"kubevirt.io/v1alpha3\"");
	api_expect(&f, "GET /apis/kubevirt.io/v1alpha3/virtualmachines", NULL, 200,
		"{\"apiVersion\":\"kubevirt.io/v1alpha3\",\"kind\":\"VirtualMachineList\"");
	api_fixture_stop(&f);
}
END_TEST

START_TEST(selects)
{
	struct api_fixture f;
	autofree char *body = NULL, *other = NULL;

	api_fixture_start(&f);
	create_vm(&f, "a", "Halted");
	create_vm(&f, "b", "Halted");
	api_ask(&f, "GET " VMS "?labelSelector=app%3Da", NULL, &body);
	ck_assert(strstr(body, "\"name\":\"a\"") && !strstr(body, "\"name\":\"b\""));
	api_ask(&f, "GET " VMS "?fieldSelector=metadata.name%3Db", NULL, &other);
	ck_assert(!strstr(other, "\"name\":\"a\"") && strstr(other, "\"name\":\"b\""));
	api_expect(&f, "GET " VMS "?fieldSelector=metadata.name%3Da&labelSelector=app%21%3Da", NULL,
		200, "\"items\":[]");
	api_expect(&f, "GET " VMS "?labelSelector=app%20in%20%28a%29", NULL, 200, "\"name\":\"a\"");
	api_expect(&f, "GET " VMS "?labelSelector=app%20on%20%28a%29", NULL, 400, "BadRequest");
	api_expect(&f, "GET " VMS "?fieldSelector=spec.x%3D1", NULL, 400, "not supported: spec.x");
	api_fixture_stop(&f);
}
END_TEST

START_TEST(refuses_bad_objects)
{
	struct api_fixture f;

	api_fixture_start(&f);
	create_vm(&f, "a", "Halted");
	api_expect(&f, "POST " VMS, api_vm("a", "Halted"), 409, "\"reason\":\"AlreadyExists\"");
	api_expect(&f, "POST " VMS, api_vm("b", "Sometimes"), 422, "\"reason\":\"Invalid\"");
	api_expect(&f, "POST " VMS, api_vm("b", "Sometimes"), 422,
		"\"field\":\"spec.runStrategy\"");
	api_expect(&f, "POST " VMS, api_vm("b", "Sometimes"), 422, " 8:");
	api_expect(&f, "POST " VMS, api_vm("b", "Sometimes"), 422, "(line 8, column ");
	api_expect(&f, "POST " VMS, api_vm("b", "Sometimes"), 422,
		"\"kind\":\"VirtualMachine\",\"causes\":[{\"reason\":\"FieldValueInvalid\"");
	api_expect(&f, "POST " VMS, "kind: [", 400, "line ");
	api_expect(&f, "POST " VMS, NULL, 400, "send a VirtualMachine");
	api_expect(&f, "POST " VMS, "[]", 400, "no object");
	api_expect(&f, "POST " VMS, "{\"kind\":\"Pod\"}", 400, "kind 'Pod'");
	api_expect(&f, "POST " VMS, "kind: VirtualMachine\nmetadata: 3\n", 400, "metadata");
	api_expect(&f, "POST " VMS, "{\"kind\":\"VirtualMachine\"}\n---\n{}\n", 400, "2 documents");
	api_expect(&f, "POST " KV "/namespaces/other/virtualmachines",
		"{\"kind\":\"VirtualMachine\",\"metadata\":{\"namespace\":\"default\"}}", 400,
		"does not match");
	api_expect(&f, "GET " VMS "/b", NULL, 404, NULL);
	api_fixture_stop(&f);
}
END_TEST

START_TEST(looks_at_the_media_type)
{
	struct client_request request = { .line = "POST " VMS };
	const char *const types[] = { "application/json; charset=utf-8", "application/yaml",
		"application/cbor", "application/vnd.kubernetes.protobuf" };
	const int status[] = { 201, 201, 415, 400 }; /* the last is read, and is none */
	struct api_fixture f;

	api_fixture_start(&f);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		autofree char *name = xasprintf("vm%zu", i), *body = NULL;
		autofree char *header = xasprintf("Content-Type: %s\r\n", types[i]);

		request.headers = header;
		request.body = api_vm(name, "Halted");
		ck_assert_int_eq(client_request(&f.loop, f.path, &request, NULL, &body), status[i]);
	}
	api_fixture_stop(&f);
}
END_TEST

START_TEST(dry_run_changes_nothing)
{
	struct api_fixture f;

	api_fixture_start(&f);
	api_expect(&f, "POST " VMS "?dryRun=All", api_vm("a", "Halted"), 201, "\"name\":\"a\"");
	api_expect(&f, "GET " VMS "/a", NULL, 404, NULL);
	api_expect(&f, "POST " VMS "?dryRun=Some", api_vm("a", "Halted"), 422, "dryRun");
	create_vm(&f, "a", "Halted");
	api_expect(&f, "DELETE " VMS "/a?dryRun=All", NULL, 200, NULL);
	api_expect(&f, "DELETE " VMS "/a", "{\"dryRun\":[\"All\"]}", 200, NULL);
	api_expect(&f, "PUT " SUB "/a/start", "{\"dryRun\":[\"All\"]}", 202, NULL);
	api_expect(&f, "GET " VMS "/a", NULL, 200, "\"runStrategy\":\"Halted\"");
	api_fixture_stop(&f);
}
END_TEST

START_TEST(replaces)
{
	struct api_fixture f;
	autofree char *body = NULL, *stale = NULL;

	api_fixture_start(&f);
	create_vm(&f, "a", "Halted");
	api_ask(&f, "GET " VMS "/a", NULL, &body);
	api_expect(&f, "PUT " VMS "/a", api_vm("a", "Manual"), 200, "\"runStrategy\":\"Manual\"");
	api_expect(&f, "GET " VMS "/a", NULL, 200, "\"generation\":2");
	api_expect(&f, "PUT " VMS "/a", body, 409, "\"reason\":\"Conflict\"");
	api_expect(&f, "PUT " VMS "/a", api_vm("b", "Manual"), 400, "does not match 'a'");
	api_expect(&f, "PUT " VMS "/b", api_vm("b", "Manual"), 404, "NotFound");
	api_fixture_stop(&f);
}
END_TEST

START_TEST(deletes)
{
	struct api_fixture f;

	api_fixture_start(&f);
	create_vm(&f, "a", "Halted");
	api_expect(&f, "DELETE " VMS "/a?propagationPolicy=Sometimes", NULL, 400, "Sometimes");
	api_expect(&f, "DELETE " VMS "/a", "{\"propagationPolicy\":\"orphan\"}", 400,
		"'orphan' is unknown: it is Background, Foreground or Orphan");
	api_expect(&f, "DELETE " VMS "/a", "{\"propagationPolicy\":[]}", 400, "is unknown");
	api_expect(&f, "DELETE " VMS "/a", "{\"orphanDependents\":1}", 400, "true or false");
	api_expect(&f, "DELETE " VMS "/a?orphanDependents=true",
		"{\"propagationPolicy\":\"Background\"}", 400, "cannot both be given");
	api_expect(&f, "DELETE " VMS "/a", "{\"gracePeriodSeconds\":2147483648}", 400, "for ever");
	api_expect(&f, "DELETE " VMS "/a", "{\"gracePeriodSeconds\":-3}", 400, "negative");
	api_expect(&f, "DELETE " VMS "/a", "{\"gracePeriodSeconds\":\"x\"}", 400, "whole number");
	api_expect(&f, "DELETE " VMS "/a", "{\"preconditions\":{\"resourceVersion\":\"999\"}}", 409,
		"modified meanwhile");
	api_expect(&f, "DELETE " VMS "/a",
		"{\"preconditions\":{\"uid\":\"00000000-0000-0000-0000-000000000000\"}}", 409,
		"Conflict");
	api_expect(&f, "DELETE " VMS "/a",
		"{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"gracePeriodSeconds\":0,"
		"\"propagationPolicy\":\"Background\"}",
		200, NULL);
	api_expect(&f, "GET " VMS "/a", NULL, 404, NULL);
	api_expect(&f, "DELETE " VMS "/a", NULL, 404, "\"reason\":\"NotFound\"");
	api_fixture_stop(&f);
}
END_TEST

/* Each way in which clients say it; the run stays, and a VM of that name adopts it (§7.3). */
static const struct {
	const char *query, *body;
	bool orphan;
} propagations[] = {
	{ "", NULL, false },
	{ "", "{\"propagationPolicy\":\"Background\"}", false },
	{ "", "{\"propagationPolicy\":\"Foreground\"}", false },
	{ "", "{\"propagationPolicy\":null}", false },
	{ "", "{\"propagationPolicy\":\"Orphan\"}", true },
	{ "", "{\"orphanDependents\":true}", true },
	{ "", "{\"orphanDependents\":false}", false },
	{ "?propagationPolicy=Orphan", NULL, true },
	{ "?propagationPolicy=Orphan", "{\"propagationPolicy\":\"Background\"}", false },
	{ "?orphanDependents=true", NULL, true },
	{ "?orphanDependents=false", NULL, false },
	{ "?dryRun=All", "{\"propagationPolicy\":\"Orphan\"}", false },
};

START_TEST(deletes_with_or_without_its_run)
{
	struct api_fixture f;
	autofree char *line = xasprintf("DELETE " VMS "/a%s", propagations[_i].query);
	bool dry = strstr(line, "dryRun");

	api_fixture_start(&f);
	create_vm(&f, "a", "Always");
	api_expect(&f, "GET " VMIS "/a", NULL, 200, "\"ownerReferences\":[{");
	api_expect(&f, line, propagations[_i].body, 200, NULL);
	api_expect(&f, "GET " VMS "/a", NULL, dry ? 200 : 404, NULL);
	if (propagations[_i].orphan) {
		autofree char *run = NULL;

		ck_assert_int_eq(api_ask(&f, "GET " VMIS "/a", NULL, &run), 200);
		ck_assert(strstr(run, "\"phase\":\"Running\"") && !strstr(run, "ownerReferences"));
		create_vm(&f, "a", "Always");
	} else if (!dry) {
		api_expect(&f, "GET " VMIS "/a", NULL, 404, NULL);
		api_fixture_stop(&f);
		return;
	}
	api_expect(&f, "GET " VMIS "/a", NULL, 200, "\"ownerReferences\":[{");
	api_expect(&f, "GET " VMS "/a", NULL, 200, "\"printableStatus\":\"Running\"");
	api_fixture_stop(&f);
}
END_TEST

START_TEST(a_delete_says_what_the_file_will_do)
{
	const char *text = api_vm("web", "Halted");
	struct folder_doc_file file = { "web.yaml", text, strlen(text), NULL };
	struct input folder = { .kind = INPUT_FOLDER };
	struct client_request request = { .line = "DELETE " VMS "/web" };
	autofree char *head = NULL;
	struct api_fixture f;

	folder.folder = (struct folder_input){ .complete = true, .files = &file, .n_files = 1 };
	api_fixture_start(&f);
	agent_input(f.agent, &folder, (struct now){ 1, 1 });
	api_expect(&f, "GET " VMS "/web", NULL, 200, NULL);
	ck_assert_int_eq(client_request(&f.loop, f.path, &request, &head, NULL), 200);
	ck_assert_msg(strstr(head, "Warning: 299 vmagent \"file web.yaml still declares it: "),
		"%s", head);
	api_fixture_stop(&f);
}
END_TEST

/* At creation, and at a change that leaves it as it is. */
START_TEST(warns_of_what_has_no_effect)
{
	static const char body[] =
		"{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":\"VirtualMachine\","
		"\"metadata\":{\"name\":\"a\"},\"spec\":{\"runStrategy\":\"Halted\",\"template\":"
		"{\"spec\":{\"schedulerName\":\"x\",\"domain\":{\"memory\":{\"guest\":\"1Gi\"}}}}}}";
	static const char expected[] =
		"Warning: 299 vmagent \"spec.template.spec.schedulerName: no effect: there is no "
		"scheduler on one host\"\r\n";
	struct client_request create = { .line = "POST " VMS, .headers = "", .body = body };
	struct client_request replace = { .line = "PUT " VMS "/a", .headers = "", .body = body };
	autofree char *head = NULL, *again = NULL;
	struct api_fixture f;

	api_fixture_start(&f);
	ck_assert_int_eq(client_request(&f.loop, f.path, &create, &head, NULL), 201);
	ck_assert_msg(strstr(head, expected), "%s", head);
	ck_assert_int_eq(client_request(&f.loop, f.path, &replace, &again, NULL), 200);
	ck_assert_msg(strstr(again, expected), "%s", again);
	api_fixture_stop(&f);
}
END_TEST

/* What GET says, without the body; what would go on for ever is not begun. */
START_TEST(heads)
{
	static const struct {
		const char *path;
		int status;
	} asked[] = { { "/healthz", 200 }, { VMS, 200 }, { VMS "/a", 200 }, { VMS "/nobody", 404 },
		{ VMS "?watch=true", 405 }, { "/apis/kubevirt.io/v1/watch/virtualmachines", 405 },
		{ SUB "/a/start", 405 } };
	struct api_fixture f;

	api_fixture_start(&f);
	create_vm(&f, "a", "Halted");
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		autofree char *line = xasprintf("HEAD %s", asked[i].path), *body = NULL;
		int status = api_ask(&f, line, NULL, &body);

		ck_assert_msg(status == asked[i].status, "%s: %d", line, status);
		ck_assert_str_eq(body, "");
	}
	api_fixture_stop(&f);
}
END_TEST

#define RUNS "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances"
#define HERE "?labelSelector=kubevirt.io/nodeName%3Dnode"

/* Where a run is is a label of it, by which it is selected; who writes it back as it
 * was read changes nothing. */
START_TEST(runs_by_node)
{
	autofree char *listed = NULL, *run = NULL, *again = NULL;
	struct api_fixture f;

	api_fixture_start(&f);
	create_vm(&f, "a", "Always");
	api_expect(&f, "GET " RUNS "/a", NULL, 200,
		"\"labels\":{\"kubevirt.io/nodeName\":\"node\"}");
	api_expect(&f, "GET " RUNS HERE, NULL, 200, "\"name\":\"a\"");
	api_ask(&f, "GET " RUNS HERE "2", NULL, &listed);
	ck_assert_ptr_nonnull(strstr(listed, "\"items\":[]"));
	api_ask(&f, "GET " RUNS "/a", NULL, &run);
	api_expect(&f, "PUT " RUNS "/a", run, 200, NULL);
	api_ask(&f, "GET " RUNS "/a", NULL, &again);
	ck_assert_ptr_nonnull(strstr(again, "\"labels\":{\"kubevirt.io/nodeName\":\"node\"}"));
	api_fixture_stop(&f);
}
END_TEST

START_TEST(verbs)
{
	struct api_fixture f;

	api_fixture_start(&f);
	create_vm(&f, "a", "Manual");
	api_expect(&f, "PUT " SUB "/a/stop", NULL, 409, "\"reason\":\"Conflict\"");
	api_expect(&f, "PUT " SUB "/a/start", "{\"paused\":false}", 202, NULL);
	api_expect(&f, "GET " VMS "/a", NULL, 200, "\"printableStatus\":\"Running\"");
	api_expect(&f, "GET " NS "/virtualmachineinstances/a", NULL, 200, "\"phase\":\"Running\"");
	api_expect(&f, "PUT " SUB "/a/start", NULL, 409, "\"kind\":\"virtualmachines\"");
	api_expect(&f, "PUT " SUB "/a/restart", "{\"gracePeriodSeconds\":5}", 400, "only 0");
	api_expect(&f, "PUT " SUB "/a/restart", "{\"gracePeriodSeconds\":0}", 202, NULL);
	api_expect(&f, "PUT " SUB "/a/stop", "{\"gracePeriod\":\"soon\"}", 400, "whole number");
	api_expect(&f, "PUT " SUB "/a/stop", "{\"gracePeriod\":-1}", 400, "negative");
	api_expect(&f, "PUT " SUB "/a/stop", "{\"gracePeriod\":3}", 202, NULL);
	api_expect(&f, "PUT " SUB "/nobody/start", NULL, 404, "not found");
	api_expect(&f, "PUT " SUB "/a/frobnicate", NULL, 404, NULL);
	api_expect(&f, "PUT " SUB "/a/addvolume", NULL, 501, "edit its volumes");
	api_expect(&f, "PUT " SUB "/nobody/addvolume", NULL, 404,
		"virtualmachines.kubevirt.io \\\"nobody\\\" not found");
	api_expect(&f, "GET " SUB "/a/start", NULL, 405, NULL);
	api_fixture_stop(&f);
}
END_TEST

#define VMI_SUB "/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances"
#define VMI_OLD "/apis/subresources.kubevirt.io/v1alpha3/namespaces/default/virtualmachineinstances"
#define PAUSED  "\"printableStatus\":\"Paused\""

START_TEST(verbs_of_a_run)
{
	struct client_request pause = { .line = "PUT " VMI_SUB "/a/pause", .body = "{}" };
	autofree char *body = NULL;
	struct api_fixture f;

	api_fixture_start(&f);
	create_vm(&f, "a", "Manual");
	api_expect(&f, "PUT " VMI_SUB "/a/pause", NULL, 404,
		"virtualmachineinstances.kubevirt.io \\\"a\\\" not found");
	api_expect(&f, "PUT " SUB "/a/start", "{\"paused\":true}", 202, NULL);
	api_expect(&f, "GET " VMS "/a", NULL, 200, PAUSED);
	api_expect(&f, "PUT " VMI_SUB "/a/softreboot", NULL, 409, "unpause it first");
	api_expect(&f, "PUT " VMI_OLD "/a/unpause", NULL, 200, NULL);
	api_expect(&f, "PUT " VMI_SUB "/a/unpause", NULL, 409,
		"\"kind\":\"virtualmachineinstances\"");
	api_expect(&f, "PUT " VMI_SUB "/a/pause", "{\"dryRun\":[\"All\"]}", 200, NULL);
	api_expect(&f, "PUT " VMI_SUB "/a/pause", "[]", 400, "no options object");
	api_expect(&f, "PUT " VMI_SUB "/a/pause", "{\"dryRun\":[\"Some\"]}", 400, "'All'");
	api_expect(&f, "GET " VMS "/a", NULL, 200, "\"printableStatus\":\"Running\"");
	ck_assert_int_eq(client_request(&f.loop, f.path, &pause, NULL, &body), 200);
	ck_assert_str_eq(body, ""); /* §5 */
	api_expect(&f, "GET " VMS "/a", NULL, 200, PAUSED);
	api_expect(&f, "PUT " VMI_SUB "/a/pause", NULL, 409, "already paused");
	api_expect(&f, "PUT " VMI_SUB "/a/reset", NULL, 200, NULL);
	api_expect(&f, "PUT " VMI_SUB "/a/unpause", NULL, 200, NULL);
	api_expect(&f, "PUT " VMI_SUB "/a/softreboot", NULL, 200, NULL);
	api_expect(&f, "GET /api/v1/namespaces/default/events", NULL, 200, "\"SoftRebooted\"");
	api_expect(&f, "GET " VMI_SUB "/a/pause", NULL, 405, NULL);
	api_expect(&f, "PUT " VMI_SUB "/a/frobnicate", NULL, 404, NULL);
	api_fixture_stop(&f);
}
END_TEST

START_TEST(events)
{
	struct api_fixture f;
	autofree char *body = NULL;

	api_fixture_start(&f);
	create_vm(&f, "a", "Manual");
	create_vm(&f, "b", "Manual");
	api_expect(&f, "PUT " SUB "/a/start", NULL, 202, NULL);
	api_expect(&f, "GET /api/v1/events", NULL, 200, "\"kind\":\"EventList\"");
	api_expect(&f, "GET /api/v1/namespaces/default/events", NULL, 200, "StartRequested");
	api_ask(&f,
		"GET /api/v1/events?fieldSelector=involvedObject.name%3Da,involvedObject.kind%3D"
		"VirtualMachine",
		NULL, &body);
	ck_assert_ptr_nonnull(strstr(body, "StartRequested"));
	api_expect(&f, "GET /api/v1/events?fieldSelector=involvedObject.name%3Dc", NULL, 200,
		"\"items\":[]");
	api_fixture_stop(&f);
}
END_TEST

/* The agent's answer finds nobody, and is dropped. */
/* What libvirt has beside our runs: shown, not stored, not changed. */
START_TEST(domains)
{
	struct api_fixture f;
	struct domain_info *d;

	api_fixture_start(&f);
	d = &f.yes.domains[f.yes.n++];
	*d = (struct domain_info){ .name = xstrdup("a \"quoted\" one"), .state = DOMAIN_RUNNING };
	copy_str(d->uuid, UID_SIZE, "f0f0f0f0-0000-4000-8000-000000000001");
	api_expect(&f, "GET /apis", NULL, 200, "\"name\":\"vmagent.io\"");
	api_expect(&f, "GET /apis/vmagent.io/v1", NULL, 200, "\"name\":\"domains\"");
	api_expect(&f, "GET /apis/vmagent.io/v1/domains", NULL, 200,
		"\"name\":\"a \\\"quoted\\\" one\",\"uid\":\"f0f0f0f0-0000-4000-8000-000000000001\"},"
		"\"status\":{\"state\":\"Running\",\"reason\":\"Unknown\",\"owner\":\"foreign\",");
	api_expect(&f, "GET /apis/vmagent.io/v1/domains/web", NULL, 404, "\"web\\\" not found");
	api_expect(&f, "GET /apis/vmagent.io/v1/domains?watch=true", NULL, 405, "list them again");
	api_expect(&f, "DELETE /apis/vmagent.io/v1/domains/web", NULL, 405, NULL);
	api_fixture_stop(&f);
}
END_TEST

START_TEST(a_client_that_does_not_wait)
{
	const char *vm = api_vm("a", "Halted");
	struct api_fixture f;
	struct client c;

	api_fixture_start(&f);
	f.frozen = true;
	client_open(&c, &f.loop, f.path);
	client_printf(&c, "POST " VMS " HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
		strlen(vm), vm);
	for (int i = 0; i < 10; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	client_close(&c);
	for (int i = 0; i < 10; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	f.frozen = false;
	api_expect(&f, "GET " VMS "/a", NULL, 200, NULL);
	api_fixture_stop(&f);
}
END_TEST

/* The API goes before the agent has answered. */
START_TEST(an_api_that_does_not_wait)
{
	const char *vm = api_vm("a", "Halted");
	struct api_fixture f;
	struct client c;

	api_fixture_start(&f);
	f.frozen = true;
	client_open(&c, &f.loop, f.path);
	client_printf(&c, "POST " VMS " HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
		strlen(vm), vm);
	for (int i = 0; i < 10; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	api_fixture_stop(&f);
	client_close(&c);
}
END_TEST

START_TEST(a_store_that_fails)
{
	struct api_fixture f;

	api_fixture_start(&f);
	create_vm(&f, "a", "Manual");
	store_fail_after(f.store, 1);
	api_expect(&f, "PUT " SUB "/a/start", NULL, 503, "\"reason\":\"ServiceUnavailable\"");
	api_fixture_stop(&f);
}
END_TEST

START_TEST(a_body_too_large)
{
	struct api_fixture f;
	autofree char *body = xcalloc(1, HTTP_BODY_MAX + 2);

	memset(body, ' ', HTTP_BODY_MAX + 1);
	api_fixture_start(&f);
	api_expect(&f, "POST " VMS, body, 413, "RequestEntityTooLarge");
	api_fixture_stop(&f);
}
END_TEST

Suite *test_api_suite(void);

Suite *test_api_suite(void)
{
	Suite *suite = suite_create("api");
	TCase *tc = tcase_create("objects");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, says_what_it_is);
	tcase_add_test(tc, says_when_it_is_not_well);
	tcase_add_test(tc, unknown_paths_and_methods);
	tcase_add_test(tc, creates_gets_and_lists);
	tcase_add_test(tc, selects);
	tcase_add_test(tc, refuses_bad_objects);
	tcase_add_test(tc, looks_at_the_media_type);
	tcase_add_test(tc, dry_run_changes_nothing);
	tcase_add_test(tc, replaces);
	tcase_add_test(tc, deletes);
	tcase_add_loop_test(tc, deletes_with_or_without_its_run, 0, ARRAY_SIZE(propagations));
	tcase_add_test(tc, a_delete_says_what_the_file_will_do);
	tcase_add_test(tc, warns_of_what_has_no_effect);
	tcase_add_test(tc, heads);
	tcase_add_test(tc, runs_by_node);
	tcase_add_test(tc, verbs);
	tcase_add_test(tc, verbs_of_a_run);
	tcase_add_test(tc, events);
	tcase_add_test(tc, domains);
	tcase_add_test(tc, a_client_that_does_not_wait);
	tcase_add_test(tc, an_api_that_does_not_wait);
	tcase_add_test(tc, a_store_that_fails);
	tcase_add_test(tc, a_body_too_large);
	suite_add_tcase(suite, tc);
	return suite;
}
