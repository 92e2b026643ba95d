/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of fields per message, by the numbers of Kubernetes' generated.proto files, which never
 * change. A field that is in no table is refused, never lost. Messages do not nest in themselves,
 * so the depth is the tables'.
 */
#include "core/protobuf.h"

#include <inttypes.h>
#include <string.h>

#include "core/base64.h"
#include "core/utf8.h"

#define ENTRIES_MAX 4096 /* of one map or list */

/* ---- bytes ----------------------------------------------------------------------------------- */

enum wire { WIRE_VARINT = 0, WIRE_BYTES = 2 };

struct span {
	const unsigned char *at, *end;
};

struct item { /* one field as it stands in the bytes */
	uint64_t number, wire, value;
	struct span bytes;
};

static bool take_varint(struct span *s, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && s->at < s->end; shift += 7) {
		unsigned char byte = *s->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = value;
			return true;
		}
	}
	return false;
}

static bool take_item(struct span *s, struct item *ret)
{
	uint64_t tag;

	if (!take_varint(s, &tag) || !take_varint(s, &ret->value))
		return false;
	ret->number = tag >> 3;
	ret->wire = tag & 7;
	ret->bytes = (struct span){ s->at, s->at };
	if (ret->wire == WIRE_VARINT)
		return true;
	if (ret->wire != WIRE_BYTES || ret->value > (uint64_t)(s->end - s->at))
		return false;
	ret->bytes.end += ret->value;
	s->at = ret->bytes.end;
	return true;
}

static size_t length(struct span s)
{
	return (size_t)(s.end - s.at);
}

static int broken(struct err *err)
{
	return err_set(err, ERR_BAD_REQUEST, "the body is no protobuf of Kubernetes'");
}

/* ---- values ---------------------------------------------------------------------------------- */

enum type { TEXT, TEXTS, BOOL, INT, TEXT_MAP, BYTES_MAP, MESSAGE, SERVER /* the server's own */ };

struct field {
	unsigned number;
	const char *name;
	enum type type;
	const struct field *message;
};

static struct node *text_of(struct span bytes)
{
	autofree char *text = xstrndup((const char *)bytes.at, length(bytes));

	return utf8_is_clean((const char *)bytes.at, length(bytes)) ? node_new(NODE_STRING, text)
								    : NULL;
}

static struct node *base64_of(struct span bytes)
{
	autofree char *text = base64_encode(bytes.at, length(bytes));

	return node_new(NODE_STRING, text);
}

/* A map's entry is a message of a key and a value, either of which may be absent. */
static int add_entry(struct node *map, struct span entry, bool is_text, struct err *err)
{
	struct span key = { entry.at, entry.at }, value = key;
	autofree char *name = NULL;
	struct node *text, *made;
	struct item item;

	while (entry.at < entry.end) {
		if (!take_item(&entry, &item) || item.wire != WIRE_BYTES || item.number - 1 > 1)
			return broken(err);
		*(item.number == 1 ? &key : &value) = item.bytes;
	}
	text = text_of(key);
	made = is_text ? text_of(value) : base64_of(value);
	if (!text || !made || map->n_children == ENTRIES_MAX) {
		node_free(text);
		node_free(made);
		return broken(err);
	}
	name = xstrdup(text->text);
	node_free(text);
	node_set(map, name, made);
	return 0;
}

/* The list or map that a field's values are gathered in. */
static struct node *gathered(struct node *object, const char *name, enum node_kind kind)
{
	struct node *found = node_get(object, name);

	if (!found) {
		node_set(object, name, node_new(kind, NULL));
		found = node_get(object, name);
	}
	return found;
}

/* An empty text is none: Go writes them all. */
static int add_text(struct node *object, const struct field *f, struct span bytes, struct err *err)
{
	struct node *text = text_of(bytes);

	if (!text)
		return broken(err);
	if (bytes.at < bytes.end)
		node_set(object, f->name, take(&text));
	node_free(text);
	return 0;
}

static int add_to_list(struct node *list, struct span bytes, struct err *err)
{
	struct node *text = list->n_children < ENTRIES_MAX ? text_of(bytes) : NULL;

	if (!text)
		return broken(err);
	node_append(list, text);
	return 0;
}

static int read_message(struct span s, const struct field *fields, struct node *ret,
	struct err *err);

/* An empty message is none, either. */
static int add_message(struct node *object, const struct field *f, struct span bytes,
	struct err *err)
{
	struct node *message = node_new(NODE_MAP, NULL);
	int rc = read_message(bytes, f->message, message, err);

	if (!rc && message->n_children)
		node_set(object, f->name, take(&message));
	node_free(message);
	return rc;
}

static int add_field(struct node *object, const struct field *f, const struct item *item,
	struct err *err)
{
	bool is_number = f->type == BOOL || f->type == INT;

	if (f->type != SERVER && item->wire != (is_number ? WIRE_VARINT : WIRE_BYTES))
		return broken(err);
	switch (f->type) {
	case TEXT:
		return add_text(object, f, item->bytes, err);
	case TEXTS:
		return add_to_list(gathered(object, f->name, NODE_LIST), item->bytes, err);
	case BOOL:
		node_set(object, f->name, node_new(NODE_BOOL, item->value ? "true" : "false"));
		return 0;
	case INT:
		node_set(object, f->name, node_new_int((int64_t)item->value));
		return 0;
	case TEXT_MAP:
	case BYTES_MAP:
		return add_entry(gathered(object, f->name, NODE_MAP), item->bytes,
			f->type == TEXT_MAP, err);
	case MESSAGE:
		return add_message(object, f, item->bytes, err);
	case SERVER:
		return 0;
	}
	return 0;
}

