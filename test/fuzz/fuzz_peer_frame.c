/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what comes in from another agent: frames one after the other. What is accepted is written
 * again, and must then read as the same message.
 */
#include <string.h>

#include "core/peer_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Where it lies is not part of what is said. */
static void forget_document(struct peer_message *message)
{
	if (message->kind >= PEER_MESSAGE_HANDOVER)
		message->handover.document = NULL;
}

static void reads_back(struct peer_message *message)
{
	struct buf out = { 0 };
	struct peer_message again;
	struct peer_frame frame;

	peer_message_write(message, &out);
	require(peer_frame_take(out.data, out.len, &frame, NULL) == (int)out.len);
	require(peer_message_read(&frame, &again, NULL) == 0);
	require(streq(message->document, again.document));
	peer_message_done(&again);
	forget_document(&again);
	forget_document(message);
	free(take(&message->document));
	require(memcmp(message, &again, sizeof(again)) == 0);
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum peer_connection connection;
	size_t at = 0;

	if (size >= PEER_PREFACE_SIZE)
		peer_preface_read(data, &connection, NULL);
	for (;;) {
		struct peer_message message;
		struct peer_frame frame;
		int used = peer_frame_take(data + at, size - at, &frame, NULL);

		require(used <= (int)(size - at));
		if (used <= 0)
			return 0;
		at += (size_t)used;
		require(frame.len <= PEER_PAYLOAD_MAX);
		if (peer_message_read(&frame, &message, NULL) == 0)
			reads_back(&message);
	}
}
