/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses beside those of the objects themselves: their status, watches as they were once, what
 * the server has, a VM written out, and reasons for what is not served. */
#include <check.h>
#include <string.h>

#include "test/lib/api_fixture.h"

Suite *test_api_paths_suite(void);

#define NS  "/apis/kubevirt.io/v1/namespaces/default"
#define VMS NS "/virtualmachines"
#define SUB "/apis/subresources.kubevirt.io/v1/namespaces/default"

static struct api_fixture f;

static void set_up(void)
{
	api_fixture_start(&f);
	api_expect(&f, "POST " VMS, api_vm("web", "Always"), 201, NULL);
}

static void tear_down(void)
{
	api_fixture_stop(&f);
}

START_TEST(test_the_status_is_the_agents)
{
	api_expect(&f, "GET " VMS "/web/status", NULL, 200, "\"kind\":\"VirtualMachine\"");
	api_expect(&f, "GET " VMS "/none/status", NULL, 404, "\\\"none\\\" not found");
	api_expect(&f, "PUT " VMS "/web/status", "{}", 405, "written by the agent alone");
	api_expect(&f, "PATCH " VMS "/web/status", "{}", 405, "written by the agent alone");
	api_expect(&f, "DELETE " VMS "/web/status", NULL, 405, "does not allow method DELETE");
	api_expect(&f, "GET /api/v1/namespaces/default/pods/x/status", NULL, 404, "no subresource");
	api_expect(&f, "GET /apis/kubevirt.io/v1", NULL, 200,
		"{\"name\":\"virtualmachines/status\",\"singularName\":\"\",\"namespaced\":true,"
		"\"kind\":\"VirtualMachine\",\"verbs\":[\"get\"]}");
}
END_TEST

static const char *const old_watches[] = {
	"/apis/kubevirt.io/v1/watch/virtualmachines",
	"/apis/kubevirt.io/v1alpha3/watch/virtualmachines",
	"/apis/kubevirt.io/v1/watch/namespaces/default/virtualmachines",
	"/apis/kubevirt.io/v1/watch/namespaces/default/virtualmachines/web",
	"/api/v1/watch/namespaces/default/events",
	"/api/v1/watch/nodes",
	"/api/v1/watch/nodes/node",
};

