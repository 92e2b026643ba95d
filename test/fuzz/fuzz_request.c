/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes a connection: its bytes go into the real HTTP server, through routes, selections and
 * bodies to the real agent, with a store in memory and a hypervisor that says yes. The first
 * byte chooses: odd is the read-only socket, and every bit above tells into how many pieces
 * the rest is cut.
 *
 * Whatever came, when the client has left nothing is kept for it; and by the read-only
 * socket nothing has changed.
 */
#include <check.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/api/api_private.h"
#include "test/lib/api_fixture.h"

#define ROUNDS_MAX 40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The fixture checks with what Check brings, which works within its tests alone. */
void _mark_point(const char *file, int line)
{
	(void)file;
	(void)line;
}

void _ck_assert_failed(const char *file, int line, const char *expr, const char *msg, ...)
{
	(void)file;
	(void)line;
	(void)expr;
	(void)msg;
	abort();
}

static void forget_answer(struct client *c)
{
	char sink[65536];

	while (recv(c->fd, sink, sizeof(sink), MSG_DONTWAIT) > 0)
		;
}

static void run(struct api_fixture *f, struct client *c)
{
	for (int i = 0; i < 3; i++) {
		uv_run(&f->loop, UV_RUN_NOWAIT);
		forget_answer(c);
	}
}

static void send_pieces(struct api_fixture *f, struct client *c, const uint8_t *data, size_t size,
	size_t pieces)
{
	size_t step = size / pieces + 1;

	for (size_t at = 0; at < size; at += step) {
		(void)!send(c->fd, data + at, size - at < step ? size - at : step,
			MSG_NOSIGNAL | MSG_DONTWAIT);
		run(f, c);
	}
}

static bool is_left_alone(struct api_fixture *f)
{
	return http_connections(f->api->http) == 0 && http_held(f->api->http) == 0 &&
		!f->api->watches && !f->api->bridges;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct api_fixture f;
	struct client c;
	int64_t before;
	bool read_only;

	if (!size)
		return 0;
	read_only = data[0] & 1;
	api_fixture_start(&f);
	for (int i = 0; i < 3; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	before = store_current_rv(f.store);
	client_open(&c, &f.loop, read_only ? f.ro_path : f.path);
	send_pieces(&f, &c, data + 1, size - 1, 1 + (data[0] >> 1 & 7));
	run(&f, &c);
	client_close(&c);
	for (int i = 0; i < ROUNDS_MAX && !is_left_alone(&f); i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	if (!is_left_alone(&f) || (read_only && store_current_rv(f.store) != before))
		abort();
	api_fixture_stop(&f);
	return 0;
}
