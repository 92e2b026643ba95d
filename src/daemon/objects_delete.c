/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects are deleted: whether one may be, and by whom it is done for its kind. Shared by requests
 * and the manifest folder.
 */
#include "daemon/migration_objects.h"
#include "daemon/obstacles.h"

int agent_check_delete(const struct agent *agent, const struct target *t, struct err *err)
{
	if (t->g)
		return migration_object_check_delete(t->g, err);
	return t->kind == KIND_NAMESPACE ? namespace_check_delete(agent, t->record, err)
					 : agent_check_orders(t->m, err);
}

/* What its templates made goes with it. */
static void delete_vm(struct agent *agent, struct machine *m, bool by_file, struct now now)
{
	data_volumes_leave(agent, m, false, by_file, now);
	vm_delete(m, now);
}

void agent_delete_object(struct agent *agent, const struct target *t, const struct actor *actor,
	struct now now)
{
	bool by_file = actor->kind == ACTOR_FILE;

	if (t->kind == KIND_NAMESPACE)
		namespace_delete(agent, t->record, actor, now);
	else if (t->kind == KIND_PVC)
		claims_delete(agent, t->record, by_file, now);
	else if (t->kind == KIND_DATA_VOLUME)
		data_volumes_delete(agent, t->record, by_file, now);
	else if (t->g)
		migration_object_delete(agent, t->g, now);
	else if (t->record)
		records_remove(&agent->records, t->record);
	else if (t->kind == KIND_VM)
		delete_vm(agent, t->m, by_file, now);
	else
		vmi_delete(t->m, now);
	if (t->m)
		agent_mark(agent, t->m);
}
