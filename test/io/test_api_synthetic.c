/* SPDX-License-Identifier: Apache-2.0 */
/* What nobody stores: a Pod for each run, this host, KubeVirt. */
#include <check.h>
#include <string.h>

#include "test/lib/api_fixture.h"

Suite *test_api_synthetic_suite(void);

#define VMS  "/apis/kubevirt.io/v1/namespaces/default/virtualmachines"
#define VMIS "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances"
#define PODS "/api/v1/namespaces/default/pods"

static struct api_fixture f;

static void set_up(void)
{
	api_fixture_start(&f);
	api_expect(&f, "POST " VMS, api_vm("web", "Always"), 201, NULL);
	api_expect(&f, "POST " VMS, api_vm("db", "Halted"), 201, NULL);
}

static void tear_down(void)
{
	api_fixture_stop(&f);
}

/* The text between two others in the answer to a GET; owned by the caller. */
static char *between(const char *line, const char *before, const char *after)
{
	autofree char *body = NULL;
	char *start, *end;

	ck_assert_int_eq(api_ask(&f, line, NULL, &body), 200);
	start = strstr(body, before);
	ck_assert_msg(start != NULL, "'%s' is not in %s", before, body);
	start += strlen(before);
	end = strstr(start, after);
	ck_assert_ptr_nonnull(end);
	return xstrndup(start, (size_t)(end - start));
}

START_TEST(test_a_run_has_a_pod)
{
	autofree char *uid = between("GET " VMIS "/web", "\"uid\":\"", "\"");
	autofree char *owner = xasprintf("\"kind\":\"VirtualMachineInstance\",\"name\":\"web\","
					 "\"uid\":\"%s\"",
		uid);
	autofree char *line = xasprintf("GET " PODS "/virt-launcher-web-%.5s", uid);
	autofree char *pod_uid = between(line, "\"uid\":\"", "\"");

	api_expect(&f, "GET " PODS, NULL, 200, "\"kind\":\"PodList\"");
	api_expect(&f, "GET " PODS, NULL, 200, owner);
	api_expect(&f, "GET /api/v1/pods", NULL, 200, owner);
	api_expect(&f, line, NULL, 200, "\"phase\":\"Running\"");
	api_expect(&f, "GET " PODS "/virt-launcher-web-00000", NULL, 404, "pods \\\"virt-launcher");
	api_expect(&f, "DELETE " PODS "/x", NULL, 405, NULL);
	api_expect(&f, "POST " PODS "/x/exec?container=compute&command=ps", NULL, 501,
		"'vmactl console'");
	api_expect(&f, "GET " PODS "/x/log?container=compute", NULL, 501, "'vmactl events'");
	ck_assert_str_ne(uid, pod_uid);
}
END_TEST

START_TEST(test_pods_are_selected_by_what_they_are)
{
	api_expect(&f, "GET " PODS "?labelSelector=kubevirt.io=virt-launcher", NULL, 200,
		"\"name\":\"virt-launcher-web-");
	api_expect(&f, "GET " PODS "?labelSelector=app=web", NULL, 200, "\"items\":[]");
	api_expect(&f, "GET " PODS "?fieldSelector=spec.nodeName=node,status.phase!=Failed", NULL,
		200, "\"name\":\"virt-launcher-web-");
	api_expect(&f, "GET " PODS "?fieldSelector=status.phase=Pending", NULL, 200,
		"\"items\":[]");
	api_expect(&f, "GET " VMS "?fieldSelector=spec.nodeName=node", NULL, 400, "not supported");
}
END_TEST

