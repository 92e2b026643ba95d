/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A migration's states: which may follow which, and what each of them means for the machine and for
 * whoever looks. What is to be done next stands in migration_source.c and migration_target.c.
 */
#include "core/migration_private.h"

#include <assert.h>

#include "core/enum.h"
#include "core/phase.h"
#include "core/printable.h"

ENUM_DEFINE(migration_role, MIGRATION, MIGRATION_ROLES)
ENUM_DEFINE(migration_state, MIGRATION, MIGRATION_STATES)
ENUM_DEFINE(migration_phase, MIGRATION_PHASE, MIGRATION_PHASES)

const char *migration_step_name(enum migration_step step)
{
	static const char *const names[] = {
#define X(c, name, op) [MIGRATION_STEP_##c] = name,
		MIGRATION_STEPS(X)
#undef X
	};

	return names[step];
}

enum op_kind migration_step_op(enum migration_step step)
{
	static const enum op_kind ops[] = {
#define X(c, name, op) [MIGRATION_STEP_##c] = OP_##op,
		MIGRATION_STEPS(X)
#undef X
	};

	return ops[step];
}

void migration_free(struct migration *g)
{
	if (!g)
		return;
	object_meta_done(&g->meta);
	free(g->spec);
	free(g->vmi);
	free(g->peer);
	free(g->reason);
	free(g->document);
	free(g->commit);
	free(g->nvram);
	free(g->offer);
	free(g->refusal);
	free(g->trouble);
	free(g->policy);
	free(g->address);
	free(g);
}

/* ---- states ---------------------------------------------------------------------------------- */

/* clang-format off */
static const bool transitions[MIGRATION_STATE_MAX][MIGRATION_STATE_MAX] = {
	/* from \ to               Pend Out Rel In Comp Own Abort Done */
	[MIGRATION_PENDING]    = { 0,   1,  0,  0, 0,   0,  0,    1 },
	[MIGRATION_OUT]        = { 0,   0,  1,  0, 0,   0,  1,    0 },
	[MIGRATION_RELEASED]   = { 0,   0,  0,  0, 0,   0,  1,    1 }, /* ABORTED: its target is declared dead */
	[MIGRATION_IN]         = { 0,   0,  0,  0, 1,   1,  1,    0 },
	[MIGRATION_COMPLETE]   = { 0,   0,  0,  0, 0,   1,  1,    0 },
	[MIGRATION_OWNER]      = { 0,   0,  0,  0, 0,   0,  0,    1 },
	[MIGRATION_ABORTED]    = { 0,   0,  0,  0, 0,   0,  0,    1 },
	[MIGRATION_DONE]       = { 0,   0,  0,  0, 0,   0,  0,    0 },
};
/* clang-format on */
_Static_assert(MIGRATION_STATE_MAX == 8, "the columns are in the order of MIGRATION_STATES");

bool migration_state_may_become(enum migration_state from, enum migration_state to)
{
	return from < MIGRATION_STATE_MAX && to < MIGRATION_STATE_MAX && transitions[from][to];
}

void migration_set_state(struct migration *g, enum migration_state state)
{
	assert(migration_state_may_become(g->state, state));
	g->state = state;
	/* One that is done is kept for long, the key to its streams is not. */
	if (state == MIGRATION_DONE) {
		free(take(&g->document));
		free(take(&g->commit));
		free(take(&g->nvram));
		free(take(&g->offer));
	}
	g->say_at = 0; /* news */
	g->changed = true;
}

/* ---- what they mean -------------------------------------------------------------------------- */

static enum migration_phase out_phase(const struct migration *g)
{
	if (g->performing)
		return MIGRATION_PHASE_RUNNING;
	if (g->waits == MIGRATION_WAITS_FOR_ROOM)
		return MIGRATION_PHASE_PENDING;
	if (g->prepared)
		return MIGRATION_PHASE_TARGET_READY;
	return g->admitted ? MIGRATION_PHASE_PREPARING_TARGET : MIGRATION_PHASE_SCHEDULING;
}

/* What it was told once holds. */
static enum migration_phase in_phase(const struct migration *g)
{
	if (g->copying || g->phase_wall[MIGRATION_PHASE_RUNNING])
		return MIGRATION_PHASE_RUNNING;
	return g->prepared ? MIGRATION_PHASE_TARGET_READY : MIGRATION_PHASE_PREPARING_TARGET;
}

