/* SPDX-License-Identifier: Apache-2.0 */
/* Counted before it is parsed: a byte or two of text become a struct. */
#include "core/json.h"

#include <string.h>

/* Each value but the first follows one of these; those in texts do not count. */
bool json_is_modest(const char *text, size_t len)
{
	size_t values = 1;
	bool quoted = false;

	for (size_t i = 0; i < len && values <= JSON_VALUES_MAX; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && (text[i] == ',' || text[i] == '[' || text[i] == '{'))
			values++;
	}
	return values <= JSON_VALUES_MAX;
}

cJSON *json_read_bytes(const char *text, size_t len)
{
	return json_is_modest(text, len) ? cJSON_ParseWithLength(text, len) : NULL;
}

cJSON *json_read(const char *text)
{
	return text && json_is_modest(text, strlen(text)) ? cJSON_ParseWithOpts(text, NULL, true)
							  : NULL;
}