START_TEST(test_a_watch_of_pods_goes_with_the_runs)
{
	struct client c;

	client_open(&c, &f.loop, f.path);
	client_printf(&c,
		"GET " PODS "?watch=1&labelSelector=kubevirt.io=virt-launcher HTTP/1.1\r\n"
		"Host: x\r\n\r\n");
	ck_assert(client_sees(&c,
		"{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\","
		"\"kind\":\"Pod\""));
	client_drop(&c, "}\n");
	api_expect(&f, "DELETE " VMS "/web", NULL, 200, NULL);
	ck_assert(client_sees(&c, "{\"type\":\"MODIFIED\""));
	ck_assert(client_sees(&c, "{\"type\":\"DELETED\""));
	ck_assert(!strstr(c.in.data, "VirtualMachineInstanceList"));
	client_close(&c);
}
END_TEST

/* Its name is not that of the object that changes. */
START_TEST(test_a_watch_of_one_pod)
{
	autofree char *list = NULL;
	const char *name;
	struct client c;

	api_ask(&f, "GET " PODS, NULL, &list);
	name = strstr(list, "virt-launcher-web-");
	client_open(&c, &f.loop, f.path);
	client_printf(&c, "GET " PODS "?watch=1&fieldSelector=metadata.name=%.*s HTTP/1.0\r\n\r\n",
		(int)strcspn(name, "\""), name);
	ck_assert(client_sees(&c, "{\"type\":\"ADDED\""));
	api_expect(&f, "DELETE " VMS "/web", NULL, 200, NULL);
	ck_assert(client_sees(&c, "{\"type\":\"DELETED\""));
	client_close(&c);
}
END_TEST

START_TEST(test_the_host_is_a_node)
{
	struct input down = { .kind = INPUT_CONNECTION,
		.connection = { false, "no \"libvirtd\"" } };
	autofree char *node = NULL;

	ck_assert_int_eq(api_ask(&f, "GET /api/v1/nodes/node", NULL, &node), 200);
	ck_assert(strstr(node, "\"osImage\":\"") && !strstr(node, "\"osImage\":\"\""));
	api_expect(&f, "GET /api/v1/nodes", NULL, 200, "\"kind\":\"NodeList\"");
	api_expect(&f, "GET /api/v1/nodes/node", NULL, 200,
		"\"type\":\"Ready\",\"status\":\"True\"");
	api_expect(&f, "GET /api/v1/nodes/node", NULL, 200,
		"\"labels\":{\"disk\":\"ssd\"}},\"spec\":{\"taints\":[{\"key\":\"gpu\",\"effect\":"
		"\"NoSchedule\"}]}");
	api_expect(&f, "GET /api/v1/nodes/node", NULL, 200,
		"\"allocatable\":{\"cpu\":\"2500m\",\"memory\":\"1048576Ki\",\"x.org/gpu\":"
		"\"2\",\"key\":\"1\"}");
	api_expect(&f, "GET /api/v1/nodes/other", NULL, 404, "nodes \\\"other\\\" not found");
	api_expect(&f, "GET /api/v1/events/x", NULL, 404, NULL);
	agent_input(f.agent, &down, (struct now){ 1, 1 });
	api_expect(&f, "GET /api/v1/nodes/node", NULL, 200, "no 'libvirtd'");
}
END_TEST

START_TEST(test_kubevirt_is_deployed)
{
	api_expect(&f, "GET /apis/kubevirt.io/v1/kubevirts", NULL, 200, "\"phase\":\"Deployed\"");
	api_expect(&f, "GET /apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts/kubevirt", NULL, 200,
		"\"kind\":\"KubeVirt\"");
	api_expect(&f, "GET /apis/kubevirt.io/v1/kubevirts", NULL, 200, "\"spec\":{},");
	f.options.migrations = true;
	api_expect(&f, "GET /apis/kubevirt.io/v1/kubevirts", NULL, 200,
		"\"spec\":{\"configuration\":{\"migrations\":{\"allowAutoConverge\":false,"
		"\"allowPostCopy\":false,\"allowWorkloadDisruption\":false,"
		"\"bandwidthPerMigration\":\"0\",\"completionTimeoutPerGiB\":150,"
		"\"maxDowntimeMs\":900,\"progressTimeout\":150,"
		"\"parallelOutboundMigrationsPerNode\":2}}},");
	api_expect(&f, "GET /apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts", NULL, 200,
		"\"phase\":\"Deployed\"");
	api_expect(&f, "GET /apis/kubevirt.io/v1/namespaces/lab/kubevirts", NULL, 200,
		"\"items\":[]");
	api_expect(&f, "GET /apis/kubevirt.io/v1/namespaces/lab/kubevirts/kubevirt", NULL, 404,
		NULL);
	api_expect(&f, "POST /apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts", "{}", 405, NULL);
	api_expect(&f, "GET /apis/kubevirt.io/v1", NULL, 200, "\"name\":\"kubevirts\"");
	api_expect(&f, "GET /api/v1", NULL, 200,
		"\"name\":\"nodes\",\"singularName\":\"node\",\"namespaced\":false");
}
END_TEST

