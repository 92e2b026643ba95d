/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What two agents say to each other, as bytes. Pure.
 *
 * A connection begins, before TLS, with a preface in plain text of PEER_PREFACE_SIZE bytes:
 * "VMAP", its format (1), the kind of connection (1: the agents themselves), and two bytes that
 * are zero. It says who is to read on, before any of it is encrypted: a stream of a migration is
 * handed to that migration's relay, a process of its own, and its preface goes on with the
 * migration's UUID, PEER_STREAM_PREFACE_SIZE in all.
 *
 * Inside TLS there are frames: a header of PEER_HEADER_SIZE bytes (length of the payload in four
 * bytes, the message's number in two, two that are zero; most significant byte first) and a
 * payload, a JSON object. Fields that are not known are ignored, so a version may add some. The
 * dialer begins with HELLO; the listener answers WELCOME, which settles the version, or REFUSED
 * with words. These three stay as they are in every version, so that agents of any two versions can
 * tell each other why it does not work.
 */
#ifndef VMAGENT_CORE_PEER_FRAME_H
#define VMAGENT_CORE_PEER_FRAME_H

#include <vmagent/err.h>
#include <vmagent/peer.h>

#define PEER_PROTOCOL_MIN     1
#define PEER_PROTOCOL_MAX     2
#define PEER_HANDOVER_VERSION 2 /* from which on they speak of migrations */

#define PEER_PREFACE_SIZE        8
#define PEER_STREAM_PREFACE_SIZE (PEER_PREFACE_SIZE + 16)
#define PEER_HEADER_SIZE         8
#define PEER_PAYLOAD_MAX         HANDOVER_DOCUMENT_MAX /* of any message: the largest of the table */

enum peer_way { PEER_WAY_EITHER, PEER_WAY_DIALER, PEER_WAY_LISTENER };   /* who may send it */
enum peer_stage { PEER_STAGE_ANY, PEER_STAGE_OPENING, PEER_STAGE_OPEN }; /* … and when */

/* X(constant, name, its number on the wire, who may send it, when, largest payload) */
#define PEER_MESSAGES(X)                                  \
	X(HELLO, "HELLO", 1, DIALER, OPENING, 4096)       \
	X(WELCOME, "WELCOME", 2, LISTENER, OPENING, 4096) \
	X(REFUSED, "REFUSED", 3, EITHER, ANY, 2048)       \
	X(PING, "PING", 4, EITHER, OPEN, 128)             \
	X(PONG, "PONG", 5, EITHER, OPEN, 128)             \
	X(STATUS, "STATUS", 6, EITHER, OPEN, 1024)

enum peer_message_kind {
#define X(c, name, number, way, stage, max) PEER_MESSAGE_##c,
	PEER_MESSAGES(X)
#undef X
#define X(c, name, number, max) PEER_MESSAGE_##c,
		HANDOVERS(X) /* either end sends them, when the connection is open */
#undef X
	PEER_MESSAGE_MAX
};
#define PEER_MESSAGE_HANDOVER PEER_MESSAGE_PREPARE /* this and all that follow are of migrations */

struct peer_message {
	enum peer_message_kind kind;
	union {
		struct peer_hello hello; /* HELLO; WELCOME, whose version is set */
		char why[PEER_WHY_SIZE]; /* REFUSED: printable ASCII */
		struct {
			uint64_t id; /* PONG: of the PING that it answers */
			msec wall;   /* PONG: the answerer's wall clock */
		} ping;
		struct peer_status status;
		struct handover handover; /* its kind is set; its document is the one below */
	};
	char *document; /* owned or NULL: what was read with a handover */
};
void peer_message_done(struct peer_message *message);

struct peer_frame { /* borrowed from the bytes it was found in */
	enum peer_message_kind kind;
	const char *payload;
	size_t len;
};

const char *peer_message_name(enum peer_message_kind kind);
unsigned peer_message_number(enum peer_message_kind kind); /* on the wire */

enum peer_connection { /* on the wire */
	PEER_AGENTS = 1,
	PEER_STREAM_RPC,  /* libvirt's, of a migration */
	PEER_STREAM_DATA, /* the guest's memory */
	PEER_STREAM_DISKS
};

void peer_preface_write(uint8_t ret[PEER_PREFACE_SIZE]); /* of agents */
int peer_preface_read(const uint8_t preface[PEER_PREFACE_SIZE], enum peer_connection *ret,
	struct err *err);

/* migration: its UUID in text. False when that is none. */
bool peer_stream_preface_write(enum peer_connection kind, const char *migration,
	uint8_t ret[PEER_STREAM_PREFACE_SIZE]);
void peer_stream_preface_id(const uint8_t preface[PEER_STREAM_PREFACE_SIZE], char ret[UID_SIZE]);

/* The first frame in data: how many bytes it takes; 0 when it is not complete yet. An unknown
 * message, one over its size, or a header that makes no sense: ERR_BAD_REQUEST, as soon as
 * the header is there. */
int peer_frame_take(const void *data, size_t len, struct peer_frame *ret, struct err *err);

/* Whether the message may come from that end, now. ERR_BAD_REQUEST. */
int peer_frame_expected(enum peer_message_kind kind, bool from_dialer, bool open, struct err *err);

/* Reads a payload: every field of the message is there and within its bounds, else ERR_BAD_REQUEST.
 * On success peer_message_done() is to follow. */
int peer_message_read(const struct peer_frame *frame, struct peer_message *ret, struct err *err);

/* Appends the message as a frame. */
void peer_message_write(const struct peer_message *message, struct buf *out);

/* The newest version that both speak; ERR_CONFLICT with words for both ends. */
int peer_version_choose(const struct peer_hello *ours, const struct peer_hello *theirs,
	unsigned *ret, struct err *err);

/* Whether the other may be a peer at all: neither this very host, by libvirt's UUID, nor one whose
 * database is a copy of ours. ERR_FORBIDDEN. */
int peer_hello_check(const struct peer_hello *ours, const struct peer_hello *theirs,
	struct err *err);

/* How far the other's wall clock is ahead: it was `theirs` in the middle of the round trip, now
 * it is `ours` here. */
msec peer_clock_ahead(msec ours, msec theirs, msec round_trip);

#endif
