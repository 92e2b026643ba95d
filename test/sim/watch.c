/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariants of design §6, asserted from outside: against what is stored, not against
 * what the agent thinks. Called at each commit, each QEMU that starts, and whenever the agent
 * says that it is done; watch_ops.c is called at each op that leaves, watch_migrations.c
 * knows the rules of migrations.
 */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>

#include "core/phase.h"
#include "daemon/obstacles.h"
#include "watch.h"

/* ---- the VMIs that ever were ----------------------------------------------------------------- */

static struct tracked *track(struct world *w, const char *uid)
{
	struct watch *watch = &w->watch;

	for (size_t i = 0; i < watch->n_vmis; i++) {
		if (streq(watch->vmis[i].uid, uid))
			return &watch->vmis[i];
	}
	if (watch->n_vmis == TRACKED_MAX) {
		world_fail(w, "the simulation has no room for another VMI");
		return &watch->vmis[0];
	}

	struct tracked *new = &watch->vmis[watch->n_vmis++];

	*new = (struct tracked){ .phase = PHASE_UNSET };
	copy_str(new->uid, UID_SIZE, uid);
	return new;
}

static bool has(const cJSON *json, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(json, key) != NULL;
}

struct stored watch_stored(const struct object_row *row)
{
	cJSON *json = cJSON_Parse(row->state ? row->state : "");
	const cJSON *phase = cJSON_GetObjectItemCaseSensitive(json, "phase");
	const cJSON *pause = cJSON_GetObjectItemCaseSensitive(json, "pause");
	struct stored stored = { .there = json != NULL,
		.phase = phase ? (enum phase)phase->valueint : PHASE_UNSET,
		.stopping = has(json, "deleted") || has(json, "hostShutdown") ||
			has(json, "unhealthy"),
		.signalled = has(json, "signalFirst"),
		.killed = has(json, "killed"),
		.pause = pause ? (enum pause)pause->valueint : PAUSE_AS_IS,
		.act = has(json, "act"),
		.tried = has(json, "ioLast"),
		.ended = has(json, "stopped") || has(json, "guestShutdown"),
		.claim = has(json, "claim"),
		.words = has(json, "words") };

	copy_str(stored.uid, UID_SIZE, row->uid);
	cJSON_Delete(json);
	return stored;
}

static int follow_phase(void *ctx, const struct object_row *row)
{
	struct world *w = ctx;
	struct tracked *seen = track(w, row->uid);
	struct stored stored = watch_stored(row);
	enum phase phase = stored.phase;

	if (phase == PHASE_WAITING_FOR_SYNC && phase_is_final(seen->phase))
		*seen = (struct tracked){ .phase = PHASE_UNSET }; /* it was here before */
	copy_str(seen->uid, UID_SIZE, row->uid);
	if (phase != seen->phase && !phase_may_become(seen->phase, phase))
		world_fail(w, "%s: phase %s became %s", row->name, phase_name(seen->phase),
			phase_name(phase));
	seen->phase = phase;
	seen->ended = stored.ended;
	return 0;
}

/* The name's number is the annotation's, and it is the next one. After a lost
 * database it only rises. */
static void number_event(struct world *w, const struct change_row *row)
{
	struct watch *watch = &w->watch;
	cJSON *root = cJSON_Parse(row->object);
	const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(root, "metadata");
	const cJSON *notes = cJSON_GetObjectItemCaseSensitive(metadata, "annotations");
	const char *text =
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(notes, "vmagent.io/seq"));
	const char *dot = strrchr(row->name, '.');
	int64_t seq = text ? strtoll(text, NULL, 10) : 0;

	if (!dot || strtoll(dot + 1, NULL, 16) != seq)
		world_fail(w, "event %s says that its number is %" PRId64, row->name, seq);
	if (watch->recount ? seq <= watch->seq : seq != watch->seq + 1)
		world_fail(w, "event %" PRId64 " follows on %" PRId64, seq, watch->seq);
	watch->seq = seq;
	watch->recount = false;
	cJSON_Delete(root);
}

/* Old ones go, and those of a namespace with it. */
static int follow_event(void *ctx, const struct change_row *row)
{
	if (!streq(row->type, "DELETED"))
		number_event(ctx, row);
	return 0;
}

static void follow_events(struct world *w, int64_t rv)
{
	struct change_query query = { .kind = KIND_EVENT, .since = w->watch.rv, .limit = -1 };
	struct err err;

	if (store_changes(w->store, &query, follow_event, w, &err) < 0)
		world_fail(w, "%s", err.msg);
	w->watch.rv = rv;
}

