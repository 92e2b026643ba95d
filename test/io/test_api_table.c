/* SPDX-License-Identifier: Apache-2.0 */
/* Lists, objects and watches as kubectl asks for them: rows of a Table. */
#include <check.h>
#include <string.h>

#include "test/lib/api_fixture.h"

Suite *test_api_table_suite(void);

#define VMS "/apis/kubevirt.io/v1/namespaces/default/virtualmachines"
#define KUBECTL                                                 \
	"Accept: application/json;as=Table;v=v1;g=meta.k8s.io," \
	"application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json\r\n"

#define AWAIT_TRIES 10000 /* requests */

static struct api_fixture f;

static void set_up(void)
{
	api_fixture_start(&f);
	api_expect(&f, "POST " VMS, api_vm("web", "Halted"), 201, NULL);
}

static void tear_down(void)
{
	api_fixture_stop(&f);
}

static void expect(const char *line, const char *headers, int status, const char *text)
{
	struct client_request request = { .line = line, .headers = headers };
	autofree char *body = NULL;

	ck_assert_int_eq(client_request(&f.loop, f.path, &request, NULL, &body), status);
	ck_assert_msg(strstr(body, text) != NULL, "'%s' is not in '%s'", text, body);
}

static void await_text(const char *line, const char *text)
{
	struct client_request request = { .line = line, .headers = KUBECTL };
	bool found = false;

	for (unsigned tries = 0; !found && tries < AWAIT_TRIES; tries++) {
		autofree char *body = NULL;

		client_request(&f.loop, f.path, &request, NULL, &body);
		found = strstr(body, text) != NULL;
	}
	ck_assert_msg(found, "'%s' never comes", text);
}

START_TEST(test_a_list_is_a_table)
{
	expect("GET " VMS, KUBECTL, 200, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",");
	expect("GET " VMS, KUBECTL, 200,
		"{\"name\":\"Status\",\"type\":\"string\",\"format\":\"\",\"description\":\"\","
		"\"priority\":0}");
	expect("GET " VMS, KUBECTL, 200, "\"rows\":[{\"cells\":[\"web\",\"");
	expect("GET " VMS, KUBECTL, 200,
		"s\",\"Stopped\",\"False\"],\"object\":"
		"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
		"\"metadata\":{\"name\":\"web\",");
}
END_TEST

START_TEST(test_one_object_is_a_table_of_one_row)
{
	expect("GET " VMS "/web", KUBECTL, 200, "\"rows\":[{\"cells\":[\"web\",");
	expect("GET " VMS "/nobody", KUBECTL, 404, "\"kind\":\"Status\"");
}
END_TEST

START_TEST(test_what_goes_with_a_row)
{
	expect("GET " VMS "?includeObject=None", KUBECTL, 200, "\"object\":null}");
	expect("GET " VMS "?includeObject=Object", KUBECTL, 200,
		"\"object\":{\"apiVersion\":\"kubevirt.io/v1\"");
	expect("GET " VMS "?includeObject=All", KUBECTL, 400, "includeObject: 'All' is none of");
}
END_TEST

START_TEST(test_absent_cells_are_null)
{
	api_expect(&f, "POST " VMS, api_vm("db", "Always"), 201, NULL);
	expect("GET /apis/kubevirt.io/v1/virtualmachineinstances", KUBECTL, 200, "null");
}
END_TEST

START_TEST(test_events)
{
	api_expect(&f, "POST " VMS, api_vm("db", "Always"), 201, NULL);
	expect("GET /api/v1/events", KUBECTL, 200,
		"\"Normal\",\"SuccessfulCreate\",\"virtualmachine/db\",null,\"vmagent\",\"Started");
}
END_TEST

#define CLAIMS "/api/v1/namespaces/default/persistentvolumeclaims"
#define CLAIM                                                                                         \
	"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":\"data\"}," \
	"\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"                                              \
	"\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}"
