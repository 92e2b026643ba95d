/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first line: in what state a machine is, and why in one sentence. A function per state, in a
 * table by KubeVirt's names; whatever has none is told by the condition that says what is wrong.
 */
#include "cli/explain_private.h"

#include <string.h>

#define REQUESTS         "StartRequested StopRequested RestartRequested DeleteRequested"
#define MANIFEST_APPLIED "ManifestApplied"

bool condition_is_trouble(const struct node *condition)
{
	static const struct {
		const char *type, *status;
	} troubles[] = { { "CrashLoop", "True" }, { "Failure", "True" },
		{ "ManifestRejected", "True" }, { "Synchronized", "False" },
		{ "PodScheduled", "False" }, { "Paused", "True" }, { "StartQueued", "True" },
		{ "Waiting", "True" }, { "InDoubt", "True" }, { "Ready", "False" } };

	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++)
		if (streq(node_text(condition, "type"), troubles[i].type) &&
			streq(node_text(condition, "status"), troubles[i].status))
			return true;
	return false;
}

const struct node *story_condition(const struct story *s, const char *type)
{
	const struct node *list = node_at(s->vm ? s->vm : s->vmi, "status.conditions");

	for (size_t i = 0; list && i < list->n_children; i++)
		if (condition_is_trouble(list->children[i]) &&
			streq(node_text(list->children[i], "type"), type))
			return list->children[i];
	return NULL;
}

const char *story_strategy(const struct story *s)
{
	const char *strategy = node_text(s->vm, "spec.runStrategy");
	const struct node *running = node_at(s->vm, "spec.running");

	if (strategy)
		return strategy;
	return running && streq(running->text, "true") ? "Always" : "Halted";
}

const char *story_status(const struct story *s)
{
	const char *status = s->vm ? node_text(s->vm, "status.printableStatus")
				   : node_text(s->vmi, "status.phase");

	if (!s->vm && !s->vmi)
		return "gone";
	if (!s->vm && node_text(s->vmi, "metadata.deletionTimestamp") && !streq(status, "Failed") &&
		!streq(status, "Succeeded"))
		return "Stopping";
	return status ? status : "of unknown status";
}

/* ---- sentences ------------------------------------------------------------------------------- */

/* "user 1000 asked for 'stop' 5m ago". */
static char *asked(const struct story *s, const struct node *request)
{
	autofree char *ago = event_ago(s, request);
	const char *message = node_text(request, "message"), *actor = event_actor(request);

	if (!message || !strstr(message, " accepted"))
		return xasprintf("%s (%s), %s", message ? message : "it was asked for", actor, ago);
	return xasprintf("%s asked for '%.*s' %s", actor, (int)strcspn(message, " "), message, ago);
}

static char *ended(const struct story *s, const struct node *end)
{
	autofree char *cause = event_cause(end), *ago = event_ago(s, end);

	return xasprintf("%s, %s", cause, ago);
}

/* A stop that nothing has undone since. */
static const struct node *stop_of(const struct story *s)
{
	const struct node *request = event_newest(s, REQUESTS);

	if (!streq(node_text(request, "reason"), "StopRequested"))
		return NULL;
	return event_is_newer(request, event_newest(s, "Started")) ? request : NULL;
}

static char *why_halted(const struct story *s)
{
	const struct node *stop = stop_of(s), *applied = event_newest(s, MANIFEST_APPLIED);
	autofree char *ago = NULL;

	if (stop && event_is_newer(stop, applied))
		return asked(s, stop);
	if (!event_is_newer(applied, event_newest(s, REQUESTS)))
		return xstrdup("its run strategy is Halted");
	ago = event_ago(s, applied);
	return xasprintf("%s wants it halted, applied %s", event_actor(applied), ago);
}

