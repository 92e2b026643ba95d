/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a DataVolume is, and what comes next. Its words to clients are CDI's, so that who waits
 * for one waits as there.
 */
#include "core/data_volume.h"

#include "core/age.h"
#include "core/codec.h"
#include "core/edit.h"
#include "core/enum.h"

static const char *const phases[] = { DATA_VOLUME_PHASES(ENUM_TEXT_) };

const char *data_volume_phase_name(enum data_volume_phase phase)
{
	return (size_t)phase < DATA_VOLUME_PHASE_MAX ? phases[phase] : "?";
}

/* ---- what comes next ------------------------------------------------------------------------- */

static bool is_over(enum data_volume_phase phase)
{
	return phase == DATA_VOLUME_SUCCEEDED || phase == DATA_VOLUME_FAILED;
}

static enum data_volume_step wait_for(const char *words, const char **ret_words)
{
	*ret_words = words;
	return FILL_WAIT;
}

enum data_volume_step data_volume_decide(const struct data_volume_view *v, const char **ret_words)
{
	if (v->filling || v->now->phase == DATA_VOLUME_FAILED)
		return FILL_NOTHING;
	if (v->now->phase == DATA_VOLUME_SUCCEEDED)
		return v->claim == CLAIM_ABSENT ? FILL_LOST : FILL_NOTHING;
	switch (v->claim) {
	case CLAIM_FOREIGN:
		return wait_for("a PersistentVolumeClaim of that name is there already, and is not its "
				"own: delete one of them",
			ret_words);
	case CLAIM_GOING:
		return wait_for("the PersistentVolumeClaim of that name is still being deleted",
			ret_words);
	case CLAIM_ABSENT:
		return v->wait ? wait_for(v->wait, ret_words) : FILL_MAKE_CLAIM;
	case CLAIM_OURS:
		break;
	}
	if (v->early)
		return FILL_NOTHING;
	return v->wait ? wait_for(v->wait, ret_words) : FILL_BEGIN;
}

/* ---- its state ------------------------------------------------------------------------------- */

struct shown {
	const char *type;
	bool status;
	const char *reason, *message; /* borrowed */
};

/* In the order in which their times are kept. */
static void conditions_of(const struct data_volume *dv, const char *bound,
	struct shown ret[DATA_VOLUME_TIMES])
{
	bool done = dv->phase == DATA_VOLUME_SUCCEEDED, failed = dv->phase == DATA_VOLUME_FAILED;
	bool runs = dv->phase == DATA_VOLUME_IMPORTING || dv->phase == DATA_VOLUME_CLONING;

	ret[0] = (struct shown){ "Bound", done, done ? "Bound" : "Pending", bound };
	ret[1] = (struct shown){ "Ready", done, NULL, NULL };
	ret[2] = (struct shown){ "Running", runs && !dv->failing, NULL, dv->words };
	if (done)
		ret[2].reason = "Completed", ret[2].message = "Import Complete";
	else if (failed || dv->failing)
		ret[2].reason = failed ? "ClaimLost" : "Error";
	else if (runs)
		ret[2].reason = "Pod is running";
}

static void stamp(struct data_volume *dv, const struct shown before[DATA_VOLUME_TIMES], msec wall)
{
	struct shown now[DATA_VOLUME_TIMES];

	conditions_of(dv, NULL, now);
	for (size_t i = 0; i < DATA_VOLUME_TIMES; i++)
		if (!dv->since[i] || before[i].status != now[i].status)
			dv->since[i] = wall;
}

bool data_volume_set(struct data_volume *dv, enum data_volume_phase phase, const char *words,
	msec wall)
{
	struct shown before[DATA_VOLUME_TIMES];

	if (dv->phase == phase && streq(dv->words, words) && dv->since[0])
		return false;
	conditions_of(dv, NULL, before);
	dv->phase = phase;
	dv->failing = false;
	dv->percent = phase == DATA_VOLUME_SUCCEEDED ? 100 : 0;
	replace_str(&dv->words, words);
	stamp(dv, before, wall);
	return true;
}

