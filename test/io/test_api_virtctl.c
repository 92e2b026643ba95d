/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What virtctl sends, header by header, and what it reads of the answer. Its verbs are requests of
 * Kubernetes' REST client: options as JSON without a Content-Type, PUTs without a body, "Accept:
 * application/json" and anything. It succeeds by a status of 200 to 206, whatever the body; else it
 * decodes the body by its Content-Type and prints the message of a Status of v1 that says Failure.
 * Old ones (0.58) say v1alpha3.
 */
#include <check.h>
#include <string.h>

#include "test/lib/api_fixture.h"

Suite *test_api_virtctl_suite(void);

#define VMS  "/apis/kubevirt.io/v1/namespaces/default/virtualmachines"
#define VMIS "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances"
#define NEW  "/apis/subresources.kubevirt.io/v1/namespaces/default"
#define OLD  "/apis/subresources.kubevirt.io/v1alpha3/namespaces/default"
#define VM   "/virtualmachines"
#define VMI  "/virtualmachineinstances"

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

/* As Go writes it: Connection stays open, so the answer must say where it ends.
 * Returns head and body. */
static char *exchange(const char *line, const char *body)
{
	struct client c;
	char *answer;

	client_open(&c, &f.loop, f.path);
	client_printf(&c,
		"%s HTTP/1.1\r\nHost: 127.0.0.1:8001\r\n"
		"User-Agent: virtctl/v1.6.0 (linux/amd64) kubernetes/$Format\r\n",
		line);
	if (starts_with(line, "PUT") || starts_with(line, "POST"))
		client_printf(&c, "Content-Length: %zu\r\n", strlen(body));
	client_printf(&c,
		"Accept: application/json, */*\r\n"
		"Accept-Encoding: gzip\r\n\r\n%s",
		body);
	ck_assert_msg(client_sees(&c, "\r\n\r\n"), "'%s' is not answered", line);
	ck_assert_msg(strstr(c.in.data, "Content-Length: ") != NULL, "'%s': no length", line);
	ck_assert(client_gets(&c,
		(size_t)(strstr(c.in.data, "\r\n\r\n") + 4 - c.in.data) +
			strtoul(strstr(c.in.data, "Content-Length: ") + 16, NULL, 10)));
	answer = take(&c.in.data);
	client_close(&c);
	return answer;
}

struct command {
	const char *words, *line, *body;
	int status;
	const char *text; /* of the body; of a refusal: what virtctl prints */
};

static void expect(const struct command *cmd)
{
	autofree char *answer = exchange(cmd->line, cmd->body);
	const char *content = strstr(answer, "\r\n\r\n") + 4;
	int got = atoi(answer + strlen("HTTP/1.1 "));

	ck_assert_msg(got == cmd->status && strstr(content, cmd->text) != NULL,
		"%s: %d with '%s' expected, got %s", cmd->words, cmd->status, cmd->text, answer);
	if (cmd->status <= 206)
		return;
	ck_assert_msg(strstr(answer, "Content-Type: application/json\r\n") != NULL, "%s", answer);
	ck_assert_msg(strstr(content, "\"kind\":\"Status\",\"apiVersion\":\"v1\"") != NULL, "%s",
		content);
	ck_assert_msg(strstr(content, "\"status\":\"Failure\"") != NULL, "%s", content);
	ck_assert_msg(strstr(content, "\"reason\":\"") != NULL, "%s", content);
}

/* clang-format off */
static const struct command table[] = { /* in this order, on one VM */
	{ "stop web",             "PUT " NEW VM "/web/stop",     "{}", 409, "not running" },
	{ "start web --dry-run",  "PUT " NEW VM "/web/start",    "{\"dryRun\":[\"All\"]}", 202, "" },
	{ "pause vm web",         "PUT " NEW VMI "/web/pause",   "{}", 404, "\"web\\\" not found" },
	{ "start web --paused",   "PUT " NEW VM "/web/start",    "{\"paused\":true}", 202, "" },
	{ "start web",            "PUT " NEW VM "/web/start",    "{}", 409, "already running" },
	{ "unpause vm web",       "GET " VMS "/web",             "", 200, "\"kind\":\"VirtualMachine\"" },
	{ "unpause vm web",       "PUT " NEW VMI "/web/unpause", "{}", 200, "" },
	{ "pause vmi web",        "PUT " OLD VMI "/web/pause",   "{}", 200, "" },
	{ "pause vmi web",        "PUT " NEW VMI "/web/pause",   "{}", 409, "already paused" },
	{ "unpause --dry-run",    "PUT " NEW VMI "/web/unpause", "{\"dryRun\":[\"All\"]}", 200, "" },
	{ "unpause vmi web",      "PUT " NEW VMI "/web/unpause", "{}", 200, "" },
	{ "soft-reboot web",      "PUT " NEW VMI "/web/softreboot", "", 200, "" },
	{ "reset web",            "PUT " NEW VMI "/web/reset",   "", 200, "" },
	{ "guestosinfo web",      "GET " NEW VMI "/web/guestosinfo", "", 409, "guest agent" },
	{ "userlist web",         "GET " NEW VMI "/web/userlist", "", 409, "guest agent" },
	{ "fslist web",           "GET " NEW VMI "/web/filesystemlist", "", 409, "guest agent" },
	{ "restart web",          "PUT " NEW VM "/web/restart",  "{}", 202, "" },
	{ "restart --force",      "PUT " NEW VM "/web/restart",  "{\"gracePeriodSeconds\":0}", 202, "" },
	{ "stop web --dry-run",   "PUT " NEW VM "/web/stop",     "{\"dryRun\":[\"All\"]}", 202, "" },
	{ "stop --force",         "PUT " NEW VM "/web/stop",     "{\"gracePeriod\":0}", 202, "" },
	{ "start web (0.58)",     "PUT " OLD VM "/web/start",    "{}", 202, "" },
	{ "stop web (0.58)",      "PUT " OLD VM "/web/stop",     "{}", 202, "" },
	{ "start nobody",         "PUT " NEW VM "/nobody/start", "{}", 404, "virtualmachines.kubevirt.io \\\"nobody\\\" not found" },
	{ "expose vm web",        "POST /api/v1/namespaces/default/services", "{}", 404, "services are not built" },
	{ "image-upload dv disk", "GET /api/v1/namespaces/default/persistentvolumeclaims/disk", "", 404, "persistentvolumeclaims \\\"disk\\\" not found" },
	{ "version",              "GET /apis/subresources.kubevirt.io", "", 200, "\"preferredVersion\":{\"groupVersion\":\"subresources.kubevirt.io/v1\"," },
	{ "version",              "GET /apis/subresources.kubevirt.io/v1/version", "", 200, "\"gitVersion\":\"v1.9.0+vmagent-" },
	{ "migrate web",          "PUT " NEW VM "/web/migrate",  "{}", 403, "live migration" },
};
/* clang-format on */

