/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request and its answer. The body is collected within its bound, the handler asked, and the
 * connection suspended until the answer is there.
 *
 * A suspended connection is out of MHD's sight: neither a departed client nor a time-out would be
 * noticed. So we watch its descriptor ourselves for as long.
 */
#include <string.h>

#include "io/http_private.h"

#define SLOT_BITS    16
#define SMALL        4096        /* bytes, which are not worth counting */
#define ANSWER_BLOCK (16 * 1024) /* bytes of a large one that MHD asks for at a time */

/* ---- ids ------------------------------------------------------------------------------------- */

struct exchange *exchange_find(struct http *http, uint64_t id)
{
	uint64_t slot = id & ((1u << SLOT_BITS) - 1);
	struct exchange *x = slot < http->n_slots ? http->slots[slot] : NULL;

	return x && x->id == id ? x : NULL;
}

void http_attach(struct http *http, uint64_t id, void *data)
{
	struct exchange *x = exchange_find(http, id);

	if (x)
		x->data = data;
}

void *http_attached(struct http *http, uint64_t id)
{
	struct exchange *x = exchange_find(http, id);

	return x ? x->data : NULL;
}

/* There are as many slots as connections, and a connection has one exchange at a time. */
static bool take_slot(struct exchange *x)
{
	struct http *http = x->http;

	for (unsigned i = 0; i < http->n_slots; i++) {
		unsigned slot = http->next_slot++ % http->n_slots;

		if (http->slots[slot])
			continue;
		http->slots[slot] = x;
		x->id = ++http->sequence << SLOT_BITS | slot;
		return true;
	}
	return false;
}

/* ---- suspended connections ------------------------------------------------------------------- */

static void on_departure(uv_poll_t *poll, int status, int events)
{
	struct conn *c = poll->data;

	(void)status;
	(void)events;
	uv_poll_stop(poll);
	if (!c->exchange)
		return;
	c->exchange->departed = true;
	exchange_resume(c->exchange);
}

void exchange_suspend(struct exchange *x)
{
	if (x->suspended || x->departed)
		return;
	x->suspended = true;
	MHD_suspend_connection(x->mhd);
	uv_poll_start(&x->conn->departure, UV_DISCONNECT, on_departure);
}

void exchange_resume(struct exchange *x)
{
	if (!x->suspended)
		return;
	x->suspended = false;
	uv_poll_stop(&x->conn->departure);
	MHD_resume_connection(x->mhd);
	http_kick(x->http);
}

/* ---- answers --------------------------------------------------------------------------------- */

static enum MHD_Result queue(struct exchange *x)
{
	struct MHD_Response *response = take(&x->response);
	enum MHD_Result ret = MHD_queue_response(x->mhd, x->status, response);

	MHD_destroy_response(response);
	return ret;
}

/* The response is ready in x->response. */
void exchange_answer(struct exchange *x, const struct http_head *head)
{
	for (int i = 0; i < HTTP_FIELDS_MAX && head->fields[i].name; i++)
		MHD_add_response_header(x->response, head->fields[i].name, head->fields[i].value);
	x->status = head->status;
	x->state = EXCHANGE_ANSWERED;
	exchange_resume(x);
}

/* MHD calls this when a large answer's connection can take more. */
static ssize_t read_answer(void *cls, uint64_t position, char *to, size_t max)
{
	struct exchange *x = cls;
	size_t n = MIN(max, x->answer_len - position);

	if (!x->answer)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	memcpy(to, x->answer + position, n);
	x->moved = uv_now(x->http->loop);
	return (ssize_t)n;
}

/* A small one is MHD's; a large one stays with us, so that it can be taken from who
 * does not read it. */
static struct MHD_Response *response_of(struct exchange *x, char *body, size_t len)
{
	if (len <= SMALL)
		return MHD_create_response_from_buffer(len, body,
			body ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	x->answer = body;
	x->answer_len = len;
	room_take(x, len);
	return MHD_create_response_from_callback(len, ANSWER_BLOCK, read_answer, x, NULL);
}

void http_respond(struct http *http, uint64_t id, const struct http_head *head, char *body,
	size_t len)
{
	struct exchange *x = exchange_find(http, id);

	if (!x || (x->state != EXCHANGE_ASKED && x->state != EXCHANGE_WAITING)) {
		free(body);
		return;
	}
	x->response = response_of(x, body, len);
	if (!x->response)
		abort();
	exchange_answer(x, head);
}

/* ---- requests -------------------------------------------------------------------------------- */

static struct exchange *begin(struct http *http, struct MHD_Connection *mhd, const char *url,
	const char *method)
{
	struct exchange *x = xcalloc(1, sizeof(*x));

	x->http = http;
	x->mhd = mhd;
	x->conn = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	x->request.method = xstrdup(method);
	x->request.path = xstrdup(url);
	x->request.uid = x->conn->uid;
	x->request.read_only = x->conn->listener->read_only;
	x->conn->exchange = x;
	return x;
}

static void end(struct exchange *x)
{
	if (exchange_find(x->http, x->id) == x)
		x->http->slots[x->id & ((1u << SLOT_BITS) - 1)] = NULL;
	x->conn->exchange = NULL;
	room_forget(x);
	room_give(x, x->held);
	room_served(x);
	if (x->response)
		MHD_destroy_response(x->response);
	buf_done(&x->body);
	buf_done(&x->out);
	free(x->answer);
	free((char *)x->request.path);
	free((char *)x->request.method);
	free(x);
}

static enum MHD_Result ask(struct exchange *x)
{
	struct http *http = x->http;

