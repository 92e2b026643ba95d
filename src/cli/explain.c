/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The explanation put together: what is wanted, what is, what is in the way, what comes next, what
 * can be done; then as lines. The sentences of the first line are explain_why.c's.
 */
#include <stdio.h>
#include <string.h>

#include "core/age.h"
#include "cli/explain_private.h"

#define GRACE_DEFAULT_S 30
#define LABEL_WIDTH     10
#define RETRY_WORDS     "; next try at "

static void take_text(struct node *map, const char *key, char *text)
{
	if (text)
		node_set(map, key, node_new(NODE_STRING, text));
	free(text);
}

/* ---- what is wanted, what is ----------------------------------------------------------------- */

static char *wanted(const struct story *s)
{
	const struct node *requests = node_at(s->vm, "status.stateChangeRequests");
	const char *owner = NULL;
	struct buf b = { 0 };

	if (!s->vm && !s->vmi)
		return NULL;
	if (!s->vm) {
		const struct node *owners = node_at(s->vmi, "metadata.ownerReferences");

		owner = owners && owners->n_children ? node_text(owners->children[0], "name")
						     : NULL;
		return owner ? xasprintf("a run of VM %s", owner)
			     : xstrdup("one run, which no VM owns");
	}
	buf_printf(&b, "run strategy %s", story_strategy(s));
	for (size_t i = 0; requests && i < requests->n_children; i++)
		buf_printf(&b, "%s%s",
			i ? ", " : "; queued: ", node_text(requests->children[i], "action"));
	if (node_text(s->vm, "metadata.deletionTimestamp"))
		buf_puts(&b, "; to be deleted");
	return b.data;
}

static const char *phase_entered(const struct story *s, const char *phase)
{
	const struct node *list = node_at(s->vmi, "status.phaseTransitionTimestamps");

	for (size_t i = list ? list->n_children : 0; i-- > 0;)
		if (streq(node_text(list->children[i], "phase"), phase))
			return node_text(list->children[i], "phaseTransitionTimestamp");
	return NULL;
}

static char *present(const struct story *s)
{
	const char *phase = node_text(s->vmi, "status.phase"), *since;
	autofree char *ago = NULL;

	if (!s->vmi)
		return s->vm ? xstrdup("no run") : NULL;
	since = phase ? phase_entered(s, phase) : NULL;
	ago = since ? time_ago(s, since) : NULL;
	return xasprintf("a run in phase %s%s%s%s", phase ? phase : "unknown",
		ago ? ", since " : "", ago ? ago : "",
		node_text(s->vmi, "metadata.deletionTimestamp") ? "; it is to end" : "");
}

/* ---- what is in the way ---------------------------------------------------------------------- */

static void add(struct node *list, char *text)
{
	node_append(list, node_new(NODE_STRING, text));
	free(text);
}

static void obstacles(const struct story *s, struct node *to)
{
	const struct node *failing = story_condition(s, "Synchronized");
	const struct node *rejected = story_condition(s, "ManifestRejected");
	const struct node *looping = story_condition(s, "CrashLoop");
	const struct node *hangs = event_newest(s, "LibvirtHangs");

	if (s->trouble)
		add(to, xstrdup(s->trouble));
	if (event_is_newer(hangs, event_newest(s, REASONS_ENDED " Started")))
		add(to, xstrdup(node_text(hangs, "message")));
	if (rejected)
		add(to,
			xasprintf("its manifest, as it is now, is not applied: %s",
				node_text(rejected, "message")));
	if (looping && !streq(story_status(s), "CrashLoopBackOff"))
		add(to, xasprintf("it %s", node_text(looping, "message")));
	if (failing && !streq(story_status(s), "Starting"))
		add(to, xstrdup(node_text(failing, "message")));
}

/* ---- what comes next ------------------------------------------------------------------------- */

static char *in_time(const struct story *s, msec then)
{
	char age[AGE_SIZE];

	age_format(then - s->now, age);
	return xasprintf("in %s", age);
}

/* Of a failed start, or as the guard against crash loops says it. */
static const char *retry_time(const struct story *s)
{
	const char *at = node_text(s->vm, "status.startFailure.retryAfterTimestamp");
	const char *message = node_text(story_condition(s, "CrashLoop"), "message");
	const char *words = message ? strstr(message, RETRY_WORDS) : NULL;

	return !at && words ? words + strlen(RETRY_WORDS) : at;
}

static char *next_start(const struct story *s)
{
	const char *at = retry_time(s);
	autofree char *when = NULL;
	msec then;

	if (!streq(story_status(s), "CrashLoopBackOff") || !at || !time_parse(at, &then))
		return NULL;
	when = then > s->now ? in_time(s, then) : xstrdup("now");
	return xasprintf("it is started again %s, at %s", when, at);
}

static char *next_kill(const struct story *s)
{
	const struct node *signal = event_newest(s, "ShuttingDown");
	const char *grace = node_text(s->vmi, "spec.terminationGracePeriodSeconds");
	autofree char *when = NULL;
	msec then;

	if (!signal || !node_text(s->vmi, "metadata.deletionTimestamp") ||
		!streq(node_text(signal, "involvedObject.uid"),
			node_text(s->vmi, "metadata.uid")) ||
		event_is_newer(event_newest(s, REASONS_ENDED " Deleted"), signal) ||
		!time_parse(node_text(signal, "lastTimestamp"), &then))
		return NULL;
	then += SECONDS(grace ? strtoll(grace, NULL, 10) : GRACE_DEFAULT_S);
	when = then > s->now ? in_time(s, then) : xstrdup("now");
	return xasprintf("it is killed %s, if the guest does not end before", when);
}

