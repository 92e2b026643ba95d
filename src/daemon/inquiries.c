/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peers ask whether a guest can come. Of this host libvirt is asked first; for a CHECK the files and
 * devices that must be there are looked for, too, which PREPARE finds out as it gets ready. Both
 * take their time elsewhere, and how much of it is one peer's is bounded. Nothing is made.
 */
#include <string.h>

#include "core/json.h"
#include "core/migration_check.h"
#include "daemon/arrivals_private.h"

/* Of one peer at a time, which asks for more again: none keeps the others from being heard. */
#define INQUIRIES_MAX 16
#define CPU_MAX       65536 /* bytes of XML */

static void inquiry_done(struct inquiry *q)
{
	free(q->document);
	free(q->report);
}

void arrivals_done(struct agent *agent)
{
	for (size_t i = 0; i < agent->n_inquiries; i++)
		inquiry_done(&agent->inquiries[i]);
	free(agent->inquiries);
}

static void answer(struct agent *agent, size_t i, const char *missing, struct now now)
{
	struct inquiry q = agent->inquiries[i];

	agent->inquiries[i] = agent->inquiries[--agent->n_inquiries];
	if (!agent->uncommitted) /* else it is not heard, and said again */
		arrival_judge(agent, &q, missing, now);
	inquiry_done(&q);
}

static struct inquiry *find(struct agent *agent, uint64_t op)
{
	for (size_t i = 0; i < agent->n_inquiries; i++)
		if (agent->inquiries[i].op == op)
			return &agent->inquiries[i];
	return NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* One of a peer at a time, so that none has all of them; what hangs keeps its place. */
static struct look *place_for(struct agent *agent, const char *peer)
{
	struct look *place = NULL;

	for (size_t i = 0; i < LOOKS_MAX; i++) {
		struct look *look = &agent->looks[i];

		if (look->op && streq(look->peer, peer))
			return NULL;
		if (!look->op)
			place = look;
	}
	return place;
}

static bool is_any_expected(const struct op *needs)
{
	for (size_t i = 0; i < needs->n_work; i++)
		if (volume_work_is_expected(&needs->work[i]))
			return true;
	return false;
}

/* Whether there is anything to look for. */
static bool look(struct agent *agent, struct inquiry *q, struct look *place, struct now now)
{
	struct op needs = { 0 };

	arrival_needs(agent, q, &needs, now);
	if (is_any_expected(&needs)) {
		q->op = ops_plan_look(agent, &needs);
		*place = (struct look){ .op = q->op, .peer = q->peer };
	}
	op_done(&needs);
	return q->op != 0;
}

static void look_on(struct agent *agent, struct now now)
{
	for (size_t i = 0; i < agent->n_inquiries;) {
		struct inquiry *q = &agent->inquiries[i];
		struct look *place = q->op ? NULL : place_for(agent, q->peer);

		if (!place || look(agent, q, place, now))
			i++;
		else
			answer(agent, i, NULL, now);
	}
}

void arrivals_looked(struct agent *agent, const struct op_result *result, struct now now)
{
	const struct inquiry *q = find(agent, result->id);

	for (size_t i = 0; i < LOOKS_MAX; i++)
		if (agent->looks[i].op == result->id)
			agent->looks[i].op = 0;
	if (q)
		answer(agent, (size_t)(q - agent->inquiries), result->text, now);
	look_on(agent, now);
}

/* ---- libvirt --------------------------------------------------------------------------------- */

/* That, or as much as is taken of one peer. */
static bool is_asked(const struct agent *agent, const struct inquiry *q)
{
	unsigned n = 0;

	for (size_t i = 0; i < agent->n_inquiries; i++) {
		const struct inquiry *other = &agent->inquiries[i];

		if (!streq(other->peer, q->peer))
			continue;
		if (++n == INQUIRIES_MAX || streq(other->handover.migration, q->handover.migration))
			return true;
	}
	return false;
}

/* The peer's words go to libvirt's own parser: no more of them than a CPU takes. */
static char *cpu_of(const char *document)
{
	cJSON *json = json_read(document);
	const char *cpu = cargo_text(json, "cpu");
	char *copy = cpu && starts_with(cpu, "<cpu") && strlen(cpu) <= CPU_MAX ? xstrdup(cpu)
									       : NULL;

	cJSON_Delete(json);
	return copy;
}

void arrival_hear(struct agent *agent, const struct peer_event *event, struct now now)
{
	bool enabled = agent->options->migrations;
	struct inquiry q = { .peer = peers_name(agent, event->name), .handover = *event->handover };

	if (!q.peer || is_asked(agent, &q))
		return;
	if (enabled && !agent->connected && q.handover.kind == HANDOVER_PREPARE) {
		copy_str(handover_answer(agent, q.peer, &q.handover, HANDOVER_BUSY)->why,
			PEER_WHY_SIZE, "it is not connected to libvirt");
		return;
	}
	q.document = xstrdup(event->handover->document);
	if (!enabled || !agent->connected) {
		arrival_judge(agent, &q, NULL, now);
		inquiry_done(&q);
		return;
	}
	q.op = ops_plan_compare(agent, cpu_of(q.document));
	q.until = now.boot + op_kind_deadline(OP_COMPARE);
	q.handover.document = NULL;
	*LIST_ADD(agent->inquiries, agent->n_inquiries, agent->cap_inquiries) = q;
}

/* Libvirt has answered, or not in its time. */
static void go_on(struct agent *agent, size_t i, struct now now)
{
	struct inquiry *q = &agent->inquiries[i];

	if (q->handover.kind != HANDOVER_CHECK) {
		answer(agent, i, NULL, now);
		return;
	}
	q->compared = true;
	q->op = 0;
	q->until = now.boot + op_kind_deadline(OP_LOOK);
}

void arrivals_compared(struct agent *agent, const struct op_result *result, struct now now)
{
	struct inquiry *q = find(agent, result->id);

	if (q) {
		q->report = xstrdup(result->text);
		go_on(agent, (size_t)(q - agent->inquiries), now);
		look_on(agent, now);
		return;
	}
	if (agent->report.op != result->id)
		return;
	agent->report.op = 0;
	if (result->text)
		replace_str(&agent->report.text, result->text);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void answer_late(struct agent *agent, size_t i, struct now now)
{
	struct findings late = { 0 };
	autofree char *missing = NULL;

	findings_add(&late, NULL, migration_check_name(MIGRATION_CHECK_LATE),
		"what the guest needs there could not be looked for within %d s",
		(int)(op_kind_deadline(OP_LOOK) / SECONDS(1)));
	missing = migration_findings_write(&late);
	findings_done(&late);
	answer(agent, i, missing, now);
}

void arrivals_turn(struct agent *agent, struct now now)
{
	bool asks = agent->connected && agent->options->migrations && !agent->report.asked;

	if (asks) {
		agent->report.asked = true;
		agent->report.op = ops_plan_compare(agent, NULL);
	}
	for (size_t i = 0; i < agent->n_inquiries;) {
		if (now.boot < agent->inquiries[i].until)
			i++;
		else if (agent->inquiries[i].compared)
			answer_late(agent, i, now);
		else
			go_on(agent, i, now);
	}
	look_on(agent, now);
}

msec arrivals_wake_at(const struct agent *agent)
{
	msec at = NEVER;

	for (size_t i = 0; i < agent->n_inquiries; i++)
		at = MIN(at, agent->inquiries[i].until);
	return at;
}
