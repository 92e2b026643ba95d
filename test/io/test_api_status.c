/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client can do wrong, and the Status that it gets for it: HTTP status, reason and details
 * as Kubernetes' own API server gives them, by which its clients decide what to do next.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/node.h"
#include "test/lib/api_fixture.h"

Suite *test_api_status_suite(void);

#define KV    "/apis/kubevirt.io/v1"
#define VMS   KV "/namespaces/default/virtualmachines"
#define VMIS  KV "/namespaces/default/virtualmachineinstances"
#define SUB   "/apis/subresources.kubevirt.io/v1/namespaces/default"
#define JSON  "Content-Type: application/json\r\n"
#define MERGE "Content-Type: application/merge-patch+json\r\n"
#define OF_VM "\"group\":\"kubevirt.io\",\"kind\":\"virtualmachines\""
#define WEB   "{\"name\":\"web\"," OF_VM "}"
#define HEAD  "{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":\"VirtualMachine\","

static struct api_fixture f;

static void set_up(void)
{
	api_fixture_start(&f);
	api_expect(&f, "POST " VMS, api_vm("web", "Manual"), 201, NULL);
}

static void tear_down(void)
{
	api_fixture_stop(&f);
}

/* clang-format off */
static const struct {
	const char *line, *headers, *body;
	int status;
	const char *reason, *details, *message; /* details: all of it, or NULL; message: a part */
} rows[] = {
	{ "GET /nowhere", "", NULL, 404, "NotFound", NULL, "could not find the requested resource" },
	{ "GET " VMS "/nobody", "", NULL, 404, "NotFound", "{\"name\":\"nobody\"," OF_VM "}",
	  "virtualmachines.kubevirt.io \"nobody\" not found" },
	{ "DELETE " VMS "/nobody", "", NULL, 404, "NotFound", "{\"name\":\"nobody\"," OF_VM "}",
	  "virtualmachines.kubevirt.io \"nobody\" not found" },
	{ "PATCH " VMS "/nobody", MERGE, "{}", 404, "NotFound", "{\"name\":\"nobody\"," OF_VM "}",
	  "virtualmachines.kubevirt.io \"nobody\" not found" },
	{ "PUT " SUB "/virtualmachines/nobody/start", "", NULL, 404, "NotFound",
	  "{\"name\":\"nobody\"," OF_VM "}", "virtualmachines.kubevirt.io \"nobody\" not found" },
	{ "PUT " SUB "/virtualmachineinstances/web/pause", "", NULL, 404, "NotFound",
	  "{\"name\":\"web\",\"group\":\"kubevirt.io\",\"kind\":\"virtualmachineinstances\"}",
	  "virtualmachineinstances.kubevirt.io \"web\" not found" },
	{ "POST " VMS, JSON, "web", 409, "AlreadyExists", WEB,
	  "virtualmachines.kubevirt.io \"web\" already exists" },
	{ "PUT " SUB "/virtualmachines/web/stop", "", NULL, 409, "Conflict", WEB, "is not running" },
	{ "DELETE " VMS "/web", JSON, "{\"preconditions\":{\"uid\":\"x\"}}", 409, "Conflict", WEB,
	  "UID in the precondition" },
	{ "DELETE " VMS "/web", JSON, "{\"preconditions\":{\"resourceVersion\":\"99\"}}", 409, "Conflict",
	  WEB, "modified meanwhile" },
	{ "PATCH " VMS "/web", MERGE, "{\"metadata\":{\"resourceVersion\":\"99\"}}", 409, "Conflict", WEB,
	  "modified meanwhile" },
	{ "PATCH " VMS "/web", MERGE, "{\"spec\":{\"nonsense\":1}}", 422, "Invalid",
	  "{\"name\":\"web\",\"group\":\"kubevirt.io\",\"kind\":\"VirtualMachine\",\"causes\":[{\"reason\":"
	  "\"FieldValueInvalid\",\"message\":\"field 'nonsense' is not supported by this version\",\"field\":\"spec.nonsense\"}]}",
	  "spec.nonsense" },
	{ "POST " VMS, JSON, HEAD "\"metadata\":{\"name\":\"A_\"},\"spec\":{}}", 422, "Invalid", NULL,
	  "VirtualMachine.kubevirt.io \"A_\" is invalid: " },
	{ "POST " VMS, JSON, "{", 400, "BadRequest", NULL, "" },
	{ "POST " VMS, JSON, "", 400, "BadRequest", NULL, "the body is no object" },
	{ "POST " VMS, JSON, "[]", 400, "BadRequest", NULL, "the body is no object" },
	{ "POST " VMS, JSON, "{\"kind\":\"Pod\"}", 400, "BadRequest", NULL, "of kind 'Pod'" },
	{ "POST " VMS, JSON, HEAD "\"metadata\":{\"namespace\":\"other\"}}", 400, "BadRequest", NULL,
	  "does not match 'default' in the path" },
	{ "PUT " VMS "/web", JSON, HEAD "\"metadata\":{\"name\":\"db\"}}", 400, "BadRequest", NULL,
	  "does not match 'web' in the path" },
	{ "DELETE " VMS "/web", JSON, "{\"propagationPolicy\":\"Never\"}", 400, "BadRequest", NULL,
	  "propagationPolicy 'Never' is unknown" },
	{ "DELETE " VMS "/web", JSON, "{\"gracePeriodSeconds\":-1}", 400, "BadRequest", NULL, "negative" },
	{ "GET " VMS "?labelSelector=a%20b", "", NULL, 400, "BadRequest", NULL, "selector term 'a b'" },
	{ "GET " VMS "?fieldSelector=spec.x%3D1", "", NULL, 400, "BadRequest", NULL,
	  "field label not supported: spec.x" },
	{ "PATCH " VMS, MERGE, "{}", 405, "MethodNotAllowed", NULL, "does not allow method PATCH" },
	{ "POST " VMS "/web", JSON, "{}", 405, "MethodNotAllowed", NULL, "does not allow method POST" },
	{ "PUT /version", JSON, "{}", 405, "MethodNotAllowed", NULL, "does not allow method PUT" },
	{ "GET " VMS, "Accept: text/html\r\n", NULL, 406, "NotAcceptable", NULL, "application/json is" },
	{ "POST " VMS, "Content-Type: text/html\r\n", "x", 415, "UnsupportedMediaType", NULL, "text/html" },
	{ "PATCH " VMS "/web", "", "{}", 415, "UnsupportedMediaType", NULL, "accepted media types include" },
	{ "POST " VMS "?fieldValidation=Maybe", JSON, "web", 422, "Invalid",
	  "{\"group\":\"meta.k8s.io\",\"kind\":\"CreateOptions\",\"causes\":[{\"reason\":"
	  "\"FieldValueNotSupported\",\"message\":\"Unsupported value: supported values: \\\"Ignore\\\", "
	  "\\\"Strict\\\", \\\"Warn\\\"\",\"field\":\"fieldValidation\"}]}",
	  "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value" },
	{ "PUT " VMS "/web?dryRun=Some", JSON, "web", 422, "Invalid", NULL,
	  "UpdateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value" },
	{ "PATCH " VMS "/web?force=true", MERGE, "{}", 422, "Invalid", NULL,
	  "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden" },
	{ "PATCH " VMS "/web?fieldManager=a%0Ab", MERGE, "{}", 422, "Invalid", NULL,
	  "fieldManager: Invalid value" },
	{ "GET " VMS "?resourceVersion=99999999", "", NULL, 504, "Timeout",
	  "{\"causes\":[{\"reason\":\"ResourceVersionTooLarge\",\"message\":\"Too large resource version\"}],"
	  "\"retryAfterSeconds\":1}", "Timeout: Too large resource version: 99999999, current: " },
};
/* clang-format on */

