/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent says to a relay of its own, and hears, over the relay's control socket: one message
 * a packet, text, with the format's version in front. "1 hold finish-call" is a request; every
 * answer is either "1 error WORDS" or "1 ok" and the relay's status, a line KEY=VALUE each. Keys
 * that are not known are passed over. Pure.
 */
#ifndef VMAGENT_CORE_RELAY_CONTROL_H
#define VMAGENT_CORE_RELAY_CONTROL_H

#include "core/peer_frame.h"

#define RELAY_PACKET_MAX 4096
#define RELAY_WHY_SIZE   384

/* X(constant, name, the connection's kind between hosts, the socket's name in the relay's
 * folder) */
#define RELAY_CHANNELS(X)                              \
	X(RPC, "rpc", PEER_STREAM_RPC, "rpc")          \
	X(DATA, "data", PEER_STREAM_DATA, "qemu/data") \
	X(DISKS, "disks", PEER_STREAM_DISKS, "qemu/disks")

/* X(constant, name): which frame is not passed on, until it is released. It is held wherever it is
 * asked for: the source holds a Finish until the hand-over is recorded, and the target one of
 * post-copy until it owns the guest. */
#define RELAY_HOLDS(X)         \
	X(NOTHING, "nothing")  \
	X(CALL, "finish-call") \
	X(REPLY, "finish-reply")

/* X(constant, name): how far the switch-over has come here */
#define RELAY_FINISHES(X)                                                     \
	X(NONE, "none")                                                       \
	X(CALL_HELD, "call-held")                                             \
	X(CALLED, "called")                                                   \
	X(REPLY_HELD, "reply-held") /* a good one: a bad one is never held */ \
	X(ANSWERED, "answered")                                               \
	X(FAILED, "failed")                                                   \
	X(LOST, "lost") /* what was held is dropped: libvirtd has closed its connection */

/* X(constant, name, what it takes) */
#define RELAY_VERBS(X)                                                               \
	X(STATUS, "status", NONE)                                                    \
	X(WATCH, "watch", NONE) /* every change is told from now on */               \
	X(HOLD, "hold", HOLD)                                                        \
	X(RELEASE, "release", NONE) /* passes on what is held */                     \
	X(VOUCH, "vouch", NONE)     /* that libvirtd still waits for what is held */ \
	X(CUT, "cut", NONE)         /* ends all streams, drops what is held */       \
	X(END, "end", NONE)         /* that, and the relay */                        \
	X(ADOPT, "adopt", CHANNEL)  /* a connection comes along */

enum relay_channel {
#define X(c, name, kind, path) RELAY_##c,
	RELAY_CHANNELS(X)
#undef X
		RELAY_CHANNEL_MAX
};
enum relay_hold {
#define X(c, name) RELAY_HOLD_##c,
	RELAY_HOLDS(X)
#undef X
		RELAY_HOLD_MAX
};
enum relay_finish {
#define X(c, name) RELAY_FINISH_##c,
	RELAY_FINISHES(X)
#undef X
		RELAY_FINISH_MAX
};
enum relay_verb {
#define X(c, name, argument) RELAY_##c,
	RELAY_VERBS(X)
#undef X
		RELAY_VERB_MAX
};

const char *relay_channel_name(enum relay_channel channel);
const char *relay_channel_path(enum relay_channel channel); /* in the relay's folder */
enum peer_connection relay_channel_kind(enum relay_channel channel);
enum relay_channel relay_channel_of(enum peer_connection kind); /* of a stream */
const char *relay_hold_name(enum relay_hold hold);
bool relay_hold_parse(const char *name, enum relay_hold *ret);

struct relay_request {
	enum relay_verb verb;
	enum relay_hold hold;       /* HOLD */
	enum relay_channel channel; /* ADOPT */
};

struct relay_status {
	struct relay_counts {
		uint64_t open, opened;   /* streams, now and in all */
		uint64_t sent, received; /* bytes to the other host, and from it */
	} channels[RELAY_CHANNEL_MAX];
	enum relay_hold hold;
	enum relay_finish finish;
	uint64_t refused;         /* frames, certificates, tokens */
	char why[RELAY_WHY_SIZE]; /* the last refusal or failure of a stream; "" */
};

/* "hold finish-call", as words come from a command line: ERR_BAD_REQUEST. */
int relay_request_read(const char *text, struct relay_request *ret, struct err *err);
void relay_request_write(const struct relay_request *request, struct buf *out);

void relay_answer_write(const struct relay_status *status, struct buf *out);
void relay_error_write(const char *why, struct buf *out);
/* What the relay refuses is an error of ERR_CONFLICT, what cannot be understood of
 * ERR_BAD_REQUEST. */
int relay_answer_read(const char *text, struct relay_status *ret, struct err *err);

#endif
