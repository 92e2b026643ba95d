/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the host a fake domain's XML takes to itself, and the invariant that no two guests which
 * run have the same: CPUs, devices, CIDs.
 */
#include <stdio.h>
#include <string.h>

#include "core/domxml.h"
#include "sim.h"

/* What stands between begin and end in the XML; "" if there is no such thing. */
static void copy_between(const char *xml, const char *begin, const char *end, char ret[64])
{
	const char *from = strstr(xml, begin);
	const char *to = from ? strstr(from + strlen(begin), end) : NULL;

	ret[0] = '\0';
	if (to)
		snprintf(ret, 64, "%.*s", (int)MIN(to - from - (long)strlen(begin), 63L),
			from + strlen(begin));
}

static bool overlap(const struct cpu_set *a, const struct cpu_set *b)
{
	struct cpu_set left = *a;

	cpu_set_remove(&left, b);
	return cpu_set_count(&left) < cpu_set_count(a);
}

void fake_take_share(struct world *w, struct fake_domain *dom, const char *xml)
{
	const char *device = strstr(xml, "<hostdev ");
	autofree char *held = domain_metadata_held(xml);
	char cpus[64];

	copy_between(xml, " cpuset=\"", "\"", cpus);
	copy_str(dom->held, sizeof(dom->held), held ? held : "");
	memset(&dom->cpus, 0, sizeof(dom->cpus));
	cpu_set_parse(cpus, &dom->cpus);
	copy_between(xml, "<cid auto=\"no\" address=\"", "\"", dom->cid);
	copy_between(device ? device : "", "bus=\"", "\"", dom->device);
	for (size_t i = 0; i < DOMAINS_MAX; i++) {
		const struct fake_domain *other = &w->fake.domains[i];

		if (other == dom || !other->exists || !other->active)
			continue;
		if (overlap(&dom->cpus, &other->cpus) ||
			(dom->cid[0] && streq(dom->cid, other->cid)) ||
			(dom->device[0] && streq(dom->device, other->device)))
			world_fail(w, "'%s' has CPUs, a device or a CID that '%s' has", dom->name,
				other->name);
	}
}
