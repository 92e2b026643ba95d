/* SPDX-License-Identifier: Apache-2.0 */
#include "test/lib/migration_rows.h"

#include <check.h>
#include <string.h>

struct migration g;
struct machine m;
struct vmi vmi;
struct handover_rules rules;
struct migration_view view;

void migration_set_up(void)
{
	g = (struct migration){ .role = MIGRATION_SOURCE,
		.state = MIGRATION_OUT,
		.vmi = (char *)"web",
		.peer = (char *)"b",
		.vmi_uid = "r",
		.database = "d",
		.epoch = 2,
		.began = NOW };
	vmi = (struct vmi){ .phase = PHASE_RUNNING, .meta = { .uid = "r" }, .prepared = true };
	m = (struct machine){ .ns = (char *)"default",
		.name = (char *)"web",
		.vmi = &vmi,
		.dom = { .state = DOMAIN_RUNNING,
			.active = true,
			.owner = "r",
			.agreed = READS_TO_AGREE } };
	rules = HANDOVER_RULES;
	view = (struct migration_view){ .g = &g,
		.m = &m,
		.rules = &rules,
		.now = { .boot = NOW, .wall = NOW },
		.connected = true,
		.peer_up = true,
		.may_begin = true };
}

void pauses(enum domain_reason reason)
{
	m.dom.state = DOMAIN_PAUSED;
	m.dom.reason = reason;
}

void peer_gone(void)
{
	view.peer_up = false;
}

void too_late(void)
{
	view.now.boot = NOW + SECONDS(MIGRATION_PENDING_S);
}

void unseen(void)
{
	m.dom.look_again = true;
}

void acked(void)
{
	g.acked = true;
}

void run_is_gone(void)
{
	m.vmi = NULL;
}

void busy_lane(void)
{
	m.ops[LANE_GUEST].kind = OP_MIGRATE_RESUME;
}

void main_lane_busy(void)
{
	m.ops[LANE_MAIN].kind = OP_MIGRATE_WRITE_NVRAM;
}

void disconnected(void)
{
	view.connected = false;
}

void post_copy(void)
{
	g.post_copy = true;
}

void networked(void)
{
	vmi.typed.n_interfaces = 1;
}

void announced(void)
{
	networked();
	g.announced = true;
}

void announcing(void)
{
	networked();
	m.ops[LANE_GUEST].kind = OP_MIGRATE_ANNOUNCE;
}

void migration_row_check(const struct migration_row *row)
{
	struct migration_plan plan;

	for (size_t i = 0; i < ARRAY_SIZE(row->facts) && row->facts[i]; i++)
		row->facts[i]();
	plan = migration_decide(&view);
	ck_assert_str_eq(migration_step_name(plan.step), migration_step_name(row->step));
	if (row->step == MIGRATION_STEP_SAY)
		ck_assert_str_eq(handover_name(plan.say), handover_name(row->say));
	if (row->reason)
		ck_assert_msg(plan.reason && strstr(plan.reason, row->reason), "'%s'", plan.reason);
}
