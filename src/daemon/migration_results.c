/* SPDX-License-Identifier: Apache-2.0 */
/* What came of the ops of a migration. Loop thread only. */
#include "core/migration.h"
#include "core/printable.h"
#include "daemon/agent_private.h"
#include "daemon/arrivals.h"
#include "daemon/migrations.h"

/* Each attempt needs a new relay at the target. */
static void migration_recovers_again(struct agent *agent, struct migration *g, struct now now)
{
	g->recovery++;
	g->prepared = false;
	g->said = HANDOVER_RECOVER;
	g->say_at = now.boot + SECONDS(MIGRATION_BUSY_S);
	migration_touch(agent, g);
}

/* Unless another one is wanted meanwhile. */
static void note_relay(struct agent *agent, struct migration *g, const struct op_result *result,
	struct now now)
{
	if (result->err.code || g->state != MIGRATION_OWNER ||
		migration_recovery_of(result->text) != g->recovery)
		return;
	g->prepared = true;
	replace_str(&g->offer, result->text);
	migration_touch(agent, g);
	handover_say(agent, g, HANDOVER_PREPARED, now);
}

/* The source hears why not when it is asked what has become of it. */
static void note_prepared(struct agent *agent, struct migration *g, const struct op_result *result,
	struct now now)
{
	bool good = result->err.code == ERR_OK;

	migration_note_trouble(g, good ? NULL : result->err.msg);
	agent->migrations.changed |= g->changed;
	if (!good)
		return;
	g->prepared = true;
	g->say_at = 0;
	replace_str(&g->offer, result->text);
	migration_touch(agent, g);
	handover_say(agent, g, HANDOVER_PREPARED, now);
}

/* In the words that the other host is told: both show the same. */
static void note_failure(struct migration *g, const struct op_result *result)
{
	char words[PEER_WHY_SIZE];

	copy_printable(words, sizeof(words), result->err.msg);
	replace_str(&g->refusal, words);
}

void migrations_result(struct agent *agent, struct machine *m, const struct op_result *result,
	struct now now)
{
	struct migration *g = m->migration;
	bool good = result->err.code == ERR_OK;

	if (!g || !m->vmi || !streq(m->vmi->meta.uid, g->vmi_uid))
		return;
	if (op_kind_lane(result->kind) == LANE_MIGRATE && !g->post_copy)
		g->wants_post_copy = result->post_copy;
	if (result->kind == OP_MIGRATE) {
		g->performed = good;
		free(take(&g->refusal));
		if (!good)
			note_failure(g, result);
		if (!good && g->recovery && g->state == MIGRATION_RELEASED && !g->ended)
			migration_recovers_again(agent, g, now);
	} else if (result->kind == OP_MIGRATE_RELAY) {
		note_relay(agent, g, result, now);
	} else if (result->kind == OP_MIGRATE_WATCH && !good) {
		note_failure(g, result);
	} else if (result->kind == OP_MIGRATE_ANNOUNCE) {
		g->announced = result->err.code != ERR_UNAVAILABLE;
	} else if (result->kind == OP_MIGRATE_SEAL) {
		g->sealed = good;
		g->unsealed = !good;
	} else if (result->kind == OP_MIGRATE_PASS) {
		g->passed = good;
	} else if (result->kind == OP_MIGRATE_READ_NVRAM) {
		variables_read(g, result);
	} else if (result->kind == OP_MIGRATE_WRITE_NVRAM) {
		variables_written(g, result);
		agent->migrations.changed |= g->changed;
	} else if (result->kind == OP_MIGRATE_PREPARE && g->state == MIGRATION_IN) {
		note_prepared(agent, g, result, now);
	}
}
