/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Payloads: a table of fields per message, read and written by the same code. All fields must be
 * there, and numbers lie within bounds. Text that comes from outside is printable ASCII afterwards:
 * it goes into logs and terminals.
 */
#include <string.h>

#include "core/enum.h"
#include "core/json.h"
#include "core/names.h"
#include "core/peer_frame.h"
#include "core/printable.h"

#define EXACT_MAX 999999999999999.0 /* 15 digits: as many as cJSON writes */

enum type { TYPE_UNSIGNED, TYPE_INT64, TYPE_MAYBE, TYPE_TEXT, TYPE_OPTIONAL };

struct field {
	const char *key;
	enum type type;
	size_t offset, size; /* size: TEXT, with its NUL; OPTIONAL and MAYBE ones may be missing */
	double min, max;     /* of a number */
};

#define NUMBER(type, object, key, member, min, max)                            \
	{                                                                      \
		key, TYPE_##type, offsetof(struct object, member), 0, min, max \
	}
#define MAYBE(object, key, member, min, max) NUMBER(MAYBE, object, key, member, min, max)
#define TEXT_OF(type, object, key, member)                            \
	{                                                             \
		key, TYPE_##type, offsetof(struct object, member),    \
			sizeof(((struct object *)NULL)->member), 0, 0 \
	}
#define TEXT(object, key, member) TEXT_OF(TEXT, object, key, member)

/* clang-format off */
static const struct field hello_fields[] = {
	NUMBER(UNSIGNED, peer_hello, "versionMin", version_min, 1, 65535),
	NUMBER(UNSIGNED, peer_hello, "versionMax", version_max, 1, 65535),
	NUMBER(UNSIGNED, peer_hello, "version",    version,     0, 65535),
	NUMBER(INT64,    peer_hello, "wallClock",  wall,        0, EXACT_MAX),
	TEXT(peer_hello, "agentVersion", agent),
	TEXT(peer_hello, "nodeName",     node),
	TEXT(peer_hello, "bootID",       boot_id),
	TEXT_OF(OPTIONAL, peer_hello, "databaseID", database),
	TEXT_OF(OPTIONAL, peer_hello, "hostUUID",   host_uuid),
};
static const struct field status_fields[] = {
	NUMBER(UNSIGNED, peer_status, "cpus",        cpus,         0, 1e6),
	NUMBER(INT64,    peer_status, "memory",      memory,       0, EXACT_MAX),
	NUMBER(UNSIGNED, peer_status, "guests",      guests,       0, 1e6),
	NUMBER(INT64,    peer_status, "guestMemory", guest_memory, 0, EXACT_MAX),
};
static const struct field refused_fields[] = {
	TEXT(peer_message, "why", why),
};
static const struct field ping_fields[] = {
	NUMBER(INT64, peer_message, "id",   ping.id,   0, EXACT_MAX),
	NUMBER(INT64, peer_message, "wall", ping.wall, 0, EXACT_MAX),
};
static const struct field handover_fields[] = {
	TEXT(handover, "migration",  migration),
	TEXT(handover, "databaseID", database),
	NUMBER(INT64,    handover, "epoch",     epoch,     0, EXACT_MAX),
	NUMBER(UNSIGNED, handover, "succeeded", succeeded, 0, 1),
	TEXT(handover, "why",        why),
	MAYBE(handover, "ended",     ended,     0, WALL_MAX_MS),
	MAYBE(handover, "room",      room,      0, EXACT_MAX),
	MAYBE(handover, "cancelled", cancelled, 0, 1),
};
/* clang-format on */

static const char *const capabilities[] = { PEER_CAPABILITIES(ENUM_TEXT_) };

const char *peer_capability_name(enum peer_capability capability)
{
	return (size_t)capability < ARRAY_SIZE(capabilities) ? capabilities[capability] : "?";
}

/* ---- reading --------------------------------------------------------------------------------- */