void data_volume_fail(struct data_volume *dv, const char *words, msec wall)
{
	struct shown before[DATA_VOLUME_TIMES];

	conditions_of(dv, NULL, before);
	dv->failing = true;
	dv->tries++;
	dv->percent = 0;
	replace_str(&dv->words, words);
	stamp(dv, before, wall);
}

msec data_volume_pause(const struct data_volume *dv)
{
	msec pause = SECONDS(FILL_RETRY_FIRST_S);

	for (int64_t i = 1; i < dv->tries && pause < SECONDS(FILL_RETRY_MAX_S); i++)
		pause *= 2;
	return MIN(pause, SECONDS(FILL_RETRY_MAX_S));
}

void data_volume_done(struct data_volume *dv)
{
	free(take(&dv->words));
}

/* ---- as it is served, and stored ------------------------------------------------------------- */

static void set_text(struct node *map, const char *key, const char *text)
{
	if (text)
		node_set(map, key, node_new(NODE_STRING, text));
}

static struct node *condition_tree(const struct shown *shown, msec since)
{
	struct node *one = node_new(NODE_MAP, NULL);
	char text[TIME_SIZE];

	set_text(one, "type", shown->type);
	set_text(one, "status", shown->status ? "True" : "False");
	set_text(one, "reason", shown->reason);
	set_text(one, "message", shown->message);
	if (since) {
		format_time(since, text);
		set_text(one, "lastTransitionTime", text);
	}
	return one;
}

static char *progress_text(const struct data_volume *dv)
{
	if (is_over(dv->phase) || dv->percent)
		return dv->phase == DATA_VOLUME_FAILED ? xstrdup("N/A")
						       : xasprintf("%u.0%%", dv->percent);
	return xstrdup("N/A");
}

struct node *data_volume_status(const struct data_volume *dv, const char *name)
{
	struct node *status = node_new(NODE_MAP, NULL), *list = node_new(NODE_LIST, NULL);
	autofree char *progress = progress_text(dv), *bound = NULL;
	struct shown shown[DATA_VOLUME_TIMES];

	bound = xasprintf("PVC %s %s", name,
		dv->phase == DATA_VOLUME_SUCCEEDED ? "Bound" : "Pending");
	conditions_of(dv, bound, shown);
	for (size_t i = 0; i < DATA_VOLUME_TIMES; i++)
		node_append(list, condition_tree(&shown[i], dv->since[i]));
	set_text(status, "phase", data_volume_phase_name(dv->phase));
	set_text(status, "progress", progress);
	if (dv->tries)
		node_set(status, "restartCount", node_new_int(dv->tries));
	if (dv->phase != DATA_VOLUME_PENDING)
		set_text(status, "claimName", name);
	node_set(status, "conditions", list);
	return status;
}

static void load_conditions(const struct node *list, struct data_volume *ret)
{
	for (size_t i = 0; list && i < list->n_children && i < DATA_VOLUME_TIMES; i++)
		(void)time_parse(node_text(list->children[i], "lastTransitionTime"),
			&ret->since[i]);
	if (!list || list->n_children != DATA_VOLUME_TIMES || ret->phase == DATA_VOLUME_SUCCEEDED)
		return;
	ret->words = xstrdup(node_text(list->children[2], "message"));
	ret->failing = streq(node_text(list->children[2], "reason"), "Error");
}

void data_volume_load(const struct node *status, struct data_volume *ret)
{
	const char *tries = node_text(status, "restartCount");
	const char *percent = node_text(status, "progress");
	size_t phase = enum_find_(phases, ARRAY_SIZE(phases), node_text(status, "phase"));

	*ret = (struct data_volume){ .tries = tries ? strtoll(tries, NULL, 10) : 0 };
	if (phase < ARRAY_SIZE(phases))
		ret->phase = (enum data_volume_phase)phase;
	if (percent && *percent != 'N')
		ret->percent = (unsigned)strtoul(percent, NULL, 10);
	load_conditions(node_get(status, "conditions"), ret);
}