#define NEW_EVENTS "/apis/events.k8s.io/v1/namespaces/default/events"

START_TEST(test_events_in_the_newer_form)
{
	autofree char *note =
		between("GET /api/v1/namespaces/default/events", "\"message\":\"", "\"");
	autofree char *line = NULL, *name = NULL;

	name = between("GET " NEW_EVENTS, "\"metadata\":{\"name\":\"", "\"");
	line = xasprintf("GET " NEW_EVENTS "/%s", name);
	api_expect(&f, "GET " NEW_EVENTS, NULL, 200,
		"{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"EventList\"");
	api_expect(&f, line, NULL, 200, note);
	api_expect(&f, line, NULL, 200, "\"regarding\":{\"apiVersion\":\"kubevirt.io/v1\"");
	api_expect(&f, line, NULL, 200, ".000000Z\"");
	api_expect(&f, line, NULL, 200, "\"deprecatedCount\":1");
	api_expect(&f, line, NULL, 200, "\"reportingController\":\"vmagent\"");
	api_expect(&f, "GET " NEW_EVENTS "?fieldSelector=regarding.name=web", NULL, 200,
		"\"kind\":\"VirtualMachine\",\"namespace\":\"default\",\"name\":\"web\"");
	api_expect(&f, "GET " NEW_EVENTS "?fieldSelector=regarding.name=none", NULL, 200,
		"\"items\":[]");
	api_expect(&f, "GET " NEW_EVENTS "?fieldSelector=involvedObject.name=db", NULL, 400,
		"not supported");
	api_expect(&f, "DELETE " NEW_EVENTS "/x", NULL, 405, NULL);
}
END_TEST

START_TEST(test_a_watch_of_the_newer_form)
{
	struct client c;

	client_open(&c, &f.loop, f.path);
	client_printf(&c,
		"GET " NEW_EVENTS "?watch=1&fieldSelector=regarding.name=web HTTP/1.1\r\n"
		"Host: x\r\nAccept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n\r\n");
	ck_assert(client_sees(&c, "\"virtualmachine/web\""));
	client_drop(&c, "\"virtualmachine/web\"");
	api_expect(&f, "DELETE " VMS "/web", NULL, 200, NULL);
	ck_assert(client_sees(&c, "\"DeleteRequested\""));
	client_close(&c);
}
END_TEST

Suite *test_api_synthetic_suite(void)
{
	Suite *suite = suite_create("api_synthetic");
	TCase *tcase = tcase_create("synthetic");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_a_run_has_a_pod);
	tcase_add_test(tcase, test_pods_are_selected_by_what_they_are);
	tcase_add_test(tcase, test_a_watch_of_pods_goes_with_the_runs);
	tcase_add_test(tcase, test_a_watch_of_one_pod);
	tcase_add_test(tcase, test_the_host_is_a_node);
	tcase_add_test(tcase, test_kubevirt_is_deployed);
	tcase_add_test(tcase, test_events_in_the_newer_form);
	tcase_add_test(tcase, test_a_watch_of_the_newer_form);
	suite_add_tcase(suite, tcase);
	return suite;
}
