/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened, kept until the commit: then each note is an Event object with a number, and one
 * log line. Numbers have no gaps, because they are given within the transaction.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/agent_private.h"

void agent_note(struct agent *agent, const struct object_meta *object, const struct happening *what)
{
	struct note *note;

	if (!what->text[0])
		return;
	note = LIST_ADD(agent->notes, agent->n_notes, agent->cap_notes);
	note->object.ns = xstrdup(object->ns);
	note->object.name = xstrdup(object->name);
	copy_str(note->object.uid, UID_SIZE, object->uid);
	note->what = *what;
	note->file = xstrdup(what->actor.file);
	note->what.actor.file = note->file;
	note->output = xstrdup(what->output);
	note->what.output = note->output;
}

static int note_save(struct agent *agent, const struct note *note, struct now now, struct err *err)
{
	char uid[UID_SIZE], name[NAME_MAX_LEN + 20];
	struct event_facts facts = { .what = &note->what, .object = &note->object };
	/* What lies in no namespace has its events in the default one, as in Kubernetes. */
	struct object_row row = { .kind = KIND_EVENT,
		.ns = *note->object.ns ? note->object.ns : NAMESPACE_DEFAULT };
	autofree char *document = NULL;

	agent_uuid(agent, uid);
	facts.seq = ++agent->event_seq;
	facts.rv = store_next_rv(agent->store);
	facts.wall = now.wall;
	facts.node_name = agent->options->node_name;
	facts.ns = row.ns;
	facts.name = name;
	facts.uid = uid;
	snprintf(name, sizeof(name), "%s.%016" PRIx64, note->object.name, facts.seq);
	document = event_document(&facts);
	row.name = name;
	row.uid = uid;
	row.rv = facts.rv;
	row.object = document;
	return store_put(agent->store, &row, err);
}

int notes_save_seq(struct agent *agent, struct err *err)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, agent->event_seq);
	return store_put_value(agent->store, "event_seq", text, err);
}

int notes_save(struct agent *agent, struct now now, struct err *err)
{
	int64_t before = agent->event_seq;
	int ret = 0;

	for (size_t i = 0; i < agent->n_notes && ret == 0; i++) {
		if (agent->notes[i].what.reason)
			ret = note_save(agent, &agent->notes[i], now, err);
	}
	if (ret == 0 && agent->event_seq != before)
		ret = notes_save_seq(agent, err);
	if (ret < 0)
		agent->event_seq = before;
	return ret;
}

/* " line | line", in one line of the log. */
static char *output_line(const char *output)
{
	struct buf b = { 0 };

	buf_puts(&b, output ? " " : "");
	for (const char *c = output; c && *c; c++)
		buf_puts(&b, *c == '\n' ? " | " : (char[]){ *c, '\0' });
	return b.data;
}

static void note_log(const struct note *note)
{
	autofree char *machine = xasprintf("%s%s%s", note->object.ns, *note->object.ns ? "/" : "",
		note->object.name);
	autofree char *output = output_line(note->output), *text = NULL;
	char actor[300];
	struct log_line line = {
		.level = note->what.warning ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO,
		.machine = machine,
		.uid = note->object.uid,
		.reason = note->what.reason,
	};

	actor_text(&note->what.actor, actor, sizeof(actor));
	text = xasprintf("%s: %s%s%s%s%s", machine, note->what.text, output,
		note->what.actor.kind ? " (" : "", note->what.actor.kind ? actor : "",
		note->what.actor.kind ? ")" : "");
	line.text = text;
	log_emit(&line);
}

static void note_done(struct note *note)
{
	free(note->object.ns);
	free(note->object.name);
	free(note->file);
	free(note->output);
}

void notes_publish(struct agent *agent)
{
	for (size_t i = 0; i < agent->n_notes; i++) {
		if (!agent->notes[i].what.quiet)
			note_log(&agent->notes[i]);
		note_done(&agent->notes[i]);
	}
	agent->n_notes = 0;
}

void notes_done(struct agent *agent)
{
	for (size_t i = 0; i < agent->n_notes; i++)
		note_done(&agent->notes[i]);
	free(agent->notes);
}
