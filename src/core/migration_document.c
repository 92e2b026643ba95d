/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VirtualMachineInstanceMigration as it is shown on both hosts (semantics §12.1). All of its
 * status follows from the private state.
 */
#include <stdio.h>

#include "core/codec.h"
#include "core/document_private.h"
#include "core/migration.h"
#include "core/migration_monitor.h"
#include "core/migration_order.h"
#include "core/migration_policy.h"
#include "core/names.h"

static void add_time(cJSON *json, const char *key, msec wall)
{
	char text[TIME_SIZE];

	if (!wall)
		return;
	format_time(wall, text);
	cJSON_AddStringToObject(json, key, text);
}

static void add_metadata(cJSON *root, const struct migration *g)
{
	const struct object_meta *meta = &g->meta;
	cJSON *json = cJSON_AddObjectToObject(root, "metadata");
	char rv[24];

	cJSON_AddStringToObject(json, "name", meta->name);
	cJSON_AddStringToObject(json, "namespace", meta->ns);
	cJSON_AddStringToObject(json, "uid", meta->uid);
	snprintf(rv, sizeof(rv), "%lld", (long long)meta->rv);
	cJSON_AddStringToObject(json, "resourceVersion", rv);
	cJSON_AddNumberToObject(json, "generation", 1); /* its spec never changes */
	add_time(json, "creationTimestamp", meta->created);
	add_time(json, "deletionTimestamp", meta->deleted);
	if (meta->labels)
		cJSON_AddRawToObject(json, "labels", meta->labels);
	if (meta->annotations)
		cJSON_AddRawToObject(json, "annotations", meta->annotations);
	if (!migration_is_over(g))
		cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "finalizers"),
			cJSON_CreateString(MIGRATION_FINALIZER));
}

/* For how long it may be in that phase, in seconds; 0: as long as it takes, or as the one
 * before. */
static int64_t time_limit(const struct migration *g, enum migration_phase phase)
{
	msec limit;

	if (phase == MIGRATION_PHASE_PENDING)
		return MIGRATION_PENDING_S;
	if (phase == MIGRATION_PHASE_SCHEDULING)
		return MIGRATION_PREPARE_S; /* until it is RUNNING */
	if (phase != MIGRATION_PHASE_RUNNING || !g->frozen)
		return 0;
	limit = migration_time_limit(&g->limits, g->size);
	return limit == NEVER ? 0 : limit / 1000;
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
		if (time_limit(g, phase))
			cJSON_AddNumberToObject(one, "timeoutSeconds",
				(double)time_limit(g, phase));
		cJSON_AddItemToArray(list, one);
	}
}

/* ---- status.migrationState ------------------------------------------------------------------- */

/* As API clients see it, see LAUNCHER_PREFIX; owned by the caller. */
static char *pod_of(const struct migration *g)
{
	return xasprintf(LAUNCHER_PREFIX "%s-%.*s", g->vmi, LAUNCHER_SUFFIX_LEN, g->vmi_uid);
}

struct ends { /* of the way */
	const char *source, *target;
};

static struct ends ends_of(const struct migration *g, const char *node)
{
	return g->role == MIGRATION_SOURCE ? (struct ends){ node, g->peer }
					   : (struct ends){ g->peer, node };
}

/* The run, its pod and its domain are the same ones at both ends. */
static cJSON *add_end(cJSON *json, const char *key, const struct migration *g, const char *node)
{
	cJSON *end = cJSON_AddObjectToObject(json, key);
	autofree char *domain = xasprintf("%s_%s", g->meta.ns, g->vmi), *pod = pod_of(g);

	cJSON_AddStringToObject(end, "node", node);
	cJSON_AddStringToObject(end, "pod", pod);
	cJSON_AddStringToObject(end, "migrationUID", g->meta.uid);
	cJSON_AddStringToObject(end, "virtualMachineInstanceUID", g->vmi_uid);
	cJSON_AddStringToObject(end, "domainName", domain);
	cJSON_AddStringToObject(end, "domainNamespace", g->meta.ns);
	return end;
}

