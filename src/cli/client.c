/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request and its answer. It owns the connection for as long as that takes, and turns a Status
 * into the words that kubectl would print; what the objects mean it does not know.
 */
#include <stdio.h>
#include <string.h>

#include "cli/client.h"
#include "cli/json.h"

#define ANSWER_MAX (256 * 1024 * 1024) /* bytes; thousands of objects take some megabytes */

const char *client_socket(const struct cli *cli)
{
	const char *path = cli->args.socket ? cli->args.socket : getenv("VMAGENT_SOCKET");

	return path && *path ? path : SOCKET_DEFAULT;
}

int client_fault(struct fault *fault, const struct err *err)
{
	enum exit_code exit = err->code == ERR_UNAVAILABLE ? EXIT_UNREACHABLE
		: err->code == ERR_TIMEOUT                 ? EXIT_TIMEOUT
							   : EXIT_ERROR;

	return fault_set(fault, exit, "%s", err->msg);
}

/* Warning: 299 - "text", with \" and \\ escaped (RFC 7234). */
static void print_warning(const char *header)
{
	const char *text = strchr(header, '"');
	struct buf out = { 0 };

	for (const char *c = text ? text + 1 : header; *c && !(text && *c == '"'); c++) {
		if (text && *c == '\\' && c[1])
			c++;
		buf_add(&out, c, 1);
	}
	fprintf(stderr, "Warning: %s\n", out.data ? out.data : "");
	buf_done(&out);
}

static void print_warnings(const struct http *h)
{
	for (unsigned n = 0;; n++) {
		autofree char *header = http_header_of(h, "Warning", n);

		if (!header)
			return;
		print_warning(header);
	}
}

static msec patience(const struct cli *cli)
{
	msec timeout = cli->args.request_timeout;

	return timeout ? http_clock() + timeout : NEVER;
}

static int read_all(struct http *h, msec deadline, struct buf *to, struct fault *fault)
{
	struct err err = { 0 };
	int ret;

	while ((ret = http_read(h, deadline, to, &err)) > 0)
		if (to->len > ANSWER_MAX)
			return fault_set(fault, EXIT_ERROR, "the agent's answer is too long");
	return ret ? client_fault(fault, &err) : 0;
}

/* A line each: the words before them do not hold them, as those of an invalid object do. */
static void add_causes(const struct node *causes, struct buf *text)
{
	for (size_t i = 0; causes && i < causes->n_children; i++) {
		const char *field = node_text(causes->children[i], "field");
		const char *message = node_text(causes->children[i], "message");

		buf_printf(text, "\n  %s: %s", field ? field : "?", message ? message : "?");
	}
}

/* What the agent refused, from its Status, or from its bare status code. */
static int refusal(int status, const struct buf *body, struct fault *fault)
{
	struct node *answer = NULL;
	const char *reason, *message;
	autofree char *plain = NULL;

	fault_done(fault);
	fault->exit = EXIT_ERROR;
	fault->status = status;
	if (body->data && json_parse(body->data, body->len, &answer, NULL))
		/* Of /healthz, or a stranger. */
		plain = xstrndup(body->data, strcspn(body->data, "\r\n"));
	reason = node_text(answer, "reason");
	message = node_text(answer, "message");
	if (!message && status == 404)
		buf_printf(&fault->text,
			"Error from server (NotFound): "
			"this version of the agent does not serve that");
	else
		buf_printf(&fault->text, "Error from server%s%s%s: %s", reason ? " (" : "",
			reason ? reason : "", reason ? ")" : "",
			message                   ? message
				: plain && *plain ? plain
						  : "it answered without words");
	if (!message)
		buf_printf(&fault->text, " (HTTP status %d)", status);
	if (streq(reason, "Conflict"))
		add_causes(node_at(answer, "details.causes"), &fault->text);
	node_free(answer);
	return -1;
}

int client_begin(const struct cli *cli, const struct http_call *call, struct http *h,
	struct fault *fault)
{
	msec deadline = patience(cli);
	struct err err = { 0 };
	struct buf body = { 0 };
	int ret = http_connect(h, client_socket(cli), &err);

	if (!ret)
		ret = http_request(h, call, deadline, &err);
	if (ret)
		return client_fault(fault, &err);
	print_warnings(h);
	if (h->status < 400)
		return 0;
	ret = read_all(h, deadline, &body, fault);
	if (!ret)
		ret = refusal(h->status, &body, fault);
	buf_done(&body);
	return ret;
}

static int parse_answer(const struct buf *body, struct node **ret_answer, struct fault *fault)
{
	struct err err = { 0 };

	*ret_answer = NULL;
	if (body->len && json_parse(body->data, body->len, ret_answer, &err))
		return fault_set(fault, EXIT_ERROR, "the agent's answer cannot be read: %s",
			err.msg);
	return 0;
}

int client_call(const struct cli *cli, const char *line, const char *body, struct node **ret_answer,
	struct fault *fault)
{
	struct http_call call = { .line = line,
		.headers = "Accept: application/json\r\n",
		.body = body };
	struct http h = { .fd = -1 };
	struct buf answer = { 0 };
	int ret = client_begin(cli, &call, &h, fault);

	if (!ret)
		ret = read_all(&h, patience(cli), &answer, fault);
	if (!ret && ret_answer)
		ret = parse_answer(&answer, ret_answer, fault);
	buf_done(&answer);
	http_close(&h);
	return ret;
}

int client_get(const struct cli *cli, const char *path, struct node **ret_answer,
	struct fault *fault)
{
	autofree char *line = xasprintf("GET %s", path);

	return client_call(cli, line, NULL, ret_answer, fault);
}

int client_fetch(const struct cli *cli, const char *path, struct buf *to, struct fault *fault)
{
	autofree char *line = xasprintf("GET %s", path);
	struct http h = { .fd = -1 };
	int ret = client_begin(cli, &(struct http_call){ .line = line }, &h, fault);

	if (!ret)
		ret = read_all(&h, patience(cli), to, fault);
	http_close(&h);
	return ret;
}
