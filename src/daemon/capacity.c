/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs ask of the host against what it has: a sum that follows each run as it takes and gives,
 * and the runs that wait for room, in the order in which they are let in. Higher priority classes
 * come first, then who asked first; who is too big for what is free is passed over, as in
 * Kubernetes. Nothing of it is stored: a run holds its share from before its files are made until
 * it is cleaned away.
 */
#include "core/capacity.h"
#include "core/placement.h"
#include "daemon/obstacles.h"

/* CPUs that are set aside are none of those that are shared: they are counted by shares.c. */
static struct room room_of(const struct agent *agent)
{
	struct room room = { allocatable_of(&agent->options->host, &agent->options->tuning),
		{ 0 } };

	if (room.allocatable.cpu)
		room.allocatable.cpu = MAX(room.allocatable.cpu - shares_dedicated(agent), 1);
	room.free.memory = room.allocatable.memory - agent->capacity.taken.memory;
	room.free.cpu = room.allocatable.cpu - agent->capacity.taken.cpu;
	return room;
}

/* Which of two that wait is let in first: below zero, a. */
static int compare(const struct machine *a, const struct machine *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	if (a->waits_since != b->waits_since)
		return a->waits_since < b->waits_since ? -1 : 1;
	return machine_by_name(a, b);
}

/* ---- taking, giving, waiting ----------------------------------------------------------------- */

static void take_room(struct agent *agent, struct machine *m)
{
	struct capacity *c = &agent->capacity;

	m->asks = requests_of(&m->vmi->typed, &agent->options->tuning);
	c->taken.memory += m->asks.memory;
	c->taken.cpu += m->asks.cpu;
	m->has_terms = placement_has_terms(&m->vmi->typed.placement);
	c->with_terms += m->has_terms;
	agent->freed |= c->company;
	c->company = false;
	m->holder_at = c->holders.n;
	*LIST_ADD(c->holders.list, c->holders.n, c->holders.cap) = m;
}

static void give_room(struct agent *agent, struct machine *m)
{
	struct capacity *c = &agent->capacity;
	struct machine *last = c->holders.list[--c->holders.n];

	c->taken.memory -= m->asks.memory;
	c->taken.cpu -= m->asks.cpu;
	c->with_terms -= m->has_terms;
	c->holders.list[m->holder_at] = last;
	last->holder_at = m->holder_at;
	agent->freed = true;
}

static void begin_wait(struct agent *agent, struct machine *m)
{
	m->asks = requests_of(&m->vmi->typed, &agent->options->tuning);
	m->waits_since = m->vmi->meta.created;
	m->priority = priority_of(agent, &m->vmi->typed);
	machine_list_add(&agent->capacity.waiting, m, compare);
}

/* Whoever was told to wait behind it looks again. */
static void end_wait(struct agent *agent, struct machine *m)
{
	machine_list_remove(&agent->capacity.waiting, m, compare);
	agent->freed = true;
}

/* Who was let in keeps it while a failed preparation is tried again. */
static bool holds(const struct machine *m)
{
	return m->holds_disks ||
		(m->vmi && m->vmi->obstacle == OBSTACLE_SYNC && m->vmi->phase == PHASE_SCHEDULING);
}

static bool waits(const struct machine *m)
{
	return m->vmi && m->vmi->obstacle == OBSTACLE_NO_ROOM &&
		m->vmi->phase == PHASE_SCHEDULING && !vmi_is_stopping(m->vmi);
}

void capacity_update(struct agent *agent, struct machine *m)
{
	enum room_state now = holds(m) ? ROOM_HELD : waits(m) ? ROOM_WAITING : ROOM_NONE;

	if (m->vmi && m->vmi->obstacle == OBSTACLE_UNSCHEDULABLE)
		agent->capacity.company |= placement_has_terms(&m->vmi->typed.placement);
	if (m->room == now)
		return;
	if (m->room == ROOM_HELD)
		give_room(agent, m);
	if (m->room == ROOM_WAITING)
		end_wait(agent, m);
	if (now == ROOM_HELD)
		take_room(agent, m);
	if (now == ROOM_WAITING)
		begin_wait(agent, m);
	m->room = now;
}

/* ---- who is let in --------------------------------------------------------------------------- */

static void serve(struct room *room, const struct resources *need)
{
	room->free.memory -= need->memory;
	room->free.cpu -= need->cpu;
}

