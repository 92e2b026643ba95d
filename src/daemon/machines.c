/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four views on the same machines: a sorted table that owns them, the index of the UUIDs that they
 * claim, the queue of dirty ones, and a binary heap of those that want to be woken. It knows
 * nothing of what machines are for.
 */
#include "daemon/machines.h"

#include <string.h>

static void grow(struct machine ***list, size_t n, size_t *cap)
{
	if (n < *cap)
		return;
	*cap = *cap ? *cap * 2 : 16;
	*list = xrealloc_array(*list, *cap, sizeof(**list));
}

/* The place of ns/name, or where it would be. */
static size_t machines_place(const struct machines *ms, const char *ns, const char *name)
{
	size_t low = 0, high = ms->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (machine_compare(ms->list[middle], ns, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct machine *machines_find(const struct machines *ms, const char *ns, const char *name)
{
	size_t at = machines_place(ms, ns, name);

	return at < ms->n && machine_compare(ms->list[at], ns, name) == 0 ? ms->list[at] : NULL;
}

struct machine *machines_find_domain(const struct machines *ms, const char *domain)
{
	char ns[LABEL_MAX_LEN + 1], name[NAME_MAX_LEN + 1];

	return domain_name_split(domain, ns, name) ? machines_find(ms, ns, name) : NULL;
}

struct machine *machines_get(struct machines *ms, const char *ns, const char *name)
{
	struct machine *found = machines_find(ms, ns, name);
	size_t at;

	if (found)
		return found;
	at = machines_place(ms, ns, name);
	grow(&ms->list, ms->n, &ms->cap);
	memmove(&ms->list[at + 1], &ms->list[at], (ms->n - at) * sizeof(*ms->list));
	ms->n++;
	return ms->list[at] = machine_new(ns, name);
}

/* ---- the index of UUIDs ---------------------------------------------------------------------- */

/* The first entry of that UUID, or where it would be. Two may claim the same one: requests are
 * refused that would have it so, but a database may hold it from before. */
static size_t index_place(const struct machines *ms, const char *uuid)
{
	size_t low = 0, high = ms->n_index;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(ms->index[middle].uuid, uuid) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool index_has(const struct machines *ms, size_t at, const char *uuid)
{
	return at < ms->n_index && streq(ms->index[at].uuid, uuid);
}

static void index_remove(struct machines *ms, struct machine *m, const char *uuid)
{
	size_t at = index_place(ms, uuid);

	while (index_has(ms, at, uuid) && ms->index[at].m != m)
		at++;
	if (!index_has(ms, at, uuid))
		return;
	ms->n_index--;
	memmove(&ms->index[at], &ms->index[at + 1], (ms->n_index - at) * sizeof(*ms->index));
}

static void index_add(struct machines *ms, struct machine *m, const char *uuid)
{
	size_t at = index_place(ms, uuid);

	if (ms->n_index == ms->cap_index) {
		ms->cap_index = ms->cap_index ? ms->cap_index * 2 : 16;
		ms->index = xrealloc_array(ms->index, ms->cap_index, sizeof(*ms->index));
	}
	memmove(&ms->index[at + 1], &ms->index[at], (ms->n_index - at) * sizeof(*ms->index));
	ms->n_index++;
	copy_str(ms->index[at].uuid, UID_SIZE, uuid);
	ms->index[at].m = m;
}

static void index_change(struct machines *ms, struct machine *m, char was[UID_SIZE],
	const char *now)
{
	if (streq(was, now))
		return;
	if (*was)
		index_remove(ms, m, was);
	if (*now)
		index_add(ms, m, now);
	copy_str(was, UID_SIZE, now);
}

static void index_update(struct machines *ms, struct machine *m)
{
	index_change(ms, m, m->uuids[0], m->vmi ? m->vmi->typed.uuid : "");
	index_change(ms, m, m->uuids[1], m->vm ? m->vm->uuid : "");
}

struct machine *machines_find_run(const struct machines *ms, const char *uuid)
{
	for (size_t at = index_place(ms, uuid); index_has(ms, at, uuid); at++) {
		struct machine *m = ms->index[at].m;

		if (m->vmi && streq(m->vmi->typed.uuid, uuid))
			return m;
	}
	return NULL;
}

struct machine *machines_find_claim(const struct machines *ms, const char *uuid,
	const struct machine *but)
{
	for (size_t at = index_place(ms, uuid); index_has(ms, at, uuid); at++) {
		if (ms->index[at].m != but)
			return ms->index[at].m;
	}
	return NULL;
}

/* ---- adding, marking, removing --------------------------------------------------------------- */

static void queue_remove(struct machines *ms, struct machine *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < ms->n_queue; i++) {
		if (ms->queue[i] != m)
			ms->queue[kept++] = ms->queue[i];
	}
	ms->n_queue = kept;
}

void machines_remove(struct machines *ms, struct machine *m)
{
	size_t at = machines_place(ms, m->ns, m->name);

	machines_wake_at(ms, m, NEVER);
	index_change(ms, m, m->uuids[0], "");
	index_change(ms, m, m->uuids[1], "");
	if (m->dirty)
		queue_remove(ms, m);
	memmove(&ms->list[at], &ms->list[at + 1], (ms->n - at - 1) * sizeof(*ms->list));
	ms->n--;
	machine_free(m);
}

void machines_done(struct machines *ms)
{
	for (size_t i = 0; i < ms->n; i++)
		machine_free(ms->list[i]);
	free(ms->list);
	free(ms->index);
	free(ms->queue);
	free(ms->heap);
}

void machines_mark(struct machines *ms, struct machine *m)
{
	index_update(ms, m);
	if (m->dirty)
		return;
	m->dirty = true;
	grow(&ms->queue, ms->n_queue, &ms->cap_queue);
	ms->queue[ms->n_queue++] = m;
}

/* ---- the heap -------------------------------------------------------------------------------- */

static void heap_put(struct machines *ms, size_t at, struct machine *m)
{
	ms->heap[at] = m;
	m->wake_slot = at + 1;
}

static void heap_up(struct machines *ms, size_t at)
{
	struct machine *m = ms->heap[at];

	while (at > 0 && ms->heap[(at - 1) / 2]->wake_at > m->wake_at) {
		heap_put(ms, at, ms->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	heap_put(ms, at, m);
}

static void heap_down(struct machines *ms, size_t at)
{
	struct machine *m = ms->heap[at];
	size_t child;

	while ((child = 2 * at + 1) < ms->n_heap) {
		if (child + 1 < ms->n_heap &&
			ms->heap[child + 1]->wake_at < ms->heap[child]->wake_at)
			child++;
		if (ms->heap[child]->wake_at >= m->wake_at)
			break;
		heap_put(ms, at, ms->heap[child]);
		at = child;
	}
	heap_put(ms, at, m);
}

static void heap_remove(struct machines *ms, struct machine *m)
{
	size_t at = m->wake_slot - 1;
	struct machine *last = ms->heap[--ms->n_heap];

	m->wake_slot = 0;
	if (last == m)
		return;
	heap_put(ms, at, last);
	heap_up(ms, at);
	heap_down(ms, last->wake_slot - 1);
}

void machines_wake_at(struct machines *ms, struct machine *m, msec at)
{
	if (m->wake_slot && m->wake_at == at)
		return;
	if (m->wake_slot)
		heap_remove(ms, m);
	m->wake_at = at;
	if (at == NEVER)
		return;
	grow(&ms->heap, ms->n_heap, &ms->cap_heap);
	ms->heap[ms->n_heap] = m;
	heap_up(ms, ms->n_heap++);
}

msec machines_next_wake(const struct machines *ms)
{
	return ms->n_heap ? ms->heap[0]->wake_at : NEVER;
}

void machines_wake_due(struct machines *ms, msec now)
{
	while (ms->n_heap && ms->heap[0]->wake_at <= now) {
		struct machine *m = ms->heap[0];

		machines_wake_at(ms, m, NEVER);
		m->passes = 0;
		machines_mark(ms, m);
	}
}
