/* SPDX-License-Identifier: Apache-2.0 */
/* What core does with cJSON in more than one place. */
#ifndef VMAGENT_CORE_JSON_H
#define VMAGENT_CORE_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* In a text from outside: each takes some eighty bytes, however few of the text's it has. */
#define JSON_VALUES_MAX 100000
bool json_is_modest(const char *text, size_t len); /* has no more of them */

/* The tree of a text from outside, or NULL: it is none, or of more values than that. */
cJSON *json_read(const char *text);                   /* with nothing behind it; NULL gives NULL */
cJSON *json_read_bytes(const char *text, size_t len); /* not terminated */

/* The tree's compact text, owned by the caller; the tree goes. */
static inline char *json_take_text(cJSON *json)
{
	char *text = cJSON_PrintUnformatted(json);

	cJSON_Delete(json);
	return text;
}

/* A member of an object: its text, borrowed, or NULL where it has none; whether it is true. */
static inline const char *json_text(const cJSON *json, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
}
static inline bool json_is_true(const cJSON *json, const char *key)
{
	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, key));
}

#endif