/* The last of those before m that are let in first; NULL: none. What they need is off room then. */
static const struct machine *serve_before(const struct agent *agent, const struct machine *m,
	struct room *room)
{
	const struct machine_list *waiting = &agent->capacity.waiting;
	const struct machine *last = NULL;

	for (size_t i = 0; i < waiting->n && compare(waiting->list[i], m) < 0; i++) {
		if (!room_fits(room, &waiting->list[i]->asks))
			continue;
		last = waiting->list[i];
		serve(room, &last->asks);
	}
	return last;
}

struct candidate {
	const struct machine *m;
	bool helps; /* its end is enough */
};

/* The smallest whose end is enough, else the largest; of equals the first by name. */
static bool is_better(const struct candidate *a, const struct candidate *b)
{
	int64_t more = a->m->asks.memory - b->m->asks.memory;

	if (a->helps != b->helps)
		return a->helps;
	if (more)
		return a->helps == (more < 0);
	return machine_compare(a->m, b->m->ns, b->m->name) < 0;
}

static const struct machine *whom_to_stop(const struct agent *agent, const struct resources *need)
{
	const struct machine_list *holders = &agent->capacity.holders;
	const struct room room = room_of(agent);
	struct candidate best = { 0 };

	for (size_t i = 0; i < holders->n; i++) {
		struct candidate one = { .m = holders->list[i] };
		struct room without = room;

		without.free.memory += one.m->asks.memory;
		without.free.cpu += one.m->asks.cpu;
		one.helps = room_fits(&without, need);
		if (!best.m || is_better(&one, &best))
			best = one;
	}
	return best.m;
}

static char *words_of(const struct agent *agent, const struct resources *need,
	const struct machine *first)
{
	struct room room = room_of(agent);
	const struct machine *holder = whom_to_stop(agent, need);
	autofree char *name = holder ? xasprintf("%s/%s", holder->ns, holder->name) : NULL;
	autofree char *lack = NULL;

	if (room_fits(&room, need))
		return xasprintf("0/1 nodes are available: '%s/%s' is let in first", first->ns,
			first->name);
	lack = room_words(&room, need, name);
	return xasprintf("0/1 nodes are available: %s", lack);
}

enum obstacle capacity_obstacle(const struct agent *agent, const struct machine *m,
	char **ret_words)
{
	struct machine asking = { .ns = m->ns, .name = m->name };
	struct room room = room_of(agent);
	const struct machine *first;

	asking.asks = requests_of(&m->vmi->typed, &agent->options->tuning);
	asking.waits_since = m->vmi->meta.created;
	asking.priority = m->room == ROOM_WAITING ? m->priority
						  : priority_of(agent, &m->vmi->typed);
	if (m->room == ROOM_HELD)
		return OBSTACLE_NONE;
	first = serve_before(agent, &asking, &room);
	if (room_fits(&room, &asking.asks))
		return OBSTACLE_NONE;
	*ret_words = words_of(agent, &asking.asks, first);
	return OBSTACLE_NO_ROOM;
}

static int compare_places(const void *a, const void *b)
{
	return compare(*(struct machine *const *)a, *(struct machine *const *)b);
}

void capacity_reorder(struct agent *agent)
{
	struct machine_list *waiting = &agent->capacity.waiting;

	for (size_t i = 0; i < waiting->n; i++)
		waiting->list[i]->priority = priority_of(agent, &waiting->list[i]->vmi->typed);
	if (waiting->n)
		qsort(waiting->list, waiting->n, sizeof(struct machine *), compare_places);
}

/* Who does not fit is not asked again: it would only say the same. */
void capacity_call(struct agent *agent)
{
	struct room room = room_of(agent);

	for (size_t i = 0; i < agent->capacity.waiting.n; i++) {
		struct machine *m = agent->capacity.waiting.list[i];

		if (!room_fits(&room, &m->asks))
			continue;
		serve(&room, &m->asks);
		m->vmi->retry_at = 0;
		agent_mark(agent, m);
	}
}

int64_t capacity_free(const struct agent *agent)
{
	struct room room = room_of(agent);

	if (!room.allocatable.memory)
		return agent->options->capacity.memory;
	return MAX(room.free.memory, 0);
}

void capacity_done(struct capacity *capacity)
{
	machine_list_done(&capacity->holders);
	machine_list_done(&capacity->waiting);
}
