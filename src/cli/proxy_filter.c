/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine of six states. Whatever two readers of HTTP might understand differently is refused:
 * bare line feeds, folded headers, a length that is said twice, an absolute target beside a Host.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "cli/proxy_filter.h"

#define CHUNK_DIGITS_MAX 15

void filter_done(struct filter *f)
{
	buf_done(&f->line);
}

/* ---- a request's head ------------------------------------------------------------------------ */

struct head { /* what counts of one */
	unsigned hosts, lengths;
	bool chunked, upgrade;
	uint64_t length;
};

struct field { /* borrowed; the value without the blanks around it */
	const char *name, *value;
	size_t name_len, value_len;
};

static bool is_named(const struct field *field, const char *name)
{
	return field->name_len == strlen(name) &&
		strncasecmp(field->name, name, field->name_len) == 0;
}

/* "localhost", "127.1.2.3" or "[::1]", with or without a port. */
static bool is_loopback(const char *host, size_t len)
{
	autofree char *text = xstrndup(host, len);
	struct in_addr address;

	if (text[0] == '[')
		return starts_with(text, "[::1]") && (!text[5] || text[5] == ':');
	text[strcspn(text, ":")] = '\0';
	if (strcasecmp(text, "localhost") == 0)
		return true;
	return inet_pton(AF_INET, text, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

static int take_host(struct head *head, const struct field *field, struct err *err)
{
	if (head->hosts++)
		return err_set(err, ERR_BAD_REQUEST, "the request names two hosts");
	if (is_loopback(field->value, field->value_len))
		return 0;
	return err_set(err, ERR_FORBIDDEN,
		"host '%.*s' is not this machine: use localhost or 127.0.0.1",
		(int)MIN(field->value_len, (size_t)100), field->value);
}

static int take_length(struct head *head, const struct field *field, struct err *err)
{
	autofree char *text = xstrndup(field->value, field->value_len);
	char *end;

	errno = 0;
	head->length = strtoull(text, &end, 10);
	if (head->lengths++ || errno || *end || text[0] < '0' || text[0] > '9')
		return err_set(err, ERR_BAD_REQUEST, "the request's Content-Length is not one");
	return 0;
}

static int take_encoding(struct head *head, const struct field *field, struct err *err)
{
	if (head->chunked || field->value_len != strlen("chunked") ||
		strncasecmp(field->value, "chunked", field->value_len) != 0)
		return err_set(err, ERR_BAD_REQUEST,
			"the only Transfer-Encoding that passes is chunked");
	head->chunked = true;
	return 0;
}

static int take_field(struct head *head, const struct field *field, struct err *err)
{
	if (is_named(field, "Host"))
		return take_host(head, field, err);
	if (is_named(field, "Origin"))
		return err_set(err, ERR_FORBIDDEN,
			"requests from web pages (with an Origin) do not pass");
	if (is_named(field, "Content-Length"))
		return take_length(head, field, err);
	if (is_named(field, "Transfer-Encoding"))
		return take_encoding(head, field, err);
	head->upgrade |= is_named(field, "Upgrade");
	return 0;
}

/* One header line, without its end. */
static int read_field(struct head *head, const char *line, size_t len, struct err *err)
{
	const char *colon = memchr(line, ':', len);
	struct field field = { .name = line };

	if (!colon || colon == line || strchr(" \t", *line) || strchr(" \t", colon[-1]))
		return err_set(err, ERR_BAD_REQUEST, "a header line has no name");
	field.name_len = (size_t)(colon - line);
	field.value = colon + 1;
	field.value_len = len - field.name_len - 1;
	while (field.value_len && strchr(" \t", *field.value)) {
		field.value++;
		field.value_len--;
	}
	while (field.value_len && strchr(" \t", field.value[field.value_len - 1]))
		field.value_len--;
	return take_field(head, &field, err);
}

/* "GET /path HTTP/1.1" */
static int read_request_line(const char *line, size_t len, struct err *err)
{
	const char *space = memchr(line, ' ', len);
	const char *version = memmem(line, len, " HTTP/1.", strlen(" HTTP/1."));

	if (!space || !version || version == space || space == line)
		return err_set(err, ERR_BAD_REQUEST, "this is no HTTP/1 request");
	if (space[1] != '/')
		return err_set(err, ERR_BAD_REQUEST, "the request's target is no path");
	return 0;
}

static int read_head(struct head *head, const char *text, size_t len, struct err *err)
{
	bool first = true;
	int rc;

	while (len) {
		const char *end = memchr(text, '\n', len);
		size_t line = (size_t)(end - text);

		if (!line || end[-1] != '\r' || memchr(text, '\0', line))
			return err_set(err, ERR_BAD_REQUEST, "a header line does not end in CR LF");
		if (line > 1 &&
			(rc = first ? read_request_line(text, line - 1, err)
				    : read_field(head, text, line - 1, err)))
			return rc;
		first = false;
		len -= line + 1;
		text = end + 1;
	}
	if (!head->hosts)
		return err_set(err, ERR_BAD_REQUEST, "the request names no host");
	if (head->chunked && head->lengths)
		return err_set(err, ERR_BAD_REQUEST, "the request says its length in two ways");
	return 0;
}

static void after_head(struct filter *f, const struct head *head)
{
	f->left = head->length;
	if (head->upgrade)
		f->state = FILTER_TUNNEL;
	else if (head->chunked)
		f->state = FILTER_CHUNK_LINE;
	else if (head->length)
		f->state = FILTER_BODY;
	else
		f->state = FILTER_HEAD;
}

/* ---- the stream ------------------------------------------------------------------------------ */

/* Collects up to a line feed; 1 when one has come, 0 when not yet. */
static int collect_line(struct filter *f, const char **data, size_t *len, size_t max)
{
	const char *end = memchr(*data, '\n', *len);
	size_t n = end ? (size_t)(end - *data) + 1 : *len;

	if (f->line.len + n > max)
		return -ERR_TOO_LARGE;
	buf_add(&f->line, *data, n);
	*data += n;
	*len -= n;
	return end != NULL;
}

/* The text so far ends with an empty line. */
static bool is_whole(const struct buf *text)
{
	return text->len >= 2 && memcmp(text->data + text->len - 2, "\r\n", 2) == 0 &&
		(text->len == 2 || text->data[text->len - 3] == '\n');
}

static void pass_line(struct filter *f, struct buf *out)
{
	buf_add(out, f->line.data, f->line.len);
	buf_done(&f->line);
}

static int end_head(struct filter *f, struct buf *out, struct err *err)
{
	struct head head = { 0 };

	if (f->line.len == 2) { /* an empty line between requests is none of them */
		buf_done(&f->line);
		return 0;
	}
	if (read_head(&head, f->line.data, f->line.len, err))
		return -(int)err->code;
	pass_line(f, out);
	after_head(f, &head);
	return 0;
}

/* The length of a chunk, in hex; what may follow it is passed unread. */
static int end_chunk_line(struct filter *f, struct buf *out, struct err *err)
{
	size_t digits = strspn(f->line.data, "0123456789abcdefABCDEF");

	if (!digits || digits > CHUNK_DIGITS_MAX ||
		(f->line.data[digits] != '\r' && f->line.data[digits] != ';'))
		return err_set(err, ERR_BAD_REQUEST, "a chunk does not begin with its length");
	f->left = strtoull(f->line.data, NULL, 16);
	f->state = f->left ? FILTER_CHUNK : FILTER_TRAILERS;
	f->left += f->left ? strlen("\r\n") : 0;
	pass_line(f, out);
	return 0;
}

static int end_line(struct filter *f, struct buf *out, struct err *err)
{
	if (f->state == FILTER_CHUNK_LINE)
		return end_chunk_line(f, out, err);
	if (!is_whole(&f->line))
		return 0;
	if (f->state == FILTER_HEAD)
		return end_head(f, out, err);
	pass_line(f, out);
	f->state = FILTER_HEAD;
	return 0;
}

static size_t pass(struct filter *f, const char *data, size_t len, struct buf *out)
{
	size_t n = f->state == FILTER_TUNNEL ? len : (size_t)MIN((uint64_t)len, f->left);

	buf_add(out, data, n);
	if (f->state == FILTER_TUNNEL)
		return n;
	f->left -= n;
	if (f->left == 0)
		f->state = f->state == FILTER_CHUNK ? FILTER_CHUNK_LINE : FILTER_HEAD;
	return n;
}

static bool passes(const struct filter *f)
{
	return f->state == FILTER_BODY || f->state == FILTER_CHUNK || f->state == FILTER_TUNNEL;
}

int filter_feed(struct filter *f, const char *data, size_t len, struct buf *out, struct err *err)
{
	while (len) {
		size_t max = f->state == FILTER_CHUNK_LINE ? FILTER_CHUNK_MAX : FILTER_HEAD_MAX;
		int rc;

		if (passes(f)) {
			size_t n = pass(f, data, len, out);

			data += n;
			len -= n;
			continue;
		}
		rc = collect_line(f, &data, &len, max);
		if (rc < 0)
			return err_set(err, ERR_TOO_LARGE, "the request's head is too large");
		if (rc && (rc = end_line(f, out, err)))
			return rc;
	}
	return 0;
}
