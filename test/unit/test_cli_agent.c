/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl against a scripted agent: for each exchange the request that must come, and the bytes that
 * answer it. It shows what is sent, what is printed, and the exit code, also when the agent is
 * slow, rude, restarted or not there.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/http.h"
#include "test/lib/agent_socket.h"

Suite *test_cli_agent_suite(void);

#define VMS    "/apis/kubevirt.io/v1/namespaces/default/virtualmachines"
#define VMIS   "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances"
#define VMISUB "/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances"
#define SUB    "/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines"
#define VMIMS  "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstancemigrations"
#define VMIM(name, vmi, phase)                                                                \
	"{\"kind\":\"VirtualMachineInstanceMigration\",\"metadata\":{\"name\":\"" name "\"}," \
	"\"spec\":{\"vmiName\":\"" vmi "\"},\"status\":{\"phase\":\"" phase "\"}}"
#define TAKEN "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
#define MOVE(name, rv, phase, more)                                                             \
	"{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u-" name "\",\"resourceVersion\":\"" rv \
	"\"},\"spec\":{\"vmiName\":\"web\"},\"status\":{\"phase\":\"" phase "\"" more "}}"
#define STATE(fields)     ",\"migrationState\":{" fields "}"
#define COPIED(remaining) ",\"progress\":{\"bytesTotal\":4096,\"bytesRemaining\":" remaining "}"
#define EVENTS            "/api/v1/namespaces/default/events"
#define OK(body)          "HTTP/1.1 200 OK\r\n\r\n" body
#define LIST(items) \
	OK("{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" items "]}")
#define REFUSED(code, reason, message)                                                          \
	"HTTP/1.1 " code " X\r\n\r\n{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":" code \
	",\"reason\":\"" reason "\",\"message\":\"" message "\"}"
#define VMI(rv, phase)                                                                                   \
	"{\"kind\":\"VirtualMachineInstance\",\"metadata\":{\"name\":\"web\",\"namespace\":\"default\"," \
	"\"resourceVersion\":\"" rv "\",\"uid\":\"u-1\"},\"status\":{\"phase\":\"" phase "\"}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define WATCH(kind, rv)                                                                      \
	"GET " kind "?fieldSelector=metadata.name%3Dweb&watch=true&allowWatchBookmarks=true" \
	"&resourceVersion=" rv " "
#define LISTED(kind) "GET " kind "?fieldSelector=metadata.name%3Dweb "
#define MANIFEST                                                                                          \
	"{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":\"VirtualMachine\",\"metadata\":{\"name\":\"web\"}," \
	"\"spec\":{\"runStrategy\":\"Manual\",\"template\":{\"spec\":{\"domain\":{\"devices\":{},"        \
	"\"memory\":{\"guest\":\"128Mi\"}}}}}}"

struct exchange {
	const char *request; /* how it begins; after a '|' what it must contain */
	const char *answer;
};

struct scene {
	const char *line; /* what is typed */
	const char *stdin_text;
	struct exchange exchanges[8];
	enum exit_code exit;
	const char *out, *err; /* all of standard output; what standard error must contain */
};

/* Reads one whole request: its head, and as much body as that says. */
static void read_request(int fd, struct buf *request)
{
	char piece[4096];

	for (;;) {
		const char *end = request->data ? strstr(request->data, "\r\n\r\n") : NULL;
		const char *length = end ? strcasestr(request->data, "Content-Length: ") : NULL;
		size_t body = length && length < end ? strtoul(length + 16, NULL, 10) : 0;
		ssize_t n;

		if (end && request->len >= (size_t)(end + 4 - request->data) + body)
			return;
		n = read(fd, piece, sizeof(piece));
		if (n <= 0)
			return;
		buf_add(request, piece, (size_t)n);
	}
}

static bool is_expected(const char *request, const char *expected)
{
	const char *bar = strchr(expected, '|');
	size_t len = bar ? (size_t)(bar - expected) : strlen(expected);

	return request && !strncmp(request, expected, len) && (!bar || strstr(request, bar + 1));
}

/* Plays the agent; exits with the number of the exchange that went wrong. */
static void play(int listener, const struct exchange *exchanges)
{
	for (int i = 0; exchanges[i].request; i++) {
		struct buf request = { 0 };
		int fd = accept(listener, NULL, NULL);

		read_request(fd, &request);
		if (!is_expected(request.data, exchanges[i].request)) {
			fprintf(stderr, "exchange %d: expected %s, got %s\n", i + 1,
				exchanges[i].request, request.data);
			_exit(i + 1);
		}
		/* Byte by byte: nothing may depend on pieces. */
		for (const char *c = exchanges[i].answer; *c; c++)
			if (write(fd, c, 1) != 1)
				break;
		buf_done(&request);
		close(fd);
	}
	_exit(0);
}

static pid_t start_agent(const struct exchange *exchanges)
{
	int listener = agent_socket_listen();
	pid_t pid = fork();

	if (!pid)
		play(listener, exchanges);
	close(listener);
	return pid;
}

static char *read_file(FILE *file)
{
	struct buf out = { 0 };
	int c;

	buf_puts(&out, "");
	rewind(file);
	while ((c = fgetc(file)) != EOF)
		buf_add(&out, &(char){ (char)c }, 1);
	fclose(file);
	return out.data;
}

/* Runs vmactl with its outputs in files. */
static enum exit_code type(const char *line, const char *input, char **ret_out, char **ret_err)
{
	FILE *in = tmpfile(), *out = tmpfile(), *err = tmpfile();
	autofree char *copy = xstrdup(line);
	char *words[16], *rest = copy, *word;
	int n = 0, saved_out = dup(1), saved_err = dup(2);
	enum exit_code exit;

