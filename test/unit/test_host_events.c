/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semantics §4.6, host and daemon events: strategy × event × hostBoot.policy, each cell played out
 * by the decider and its steps, with a libvirt that does what it is told.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/phase.h"
#include "core/steps.h"

Suite *test_host_events_suite(void);

enum event { AGENT_RESTART, HOST_CRASH, CLEAN_SHUTDOWN, DEAF_SHUTDOWN, EVENTS };

/* s the same run goes on, n a new one runs, F or S the old one stays Failed or Succeeded,
 * - there is none */
/* clang-format off */
static const struct {
	enum boot_policy policy;
	enum run_strategy strategy;
	char want[EVENTS + 1]; /* agent restart, host crash, clean shutdown, the same with a deaf guest */
} cells[] = {
	{ BOOT_KUBEVIRT,        STRATEGY_ALWAYS,           "snnn" },
	{ BOOT_KUBEVIRT,        STRATEGY_RERUN_ON_FAILURE, "sn-n" },
	{ BOOT_KUBEVIRT,        STRATEGY_MANUAL,           "sFSF" },
	{ BOOT_KUBEVIRT,        STRATEGY_ONCE,             "sFSF" },
	{ BOOT_KUBEVIRT,        STRATEGY_HALTED,           "----" },
	{ BOOT_RESTORE_RUNNING, STRATEGY_ALWAYS,           "snnn" },
	{ BOOT_RESTORE_RUNNING, STRATEGY_RERUN_ON_FAILURE, "snnn" },
	{ BOOT_RESTORE_RUNNING, STRATEGY_MANUAL,           "snnn" },
	{ BOOT_RESTORE_RUNNING, STRATEGY_ONCE,             "snnn" },
	{ BOOT_RESTORE_RUNNING, STRATEGY_HALTED,           "----" },
};
/* clang-format on */

struct stage {
	struct machine *m;
	struct host_facts host;
	struct tuning tuning;
	bool deaf;
	unsigned uids;
};

static void domain_is(struct stage *s, enum domain_state state, enum domain_reason reason)
{
	struct domain *dom = &s->m->dom;

	dom->state = state;
	dom->reason = reason;
	dom->active = domain_is_alive(state);
	dom->agreed = READS_TO_AGREE;
	dom->look_again = false;
	if (s->m->vmi)
		copy_str(dom->owner, UID_SIZE, s->m->vmi->meta.uid);
}

static void obey(struct stage *s, enum step step)
{
	struct vmi *vmi = s->m->vmi;

	if (step == STEP_PREPARE)
		vmi->prepared = true;
	if (step == STEP_CLEAN)
		vmi->cleaned = true;
	if (step == STEP_START)
		domain_is(s, DOMAIN_RUNNING, REASON_UNKNOWN);
	if (step == STEP_SIGNAL && !s->deaf)
		domain_is(s, DOMAIN_SHUTOFF, REASON_SHUTDOWN);
	if (step == STEP_KILL)
		domain_is(s, DOMAIN_SHUTOFF, REASON_DESTROYED);
	if (step == STEP_UNDEFINE)
		domain_is(s, DOMAIN_NONE, REASON_UNKNOWN);
}

/* All that follows, up to a guest that is waited for. */
static void play(struct stage *s)
{
	for (int i = 0; i < 50; i++) {
		struct plan plan = machine_decide(s->m, &s->host);
		struct step_env env = { .now = s->host.now };
		struct happening what;
		struct err err;

		if (plan.step == STEP_NONE)
			return;
		snprintf(env.uid, UID_SIZE, "00000000-0000-4000-8000-%012u", ++s->uids);
		ck_assert_int_eq(step_apply(s->m, &plan, &env, &what, &err), 0);
		vmi_free(take(&s->m->gone_vmi));
		obey(s, plan.step);
	}
	ck_abort_msg("it goes on and on");
}

static struct vm *vm_of(enum run_strategy strategy)
{
	struct vm *vm = xcalloc(1, sizeof(*vm));

