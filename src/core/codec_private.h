/* SPDX-License-Identifier: Apache-2.0 */
/* A field table: where in a struct a value lies, as what it is written, under which name. */
#ifndef VMAGENT_CORE_CODEC_PRIVATE_H
#define VMAGENT_CORE_CODEC_PRIVATE_H

#include <cjson/cJSON.h>

#include <vmagent/base.h>

enum field_type {
	FIELD_TEXT,
	FIELD_UID,
	FIELD_NUMBER,
	FIELD_UNSIGNED,
	FIELD_BOOL,
	FIELD_ENUM,
	FIELD_DEADLINE
};

struct field {
	const char *key;
	enum field_type type;
	size_t offset;
};

#define F(type, object, key, member)                               \
	{                                                          \
		key, FIELD_##type, offsetof(struct object, member) \
	}

struct reader {
	const cJSON *json;
	bool same_boot;
};

/* A whole number of 64 bits; 0: it is none, or one that cannot be meant. What a peer says of a
 * guest is read with it. */
int64_t stored_number(const cJSON *item);
void write_fields(cJSON *json, const struct field *fields, size_t n, const void *object);
/* What json does not have stays as it is in object. */
void read_fields(const struct reader *r, const struct field *fields, size_t n, void *object);

#endif
