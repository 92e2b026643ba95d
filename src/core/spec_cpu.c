/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of spec_parse() that is about CPUs and memory.
 *
 * Owns how texts become values. It must not judge: which values are possible has been checked.
 */
#include "core/defaults.h"
#include "core/schema.h"
#include "core/spec_private.h"

#define HUGE_PAGE_SIZE "domain.memory.hugepages.pageSize"

static int parse_cpu_features(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	const struct node *list;
	size_t n;

	if (spec_list(spec, "domain.cpu.features", &list, &n, err))
		return -ERR_INVALID;
	s->cpu_features = n ? xcalloc(n, sizeof(*s->cpu_features)) : NULL;
	for (size_t i = 0; i < n; i++) {
		struct cpu_feature *feature = &s->cpu_features[s->n_cpu_features++];
		const char *policy = node_text(list->children[i], "policy");

		feature->name = spec_copy(list->children[i], "name");
		feature->policy = xstrdup(policy && *policy ? policy : "require");
		if (!feature->name)
			return err_set(err, ERR_INVALID, "a CPU feature has no name");
	}
	return 0;
}

int spec_parse_cpu(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	struct topology t = topology_of(spec);

	if (t.sockets > CPU_COUNT_MAX || t.cores > CPU_COUNT_MAX || t.threads > CPU_COUNT_MAX)
		return err_set(err, ERR_INVALID, "over %d sockets, cores or threads",
			CPU_COUNT_MAX);
	s->sockets = (unsigned)t.sockets;
	s->cores = (unsigned)t.cores;
	s->threads = (unsigned)t.threads;
	if (spec_unsigned(spec, "domain.cpu.maxSockets", &s->max_sockets, err))
		return -ERR_INVALID;
	s->max_sockets = MAX(s->max_sockets, s->sockets);
	s->dedicated = spec_bool(spec, "domain.cpu.dedicatedCpuPlacement", false);
	s->isolate_emulator = spec_bool(spec, "domain.cpu.isolateEmulatorThread", false);
	s->numa_passthrough = node_at(spec, "domain.cpu.numa.guestMappingPassthrough");
	s->realtime = node_at(spec, "domain.cpu.realtime");
	s->realtime_mask = spec_copy(spec, "domain.cpu.realtime.mask");
	s->cpu_model = spec_copy(spec, "domain.cpu.model");
	if (!s->cpu_model)
		s->cpu_model = xstrdup(DEFAULT_CPU_MODEL);
	return parse_cpu_features(spec, s, err);
}

int spec_parse_memory(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	int rc = spec_quantity(spec, "domain.memory.guest", &s->memory, err);

	if (!rc && s->memory < MEMORY_MIN)
		rc = err_set(err, ERR_INVALID, "no memory, or less than 1M");
	if (!rc)
		rc = spec_quantity(spec, "domain.memory.maxGuest", &s->max_memory, err);
	if (s->max_memory <= s->memory)
		s->max_memory = 0;
	return rc ? rc : spec_quantity(spec, HUGE_PAGE_SIZE, &s->huge_pages, err);
}
