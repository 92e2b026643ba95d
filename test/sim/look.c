/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user would see: objects as they are stored for the API, domains as libvirt shows
 * them. From these come the predicates of `expect` and `wait until`, and the end state
 * that all runs share.
 */
#include <stdio.h>
#include <string.h>

#include "sim.h"

/* ---- fields ---------------------------------------------------------------------------------- */

/* Of a list of conditions the one of that type. */
static const cJSON *step_into(const cJSON *json, const char *key)
{
	const cJSON *item;

	if (!cJSON_IsArray(json))
		return cJSON_GetObjectItemCaseSensitive(json, key);
	cJSON_ArrayForEach(item, json)
	{
		if (streq(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "type")),
			    key))
			return item;
	}
	return NULL;
}

const char *look_text(const cJSON *json, const char *path)
{
	autofree char *copy = xstrdup(path);
	static char number[32];
	char *rest = copy, *key;

	while (json && (key = strsep(&rest, ".")))
		json = step_into(json, key);
	if (cJSON_IsNumber(json)) {
		snprintf(number, sizeof(number), "%g", json->valuedouble);
		return number;
	}
	return cJSON_GetStringValue(json);
}

/* ---- objects --------------------------------------------------------------------------------- */

struct latest {
	const char *name;
	char *object; /* owned */
	int64_t rv;
	unsigned n;
};

static int keep(void *ctx, const struct object_row *row)
{
	*(char **)ctx = xstrdup(row->object);
	return 1;
}

/* The latest of that machine: the one of the highest change. */
static int keep_migration(void *ctx, const struct object_row *row)
{
	struct latest *l = ctx;
	cJSON *root = cJSON_Parse(row->object);

	if (streq(look_text(root, "spec.vmiName"), l->name) && row->rv > l->rv) {
		l->rv = row->rv;
		replace_str(&l->object, row->object);
	}
	cJSON_Delete(root);
	return 0;
}

char *look_object(struct world *w, enum object_kind kind, const char *name)
{
	struct object_query all = { .kind = KIND_MIGRATION };
	struct latest latest = { .name = name };

	/* A scenario has no name twice. */
	struct object_query query = { .kind = kind, .name = name };
	char *object = NULL;

	store_each(w->store, &query, keep, &object, NULL);
	if (object || kind != KIND_MIGRATION)
		return object;
	store_each(w->store, &all, keep_migration, &latest, NULL);
	return latest.object;
}

static int count_migration(void *ctx, const struct object_row *row)
{
	struct latest *l = ctx;
	cJSON *root = cJSON_Parse(row->object);

	l->n += streq(look_text(root, "spec.vmiName"), l->name);
	cJSON_Delete(root);
	return 0;
}

static unsigned count_migrations(struct world *w, const char *vmi)
{
	struct object_query all = { .kind = KIND_MIGRATION };
	struct latest latest = { .name = vmi };

	store_each(w->store, &all, count_migration, &latest, NULL);
	return latest.n;
}

static int add_all(void *ctx, const struct object_row *row)
{
	buf_printf(ctx, "%s\n%s\n", row->object, row->state);
	return 0;
}

char *look_all(struct world *w)
{
	struct object_query vms = { .kind = KIND_VM }, vmis = { .kind = KIND_VMI };
	struct buf all = { 0 };

	buf_puts(&all, "");
	store_each(w->store, &vms, add_all, &all, NULL);
	store_each(w->store, &vmis, add_all, &all, NULL);
	return all.data;
}