static void check_status(const char *line, const char *body, int status, const char *reason)
{
	struct documents docs = { 0 };
	struct place place;
	autofree char *code = xasprintf("%d", status);

	ck_assert_msg(nodes_parse(body, strlen(body), &docs, &place, NULL) == 0 && docs.n == 1,
		"%s: %s", line, body);
	ck_assert_str_eq(node_text(docs.roots[0], "kind"), "Status");
	ck_assert_str_eq(node_text(docs.roots[0], "apiVersion"), "v1");
	ck_assert_str_eq(node_text(docs.roots[0], "status"), "Failure");
	ck_assert_str_eq(node_text(docs.roots[0], "code"), code);
	ck_assert_msg(streq(node_text(docs.roots[0], "reason"), reason), "%s: %s", line, body);
	documents_done(&docs);
}

START_TEST(test_refusals)
{
	const char *body = rows[_i].body;
	struct client_request request = { .line = rows[_i].line, .headers = rows[_i].headers };
	autofree char *head = NULL, *answer = NULL, *message = NULL;
	int status;

	request.body = body && streq(body, "web") ? api_vm("web", "Manual") : body;
	if (request.body != body)
		request.headers = "Content-Type: application/yaml\r\n";
	status = client_request(&f.loop, f.path, &request, &head, &answer);
	ck_assert_msg(status == rows[_i].status, "%s: %d %s", request.line, status, answer);
	ck_assert_ptr_nonnull(strcasestr(head, "Content-Type: application/json"));
	check_status(request.line, answer, status, rows[_i].reason);
	if (rows[_i].details) {
		autofree char *want = xasprintf("\"details\":%s,\"code\"", rows[_i].details);

		ck_assert_msg(strstr(answer, want), "%s: %s is not in %s", request.line, want,
			answer);
	}
	message =
		node_json(&(struct node){ .kind = NODE_STRING, .text = (char *)rows[_i].message });
	message[strlen(message) - 1] = '\0';
	ck_assert_msg(strstr(answer, message + 1), "%s: %s is not in %s", request.line, message,
		answer);
	ck_assert_int_eq(strcasestr(head, "\nRetry-After: 1") != NULL,
		strstr(answer, "\"retryAfterSeconds\":1") != NULL);
}
END_TEST

