/* SPDX-License-Identifier: Apache-2.0 */
/* Policies against labels, and their fields over the configuration's. Owns nothing. */
#include "core/migration_policy.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/json.h"
#include "core/quantity.h"

struct score {
	unsigned own, of_namespace; /* labels that its selectors name */
};

/* ---- which one ------------------------------------------------------------------------------- */

/* Every label of the selector is among those. */
static bool count_labels(const cJSON *selector, const cJSON *labels, unsigned *ret_n)
{
	const cJSON *wanted;
	unsigned n = 0;

	cJSON_ArrayForEach(wanted, selector)
	{
		const char *is = cJSON_GetStringValue(
			cJSON_GetObjectItemCaseSensitive(labels, wanted->string));

		if (!is || !streq(is, cJSON_GetStringValue(wanted)))
			return false;
		n++;
	}
	*ret_n = n;
	return true;
}

static bool matches(const struct record *policy, const cJSON *labels, const cJSON *namespace_labels,
	struct score *ret)
{
	cJSON *content = cJSON_Parse(policy->content);
	const cJSON *spec = cJSON_GetObjectItemCaseSensitive(content, "spec");
	const cJSON *of = cJSON_GetObjectItemCaseSensitive(spec, "selectors");
	bool does = of &&
		count_labels(cJSON_GetObjectItemCaseSensitive(of, "virtualMachineInstanceSelector"),
			labels, &ret->own) &&
		count_labels(cJSON_GetObjectItemCaseSensitive(of, "namespaceSelector"),
			namespace_labels, &ret->of_namespace);

	cJSON_Delete(content);
	return does;
}

static bool is_better(struct score a, struct score b)
{
	unsigned all = a.own + a.of_namespace, others = b.own + b.of_namespace;

	return all == others ? a.own > b.own : all > others;
}

/* Records of a kind come in the order of their names. */
const struct record *migration_policy_find(struct record *const *policies, size_t n,
	const struct policed *whose)
{
	cJSON *labels = cJSON_Parse(whose->labels ? whose->labels : "{}");
	cJSON *namespace_labels =
		cJSON_Parse(whose->namespace_labels ? whose->namespace_labels : "{}");
	const struct record *best = NULL;
	struct score best_score = { 0, 0 };

	for (size_t i = 0; i < n; i++) {
		struct score score = { 0, 0 };

		if (policies[i]->meta.deleted ||
			!matches(policies[i], labels, namespace_labels, &score) ||
			(best && !is_better(score, best_score)))
			continue;
		best = policies[i];
		best_score = score;
	}
	cJSON_Delete(labels);
	cJSON_Delete(namespace_labels);
	return best;
}

/* ---- what it says ---------------------------------------------------------------------------- */

static void take_bool(const cJSON *spec, const char *key, bool *value)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(spec, key);

	if (cJSON_IsBool(item))
		*value = cJSON_IsTrue(item);
}

static void take_number(const cJSON *spec, const char *key, unsigned *value)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(spec, key);

	if (cJSON_IsNumber(item) && item->valuedouble >= 0 &&
		item->valuedouble <= MIGRATION_SECONDS_MAX)
		*value = (unsigned)item->valuedouble;
}

static void take_bandwidth(const cJSON *spec, int64_t *value)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(spec, "bandwidthPerMigration");
	struct err ignored;

	if (cJSON_IsString(item))
		quantity_parse(item->valuestring, value, &ignored);
	else if (cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 1e15)
		*value = (int64_t)item->valuedouble;
}

/* Who allows post-copy and says nothing of disruption allows that as well. */
void migration_limits_read(const cJSON *spec, struct migration_limits *limits)
{
	take_bool(spec, "allowAutoConverge", &limits->auto_converge);
	take_bool(spec, "allowPostCopy", &limits->post_copy);
	take_bool(spec, "allowPostCopy", &limits->disrupt);
	take_bool(spec, "allowWorkloadDisruption", &limits->disrupt);
	take_number(spec, "completionTimeoutPerGiB", &limits->completion_s_per_gib);
	take_number(spec, "maxDowntimeMs", &limits->max_downtime_ms);
	take_number(spec, "progressTimeout", &limits->progress_s);
	take_bandwidth(spec, &limits->bandwidth);
}

/* A policy has no progressTimeout: its schema says so. */
void migration_policy_apply(const struct record *policy, struct migration_limits *limits)
{
	cJSON *content = cJSON_Parse(policy->content);

	migration_limits_read(cJSON_GetObjectItemCaseSensitive(content, "spec"), limits);
	cJSON_Delete(content);
}

/* ---- as it is shown -------------------------------------------------------------------------- */

cJSON *migration_limits_json(const struct migration_limits *limits)
{
	cJSON *json = cJSON_CreateObject();
	char bandwidth[24];

	snprintf(bandwidth, sizeof(bandwidth), "%" PRId64, limits->bandwidth);
	cJSON_AddBoolToObject(json, "allowAutoConverge", limits->auto_converge);
	cJSON_AddBoolToObject(json, "allowPostCopy", limits->post_copy);
	cJSON_AddBoolToObject(json, "allowWorkloadDisruption", limits->disrupt);
	cJSON_AddStringToObject(json, "bandwidthPerMigration", bandwidth);
	cJSON_AddNumberToObject(json, "completionTimeoutPerGiB", limits->completion_s_per_gib);
	cJSON_AddNumberToObject(json, "maxDowntimeMs", limits->max_downtime_ms);
	cJSON_AddNumberToObject(json, "progressTimeout", limits->progress_s);
	return json;
}

char *migration_config_json(const struct migration_config *config)
{
	cJSON *json = migration_limits_json(&config->limits);

	cJSON_AddNumberToObject(json, "parallelOutboundMigrationsPerNode", config->outbound);
	return json_take_text(json);
}