static const char *path_of(const char *key)
{
	/* clang-format off */
	static const struct { const char *key, *path; } paths[] = {
		{ "printable", "status.printableStatus" },
		{ "strategy",  "spec.runStrategy" },
		{ "phase",     "status.phase" },
		{ "reason",    "status.reason" },
		{ "deleted",   "metadata.deletionTimestamp" },
		{ "uid",       "metadata.uid" },
		{ "firmware",  "spec.domain.firmware.uuid" },
		{ "failures",  "status.startFailure.consecutiveFailCount" },
		{ "loop",      "status.conditions.CrashLoop.reason" },
		{ "loop-says", "status.conditions.CrashLoop.message" },
		{ "start",     "spec.startStrategy" },
		{ "queued",    "status.conditions.StartQueued.reason" },
		{ "memory",    "spec.template.spec.domain.memory.guest" },
		{ "observed",  "status.observedGeneration" },
		{ "desired",   "status.desiredGeneration" },
		{ "target",    "status.migrationState.targetNode" },
		{ "why",       "status.migrationState.failureReason" },
		{ "waits",     "status.conditions.Waiting.reason" },
		{ "policy",    "status.migrationState.migrationPolicyName" },
		{ "cid",       "status.VSOCKCID" },
		{ "grace",     "spec.terminationGracePeriodSeconds" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (streq(paths[i].key, key))
			return paths[i].path;
	}
	return key;
}

/* A field of a stored object, "" when it is not there. */
static void text_of(struct world *w, enum object_kind kind, const char *name, const char *path,
	char ret[UID_SIZE])
{
	autofree char *object = look_object(w, kind, name);
	cJSON *root = cJSON_Parse(object ? object : "");
	const char *text = look_text(root, path);

	copy_str(ret, UID_SIZE, text ? text : "");
	cJSON_Delete(root);
}

const char *look_owner(struct world *w, const char *name, const cJSON *vmi)
{
	const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(vmi, "metadata");
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(metadata, "ownerReferences");
	const char *owner = look_text(cJSON_GetArrayItem(list, 0), "uid");
	char vm[UID_SIZE];

	text_of(w, KIND_VM, name, "metadata.uid", vm);
	if (!owner)
		return "none";
	return streq(owner, vm) ? "vm" : "another";
}

/* ---- marks: which UIDs were there before ----------------------------------------------------- */

static struct mark *mark_of(struct world *w, const char *name)
{
	w = world_main(w); /* it may move to another host */
	for (size_t i = 0; i < w->n_marks; i++) {
		if (streq(w->marks[i].name, name))
			return &w->marks[i];
	}
	return NULL;
}

void look_mark(struct world *w, const char *name)
{
	struct mark *mark = mark_of(w, name);
	struct world *all = world_main(w);

	if (!mark && all->n_marks < MARKS_MAX)
		mark = &all->marks[all->n_marks++];
	if (!mark)
		return;
	copy_str(mark->name, sizeof(mark->name), name);
	text_of(w, KIND_VM, name, "metadata.uid", mark->vm_uid);
	text_of(w, KIND_VMI, name, "metadata.uid", mark->vmi_uid);
	text_of(w, KIND_VMI, name, "spec.domain.firmware.uuid", mark->firmware);
}

/* ---- predicates ------------------------------------------------------------------------------ */

struct question { /* about one object */
	struct world *w;
	enum object_kind kind;
	const char *name;
	const cJSON *root;
};

/* uid=same, firmware=new: as compared with what was marked. */
static bool mark_holds(const struct question *q, const char *key, const char *want)
{
	const struct mark *mark = mark_of(q->w, q->name);
	const char *is = look_text(q->root, path_of(key));
	const char *was = mark ? mark->firmware : NULL;

	if (!mark) {
		world_fail(q->w, "nothing was marked of %s", q->name);
		return false;
	}
	if (streq(key, "uid"))
		was = q->kind == KIND_VM ? mark->vm_uid : mark->vmi_uid;
	return streq(is, was) == streq(want, "same");
}

/* The status of a condition ("AgentConnected"), or NULL when it is not there. */
static const char *condition_status(const cJSON *root, const char *type)
{
	const cJSON *item, *status = cJSON_GetObjectItemCaseSensitive(root, "status");

	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(status, "conditions"))
	{
		if (streq(look_text(item, "type"), type))
			return look_text(item, "status");
	}
	return NULL;
}

/* Conditions are told from fields by their capital. */
static const char *key_text(const cJSON *root, const char *key)
{
	return *key >= 'A' && *key <= 'Z' ? condition_status(root, key)
					  : look_text(root, path_of(key));
}

