/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether runs may be on this host: its labels and taints, the runs that are on it, its
 * KVM. What is asked of other runs is asked of those that have room, and only if one of the
 * two sides asks anything.
 */
#include <string.h>

#include "core/placement.h"
#include "daemon/obstacles.h"

static struct placed_run placed_run_of(const struct agent *agent, const struct machine *m)
{
	const struct record *ns = records_find(&agent->records, KIND_NAMESPACE, "", m->ns);

	return (struct placed_run){
		.ns = m->ns,
		.name = m->name,
		.labels = m->vmi->meta.labels,
		.namespace_labels = ns ? ns->meta.labels : NULL,
		.placement = &m->vmi->typed.placement,
	};
}

static char *runs_words(const struct agent *agent, const struct machine *m)
{
	const struct machine_list *holders = &agent->capacity.holders;
	struct placed_run run = placed_run_of(agent, m), *others;
	char *words;
	size_t n = 0;

	if (!placement_has_terms(run.placement) && !agent->capacity.with_terms)
		return NULL;
	others = xcalloc(holders->n, sizeof(*others));
	for (size_t i = 0; i < holders->n; i++) {
		if (holders->list[i] != m)
			others[n++] = placed_run_of(agent, holders->list[i]);
	}
	words = placement_runs_words(&run, others, n, &agent->options->place);
	free(others);
	return words;
}

enum obstacle placing_obstacle(const struct agent *agent, const struct machine *m, char **ret_words)
{
	char *words = placement_host_words(&m->vmi->typed.placement, &agent->options->place);

	if (!words)
		words = runs_words(agent, m);
	if (!words)
		return OBSTACLE_NONE;
	*ret_words = words;
	return OBSTACLE_UNSCHEDULABLE;
}

enum obstacle kvm_obstacle(const struct agent *agent, const struct machine *m, char **ret_words)
{
	(void)m;
	if (!agent->options->kvm_is_missing)
		return OBSTACLE_NONE;
	*ret_words = xstrdup(
		"0/1 nodes are available: 1 Insufficient devices.kubevirt.io/kvm: the "
		"configuration says 'emulation: kvm', and KVM did not work on this host "
		"when vmagent started; restart it once KVM works, or say 'emulation: auto'");
	return OBSTACLE_UNSCHEDULABLE;
}
