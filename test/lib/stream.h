/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends of a stream in tests: QEMU's socket, and a client that speaks websocket byte by byte.
 */
#ifndef VMAGENT_TEST_LIB_STREAM_H
#define VMAGENT_TEST_LIB_STREAM_H

#include "test/lib/api_fixture.h"

#define STREAM_KEY    "dGhlIHNhbXBsZSBub25jZQ==" /* RFC 6455 §1.3 */
#define STREAM_ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

struct guest { /* QEMU's end */
	char *dir, *path;
	int listener, fd;
};

void guest_start(struct guest *g, const char *file);
void guest_stop(struct guest *g);
void guest_accept(struct guest *g); /* the connection that must be there */

struct guest_reading {
	struct guest *guest;
	struct buf in;
	size_t want;
};

/* For loop_until(): as much as is wanted was read, or the other end has closed. ctx:
 * guest_reading */
bool guest_has_read(void *ctx);
void guest_expect(struct api_fixture *f, struct guest *g, const char *text);

/* A client with the handshake done. */
void stream_attach(struct client *c, struct api_fixture *f, const char *path);

/* The status of one whose handshake for that path is refused, and the answer;
 * owned by the caller. */
int stream_refused(struct api_fixture *f, const char *path, char **ret_body);

/* A masked frame, as clients must send them. */
void stream_send(struct client *c, unsigned char opcode, const char *data, size_t len);

#endif