#define VM_OF_CLAIM                                                                                      \
	"{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":\"VirtualMachine\",\"metadata\":{\"name\":\"db\"}," \
	"\"spec\":{\"runStrategy\":\"Always\",\"template\":{\"spec\":{\"domain\":{\"memory\":{"          \
	"\"guest\":\"64Mi\"},\"devices\":{\"disks\":[{\"name\":\"d\",\"disk\":{\"bus\":\"virtio\"}}]}}," \
	"\"volumes\":[{\"name\":\"d\",\"persistentVolumeClaim\":{\"claimName\":\"data\"}}]}}}}"

/* As kubectl has it of a claim that goes when its run has gone. */
START_TEST(test_a_claim)
{
	api_expect(&f, "POST " CLAIMS, CLAIM, 201, NULL);
	expect("GET " CLAIMS, KUBECTL, 200, "[{\"cells\":[\"data\",\"Pending\",null,null,null,");
	api_expect(&f, "POST " VMS, VM_OF_CLAIM, 201, NULL);
	await_text("GET " CLAIMS, "[{\"cells\":[\"data\",\"Bound\",null,\"1Gi\",\"RWO\",null,");
	api_expect(&f, "DELETE " CLAIMS "/data", NULL, 200, NULL);
	expect("GET " CLAIMS, KUBECTL, 200, "[{\"cells\":[\"data\",\"Terminating\",null,\"1Gi\",");
	api_expect(&f, "DELETE " VMS "/db", NULL, 200, NULL);
	api_until(&f, "GET " CLAIMS "/data", 404);
}
END_TEST

static const struct {
	const char *accept;
	int status;
	const char *text;
} accepts[] = {
	{ "Accept: application/json\r\n", 200, "\"kind\":\"VirtualMachineList\"" },
	{ "Accept: */*\r\n", 200, "\"kind\":\"VirtualMachineList\"" },
	{ "Accept: application/yaml, application/json;q=0.5\r\n", 200, "VirtualMachineList" },
	{ "Accept: application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json\r\n", 200,
		"VirtualMachineList" },
	{ "Accept: application/json, application/json;as=Table;v=v1;g=meta.k8s.io\r\n", 200,
		"VirtualMachineList" },
	{ "Accept: application/vnd.kubernetes.protobuf\r\n", 406, "\"reason\":\"NotAcceptable\"" },
	{ "Accept: application/json;as=Table;v=v1beta1;g=meta.k8s.io\r\n", 406, "is served" },
	{ "Accept: application/jsonx\r\n", 406, "NotAcceptable" },
};

START_TEST(test_accept)
{
	expect("GET " VMS, accepts[_i].accept, accepts[_i].status, accepts[_i].text);
}
END_TEST

START_TEST(test_a_watch_of_tables)
{
	struct client c;

	client_open(&c, &f.loop, f.path);
	client_printf(&c, "GET " VMS "?watch=1 HTTP/1.1\r\nHost: x\r\n" KUBECTL "\r\n");
	ck_assert(client_sees(&c, "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Table\","));
	ck_assert(client_sees(&c, "\"rows\":[{\"cells\":[\"web\",\""));
	client_drop(&c, "}\n");
	api_expect(&f, "DELETE " VMS "/web", NULL, 200, NULL);
	ck_assert(client_sees(&c, "{\"type\":\"DELETED\",\"object\":{\"kind\":\"Table\","));
	client_close(&c);
}
END_TEST

Suite *test_api_table_suite(void)
{
	Suite *suite = suite_create("api_table");
	TCase *tcase = tcase_create("Table");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_a_list_is_a_table);
	tcase_add_test(tcase, test_one_object_is_a_table_of_one_row);
	tcase_add_test(tcase, test_what_goes_with_a_row);
	tcase_add_test(tcase, test_absent_cells_are_null);
	tcase_add_test(tcase, test_events);
	tcase_add_test(tcase, test_a_claim);
	tcase_add_loop_test(tcase, test_accept, 0, (int)ARRAY_SIZE(accepts));
	tcase_add_test(tcase, test_a_watch_of_tables);
	suite_add_tcase(suite, tcase);
	return suite;
}
