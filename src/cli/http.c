/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connecting, sending, and an answer's head and body (length, chunks, or until the connection
 * ends). It owns the socket and what was read from it, and knows nothing of what travels there.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cli/http.h"

#define PIECE_SIZE       16384
#define CHUNK_LINE_MAX   1024
#define SEND_TIMEOUT_S   30
#define TRAILERS_MAX     100
#define CHUNK_DIGITS_MAX 15

msec http_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return SECONDS(ts.tv_sec) + ts.tv_nsec / 1000000;
}

static int connect_failed(const char *path, int error, struct err *err)
{
	static const struct {
		int error;
		const char *why;
	} reasons[] = {
		{ ENOENT,
			"there is no such socket: is vmagent running? ('systemctl status vmagent')" },
		{ ECONNREFUSED, "nobody listens there: vmagent is not running" },
		{ EACCES,
			"permission denied: root and the members of group 'vmagent' may use it "
			"('usermod -aG vmagent USER', then log in again)" },
		{ EAGAIN, "vmagent does not accept connections at present" },
		{ ENOTSOCK, "that is no socket" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].error == error)
			return err_set(err, ERR_UNAVAILABLE, "cannot reach the agent at '%s': %s",
				path, reasons[i].why);
	return err_set(err, ERR_UNAVAILABLE, "cannot reach the agent at '%s': %s", path,
		strerror(error));
}

int http_connect(struct http *h, const char *socket_path, struct err *err)
{
	struct timeval patience = { .tv_sec = SEND_TIMEOUT_S };
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(socket_path) >= sizeof(address.sun_path))
		return connect_failed(socket_path, ENAMETOOLONG, err);
	copy_str(address.sun_path, sizeof(address.sun_path), socket_path);
	h->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (h->fd < 0)
		return err_set(err, ERR_IO, "make a socket: %s", strerror(errno));
	setsockopt(h->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(h->fd, (struct sockaddr *)&address, sizeof(address)))
		return connect_failed(socket_path, errno, err);
	return 0;
}

void http_close(struct http *h)
{
	if (h->fd >= 0)
		close(h->fd);
	free(h->head);
	buf_done(&h->in);
	*h = (struct http){ .fd = -1 };
}

