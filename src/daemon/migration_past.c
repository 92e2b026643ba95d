/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of a migration whose object is forgotten: where a machine went, and by which epoch,
 * so that no host that was away for long can pass an older one off as it; and who has the guest
 * since the other host was declared dead, which that one asks when it comes back. One row for each
 * that had a name, and for each of the latter, in one value of the store.
 */
#include "core/json.h"
#include "daemon/arrivals.h"
#include "daemon/migrations.h"

#define VALUE       "moved"
#define PAST_MAX    4096 /* the oldest go */
#define SETTLED_MAX 1024 /* nobody else knows these: none goes for another */

bool past_is_of(const char *row, const char *owner)
{
	return !*row || !*owner || streq(row, owner);
}

int64_t past_epoch(const struct agent *agent, const char *ns, const char *name, const char *owner)
{
	int64_t epoch = 0;

	for (size_t i = 0; i < agent->migrations.n_past; i++) {
		const struct past *p = &agent->migrations.past[i];

		if (streq(p->name, name) && streq(p->ns, ns) && past_is_of(p->owner, owner))
			epoch = MAX(epoch, p->epoch);
	}
	return epoch;
}

/* Of all that had the name. */
static const struct past *latest(const struct agent *agent, const char *ns, const char *name)
{
	const struct past *ret = NULL;

	for (size_t i = 0; i < agent->migrations.n_past; i++) {
		const struct past *p = &agent->migrations.past[i];

		if (streq(p->name, name) && streq(p->ns, ns) && (!ret || p->number >= ret->number))
			ret = p;
	}
	return ret;
}

int64_t past_number(const struct agent *agent, const char *ns, const char *name)
{
	const struct past *p = latest(agent, ns, name);

	return p ? p->number : 0;
}

const char *past_peer(const struct agent *agent, const char *ns, const char *name)
{
	const struct past *p = latest(agent, ns, name);

	return p && p->away ? p->peer : NULL;
}

static void past_free(struct past *p)
{
	free(p->ns);
	free(p->name);
	free(p->peer);
}

static bool is_settled(const struct past *p)
{
	return *p->migration != '\0';
}

static void drop(struct migrations *gs, size_t i)
{
	past_free(&gs->past[i]);
	memmove(&gs->past[i], &gs->past[i + 1], (--gs->n_past - i) * sizeof(*gs->past));
}

/* Of those that only say where a machine went. */
static void make_room(struct migrations *gs)
{
	size_t n = 0, oldest = 0;

	for (size_t i = gs->n_past; i-- > 0;) {
		if (is_settled(&gs->past[i]))
			continue;
		oldest = i;
		n++;
	}
	if (n >= PAST_MAX)
		drop(gs, oldest);
}

static struct past *add(struct migrations *gs, const char *ns, const char *name)
{
	struct past *p = LIST_ADD(gs->past, gs->n_past, gs->cap_past);

	p->ns = xstrdup(ns);
	p->name = xstrdup(name);
	return p;
}

static struct past *find(const struct agent *agent, const struct migration *g)
{
	for (size_t i = 0; i < agent->migrations.n_past; i++) {
		struct past *p = &agent->migrations.past[i];

		if (!is_settled(p) && streq(p->name, g->vmi) && streq(p->ns, g->meta.ns) &&
			streq(p->owner, g->owner))
			return p;
	}
	return NULL;
}

static void fill(struct past *p, const struct migration *g)
{
	replace_str(&p->peer, g->peer);
	copy_str(p->owner, UID_SIZE, g->owner);
	p->epoch = g->epoch;
	p->number = g->number;
	p->away = g->moved && g->role == MIGRATION_SOURCE;
}

static void note_settled(struct agent *agent, const struct migration *g)
{
	struct past *p = add(&agent->migrations, g->meta.ns, g->vmi);

	fill(p, g);
	copy_str(p->migration, UID_SIZE, g->meta.uid);
	p->taken = g->taken;
	p->reclaimed = g->reclaimed;
	p->succeeded = g->succeeded;
	agent->migrations.past_changed = true;
}

static bool will_be_settled(const struct migration *g)
{
	return (g->taken || g->reclaimed) && !g->lost;
}

void past_note(struct agent *agent, const struct migration *g)
{
	struct past *p;

	if (will_be_settled(g))
		note_settled(agent, g);
	p = find(agent, g);
	if (!g->moved || (p && p->epoch >= g->epoch))
		return;
	if (!p) {
		make_room(&agent->migrations);
		p = add(&agent->migrations, g->meta.ns, g->vmi);
	}
	fill(p, g);
	agent->migrations.past_changed = true;
}

/* ---- who comes back -------------------------------------------------------------------------- */