	vm->meta.ns = xstrdup("default");
	vm->meta.name = xstrdup("a");
	copy_str(vm->meta.uid, UID_SIZE, "11111111-0000-4000-8000-000000000000");
	vm->strategy = strategy;
	vm->spec = xstrdup("{\"template\":{\"spec\":{\"domain\":{\"firmware\":{\"uuid\":"
			   "\"22222222-0000-4000-8000-000000000000\"},\"memory\":{\"guest\":"
			   "\"64Mi\"},\"devices\":{}}}}}");
	if (strategy == STRATEGY_MANUAL)
		vm->requests[vm->n_requests++].action = REQUEST_START;
	return vm;
}

static void go_down(struct stage *s)
{
	s->host.hold = s->host.going_down = true;
	s->m->stop_by = s->host.now.boot + SECONDS(20);
	play(s);
	s->host.now.boot += SECONDS(20); /* the grace is longer */
	play(s);
	if (s->m->vmi) {
		ck_assert(phase_is_final(s->m->vmi->phase));
		ck_assert_str_eq(s->m->vmi->reason, "HostShutdown");
	}
}

static void boot(struct stage *s)
{
	s->host.hold = s->host.going_down = false;
	s->m->stop_by = 0;
	s->host.now.boot = SECONDS(10);
	if (!s->m->vmi)
		return;
	s->m->vmi->rebooted = !phase_is_final(s->m->vmi->phase);
	if (s->m->dom.state != DOMAIN_NONE)
		domain_is(s, DOMAIN_SHUTOFF, REASON_UNKNOWN);
}

static void happens(struct stage *s, enum event event)
{
	s->deaf = event == DEAF_SHUTDOWN;
	if (event == AGENT_RESTART) {
		s->m->dom = (struct domain){ .look_again = true };
		s->host.connected = false;
		play(s); /* not knowing changes nothing */
		s->host.connected = true;
		if (s->m->vmi)
			domain_is(s, DOMAIN_RUNNING, REASON_UNKNOWN);
		return;
	}
	if (event != HOST_CRASH)
		go_down(s);
	boot(s);
}

static char outcome(const struct stage *s, const char *uid)
{
	const struct vmi *vmi = s->m->vmi;

	if (!vmi)
		return '-';
	if (vmi->phase == PHASE_RUNNING)
		return streq(vmi->meta.uid, uid) ? 's' : 'n';
	ck_assert_str_eq(vmi->meta.uid, uid);
	return vmi->phase == PHASE_FAILED ? 'F' : vmi->phase == PHASE_SUCCEEDED ? 'S' : '?';
}

START_TEST(section_4_6)
{
	for (int event = 0; event < EVENTS; event++) {
		struct stage s = { .m = machine_new("default", "a"), .tuning = TUNING_DEFAULT };
		char uid[UID_SIZE] = "", got;

		s.tuning.boot_policy = cells[_i].policy;
		s.host = (struct host_facts){ .tuning = &s.tuning,
			.now.boot = SECONDS(1000),
			.now.wall = SECONDS(1000),
			.connected = true,
			.settled = true };
		s.m->vm = vm_of(cells[_i].strategy);
		s.m->slot = SLOT_HELD;
		domain_is(&s, DOMAIN_NONE, REASON_UNKNOWN);
		play(&s);
		if (s.m->vmi) {
			ck_assert_int_eq(s.m->vmi->phase, PHASE_RUNNING);
			copy_str(uid, UID_SIZE, s.m->vmi->meta.uid);
		}
		happens(&s, event);
		play(&s);
		got = outcome(&s, uid);
		ck_assert_msg(got == cells[_i].want[event], "%s, %s, event %d: '%c', not '%c'",
			run_strategy_name(cells[_i].strategy),
			cells[_i].policy == BOOT_KUBEVIRT ? "kubevirt" : "restore-running", event,
			got, cells[_i].want[event]);
		machine_free(s.m);
	}
}
END_TEST

Suite *test_host_events_suite(void)
{
	Suite *s = suite_create("host_events");
	TCase *t = tcase_create("host_events");

	tcase_add_loop_test(t, section_4_6, 0, ARRAY_SIZE(cells));
	suite_add_tcase(s, t);
	return s;
}
