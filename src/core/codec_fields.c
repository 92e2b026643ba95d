/* SPDX-License-Identifier: Apache-2.0 */
#include "core/codec_private.h"

#include <limits.h>

#define STORED_MAX 1e18

static void write_field(cJSON *json, const struct field *f, const void *object)
{
	const char *at = (const char *)object + f->offset;

	switch (f->type) {
	case FIELD_TEXT:
		if (*(char *const *)at)
			cJSON_AddStringToObject(json, f->key, *(char *const *)at);
		return;
	case FIELD_UID:
		if (*at)
			cJSON_AddStringToObject(json, f->key, at);
		return;
	case FIELD_NUMBER:
	case FIELD_DEADLINE:
		if (*(const int64_t *)at)
			cJSON_AddNumberToObject(json, f->key, (double)*(const int64_t *)at);
		return;
	case FIELD_UNSIGNED:
	case FIELD_ENUM:
		if (*(const unsigned *)at)
			cJSON_AddNumberToObject(json, f->key, *(const unsigned *)at);
		return;
	case FIELD_BOOL:
		if (*(const bool *)at)
			cJSON_AddTrueToObject(json, f->key);
		return;
	}
}

/* Nothing that is computed with it overflows; NEVER is stored as what it is nearest to. */
int64_t stored_number(const cJSON *item)
{
	double number = cJSON_IsNumber(item) ? item->valuedouble : 0;

	if (number >= (double)NEVER)
		return NEVER;
	return number > -STORED_MAX && number < STORED_MAX ? (int64_t)number : 0;
}

static unsigned stored_unsigned(const cJSON *item)
{
	int64_t number = stored_number(item);

	return number >= 0 && number <= UINT_MAX ? (unsigned)number : 0;
}

/* Deadlines of another boot are over: 0 is the past. */
static void read_field(const cJSON *json, const struct field *f, bool same_boot, void *object)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, f->key);
	char *at = (char *)object + f->offset;

	if (!item || (f->type == FIELD_DEADLINE && !same_boot))
		return;
	switch (f->type) {
	case FIELD_TEXT:
		replace_str((char **)at, cJSON_GetStringValue(item));
		return;
	case FIELD_UID:
		copy_str(at, UID_SIZE, cJSON_IsString(item) ? item->valuestring : "");
		return;
	case FIELD_NUMBER:
	case FIELD_DEADLINE:
		*(int64_t *)at = stored_number(item);
		return;
	case FIELD_UNSIGNED:
	case FIELD_ENUM:
		*(unsigned *)at = stored_unsigned(item);
		return;
	case FIELD_BOOL:
		*(bool *)at = cJSON_IsTrue(item);
		return;
	}
}

void write_fields(cJSON *json, const struct field *fields, size_t n, const void *object)
{
	for (size_t i = 0; i < n; i++)
		write_field(json, &fields[i], object);
}

void read_fields(const struct reader *r, const struct field *fields, size_t n, void *object)
{
	for (size_t i = 0; i < n; i++)
		read_field(r->json, &fields[i], r->same_boot, object);
}