static const struct past *settled(const struct agent *agent, const char *peer,
	const struct handover *h)
{
	for (size_t i = 0; i < agent->migrations.n_past; i++) {
		const struct past *p = &agent->migrations.past[i];

		if (is_settled(p) && streq(p->migration, h->migration) && streq(p->peer, peer) &&
			p->epoch == h->epoch)
			return p;
	}
	return NULL;
}

bool past_hear(struct agent *agent, const char *peer, const struct handover *h)
{
	const struct past *p = settled(agent, peer, h);
	bool asks = h->kind == HANDOVER_ABORT || h->kind == HANDOVER_COMMIT ||
		h->kind == HANDOVER_RECOVER;

	if (p && p->taken && asks)
		handover_answer(agent, peer, h, HANDOVER_FINALIZED)->succeeded = p->succeeded;
	else if (p && p->reclaimed && h->kind == HANDOVER_FINALIZED)
		handover_answer(agent, peer, h, HANDOVER_RECLAIMED);
	else
		return false;
	return true;
}

/* Whoever is no peer any more is not heard: what it waits for it goes on waiting for. */
static void drop_strangers(struct agent *agent)
{
	struct migrations *gs = &agent->migrations;

	for (size_t i = gs->n_past; i-- > 0;) {
		if (!is_settled(&gs->past[i]) || peers_name(agent, gs->past[i].peer))
			continue;
		drop(gs, i);
		gs->changed = gs->past_changed = true;
	}
}

static size_t count_settled(const struct migrations *gs)
{
	size_t n = 0;

	for (size_t i = 0; i < gs->n_past; i++)
		n += is_settled(&gs->past[i]);
	for (size_t i = 0; i < gs->n; i++)
		n += !gs->list[i]->removed && will_be_settled(gs->list[i]);
	return n;
}

bool past_has_room(struct agent *agent, size_t more)
{
	if (count_settled(&agent->migrations) + more > SETTLED_MAX)
		drop_strangers(agent);
	return count_settled(&agent->migrations) + more <= SETTLED_MAX;
}

/* ---- the store ------------------------------------------------------------------------------- */

static void save_settled(cJSON *item, const struct past *p)
{
	cJSON_AddStringToObject(item, "migration", p->migration);
	cJSON_AddBoolToObject(item, "taken", p->taken);
	cJSON_AddBoolToObject(item, "reclaimed", p->reclaimed);
	cJSON_AddBoolToObject(item, "succeeded", p->succeeded);
}

int past_save(struct agent *agent, struct err *err)
{
	cJSON *list = cJSON_CreateArray();
	autofree char *text = NULL;

	for (size_t i = 0; i < agent->migrations.n_past; i++) {
		const struct past *p = &agent->migrations.past[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "namespace", p->ns);
		cJSON_AddStringToObject(item, "name", p->name);
		cJSON_AddStringToObject(item, "peer", p->peer);
		cJSON_AddStringToObject(item, "owner", p->owner);
		cJSON_AddNumberToObject(item, "epoch", (double)p->epoch);
		cJSON_AddNumberToObject(item, "number", (double)p->number);
		cJSON_AddBoolToObject(item, "away", p->away);
		if (is_settled(p))
			save_settled(item, p);
		cJSON_AddItemToArray(list, item);
	}
	text = json_take_text(list);
	return store_put_value(agent->store, VALUE, text, err);
}

static void load_settled(struct past *p, const cJSON *item)
{
	copy_str(p->migration, UID_SIZE, json_text(item, "migration"));
	p->taken = json_is_true(item, "taken");
	p->reclaimed = json_is_true(item, "reclaimed");
	p->succeeded = json_is_true(item, "succeeded");
}

void past_load(struct agent *agent)
{
	autofree char *text = store_get_value(agent->store, VALUE);
	cJSON *list = cJSON_Parse(text ? text : "[]");
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		const cJSON *epoch = cJSON_GetObjectItemCaseSensitive(item, "epoch");
		const cJSON *number = cJSON_GetObjectItemCaseSensitive(item, "number");
		struct past *p;

		if (!json_text(item, "namespace") || !json_text(item, "name") ||
			!json_text(item, "peer") || !cJSON_IsNumber(epoch))
			continue;
		p = add(&agent->migrations, json_text(item, "namespace"), json_text(item, "name"));
		p->peer = xstrdup(json_text(item, "peer"));
		copy_str(p->owner, UID_SIZE, json_text(item, "owner"));
		p->epoch = (int64_t)epoch->valuedouble;
		p->number = cJSON_IsNumber(number) ? (int64_t)number->valuedouble : 0;
		p->away = json_is_true(item, "away");
		load_settled(p, item);
	}
	cJSON_Delete(list);
}

void past_done(struct agent *agent)
{
	for (size_t i = 0; i < agent->migrations.n_past; i++)
		past_free(&agent->migrations.past[i]);
	free(agent->migrations.past);
}