/* What its strategy makes of an end. */
static const char *and_strategy(const char *strategy)
{
	static const struct {
		const char *strategy, *words;
	} rules[] = {
		{ "RerunOnFailure", "; RerunOnFailure starts it anew only after a failure" },
		{ "Manual", "; Manual starts it only when asked to" },
		{ "Once", "; Once has had its run" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (streq(rules[i].strategy, strategy))
			return rules[i].words;
	return "";
}

static char *why_stopped(const struct story *s)
{
	const struct node *stop = stop_of(s), *end = event_newest(s, REASONS_ENDED);
	const char *failure = node_text(story_condition(s, "Failure"), "message");
	autofree char *words = NULL;

	if (streq(story_strategy(s), "Halted"))
		return why_halted(s);
	if (stop)
		return asked(s, stop);
	if (failure)
		return xasprintf("it cannot be started: %s", failure);
	if (!end)
		return xstrdup(streq(story_strategy(s), "Manual") ? "nobody has started it yet"
								  : "it has not run yet");
	words = ended(s, end);
	return xasprintf("%s%s", words, and_strategy(story_strategy(s)));
}

static const char *entered(const struct story *s, const char *phase)
{
	const struct node *list = node_at(s->vmi, "status.phaseTransitionTimestamps");

	for (size_t i = 0; list && i < list->n_children; i++)
		if (streq(node_text(list->children[i], "phase"), phase))
			return node_text(list->children[i], "phaseTransitionTimestamp");
	return NULL;
}

static char *why_running(const struct story *s)
{
	const char *since = entered(s, "Running");
	autofree char *ago = NULL;

	if (story_condition(s, "Paused"))
		return xstrdup(node_text(story_condition(s, "Paused"), "message"));
	if (!since)
		return xstrdup("its guest runs");
	ago = time_ago(s, since);
	return xasprintf("its guest runs, and was started %s", ago);
}

static char *why_paused(const struct story *s)
{
	const struct node *paused = story_condition(s, "Paused"), *request;

	request = event_newest(s, "Paused Unpaused");
	if (streq(node_text(request, "reason"), "Paused") &&
		streq(node_text(paused, "reason"), "PausedByUser"))
		return asked(s, request);
	return xstrdup(paused ? node_text(paused, "message") : "its guest is paused");
}

static char *why_ending(const struct story *s)
{
	const struct node *request = event_newest(s, REQUESTS);

	if (!request || streq(node_text(request, "reason"), "StartRequested"))
		return xstrdup("it is no longer wanted as it ran");
	return asked(s, request);
}

static char *why_starting(const struct story *s)
{
	const struct node *queued = story_condition(s, "StartQueued");
	const struct node *failing = story_condition(s, "Synchronized");
	const char *phase = node_text(s->vmi, "status.phase");

	if (queued)
		return xasprintf("it waits for its turn: %s", node_text(queued, "message"));
	if (failing)
		return xasprintf("its start fails, and is tried again: %s",
			node_text(failing, "message"));
	return xasprintf("its start is under way%s%s", phase ? ", in phase " : "",
		phase ? phase : "");
}

/* What is in its way has a name of its own. */
static char *why_unschedulable(const struct story *s)
{
	const char *message = node_text(story_condition(s, "PodScheduled"), "message");

	return xasprintf("it waits: %s", message ? message : "this host does not suit it");
}

/* The guard's own condition says it all; without it, it is upstream's back-off of failed starts. */
static char *why_looping(const struct story *s)
{
	const char *message = node_text(story_condition(s, "CrashLoop"), "message"), *next;
	const char *count = node_text(s->vm, "status.startFailure.consecutiveFailCount");
	const struct node *end = event_newest(s, REASONS_ENDED);
	autofree char *last = end ? event_cause(end) : xstrdup("nothing tells why");

	next = message ? strstr(message, "; ") : NULL;
	if (next)
		return xasprintf("it %.*s", (int)(next - message), message);
	return xasprintf("%s run%s in a row failed, the last one because: %s",
		count ? count : "some", streq(count, "1") ? "" : "s", last);
}

static char *why_final(const struct story *s)
{
	const struct node *end = event_newest(s, REASONS_ENDED);

	return end ? ended(s, end) : xstrdup("its events are no longer kept");
}

static char *why_gone(const struct story *s)
{
	const struct node *last = event_newest(s, "DeleteRequested Migrated");
	const char *message = node_text(last, "message");

	if (last && streq(node_text(last, "reason"), "DeleteRequested"))
		return asked(s, last);
	if (message && starts_with(message, "moved to '"))
		return xasprintf("it has %s: ask there", message);
	return xstrdup("only its events are left");
}

static char *why_other(const struct story *s)
{
	const struct node *list = node_at(s->vm ? s->vm : s->vmi, "status.conditions");

	for (size_t i = 0; list && i < list->n_children; i++) {
		const char *message = node_text(list->children[i], "message");

		if (message && condition_is_trouble(list->children[i]))
			return xstrdup(message);
	}
	return xstrdup("nothing tells why");
}

char *explain_why(const struct story *s)
{
	static const struct {
		const char *status;
		char *(*why)(const struct story *s);
	} rows[] = {
		{ "Stopped", why_stopped },
		{ "Running", why_running },
		{ "Paused", why_paused },
		{ "Stopping", why_ending },
		{ "Terminating", why_ending },
		{ "Starting", why_starting },
		{ "Pending", why_starting },
		{ "Scheduling", why_starting },
		{ "Scheduled", why_starting },
		{ "ErrorUnschedulable", why_unschedulable },
		{ "CrashLoopBackOff", why_looping },
		{ "Succeeded", why_final },
		{ "Failed", why_final },
		{ "gone", why_gone },
	};
	char *move = explain_move(s);

	if (move)
		return move;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (streq(rows[i].status, story_status(s)))
			return rows[i].why(s);
	return why_other(s);
}
