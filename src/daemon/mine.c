/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this host says it has, to a peer that asks: of some names each with what is so of it, so
 * that what is not said is not known; or, when that one's database is lost, all of them. Which ones
 * went on to a third host is said as well.
 */
#include <stdlib.h>
#include <string.h>

#include "core/domxml.h"
#include "core/json.h"
#include "core/phase.h"
#include "daemon/arrivals.h"
#include "daemon/migrations.h"

/* {"namespace": ns, key: name}: borrowed from the list. */
static cJSON *add(cJSON *list, const char *ns, const char *key, const char *name)
{
	cJSON *item = cJSON_CreateObject();

	cJSON_AddStringToObject(item, "namespace", ns);
	cJSON_AddStringToObject(item, key, name);
	cJSON_AddItemToArray(list, item);
	return item;
}

static void add_moved(cJSON *list, const char *ns, const char *name, const char *to)
{
	cJSON_AddStringToObject(add(list, ns, "moved", name), "to", to);
}

/* ---- what is here ---------------------------------------------------------------------------- */

/* All that it has, and what it may have to have yet. One that has lost its own database only
 * knows of what runs. */
static bool is_here(const struct agent *agent, const struct machine *m)
{
	bool runs = m && m->vmi && m->vmi->phase == PHASE_RUNNING;

	return m && (agent->rebuilding ? runs : m->vm || m->vmi);
}

/* It waits for what another host sends of it. */
static bool is_arriving(const struct machine *m)
{
	const struct migration *g = m->migration;

	return g && g->role == MIGRATION_TARGET &&
		(g->state == MIGRATION_IN || g->state == MIGRATION_COMPLETE);
}

static void add_here(cJSON *list, const struct machine *m)
{
	cJSON *item = add(list, m->ns, "name", m->name);

	if (is_arriving(m))
		cJSON_AddTrueToObject(item, "arriving");
}

/* A guest of ours whose run is not known any more. */
static bool is_stray(const struct domain_info *info)
{
	return info->owner[0] && domain_is_alive(info->state);
}

static bool has_stray(const struct agent *agent, const char *ns, const char *name)
{
	autofree char *domain = domain_name(ns, name);

	for (size_t i = 0; i < agent->n_foreign; i++)
		if (is_stray(&agent->foreign[i]) && streq(agent->foreign[i].name, domain))
			return true;
	return false;
}

static void add_stray(cJSON *list, const char *domain)
{
	char ns[LABEL_MAX_LEN + 1], name[NAME_MAX_LEN + 1];

	if (domain_name_split(domain, ns, name))
		add(list, ns, "name", name);
}

/* ---- some of it ------------------------------------------------------------------------------ */

static void answer_name(const struct agent *agent, const char *asker, const char *ns,
	const char *name, cJSON *list)
{
	const struct machine *m = machines_find(&agent->machines, ns, name);
	const char *to = migrations_moved_to(agent, ns, name);

	if (is_here(agent, m) || has_stray(agent, ns, name))
		add(list, ns, "name", name);
	else if (to && !m && !streq(to, asker))
		add_moved(list, ns, name, to);
	else if (!agent->rebuilding)
		add(list, ns, "gone", name);
}

static void answer_names(const struct agent *agent, const char *asker, const cJSON *names,
	cJSON *list)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, names)
	{
		const char *ns = cargo_text(item, "namespace"), *name = cargo_text(item, "name");

		if (ns && name)
			answer_name(agent, asker, ns, name, list);
	}
}

/* ---- all of it ------------------------------------------------------------------------------- */

struct move { /* all borrowed */
	const char *ns, *name;
	const char *to; /* or NULL: it came here */
	int64_t number;
};

/* Of one name the latest comes last. */
static int compare(const void *a, const void *b)
{
	const struct move *x = a, *y = b;
	int order = strcmp(x->ns, y->ns);

	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : (x->number > y->number) - (x->number < y->number);
}

static size_t moves_of(const struct agent *agent, struct move *ret)
{
	const struct migrations *gs = &agent->migrations;
	size_t n = 0;

	for (size_t i = 0; i < gs->n_past; i++)
		ret[n++] = (struct move){ gs->past[i].ns, gs->past[i].name,
			gs->past[i].away ? gs->past[i].peer : NULL, gs->past[i].number };
	for (size_t i = 0; i < gs->n; i++) {
		const struct migration *g = gs->list[i];
		bool away = g->role == MIGRATION_SOURCE || g->lost;

		if (g->moved)
			ret[n++] = (struct move){ g->meta.ns, g->vmi, away ? g->peer : NULL,
				g->number };
	}
	qsort(ret, n, sizeof(*ret), compare);
	return n;
}

static void tell_moved(const struct agent *agent, const char *asker, cJSON *list)
{
	const struct migrations *gs = &agent->migrations;
	struct move *moves = xcalloc(gs->n + gs->n_past + 1, sizeof(*moves));
	size_t n = moves_of(agent, moves);

	for (size_t i = 0; i < n; i++) {
		const struct move *m = &moves[i], *next = &moves[i + 1];
		bool latest = i + 1 == n || !streq(m->ns, next->ns) || !streq(m->name, next->name);

		if (latest && m->to && !streq(m->to, asker) &&
			!machines_find(&agent->machines, m->ns, m->name))
			add_moved(list, m->ns, m->name, m->to);
	}
	free(moves);
}

static void answer_all(const struct agent *agent, const char *asker, cJSON *list)
{
	for (size_t i = 0; i < agent->machines.n; i++) {
		const struct machine *m = agent->machines.list[i];

		if (is_here(agent, m))
			add_here(list, m);
	}
	for (size_t i = 0; i < agent->n_foreign; i++)
		if (is_stray(&agent->foreign[i]))
			add_stray(list, agent->foreign[i].name);
	tell_moved(agent, asker, list);
}

/* In this turn: the names of all machines are many times as long as the question for them. */
static bool is_answered(const struct agent *agent, const char *peer)
{
	for (size_t i = 0; i < agent->n_letters; i++)
		if (agent->letters[i].handover.kind == HANDOVER_MINE &&
			streq(agent->letters[i].peer, peer))
			return true;
	return false;
}

/* Who is asking itself does not know; nor does who has not seen yet what runs here. */
void mine_answer(struct agent *agent, const struct peer_event *event)
{
	const char *question = event->handover->document;
	cJSON *names, *list;
	struct handover *h;

	if (!agent->foreign_seen || (agent->rebuilding && !agent->rebuild_listed) ||
		is_answered(agent, event->name))
		return;
	names = json_read(question);
	list = cJSON_CreateArray();
	if (agent->rebuilding)
		cJSON_AddItemToArray(list, cJSON_Parse("{\"partial\":true}"));
	if (question)
		answer_names(agent, event->name, names, list);
	else
		answer_all(agent, event->name, list);
	cJSON_Delete(names);
	h = handover_answer(agent, event->name, event->handover, HANDOVER_MINE);
	h->document = agent->letters[agent->n_letters - 1].document = json_take_text(list);
}
