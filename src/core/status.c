/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user sees of an object's state: printableStatus (semantics §6) and conditions (§1.3,
 * §11.4).
 *
 * Owns the ordered table of printable statuses. It must not know how an object is rendered, and it
 * stores nothing: all is derived anew each time, so nothing stale can stay.
 */
#include "core/status.h"

#include "core/codec.h"
#include "core/crashloop.h"
#include "core/ioretry.h"
#include "core/machine.h"
#include "core/migratable.h"
#include "core/phase.h"
#include "core/strategy.h"

/* ---- printableStatus ------------------------------------------------------------------------- */

typedef bool status_predicate(const struct status_facts *f);

static bool is_kept_by(const struct status_facts *f, enum obstacle obstacle)
{
	return f->vmi && f->vmi->obstacle == obstacle;
}

static bool terminating(const struct status_facts *f)
{
	return f->vm->meta.deleted;
}

static bool stopping(const struct status_facts *f)
{
	return f->vmi && !phase_is_final(f->vmi->phase) && vmi_is_stopping(f->vmi);
}

static bool migrating(const struct status_facts *f)
{
	return f->migrating;
}

static bool running(const struct status_facts *f)
{
	return f->vmi && f->vmi->phase == PHASE_RUNNING;
}

static bool paused(const struct status_facts *f)
{
	return running(f) && f->paused;
}

static bool pvc_missing(const struct status_facts *f)
{
	return is_kept_by(f, OBSTACLE_NO_CLAIM);
}

static bool data_volume_failed(const struct status_facts *f)
{
	return f->volumes == VOLUMES_FAILED;
}

static bool unschedulable(const struct status_facts *f)
{
	return is_kept_by(f, OBSTACLE_UNSCHEDULABLE) || is_kept_by(f, OBSTACLE_NO_ROOM);
}

static bool provisioning(const struct status_facts *f)
{
	return f->volumes == VOLUMES_FILLING;
}

static bool unbound(const struct status_facts *f)
{
	return (f->volumes == VOLUMES_UNBOUND || is_kept_by(f, OBSTACLE_UNBOUND)) &&
		vm_is_set_to_start(f->vm, f->vmi);
}

static bool image_pull_error(const struct status_facts *f)
{
	return is_kept_by(f, OBSTACLE_IMAGE);
}

static bool image_pull_back_off(const struct status_facts *f)
{
	return is_kept_by(f, OBSTACLE_IMAGE_BACK_OFF);
}

static bool starting(const struct status_facts *f)
{
	return f->vmi &&
		(phase_is_unprocessed(f->vmi->phase) || f->vmi->phase == PHASE_SCHEDULING ||
			f->vmi->phase == PHASE_SCHEDULED);
}

static bool stopped(const struct status_facts *f)
{
	return !f->vmi || phase_is_final(f->vmi->phase);
}

static bool failed_to_start(const struct vm *vm)
{
	return vm->failure.count > 0 &&
		(vm->strategy == STRATEGY_ALWAYS || vm->strategy == STRATEGY_RERUN_ON_FAILURE ||
			vm->strategy == STRATEGY_ONCE);
}

/* Without a run, and without one to come, nothing is held back. */
static bool is_held_back(const struct vm *vm, const struct vmi *vmi)
{
	return crash_loop_holds(vm) && (vmi || vm_would_start(vm));
}

/* Upstream's row, and ours for the guard's waits. */
static bool crash_looping(const struct status_facts *f)
{
	return stopped(f) && (failed_to_start(f->vm) || is_held_back(f->vm, f->vmi));
}

static bool waiting_for_receiver(const struct status_facts *f)
{
	return f->vm->strategy == STRATEGY_WAIT_AS_RECEIVER &&
		(!f->vmi || f->vmi->phase == PHASE_WAITING_FOR_SYNC);
}

/* clang-format off */
static const struct {
	enum printable value;
	status_predicate *when;
} printables[] = { /* the first match holds */
	{ PRINTABLE_TERMINATING,                terminating },
	{ PRINTABLE_STOPPING,                   stopping },
	{ PRINTABLE_MIGRATING,                  migrating },
	{ PRINTABLE_PAUSED,                     paused },
	{ PRINTABLE_RUNNING,                    running },
	{ PRINTABLE_ERROR_PVC_NOT_FOUND,        pvc_missing },
	{ PRINTABLE_DATA_VOLUME_ERROR,          data_volume_failed },
	{ PRINTABLE_ERROR_UNSCHEDULABLE,        unschedulable },
	{ PRINTABLE_PROVISIONING,               provisioning },
	{ PRINTABLE_WAITING_FOR_VOLUME_BINDING, unbound },
	{ PRINTABLE_ERR_IMAGE_PULL,             image_pull_error },
	{ PRINTABLE_IMAGE_PULL_BACK_OFF,        image_pull_back_off },
	{ PRINTABLE_STARTING,                   starting },
	{ PRINTABLE_CRASH_LOOP_BACK_OFF,        crash_looping },
	{ PRINTABLE_STOPPED,                    stopped },
	{ PRINTABLE_WAITING_FOR_RECEIVER,       waiting_for_receiver },
	{ PRINTABLE_UNKNOWN,                    NULL }, /* none matched */
};
/* clang-format on */
_Static_assert(ARRAY_SIZE(printables) == PRINTABLE_MAX, "a row for each status");

