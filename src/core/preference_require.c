/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a preference requires of a machine: CPUs, memory, an architecture. The words are KubeVirt's,
 * and so is that without an instancetype the CPUs are counted where the preference would have them.
 */
#include <inttypes.h>
#include <string.h>

#include "core/instancetype.h"
#include "core/quantity.h"
#include "core/schema.h"

#define CPU "spec.template.spec.domain.cpu"

/* ---- the preferred topology ------------------------------------------------------------------ */

static const struct {
	const char *name, *old_name;
	enum topology_kind kind;
} kinds[] = {
	{ "sockets", "preferSockets", TOPOLOGY_SOCKETS },
	{ "cores", "preferCores", TOPOLOGY_CORES },
	{ "threads", "preferThreads", TOPOLOGY_THREADS },
	{ "spread", "preferSpread", TOPOLOGY_SPREAD },
	{ "any", "preferAny", TOPOLOGY_ANY },
};

static const struct {
	const char *name;
	enum across across;
} acrosses[] = {
	{ "SocketsCores", ACROSS_SOCKETS_CORES },
	{ "CoresThreads", ACROSS_CORES_THREADS },
	{ "SocketsCoresThreads", ACROSS_SOCKETS_CORES_THREADS },
};

#define DEFAULT_RATIO 2

static int64_t number_at(const struct node *map, const char *path)
{
	const char *text = node_text(map, path);

	return text ? strtoll(text, NULL, 10) : 0;
}

struct preferred_topology preferred_topology_of(const struct node *preference)
{
	const char *kind = node_text(preference, "cpu.preferredCPUTopology");
	const char *across = node_text(preference, "cpu.spreadOptions.across");
	int64_t ratio = number_at(preference, "cpu.spreadOptions.ratio");
	int64_t old_ratio = number_at(preference, "preferSpreadSocketToCoreRatio");
	struct preferred_topology p = { .ratio = ratio ? ratio
			: old_ratio                    ? old_ratio
						       : DEFAULT_RATIO };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (streq(kinds[i].name, kind) || streq(kinds[i].old_name, kind))
			p.kind = kinds[i].kind;
	for (size_t i = 0; i < ARRAY_SIZE(acrosses); i++)
		if (streq(acrosses[i].name, across))
			p.across = acrosses[i].across;
	return p;
}

/* ---- CPUs ------------------------------------------------------------------------------------ */

/* Where the CPUs of a machine without an instancetype are counted. */
struct counted {
	bool sockets, cores, threads;
	const char *words;
};

static struct counted counted_in(const struct preferred_topology *p)
{
	static const struct counted spread[] = {
		[ACROSS_SOCKETS_CORES] = { true, true, false, "SocketsCores" },
		[ACROSS_CORES_THREADS] = { false, true, true, "CoresThreads" },
		[ACROSS_SOCKETS_CORES_THREADS] = { true, true, true, "SocketsCoresThreads" },
	};
	static const struct counted plain[] = {
		[TOPOLOGY_SOCKETS] = { true, false, false, "sockets" },
		[TOPOLOGY_CORES] = { false, true, false, "cores" },
		[TOPOLOGY_THREADS] = { false, false, true, "threads" },
		[TOPOLOGY_SPREAD] = { 0 },
		[TOPOLOGY_ANY] = { true, true, true, "cores, sockets and threads" },
	};

	return p->kind == TOPOLOGY_SPREAD ? spread[p->across] : plain[p->kind];
}

static int64_t count(const struct node *spec, const struct counted *in)
{
	int64_t product = 1;

	if (in->sockets)
		product *= number_at(spec, "domain.cpu.sockets");
	if (in->cores)
		product *= number_at(spec, "domain.cpu.cores");
	if (in->threads)
		product *= number_at(spec, "domain.cpu.threads");
	return product;
}

static void require_cpus(struct expansion *e, int64_t needed)
{
	struct preferred_topology p = preferred_topology_of(e->preference);
	struct counted in = counted_in(&p);
	int64_t given = number_at(e->instancetype, "cpu.guest"), has = count(e->spec, &in);
	const struct node *cpu = node_at(e->spec, "domain.cpu");

	if (e->instancetype && given < needed)
		findings_add(e->findings, NULL, "spec.instancetype",
			"insufficient CPU resources of %" PRId64
			" vCPU provided by instance type, preference requires %" PRId64 " vCPU",
			given, needed);
	else if (!e->instancetype && !cpu && needed)
		findings_add(e->findings, e->spec, CPU,
			"no CPU resources provided by VirtualMachine, preference requires %" PRId64
			" vCPU",
			needed);
	else if (!e->instancetype && has < needed)
		findings_add(e->findings, cpu, CPU,
			"insufficient CPU resources of %" PRId64
			" vCPU provided by VirtualMachine, preference requires %" PRId64
			" vCPU provided as %s",
			has, needed, in.words);
}

/* ---- memory, architecture -------------------------------------------------------------------- */

static void require_memory(struct expansion *e, const char *needed)
{
	const struct node *guest = node_at(e->spec, "domain.memory.guest");
	const char *has = guest && guest->text ? guest->text : "0";

	if (quantity_compare(has, needed) < 0)
		findings_add(e->findings, guest,
			e->instancetype ? "spec.instancetype" : "spec.template.spec.domain.memory",
			"insufficient Memory resources of %s provided by %s, preference requires %s",
			has, e->instancetype ? "instance type" : "VirtualMachine", needed);
}

static void require_architecture(struct expansion *e, const char *needed)
{
	const char *has = node_text(e->spec, "architecture");

	if (!streq(has ? has : HOST_ARCHITECTURE, needed))
		findings_add(e->findings, node_get(e->spec, "architecture"),
			"spec.template.spec.architecture",
			"preference requires architecture %s but %s is being requested", needed,
			has ? has : HOST_ARCHITECTURE);
}

void preference_require(struct expansion *e)
{
	const struct node *wanted = node_get(e->preference, "requirements");
	const char *memory = node_text(wanted, "memory.guest");
	const char *architecture = node_text(wanted, "architecture");

	if (node_get(wanted, "cpu"))
		require_cpus(e, number_at(wanted, "cpu.guest"));
	if (memory)
		require_memory(e, memory);
	if (architecture)
		require_architecture(e, architecture);
}
