/* SPDX-License-Identifier: Apache-2.0 */
#include "core/nics.h"

#include "core/json.h"

/* clang-format off */
static const struct { const char *key; size_t offset, size; } fields[] = {
#define F(key, member) { key, offsetof(struct nic_info, member), sizeof(((struct nic_info *)0)->member) }
	F("name",    name),
	F("mac",     mac),
	F("address", address),
	F("type",    type),
	F("source",  source),
	F("target",  target),
#undef F
};
/* clang-format on */

char *nics_text(const struct nic_info *nics, size_t n)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < n; i++) {
		cJSON *one = cJSON_CreateObject();

		for (size_t f = 0; f < ARRAY_SIZE(fields); f++) {
			const char *text = (const char *)&nics[i] + fields[f].offset;

			if (*text)
				cJSON_AddStringToObject(one, fields[f].key, text);
		}
		if (nics[i].down)
			cJSON_AddTrueToObject(one, "down");
		cJSON_AddItemToArray(list, one);
	}
	return json_take_text(list);
}

static void read_one(const cJSON *from, struct nic_info *ret)
{
	*ret = (struct nic_info){ .down = cJSON_IsTrue(cJSON_GetObjectItem(from, "down")) };
	for (size_t f = 0; f < ARRAY_SIZE(fields); f++)
		copy_str((char *)ret + fields[f].offset, fields[f].size,
			cJSON_GetStringValue(cJSON_GetObjectItem(from, fields[f].key)));
}

bool nics_find(const char *text, const char *name, struct nic_info *ret)
{
	cJSON *list = json_read(text);
	struct nic_info nic;
	bool found = false;

	for (const cJSON *one = list ? list->child : NULL; one && !found; one = one->next) {
		read_one(one, &nic);
		found = streq(nic.name, name);
	}
	cJSON_Delete(list);
	if (found)
		*ret = nic;
	return found;
}
