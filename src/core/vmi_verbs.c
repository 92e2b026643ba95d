/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pause, unpause, softreboot and reset do to a run, or why they are refused (semantics §5.4).
 *
 * Owns the table and the words of its refusals. It must not know how the effect is brought about:
 * that is decide.c's, step by step.
 */
#include "core/vmi_verbs.h"

#include "core/machine.h"
#include "core/phase.h"

/* The columns. A run that is being stopped takes no more orders, for none would be carried out. */
enum situation { NO_GUEST, STARTING, STOPPING, GOING, PAUSED, SITUATION_MAX };

enum outcome {
	NO_PHASE, /* refusals first: each has its words below */
	NO_REACH,
	NO_ORDERS,
	NO_PAUSE,
	NO_UNPAUSE,
	NO_CLOCK,
	NO_ACPI,
	REFUSAL_MAX,
	HOLD = REFUSAL_MAX,
	RELEASE,
	REBOOT,
	RESET,
	OUTCOME_MAX
};

/* clang-format off */
static const unsigned char table[VMI_VERB_MAX][SITUATION_MAX] = {
	/*                        no guest  Scheduled  stopping   running     paused */
	[VMI_VERB_PAUSE]      = { NO_PHASE, NO_PHASE,  NO_ORDERS, HOLD,       NO_PAUSE },
	[VMI_VERB_UNPAUSE]    = { NO_PHASE, NO_PHASE,  NO_ORDERS, NO_UNPAUSE, RELEASE },
	[VMI_VERB_SOFTREBOOT] = { NO_PHASE, NO_PHASE,  NO_ORDERS, REBOOT,     NO_CLOCK },
	[VMI_VERB_RESET]      = { NO_REACH, RESET,     NO_ORDERS, RESET,      RESET },
};

static const struct {
	enum err_code code;
	const char *what;
} refusals[] = {
	[NO_PHASE]   = { ERR_CONFLICT,    "is not running" },
	[NO_REACH]   = { ERR_BAD_REQUEST, "cannot be reset" },
	[NO_ORDERS]  = { ERR_CONFLICT,    "is being stopped" },
	[NO_PAUSE]   = { ERR_CONFLICT,    "is already paused" },
	[NO_UNPAUSE] = { ERR_CONFLICT,    "is not paused" },
	[NO_CLOCK]   = { ERR_CONFLICT,    "is paused and cannot hear; unpause it first" },
	[NO_ACPI]    = { ERR_CONFLICT,    "has neither ACPI nor a guest agent, so that it cannot be asked to reboot; reset it instead" },
};
/* clang-format on */
_Static_assert(ARRAY_SIZE(refusals) == REFUSAL_MAX, "words for each refusal");

/* As it was told, which is what it will be: the condition Paused lags behind. */
static bool is_paused(const struct vmi *vmi, enum domain_state state)
{
	if (vmi->pause == PAUSE_AS_IS)
		return state == DOMAIN_PAUSED;
	return vmi->pause == PAUSE_HELD;
}

static enum situation situation_of(const struct vmi_verb_target *target)
{
	enum phase phase = target->vmi->phase;

	if (phase != PHASE_RUNNING && phase != PHASE_SCHEDULED)
		return NO_GUEST;
	if (vmi_is_stopping(target->vmi))
		return STOPPING;
	if (phase == PHASE_SCHEDULED)
		return STARTING;
	return is_paused(target->vmi, target->state) ? PAUSED : GOING;
}

static int refuse(const struct vmi *vmi, enum outcome outcome, struct err *err)
{
	bool by_phase = outcome == NO_PHASE || outcome == NO_REACH;

	return err_set(err, refusals[outcome].code, "virtual machine instance '%s/%s' %s%s%s",
		vmi->meta.ns, vmi->meta.name, refusals[outcome].what,
		by_phase ? ", its phase is " : "", by_phase ? phase_name(vmi->phase) : "");
}

/* What is done once must not wait for a libvirt that comes back at some time or other. */
static int act_once(const struct vmi_verb_target *target, enum act act,
	struct vmi_verb_effect *effect, struct err *err)
{
	if (target->state == DOMAIN_UNKNOWN)
		return err_set(err, ERR_UNAVAILABLE,
			"libvirt cannot be reached at the moment; try again");
	if (act == ACT_REBOOT && !target->vmi->typed.acpi && !target->agent)
		return refuse(target->vmi, NO_ACPI, err);
	effect->act = act;
	return 0;
}

static int apply(const struct vmi_verb_target *target, enum outcome outcome,
	struct vmi_verb_effect *effect, struct err *err)
{
	switch (outcome) {
	case NO_PHASE:
	case NO_REACH:
	case NO_ORDERS:
	case NO_PAUSE:
	case NO_UNPAUSE:
	case NO_CLOCK:
	case NO_ACPI:
		return refuse(target->vmi, outcome, err);
	case HOLD:
	case RELEASE:
		effect->set_pause = true;
		effect->pause = outcome == HOLD ? PAUSE_HELD : PAUSE_RELEASED;
		return 0;
	case REBOOT:
		return act_once(target, ACT_REBOOT, effect, err);
	case RESET:
		return act_once(target, ACT_RESET, effect, err);
	case OUTCOME_MAX:
		break;
	}
	return 0;
}

int vmi_verb_check(enum vmi_verb verb, const struct vmi_verb_target *target, bool dry_run,
	struct vmi_verb_effect *ret_effect, struct err *err)
{
	const struct vmi_verb_effect none = { .act = ACT_NONE };
	struct vmi_verb_effect effect = none;
	int ret = apply(target, table[verb][situation_of(target)], &effect, err);

	if (ret == 0)
		*ret_effect = dry_run ? none : effect;
	return ret;
}
