/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which run is let in before others: what its priority class says, as Kubernetes resolves it. A
 * class that is not there is no reason for a guest not to run: it counts as 0.
 */
#include "core/json.h"
#include "daemon/obstacles.h"

static const struct {
	const char *name;
	int64_t value;
} system_classes[] = {
	{ "system-cluster-critical", 2000000000 },
	{ "system-node-critical", 2000001000 },
};

static int64_t value_of(const struct record *r)
{
	cJSON *content = r ? cJSON_Parse(r->content) : NULL;
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(content, "value");
	int64_t priority = cJSON_IsNumber(value) ? (int64_t)value->valuedouble : 0;

	cJSON_Delete(content);
	return priority;
}

static bool is_default(const struct record *r)
{
	cJSON *content = cJSON_Parse(r->content);
	bool is = json_is_true(content, "globalDefault");

	cJSON_Delete(content);
	return is;
}

/* Of two, the lower counts. */
static int64_t default_priority(const struct records *records)
{
	bool found = false;
	int64_t lowest = 0;
	size_t n;
	struct record *const *classes = records_of_kind(records, KIND_PRIORITY_CLASS, &n);

	for (size_t i = 0; i < n; i++) {
		int64_t value = is_default(classes[i]) ? value_of(classes[i]) : INT64_MAX;

		if (value == INT64_MAX || (found && value >= lowest))
			continue;
		lowest = value;
		found = true;
	}
	return lowest;
}

int64_t priority_of(const struct agent *agent, const struct vmi_spec *spec)
{
	const char *name = spec->placement.priority_class;

	if (!name)
		return default_priority(&agent->records);
	for (size_t i = 0; i < ARRAY_SIZE(system_classes); i++) {
		if (streq(system_classes[i].name, name))
			return system_classes[i].value;
	}
	return value_of(records_find(&agent->records, KIND_PRIORITY_CLASS, "", name));
}
