/* SPDX-License-Identifier: Apache-2.0 */
/* What came of the ops of a migration. Loop thread only. */
#include "core/migration.h"
#include "daemon/agent_private.h"
#include "daemon/migrations.h"

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
		replace_str(&g->refusal, good ? NULL : result->err.msg);
	} else if (result->kind == OP_MIGRATE_WATCH && !good) {
		replace_str(&g->refusal, result->err.msg);
	} else if (result->kind == OP_MIGRATE_PASS) {
		g->passed = good;
	} else if (result->kind == OP_MIGRATE_ABORT && !good) {
		g->cancelling = false;
	} else if (result->kind == OP_MIGRATE_PREPARE && good && g->state == MIGRATION_IN) {
		g->prepared = true;
		g->say_at = 0;
		replace_str(&g->offer, result->text);
		migration_touch(agent, g);
		handover_say(agent, g, HANDOVER_PREPARED, now);
	}
}
