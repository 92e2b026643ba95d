/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preface, headers, and which message may come when. Everything is bounded by the table of messages
 * before anything is kept.
 */
#include "core/peer_frame.h"

#include <stdio.h>
#include <string.h>

#define PREFACE_MAGIC  "VMAP"
#define PREFACE_FORMAT 1

static const struct {
	const char *name;
	unsigned number;
	enum peer_way way;
	enum peer_stage stage;
	size_t max;
} messages[] = {
#define X(c, name, number, way, stage, max) \
	{ name, number, PEER_WAY_##way, PEER_STAGE_##stage, max },
	PEER_MESSAGES(X)
#undef X
#define X(c, name, number, max) { name, number, PEER_WAY_EITHER, PEER_STAGE_OPEN, max },
		HANDOVERS(X)
#undef X
};
_Static_assert(ARRAY_SIZE(messages) == PEER_MESSAGE_MAX, "a row for each message");

#define X(c, name, number, way, stage, max) \
	_Static_assert((max) <= PEER_PAYLOAD_MAX, name " is larger than any message may be");
PEER_MESSAGES(X)
#undef X

const char *handover_name(enum handover_kind kind)
{
	return (size_t)kind < HANDOVER_MAX ? messages[PEER_MESSAGE_HANDOVER + (int)kind].name : "?";
}

const char *peer_message_name(enum peer_message_kind kind)
{
	return (size_t)kind < ARRAY_SIZE(messages) ? messages[kind].name : "?";
}

unsigned peer_message_number(enum peer_message_kind kind)
{
	return messages[kind].number;
}

/* ---- the preface ----------------------------------------------------------------------------- */

static void begin_preface(enum peer_connection kind, uint8_t *ret)
{
	memset(ret, 0, PEER_PREFACE_SIZE);
	memcpy(ret, PREFACE_MAGIC, strlen(PREFACE_MAGIC));
	ret[4] = PREFACE_FORMAT;
	ret[5] = (uint8_t)kind;
}

void peer_preface_write(uint8_t ret[PEER_PREFACE_SIZE])
{
	begin_preface(PEER_AGENTS, ret);
}

int peer_preface_read(const uint8_t preface[PEER_PREFACE_SIZE], enum peer_connection *ret,
	struct err *err)
{
	if (memcmp(preface, PREFACE_MAGIC, strlen(PREFACE_MAGIC)) != 0)
		return err_set(err, ERR_BAD_REQUEST, "what it sent is no peer's greeting");
	if (preface[4] != PREFACE_FORMAT || preface[5] < PEER_AGENTS ||
		preface[5] > PEER_STREAM_DISKS || preface[6] || preface[7])
		return err_set(err, ERR_BAD_REQUEST,
			"it wants a connection of kind %u.%u, which this agent does not know: "
			"upgrade it",
			preface[4], preface[5]);
	*ret = preface[5];
	return 0;
}

/* The UUID's digits, two in a byte. */
bool peer_stream_preface_write(enum peer_connection kind, const char *migration,
	uint8_t ret[PEER_STREAM_PREFACE_SIZE])
{
	uint8_t *at = ret + PEER_PREFACE_SIZE;
	char back[UID_SIZE];

	begin_preface(kind, ret);
	for (const char *p = migration; at < ret + PEER_STREAM_PREFACE_SIZE; p += 2, at++) {
		unsigned byte;

		p += *p == '-';
		if (sscanf(p, "%2x", &byte) != 1)
			return false;
		*at = (uint8_t)byte;
	}
	peer_stream_preface_id(ret, back);
	return streq(back, migration);
}

void peer_stream_preface_id(const uint8_t preface[PEER_STREAM_PREFACE_SIZE], char ret[UID_SIZE])
{
	const uint8_t *id = preface + PEER_PREFACE_SIZE;
	size_t at = 0;

	for (unsigned i = 0; i < 16; i++)
		at += (size_t)snprintf(ret + at, UID_SIZE - at, "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}

/* ---- headers --------------------------------------------------------------------------------- */

static bool kind_of(unsigned number, enum peer_message_kind *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
		if (messages[i].number != number)
			continue;
		*ret = (enum peer_message_kind)i;
		return true;
	}
	return false;
}

int peer_frame_take(const void *data, size_t len, struct peer_frame *ret, struct err *err)
{
	const uint8_t *b = data;
	enum peer_message_kind kind;
	size_t payload;
	unsigned number;

	if (len < PEER_HEADER_SIZE)
		return 0;
	payload = (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
	number = (unsigned)b[4] << 8 | b[5];
	if (b[6] || b[7])
		return err_set(err, ERR_BAD_REQUEST, "a frame's header makes no sense");
	if (!kind_of(number, &kind))
		return err_set(err, ERR_BAD_REQUEST, "message %u is not known", number);
	if (payload > messages[kind].max)
		return err_set(err, ERR_BAD_REQUEST, "message %s has %zu bytes, %zu are the most",
			messages[kind].name, payload, messages[kind].max);
	if (len - PEER_HEADER_SIZE < payload)
		return 0;
	*ret = (struct peer_frame){ kind, (const char *)data + PEER_HEADER_SIZE, payload };
	return (int)(PEER_HEADER_SIZE + payload);
}

int peer_frame_expected(enum peer_message_kind kind, bool from_dialer, bool open, struct err *err)
{
	enum peer_way way = messages[kind].way;
	enum peer_stage stage = messages[kind].stage;

	if (way != PEER_WAY_EITHER && (way == PEER_WAY_DIALER) != from_dialer)
		return err_set(err, ERR_BAD_REQUEST, "message %s is not for that end to send",
			messages[kind].name);
	if (stage != PEER_STAGE_ANY && (stage == PEER_STAGE_OPEN) != open)
		return err_set(err, ERR_BAD_REQUEST, "message %s came too %s", messages[kind].name,
			open ? "late" : "early");
	return 0;
}

/* ---- who, versions, clocks ------------------------------------------------------------------- */

int peer_version_choose(const struct peer_hello *ours, const struct peer_hello *theirs,
	unsigned *ret, struct err *err)
{
	unsigned newest = MIN(ours->version_max, theirs->version_max);
	bool older = theirs->version_max < ours->version_min;

	if (newest >= MAX(ours->version_min, theirs->version_min)) {
		*ret = newest;
		return 0;
	}
	return err_set(err, ERR_CONFLICT,
		"'%.63s' (vmagent %s) speaks versions %u to %u of the protocol, '%.63s' (vmagent %s) "
		"%u to %u: upgrade '%.63s'",
		ours->node, ours->agent, ours->version_min, ours->version_max, theirs->node,
		theirs->agent, theirs->version_min, theirs->version_max,
		older ? theirs->node : ours->node);
}

static bool is_same(const char *a, const char *b)
{
	return a[0] && streq(a, b);
}

int peer_hello_check(const struct peer_hello *ours, const struct peer_hello *theirs,
	struct err *err)
{
	if (is_same(ours->host_uuid, theirs->host_uuid))
		return err_set(err, ERR_FORBIDDEN,
			"'%.63s' has the same host UUID as '%.63s' (%s): it is the same host, or a copy "
			"of it; give each a 'host_uuid' of its own in libvirtd.conf",
			theirs->node, ours->node, ours->host_uuid);
	if (is_same(ours->database, theirs->database))
		return err_set(err, ERR_FORBIDDEN,
			"the database of '%.63s' is a copy of that of '%.63s' (%s): remove the one of the "
			"copied host",
			theirs->node, ours->node, ours->database);
	return 0;
}

msec peer_clock_ahead(msec ours, msec theirs, msec round_trip)
{
	return theirs - (ours - round_trip / 2);
}
