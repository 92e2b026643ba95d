/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How everything is said to a client. The one place that knows what a Kubernetes Status looks like.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/node.h"
#include "daemon/api/jsonspan.h"
#include "daemon/api/reply.h"

#define WARNING_MAX 1024 /* bytes of a Warning header */

/* ---- Status ---------------------------------------------------------------------------------- */

static void set_text(struct node *map, const char *key, const char *text)
{
	if (text && *text)
		node_set(map, key, node_new(NODE_STRING, text));
}

/* kubevirt.io of "kubevirt.io/v1", "" of "v1". */
static char *group_of(enum object_kind kind)
{
	const char *version = object_kind_api_version(kind);
	const char *slash = strchr(version, '/');

	return xstrndup(version, slash ? (size_t)(slash - version) : 0);
}

static void add_cause(struct node *list, const struct reply_cause *c)
{
	struct node *cause = node_new(NODE_MAP, NULL);

	set_text(cause, "reason", c->reason);
	set_text(cause, "message", c->message);
	set_text(cause, "field", c->field);
	node_append(list, cause);
}

/* A refusal that begins with the field that is wrong: "spec.vmiName: …". Returns the length
 * of that, or 0. */
static size_t field_in_front(const char *words)
{
	size_t len = strcspn(words, ": ");

	return words[len] == ':' && words[len + 1] == ' ' ? len : 0;
}

/* One that has no findings: a check beyond the document, of what there is. */
static void add_words(struct node *list, const char *words)
{
	size_t len = field_in_front(words);
	autofree char *field = xstrndup(words, len);
	struct reply_cause cause = { .reason = "FieldValueInvalid",
		.field = field,
		.message = len ? words + len + 2 : words };

	add_cause(list, &cause);
}

/* kubectl prints nothing else of an object that is invalid, so there is always one. */
static struct node *causes_of(const struct reply_status *s)
{
	struct node *list = node_new(NODE_LIST, NULL);
	struct reply_cause cause = { .reason = "FieldValueInvalid" };

	for (size_t i = 0; s->findings && i < s->findings->n; i++) {
		const struct finding *f = &s->findings->list[i];
		autofree char *message = s->places && f->line
			? xasprintf("%s (line %d, column %d)", f->message, f->line, f->column)
			: xstrdup(f->message);

		cause.field = f->field;
		cause.message = message;
		add_cause(list, &cause);
	}
	if (s->cause && !list->n_children)
		add_cause(list, s->cause);
	if (!list->n_children)
		add_words(list, s->err->msg);
	return list;
}

/* Kubernetes names the resource where something is missing or in the way, the kind
 * where it is wrong. */
static struct node *details_of(const struct reply_status *s)
{
	struct node *details = node_new(NODE_MAP, NULL);
	enum err_code code = s->err ? s->err->code : ERR_OK;
	bool wrong = code == ERR_INVALID;

	if (s->options) {
		set_text(details, "group", "meta.k8s.io");
		set_text(details, "kind", s->options);
	} else if (s->has_kind) {
		autofree char *group = group_of(s->kind);

		set_text(details, "name", s->name);
		set_text(details, "group", group);
		set_text(details, "kind",
			wrong ? object_kind_name(s->kind) : object_kind_plural(s->kind));
	}
	if (wrong || s->cause || s->findings)
		node_set(details, "causes", causes_of(s));
	if (err_retry_s(code))
		node_set(details, "retryAfterSeconds", node_new_int(err_retry_s(code)));
	return details;
}