	while ((word = strsep(&rest, " ")))
		words[n++] = word;
	fputs(input ? input : "", in);
	rewind(in);
	fflush(stdout);
	dup2(fileno(in), 0);
	dup2(fileno(out), 1);
	dup2(fileno(err), 2);
	exit = cli_main(n, words);
	dup2(saved_out, 1);
	dup2(saved_err, 2);
	fclose(in);
	*ret_out = read_file(out);
	*ret_err = read_file(err);
	return exit;
}

/* clang-format off */
static const struct scene scenes[] = {
	{ "get vm", NULL, { { "GET " VMS " HTTP/1.1", LIST("") } }, EXIT_DONE,
	  "", "No resources found in default namespace.\n" },
	{ "get vm -A", NULL, { { "GET /apis/kubevirt.io/v1/virtualmachines HTTP", LIST("") } }, EXIT_DONE,
	  "", "No resources found\n" },
	{ "get vmi web -o jsonpath={.status.phase}", NULL, { { "GET " VMIS "/web HTTP", OK(VMI("5", "Running")) } }, EXIT_DONE,
	  "Running", "" },
	{ "get vm,vmi --no-headers -o name", NULL,
	  { { "GET " VMS " ", LIST("{\"metadata\":{\"name\":\"db\"}}") }, { "GET " VMIS " ", LIST(VMI("5", "Running")) } }, EXIT_DONE,
	  "virtualmachine.kubevirt.io/db\nvirtualmachineinstance.kubevirt.io/web\n", "" },
	{ "get vmi", NULL, { { "GET " VMIS " ", LIST(VMI("5", "Running")) } }, EXIT_DONE,
	  "NAME   AGE         PHASE     IP    NODENAME   READY\n"
	  "web    <unknown>   Running                    \n", "" },
	{ "get vm -l a=b,c!=d", NULL, { { "GET " VMS "?labelSelector=a%3Db%2Cc%21%3Dd ", LIST("") } }, EXIT_DONE, "", "No resources" },
	{ "delete vm -l a=b --wait=false", NULL, { { "GET " VMS "?labelSelector=a%3Db ", LIST("{\"metadata\":{\"name\":\"db\",\"namespace\":\"default\"}}") },
	  { "DELETE " VMS "/db ", OK("{}") } }, EXIT_DONE, "virtualmachine.kubevirt.io \"db\" deleted\n", "" },
	{ "get vm web -n lab", NULL,
	  { { "GET /apis/kubevirt.io/v1/namespaces/lab/virtualmachines/web ",
	      REFUSED("404", "NotFound", "virtualmachines.kubevirt.io \\\"web\\\" not found") } }, EXIT_ERROR,
	  "", "Error from server (NotFound): virtualmachines.kubevirt.io \"web\" not found\n" },
	{ "get vm web --ignore-not-found", NULL, { { "GET " VMS "/web", REFUSED("404", "NotFound", "no") } }, EXIT_DONE, "", "" },

	/* every way in which a body can end */
	{ "get vmi -o name", NULL, { { "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	  "c;x=y\r\n{\"items\":[{}\r\n2\r\n]}\r\n0\r\nTrailer: x\r\n\r\n" } }, EXIT_DONE, "virtualmachineinstance.kubevirt.io/\n", "" },
	{ "get vmi -o name", NULL, { { "GET", "HTTP/1.1 200 OK\r\ncontent-length:  14 \r\n\r\n{\"items\":[{}]}garbage" } }, EXIT_DONE,
	  "virtualmachineinstance.kubevirt.io/\n", "" },
	{ "get vmi -o name", NULL, { { "GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{\"items\":[{}]}" } }, EXIT_DONE,
	  "virtualmachineinstance.kubevirt.io/\n", "" },
	{ "get vmi", NULL, { { "GET", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{" } }, EXIT_UNREACHABLE,
	  "", "error: the agent ended the connection\n" },
	{ "get vmi", NULL, { { "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n" } }, EXIT_UNREACHABLE,
	  "", "error: the agent ended the connection\n" },
	{ "get vmi", NULL, { { "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n" } }, EXIT_ERROR, "", "error: a chunk has no size\n" },
	{ "get vmi", NULL, { { "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n" } }, EXIT_ERROR, "", "error: a chunk is too long\n" },
	{ "get vmi", NULL, { { "GET", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n" } }, EXIT_ERROR, "", "cannot be read: '-5'\n" },
	{ "get vmi", NULL, { { "GET", "SSH-2.0-OpenSSH_9.2\r\n\r\n" } }, EXIT_ERROR, "", "does not speak HTTP" },
	{ "get vmi", NULL, { { "GET", OK("<html>") } }, EXIT_ERROR, "", "error: the agent's answer cannot be read: not JSON at offset 0" },
	{ "get vmi", NULL, { { "GET", "HTTP/1.1 503 X\r\n\r\nbusy" } }, EXIT_ERROR, "", "Error from server: busy (HTTP status 503)\n" },
	{ "get vmi", NULL, { { "GET", "" } }, EXIT_UNREACHABLE, "", "error: the agent ended the connection\n" },

	/* verbs */
	{ "start web", NULL, { { "PUT " SUB "/web/start HTTP|\r\n\r\n{}", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n" } }, EXIT_DONE,
	  "VM web was scheduled to start\n", "" },
	{ "start vm/web db --paused", NULL, { { "PUT " SUB "/web/start |{\"paused\":true}", REFUSED("409", "Conflict", "running") },
	  { "PUT " SUB "/db/start |{\"paused\":true}", "HTTP/1.1 202 Accepted\r\n\r\n" } }, EXIT_ERROR,
	  "VM db was scheduled to start\n", "Error from server (Conflict): running\n" },
	{ "stop web", NULL, { { "PUT " SUB "/web/stop |\r\n\r\n{}", "HTTP/1.1 202 Accepted\r\n\r\n" } }, EXIT_DONE, "VM web was scheduled to stop\n", "" },
	{ "stop web --force --grace-period=0", NULL, { { "PUT " SUB "/web/stop |{\"gracePeriod\":0}", "HTTP/1.1 202 Accepted\r\n\r\n" } }, EXIT_DONE,
	  "VM web was scheduled to stop\n", "" },
	{ "restart web --force --grace-period 0", NULL, { { "PUT " SUB "/web/restart |{\"gracePeriodSeconds\":0}", "HTTP/1.1 202 Accepted\r\n\r\n" } },
	  EXIT_DONE, "VM web was scheduled to restart\n", "" },
	{ "stop web --force", NULL, { { 0 } }, EXIT_USAGE, "", "error: --force and --grace-period go together" },
	{ "stop web --grace-period=5", NULL, { { 0 } }, EXIT_USAGE, "", "error: --force and --grace-period go together" },
	{ "stop web --grace-period=infinity", NULL, { { "PUT " SUB "/web/stop |{\"gracePeriod\":2147483647}", "HTTP/1.1 202 Accepted\r\n\r\n" } },
	  EXIT_DONE, "VM web was scheduled to stop\n", "" },
	{ "stop web --force --grace-period=infinity", NULL, { { 0 } }, EXIT_USAGE, "", "error: --grace-period=infinity never forces anything" },
	{ "stop vmi/web", NULL, { { 0 } }, EXIT_USAGE, "", "error: 'vmi/web' is no VirtualMachine" },
	{ "stop", NULL, { { 0 } }, EXIT_USAGE, "", "error: which VirtualMachine?" },

	{ "migrate web", NULL, { { "PUT " SUB "/web/migrate HTTP|\r\n\r\n{}", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n" } }, EXIT_DONE,
	  "VM web was scheduled to migrate\n", "" },
	{ "migrate web --to=b --dry-run", NULL, { { "PUT " SUB "/web/migrate |{\"addedNodeSelector\":{\"kubernetes.io/hostname\":\"b\"},\"dryRun\":[\"All\"]}",
	  "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n" } }, EXIT_DONE, "VM web was scheduled to migrate (server dry run)\n", "" },
	{ "migrate web --to=b --check", NULL, { { "PUT " SUB "/web/migrate |{\"addedNodeSelector\":{\"kubernetes.io/hostname\":\"b\"},\"dryRun\":[\"All\"]}",
	  OK("{\"kind\":\"Status\",\"status\":\"Success\",\"message\":\"it can be moved to 'b'\"}") } }, EXIT_DONE,
	  "VM web: it can be moved to 'b'\n", "" },
	{ "migrate web --wait", NULL, { { "PUT " SUB "/web/migrate ", TAKEN }, { "GET " VMIMS " ", LIST(MOVE("old", "6", "Failed", "")","MOVE("new", "5", "Scheduling", "")) },
	  { "GET " VMIMS "?watch=true&allowWatchBookmarks=true&resourceVersion=7 ", OK(EVENT("MODIFIED", MOVE("new", "8", "Running", COPIED("3072")))
	    EVENT("MODIFIED", MOVE("old", "9", "Succeeded", "")) EVENT("MODIFIED", MOVE("new", "9", "Running", COPIED("2048")))
	    EVENT("MODIFIED", MOVE("new", "10", "Running", STATE("\"mode\":\"PostCopy\"") COPIED("1024")))
	    EVENT("MODIFIED", MOVE("new", "11", "Succeeded", STATE("\"targetNode\":\"b\",\"startTimestamp\":\"2026-11-29T18:44:15Z\",\"endTimestamp\":\"2026-11-29T18:44:27Z\"")))) } }, EXIT_DONE,
	  "VM web was scheduled to migrate\nweb: Scheduling\nweb: Running   25%  1.0 KiB of 4.0 KiB\nweb: Running (post-copy)   75%  3.0 KiB of 4.0 KiB\n"
	  "VM web was moved to 'b' in 12s\n", "" },
	{ "migrate db web --wait", NULL, { { "PUT " SUB "/db/migrate ", REFUSED("409", "Conflict", "not running") }, { "PUT " SUB "/web/migrate ", TAKEN },
	  { "GET " VMIMS " ", LIST(MOVE("older", "5", "Succeeded", "")","MOVE("new", "12", "Failed", STATE("\"failureReason\":\"it was cancelled\""))","MOVE("old", "6", "Succeeded", "")) } }, EXIT_ERROR,
	  "VM web was scheduled to migrate\n", "error: VM web was not moved: it was cancelled\n" },
	{ "migrate web --wait", NULL, { { "PUT " SUB "/web/migrate ", TAKEN }, { "GET " VMIMS " ", LIST(MOVE("new", "5", "Pending",
	  ",\"conditions\":[{\"type\":\"Waiting\",\"message\":\"the target cannot be reached\"}]")) },
	  { "GET " VMIMS "?watch=true", OK(EVENT("DELETED", MOVE("new", "8", "Pending", ""))) } }, EXIT_ERROR,
	  "VM web was scheduled to migrate\nweb: Pending (the target cannot be reached)\n", "error: the migration of VM web was deleted before it ended\n" },
	{ "migrate web --wait --timeout=300ms", NULL, { { "PUT " SUB "/web/migrate ", TAKEN }, { "GET " VMIMS " ", LIST(MOVE("new", "5", "Running", "")) },
	  { "GET " VMIMS "?watch=true", OK("") } }, EXIT_TIMEOUT, "VM web was scheduled to migrate\nweb: Running\n",
	  "error: timed out: VM web is not moved yet, the migration goes on\n" },
	{ "migrate web --wait", NULL, { { "PUT " SUB "/web/migrate ", TAKEN }, { "GET " VMIMS " ", LIST("") } }, EXIT_ERROR, "VM web was scheduled to migrate\n",
	  "error: the migration of VM web is not there any more\n" },
	{ "migrate web --wait=false", NULL, { { "PUT " SUB "/web/migrate ", TAKEN } }, EXIT_DONE, "VM web was scheduled to migrate\n", "" },
	{ "migrate web --wait --dry-run", NULL, { { "PUT " SUB "/web/migrate ", TAKEN } }, EXIT_DONE, "VM web was scheduled to migrate (server dry run)\n", "" },
	{ "get vmim -o wide --no-headers", NULL, { { "GET " VMIMS " ", LIST(MOVE("new", "5", "Running", COPIED("2048"))) } }, EXIT_DONE,
	  "new   Running   web               50%   <unknown>   \n", "" },
	{ "migrate-cancel web db", NULL, { { "GET " VMIMS " ", LIST(VMIM("old", "web", "Failed") "," VMIM("new", "web", "Running")) },
	  { "DELETE " VMIMS "/new ", OK("{}") } }, EXIT_ERROR, "VM web was scheduled to migrate-cancel\n",
	  "error: found no migration to cancel for 'db'" },
	{ "migrate-cancel web --dry-run", NULL, { { "GET " VMIMS " ", LIST(VMIM("new", "web", "Pending")) },
	  { "DELETE " VMIMS "/new?dryRun=All ", REFUSED("409", "Conflict", "it is too late") } }, EXIT_ERROR, "",
	  "Error from server (Conflict): it is too late" },
	{ "get vmim", NULL, { { "GET " VMIMS " ", LIST(VMIM("new", "web", "Pending")) } }, EXIT_DONE,
	  "NAME   PHASE     VMI\nnew    Pending   web\n", "" },
	{ "pause web", NULL, { { "PUT " VMISUB "/web/pause HTTP|\r\n\r\n{}", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" } }, EXIT_DONE,
	  "VMI web was scheduled to pause\n", "" },
	{ "pause vm web db", NULL, { { "PUT " VMISUB "/web/pause ", REFUSED("409", "Conflict", "paused") },
	  { "PUT " VMISUB "/db/pause ", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" } }, EXIT_ERROR,
	  "VMI db was scheduled to pause\n", "Error from server (Conflict): paused\n" },
	{ "unpause vmi web", NULL, { { "PUT " VMISUB "/web/unpause ", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" } }, EXIT_DONE,
	  "VMI web was scheduled to unpause\n", "" },
	{ "soft-reboot vm/web", NULL, { { "PUT " VMISUB "/web/softreboot ", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" } }, EXIT_DONE,
	  "VMI web was scheduled to soft-reboot\n", "" },
	{ "reset vmi/web --dry-run=server", NULL, { { "PUT " VMISUB "/web/reset |{\"dryRun\":[\"All\"]}", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" } },
	  EXIT_DONE, "VMI web was scheduled to reset (server dry run)\n", "" },
	{ "reset", NULL, { { 0 } }, EXIT_USAGE, "", "error: which VirtualMachineInstance?" },
	{ "reset events web", NULL, { { 0 } }, EXIT_USAGE, "", "error: name a vm or a vmi" },

	/* what machines name */
	{ "get secrets", NULL, { { "GET /api/v1/namespaces/default/secrets ", LIST("{\"kind\":\"Secret\",\"metadata\":{\"name\":\"key\"},\"type\":\"Opaque\",\"data\":{\"a\":\"\",\"b\":\"\"}},"
	  "{\"metadata\":{\"name\":\"none\"}}") } }, EXIT_DONE,
	  "NAME   TYPE     DATA   AGE\nkey    Opaque   2      <unknown>\nnone            0      <unknown>\n", "" },
	{ "get vmcf small -n lab -o name", NULL, { { "GET /apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterinstancetypes/small ", OK("{\"metadata\":{\"name\":\"small\"}}") } },
	  EXIT_DONE, "virtualmachineclusterinstancetype.instancetype.kubevirt.io/small\n", "" },
	{ "get net-attach-def -o name", NULL, { { "GET /apis/k8s.cni.cncf.io/v1/namespaces/default/network-attachment-definitions ", LIST("{\"metadata\":{\"name\":\"lan\"}}") } },
	  EXIT_DONE, "network-attachment-definition.k8s.cni.cncf.io/lan\n", "" },
	{ "apply -f - --validate=false", "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\n", { { "GET /api/v1/namespaces/default/secrets/key ", REFUSED("404", "NotFound", "no") },
	  { "POST /api/v1/namespaces/default/secrets ", OK("{\"metadata\":{\"name\":\"key\"}}") } }, EXIT_DONE, "secret/key created\n", "" },
	{ "apply -f - --validate=false", "apiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachineClusterPreference\nmetadata: {name: linux}\n",
	  { { "GET /apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterpreferences/linux ", REFUSED("404", "NotFound", "no") },
	  { "POST /apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterpreferences |\"metadata\":{\"name\":\"linux\",\"annotations\"", OK("{\"metadata\":{\"name\":\"linux\"}}") } },
	  EXIT_DONE, "virtualmachineclusterpreference.instancetype.kubevirt.io/linux created\n", "" },
	{ "delete cm c --wait=false", NULL, { { "DELETE /api/v1/namespaces/default/configmaps/c ", OK("{}") } }, EXIT_DONE, "configmap \"c\" deleted\n", "" },

	/* apply */
	{ "apply -f -", MANIFEST, { { "GET " VMS "/web ", REFUSED("404", "NotFound", "no") },
	  { "POST " VMS " |last-applied-configuration\":\"{\\\"apiVersion\\\"", "HTTP/1.1 201 Created\r\nWarning: 299 - \"say \\\"hi\\\"\"\r\n\r\n" MANIFEST } },
	  EXIT_DONE, "virtualmachine.kubevirt.io/web created\n", "Warning: say \"hi\"\n" },
	{ "apply -f -", MANIFEST, { { "GET " VMS "/web ", OK("{\"metadata\":{\"name\":\"web\",\"namespace\":\"default\",\"resourceVersion\":\"7\"}}") },
	  { "PUT " VMS "/web |\"resourceVersion\":\"7\"", REFUSED("409", "Conflict", "changed") },
	  { "GET " VMS "/web ", OK("{\"metadata\":{\"name\":\"web\",\"namespace\":\"default\",\"resourceVersion\":\"8\"}}") },
	  { "PUT " VMS "/web |\"resourceVersion\":\"8\"", OK(MANIFEST) } }, EXIT_DONE, "virtualmachine.kubevirt.io/web configured\n", "" },
	{ "apply -f - --dry-run=server", MANIFEST, { { "GET " VMS "/web ", REFUSED("404", "NotFound", "no") }, { "POST " VMS "?dryRun=All ", OK(MANIFEST) } },
	  EXIT_DONE, "virtualmachine.kubevirt.io/web created (server dry run)\n", "" },
	{ "apply -f -", "kind: VirtualMachine\nmetadata: [\n", { { 0 } }, EXIT_ERROR, "", "standard input:3:1: " },
	{ "apply -f -", "kind: Pod\nmetadata: {name: x}\n", { { 0 } }, EXIT_ERROR, "", "standard input:1:" },
	{ "apply -f - --validate=false", "kind: Service\nmetadata: {name: x}\n", { { 0 } }, EXIT_ERROR, "", "no matches for kind \"Service\"" },
	{ "apply -f - -n lab --validate=false", "kind: VirtualMachine\nmetadata: {name: x, namespace: prod}\n", { { 0 } }, EXIT_ERROR, "", "'prod' is not the one given: 'lab'" },
	{ "apply", NULL, { { 0 } }, EXIT_USAGE, "", "error: which file?" },
	{ "apply -f /nope.yaml", NULL, { { 0 } }, EXIT_ERROR, "", "/nope.yaml: No such file or directory\n" },
	{ "create -f -", MANIFEST, { { "POST " VMS " ", REFUSED("409", "AlreadyExists", "there") } }, EXIT_ERROR, "", "Error from server (AlreadyExists): there\n" },
	{ "create namespace lab", NULL, { { "POST /api/v1/namespaces |\"kind\":\"Namespace\",\"metadata\":{\"name\":\"lab\"}", OK("{}") } }, EXIT_DONE, "namespace/lab created\n", "" },
	{ "create ns lab --dry-run=client", NULL, { { 0 } }, EXIT_DONE, "namespace/lab created (dry run)\n", "" },
	{ "create vm web", NULL, { { 0 } }, EXIT_USAGE, "", "error: which file?" },
	{ "apply ns lab", NULL, { { 0 } }, EXIT_USAGE, "", "error: which file?" },
	{ "validate -", MANIFEST, { { 0 } }, EXIT_DONE, "standard input: virtualmachine.kubevirt.io/web is valid\n", "" },
	{ "validate -", "kind: AgentConfiguration\n", { { 0 } }, EXIT_DONE, "standard input: is the agent's configuration, and checked by vmagent itself\n", "" },
	{ "validate -", "{\"kind\": \"VirtualMachine\"}", { { 0 } }, EXIT_ERROR, "", "standard input:1:" },

	/* delete: the object is gone, or another one has come in its place */
	{ "delete vmi web", NULL, { { "DELETE " VMIS "/web |\"kind\":\"DeleteOptions\"", OK(VMI("8", "Running")) }, { LISTED(VMIS), LIST(VMI("8", "Running")) },
	  { WATCH(VMIS, "7"), OK(EVENT("MODIFIED", VMI("9", "Failed")) EVENT("DELETED", VMI("10", "Failed"))) } },
	  EXIT_DONE, "virtualmachineinstance.kubevirt.io \"web\" deleted\n", "" },
	{ "delete vmi/web", NULL, { { "DELETE " VMIS "/web ", OK("{\"kind\":\"Status\",\"details\":{\"uid\":\"u-0\"}}") }, { LISTED(VMIS), LIST(VMI("8", "Pending")) } },
	  EXIT_DONE, "virtualmachineinstance.kubevirt.io \"web\" deleted\n", "" },
	{ "delete vmi web --wait=false --grace-period=3", NULL, { { "DELETE " VMIS "/web |\"gracePeriodSeconds\":3", OK("{}") } },
	  EXIT_DONE, "virtualmachineinstance.kubevirt.io \"web\" deleted\n", "" },
	{ "delete vmi web --cascade=orphan --force --wait=false", NULL, { { "DELETE " VMIS "/web |\"gracePeriodSeconds\":0,\"propagationPolicy\":\"Orphan\"", OK("{}") } },
	  EXIT_DONE, "virtualmachineinstance.kubevirt.io \"web\" deleted\n", "" },
	{ "delete vmi web --grace-period=0 --wait=false", NULL, { { "DELETE " VMIS "/web |\"gracePeriodSeconds\":1}", OK("{}") } },
	  EXIT_DONE, "virtualmachineinstance.kubevirt.io \"web\" deleted\n", "" },
	{ "delete vmi web --now --wait=false", NULL, { { "DELETE " VMIS "/web |\"gracePeriodSeconds\":1}", OK("{}") } },
	  EXIT_DONE, "virtualmachineinstance.kubevirt.io \"web\" deleted\n", "" },
	{ "delete vmi web --grace-period=0 --force --wait=false", NULL, { { "DELETE " VMIS "/web |\"gracePeriodSeconds\":0}", OK("{}") } },
	  EXIT_DONE, "virtualmachineinstance.kubevirt.io \"web\" deleted\n", "" },
	{ "delete vmi web --grace-period=infinity --wait=false", NULL, { { "DELETE " VMIS "/web |\"gracePeriodSeconds\":2147483647}", OK("{}") } },
	  EXIT_DONE, "virtualmachineinstance.kubevirt.io \"web\" deleted\n", "" },
	{ "delete vm web --cascade=false --wait=false", NULL, { { "DELETE " VMS "/web |\"propagationPolicy\":\"Orphan\"", OK("{}") } },
	  EXIT_DONE, "virtualmachine.kubevirt.io \"web\" deleted\n", "" },
	{ "delete vm web --cascade=foreground --wait=false", NULL, { { "DELETE " VMS "/web |\"propagationPolicy\":\"Foreground\"", OK("{}") } },
	  EXIT_DONE, "virtualmachine.kubevirt.io \"web\" deleted\n", "" },
	{ "delete vm web --cascade=no", NULL, { { 0 } }, EXIT_USAGE, "", "error: --cascade takes background, foreground or orphan" },
	{ "delete vm web --now --grace-period=5", NULL, { { 0 } }, EXIT_USAGE, "", "error: --now and --grace-period exclude each other" },
	{ "delete vm web --force --now", NULL, { { 0 } }, EXIT_USAGE, "", "error: --force kills at once" },
	{ "delete vm web --force --grace-period=5", NULL, { { 0 } }, EXIT_USAGE, "", "error: --force kills at once" },
	{ "delete vmi web", NULL, { { "DELETE " VMIS "/web ", REFUSED("404", "NotFound", "no") } }, EXIT_ERROR, "", "Error from server (NotFound): no\n" },
	{ "delete vm", NULL, { { 0 } }, EXIT_USAGE, "", "error: which? Give names, -l SELECTOR or --all" },
	{ "delete vmi web --timeout=300ms", NULL, { { "DELETE " VMIS "/web ", OK(VMI("8", "Running")) }, { LISTED(VMIS), LIST(VMI("8", "Running")) },
	  { WATCH(VMIS, "7"), OK("") } }, EXIT_TIMEOUT, "virtualmachineinstance.kubevirt.io \"web\" deleted\n", "error: timed out: virtualmachineinstances/web is not gone yet\n" },

	/* wait; and a watch that outlives what can happen to it */
	{ "wait vmi/web --for=jsonpath={.status.phase}=Running", NULL, { { LISTED(VMIS), LIST(VMI("5", "Running")) } }, EXIT_DONE,
	  "virtualmachineinstance.kubevirt.io/web condition met\n", "" },
	{ "wait vmi web --for=jsonpath=.status.phase=Running", NULL, { { LISTED(VMIS), LIST(VMI("5", "Scheduled")) },
	  { WATCH(VMIS, "7"), OK(EVENT("MODIFIED", VMI("9", "Scheduled")) EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"12\"}}")) },
	  { WATCH(VMIS, "12"), OK(EVENT("MODIFIED", VMI("13", "Running"))) } }, EXIT_DONE, "virtualmachineinstance.kubevirt.io/web condition met\n", "" },
	{ "wait vmi/web --for=jsonpath={.status.phase}=Running", NULL, { { LISTED(VMIS), LIST(VMI("5", "Scheduled")) },
	  { WATCH(VMIS, "7"), REFUSED("410", "Expired", "too old") }, { LISTED(VMIS), LIST(VMI("5", "Running")) } }, EXIT_DONE,
	  "virtualmachineinstance.kubevirt.io/web condition met\n", "" },
	{ "wait vmi/web --for=jsonpath={.status.phase}=Running", NULL, { { LISTED(VMIS), LIST(VMI("5", "Scheduled")) },
	  { WATCH(VMIS, "7"), OK(EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410,\"message\":\"lagging\"}")) }, { LISTED(VMIS), LIST(VMI("5", "Running")) } }, EXIT_DONE,
	  "virtualmachineinstance.kubevirt.io/web condition met\n", "" },
	{ "wait vmi/web --for=jsonpath={.status.phase}=Running", NULL, { { LISTED(VMIS), LIST(VMI("5", "Scheduled")) },
	  { WATCH(VMIS, "7"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"typ" }, { WATCH(VMIS, "7"), OK(EVENT("MODIFIED", VMI("13", "Running"))) } }, EXIT_DONE,
	  "virtualmachineinstance.kubevirt.io/web condition met\n", "Warning: lost the agent, trying to reach it again\n" },
	{ "wait vmi/web --for=delete", NULL, { { LISTED(VMIS), LIST(VMI("5", "Running") ",{\"metadata\":{\"name\":\"db\"}}") },
	  { WATCH(VMIS, "7"), OK(EVENT("DELETED", "{\"metadata\":{\"name\":\"db\"}}") EVENT("DELETED", VMI("9", "Failed"))) } }, EXIT_DONE,
	  "virtualmachineinstance.kubevirt.io/web condition met\n", "" },
	{ "wait vmi/db --for=create --timeout=200ms", NULL, { { "GET " VMIS "?fieldSelector=metadata.name%3Ddb ", LIST(VMI("5", "Running")) },
	  { "GET " VMIS "?fieldSelector=metadata.name%3Ddb&watch=true", OK(EVENT("MODIFIED", VMI("9", "Failed"))) } }, EXIT_TIMEOUT,
	  "", "error: timed out waiting for the condition on virtualmachineinstances/db\n" },
	{ "wait vmi/web --for=delete", NULL, { { LISTED(VMIS), LIST("") } }, EXIT_DONE, "virtualmachineinstance.kubevirt.io/web condition met\n", "" },
	{ "wait vmi/web --for=condition=Ready", NULL, { { LISTED(VMIS), LIST("") }, { "GET " VMS "/web ", REFUSED("404", "NotFound", "no") } }, EXIT_ERROR,
	  "", "error: neither a VMI nor a VM named \"web\" is there\n" },
	{ "wait vmi/web --for=condition=ready", NULL, { { LISTED(VMIS), LIST("") }, { "GET " VMS "/web ", OK("{}") }, { WATCH(VMIS, "7"),
	  OK(EVENT("ADDED", "{\"metadata\":{\"name\":\"web\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}")) } }, EXIT_DONE,
	  "virtualmachineinstance.kubevirt.io/web condition met\n", "" },
	{ "wait vm/web --for=condition=Ready", NULL, { { LISTED(VMS), LIST("") } }, EXIT_ERROR, "", "error: virtualmachines \"web\" not found\n" },
	{ "wait vm/web", NULL, { { 0 } }, EXIT_USAGE, "", "error: for what?" },
	{ "wait vm/web --for=nonsense", NULL, { { 0 } }, EXIT_USAGE, "", "error: --for does not take 'nonsense'" },
	{ "wait vm/web --for=jsonpath={.a", NULL, { { 0 } }, EXIT_USAGE, "", "'}' is missing" },

	{ "events --for vm/web", NULL, { { "GET " EVENTS " ", LIST(
	  "{\"lastTimestamp\":\"2\",\"type\":\"Normal\",\"reason\":\"Started\",\"message\":\"up\",\"involvedObject\":{\"kind\":\"VirtualMachineInstance\",\"name\":\"web\"}},"
	  "{\"lastTimestamp\":\"1\",\"type\":\"Normal\",\"reason\":\"SuccessfulCreate\",\"message\":\"made\",\"involvedObject\":{\"kind\":\"VirtualMachine\",\"name\":\"web\"}},"
	  "{\"lastTimestamp\":\"1\",\"reason\":\"Other\",\"involvedObject\":{\"kind\":\"VirtualMachine\",\"name\":\"db\"}}") } }, EXIT_DONE,
	  "LAST SEEN   TYPE     REASON             OBJECT                       MESSAGE\n"
	  "<unknown>   Normal   SuccessfulCreate   virtualmachine/web           made\n"
	  "<unknown>   Normal   Started            virtualmachineinstance/web   up\n", "" },

	{ "version", NULL, { { "GET /version ", OK("{\"gitVersion\":\"v9\"}") } }, EXIT_DONE, "Client Version: " VMAGENT_VERSION "\nAgent Version: v9\n", "" },
	{ "version --client", NULL, { { 0 } }, EXIT_DONE, "Client Version: " VMAGENT_VERSION "\n", "" },
	{ "version --socket=/nope", NULL, { { 0 } }, EXIT_DONE, "Client Version: " VMAGENT_VERSION "\n", "cannot reach the agent at '/nope': there is no such socket" },
	{ "get vm --socket=/nope", NULL, { { 0 } }, EXIT_UNREACHABLE, "", "error: cannot reach the agent at '/nope': there is no such socket" },
	{ "get vm --socket=/dev/null", NULL, { { 0 } }, EXIT_UNREACHABLE, "", "cannot reach the agent at '/dev/null'" },
	{ "console web", NULL, { { "GET /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/web/console HTTP"
	  "|Sec-WebSocket-Protocol: plain.kubevirt.io", REFUSED("400", "BadRequest", "VMI is not running") } }, EXIT_ERROR, "",
	  "Error from server (BadRequest): VMI is not running\n" },
	{ "console web", "ls\n", { { "GET|Upgrade: websocket\r\n", "HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n\x82\x03ok\n\x88\x06\x03\xe8" "done" } },
	  EXIT_DONE, "ok\n", "The console was closed: done\n" },
	{ "console web", "ls\n", { { "GET|Upgrade: websocket\r\n", "HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n\x82\x03ok\n\x88\x09\x03\xf3no disk" } },
	  EXIT_ERROR, "ok\n", "error: the console was closed: no disk\n" },
	{ "console web", "ls\n", { { "GET|Upgrade: websocket\r\n", "HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n\x82\x03ok\n" } },
	  EXIT_ERROR, "ok\n", "error: the console was closed: the agent ended it\n" },

	{ "vnc screenshot web -f -", NULL, { { "GET " VMISUB "/web/vnc/screenshot HTTP", "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 6\r\n\r\n\x89PNG\r\n" } },
	  EXIT_DONE, "\x89PNG\r\n", "" },
	{ "vnc screenshot web --move-cursor -f /nowhere/a.png", NULL, { { "GET " VMISUB "/web/vnc/screenshot?moveCursor=true HTTP", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx" } },
	  EXIT_ERROR, "", "error: cannot write '/nowhere/a.png': No such file or directory\n" },
	{ "vnc screenshot web -f -", NULL, { { "GET", REFUSED("400", "BadRequest", "No graphics devices are present") } }, EXIT_ERROR, "",
	  "Error from server (BadRequest): No graphics devices are present\n" },
	{ "vnc screenshot web", NULL, { { 0 } }, EXIT_USAGE, "", "error: where to? Give one --filename" },
	{ "vnc screenshot", NULL, { { 0 } }, EXIT_USAGE, "", "error: name one VirtualMachineInstance" },
	{ "vnc web db", NULL, { { 0 } }, EXIT_USAGE, "", "error: one display at a time" },
	{ "vnc vm/web --proxy-only", NULL, { { "GET " VMISUB "/web/vnc HTTP|Sec-WebSocket-Protocol: plain.kubevirt.io\r\n", REFUSED("400", "BadRequest", "VMI is not running") } },
	  EXIT_ERROR, "", "Error from server (BadRequest): VMI is not running\n" },
	{ "vnc web --preserve-session", NULL, { { "GET " VMISUB "/web/vnc?preserveSession=true HTTP", REFUSED("503", "ServiceUnavailable", "Active") } },
	  EXIT_ERROR, "", "Error from server (ServiceUnavailable): Active\n" },

	{ "port-forward vm/web --stdio 22", "who?", { { "GET " SUB "/web/portforward/22/tcp HTTP|Sec-WebSocket-Protocol: plain.kubevirt.io\r\n",
	  "HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n\x82\x03ssh\x88\x02\x03\xe8" } }, EXIT_DONE, "ssh", "" },
	{ "port-forward vmis/web/lab tcp/22:80 --stdio", "", { { "GET /apis/subresources.kubevirt.io/v1/namespaces/lab/virtualmachineinstances/web/portforward/80/tcp HTTP",
	  "HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n\x88\x07\x03\xf3" "crash" } }, EXIT_ERROR, "", "error: the connection to port 80 was closed: crash\n" },
	{ "port-forward vm/web --stdio 22 80", NULL, { { 0 } }, EXIT_USAGE, "", "error: --stdio takes one port" },
	{ "port-forward vm/web", NULL, { { 0 } }, EXIT_USAGE, "", "error: name a vm or vmi, and ports" },
	{ "port-forward web 22", NULL, { { 0 } }, EXIT_USAGE, "", "error: 'web': name a vm/NAME or a vmi/NAME" },
	{ "port-forward domains/web 22", NULL, { { 0 } }, EXIT_USAGE, "", "error: 'domains/web': name a vm/NAME or a vmi/NAME" },
	{ "port-forward vm/web/a/b 22", NULL, { { 0 } }, EXIT_USAGE, "", "error: 'vm/web/a/b' is no TYPE/NAME[/NAMESPACE]" },
	{ "port-forward vm/web udp/53", NULL, { { 0 } }, EXIT_USAGE, "", "error: 'udp/53': only tcp is forwarded in this version" },
	{ "port-forward vm/web 0", NULL, { { 0 } }, EXIT_USAGE, "", "error: '0' is no port" },
	{ "port-forward vm/web 22:", NULL, { { 0 } }, EXIT_USAGE, "", "error: '22:' is no port" },
	{ "port-forward vm/web 22:0", NULL, { { 0 } }, EXIT_USAGE, "", "error: '22:0' is no port" },
	{ "port-forward vm/web 22:65536", NULL, { { 0 } }, EXIT_USAGE, "", "error: '22:65536' is no port" },
	{ "port-forward vm/web 99999999999999999999:22", NULL, { { 0 } }, EXIT_USAGE, "", "is no port" },
};
/* clang-format on */

START_TEST(a_line_is_typed)
{
	const struct scene *scene = &scenes[_i];
	autofree char *out = NULL, *err = NULL;
	pid_t agent = start_agent(scene->exchanges);
	enum exit_code exit = type(scene->line, scene->stdin_text, &out, &err);
	int status = 0;

	if (scene->exchanges[0].request)
		unlink(agent_socket_path());
	ck_assert_msg(streq(out, scene->out), "%s prints:\n%s", scene->line, out);
	ck_assert_msg(*scene->err ? !!strstr(err, scene->err) : !*err, "%s complains:\n%s",
		scene->line, err);
	ck_assert_msg(exit == scene->exit, "%s exits with %d", scene->line, (int)exit);
	ck_assert_int_eq(waitpid(agent, &status, 0), agent);
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "%s: exchange %d", scene->line,
		WEXITSTATUS(status));
}
END_TEST

START_TEST(a_silent_agent_is_not_waited_for)
{
	autofree char *out = NULL, *err = NULL;
	int listener = agent_socket_listen();

	ck_assert_int_eq(type("get vm --request-timeout=50ms", NULL, &out, &err), EXIT_TIMEOUT);
	ck_assert_str_eq(err, "error: the agent did not answer in time\n");
	close(listener);
}
END_TEST

/* As when there are too many connections: what it says counts, though it reads nothing. */
START_TEST(an_agent_that_answers_before_it_is_asked)
{
	static const char answer[] = "HTTP/1.1 429 X\r\nContent-Length: 8\r\n\r\ntoo many";
	int listener = agent_socket_listen(), fd;
	struct http h = { .fd = -1 };
	struct http_call call = { .line = "GET /" };
	struct buf body = { 0 };
	struct err err = { 0 };

	ck_assert_int_eq(http_connect(&h, agent_socket_path(), &err), 0);
	fd = accept(listener, NULL, NULL);
	ck_assert_int_eq(write(fd, answer, strlen(answer)), (int)strlen(answer));
	close(fd);
	ck_assert_msg(http_request(&h, &call, NEVER, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(h.status, 429);
	ck_assert_int_eq(http_read(&h, NEVER, &body, &err), 1);
	ck_assert_str_eq(body.data, "too many");
	buf_done(&body);
	http_close(&h);
	close(listener);
}
END_TEST

Suite *test_cli_agent_suite(void)
{
	Suite *s = suite_create("cli agent");
	TCase *t = tcase_create("scenes");

	tcase_add_checked_fixture(t, agent_socket_set_up, agent_socket_tear_down);
	tcase_set_timeout(t, 15);
	tcase_add_loop_test(t, a_line_is_typed, 0, ARRAY_SIZE(scenes));
	tcase_add_test(t, a_silent_agent_is_not_waited_for);
	tcase_add_test(t, an_agent_that_answers_before_it_is_asked);
	suite_add_tcase(s, t);
	return s;
}
