/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client on a unix socket for tests of servers that live in the same thread: every wait runs the
 * server's loop. No wait lasts longer than CLIENT_DEADLINE_MS.
 */
#ifndef TEST_LIB_CLIENT_H
#define TEST_LIB_CLIENT_H

#include <vmagent/base.h>
#include <uv.h>

#define CLIENT_DEADLINE_MS 20000

struct client {
	uv_loop_t *loop; /* borrowed */
	int fd;
	struct buf in; /* owned; what has arrived and was not dropped */
	bool eof;
};

/* Runs the loop until done(ctx) says so; false when the deadline passed before. */
bool loop_until(uv_loop_t *loop, bool (*done)(void *ctx), void *ctx);

void client_open(struct client *c, uv_loop_t *loop, const char *path);
void client_close(struct client *c);
void client_send(struct client *c, const void *data, size_t len);
void client_printf(struct client *c, const char *fmt, ...) PRINTF(2, 3);

/* Until what arrived contains text; false when it ended or the deadline passed before. */
bool client_sees(struct client *c, const char *text);
bool client_gets(struct client *c, size_t len); /* … is at least that long */
bool client_ends(struct client *c);             /* … has ended */

/* Forgets what has arrived up to and with text. */
void client_drop(struct client *c, const char *text);

/* One whole request on a connection of its own. Returns the status, and the body (owned by the
 * caller, without chunk marks) if ret_body is not NULL. body may be NULL. */
int client_ask(uv_loop_t *loop, const char *path, const char *request_line, const char *body,
	char **ret_body);
/* The same with header lines of the caller's, "" or ending in \r\n; ret_head is the answer's. */
struct client_request {
	const char *line, *headers, *body;
};
int client_request(uv_loop_t *loop, const char *path, const struct client_request *request,
	char **ret_head, char **ret_body);

#endif