	conn_arrived(x->conn);
	if (x->request.refuse == ERR_OK && room_wait(x))
		return MHD_YES;
	x->request.body = x->body.data ? x->body.data : "";
	x->request.body_len = x->body.len;
	x->state = EXCHANGE_ASKED;
	http->handler.request(http->handler.ctx, x->id, &x->request);
	room_give(x, x->body.len);
	buf_done(&x->body);
	x->request.body = "";
	x->request.body_len = 0;
	room_served(x);
	if (x->state == EXCHANGE_ANSWERED)
		return queue(x);
	x->state = EXCHANGE_WAITING;
	exchange_suspend(x);
	return MHD_YES;
}

static bool announces_too_much(struct exchange *x)
{
	const char *length = http_header(&x->request, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return length && strtoull(length, NULL, 10) > x->http->options.body_max;
}

static void refuse_body(struct exchange *x, enum err_code code)
{
	x->request.refuse = code;
	room_give(x, x->body.len);
	buf_done(&x->body);
}

/* A body that does not say its size is cut; the rest is read away, but not for ever. */
static enum MHD_Result add_body(struct exchange *x, const char *data, size_t *len)
{
	size_t max = x->http->options.body_max;

	if (x->departed)
		return MHD_NO;
	if (x->request.refuse != ERR_OK) {
		x->request.body_len += *len;
		if (x->request.body_len > max)
			return MHD_NO;
	} else if (x->body.len + *len > max) {
		refuse_body(x, ERR_TOO_LARGE);
	} else if (x->body.len + *len > SMALL && room_is_full(x->http)) {
		refuse_body(x, ERR_UNAVAILABLE);
	} else {
		buf_add(&x->body, data, *len);
		room_take(x, *len);
	}
	*len = 0;
	return MHD_YES;
}

/* The whole request is there, or the connection was resumed. */
static enum MHD_Result advance(struct exchange *x)
{
	if (x->departed)
		return MHD_NO;
	switch (x->state) {
	case EXCHANGE_READING:
		return ask(x);
	case EXCHANGE_ANSWERED:
		return x->response ? queue(x) : MHD_YES;
	case EXCHANGE_WAITING:
		exchange_suspend(x);
		return MHD_YES;
	case EXCHANGE_ASKED:
	case EXCHANGE_UPGRADED:
		break;
	}
	return MHD_NO;
}

enum MHD_Result exchange_access(void *cls, struct MHD_Connection *mhd, const char *url,
	const char *method, const char *version, const char *upload, size_t *upload_size,
	void **context)
{
	struct http *http = cls;
	struct exchange *x = *context;

	(void)version;
	if (http->closing)
		return MHD_NO;
	if (x)
		return *upload_size ? add_body(x, upload, upload_size) : advance(x);
	*context = x = begin(http, mhd, url, method);
	if (!take_slot(x))
		return MHD_NO;
	if (!announces_too_much(x))
		return MHD_YES;
	x->request.refuse = ERR_TOO_LARGE;
	return ask(x);
}

void exchange_completed(void *cls, struct MHD_Connection *mhd, void **context,
	enum MHD_RequestTerminationCode why)
{
	struct http *http = cls;
	struct exchange *x = *context;

	(void)mhd;
	if (why != MHD_REQUEST_TERMINATED_COMPLETED_OK)
		http_kick(http); /* MHD cleans up after a broken connection in its next run */
	if (!x)
		return;
	*context = NULL;
	uv_poll_stop(&x->conn->departure);
	if (x->state != EXCHANGE_READING)
		http->handler.gone(http->handler.ctx, x->id);
	conn_await(x->conn);
	end(x);
}

/* ---- what the handler may ask ---------------------------------------------------------------- */

static struct MHD_Connection *mhd_of(const struct http_request *request)
{
	return ((const struct exchange *)request)->mhd;
}

const char *http_header(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(mhd_of(request), MHD_HEADER_KIND, name);
}

const char *http_query(const struct http_request *request, const char *name)
{
	const char *value = NULL;
	size_t len;

	if (!MHD_lookup_connection_value_n(mhd_of(request), MHD_GET_ARGUMENT_KIND, name,
		    strlen(name), &value, &len))
		return NULL;
	return value ? value : "";
}

struct each {
	const char *name;
	void (*cb)(void *ctx, const char *value);
	void *ctx;
};

static enum MHD_Result on_value(void *cls, enum MHD_ValueKind kind, const char *key,
	const char *value)
{
	struct each *each = cls;

	(void)kind;
	if (streq(key, each->name))
		each->cb(each->ctx, value ? value : "");
	return MHD_YES;
}

void http_query_each(const struct http_request *request, const char *name,
	void (*cb)(void *ctx, const char *value), void *ctx)
{
	struct each each = { .name = name, .cb = cb, .ctx = ctx };

	MHD_get_connection_values(mhd_of(request), MHD_GET_ARGUMENT_KIND, on_value, &each);
}