static int read_field(const cJSON *json, const struct field *f, void *object, struct err *err)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, f->key);
	void *to = (char *)object + f->offset;

	if (!item && (f->type == TYPE_OPTIONAL || f->type == TYPE_MAYBE))
		return 0;
	if (f->type == TYPE_TEXT || f->type == TYPE_OPTIONAL) {
		if (!cJSON_IsString(item) || strlen(item->valuestring) >= f->size)
			return err_set(err, ERR_BAD_REQUEST,
				"'%s': expected text of less than %zu bytes", f->key, f->size);
		copy_printable(to, f->size, item->valuestring);
		return 0;
	}
	/* Not so written would let NaN pass. */
	if (!cJSON_IsNumber(item) || !(item->valuedouble >= f->min && item->valuedouble <= f->max))
		return err_set(err, ERR_BAD_REQUEST, "'%s': expected a number from %.0f to %.0f",
			f->key, f->min, f->max);
	if (f->type == TYPE_UNSIGNED)
		*(unsigned *)to = (unsigned)item->valuedouble;
	else
		*(int64_t *)to = (int64_t)item->valuedouble;
	return 0;
}

static int read_fields(const cJSON *json, const struct field *fields, size_t n, void *object,
	struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < n && ret == 0; i++)
		ret = read_field(json, &fields[i], object, err);
	return ret;
}
#define READ(json, fields, object, err) read_fields(json, fields, ARRAY_SIZE(fields), object, err)

static unsigned read_capabilities(const cJSON *list)
{
	const cJSON *item;
	unsigned ret = 0;

	cJSON_ArrayForEach(item, list) for (unsigned i = 0; i < ARRAY_SIZE(capabilities);
					    i++) if (cJSON_IsString(item) &&
		streq(item->valuestring, capabilities[i])) ret |= 1U << i;
	return ret;
}

static int read_hello(const cJSON *json, struct peer_hello *ret, struct err *err)
{
	const cJSON *capacity = cJSON_GetObjectItemCaseSensitive(json, "capacity");
	int rc = READ(json, hello_fields, ret, err);

	if (rc == 0)
		rc = READ(capacity, status_fields, &ret->status, err);
	if (rc < 0)
		return rc;
	ret->capabilities =
		read_capabilities(cJSON_GetObjectItemCaseSensitive(json, "capabilities"));
	if (ret->version_min > ret->version_max)
		return err_set(err, ERR_BAD_REQUEST, "'versionMin' is above 'versionMax'");
	return 0;
}

static bool has_document(enum handover_kind kind)
{
	return kind == HANDOVER_PREPARE || kind == HANDOVER_COMMIT || kind == HANDOVER_RECOVER ||
		kind == HANDOVER_MINE || kind == HANDOVER_CHECK;
}

/* Without one it is the word alone, as it was first. */
static bool may_have_document(enum handover_kind kind)
{
	return has_document(kind) || kind == HANDOVER_PREPARED || kind == HANDOVER_DECLINED ||
		kind == HANDOVER_CHECKED || kind == HANDOVER_OUT || kind == HANDOVER_WHOSE ||
		kind == HANDOVER_ABORT;
}

/* Folders are named after the migration. */
static int check_migration(const struct handover *handover, struct err *err)
{
	bool is_of_none = handover->kind == HANDOVER_WHOSE || handover->kind == HANDOVER_MINE;

	if (is_of_none || is_uuid(handover->migration))
		return 0;
	return err_set(err, ERR_BAD_REQUEST, "'migration': expected a UUID");
}

static int read_handover(const cJSON *json, struct peer_message *ret, struct err *err)
{
	enum handover_kind kind = (enum handover_kind)(ret->kind - PEER_MESSAGE_HANDOVER);
	const cJSON *document = cJSON_GetObjectItemCaseSensitive(json, "document");
	int rc;

	ret->handover.kind = kind;
	rc = READ(json, handover_fields, &ret->handover, err);
	if (rc == 0)
		rc = check_migration(&ret->handover, err);
	if (rc < 0 || !may_have_document(kind) || (!document && !has_document(kind)))
		return rc;
	if (!cJSON_IsString(document))
		return err_set(err, ERR_BAD_REQUEST, "'document': expected text");
	if (!json_is_modest(document->valuestring, strlen(document->valuestring)))
		return err_set(err, ERR_BAD_REQUEST, "'document': more than %d values",
			JSON_VALUES_MAX);
	ret->document = xstrdup(document->valuestring);
	ret->handover.document = ret->document;
	return 0;
}