/* ---- what can be done ------------------------------------------------------------------------ */

static char *do_start(const struct story *s)
{
	return xasprintf("vmactl start %s%s%s", s->name, streq(s->ns, "default") ? "" : " -n ",
		streq(s->ns, "default") ? "" : s->ns);
}

static char *do_unpause(const struct story *s)
{
	return xasprintf("vmactl unpause %s %s%s%s", s->vm ? "vm" : "vmi", s->name,
		streq(s->ns, "default") ? "" : " -n ", streq(s->ns, "default") ? "" : s->ns);
}

/* "web.yaml:10:7" out of "web.yaml:10:7: …"; the first of them. */
static char *do_mend(const struct story *s)
{
	const char *message = node_text(story_condition(s, "ManifestRejected"), "message");
	const char *end = message ? strstr(message, ": ") : NULL;

	return end ? xasprintf("mend %.*s", (int)(end - message), message) : NULL;
}

/* The file that an error names: 'its absolute path'. */
static char *do_look(const char *message)
{
	const char *path = message ? strstr(message, "'/") : NULL;
	size_t len = path ? strcspn(path + 1, "'") : 0;

	return len ? xasprintf("see to %.*s", (int)len, path + 1) : NULL;
}

static bool is_about_libvirt(const struct story *s)
{
	return s->trouble && strstr(s->trouble, "libvirt");
}

static char *to_do(const struct story *s)
{
	const char *status = story_status(s);
	const struct node *end = event_newest(s, REASONS_ENDED);
	autofree char *cause = end ? event_cause(end) : NULL;

	if (is_about_libvirt(s))
		return xstrdup("see to libvirt: its service and its log");
	if (story_condition(s, "ManifestRejected"))
		return do_mend(s);
	if (story_condition(s, "Failure"))
		return NULL; /* what it waits for is said */
	if (streq(status, "Starting") || streq(status, "Scheduling"))
		return do_look(node_text(story_condition(s, "Synchronized"), "message"));
	if (streq(status, "CrashLoopBackOff") || streq(status, "Failed"))
		return do_look(cause);
	if (streq(status, "Paused") &&
		streq(node_text(story_condition(s, "Paused"), "reason"), "PausedByUser"))
		return do_unpause(s);
	return s->vm && streq(status, "Stopped") ? do_start(s) : NULL;
}

struct node *explain(const struct story *s)
{
	struct node *to = node_new(NODE_MAP, NULL);
	char *next = next_start(s);

	take_text(to, "namespace", xstrdup(s->ns));
	take_text(to, "name", xstrdup(s->name));
	take_text(to, "status", xstrdup(story_status(s)));
	take_text(to, "why", explain_why(s));
	take_text(to, "wanted", wanted(s));
	take_text(to, "now", present(s));
	node_set(to, "but", node_new(NODE_LIST, NULL));
	obstacles(s, node_get(to, "but"));
	take_text(to, "next", next ? next : next_kill(s));
	node_set(to, "history", node_new(NODE_LIST, NULL));
	explain_history(s, node_get(to, "history"));
	node_set(to, "output", node_new(NODE_LIST, NULL));
	explain_output(s, node_get(to, "output"));
	take_text(to, "todo", to_do(s));
	return to;
}

/* ---- as lines -------------------------------------------------------------------------------- */

/* What comes from a guest or a manifest must not reach the terminal as a control sequence. */
static void add_line(struct buf *out, const char *label, const char *text)
{
	size_t from = out->len;

	if (*label)
		buf_printf(out, "%-*s%s", LABEL_WIDTH, label, text);
	else
		buf_printf(out, "%*s%s", LABEL_WIDTH, "", text);
	for (; from < out->len; from++)
		if ((unsigned char)out->data[from] < ' ' || out->data[from] == 0x7f)
			out->data[from] = strchr("\n\t\r", out->data[from]) ? ' ' : '?';
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	buf_puts(out, "\n");
}

static void print_text(const struct node *from, const char *key, const char *label, struct buf *out)
{
	const char *text = node_text(from, key);

	if (text)
		add_line(out, label, text);
}

static void print_list(const struct node *list, const char *label, struct buf *out)
{
	for (size_t i = 0; list && i < list->n_children; i++)
		add_line(out, i ? "" : label, list->children[i]->text);
}

static void print_entry(const struct node *entry, const char *label, struct buf *out)
{
	const char *actor = node_text(entry, "actor"), *count = node_text(entry, "count");
	bool agent = streq(actor, "agent"), once = streq(count, "1");
	autofree char *text = xasprintf("%s  %s%s%s%s%s%s%s", node_text(entry, "time"),
		node_text(entry, "message"), agent ? "" : " (", agent ? "" : actor,
		agent ? "" : ")", once ? "" : ", ", once ? "" : count, once ? "" : " times");

	add_line(out, label, text);
}

void explain_print(const struct node *from, struct buf *out)
{
	const struct node *history = node_get(from, "history");
	autofree char *first = xasprintf("%s/%s is %s: %s", node_text(from, "namespace"),
		node_text(from, "name"), node_text(from, "status"), node_text(from, "why"));

	buf_puts(out, "");
	add_line(out, first, "");
	print_text(from, "wanted", "Wanted:", out);
	print_text(from, "now", "Now:", out);
	print_list(node_get(from, "but"), "But:", out);
	print_text(from, "next", "Next:", out);
	for (size_t i = 0; history && i < history->n_children; i++)
		print_entry(history->children[i], i ? "" : "History:", out);
	print_list(node_get(from, "output"), "QEMU:", out);
	print_text(from, "todo", "To do:", out);
}
