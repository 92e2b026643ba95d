/* SPDX-License-Identifier: Apache-2.0 */
/* What core does with cJSON in more than one place. */
#ifndef VMAGENT_CORE_JSON_H
#define VMAGENT_CORE_JSON_H

#include <cjson/cJSON.h>

/* The tree's compact text, owned by the caller; the tree goes. */
static inline char *json_take_text(cJSON *json)
{
	char *text = cJSON_PrintUnformatted(json);

	cJSON_Delete(json);
	return text;
}

#endif