enum printable printable_of(const struct status_facts *facts)
{
	size_t i = 0;

	while (printables[i].when && !printables[i].when(facts))
		i++;
	return printables[i].value;
}

bool vm_is_set_to_start(const struct vm *vm, const struct vmi *vmi)
{
	switch (vm->strategy) {
	case STRATEGY_ALWAYS:
		return true;
	case STRATEGY_MANUAL:
		return vmi ? !stop_is_requested(vm, vmi) : vm_would_start(vm);
	case STRATEGY_RERUN_ON_FAILURE:
		return vmi ? vmi->phase != PHASE_SUCCEEDED : vm_would_start(vm);
	case STRATEGY_ONCE:
		return !vmi && vm_would_start(vm);
	case STRATEGY_HALTED:
	case STRATEGY_WAIT_AS_RECEIVER:
	case STRATEGY_UNSET:
	case STRATEGY_MAX:
		break;
	}
	return false;
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* Takes message over. */
static void add(struct conditions *c, const char *type, bool status, const char *reason,
	char *message)
{
	if (c->n == CONDITIONS_MAX)
		abort(); /* the list is as long as the kinds below */
	c->list[c->n++] = (struct condition){ type, status, reason, message, 0 };
}

void conditions_done(struct conditions *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->list[i].message);
	*c = (struct conditions){ 0 };
}

/* KubeVirt names three reasons to be paused and is silent on the others (§14 no. 10). */
static const char *const pause_reasons[] = {
#define X(c, text) [REASON_##c] = "Paused" text,
	DOMAIN_REASONS(X)
#undef X
};
_Static_assert(ARRAY_SIZE(pause_reasons) == DOMAIN_REASON_MAX, "a name for each reason");

static const char *pause_reason(enum domain_reason reason)
{
	if (reason == REASON_USER)
		return "PausedByUser";
	if (reason == REASON_MIGRATION)
		return "PausedByMigrationMonitor";
	return pause_reasons[reason];
}

bool vmi_is_paused(const struct vmi *vmi, const struct domain *dom)
{
	if (!dom || phase_is_final(vmi->phase) || vmi->phase == PHASE_WAITING_FOR_SYNC)
		return false; /* what stands still of one that is to come is not the guest */
	if (dom->state == DOMAIN_UNKNOWN)
		return vmi->paused;
	return dom->state == DOMAIN_PAUSED && streq(dom->owner, vmi->meta.uid);
}

bool vmi_has_agent(const struct vmi *vmi, const struct domain *dom)
{
	if (!dom || phase_is_final(vmi->phase))
		return false;
	return dom->state == DOMAIN_UNKNOWN ? vmi->agent : dom->agent;
}

/* libvirt may have forgotten why. */
static enum domain_reason pause_cause(const struct vmi *vmi, const struct domain *dom)
{
	enum domain_reason by = dom->state == DOMAIN_UNKNOWN ? vmi->paused_by : dom->reason;

	return vmi->pause == PAUSE_HELD && by == REASON_UNKNOWN ? REASON_USER : by;
}

static char *pause_text(const struct vmi *vmi, enum domain_reason cause)
{
	autofree char *errors = io_error_text(&vmi->io);

	if (cause == REASON_IOERROR)
		return xasprintf("the domain is paused: %s", errors);
	return xasprintf("the domain is paused, reason '%s'", domain_reason_name(cause));
}

static void add_ready(struct conditions *c, const struct vmi *vmi, const struct domain *dom)
{
	if (vmi->phase != PHASE_RUNNING)
		add(c, "Ready", false, "GuestNotRunning",
			xasprintf("the guest is not running, the phase is '%s'",
				phase_name(vmi->phase)));
	else if (vmi_is_stopping(vmi))
		add(c, "Ready", false, "PodTerminating", xstrdup("the guest is being stopped"));
	else if (vmi_is_paused(vmi, dom))
		add(c, "Ready", false, "ReadinessGatesNotReady", xstrdup("the guest is paused"));
	else if (vmi->typed.probes[PROBE_OF_READINESS].kind != PROBE_NONE && !vmi->ready)
		add(c, "Ready", false, "ContainersNotReady",
			vmi->probe_words
				? xasprintf("the readiness probe failed: %s", vmi->probe_words)
				: xstrdup("the readiness probe has not passed yet"));
	else
		add(c, "Ready", true, NULL, NULL);
}