static int send_all(struct http *h, const char *data, size_t len, struct err *err)
{
	while (len) {
		ssize_t n = send(h->fd, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EPIPE)
			return 0; /* it has answered already, or is gone: reading tells */
		if (n < 0)
			return err_set(err, ERR_UNAVAILABLE, "send to the agent: %s",
				strerror(errno));
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int await_input(int fd, msec deadline, struct err *err)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	for (;;) {
		msec left = deadline == NEVER ? -1 : MAX(deadline - http_clock(), 0);
		int n = poll(&pollfd, 1, (int)MIN(left, INT32_MAX));

		if (n > 0)
			return 0;
		if (!n && http_clock() >= deadline)
			return err_set(err, ERR_TIMEOUT, "the agent did not answer in time");
		if (n < 0 && errno != EINTR)
			return err_set(err, ERR_IO, "wait for the agent: %s", strerror(errno));
	}
}

static void forget_consumed(struct http *h)
{
	if (!h->at)
		return;
	memmove(h->in.data, h->in.data + h->at, h->in.len - h->at + 1);
	h->in.len -= h->at;
	h->at = 0;
}

int http_fill(struct http *h, msec deadline, struct err *err)
{
	char piece[PIECE_SIZE];
	ssize_t n;
	int ret = await_input(h->fd, deadline, err);

	if (ret)
		return ret;
	do
		n = recv(h->fd, piece, sizeof(piece), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_set(err, ERR_UNAVAILABLE, "read from the agent: %s", strerror(errno));
	if (!n)
		return 0;
	forget_consumed(h);
	buf_add(&h->in, piece, (size_t)n);
	return 1;
}

static int ended_early(struct err *err)
{
	return err_set(err, ERR_UNAVAILABLE, "the agent ended the connection");
}

/* Waits until `end` stands in the input and returns its offset from h->at; or -code. */
static int64_t await_text(struct http *h, const char *end, size_t max, msec deadline,
	struct err *err)
{
	for (;;) {
		const char *begin = h->in.data ? h->in.data + h->at : "";
		const char *found = memmem(begin, h->in.len - h->at, end, strlen(end));
		int ret;

		if (found)
			return found - begin;
		if (h->in.len - h->at > max)
			return err_set(err, ERR_IO, "what answers there does not speak HTTP");
		ret = http_fill(h, deadline, err);
		if (ret <= 0)
			return ret ? ret : ended_early(err);
	}
}

static int read_head(struct http *h, msec deadline, struct err *err)
{
	int64_t len = await_text(h, "\r\n\r\n", HTTP_HEAD_MAX, deadline, err);
	autofree char *head = NULL;
	const char *lines;

	if (len < 0)
		return (int)len;
	head = xstrndup(h->in.data + h->at, (size_t)len + 2);
	h->at += (size_t)len + 4;
	lines = strstr(head, "\r\n");
	if (!lines || sscanf(head, "HTTP/1.%*1[01] %3d", &h->status) != 1 || h->status < 100)
		return err_set(err, ERR_IO, "what answers there does not speak HTTP/1.1");
	replace_str(&h->head, lines + 2);
	return 0;
}

char *http_header_of(const struct http *h, const char *name, unsigned n)
{
	size_t len = strlen(name);
	const char *end;

	for (const char *line = h->head; line && (end = strstr(line, "\r\n")); line = end + 2) {
		if (strncasecmp(line, name, len) || line[len] != ':' || n-- > 0)
			continue;
		line += len + 1;
		line += strspn(line, " \t");
		return xstrndup(line, (size_t)MAX(end - line, 0));
	}
	return NULL;
}

static int find_framing(struct http *h, struct err *err)
{
	autofree char *coding = http_header_of(h, "Transfer-Encoding", 0);
	autofree char *length = http_header_of(h, "Content-Length", 0);

	h->left = 0;
	h->first_chunk = true;
	if (h->status == 101 || h->status == 204 || h->status == 304)
		h->framing = HTTP_ENDED;
	else if (coding && !strcasecmp(coding, "chunked"))
		h->framing = HTTP_CHUNKED;
	else if (coding || (length && sscanf(length, "%15ld", &h->left) != 1) || h->left < 0)
		return err_set(err, ERR_IO, "the agent's answer cannot be read: '%s'",
			coding ? coding : length);
	else
		h->framing = length ? HTTP_LENGTH : HTTP_UNTIL_CLOSE;
	return 0;
}

int http_request(struct http *h, const struct http_call *call, msec deadline, struct err *err)
{
	struct buf out = { 0 };
	int ret;

	buf_printf(&out, "%s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: vmactl/%s\r\n%s",
		call->line, VMAGENT_VERSION, call->headers ? call->headers : "");
	if (call->body)
		buf_printf(&out, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
			strlen(call->body));
	buf_printf(&out, "\r\n%s", call->body ? call->body : "");
	ret = send_all(h, out.data, out.len, err);
	buf_done(&out);
	do
		ret = ret ? ret : read_head(h, deadline, err);
	while (!ret && h->status < 200 && h->status != 101);
	return ret ? ret : find_framing(h, err);
}

/* The line that opens a chunk; the empty line after the chunk before belongs to it. */
static int next_chunk(struct http *h, msec deadline, struct err *err)
{
	int64_t len;
	char *end;

	if (!h->first_chunk) {
		len = await_text(h, "\r\n", 2, deadline, err);
		if (len)
			return len < 0 ? (int)len : err_set(err, ERR_IO, "a chunk is too long");
		h->at += 2;
	}
	h->first_chunk = false;
	len = await_text(h, "\r\n", CHUNK_LINE_MAX, deadline, err);
	if (len < 0)
		return (int)len;
	h->left = strtoll(h->in.data + h->at, &end, 16);
	if (end == h->in.data + h->at || end - (h->in.data + h->at) > CHUNK_DIGITS_MAX ||
		h->left < 0)
		return err_set(err, ERR_IO, "a chunk has no size");
	h->at += (size_t)len + 2;
	return 0;
}

static int skip_trailers(struct http *h, msec deadline, struct err *err)
{
	for (int i = 0; i < TRAILERS_MAX; i++) {
		int64_t len = await_text(h, "\r\n", HTTP_HEAD_MAX, deadline, err);

		if (len < 0)
			return (int)len;
		h->at += (size_t)len + 2;
		if (!len)
			return 0;
	}
	return err_set(err, ERR_IO, "too many trailers");
}

/* Hands on what has been read of the body, at most up to its or its chunk's end. */
static int take_piece(struct http *h, msec deadline, struct buf *to, struct err *err)
{
	size_t n = h->in.len - h->at;
	int ret = 1;

	if (!n) {
		ret = http_fill(h, deadline, err);
		n = h->in.len - h->at;
	}
	if (ret < 0 || (!ret && h->framing != HTTP_UNTIL_CLOSE))
		return ret ? ret : ended_early(err);
	if (h->framing != HTTP_UNTIL_CLOSE) {
		n = MIN(n, (size_t)h->left);
		h->left -= (int64_t)n;
	}
	buf_add(to, h->in.data + h->at, n);
	h->at += n;
	return ret;
}

int http_read(struct http *h, msec deadline, struct buf *to, struct err *err)
{
	int ret;

	if (h->framing == HTTP_CHUNKED && !h->left) {
		ret = next_chunk(h, deadline, err);
		if (!ret && !h->left)
			ret = skip_trailers(h, deadline, err);
		if (ret)
			return ret;
	}
	if (h->framing == HTTP_ENDED || (h->framing != HTTP_UNTIL_CLOSE && !h->left)) {
		h->framing = HTTP_ENDED;
		return 0;
	}
	ret = take_piece(h, deadline, to, err);
	if (!ret)
		h->framing = HTTP_ENDED;
	return ret;
}