static bool field_holds(const struct question *q, const char *word, struct buf *why)
{
	const char *sign = strchr(word, '=');
	autofree char *key = xstrndup(word, sign ? (size_t)(sign - word) : strlen(word));
	const char *want = sign ? sign + 1 : NULL, *is = key_text(q->root, key);
	bool holds;

	if (streq(key, "uid") || streq(key, "firmware"))
		holds = mark_holds(q, key, want ? want : "");
	else if (streq(key, "owner"))
		holds = streq(is = look_owner(q->w, q->name, q->root), want);
	else
		holds = want ? streq(is, want) : is != NULL;
	if (!holds)
		buf_printf(why, " %s is %s", key, is ? is : "not there");
	return holds;
}

static bool object_holds(struct world *w, enum object_kind kind, char *const *words, size_t n,
	struct buf *why)
{
	autofree char *object = look_object(w, kind, words[0]);
	cJSON *root = cJSON_Parse(object ? object : "");
	struct question q = { w, kind, words[0], root };
	bool holds = object != NULL;

	if (!object)
		buf_puts(why, " it does not exist");
	for (size_t i = 1; i < n && object; i++)
		holds &= field_holds(&q, words[i], why);
	cJSON_Delete(root);
	return holds;
}

static const cJSON *condition_of(const cJSON *root, const char *type)
{
	const cJSON *status = cJSON_GetObjectItemCaseSensitive(root, "status"), *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(status, "conditions"))
	{
		if (streq(look_text(item, "type"), type))
			return item;
	}
	return NULL;
}

/* VM TYPE [REASON [words of the message]]: of a VM, or of a VMI without one */
static bool condition_holds(struct world *w, char *const *words, size_t n, struct buf *why)
{
	autofree char *vm = look_object(w, KIND_VM, words[0]);
	autofree char *object = vm ? take(&vm) : look_object(w, KIND_VMI, words[0]);
	cJSON *root = cJSON_Parse(object ? object : "");
	const cJSON *found = condition_of(root, words[1]);
	const char *message = look_text(found, "message");
	bool holds = found != NULL;

	if (holds && n > 2)
		holds = streq(look_text(found, "reason"), words[2]);
	if (holds && n > 3)
		holds = message && strstr(message, words[3]);
	if (found)
		buf_printf(why, " it is %s: %s", look_text(found, "reason"), message);
	cJSON_Delete(root);
	return holds;
}

static const char *domain_text(struct world *w, const char *name)
{
	const struct fake_domain *dom = fake_find_any(w, name);

	if (!dom)
		return "none";
	if (!dom->active)
		return "off";
	if (dom->state == DOMAIN_CRASHED)
		return "panicked";
	return dom->state == DOMAIN_PAUSED ? "paused" : "running";
}

/* As `vmactl get domains` has it: its state, or none. */
static bool listed_holds(struct world *w, const char *name, const char *want, struct buf *why)
{
	autofree char *text = w->agent ? agent_domains(w->agent, name) : NULL;
	cJSON *root = cJSON_Parse(text ? text : "");
	const char *is = look_text(root, "status.state");
	bool holds = streq(is ? is : "none", want);

	buf_printf(why, " it is %s", is ? is : "none");
	cJSON_Delete(root);
	return holds;
}

static bool number_holds(unsigned is, const char *want, struct buf *why)
{
	autofree char *text = xasprintf("%u", is);

	if (!streq(text, want))
		buf_printf(why, " it is %u", is);
	return streq(text, want);
}

static bool guest_holds(struct world *w, char *const *words, struct buf *why)
{
	autofree char *full = xasprintf("default_%s", words[1]);
	const struct fake_guest *guest = fake_guest(w, full);

	/* clang-format off */
	const struct { const char *name; unsigned is; } counts[] = {
		{ "signals",       guest->signals },
		{ "asked",         guest->asked },
		{ "kills",         guest->kills },
		{ "suspends",      guest->suspends },
		{ "resumes",       guest->resumes },
		{ "reboots",       guest->reboots },
		{ "agent-reboots", guest->agent_reboots },
		{ "resets",        guest->resets },
		{ "clocks",        guest->clocks },
		{ "infos",         guest->infos },
		{ "credentials",   guest->credentials },
		{ "unanswered",    guest->unanswered },
		{ "boots",         guest->boots },
	};
	/* clang-format on */

	if (streq(words[0], "killed-after"))
		return number_holds((unsigned)(guest->killed_at - guest->first_signal), words[2],
			why);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		if (streq(words[0], counts[i].name))
			return number_holds(counts[i].is, words[2], why);
	}
	world_fail(w, "nothing is counted as %s", words[0]);
	return false;
}

