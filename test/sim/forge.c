/* SPDX-License-Identifier: Apache-2.0 */
/* A host that lies: a field of what it says to others is another one than its agent has written. */
#include <string.h>

#include <cjson/cJSON.h>

#include "core/json.h"
#include "sim.h"

static cJSON *forged(const cJSON *json, const char *path, const char *value);

/* A number where it is one, else text. */
static cJSON *value_of(const char *value)
{
	cJSON *number = cJSON_ParseWithOpts(value, NULL, true);

	if (cJSON_IsNumber(number))
		return number;
	cJSON_Delete(number);
	return cJSON_CreateString(value);
}

/* Objects travel as text in a text. */
static cJSON *forged_text(const char *text, const char *path, const char *value)
{
	cJSON *inner = cJSON_Parse(text), *other = forged(inner, path, value);
	autofree char *changed = json_take_text(other);

	cJSON_Delete(inner);
	return cJSON_CreateString(changed);
}

static cJSON *forged(const cJSON *json, const char *path, const char *value)
{
	const char *dot = strchr(path, '.');
	autofree char *key = dot ? xasprintf("%.*s", (int)(dot - path), path) : xstrdup(path);
	cJSON *ret = cJSON_Duplicate(json, true);
	cJSON *item = cJSON_GetObjectItemCaseSensitive(ret, key), *other;

	if (!dot)
		other = value_of(value);
	else if (cJSON_IsString(item))
		other = forged_text(item->valuestring, dot + 1, value);
	else
		other = forged(item, dot + 1, value);
	cJSON_DeleteItemFromObjectCaseSensitive(ret, key);
	cJSON_AddItemToObject(ret, key, other);
	return ret;
}

char *forge(const char *document, const char *path, const char *value)
{
	cJSON *json = cJSON_Parse(document), *other = forged(json, path, value);

	cJSON_Delete(json);
	return json_take_text(other);
}
