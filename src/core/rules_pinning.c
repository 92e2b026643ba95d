/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of semantics §9.2 on CPUs that a guest has for itself: what dedicatedCpuPlacement needs,
 * and what needs it.
 *
 * Owns nothing; single values were judged by schema_check.c, so what is of a wrong
 * kind is passed over.
 */
#include <inttypes.h>

#include "core/check.h"
#include "core/cpuset.h"
#include "core/defaults.h"
#include "core/quantity.h"

#define CPU         "domain.cpu."
#define RESOURCES   "domain.resources."
#define DEDICATED   CPU "dedicatedCpuPlacement"
#define PASSTHROUGH CPU "numa.guestMappingPassthrough"
#define THREADS_MAX 2

/* Of a scalar; NULL: there is none. */
static const char *text_at(const struct node *spec, const char *path)
{
	const struct node *at = node_at(spec, path);

	return at ? at->text : NULL;
}

static bool is_true(const struct node *spec, const char *path)
{
	return streq(text_at(spec, path), "true");
}

/* What is at path needs something that is missing. */
static void needs(struct check *c, const struct node *spec, const char *path, bool has,
	const char *what)
{
	if (!has)
		check_add_key(c, node_at(spec, path), path, "it needs %s", what);
}

/* Both of a resource's amounts are the same, where there are both. */
static void same_rule(struct check *c, const struct node *spec, const char *resource)
{
	autofree char *request = xasprintf(RESOURCES "requests.%s", resource);
	autofree char *limit = xasprintf(RESOURCES "limits.%s", resource);
	const char *asks = text_at(spec, request), *may = text_at(spec, limit);

	if (asks && may && quantity_compare(asks, may))
		check_add(c, node_at(spec, request), request,
			"with dedicatedCpuPlacement it is the same as limits.%s, which is %s",
			resource, may);
}

/* An amount of CPUs: whole ones, and as many as there are vCPUs where those are given as well. */
static void amount_rule(struct check *c, const struct node *spec, const char *path)
{
	struct topology t = topology_of(spec);
	const char *text = text_at(spec, path);
	int64_t milli;

	if (!text || quantity_parse_milli(text, &milli, NULL))
		return;
	if (milli % 1000)
		check_add(c, node_at(spec, path), path,
			"with dedicatedCpuPlacement expected whole CPUs, not %s", text);
	else if (t.given && milli / 1000 != t.sockets * t.cores * t.threads)
		check_add(c, node_at(spec, path), path,
			"with dedicatedCpuPlacement expected as many as vCPUs, which are %" PRId64,
			t.sockets * t.cores * t.threads);
}

static void dedicated_rules(struct check *c, const struct node *spec)
{
	struct topology t = topology_of(spec);

	if (!is_true(spec, DEDICATED))
		return;
	if (!t.given && !node_at(spec, RESOURCES "requests.cpu") &&
		!node_at(spec, RESOURCES "limits.cpu"))
		check_add_key(c, node_at(spec, DEDICATED), DEDICATED,
			"give domain.cpu.cores, or resources.requests.cpu, or limits.cpu");
	if (t.threads > THREADS_MAX)
		check_add(c, node_at(spec, CPU "threads"), CPU "threads",
			"with dedicatedCpuPlacement expected at most %d", THREADS_MAX);
	same_rule(c, spec, "memory");
	same_rule(c, spec, "cpu");
	amount_rule(c, spec, RESOURCES "requests.cpu");
	amount_rule(c, spec, RESOURCES "limits.cpu");
}

static void mask_rule(struct check *c, const struct node *spec)
{
	struct topology t = topology_of(spec);
	const char *field = CPU "realtime.mask", *mask = text_at(spec, field);
	struct cpu_set set;

	if (mask && cpu_set_parse(mask, &set) &&
		cpu_set_end(&set) > t.sockets * t.cores * t.threads)
		check_add(c, node_at(spec, field), field,
			"there is no vCPU %u: expected numbers below %" PRId64,
			cpu_set_end(&set) - 1, t.sockets * t.cores * t.threads);
}

static void growth_rule(struct check *c, const struct node *spec)
{
	const char *field = "domain.memory.maxGuest";
	bool fixed = node_at(spec, PASSTHROUGH) || node_at(spec, CPU "realtime");

	if (fixed && node_at(spec, field))
		check_add_key(c, node_at(spec, field), field,
			"it goes neither with numa.guestMappingPassthrough nor with realtime");
}

void pinning_rules(struct check *c, const struct node *spec)
{
	bool dedicated = is_true(spec, DEDICATED);

	dedicated_rules(c, spec);
	if (is_true(spec, CPU "isolateEmulatorThread"))
		needs(c, spec, CPU "isolateEmulatorThread", dedicated,
			"dedicatedCpuPlacement: true");
	if (node_at(spec, PASSTHROUGH)) {
		needs(c, spec, PASSTHROUGH, dedicated, "dedicatedCpuPlacement: true");
		needs(c, spec, PASSTHROUGH, node_at(spec, "domain.memory.hugepages"),
			"memory.hugepages");
	}
	if (node_at(spec, CPU "realtime")) {
		needs(c, spec, CPU "realtime", dedicated, "dedicatedCpuPlacement: true");
		needs(c, spec, CPU "realtime", node_at(spec, PASSTHROUGH),
			"numa.guestMappingPassthrough: {}");
	}
	mask_rule(c, spec);
	growth_rule(c, spec);
}
