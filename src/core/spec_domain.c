/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of spec_parse() that is about features and the clock.
 *
 * Owns what an absent part of them comes to. It must not judge: which values are possible, and what
 * depends on what, has been checked.
 */
#include "core/spec_private.h"

#include <string.h>

#define HYPERV            "domain.features.hyperv"
#define SPINLOCKS_DEFAULT 4096

enum toggle spec_toggle(const struct node *map, const char *path)
{
	const struct node *feature = node_at(map, path);

	if (!feature)
		return TOGGLE_UNSET;
	return spec_bool(feature, "enabled", true) ? TOGGLE_ON : TOGGLE_OFF;
}

static enum toggle bool_toggle(const struct node *map, const char *path)
{
	if (!node_at(map, path))
		return TOGGLE_UNSET;
	return spec_bool(map, path, false) ? TOGGLE_ON : TOGGLE_OFF;
}

static int parse_hyperv(const struct node *from, struct hyperv *hyperv, struct err *err)
{
	static const char *const names[HYPERV_MAX] = {
#define X(c, t, l) [HYPERV_##c] = t,
		HYPERV_FEATURES(X)
#undef X
	};

	for (size_t i = 0; i < HYPERV_MAX; i++)
		hyperv->features[i] = spec_toggle(from, names[i]);
	hyperv->direct = spec_toggle(from, "synictimer.direct");
	hyperv->flush_direct = spec_toggle(from, "tlbflush.direct");
	hyperv->flush_extended = spec_toggle(from, "tlbflush.extended");
	hyperv->vendor_id = spec_copy(from, "vendorid.vendorid");
	hyperv->spinlocks = SPINLOCKS_DEFAULT;
	if (!node_at(from, "spinlocks.spinlocks"))
		return 0;
	return spec_unsigned(from, "spinlocks.spinlocks", &hyperv->spinlocks, err);
}

int spec_parse_features(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	struct features *f = &s->features;

	f->no_apic = spec_toggle(spec, "domain.features.apic") == TOGGLE_OFF;
	f->apic_eoi = bool_toggle(spec, "domain.features.apic.endOfInterrupt");
	f->kvm_hidden = bool_toggle(spec, "domain.features.kvm.hidden");
	f->pvspinlock = spec_toggle(spec, "domain.features.pvspinlock");
	f->hyperv.passthrough = spec_toggle(spec, "domain.features.hypervPassthrough") == TOGGLE_ON;
	return parse_hyperv(node_at(spec, HYPERV), &f->hyperv, err);
}

static struct timer timer_of(const struct node *from)
{
	struct timer timer = { .present = TOGGLE_UNSET };

	if (!from)
		return timer;
	timer.present = spec_bool(from, "present", true) ? TOGGLE_ON : TOGGLE_OFF;
	timer.tick_policy = spec_copy(from, "tickPolicy");
	timer.track = spec_copy(from, "track");
	return timer;
}

int spec_parse_clock(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	static const char *const names[TIMER_MAX] = {
#define X(c, t, l) [TIMER_##c] = t,
		TIMERS(X)
#undef X
	};
	const struct node *clock = node_at(spec, "domain.clock");
	const char *offset = node_text(clock, "utc.offsetSeconds");
	char *end = NULL;

	s->clock.timezone = spec_copy(clock, "timezone");
	s->clock.has_offset = offset;
	s->clock.offset_s = offset ? strtoll(offset, &end, 10) : 0;
	for (size_t i = 0; i < TIMER_MAX; i++)
		s->clock.timers[i] = timer_of(node_get(node_get(clock, "timer"), names[i]));
	if (end && *end)
		return err_set(err, ERR_INVALID, "clock.utc.offsetSeconds is no whole number");
	return 0;
}

void spec_parse_launch(const struct node *spec, struct vmi_spec *s)
{
	static const char *const names[LAUNCH_MAX] = {
#define X(c, t, l, p) [LAUNCH_##c] = t,
		LAUNCH_SECURITIES(X)
#undef X
	};
	const struct node *from = node_at(spec, "domain.launchSecurity");

	for (size_t i = LAUNCH_NONE + 1; i < LAUNCH_MAX; i++) {
		if (node_get(from, names[i]))
			s->launch.kind = (enum launch_security_kind)i;
	}
	s->launch.encrypted_state = spec_bool(from, "sev.policy.encryptedState", false);
	s->launch.dh_cert = spec_copy(from, "sev.dhCert");
	s->launch.session = spec_copy(from, "sev.session");
}