enum migration_phase migration_phase_of(const struct migration *g)
{
	switch (g->state) {
	case MIGRATION_PENDING:
		return MIGRATION_PHASE_PENDING;
	case MIGRATION_OUT:
		return out_phase(g);
	case MIGRATION_IN:
		return in_phase(g);
	case MIGRATION_RELEASED:
	case MIGRATION_COMPLETE:
	case MIGRATION_OWNER:
		return MIGRATION_PHASE_RUNNING;
	case MIGRATION_ABORTED:
		return MIGRATION_PHASE_FAILED;
	case MIGRATION_DONE:
		return g->succeeded ? MIGRATION_PHASE_SUCCEEDED : MIGRATION_PHASE_FAILED;
	case MIGRATION_STATE_MAX:
		break;
	}
	return MIGRATION_PHASE_PENDING;
}

bool migration_note_trouble(struct migration *g, const char *words)
{
	char shown[PEER_WHY_SIZE];

	copy_printable(shown, sizeof(shown), words ? words : "");
	if (streq(shown, g->trouble ? g->trouble : ""))
		return false;
	replace_str(&g->trouble, *shown ? shown : NULL);
	g->changed = true;
	return true;
}

/* Until when what the target last said of it is believed; 0: it has said nothing. */
static msec owned_until(const struct migration *g)
{
	return g->owned_at ? g->owned_at + SECONDS(MIGRATION_DOUBT_S) : 0;
}

void migration_note_doubt(struct migration *g, struct now now)
{
	if (!migration_in_doubt(g) || now.boot < owned_until(g)) {
		g->doubt_wall = g->doubt_at = 0;
		g->doubt_told = false;
		return;
	}
	if (!g->doubt_wall)
		g->doubt_wall = now.wall;
	if (!g->doubt_at)
		g->doubt_at = now.boot;
}

/* Those on the way were passed as well; what is lost with the agent's life is no way back. */
bool migration_note_phase(struct migration *g, struct now now)
{
	enum migration_phase phase = migration_phase_of(g);
	msec wall = now.wall;

	if (g->phase_wall[phase])
		return false;
	for (unsigned p = 0; p < phase; p++)
		wall = MAX(wall, g->phase_wall[p]);
	g->phase_wall[phase] = g->told_wall[phase] ? g->told_wall[phase] : wall;
	for (unsigned p = 0; p < phase && phase <= MIGRATION_PHASE_RUNNING; p++) {
		if (!g->phase_wall[p])
			g->phase_wall[p] = g->phase_wall[phase];
	}
	return true;
}

msec migration_end_of(const struct migration *g)
{
	return MAX(g->phase_wall[MIGRATION_PHASE_SUCCEEDED], g->phase_wall[MIGRATION_PHASE_FAILED]);
}

bool migration_is_over(const struct migration *g)
{
	return g->state == MIGRATION_DONE && g->acked;
}

bool migration_is_under_way(const struct migration *g)
{
	bool settled = g->restored || !g->performing;

	if (g->state == MIGRATION_PENDING || g->state == MIGRATION_DONE)
		return false;
	return g->role == MIGRATION_TARGET || g->state != MIGRATION_ABORTED || !settled;
}

/* Of a source the peer has what it copied, of a target its word that the guest goes on
 * is not there yet. */
bool migration_may_be_lost(const struct migration *g)
{
	if (g->acked || g->taken)
		return false;
	if (g->role == MIGRATION_SOURCE)
		return g->performing &&
			(g->state == MIGRATION_OUT || g->state == MIGRATION_ABORTED);
	return g->state == MIGRATION_OWNER || (g->state == MIGRATION_DONE && g->moved);
}

static bool is_asking(const struct migration *g)
{
	return g->asks && migration_may_be_lost(g) && g->state != MIGRATION_OUT;
}

bool migration_holds(const struct migration *g)
{
	if (is_asking(g))
		return true;
	switch (g->state) {
	case MIGRATION_OUT:
		return g->performing;
	case MIGRATION_ABORTED:
		return g->role == MIGRATION_SOURCE && g->performing && !g->restored;
	case MIGRATION_RELEASED:
	case MIGRATION_IN:
	case MIGRATION_COMPLETE:
	case MIGRATION_OWNER:
		return true;
	case MIGRATION_PENDING:
	case MIGRATION_DONE:
	case MIGRATION_STATE_MAX:
		break;
	}
	return false;
}

/* Post-copy sends the most of it after the hand-over. The source's libvirtd waits for the target's
 * answer while the target has all of the guest. */
bool migration_needs_relay(const struct migration *g)
{
	bool late = g->state == MIGRATION_RELEASED || g->state == MIGRATION_OWNER;

	return g->state == MIGRATION_OUT || g->state == MIGRATION_IN ||
		g->state == MIGRATION_COMPLETE || (late && (g->post_copy || g->held));
}

