/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A domain's features and its clock. What the spec does not name is left to libvirt, but for the
 * APIC, which a guest has unless it is turned off. What KVM does for a guest is left out without
 * KVM, so that a manifest made for it still runs: QEMU refuses some of it then.
 */
#include "core/domxml_write.h"

static const char *state(enum toggle toggle)
{
	static const char *const words[] = {
		[TOGGLE_UNSET] = NULL,
		[TOGGLE_ON] = "on",
		[TOGGLE_OFF] = "off",
	};

	return words[toggle];
}

static void feature(xmlTextWriterPtr w, const char *name, enum toggle toggle)
{
	if (toggle)
		xml_empty(w, name, "state", state(toggle), NULL);
}

static void hyperv_feature(xmlTextWriterPtr w, const struct hyperv *hyperv, enum hyperv_feature f)
{
	static const char *const names[HYPERV_MAX] = {
#define X(c, t, l) [HYPERV_##c] = l,
		HYPERV_FEATURES(X)
#undef X
	};

	if (!hyperv->features[f])
		return;
	xml_open(w, names[f]);
	xml_attr(w, "state", state(hyperv->features[f]));
	if (hyperv->features[f] == TOGGLE_ON && f == HYPERV_SPINLOCKS)
		xml_attr_int(w, "retries", hyperv->spinlocks);
	if (hyperv->features[f] == TOGGLE_ON && f == HYPERV_VENDOR_ID)
		xml_attr(w, "value", hyperv->vendor_id);
	if (hyperv->features[f] == TOGGLE_ON && f == HYPERV_STIMER)
		feature(w, "direct", hyperv->direct);
	xml_close(w);
}

static void hyperv(xmlTextWriterPtr w, const struct hyperv *hyperv)
{
	bool any = false;

	for (size_t i = 0; i < HYPERV_MAX; i++)
		any |= hyperv->features[i];
	if (hyperv->passthrough)
		xml_empty(w, "hyperv", "mode", "passthrough", NULL);
	if (hyperv->passthrough || !any)
		return;
	xml_open(w, "hyperv");
	xml_attr(w, "mode", "custom");
	for (size_t i = 0; i < HYPERV_MAX; i++)
		hyperv_feature(w, hyperv, (enum hyperv_feature)i);
	xml_close(w);
}

static void kvm(xmlTextWriterPtr w, enum toggle hidden)
{
	if (!hidden)
		return;
	xml_open(w, "kvm");
	feature(w, "hidden", hidden);
	xml_close(w);
}

static void paravirtual(xmlTextWriterPtr w, const struct features *f)
{
	hyperv(w, &f->hyperv);
	kvm(w, f->kvm_hidden);
	feature(w, "pvspinlock", f->pvspinlock);
}

void domain_features(xmlTextWriterPtr w, const struct vmi_spec *spec, bool with_kvm)
{
	const struct features *f = &spec->features;
	enum toggle eoi = with_kvm ? f->apic_eoi : TOGGLE_UNSET;

	xml_open(w, "features");
	if (spec->acpi)
		xml_empty(w, "acpi", NULL);
	if (!f->no_apic)
		xml_empty(w, "apic", "eoi", state(eoi), NULL);
	if (with_kvm)
		paravirtual(w, f);
	if (spec->realtime && with_kvm)
		xml_empty(w, "pmu", "state", "off", NULL);
	if (spec->bootloader == BOOTLOADER_EFI_SECURE)
		xml_empty(w, "smm", "state", "on", NULL);
	xml_close(w);
}

static void timer(xmlTextWriterPtr w, const struct timer *timer, const char *name)
{
	if (!timer->present)
		return;
	xml_empty(w, "timer", "name", name, "tickpolicy", timer->tick_policy, "track", timer->track,
		"present", timer->present == TOGGLE_ON ? "yes" : "no", NULL);
}

void domain_clock(xmlTextWriterPtr w, const struct clock *clock, bool with_kvm)
{
	static const char *const names[TIMER_MAX] = {
#define X(c, t, l) [TIMER_##c] = l,
		TIMERS(X)
#undef X
	};
	const char *offset = clock->timezone ? "timezone" : clock->has_offset ? "variable" : "utc";

	xml_open(w, "clock");
	xml_attr(w, "offset", offset);
	xml_attr(w, "timezone", clock->timezone);
	if (!clock->timezone && clock->has_offset) {
		xml_attr_int(w, "adjustment", clock->offset_s);
		xml_attr(w, "basis", "utc");
	}
	for (size_t i = 0; i < TIMER_MAX; i++) {
		if (with_kvm || (i != TIMER_HYPERV && i != TIMER_KVM))
			timer(w, &clock->timers[i], names[i]);
	}
	xml_close(w);
}