static int read_message(struct span s, const struct field *fields, struct node *ret,
	struct err *err)
{
	while (s.at < s.end) {
		const struct field *f = fields;
		struct item item;
		int rc;

		if (!take_item(&s, &item))
			return broken(err);
		while (f->number && f->number != item.number)
			f++;
		if (!f->number)
			return err_set(err, ERR_MEDIA_TYPE,
				"the body has a field %" PRIu64
				" that is not read from protobuf: send application/json",
				item.number);
		rc = add_field(ret, f, &item, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- the messages ---------------------------------------------------------------------------- */

/* clang-format off */
static const struct field metadata[] = {
	{ 1, "name", TEXT, NULL },
	{ 2, "generateName", TEXT, NULL },
	{ 3, "namespace", TEXT, NULL },
	{ 4, "selfLink", SERVER, NULL },
	{ 5, "uid", TEXT, NULL },
	{ 6, "resourceVersion", TEXT, NULL },
	{ 7, "generation", SERVER, NULL },
	{ 8, "creationTimestamp", SERVER, NULL },
	{ 9, "deletionTimestamp", SERVER, NULL },
	{ 10, "deletionGracePeriodSeconds", SERVER, NULL },
	{ 11, "labels", TEXT_MAP, NULL },
	{ 12, "annotations", TEXT_MAP, NULL },
	{ 14, "finalizers", TEXTS, NULL },
	{ 17, "managedFields", SERVER, NULL },
	{ 0 },
};
static const struct field namespace_spec[] = { { 1, "finalizers", TEXTS, NULL }, { 0 } };
static const struct field namespace[] = {
	{ 1, "metadata", MESSAGE, metadata },
	{ 2, "spec", MESSAGE, namespace_spec },
	{ 3, "status", SERVER, NULL },
	{ 0 },
};
static const struct field config_map[] = {
	{ 1, "metadata", MESSAGE, metadata },
	{ 2, "data", TEXT_MAP, NULL },
	{ 3, "binaryData", BYTES_MAP, NULL },
	{ 4, "immutable", BOOL, NULL },
	{ 0 },
};
static const struct field secret[] = {
	{ 1, "metadata", MESSAGE, metadata },
	{ 2, "data", BYTES_MAP, NULL },
	{ 3, "type", TEXT, NULL },
	{ 4, "stringData", TEXT_MAP, NULL },
	{ 5, "immutable", BOOL, NULL },
	{ 0 },
};
static const struct field preconditions[] = {
	{ 1, "uid", TEXT, NULL },
	{ 2, "resourceVersion", TEXT, NULL },
	{ 0 },
};
static const struct field delete_options[] = {
	{ 1, "gracePeriodSeconds", INT, NULL },
	{ 2, "preconditions", MESSAGE, preconditions },
	{ 3, "orphanDependents", BOOL, NULL },
	{ 4, "propagationPolicy", TEXT, NULL },
	{ 5, "dryRun", TEXTS, NULL },
	{ 0 },
};

static const struct field type_meta[] = {
	{ 1, "apiVersion", TEXT, NULL },
	{ 2, "kind", TEXT, NULL },
	{ 0 },
};
static const struct field unknown[] = { /* runtime.Unknown */
	{ 1, "typeMeta", MESSAGE, type_meta },
	{ 2, "raw", SERVER, NULL }, /* read by itself, once the kind is known */
	{ 3, "contentEncoding", TEXT, NULL },
	{ 4, "contentType", TEXT, NULL },
	{ 0 },
};

static const struct {
	const char *kind;
	const struct field *fields;
} kinds[] = {
	{ "ConfigMap", config_map },
	{ "DeleteOptions", delete_options },
	{ "Namespace", namespace },
	{ "Secret", secret },
};
/* clang-format on */

static const struct field *fields_of(const char *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (streq(kinds[i].kind, kind))
			return kinds[i].fields;
	return NULL;
}

/* The object's own bytes in a runtime.Unknown that has been read. */
static struct span raw_of(struct span s)
{
	struct span raw = { s.end, s.end };
	struct item item;

	while (s.at < s.end && take_item(&s, &item))
		if (item.number == 2)
			raw = item.bytes;
	return raw;
}

static int read_object(struct span s, const struct node *envelope, struct node *ret,
	struct err *err)
{
	const char *version = node_text(envelope, "typeMeta.apiVersion");
	const char *kind = node_text(envelope, "typeMeta.kind");
	const struct field *fields = fields_of(kind);

	if (!fields)
		return err_set(err, ERR_MEDIA_TYPE,
			"kind '%.100s' is not read from protobuf: send application/json",
			kind ? kind : "");
	node_set(ret, "apiVersion", node_new(NODE_STRING, version ? version : ""));
	node_set(ret, "kind", node_new(NODE_STRING, kind));
	return read_message(raw_of(s), fields, ret, err);
}

int protobuf_parse(const void *data, size_t len, struct node **ret, struct err *err)
{
	static const char magic[4] = "k8s";
	struct span s = { data, (const unsigned char *)data + len };
	struct node *envelope, *object;
	int rc;

	*ret = NULL;
	if (len < sizeof(magic) || memcmp(data, magic, sizeof(magic)) != 0)
		return broken(err);
	s.at += sizeof(magic);
	envelope = node_new(NODE_MAP, NULL);
	object = node_new(NODE_MAP, NULL);
	rc = read_message(s, unknown, envelope, err);
	if (!rc)
		rc = read_object(s, envelope, object, err);
	if (!rc)
		*ret = take(&object);
	node_free(object);
	node_free(envelope);
	return rc;
}
