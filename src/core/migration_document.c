/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VirtualMachineInstanceMigration as it is shown on both hosts (semantics §12.1). All of its status
 * follows from the private state.
 */
#include <stdio.h>

#include "core/codec.h"
#include "core/document_private.h"
#include "core/migration.h"
#include "core/migration_policy.h"

static void add_time(cJSON *json, const char *key, msec wall)
{
	char text[TIME_SIZE];

	if (!wall)
		return;
	format_time(wall, text);
	cJSON_AddStringToObject(json, key, text);
}

static void add_metadata(cJSON *root, const struct object_meta *meta)
{
	cJSON *json = cJSON_AddObjectToObject(root, "metadata");
	char rv[24];

	cJSON_AddStringToObject(json, "name", meta->name);
	cJSON_AddStringToObject(json, "namespace", meta->ns);
	cJSON_AddStringToObject(json, "uid", meta->uid);
	snprintf(rv, sizeof(rv), "%lld", (long long)meta->rv);
	cJSON_AddStringToObject(json, "resourceVersion", rv);
	add_time(json, "creationTimestamp", meta->created);
}

static void add_phase_times(cJSON *status, const struct migration *g)
{
	cJSON *list = cJSON_AddArrayToObject(status, "phaseTransitionTimestamps");

	for (unsigned phase = 0; phase < MIGRATION_PHASE_MAX; phase++) {
		cJSON *one;

		if (!g->phase_wall[phase])
			continue;
		one = cJSON_CreateObject();
		cJSON_AddStringToObject(one, "phase", migration_phase_name(phase));
		add_time(one, "phaseTransitionTimestamp", g->phase_wall[phase]);
		cJSON_AddItemToArray(list, one);
	}
}

static msec end_of(const struct migration *g)
{
	return MAX(g->phase_wall[MIGRATION_PHASE_SUCCEEDED], g->phase_wall[MIGRATION_PHASE_FAILED]);
}

static const char *const modes[] = { "PreCopy", "PostCopy", "Paused" };

void document_add_migration(cJSON *status, const struct migration *g, const char *node)
{
	cJSON *json = cJSON_AddObjectToObject(status, "migrationState");
	bool source = g->role == MIGRATION_SOURCE, failed = end_of(g) && !g->succeeded;

	cJSON_AddStringToObject(json, "migrationUid", g->meta.uid);
	cJSON_AddStringToObject(json, "sourceNode", source ? node : g->peer);
	cJSON_AddStringToObject(json, "targetNode", source ? g->peer : node);
	cJSON_AddStringToObject(json, "mode", modes[g->progress.mode]);
	if (source && g->state != MIGRATION_PENDING)
		cJSON_AddItemToObject(json, "migrationConfiguration",
			migration_limits_json(&g->limits));
	if (g->policy)
		cJSON_AddStringToObject(json, "migrationPolicyName", g->policy);
	add_time(json, "startTimestamp", g->phase_wall[MIGRATION_PHASE_RUNNING]);
	add_time(json, "endTimestamp", end_of(g));
	if (end_of(g))
		cJSON_AddTrueToObject(json, "completed");
	if (failed)
		cJSON_AddTrueToObject(json, "failed");
	if (failed && g->reason)
		cJSON_AddStringToObject(json, "failureReason", g->reason);
	if (g->cancelled)
		cJSON_AddTrueToObject(json, "abortRequested");
	if (g->cancelled && end_of(g))
		cJSON_AddStringToObject(json, "abortStatus", failed ? "Succeeded" : "Failed");
}

static void add_condition(cJSON *list, const char *type, const char *reason, const char *message)
{
	cJSON *one = cJSON_CreateObject();

	cJSON_AddStringToObject(one, "type", type);
	cJSON_AddStringToObject(one, "status", "True");
	cJSON_AddStringToObject(one, "reason", reason);
	cJSON_AddStringToObject(one, "message", message);
	cJSON_AddItemToArray(list, one);
}

static void add_doubt(cJSON *list, const struct migration *g)
{
	autofree char *text = NULL;

	if (!migration_in_doubt(g))
		return;
	text = xasprintf("who runs the guest is '%s''s to say: it stands still until then",
		g->peer);
	add_condition(list, "InDoubt", migration_state_name(g->state), text);
}

/* Why it has not begun. */
static void add_wait(cJSON *list, const struct migration *g)
{
	static const struct {
		const char *reason, *words;
	} waits[] = {
#define X(c, reason, words) { reason, words },
		MIGRATION_WAITS(X)
#undef X
	};

	if (g->waits && migration_phase_of(g) == MIGRATION_PHASE_PENDING)
		add_condition(list, "Waiting", waits[g->waits].reason, waits[g->waits].words);
}

static void add_conditions(cJSON *status, const struct migration *g)
{
	cJSON *list = cJSON_CreateArray();

	add_doubt(list, g);
	add_wait(list, g);
	if (list->child)
		cJSON_AddItemToObject(status, "conditions", list);
	else
		cJSON_Delete(list);
}

/* While libvirt copies; KubeVirt has no words for it. */
static void add_progress(cJSON *status, const struct migration *g)
{
	const struct migration_progress *p = &g->progress;
	int64_t left = migration_seconds_left(p);
	cJSON *json;

	if (!p->total || g->state != MIGRATION_OUT)
		return;
	json = cJSON_AddObjectToObject(status, "progress");
	cJSON_AddNumberToObject(json, "bytesTotal", (double)p->total);
	cJSON_AddNumberToObject(json, "bytesSent", (double)p->processed);
	cJSON_AddNumberToObject(json, "bytesRemaining", (double)p->remaining);
	cJSON_AddNumberToObject(json, "bytesPerSecond", (double)p->rate);
	cJSON_AddNumberToObject(json, "dirtyBytesPerSecond", (double)p->dirty);
	cJSON_AddNumberToObject(json, "iteration", p->iteration);
	cJSON_AddNumberToObject(json, "elapsedSeconds", (double)(p->elapsed / 1000));
	if (left >= 0)
		cJSON_AddNumberToObject(json, "secondsLeft", (double)left);
	if (p->throttle)
		cJSON_AddNumberToObject(json, "throttlePercent", p->throttle);
	if (p->downtime_ms)
		cJSON_AddNumberToObject(json, "maxDowntimeMs", p->downtime_ms);
}

char *migration_document(const struct migration *g, const char *node)
{
	cJSON *root = cJSON_CreateObject(), *status;

	cJSON_AddStringToObject(root, "apiVersion", object_kind_api_version(KIND_MIGRATION));
	cJSON_AddStringToObject(root, "kind", object_kind_name(KIND_MIGRATION));
	add_metadata(root, &g->meta);
	cJSON_AddStringToObject(cJSON_AddObjectToObject(root, "spec"), "vmiName", g->vmi);
	status = cJSON_AddObjectToObject(root, "status");
	cJSON_AddStringToObject(status, "phase", migration_phase_name(migration_phase_of(g)));
	add_phase_times(status, g);
	document_add_migration(status, g, node);
	add_conditions(status, g);
	add_progress(status, g);
	return json_take_text(root);
}
