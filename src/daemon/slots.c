/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sorted lists of machines: those that wait for a slot, and those of the boot round that others
 * wait for. Each changes only with the machine that was just decided about.
 */
#include "daemon/slots.h"

#include "core/phase.h"

/* ---- slots ----------------------------------------------------------------------------------- */

static void wait_for_slot(struct slots *s, struct machine *m)
{
	m->slot = SLOT_WAITING;
	order_list_add(&s->waiting, m);
}

static void give_back(struct slots *s, struct machine *m)
{
	if (m->slot == SLOT_WAITING)
		order_list_remove(&s->waiting, m);
	if (m->slot == SLOT_HELD)
		s->held--;
	m->slot = SLOT_NONE;
}

/* What has begun goes on before anything else begins. */
static bool has_begun(const struct machine *m)
{
	return m->vmi && !phase_is_unprocessed(m->vmi->phase);
}

static bool is_next(const struct slots *s, const struct machine *m)
{
	if (s->round == ROUND_AHEAD)
		return false;
	return !m->in_round || m->start.order <= s->members.list[0]->start.order;
}

struct machine *slots_next(struct slots *s, unsigned max)
{
	struct machine *next = NULL;

	if (s->held >= max)
		return NULL;
	for (size_t i = 0; i < s->waiting.n; i++) {
		struct machine *m = s->waiting.list[i];

		if (is_next(s, m) && (!next || (has_begun(m) && !has_begun(next))))
			next = m;
	}
	if (!next)
		return NULL;
	order_list_remove(&s->waiting, next);
	next->slot = SLOT_HELD;
	s->held++;
	return next;
}

/* ---- the round after a boot ------------------------------------------------------------------ */

void slots_open_round(struct slots *s, struct machines *machines)
{
	for (size_t i = 0; i < machines->n; i++) {
		struct machine *m = machines->list[i];

		m->in_round = true;
		order_list_add(&s->members, m);
		m->passes = 0;
		machines_mark(machines, m);
	}
	s->round = ROUND_OPEN;
}

bool slots_close_round(struct slots *s)
{
	if (s->round != ROUND_OPEN || s->members.n)
		return false;
	s->round = ROUND_NONE;
	return true;
}

static void leave_round(struct slots *s, struct machine *m)
{
	order_list_remove(&s->members, m);
	m->in_round = false;
}

/* How long higher orders wait for one that runs. */
static msec delay_left(const struct machine *m, struct now now)
{
	msec delay = SECONDS(m->start.delay_s);

	if (!m->vmi || m->vmi->phase != PHASE_RUNNING || !m->vmi->running_at)
		return 0;
	return m->vmi->running_at + delay - now.boot;
}

static msec follow_round(struct slots *s, struct machine *m, const struct plan *plan,
	struct now now)
{
	msec left = delay_left(m, now);

	if (!m->in_round || plan->is_coming)
		return NEVER;
	if (left > 0)
		return now.boot + left;
	leave_round(s, m);
	return NEVER;
}

/* ---- news of a machine ----------------------------------------------------------------------- */

msec slots_follow(struct slots *s, struct machine *m, const struct plan *plan, struct now now)
{
	if (!plan->wants_slot)
		give_back(s, m);
	else if (m->slot == SLOT_NONE)
		wait_for_slot(s, m);
	return follow_round(s, m, plan, now);
}

void slots_forget(struct slots *s, struct machine *m)
{
	give_back(s, m);
	if (m->in_round)
		leave_round(s, m);
}

void slots_done(struct slots *s)
{
	machine_list_done(&s->waiting);
	machine_list_done(&s->members);
}