static void add_ends(cJSON *json, const struct migration *g, const struct ends *ends)
{
	autofree char *pod = pod_of(g);
	cJSON *target;

	cJSON_AddStringToObject(json, "sourceNode", ends->source);
	cJSON_AddStringToObject(json, "sourcePod", pod);
	add_end(json, "sourceState", g, ends->source);
	if (!*ends->target)
		return; /* none was found */
	cJSON_AddStringToObject(json, "targetNode", ends->target);
	cJSON_AddStringToObject(json, "targetPod", pod);
	target = add_end(json, "targetState", g, ends->target);
	if (g->address) {
		cJSON_AddStringToObject(json, "targetNodeAddress", g->address);
		cJSON_AddStringToObject(target, "nodeAddress", g->address);
	}
	if (!g->ready_wall)
		return;
	cJSON_AddTrueToObject(json, "targetNodeDomainDetected");
	add_time(json, "targetNodeDomainReadyTimestamp", g->ready_wall);
	cJSON_AddTrueToObject(target, "domainDetected");
	add_time(target, "domainReadyTimestamp", g->ready_wall);
}

static void add_end_reached(cJSON *json, const struct migration *g)
{
	bool failed = migration_end_of(g) && !g->succeeded;

	if (migration_end_of(g))
		cJSON_AddTrueToObject(json, "completed");
	if (failed)
		cJSON_AddTrueToObject(json, "failed");
	if (failed && g->reason)
		cJSON_AddStringToObject(json, "failureReason", g->reason);
	if (!g->cancelled)
		return;
	cJSON_AddTrueToObject(json, "abortRequested");
	cJSON_AddStringToObject(json, "abortStatus",
		!migration_end_of(g) ? "Aborting" : (failed ? "Succeeded" : "Failed"));
}

static const char *const modes[] = { "PreCopy", "PostCopy", "Paused" };

/* What it goes by. */
static void add_policy(cJSON *json, const struct migration *g)
{
	if (g->frozen)
		cJSON_AddItemToObject(json, "migrationConfiguration",
			migration_limits_json(&g->limits));
	if (g->policy)
		cJSON_AddStringToObject(json, "migrationPolicyName", g->policy);
}

/* One that waits for its turn has done nothing yet that could be said. */
void document_add_migration(cJSON *status, const struct migration *g, const char *node)
{
	struct ends ends = ends_of(g, node);
	cJSON *json;

	if (!g->phase_wall[MIGRATION_PHASE_SCHEDULING] && !migration_end_of(g))
		return;
	json = cJSON_AddObjectToObject(status, "migrationState");
	cJSON_AddStringToObject(json, "migrationUid", g->meta.uid);
	add_ends(json, g, &ends);
	cJSON_AddStringToObject(json, "mode", modes[g->mode]);
	add_policy(json, g);
	add_time(json, "startTimestamp", g->phase_wall[MIGRATION_PHASE_RUNNING]);
	add_time(json, "endTimestamp", migration_end_of(g));
	add_end_reached(json, g);
}

/* ---- conditions ------------------------------------------------------------------------------ */

static void add_condition(cJSON *status, const char *type, const char *reason, const char *text)
{
	cJSON *list = cJSON_GetObjectItemCaseSensitive(status, "conditions");
	cJSON *one = cJSON_CreateObject();

	cJSON_AddStringToObject(one, "type", type);
	cJSON_AddStringToObject(one, "status", "True");
	cJSON_AddStringToObject(one, "reason", reason);
	cJSON_AddStringToObject(one, "message", text);
	cJSON_AddItemToArray(list ? list : cJSON_AddArrayToObject(status, "conditions"), one);
}

struct phrase { /* around the peer's name */
	const char *before, *after;
};