/* What an older version stored has no kind: then an op had failed. */
static void add_obstacle(struct conditions *c, const struct vmi *vmi)
{
	static const struct {
		const char *condition, *reason;
	} shown[] = {
#define X(c, condition, reason, event) { condition, reason },
		OBSTACLES(X)
#undef X
	};
	enum obstacle obstacle = vmi->obstacle ? vmi->obstacle : OBSTACLE_SYNC;

	add(c, shown[obstacle].condition, false, shown[obstacle].reason, xstrdup(vmi->sync_error));
}

static void add_migratable(struct conditions *c, const struct vmi *vmi)
{
	struct migratable m;

	migratable_of(vmi, &m);
	add(c, "LiveMigratable", !m.reason, m.reason, take(&m.message));
	add(c, "StorageLiveMigratable", !m.storage, m.storage ? "NotMigratable" : NULL,
		take(&m.storage));
	migratable_done(&m);
}

static bool names_data_volume(const struct vmi_spec *spec)
{
	for (size_t i = 0; i < spec->n_volumes; i++)
		if (spec->volumes[i].data_volume)
			return true;
	return false;
}

void vmi_conditions(const struct vmi *vmi, const struct domain *dom, struct conditions *ret)
{
	*ret = (struct conditions){ 0 };
	add_ready(ret, vmi, dom);
	if (vmi->sync_error)
		add_obstacle(ret, vmi);
	if (vmi->queued && !phase_is_final(vmi->phase))
		add(ret, "StartQueued", true, "WaitingForStartSlot",
			xstrdup("it starts when others have: so many at a time as hostBoot.parallelStarts "
				"says, and after a boot of the host in their order"));
	if (vmi->prepared && names_data_volume(&vmi->typed))
		add(ret, "DataVolumesReady", true, "AllDVsReady",
			xstrdup("all of the run's DataVolumes are filled"));
	if (vmi_is_paused(vmi, dom))
		add(ret, "Paused", true, pause_reason(pause_cause(vmi, dom)),
			pause_text(vmi, pause_cause(vmi, dom)));
	if (vmi_has_agent(vmi, dom))
		add(ret, "AgentConnected", true, NULL, NULL);
	if (vmi->agent_problem && vmi_has_agent(vmi, dom))
		add(ret, "AgentVersionNotSupported", true,
			"This guest agent doesn't support required basic commands",
			xstrdup(vmi->agent_problem));
	if (vmi->credentials || vmi->credentials_words)
		add(ret, "AccessCredentialsSynchronized", !vmi->credentials_words, NULL,
			xstrdup(vmi->credentials_words));
	if (vmi->emulated && !phase_is_final(vmi->phase))
		add(ret, "SoftwareEmulation", true, NULL,
			xstrdup("there was no usable KVM: QEMU emulates the CPU"));
	if (vmi->fallback && !phase_is_final(vmi->phase))
		add(ret, "UserModeNetwork", true, "NoPodNetwork",
			xasprintf("QEMU's own network stack stands in for the pod network: %s",
				vmi->fallback));
	if (vmi->phase == PHASE_RUNNING)
		add_migratable(ret, vmi);
	conditions_take_times(ret, &vmi->times);
}

/* What is told of a VM that is held back between its runs, and of the run that follows. */
static void add_crash_loop(struct conditions *c, const struct vm *vm, const struct vmi *vmi)
{
	bool lives = vmi && !phase_is_final(vmi->phase);
	autofree char *text = NULL;
	char when[TIME_SIZE];

	if (!is_held_back(vm, vmi))
		return;
	text = crash_loop_text(&vm->crash);
	format_time(vm->crash.retry_wall, when);
	add(c, "CrashLoop", true, "GuestKeepsEnding",
		lives ? xasprintf("%s; this is the next try", text)
		      : xasprintf("%s; next try at %s", text, when));
}

void vm_conditions(const struct vm *vm, const struct vmi *vmi, const struct domain *dom,
	struct conditions *ret)
{
	*ret = (struct conditions){ 0 };
	if (vmi)
		vmi_conditions(vmi, dom, ret); /* Ready and all others, as they are there */
	else
		add(ret, "Ready", false, "VMINotExists",
			xstrdup("there is no virtual machine instance"));
	if (vm->strategy == STRATEGY_UNSET)
		add(ret, "Failure", true, "UnsupportedSyncError",
			xstrdup("the runStrategy is unsupported; set one in the spec"));
	else if (vm->type_trouble)
		add(ret, "Failure", true, type_trouble_name(vm->type_trouble),
			xstrdup(vm->type_words));
	add_crash_loop(ret, vm, vmi);
	if (vm->restart)
		add(ret, "RestartRequired", true, NULL,
			xasprintf("'spec.template.spec.%s' differs from what the guest runs with: "
				  "restart the VM to apply it",
				vm->restart));
	if (vm->manifest_error)
		add(ret, "ManifestRejected", true, "ManifestRejected", xstrdup(vm->manifest_error));
	conditions_take_times(ret, &vm->times);
}