static int read_payload(const cJSON *json, struct peer_message *ret, struct err *err)
{
	switch (ret->kind) {
	case PEER_MESSAGE_HELLO:
	case PEER_MESSAGE_WELCOME:
		return read_hello(json, &ret->hello, err);
	case PEER_MESSAGE_REFUSED:
		return READ(json, refused_fields, ret, err);
	case PEER_MESSAGE_PING:
	case PEER_MESSAGE_PONG:
		return READ(json, ping_fields, ret, err);
	case PEER_MESSAGE_STATUS:
		return READ(json, status_fields, &ret->status, err);
#define X(c, name, number, max) case PEER_MESSAGE_##c:
		HANDOVERS(X)
#undef X
		return read_handover(json, ret, err);
	case PEER_MESSAGE_MAX:
		break;
	}
	return err_set(err, ERR_BAD_REQUEST, "no such message");
}

int peer_message_read(const struct peer_frame *frame, struct peer_message *ret, struct err *err)
{
	cJSON *json = json_read_bytes(frame->payload, frame->len);
	struct peer_message message = { .kind = frame->kind };
	int rc;

	if (!cJSON_IsObject(json))
		rc = err_set(err, ERR_BAD_REQUEST, "expected a JSON object of at most %d values",
			JSON_VALUES_MAX);
	else
		rc = read_payload(json, &message, err);
	cJSON_Delete(json);
	if (rc < 0)
		return err_wrap(err, "message %s", peer_message_name(frame->kind));
	*ret = message;
	return 0;
}

void peer_message_done(struct peer_message *message)
{
	free(take(&message->document));
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_fields(cJSON *json, const struct field *fields, size_t n, const void *object)
{
	for (size_t i = 0; i < n; i++) {
		const struct field *f = &fields[i];
		const void *from = (const char *)object + f->offset;

		if (f->type == TYPE_TEXT || f->type == TYPE_OPTIONAL)
			cJSON_AddStringToObject(json, f->key, from);
		else if (f->type == TYPE_UNSIGNED)
			cJSON_AddNumberToObject(json, f->key, *(const unsigned *)from);
		else
			cJSON_AddNumberToObject(json, f->key, (double)*(const int64_t *)from);
	}
}
#define WRITE(json, fields, object) write_fields(json, fields, ARRAY_SIZE(fields), object)

static void write_hello(cJSON *json, const struct peer_hello *hello)
{
	cJSON *list = cJSON_AddArrayToObject(json, "capabilities");

	WRITE(json, hello_fields, hello);
	WRITE(cJSON_AddObjectToObject(json, "capacity"), status_fields, &hello->status);
	for (unsigned i = 0; i < ARRAY_SIZE(capabilities); i++)
		if (hello->capabilities & 1U << i)
			cJSON_AddItemToArray(list, cJSON_CreateString(capabilities[i]));
}

static void write_handover(cJSON *json, const struct handover *handover)
{
	WRITE(json, handover_fields, handover);
	if (may_have_document(handover->kind) && handover->document)
		cJSON_AddStringToObject(json, "document", handover->document);
}

static void write_payload(cJSON *json, const struct peer_message *message)
{
	switch (message->kind) {
	case PEER_MESSAGE_HELLO:
	case PEER_MESSAGE_WELCOME:
		write_hello(json, &message->hello);
		break;
	case PEER_MESSAGE_REFUSED:
		WRITE(json, refused_fields, message);
		break;
	case PEER_MESSAGE_PING:
	case PEER_MESSAGE_PONG:
		WRITE(json, ping_fields, message);
		break;
	case PEER_MESSAGE_STATUS:
		WRITE(json, status_fields, &message->status);
		break;
#define X(c, name, number, max) case PEER_MESSAGE_##c:
		HANDOVERS(X)
#undef X
		write_handover(json, &message->handover);
		break;
	case PEER_MESSAGE_MAX:
		break;
	}
}

void peer_message_write(const struct peer_message *message, struct buf *out)
{
	cJSON *json = cJSON_CreateObject();
	unsigned number = peer_message_number(message->kind);
	autofree char *text = NULL;
	uint8_t header[PEER_HEADER_SIZE] = { 0 };
	size_t len;

	write_payload(json, message);
	text = json_take_text(json);
	len = strlen(text);
	for (int i = 0; i < 4; i++)
		header[i] = (uint8_t)(len >> (24 - 8 * i));
	header[4] = (uint8_t)(number >> 8);
	header[5] = (uint8_t)number;
	buf_add(out, header, sizeof(header));
	buf_add(out, text, len);
}