/* Of a claim: its file is there. */
static bool has_data(const struct world *w, const char *claim)
{
	for (size_t i = 0; i < w->fake.n_claims; i++)
		if (streq(strrchr(w->fake.claims[i], '/') + 1, claim))
			return true;
	return false;
}

/* Of the page of figures the first sample of that name, in whole numbers; want
 * NULL: it is there. */
static bool metric_holds(struct world *w, const char *name, const char *want, struct buf *why)
{
	autofree char *page = w->agent ? agent_metrics(w->agent, world_now(w)) : xstrdup("");
	autofree char *begin = xasprintf("\n%s{", name);
	const char *sample = strstr(page, begin);
	autofree char *line = sample ? xstrndup(sample + 1, strcspn(sample + 1, "\n")) : NULL;

	if (!line)
		buf_puts(why, " it is not there");
	return line && (!want || number_holds((unsigned)atof(strrchr(line, ' ')), want, why));
}

/* Nothing has grown or gone since "count". */
static bool counts_hold(struct world *w, struct buf *why)
{
	autofree char *now = census(w);
	const char *before = world_main(w)->counted;

	buf_printf(why, " there was %s, and now there is %s", before ? before : "nothing", now);
	return streq(now, before);
}

bool look_kind(const char *word, enum object_kind *ret)
{
	/* clang-format off */
	static const struct { const char *word; enum object_kind kind; } kinds[] = {
		{ "vm",        KIND_VM },
		{ "vmi",       KIND_VMI },
		{ "namespace", KIND_NAMESPACE },
		{ "migration", KIND_MIGRATION },
		{ "secret",    KIND_SECRET },
		{ "pvc",       KIND_PVC },
		{ "dv",        KIND_DATA_VOLUME },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (streq(kinds[i].word, word)) {
			*ret = kinds[i].kind;
			return true;
		}
	}
	return false;
}

bool look_holds(struct world *w, char *const *words, size_t n, struct buf *why)
{
	bool no = n > 0 && streq(words[0], "no");
	char *const *at = words + no;
	size_t left = n - no;
	enum object_kind kind;

	if (left >= 2 && look_kind(at[0], &kind)) {
		bool holds = object_holds(w, kind, at + 1, left - 1, why);

		if (no && holds)
			buf_puts(why, " it is there");
		return holds != no;
	}
	if (left >= 3 && streq(at[0], "condition"))
		return condition_holds(w, at + 1, left - 1, why) != no;
	if (left == 3 && streq(at[0], "domain")) {
		buf_printf(why, " it is %s", domain_text(w, at[1]));
		return streq(domain_text(w, at[1]), at[2]);
	}
	if (left >= 2 && streq(at[0], "metric"))
		return metric_holds(w, at[1], left > 2 ? at[2] : NULL, why) != no;
	if (left == 2 && streq(at[0], "counts") && streq(at[1], "same"))
		return counts_hold(w, why);
	if (left == 2 && streq(at[0], "data"))
		return has_data(w, at[1]) != no;
	if (left == 3 && streq(at[0], "listed"))
		return listed_holds(w, at[1], at[2], why);
	if (left == 3 && streq(at[0], "migrations"))
		return number_holds(count_migrations(w, at[1]), at[2], why);
	if (left == 3 && streq(at[0], "lists"))
		return number_holds(w->fake.lists, at[2], why);
	if (left == 3)
		return guest_holds(w, at, why);
	world_fail(w, "what is '%s …' to mean?", n ? words[0] : "");
	return false;
}
