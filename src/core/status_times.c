/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Since when conditions are as they are. Conditions are derived anew each time; only their times
 * are kept, by type, with the VM and the VMI that they are of.
 */
#include "core/status.h"

#include <stdio.h>

static const struct condition_time *time_of(const struct condition_times *times, const char *type)
{
	for (unsigned i = 0; i < times->n; i++) {
		if (streq(times->list[i].type, type))
			return &times->list[i];
	}
	return NULL;
}

void conditions_take_times(struct conditions *c, const struct condition_times *times)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct condition_time *time = time_of(times, c->list[i].type);

		c->list[i].since = time ? time->since : 0;
	}
}

/* What is no longer there is forgotten, so that it begins anew when it comes back. */
static void note(const struct conditions *c, struct condition_times *times, struct now now)
{
	struct condition_times before = *times;

	times->n = 0;
	for (size_t i = 0; i < c->n; i++) {
		struct condition_time *time = &times->list[times->n++];
		const struct condition_time *was = time_of(&before, c->list[i].type);

		*time = (struct condition_time){ .since = now.wall };
		copy_str(time->type, sizeof(time->type), c->list[i].type);
		snprintf(time->state, sizeof(time->state), "%s %s",
			c->list[i].status ? "True" : "False",
			c->list[i].reason ? c->list[i].reason : "");
		if (was && streq(was->state, time->state))
			time->since = was->since;
	}
}

void conditions_note(struct machine *m, struct now now)
{
	struct conditions conditions;

	if (m->vmi) {
		vmi_conditions(m->vmi, &m->dom, &conditions);
		note(&conditions, &m->vmi->times, now);
		conditions_done(&conditions);
	}
	if (m->vm) {
		vm_conditions(m->vm, m->vmi, &m->dom, &conditions);
		note(&conditions, &m->vm->times, now);
		conditions_done(&conditions);
	}
}