START_TEST(test_exchanges)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		expect(&table[i]);
}
END_TEST

/* "credentials add-ssh-key" adds to a list; where that fails, it makes the list,
 * if there is none. */
START_TEST(test_credentials)
{
#define KEYS "/spec/template/spec/accessCredentials"
	static const char credential[] =
		"{\"op\":\"add\",\"path\":\"" KEYS "/-\",\"value\":{\"sshPublicKey\":{\"source\":"
		"{\"secret\":{\"secretName\":\"web-ssh-key\"}},\"propagationMethod\":"
		"{\"qemuGuestAgent\":{\"users\":[\"root\"]}}}}}";
	autofree char *first = xasprintf("[%s]", credential), *body = NULL;
	autofree char *second = xasprintf("[{\"op\":\"test\",\"path\":\"" KEYS "\",\"value\":null},"
					  "{\"op\":\"add\",\"path\":\"" KEYS "\",\"value\":[]},%s]",
		credential);
	struct client_request patch = { .line = "PATCH " VMS "/web",
		.headers = "Content-Type: application/json-patch+json\r\n"
			   "Accept: application/json, */*\r\n",
		.body = first };

	ck_assert_int_eq(client_request(&f.loop, f.path, &patch, NULL, NULL), 422);
	patch.body = second;
	ck_assert_int_eq(client_request(&f.loop, f.path, &patch, NULL, &body), 200);
	ck_assert_msg(strstr(body, "\"secretName\":\"web-ssh-key\"") != NULL, "%s", body);
	ck_assert_int_eq(client_request(&f.loop, f.path, &patch, NULL, NULL), 422);
}
END_TEST

/* "image-upload pvc" waits for a pod to take the content once it has made this, so
 * it is not made. */
START_TEST(test_an_upload_is_refused)
{
	api_expect(&f, "POST /api/v1/namespaces/default/persistentvolumeclaims",
		"{\"kind\":\"PersistentVolumeClaim\",\"apiVersion\":\"v1\",\"metadata\":{"
		"\"name\":\"up\",\"annotations\":{\"cdi.kubevirt.io/storage.contentType\":\"\","
		"\"cdi.kubevirt.io/storage.upload.target\":\"\"}},\"spec\":{\"accessModes\":"
		"[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1Mi\"}}},"
		"\"status\":{}}",
		422, "uploads are not built");
	api_expect(&f, "GET /api/v1/namespaces/default/persistentvolumeclaims/up", NULL, 404, NULL);
}
END_TEST

/* A console that is refused: virtctl reads the Status of an answer that is no 101. */
START_TEST(test_a_console_is_refused)
{
	struct client c;

	client_open(&c, &f.loop, f.path);
	client_printf(&c,
		"GET " NEW VMI "/web/console HTTP/1.1\r\nHost: 127.0.0.1:8001\r\n"
		"User-Agent: Go-http-client/1.1\r\nConnection: Upgrade\r\n"
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
		"Sec-WebSocket-Protocol: plain.kubevirt.io\r\n"
		"Sec-WebSocket-Version: 13\r\nUpgrade: websocket\r\n\r\n");
	ck_assert(client_sees(&c, "HTTP/1.1 404 "));
	ck_assert(client_sees(&c, "Content-Type: application/json\r\n"));
	ck_assert(client_sees(&c, "\"web\\\" not found"));
	client_close(&c);
}
END_TEST

Suite *test_api_virtctl_suite(void)
{
	Suite *suite = suite_create("api_virtctl");
	TCase *tcase = tcase_create("exchanges");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_exchanges);
	tcase_add_test(tcase, test_credentials);
	tcase_add_test(tcase, test_an_upload_is_refused);
	tcase_add_test(tcase, test_a_console_is_refused);
	suite_add_tcase(suite, tcase);
	return suite;
}