START_TEST(test_watches_by_path)
{
	struct client c;

	client_open(&c, &f.loop, f.path);
	client_printf(&c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", old_watches[_i]);
	ck_assert(client_sees(&c, "{\"type\":\"ADDED\",\"object\":{"));
	client_close(&c);
}
END_TEST

START_TEST(test_what_the_server_has)
{
	api_expect(&f, "GET /", NULL, 200, "{\"paths\":[\"/api\",\"/apis\",\"/api/v1\",");
	api_expect(&f, "GET /", NULL, 200, "\"/apis/kubevirt.io\",\"/apis/kubevirt.io/v1\",");
	api_expect(&f, "GET /apis/subresources.kubevirt.io/v1/version", NULL, 200, "gitVersion");
	api_expect(&f, "GET /apis/subresources.kubevirt.io/v1alpha3/healthz", NULL, 200, "ok");
	api_expect(&f, "GET /apis/kubevirt.io/v1/healthz", NULL, 404, NULL);
}
END_TEST

START_TEST(test_a_vm_written_out)
{
	api_expect(&f, "GET " SUB "/virtualmachines/web/expand-spec", NULL, 200,
		"\"runStrategy\":\"Always\"");
	api_expect(&f, "GET " SUB "/virtualmachines/none/expand-spec", NULL, 404, "not found");
	api_expect(&f, "PUT " SUB "/expand-vm-spec", api_vm("x", "Once"), 200, "\"name\":\"x\"");
	api_expect(&f, "PUT " SUB "/expand-vm-spec", "", 400, "is no VirtualMachine");
	api_expect(&f, "PUT " SUB "/expand-vm-spec", "{kind: Pod}", 400, "is no VirtualMachine");
	api_expect(&f, "PUT " SUB "/expand-vm-spec",
		"{kind: VirtualMachine, metadata: {namespace: other}}", 400, "not 'default'");
	api_expect(&f, "PUT " SUB "/expand-vm-spec",
		"{kind: VirtualMachine, spec: {preference: {name: linux}}}", 404,
		"virtualmachineclusterpreferences.instancetype.kubevirt.io \\\"linux\\\" not found");
	api_expect(&f, "PUT " SUB "/expand-vm-spec",
		"{kind: VirtualMachine, spec: {instancetype: null}}", 200, NULL);
}
END_TEST

#define TYPES "/apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterinstancetypes"
#define SMALL                                                                                      \
	"{apiVersion: instancetype.kubevirt.io/v1beta1, kind: VirtualMachineClusterInstancetype, " \
	"metadata: {name: small}, spec: {cpu: {guest: 2}, memory: {guest: %s}}}"
#define NAMES_SMALL                                                                    \
	"{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: typed}, " \
	"spec: {runStrategy: Halted, instancetype: {name: small}, template: {spec: {domain: {%s}}}}}"

/* One that is missing is waited for; one that is there has to go with the VM. */
START_TEST(test_a_vm_with_an_instancetype)
{
	autofree char *vm = xasprintf(NAMES_SMALL, ""),
		      *bad = xasprintf(NAMES_SMALL, "cpu: {cores: 2}");
	autofree char *small = xasprintf(SMALL, "128Mi"), *larger = xasprintf(SMALL, "256Mi");

	api_expect(&f, "POST " VMS, vm, 201, "\"instancetype\":{\"name\":\"small\"}");
	api_expect(&f, "GET " VMS "/typed", NULL, 200, "\"reason\":\"FailedFindInstancetype\"");
	api_expect(&f, "GET " SUB "/virtualmachines/typed/expand-spec", NULL, 404, "not found");
	api_expect(&f, "POST " TYPES, small, 201, NULL);
	api_expect(&f, "GET " VMS "/typed", NULL, 200,
		"\"instancetypeRef\":{\"name\":\"small\",\"kind\":"
		"\"VirtualMachineClusterInstancetype\",\"controllerRevisionRef\":"
		"{\"name\":\"typed-small-v1beta1-");
	api_expect(&f, "PUT " TYPES "/small", larger, 200, NULL);
	api_expect(&f, "GET " SUB "/virtualmachines/typed/expand-spec", NULL, 200,
		"\"memory\":{\"guest\":\"128Mi\"}");
	api_expect(&f, "PUT " SUB "/expand-vm-spec", vm, 200, "\"memory\":{\"guest\":\"256Mi\"}");
	api_expect(&f, "PUT " SUB "/expand-vm-spec", bad, 422,
		"conflicts with selected instance type");
	api_expect(&f, "PUT " VMS "/typed", bad, 422,
		"VM field(s) spec.template.spec.domain.cpu.cores conflicts with selected instance "
		"type, which gives spec.cpu.guest");
	api_expect(&f, "DELETE " VMS "/typed", NULL, 200, NULL);
	api_expect(&f, "POST " VMS, bad, 422, "conflicts with selected instance type");
	api_expect(&f, "PUT " SUB "/expand-vm-spec",
		"{kind: VirtualMachine, spec: {instancetype: {name: small}, template: {metadata: "
		"{annotations: x}, spec: {domain: x, networks: x, volumes: {a: b}}}}}",
		200, NULL);
}
END_TEST

#define VMI SUB "/virtualmachineinstances/guest"

START_TEST(test_what_a_guest_tells)
{
	api_expect(&f, "GET " SUB "/virtualmachineinstances/web/userlist", NULL, 409,
		"no guest agent is connected");
	api_expect(&f, "GET " VMI "/guestosinfo", NULL, 404, "not found");
	f.yes.looks = "{\"guest-get-osinfo\":{\"return\":{\"id\":\"debian\"}},"
		      "\"guest-get-users\":{\"return\":[]}}";
	api_expect(&f, "POST " VMS, api_vm("guest", "Always"), 201, NULL);
	api_expect(&f, "GET " VMI "/guestosinfo", NULL, 200, "\"os\":{\"id\":\"debian\"}");
	api_expect(&f, "GET " VMI "/userlist", NULL, 200, "\"items\":[]");
	api_expect(&f, "GET " VMI "/filesystemlist", NULL, 500, "answer 'guest-get-fsinfo'");
	api_expect(&f, "PUT " VMI "/userlist", "{}", 405, NULL);
	ck_assert_uint_eq(f.yes.n_looks, 3);
}
END_TEST

/* The agent ends while a guest is being asked. */
START_TEST(test_a_guest_that_never_tells)
{
	struct client c;

	f.yes.looks = "{}";
	api_expect(&f, "POST " VMS, api_vm("guest", "Always"), 201, NULL);
	api_expect(&f, "GET " VMI "/userlist", NULL, 500, NULL);
	f.frozen = true;
	client_open(&c, &f.loop, f.path);
	client_printf(&c, "GET " VMI "/userlist HTTP/1.1\r\nHost: x\r\n\r\n");
	for (int i = 0; i < 20; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	ck_assert_uint_eq(c.in.len, 0);
	client_close(&c);
}
END_TEST

static const struct {
	const char *line;
	int status;
	const char *words;
} refusals[] = {
	{ "PUT " SUB "/virtualmachines/web/migrate", 403, "live migration is not enabled" },
	{ "PUT " SUB "/virtualmachines/web/migrate", 403, "\"name\":\"web\"" },
	{ "PUT " SUB "/virtualmachines/web/evacuate/cancel", 501, "no evacuation" },
	{ "GET " SUB "/virtualmachineinstances/web/sev/fetchcertchain", 501, "launch security" },
	{ "GET /apis/subresources.kubevirt.io/v1alpha3/guestfs", 501, "guestfish" },
	{ "GET /apis/snapshot.kubevirt.io", 404, "snapshots are not built" },
	{ "GET /apis/snapshot.kubevirt.io/v1beta1/", 404, "snapshots are not built" },
	{ "GET /apis/snapshot.kubevirt.iox", 404, "could not find the requested" },
	{ "GET " NS "/virtualmachineinstancepresets/x", 404, "presets are gone" },
	{ "GET " VMS "/snapshot.kubevirt.io", 404, "virtualmachines.kubevirt.io" },
	{ "PUT " SUB "/virtualmachines/web/fly", 404, "could not find the requested" },
};

START_TEST(test_reasons_for_what_is_not_served)
{
	api_expect(&f, refusals[_i].line, NULL, refusals[_i].status, refusals[_i].words);
}
END_TEST

Suite *test_api_paths_suite(void)
{
	Suite *suite = suite_create("api_paths");
	TCase *tcase = tcase_create("paths");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_the_status_is_the_agents);
	tcase_add_loop_test(tcase, test_watches_by_path, 0, (int)ARRAY_SIZE(old_watches));
	tcase_add_test(tcase, test_what_the_server_has);
	tcase_add_test(tcase, test_a_vm_written_out);
	tcase_add_test(tcase, test_a_vm_with_an_instancetype);
	tcase_add_test(tcase, test_what_a_guest_tells);
	tcase_add_test(tcase, test_a_guest_that_never_tells);
	tcase_add_loop_test(tcase, test_reasons_for_what_is_not_served, 0,
		(int)ARRAY_SIZE(refusals));
	suite_add_tcase(suite, tcase);
	return suite;
}
