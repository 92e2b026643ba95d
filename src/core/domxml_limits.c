/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run's limits as libvirt sets them up in control groups: <memtune> and <cputune>, in which its
 * pins stand as well. Only what a manifest gives is written, so that a host without control groups
 * is asked for nothing it has not.
 */
#include "core/capacity.h"
#include "core/domxml_write.h"

#define PERIOD_US    100000
#define QUOTA_MIN_US 1000 /* the kernel's */
#define SHARES       1024 /* of a CPU; what a domain has that says nothing */
#define SHARES_MIN   2    /* the kernel's bounds, of control groups' first version */
#define SHARES_MAX   262144

static void leaf_int(xmlTextWriterPtr w, const char *element, int64_t value)
{
	autofree char *text = xasprintf("%lld", (long long)value);

	xml_leaf(w, element, text);
}

static void shares(xmlTextWriterPtr w, const struct demands *demands)
{
	int64_t asks = demands->request.cpu, may = demands->limit.cpu;

	if (asks)
		leaf_int(w, "shares", MAX(MIN(asks * SHARES / 1000, SHARES_MAX), SHARES_MIN));
	if (may) {
		leaf_int(w, "global_period", PERIOD_US);
		leaf_int(w, "global_quota", MAX(may * (PERIOD_US / 1000), QUOTA_MIN_US));
	}
}

/* Who has CPUs to itself shares none: a quota would only keep it from them. */
static void cputune(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	bool limited = spec->demands.request.cpu || spec->demands.limit.cpu;

	if (spec->dedicated ? !domain_has_pins(spec, context) : !limited)
		return;
	xml_open(w, "cputune");
	if (spec->dedicated)
		domain_pins(w, spec, context);
	else
		shares(w, &spec->demands);
	xml_close(w);
}

void domain_limits(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	if (spec->demands.limit.memory) {
		xml_open(w, "memtune");
		xml_bytes(w, "hard_limit", memory_ceiling(spec, context->kvm));
		xml_close(w);
	}
	cputune(w, spec, context);
	domain_numatune(w, spec, context);
}