/* Nothing was done, so a client may try again by itself; what is kept, and only not saved
 * yet, it may not. */
START_TEST(test_what_may_be_tried_again)
{
	struct client_request request = { .line = "PUT " SUB "/virtualmachines/web/start" };
	char *head[2] = { 0 }, *answer[2] = { 0 };

	store_fail_after(f.store, 1);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(client_request(&f.loop, f.path, &request, &head[i], &answer[i]),
			503);
		check_status(request.line, answer[i], 503, "ServiceUnavailable");
	}
	ck_assert_ptr_nonnull(strstr(answer[0], "not saved yet"));
	ck_assert_ptr_null(strcasestr(head[0], "\nRetry-After:"));
	ck_assert_ptr_null(strstr(answer[0], "retryAfterSeconds"));
	ck_assert_ptr_nonnull(strstr(answer[1], "nothing can be saved"));
	ck_assert_ptr_nonnull(strcasestr(head[1], "\nRetry-After: 1\r"));
	ck_assert_ptr_nonnull(strstr(answer[1], "\"retryAfterSeconds\":1}"));
	for (int i = 0; i < 2; i++) {
		free(head[i]);
		free(answer[i]);
	}
}
END_TEST

static void expect_taken(const char *line, const char *headers, const char *body)
{
	struct client_request request = { .line = line, .headers = headers, .body = body };
	autofree char *answer = NULL;
	int status = client_request(&f.loop, f.path, &request, NULL, &answer);

	ck_assert_msg(status / 100 == 2, "%s: %s", line, answer);
	ck_assert_ptr_null(strstr(answer, "managedFields"));
}

/* What kubectl sends beside an object is taken, and changes nothing. */
START_TEST(test_what_is_taken)
{
	static const char managed[] =
		"{\"metadata\":{\"managedFields\":[{\"manager\":\"kubectl\",\"operation\":\"Update\"}]}}";

	expect_taken("PATCH " VMS "/web?fieldManager=kubectl-edit&fieldValidation=Strict", MERGE,
		managed);
	expect_taken("PATCH " VMS "/web?fieldValidation=Warn", MERGE, "{}");
	expect_taken("PATCH " VMS "/web?fieldValidation=", MERGE, "{}");
	expect_taken("PUT " VMS "/web?fieldManager=kubectl-replace&fieldValidation=Ignore",
		"Content-Type: application/yaml\r\n", api_vm("web", "Manual"));
	expect_taken("POST " VMS "?fieldManager=kubectl-client-side-apply&pretty=true",
		"Content-Type: application/yaml\r\n", api_vm("db", "Manual"));
	api_expect(&f, "POST " VMS "?fieldValidation=Ignore",
		"{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":\"VirtualMachine\",\"metadata\":{"
		"\"name\":\"x\"},\"spec\":{\"nonsense\":1}}",
		422, "nonsense"); /* nothing is silently lost, whoever asks for it */
}
END_TEST

Suite *test_api_status_suite(void)
{
	Suite *suite = suite_create("api_status");
	TCase *tcase = tcase_create("errors");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, test_refusals, 0, (int)ARRAY_SIZE(rows));
	tcase_add_test(tcase, test_what_may_be_tried_again);
	tcase_add_test(tcase, test_what_is_taken);
	suite_add_tcase(suite, tcase);
	return suite;
}
