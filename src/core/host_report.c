/* SPDX-License-Identifier: Apache-2.0 */
/* Facts to JSON and back. */
#include "core/host_report.h"

#include <string.h>

#include "core/json.h"

static void add_text(cJSON *json, const char *key, const char *text)
{
	if (text)
		cJSON_AddStringToObject(json, key, text);
}

char *host_report_write(const struct host_report *facts)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddNumberToObject(json, "libvirt", (double)facts->libvirt);
	cJSON_AddNumberToObject(json, "qemu", (double)facts->qemu);
	cJSON_AddNumberToObject(json, "space", (double)facts->space);
	add_text(json, "cpu", facts->cpu);
	add_text(json, "machines", facts->machines);
	add_text(json, "firmwares", facts->firmwares);
	add_text(json, "misfit", facts->misfit);
	return json_take_text(json);
}

static double number_at(const cJSON *json, const char *key, double otherwise)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);

	return cJSON_IsNumber(item) && item->valuedouble > -1e15 && item->valuedouble < 1e15
		? item->valuedouble
		: otherwise;
}

static char *text_at(const cJSON *json, const char *key)
{
	return xstrdup(json_text(json, key));
}

void host_report_read(const char *text, struct host_report *ret)
{
	cJSON *json = cJSON_Parse(text ? text : "");

	*ret = (struct host_report){
		.libvirt = (long)number_at(json, "libvirt", 0),
		.qemu = (long)number_at(json, "qemu", 0),
		.space = (int64_t)number_at(json, "space", -1),
		.cpu = text_at(json, "cpu"),
		.machines = text_at(json, "machines"),
		.firmwares = text_at(json, "firmwares"),
		.misfit = text_at(json, "misfit"),
	};
	cJSON_Delete(json);
}

void host_report_done(struct host_report *facts)
{
	free(facts->cpu);
	free(facts->machines);
	free(facts->firmwares);
	free(facts->misfit);
	*facts = (struct host_report){ 0 };
}

char *host_report_machine(const struct host_report *facts, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	for (const char *at = facts->machines; len && at && *at;) {
		const char *end = at + strcspn(at, ",");

		if (strncmp(at, name, len) == 0 && at[len] == '=')
			return xstrndup(at + len + 1, (size_t)(end - at) - len - 1);
		at = *end ? end + 1 : NULL;
	}
	return NULL;
}