static struct phrase doubt_of(const struct migration *g)
{
	static const struct phrase
		asks = { "",
			" may have taken it while this host was away: it is not "
			"started until that host has said" },
		gave = { "it was handed over to ",
			", which has not said that it has it: here it does not run any more" },
		sends = { "it runs at ",
			", as far as is known, and needs the memory that is still here; "
			"that host does not answer" },
		lost = { "the database of ",
			" is lost, and nobody else knows whether it may go "
			"on: it stands still" },
		waits = { "all of it is here, but whether it may go on only ",
			" can say: it stands still until then" };

	if (g->asks)
		return asks;
	if (g->state == MIGRATION_RELEASED)
		return g->post_copy ? sends : gave;
	return g->doubt ? lost : waits;
}

char *migration_doubt_words(const struct migration *g)
{
	struct phrase words = doubt_of(g);

	return xasprintf("%s'%s'%s. If that host will never come back: make sure that it is without power, "
			 "then say 'vmactl peer declare-dead %s --power-off-verified'",
		words.before, g->peer, words.after, g->peer);
}

static void add_doubt(cJSON *status, const struct migration *g)
{
	autofree char *text = NULL;

	if (!g->doubt_wall)
		return;
	text = migration_doubt_words(g);
	add_condition(status, "InDoubt", migration_state_name(g->state), text);
}

static void add_waiting(cJSON *status, const char *reason, const char *words, const char *trouble)
{
	autofree char *text = trouble ? xasprintf("%s: %s", words, trouble) : xstrdup(words);

	add_condition(status, "Waiting", reason, text);
}

/* To get ready, or to take it over. */
static bool awaits_target(const struct migration *g)
{
	return g->state == MIGRATION_IN || g->state == MIGRATION_COMPLETE ||
		(g->state == MIGRATION_OUT && !g->performing) ||
		(g->state == MIGRATION_RELEASED && !g->ended);
}

/* Why it has not begun, or does not go on. */
static void add_wait(cJSON *status, const struct migration *g)
{
	static const struct {
		const char *reason, *words;
	} waits[] = {
#define X(c, reason, words) { reason, words },
		MIGRATION_WAITS(X)
#undef X
	};

	if (g->waits && migration_phase_of(g) == MIGRATION_PHASE_PENDING)
		add_waiting(status, waits[g->waits].reason, waits[g->waits].words, g->trouble);
	else if (g->trouble && awaits_target(g))
		add_waiting(status, "TargetNotReady", "the target is not ready", g->trouble);
}

static void add_conditions(cJSON *status, const struct migration *g)
{
	if (g->cancelled)
		add_condition(status, "migrationAbortRequested", "Cancelled",
			"somebody wants it called off");
	add_wait(status, g);
	add_doubt(status, g);
}

/* While libvirt copies; KubeVirt has no words for it. */
static void add_progress(cJSON *status, const struct migration *g)
{
	const struct migration_progress *p = &g->progress;
	int64_t left = migration_seconds_left(p);
	cJSON *json;

	if (!p->total || (g->state != MIGRATION_OUT && g->state != MIGRATION_IN))
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

/* ---- the whole ------------------------------------------------------------------------------- */

static void add_spec(cJSON *root, const struct migration *g)
{
	if (g->spec)
		cJSON_AddRawToObject(root, "spec", g->spec);
	else
		cJSON_AddStringToObject(cJSON_AddObjectToObject(root, "spec"), "vmiName", g->vmi);
}

char *migration_document(const struct migration *g, const char *node)
{
	cJSON *root = cJSON_CreateObject(), *status;

	cJSON_AddStringToObject(root, "apiVersion", object_kind_api_version(KIND_MIGRATION));
	cJSON_AddStringToObject(root, "kind", object_kind_name(KIND_MIGRATION));
	add_metadata(root, g);
	add_spec(root, g);
	status = cJSON_AddObjectToObject(root, "status");
	cJSON_AddStringToObject(status, "phase", migration_phase_name(migration_phase_of(g)));
	add_phase_times(status, g);
	document_add_migration(status, g, node);
	add_conditions(status, g);
	add_progress(status, g);
	return json_take_text(root);
}
