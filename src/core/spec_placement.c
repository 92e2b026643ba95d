/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of spec_parse() that is about what a run asks of its host, and which hosts it may be on. It must not judge:
 * which values are possible has been checked.
 */
#include "core/spec_private.h"

#include "core/quantity.h"

#define RESOURCES "domain.resources."

static int parse_cpu_amount(const struct node *spec, const char *path, int64_t *ret,
	struct err *err)
{
	const char *text = node_text(spec, path);

	if (!text || !quantity_parse_milli(text, ret, err))
		return 0;
	return err_wrap(err, "'%s'", path);
}

int spec_parse_demands(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	struct demands *d = &s->demands;

	d->overcommit_overhead = spec_bool(spec, RESOURCES "overcommitGuestOverhead", false);
	if (spec_quantity(spec, RESOURCES "requests.memory", &d->request.memory, err) ||
		spec_quantity(spec, "domain.memory.reservedOverhead.addedOverhead",
			&d->added_overhead, err) ||
		spec_quantity(spec, RESOURCES "limits.memory", &d->limit.memory, err) ||
		parse_cpu_amount(spec, RESOURCES "requests.cpu", &d->request.cpu, err) ||
		parse_cpu_amount(spec, RESOURCES "limits.cpu", &d->limit.cpu, err))
		return -ERR_INVALID;
	return 0;
}
