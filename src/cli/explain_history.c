/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a story: which of them tell something, the newest of a kind, QEMU's own words. It
 * must not know what state the machine is in.
 */
#include "cli/explain_private.h"

#include <string.h>

#include "core/age.h"

static bool word_in(const char *list, const char *word)
{
	size_t len = word ? strlen(word) : 0;

	for (const char *at = list; len && (at = strstr(at, word)); at += len)
		if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

const struct node *event_newest(const struct story *s, const char *reasons)
{
	for (size_t i = s->events ? s->events->n_children : 0; i-- > 0;)
		if (word_in(reasons, node_text(s->events->children[i], "reason")))
			return s->events->children[i];
	return NULL;
}

static const char *annotation(const struct node *event, const char *name)
{
	const struct node *found = node_get(node_at(event, "metadata.annotations"), name);

	return found ? found->text : NULL;
}

static long long number_of(const struct node *event)
{
	const char *text = annotation(event, "vmagent.io/seq");

	return text ? strtoll(text, NULL, 10) : 0;
}

bool event_is_newer(const struct node *event, const struct node *than)
{
	return event && (!than || number_of(event) > number_of(than));
}

const char *event_actor(const struct node *event)
{
	const char *actor = annotation(event, "vmagent.io/actor");

	return actor ? actor : "agent";
}

char *time_ago(const struct story *s, const char *text)
{
	char age[AGE_SIZE];
	msec then;

	if (!time_parse(text, &then))
		return xstrdup("at an unknown time");
	age_format(s->now - then, age);
	return xasprintf("%s ago", age);
}

char *event_ago(const struct story *s, const struct node *event)
{
	return time_ago(s, node_text(event, "lastTimestamp"));
}

char *event_cause(const struct node *event)
{
	const char *message = node_text(event, "message"), *colon;
	char *cause, *view;

	if (!message)
		return xstrdup("nothing tells why");
	colon = starts_with(message, "phase ") ? strstr(message, ": ") : NULL;
	cause = xstrdup(colon ? colon + 2 : message);
	view = strstr(cause, " (libvirt: ");
	if (view)
		*view = '\0';
	return cause;
}

/* What only says again what another event says, or changed nothing, is no part of the story. */
static bool is_told(const struct node *event)
{
	return !word_in("Created SuccessfulCreate SuccessfulDelete QEMUOutput Refused",
		node_text(event, "reason"));
}

static bool is_same(const struct node *event, const struct node *entry)
{
	return streq(node_text(event, "message"), node_text(entry, "message")) &&
		streq(event_actor(event), node_text(entry, "actor"));
}

static void set_text(struct node *map, const char *key, const char *text)
{
	if (text)
		node_set(map, key, node_new(NODE_STRING, text));
}

static struct node *entry_of(const struct node *event)
{
	struct node *entry = node_new(NODE_MAP, NULL);

	set_text(entry, "time", node_text(event, "lastTimestamp"));
	set_text(entry, "type", node_text(event, "type"));
	set_text(entry, "reason", node_text(event, "reason"));
	set_text(entry, "message", node_text(event, "message"));
	set_text(entry, "actor", event_actor(event));
	set_text(entry, "cause", annotation(event, "vmagent.io/cause"));
	set_text(entry, "libvirt", annotation(event, "vmagent.io/libvirt"));
	node_set(entry, "count", node_new_int(1));
	return entry;
}

/* From the newest backwards; the same thing time and again is one entry, of the last time. */
void explain_history(const struct story *s, struct node *to)
{
	for (size_t i = s->events ? s->events->n_children : 0; i-- > 0;) {
		const struct node *event = s->events->children[i];
		struct node *oldest = to->n_children ? to->children[0] : NULL;

		if (!is_told(event))
			continue;
		if (oldest && is_same(event, oldest)) {
			long long n = strtoll(node_text(oldest, "count"), NULL, 10);

			node_set(oldest, "count", node_new_int(n + 1));
		} else if (to->n_children == EXPLAIN_HISTORY_MAX) {
			return;
		} else {
			node_insert(to, 0, entry_of(event));
		}
	}
}

/* Only of the run that there is, or of the one that ended last. */
static bool is_of_interest(const struct story *s, const struct node *output)
{
	const struct node *end = event_newest(s, REASONS_ENDED);
	const char *uid = node_text(output, "involvedObject.uid");

	return uid &&
		(streq(uid, node_text(s->vmi, "metadata.uid")) ||
			streq(uid, node_text(end, "involvedObject.uid")));
}

/* The first line of its message is ours. */
void explain_output(const struct story *s, struct node *to)
{
	const struct node *event = event_newest(s, "QEMUOutput");
	autofree char *copy = NULL;
	char *rest, *line;

	if (!event || !is_of_interest(s, event))
		return;
	copy = xstrdup(node_text(event, "message"));
	rest = copy;
	strsep(&rest, "\n");
	while (rest && (line = strsep(&rest, "\n"))) {
		if (to->n_children == EXPLAIN_OUTPUT_MAX)
			node_free(node_take(to, 0));
		node_append(to, node_new(NODE_STRING, line));
	}
}