/* Until RELEASED the source takes orders, and they travel. */
bool migration_refuses(const struct migration *g, struct err *err)
{
	bool left = g->state == MIGRATION_RELEASED || g->lost ||
		(g->role == MIGRATION_SOURCE && g->moved);

	if (left)
		err_set(err, ERR_CONFLICT, "it has moved to '%s': give the order there", g->peer);
	else if (is_asking(g))
		err_set(err, ERR_CONFLICT, "'%s' may have it, and is asked first", g->peer);
	else if (migration_holds(g) && g->role == MIGRATION_TARGET)
		err_set(err, ERR_CONFLICT, "it is on its way here from '%s': %s", g->peer,
			g->state != MIGRATION_OWNER ? "give the order there"
				: g->post_copy ? "try again when the rest of its memory is here"
					       : "try again in a moment");
	else
		return false;
	return true;
}

bool migration_in_doubt(const struct migration *g)
{
	return g->state == MIGRATION_RELEASED || g->state == MIGRATION_COMPLETE ||
		(g->state == MIGRATION_IN && g->doubt) || is_asking(g);
}

/* ---- what both deciders share ---------------------------------------------------------------- */

bool plan_migration(struct migration_plan *plan, enum migration_step step, const char *reason)
{
	plan->step = step;
	plan->reason = reason;
	return true;
}

bool migration_wake(struct migration_plan *plan, msec at)
{
	plan->wake_at = MIN(plan->wake_at, at);
	return false;
}

bool migration_say(const struct migration_view *v, enum handover_kind kind,
	struct migration_plan *plan)
{
	if (!v->peer_up)
		return false;
	if (kind == v->g->said && v->now.boot < v->g->say_at)
		return migration_wake(plan, v->g->say_at);
	plan->say = kind;
	return plan_migration(plan, MIGRATION_STEP_SAY, NULL);
}

bool migration_tell_doubt(const struct migration_view *v, struct migration_plan *plan)
{
	const struct migration *g = v->g;
	msec at = g->doubt_at + SECONDS(MIGRATION_DOUBT_S);

	if (migration_in_doubt(g) && v->now.boot < owned_until(g))
		return migration_wake(plan, owned_until(g));
	if (!g->doubt_at || g->doubt_told || !migration_in_doubt(g))
		return false;
	if (v->now.boot < at)
		return migration_wake(plan, at);
	return plan_migration(plan, MIGRATION_STEP_TELL_DOUBT, NULL);
}

bool migration_look(const struct migration_view *v, struct migration_plan *plan)
{
	if (!v->connected || v->m->dom.look_again || v->m->dom.reading)
		return false;
	if (v->now.boot < v->g->look_at)
		return migration_wake(plan, v->g->look_at);
	return plan_migration(plan, MIGRATION_STEP_LOOK, NULL);
}

bool migration_knows(const struct migration_view *v)
{
	const struct domain *dom = &v->m->dom;

	return v->connected && dom->state != DOMAIN_UNKNOWN && dom->agreed >= READS_TO_AGREE &&
		!dom->look_again && !dom->reading;
}

bool migration_is_broken(const struct migration_view *v)
{
	return v->g->post_copy && domain_is_alive(machine_domain_state(v->m)) &&
		v->m->dom.reason == REASON_POSTCOPY_FAILED;
}

bool migration_is_spent(const struct migration *g, const struct machine *m, struct now now)
{
	bool late = g->broke_at && now.boot >= g->broke_at + SECONDS(MIGRATION_RECOVER_S);

	return g->role == MIGRATION_SOURCE && g->state == MIGRATION_RELEASED && g->post_copy &&
		m->dom.state != DOMAIN_UNKNOWN && m->dom.agreed >= READS_TO_AGREE &&
		(late || !domain_is_alive(machine_domain_state(m)));
}

bool migration_may_act(const struct migration_view *v, enum op_lane lane,
	struct migration_plan *plan)
{
	if (v->m->ops[lane].kind != OP_NONE)
		return false;
	if (v->now.boot < v->m->vmi->retry_at)
		return migration_wake(plan, v->m->vmi->retry_at);
	return true;
}

bool migration_announce(const struct migration_view *v, struct migration_plan *plan)
{
	enum domain_reason reason = v->m->dom.reason;
	bool whole = domain_is_alive(machine_domain_state(v->m)) && reason != REASON_POSTCOPY &&
		reason != REASON_POSTCOPY_FAILED;

	if (v->m->ops[LANE_GUEST].kind == OP_MIGRATE_ANNOUNCE)
		return true;
	if (v->g->announced || !whole || vmi_is_stopping(v->m->vmi) ||
		!v->m->vmi->typed.n_interfaces)
		return false;
	if (migration_may_act(v, LANE_GUEST, plan))
		plan_migration(plan, MIGRATION_STEP_ANNOUNCE, NULL);
	return true;
}

struct migration_plan migration_decide(const struct migration_view *v)
{
	struct migration_plan plan = { .wake_at = NEVER };

	if (v->g->role == MIGRATION_SOURCE)
		migration_decide_source(v, &plan);
	else
		migration_decide_target(v, &plan);
	return plan;
}
