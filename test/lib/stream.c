/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test/lib/stream.h"

void guest_start(struct guest *g, const char *file)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*g = (struct guest){ .fd = -1 };
	g->dir = xstrdup("/tmp/test_stream.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(g->dir));
	g->path = xasprintf("%s/%s", g->dir, file);
	copy_str(address.sun_path, sizeof(address.sun_path), g->path);
	g->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(g->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(g->listener, 1), 0);
}

void guest_stop(struct guest *g)
{
	autofree char *log = xasprintf("%s/serial0.log", g->dir);

	close(g->listener);
	if (g->fd >= 0)
		close(g->fd);
	unlink(g->path);
	unlink(log);
	rmdir(g->dir);
	free(g->path);
	free(g->dir);
}

void guest_accept(struct guest *g)
{
	if (g->fd >= 0)
		close(g->fd);
	g->fd = accept4(g->listener, NULL, NULL, SOCK_NONBLOCK);
	ck_assert_int_ge(g->fd, 0);
}

bool guest_has_read(void *ctx)
{
	struct guest_reading *r = ctx;
	char piece[65536];
	ssize_t n;

	while ((n = read(r->guest->fd, piece, sizeof(piece))) > 0)
		buf_add(&r->in, piece, (size_t)n);
	return r->in.len >= r->want || n == 0;
}

void guest_expect(struct api_fixture *f, struct guest *g, const char *text)
{
	struct guest_reading r = { .guest = g, .want = strlen(text) };

	ck_assert(loop_until(&f->loop, guest_has_read, &r));
	ck_assert_str_eq(r.in.data ? r.in.data : "", text);
	buf_done(&r.in);
}

/* Byte for byte what virtctl sends: its library's order, and KubeVirt's one subprotocol. */
#define HANDSHAKE                                                                            \
	"Host: 127.0.0.1:8001\r\nUser-Agent: Go-http-client/1.1\r\nConnection: Upgrade\r\n"  \
	"Sec-WebSocket-Key: " STREAM_KEY "\r\nSec-WebSocket-Protocol: plain.kubevirt.io\r\n" \
	"Sec-WebSocket-Version: 13\r\nUpgrade: websocket\r\n\r\n"

void stream_attach(struct client *c, struct api_fixture *f, const char *path)
{
	client_open(c, &f->loop, f->path);
	client_printf(c, "GET %s HTTP/1.1\r\n" HANDSHAKE, path);
	ck_assert(client_sees(c, "\r\n\r\n"));
	ck_assert_msg(starts_with(c->in.data, "HTTP/1.1 101 "), "%s", c->in.data);
	ck_assert_ptr_nonnull(strcasestr(c->in.data, "\r\nConnection: Upgrade\r\n"));
	ck_assert_ptr_nonnull(strcasestr(c->in.data, "\r\nUpgrade: websocket\r\n"));
	ck_assert_ptr_nonnull(
		strstr(c->in.data, "\r\nSec-WebSocket-Accept: " STREAM_ACCEPT "\r\n"));
	ck_assert_ptr_nonnull(
		strstr(c->in.data, "\r\nSec-WebSocket-Protocol: plain.kubevirt.io\r\n"));
	client_drop(c, "\r\n\r\n");
}

int stream_refused(struct api_fixture *f, const char *path, char **ret_body)
{
	autofree char *line = xasprintf("GET %s", path);
	struct client_request request = { .line = line,
		.headers = "Connection: close, Upgrade\r\nUpgrade: websocket\r\n"
			   "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " STREAM_KEY "\r\n" };

	return client_request(&f->loop, f->path, &request, NULL, ret_body);
}

void stream_send(struct client *c, unsigned char opcode, const char *data, size_t len)
{
	unsigned char head[14] = { 0x80 | opcode, 0x80 | 126, (unsigned char)(len >> 8),
		(unsigned char)len, 1, 2, 3, 4 };
	char masked[65536];

	ck_assert_uint_lt(len, sizeof(masked));
	if (len < 126) {
		head[1] = (unsigned char)(0x80 | len);
		memcpy(head + 2, "\1\2\3\4", 4);
	}
	for (size_t i = 0; i < len; i++)
		masked[i] = (char)(data[i] ^ (int)(1 + i % 4));
	client_send(c, head, len < 126 ? 6 : 8);
	client_send(c, masked, len);
}
