/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A migration is one object that two hosts show: in the end both show the same of it, and so does
 * the run that moved. Each keeps it for itself, though: whoever deletes it on one host when it is
 * over, or changes its labels there, does so there only.
 */
#include <string.h>

#include "core/json.h"
#include "sim.h"

struct verdict { /* of a migration, on one host */
	struct world *w;
	const char *uid;
	const cJSON *object;
	bool settled;
};

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

/* What a host that was declared dead thought of it does not count: it says what it has lost. */
static bool is_lost(const struct object_row *row)
{
	return strstr(row->state, "\"lost\":true");
}

/* Whose peer is declared dead ends it by itself. */
static bool is_settled(const struct object_row *row)
{
	static const char *const marks[] = { "\"taken\":true", "\"reclaimed\":true",
		"its source was declared dead" };
	bool ret = false;

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		ret |= strstr(row->state, marks[i]) != NULL;
	return ret;
}

/* All that clients see, but for how often it has changed here. Owned by the caller. */
static cJSON *shown(const struct object_row *row)
{
	cJSON *root = cJSON_Parse(row->object);

	cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(root, "metadata"),
		"resourceVersion");
	return root;
}

/* ---- what differs ---------------------------------------------------------------------------- */

/* A member that is another in b, or is not there. */
static const cJSON *odd_member(const cJSON *a, const cJSON *b)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, a)
	{
		if (!cJSON_Compare(item, cJSON_GetObjectItemCaseSensitive(b, item->string), true))
			return item;
	}
	return NULL;
}

/* Fails the world unless both are the same: where they part, and how. */
static void compare(struct world *w, const char *name, const cJSON *a, const cJSON *b)
{
	autofree char *one = NULL, *other = NULL;
	struct buf path = { 0 };

	while (cJSON_IsObject(a) && cJSON_IsObject(b)) {
		const cJSON *odd = odd_member(a, b);
		const char *key = (odd = odd ? odd : odd_member(b, a)) ? odd->string : NULL;

		if (!key)
			break;
		buf_printf(&path, ".%s", key);
		a = cJSON_GetObjectItemCaseSensitive(a, key);
		b = cJSON_GetObjectItemCaseSensitive(b, key);
	}
	if (!cJSON_Compare(a, b, true)) {
		one = a ? cJSON_PrintUnformatted(a) : NULL;
		other = b ? cJSON_PrintUnformatted(b) : NULL;
		world_fail(w, "in the end %s%s is %s here and %s there", name,
			path.data ? path.data : "", or_none(one), or_none(other));
	}
	buf_done(&path);
}

/* ---- the object on two hosts ----------------------------------------------------------------- */

static int compare_verdict(void *ctx, const struct object_row *row)
{
	struct verdict *v = ctx;
	cJSON *object = shown(row);
	const char *ours = look_text(v->object, "status.phase");
	const char *theirs = look_text(object, "status.phase");
	bool is_other = !streq(row->uid, v->uid) || is_lost(row);

	if (!is_other && !v->settled && !is_settled(row))
		compare(v->w, row->name, v->object, object);
	else if (!is_other && !streq(ours, theirs))
		world_fail(v->w, "in the end %s is %s on one host and %s on another", row->name,
			or_none(ours), or_none(theirs));
	cJSON_Delete(object);
	return 0;
}

static int check_verdict(void *ctx, const struct object_row *row)
{
	struct object_query migrations = { .kind = KIND_MIGRATION };
	cJSON *object = shown(row);
	struct verdict v = { ctx, row->uid, object, is_settled(row) };
	struct world *host;

	for (unsigned i = 0; !is_lost(row) && (host = world_host(v.w, i)); i++)
		store_each(host->store, &migrations, compare_verdict, &v, NULL);
	cJSON_Delete(object);
	return 0;
}

/* ---- the run --------------------------------------------------------------------------------- */

struct run { /* on one host */
	struct world *w;
	const cJSON *state; /* of its migration, as it shows it */
};

static int compare_run(void *ctx, const struct object_row *row)
{
	struct run *run = ctx;
	cJSON *object = cJSON_Parse(row->object);
	const cJSON *status = cJSON_GetObjectItemCaseSensitive(object, "status");

	if (streq(row->uid, look_text(run->state, "migrationUid")))
		compare(run->w, row->name, run->state,
			cJSON_GetObjectItemCaseSensitive(status, "migrationState"));
	cJSON_Delete(object);
	return 0;
}

static int check_run(void *ctx, const struct object_row *row)
{
	struct object_query migrations = { .kind = KIND_MIGRATION };
	cJSON *vmi = cJSON_Parse(row->object);
	const cJSON *status = cJSON_GetObjectItemCaseSensitive(vmi, "status");
	struct run run = { ctx, cJSON_GetObjectItemCaseSensitive(status, "migrationState") };

	if (run.state)
		store_each(run.w->store, &migrations, compare_run, &run, NULL);
	cJSON_Delete(vmi);
	return 0;
}

void look_verdicts(struct world *w)
{
	struct object_query migrations = { .kind = KIND_MIGRATION };
	struct object_query runs = { .kind = KIND_VMI };
	struct world *host;

	for (unsigned i = 0; (host = world_host(w, i)); i++) {
		store_each(host->store, &migrations, check_verdict, w, NULL);
		store_each(host->store, &runs, check_run, host, NULL);
	}
}