void watch_commit(struct world *w, int64_t rv)
{
	struct object_query query = { .kind = KIND_VMI };

	store_each(w->store, &query, follow_phase, w, NULL);
	follow_events(w, rv);
}

/* A run that was over is found again, if its definition is there still: nobody
 * knows that it was. */
void watch_database_lost(struct world *w, int64_t rv)
{
	for (size_t i = 0; i < w->watch.n_vmis; i++)
		if (phase_is_final(w->watch.vmis[i].phase))
			w->watch.vmis[i].phase = PHASE_UNSET;
	w->watch.rv = rv;
	w->watch.recount = true;
}

/* ---- what an admin stopped ------------------------------------------------------------------- */

static void stop_at_host(struct world *w, const char *name, bool stopped)
{
	struct watch *watch = &w->watch;
	size_t kept = 0;

	for (size_t i = 0; i < watch->n_stopped; i++) {
		if (!streq(watch->stopped[i], name))
			memmove(watch->stopped[kept++], watch->stopped[i],
				sizeof(watch->stopped[0]));
	}
	watch->n_stopped = kept;
	if (stopped && kept < MARKS_MAX)
		copy_str(watch->stopped[watch->n_stopped++], sizeof(watch->stopped[0]), name);
}

/* A machine may move meanwhile. */
void watch_stop(struct world *w, const char *name, bool stopped)
{
	struct world *host;

	for (unsigned i = 0; (host = world_host(w, i)); i++)
		stop_at_host(host, name, stopped);
}

bool watch_is_stopped(const struct world *w, const char *name)
{
	for (size_t i = 0; i < w->watch.n_stopped; i++) {
		if (streq(w->watch.stopped[i], name))
			return true;
	}
	return false;
}

/* ---- QEMUs ----------------------------------------------------------------------------------- */

static void check_disk(struct world *w, const struct fake_domain *dom)
{
	for (size_t i = 0; i < DOMAINS_MAX && dom->disk[0]; i++) {
		const struct fake_domain *other = &w->fake.domains[i];

		if (other != dom && other->exists && other->active &&
			streq(other->disk, dom->disk) && !(other->shares && dom->shares))
			world_fail(w, "%s and %s write to the same disk", dom->name, other->name);
	}
}

void watch_boot(struct world *w, const struct fake_domain *dom, const char *vmi_uid)
{
	struct tracked *seen = track(w, vmi_uid);

	if (phase_is_final(seen->phase))
		world_fail(w, "the final VMI of %s runs again", dom->name);
	/* That a start came about, and its guest is gone, nobody knows who was not told. */
	if (seen->started && (seen->phase != PHASE_SCHEDULED || seen->ended))
		world_fail(w, "a second QEMU for the same VMI of %s", dom->name);
	seen->started = true;
	check_disk(w, dom);
}

/* ---- rest ------------------------------------------------------------------------------------ */

/* Nothing is dirty: then no machine may have a step to make. */
void watch_quiet(struct world *w)
{
	const struct agent *agent = w->agent;
	struct host_facts host = { .now = world_now(w),
		.tuning = &w->options.tuning,
		.connected = agent->connected,
		.hold = agent->rebuilding || agent->hostdown.active,
		.going_down = agent->hostdown.active,
		.settled = agent_is_settled(agent) };

	for (size_t i = 0; i < agent->machines.n && !agent->uncommitted; i++) {
		const struct machine *m = agent->machines.list[i];
		autofree char *words = NULL;
		struct plan plan;

		host.obstacle = obstacles_find(agent, m, &words);
		host.obstacle_words = words;
		plan = machine_decide(m, &host);

		if (plan.step != STEP_NONE)
			world_fail(w, "%s: nothing new, and still it plans to %s", m->name,
				step_name(plan.step));
		if (plan.wants_slot != (m->slot != SLOT_NONE))
			world_fail(w, "%s: the books of starts do not say what it wants", m->name);
		if (agent->hostdown.active && plan.may_live != m->in_shutdown)
			world_fail(w, "%s: the host's books do not say whether it runs", m->name);
	}
	watch_quiet_migrations(w);
}

void watch_end(struct world *w)
{
	autofree char *stored = store_get_value(w->store, "event_seq");
	int64_t seq = stored ? strtoll(stored, NULL, 10) : 0;

	follow_events(w, store_current_rv(w->store));
	if (seq != w->watch.seq && !w->watch.recount)
		world_fail(w, "the last event is %" PRId64 ", but stored is %" PRId64, w->watch.seq,
			seq);
	if (w->agent && !agent_is_healthy(w->agent, &(struct err){ 0 }))
		world_fail(w, "the agent ends unhealthy");
}
