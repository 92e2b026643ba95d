/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection's domains that are not runs of ours, as the newest list showed them: kept to be
 * shown, never touched (design §4). An event about such a domain makes a list sooner than its time.
 */
#include <cjson/cJSON.h>
#include <string.h>

#include "core/codec.h"
#include "core/json.h"
#include "daemon/agent_private.h"

/* By what the list shows, or by what was seen since: it may have been adopted. */
static bool is_ours(const struct agent *agent, const struct domain_info *info)
{
	const struct machine *m = machines_find_run(&agent->machines, info->uuid);

	return m && (streq(m->vmi->meta.uid, info->owner) || machine_owns_domain(m));
}

static void forget(struct agent *agent)
{
	for (size_t i = 0; i < agent->n_foreign; i++) {
		free(agent->foreign[i].name);
		free(agent->foreign[i].console);
		free(agent->foreign[i].graphics);
	}
	agent->n_foreign = 0;
}

void domains_take_list(struct agent *agent, const struct op_result *list, struct now now)
{
	forget(agent);
	agent->foreign_seen = now.wall;
	for (size_t i = 0; i < list->n_domains; i++) {
		const struct domain_info *info = &list->domains[i];
		struct domain_info *kept;

		if (is_ours(agent, info))
			continue;
		kept = LIST_ADD(agent->foreign, agent->n_foreign, agent->cap_foreign);
		*kept = *info;
		kept->name = xstrdup(info->name);
		kept->console = kept->graphics = kept->firmware = NULL;
	}
}

void domains_done(struct agent *agent)
{
	forget(agent);
	free(agent->foreign);
}

/* While the first lists after a connect are still to come there is nothing to hurry. */
void domains_look_soon(struct agent *agent)
{
	agent->list_wanted = true;
	if (!agent->list_id && agent->lists > READS_TO_AGREE)
		agent->list_at = MIN(agent->list_at, agent->list_sent + SECONDS(LIST_AGAIN_S));
}

/* ---- shown ----------------------------------------------------------------------------------- */

static cJSON *domain_json(const struct agent *agent, const struct domain_info *info)
{
	cJSON *json = cJSON_CreateObject(), *meta, *status;
	char seen[TIME_SIZE];

	cJSON_AddStringToObject(json, "apiVersion", "vmagent.io/v1");
	cJSON_AddStringToObject(json, "kind", "Domain");
	meta = cJSON_AddObjectToObject(json, "metadata");
	cJSON_AddStringToObject(meta, "name", info->name);
	cJSON_AddStringToObject(meta, "uid", info->uuid);
	status = cJSON_AddObjectToObject(json, "status");
	cJSON_AddStringToObject(status, "state", domain_state_name(info->state));
	cJSON_AddStringToObject(status, "reason", domain_reason_name(info->reason));
	cJSON_AddStringToObject(status, "owner", info->owner[0] ? "stray" : "foreign");
	if (info->owner[0])
		cJSON_AddStringToObject(status, "vmiUID", info->owner);
	format_time(agent->foreign_seen, seen);
	cJSON_AddStringToObject(status, "lastSeen", seen);
	return json;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct domain_info *)a)->name, ((const struct domain_info *)b)->name);
}

char *agent_domains(struct agent *agent, const char *name)
{
	cJSON *list = cJSON_CreateObject(), *items;
	cJSON *one = NULL;

	cJSON_AddStringToObject(list, "apiVersion", "vmagent.io/v1");
	cJSON_AddStringToObject(list, "kind", "DomainList");
	cJSON_AddObjectToObject(list, "metadata");
	items = cJSON_AddArrayToObject(list, "items");
	if (agent->n_foreign)
		qsort(agent->foreign, agent->n_foreign, sizeof(*agent->foreign), compare_names);
	for (size_t i = 0; i < agent->n_foreign; i++) {
		const struct domain_info *info = &agent->foreign[i];

		if (is_ours(agent, info))
			continue;
		if (!name)
			cJSON_AddItemToArray(items, domain_json(agent, info));
		else if (streq(info->name, name) && !one)
			one = domain_json(agent, info);
	}
	if (!name)
		return json_take_text(list);
	cJSON_Delete(list);
	return one ? json_take_text(one) : NULL;
}