char *status_json(const struct reply_status *s)
{
	struct node *root = node_new(NODE_MAP, NULL), *details = details_of(s);
	bool failed = s->err && s->err->code != ERR_OK;
	char *json;

	set_text(root, "kind", "Status");
	set_text(root, "apiVersion", "v1");
	node_set(root, "metadata", node_new(NODE_MAP, NULL));
	set_text(root, "status", failed ? "Failure" : "Success");
	if (s->err)
		set_text(root, "message", s->err->msg);
	if (failed)
		set_text(root, "reason", err_reason(s->err->code));
	if (details->n_children)
		node_set(root, "details", details);
	else
		node_free(details);
	node_set(root, "code", node_new_int(failed ? err_status(s->err->code) : 200));
	json = node_json(root);
	node_free(root);
	return json;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* RFC 7234 §5.5: 299 agent "quoted text", on one line. */
static void warning_text(char *dst, size_t size, const char *text)
{
	size_t n = (size_t)snprintf(dst, size, "299 vmagent \"");

	for (; *text && n + 4 < size; text++) {
		if (*text == '"' || *text == '\\')
			dst[n++] = '\\';
		dst[n++] = iscntrl((unsigned char)*text) ? ' ' : *text;
	}
	dst[n++] = '"';
	dst[n] = '\0';
}

static void send_body(struct api *api, uint64_t id, const struct http_head *head, char *body)
{
	http_respond(api->http, id, head, body, body ? strlen(body) : 0);
}

static void add_field(struct http_head *head, const char *name, const char *value)
{
	size_t i = 0;

	while (i < HTTP_FIELDS_MAX && head->fields[i].name)
		i++;
	if (i < HTTP_FIELDS_MAX && value && *value)
		head->fields[i] = (struct http_field){ name, value };
}

static void send_json(struct api *api, uint64_t id, struct http_head *head, char *body,
	const char *warning)
{
	char text[WARNING_MAX];

	add_field(head, "Content-Type", "application/json");
	if (warning && *warning) {
		warning_text(text, sizeof(text), warning);
		add_field(head, "Warning", text);
	}
	send_body(api, id, head, body);
}

void reply_json(struct api *api, uint64_t id, unsigned status, char *body, const char *warning)
{
	struct http_head head = { .status = status };

	send_json(api, id, &head, body, warning);
}

void reply_text(struct api *api, uint64_t id, unsigned status, const char *text)
{
	struct http_head head = { .status = status,
		.fields = { { "Content-Type", "text/plain; charset=utf-8" } } };

	send_body(api, id, &head, xstrdup(text));
}

void reply_status(struct api *api, uint64_t id, const struct reply_status *status,
	const char *warning)
{
	enum err_code code = status->err ? status->err->code : ERR_OK;
	struct http_head head = { .status = code == ERR_OK ? 200 : (unsigned)err_status(code) };
	char retry[16];

	snprintf(retry, sizeof(retry), "%d", err_retry_s(code));
	if (err_retry_s(code))
		add_field(&head, "Retry-After", retry);
	send_json(api, id, &head, status_json(status), warning);
}

void reply_error(const struct call *call, const struct err *err)
{
	const struct route_path *p = &call->path;
	struct reply_status status = { .err = err,
		.has_kind = p->resource,
		.kind = p->kind,
		.name = p->name };

	reply_status(call->api, call->id, &status, NULL);
}

void reply_refuse(const struct call *call, enum err_code code, const char *fmt, ...)
{
	struct err err = { .code = code };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err.msg, sizeof(err.msg), fmt, ap);
	va_end(ap);
	reply_error(call, &err);
}

void reply_options(const struct call *call, const char *options, const struct reply_cause *cause)
{
	struct err err;
	struct reply_status status = { .err = &err, .options = options, .cause = cause };

	err_set(&err, ERR_INVALID, "%s.meta.k8s.io \"\" is invalid: %s: %s", options, cause->field,
		cause->message);
	reply_status(call->api, call->id, &status, NULL);
}

void reply_not_found(const struct call *call)
{
	struct err err;

	agent_not_found(call->api->options.agent, call->path.kind, call->path.ns, call->path.name,
		&err);
	reply_error(call, &err);
}

/* Places help only where the client wrote lines: kubectl sends all on one. */
static bool has_lines(const struct call *call)
{
	const char *newline = strchr(call->request->body, '\n');

	return newline && newline[1];
}

void reply_findings(const struct call *call, const struct findings *findings, const char *name)
{
	autofree char *group = group_of(call->path.kind);
	struct err err = { .code = ERR_INVALID };
	struct reply_status status = { .err = &err,
		.has_kind = true,
		.kind = call->path.kind,
		.name = name,
		.findings = findings,
		.places = has_lines(call) };
	struct buf text = { 0 };

	buf_printf(&text, "%s%s%s \"%s\" is invalid:", object_kind_name(call->path.kind),
		*group ? "." : "", group, name ? name : "");
	for (size_t i = 0; i < findings->n; i++) {
		const struct finding *f = &findings->list[i];

		if (status.places && f->line)
			buf_printf(&text, "%s %d:%d:", i ? ";" : "", f->line, f->column);
		else
			buf_puts(&text, i ? ";" : "");
		buf_printf(&text, " %s: %s", f->field ? f->field : "", f->message);
	}
	copy_str(err.msg, sizeof(err.msg), text.data);
	buf_done(&text);
	reply_status(call->api, call->id, &status, NULL);
}

/* ---- objects --------------------------------------------------------------------------------- */

void api_version_text(struct buf *out, enum object_kind kind, const char *version)
{
	const char *stored = object_kind_api_version(kind);
	const char *slash = strchr(stored, '/');

	if (slash)
		buf_printf(out, "%.*s/%s", (int)(slash - stored), stored, version);
	else
		buf_puts(out, stored);
}

void object_text(struct buf *out, const char *object, enum object_kind kind, const char *version)
{
	struct jsonspan value;

	if (!jsonspan_member(jsonspan_of(object), "apiVersion", &value)) {
		buf_puts(out, object);
		return;
	}
	buf_add(out, object, (size_t)(value.at - object));
	buf_puts(out, "\"");
	api_version_text(out, kind, version);
	buf_puts(out, "\"");
	buf_puts(out, value.at + value.len);
}
