/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An instancetype's gifts to a template, by KubeVirt's own list (semantics §10.4). What the
 * template says of the same is in conflict with it, and then nothing is given.
 */
#include <inttypes.h>
#include <string.h>

#include "core/instancetype.h"
#include "core/quantity.h"

#define TEMPLATE "spec.template.spec."

static const struct gift {
	const char *from, *to; /* in the instancetype's spec, in the template's */
	bool only_judged;      /* what it becomes is more than a copy, or stands elsewhere */
} gifts[] = {
	/* clang-format off */
	{ "nodeSelector",              "nodeSelector",                     false },
	{ "schedulerName",             "schedulerName",                    false },
	{ "cpu.guest",                 "domain.resources.requests.cpu",    true },
	{ "cpu.guest",                 "domain.resources.limits.cpu",      true },
	{ "cpu.guest",                 "domain.cpu.sockets",               true },
	{ "cpu.guest",                 "domain.cpu.cores",                 true },
	{ "cpu.guest",                 "domain.cpu.threads",               true },
	{ "cpu.model",                 "domain.cpu.model",                 false },
	{ "cpu.dedicatedCPUPlacement", "domain.cpu.dedicatedCpuPlacement", false },
	{ "cpu.isolateEmulatorThread", "domain.cpu.isolateEmulatorThread", false },
	{ "cpu.numa",                  "domain.cpu.numa",                  false },
	{ "cpu.realtime",              "domain.cpu.realtime",              false },
	{ "cpu.maxSockets",            "domain.cpu.maxSockets",            false },
	{ "memory.guest",              "domain.memory.guest",              false },
	{ "memory.hugepages",          "domain.memory.hugepages",          false },
	{ "memory.maxGuest",           "domain.memory.maxGuest",           false },
	{ "memory.guest",              "domain.resources.requests.memory", true },
	{ "memory.guest",              "domain.resources.limits.memory",   true },
	{ "ioThreads.supplementalPoolThreadCount", "domain.ioThreads.supplementalPoolThreadCount", false },
	{ "ioThreadsPolicy",           "domain.ioThreadsPolicy",           false },
	{ "launchSecurity",            "domain.launchSecurity",            false },
	{ "gpus",                      "domain.devices.gpus",              false },
	{ "hostDevices",               "domain.devices.hostDevices",       false },
	/* clang-format on */
};

/* KubeVirt's words first. */
static void conflict(struct expansion *e, const struct node *at, const char *field,
	const char *gives)
{
	findings_add(e->findings, at, field,
		"VM field(s) %s conflicts with selected instance type, which gives %s: leave one of "
		"them away",
		field, gives);
}

static bool judge_gifts(struct expansion *e)
{
	size_t before = e->findings->n;

	for (size_t i = 0; i < ARRAY_SIZE(gifts); i++) {
		const struct node *given = node_at(e->instancetype, gifts[i].from);
		const struct node *said = node_at(e->spec, gifts[i].to);
		autofree char *field = xasprintf(TEMPLATE "%s", gifts[i].to);
		autofree char *gives = xasprintf("spec.%s", gifts[i].from);

		if (given && is_said(said))
			conflict(e, said, field, gives);
	}
	return e->findings->n == before;
}

static bool judge_annotations(struct expansion *e)
{
	const struct node *given = map_at(e->instancetype, "annotations");
	const struct node *said = node_at(e->vm_spec, "template.metadata.annotations");
	size_t before = e->findings->n;

	for (size_t i = 0; given && i < given->n_children; i++) {
		const struct node *one = given->children[i], *other = node_get(said, one->key);
		autofree char *field = xasprintf("spec.template.metadata.annotations.%s", one->key);

		if (other && !streq(other->text, one->text))
			conflict(e, other, field, "another value");
	}
	return e->findings->n == before;
}

static void give_annotations(struct expansion *e)
{
	const struct node *given = map_at(e->instancetype, "annotations");

	for (size_t i = 0; given && i < given->n_children; i++)
		node_set(template_annotations(e->vm_spec), given->children[i]->key,
			node_copy(given->children[i]));
}

/* ---- vCPUs ----------------------------------------------------------------------------------- */

static int64_t guest_cpus(const struct expansion *e)
{
	const char *text = node_text(e->instancetype, "cpu.guest");

	return text ? strtoll(text, NULL, 10) : 0;
}

/* Sockets, cores and threads of n vCPUs; false: they cannot be spread so. */
static bool spread(int64_t n, const struct preferred_topology *p, int64_t ret[3])
{
	switch (p->across) {
	case ACROSS_SOCKETS_CORES:
		ret[0] = n / p->ratio;
		ret[1] = p->ratio;
		break;
	case ACROSS_CORES_THREADS:
		ret[1] = n / p->ratio;
		ret[2] = p->ratio;
		break;
	case ACROSS_SOCKETS_CORES_THREADS:
		ret[0] = n / THREADS_PER_CORE / p->ratio;
		ret[1] = p->ratio;
		ret[2] = THREADS_PER_CORE;
		break;
	}
	return ret[0] * ret[1] * ret[2] == n;
}

static bool lay_out(int64_t n, const struct preferred_topology *p, int64_t ret[3])
{
	ret[0] = ret[1] = ret[2] = 1;
	if (p->kind == TOPOLOGY_SPREAD)
		return n == 1 || spread(n, p, ret);
	ret[p->kind == TOPOLOGY_CORES ? 1 : p->kind == TOPOLOGY_THREADS ? 2 : 0] = n;
	return true;
}

static bool give_topology(struct expansion *e)
{
	static const char *const paths[] = { "domain.cpu.sockets", "domain.cpu.cores",
		"domain.cpu.threads" };
	struct preferred_topology p = preferred_topology_of(e->preference);
	int64_t n = guest_cpus(e), counts[3];

	if (!n)
		return true;
	if (!lay_out(n, &p, counts)) {
		findings_add(e->findings, NULL, "spec.instancetype",
			"%" PRId64 " vCPUs provided by the instance type are not divisible by the "
			"ratio of %" PRId64 "%s that the preference spreads them by",
			n, p.ratio,
			p.across == ACROSS_SOCKETS_CORES_THREADS ? " and 2 threads per core" : "");
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		node_set_path(e->spec, paths[i], node_new_int(counts[i]));
	return true;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The guest has more than what is requested for it. */
static void give_overcommit(struct expansion *e)
{
	const char *memory = node_text(e->instancetype, "memory.guest");
	const char *percent = node_text(e->instancetype, "memory.overcommitPercent");
	int64_t bytes, part = percent ? strtoll(percent, NULL, 10) : 0;

	if (part <= 0 || !memory || quantity_parse(memory, &bytes, NULL))
		return;
	bytes -= bytes / 100 * part + bytes % 100 * part / 100;
	node_set_path(e->spec, "domain.resources.requests.memory", node_new_int(bytes));
}

bool instancetype_apply(struct expansion *e)
{
	if (!e->instancetype)
		return true;
	if (e->optional_memory && node_get(e->instancetype, "memory"))
		node_remove(node_get(e->spec, "domain"), "memory");
	if (!(judge_gifts(e) & judge_annotations(e)) || !give_topology(e))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(gifts); i++) {
		const struct node *given = node_at(e->instancetype, gifts[i].from);

		if (given && !gifts[i].only_judged)
			node_set_path(e->spec, gifts[i].to, node_copy(given));
	}
	give_overcommit(e);
	give_annotations(e);
	return true;
}
