/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of the decider's rules, against semantics §2.3 (what a run needs next), §2.4 (what is
 * not ours), §4.2 (what a VM's pass does first) and §7.3 (delete). The tables behind the rules have
 * tests of their own; here is which of them speaks first.
 */
#include <check.h>
#include <string.h>

#include "core/decide.h"

Suite *test_decide_suite(void);

#define NOW     SECONDS(5000)
#define VM_UID  "11111111-2222-3333-4444-555555555555"
#define VMI_UID "66666666-7777-8888-9999-000000000000"

/*
 * Facts by letter.  VM: A Always, F RerunOnFailure, D … being deleted, q a Start is queued, n its strategy
 * is not recorded, K it kept something, P which is purged. VMI: d being deleted, s signalled just
 * now, S long ago, k killed long ago, p nothing is prepared, c all is cleaned away, t Scheduled
 * since long ago, R has been Running, g grace 0, a no ACPI. Domain: f another's, 1 one read of two,
 * l to be looked at again, h a start is under way, w no slot. Host: u no libvirt.
 */
struct row {
	const char *what;
	enum phase phase; /* UNSET: no VMI */
	const char *facts;
	enum domain_state state;
	enum domain_reason reason;
	enum step step;
	enum phase next;
};

/* clang-format off */
static const struct row runs[] = {
	/* 0: libvirt cannot be asked */
	{ "nobody can be asked",             PHASE_RUNNING,    "u",  DOMAIN_UNKNOWN, 0,                  STEP_NONE, 0 },
	{ "… nor told to stop",              PHASE_RUNNING,    "du", DOMAIN_UNKNOWN, 0,                  STEP_NONE, 0 },
	{ "… nor told to clean up",          PHASE_FAILED,     "u",  DOMAIN_UNKNOWN, 0,                  STEP_NONE, 0 },
	{ "not read yet",                    PHASE_RUNNING,    "l",  DOMAIN_UNKNOWN, 0,                  STEP_READ, 0 },
	{ "to be looked at again",           PHASE_RUNNING,    "l",  DOMAIN_SHUTOFF, REASON_CRASHED,     STEP_READ, 0 },
	{ "one read of two",                 PHASE_RUNNING,    "1",  DOMAIN_SHUTOFF, REASON_CRASHED,     STEP_NONE, 0 },
	/* the phase comes before all else */
	{ "it ended",                        PHASE_RUNNING,    "",   DOMAIN_SHUTOFF, REASON_SHUTDOWN,    STEP_SET_PHASE, PHASE_SUCCEEDED },
	{ "it ended while being stopped",    PHASE_RUNNING,    "ds", DOMAIN_SHUTOFF, REASON_SHUTDOWN,    STEP_SET_PHASE, PHASE_SUCCEEDED },
	{ "never restarted in place",        PHASE_RUNNING,    "",   DOMAIN_SHUTOFF, 0,                  STEP_SET_PHASE, PHASE_FAILED },
	{ "vanished",                        PHASE_RUNNING,    "",   DOMAIN_NONE,    0,                  STEP_SET_PHASE, PHASE_FAILED },
	{ "it runs",                         PHASE_SCHEDULED,  "",   DOMAIN_RUNNING, 0,                  STEP_SET_PHASE, PHASE_RUNNING },
	{ "it runs, at last",                PHASE_SCHEDULED,  "t",  DOMAIN_RUNNING, 0,                  STEP_SET_PHASE, PHASE_RUNNING },
	{ "it runs, and is to stop",         PHASE_SCHEDULED,  "d",  DOMAIN_RUNNING, 0,                  STEP_SET_PHASE, PHASE_RUNNING },
	{ "the start never came to be",      PHASE_SCHEDULED,  "t",  DOMAIN_NONE,    0,                  STEP_SET_PHASE, PHASE_FAILED },
	{ "deleted before it ran",           PHASE_SCHEDULED,  "d",  DOMAIN_NONE,    0,                  STEP_SET_PHASE, PHASE_FAILED },
	{ "… even before it was prepared",   PHASE_SCHEDULING, "dp", DOMAIN_NONE,    0,                  STEP_SET_PHASE, PHASE_FAILED },
	/* 2: shutdown */
	{ "to be stopped",                   PHASE_RUNNING,    "d",  DOMAIN_RUNNING, 0,                  STEP_SIGNAL, 0 },
	{ "signalled just now",              PHASE_RUNNING,    "ds", DOMAIN_RUNNING, 0,                  STEP_NONE, 0 },
	{ "on its way out",                  PHASE_RUNNING,    "ds", DOMAIN_SHUTTING_DOWN, 0,            STEP_NONE, 0 },
	{ "its grace is over",               PHASE_RUNNING,    "dS", DOMAIN_RUNNING, 0,                  STEP_KILL, 0 },
	{ "… on its way out or not",         PHASE_RUNNING,    "dS", DOMAIN_SHUTTING_DOWN, 0,            STEP_KILL, 0 },
	{ "… read or not",                   PHASE_RUNNING,    "dSl", DOMAIN_RUNNING, 0,                 STEP_KILL, 0 },
	{ "grace 0",                         PHASE_RUNNING,    "dg", DOMAIN_RUNNING, 0,                  STEP_KILL, 0 },
	{ "no ACPI",                         PHASE_RUNNING,    "da", DOMAIN_RUNNING, 0,                  STEP_KILL, 0 },
	{ "paused",                          PHASE_RUNNING,    "d",  DOMAIN_PAUSED,  REASON_USER,        STEP_KILL, 0 },
	{ "the kill was lost",               PHASE_RUNNING,    "dk", DOMAIN_RUNNING, 0,                  STEP_KILL, 0 },
	/* 3: delete */
	{ "final, its QEMU lives",           PHASE_FAILED,     "R",  DOMAIN_RUNNING, 0,                  STEP_KILL, 0 },
	{ "… to be looked at first",         PHASE_FAILED,     "Rl", DOMAIN_RUNNING, 0,                  STEP_READ, 0 },
	{ "final, defined",                  PHASE_SUCCEEDED,  "R",  DOMAIN_SHUTOFF, REASON_SHUTDOWN,    STEP_UNDEFINE, 0 },
	{ "final, no domain",                PHASE_SUCCEEDED,  "R",  DOMAIN_NONE,    0,                  STEP_CLEAN, 0 },
	{ "final, never prepared",           PHASE_FAILED,     "p",  DOMAIN_NONE,    0,                  STEP_CLEAN, 0 },
	{ "final and clean: it is kept",     PHASE_SUCCEEDED,  "Rc", DOMAIN_NONE,    0,                  STEP_NONE, 0 },
	{ "… until it is deleted",           PHASE_SUCCEEDED,  "Rcd", DOMAIN_NONE,   0,                  STEP_FORGET_VMI, 0 },
	/* 4: update */
	{ "accepted",                        PHASE_PENDING,    "p",  DOMAIN_NONE,    0,                  STEP_SET_PHASE, PHASE_SCHEDULING },
	{ "to be prepared",                  PHASE_SCHEDULING, "p",  DOMAIN_NONE,    0,                  STEP_PREPARE, 0 },
	{ "… libvirt or not",                PHASE_SCHEDULING, "pu", DOMAIN_UNKNOWN, 0,                  STEP_PREPARE, 0 },
	{ "prepared",                        PHASE_SCHEDULING, "",   DOMAIN_NONE,    0,                  STEP_SET_PHASE, PHASE_SCHEDULED },
	{ "to be started",                   PHASE_SCHEDULED,  "",   DOMAIN_NONE,    0,                  STEP_START, 0 },
	{ "… again, it was only defined",    PHASE_SCHEDULED,  "",   DOMAIN_SHUTOFF, 0,                  STEP_START, 0 },
	{ "… again, it failed",              PHASE_SCHEDULED,  "",   DOMAIN_SHUTOFF, REASON_FAILED,      STEP_START, 0 },
	{ "… not while that is under way",   PHASE_SCHEDULED,  "h",  DOMAIN_NONE,    0,                  STEP_NONE, 0 },
	{ "… not without a slot",            PHASE_SCHEDULED,  "w",  DOMAIN_NONE,    0,                  STEP_NONE, 0 },
	{ "in order",                        PHASE_RUNNING,    "R",  DOMAIN_RUNNING, 0,                  STEP_NONE, 0 },
	{ "paused by somebody: left so",     PHASE_RUNNING,    "R",  DOMAIN_PAUSED,  REASON_USER,        STEP_NONE, 0 },
};

/* A domain that is not this run's counts as none, and is never killed or undefined. */
static const struct row foreign[] = {
	{ "another's, Running",              PHASE_RUNNING,    "f",  DOMAIN_RUNNING, 0,                  STEP_SET_PHASE, PHASE_FAILED },
	{ "another's, to be started",        PHASE_SCHEDULED,  "f",  DOMAIN_RUNNING, 0,                  STEP_START, 0 },
	{ "another's, deleted",              PHASE_SCHEDULED,  "fd", DOMAIN_RUNNING, 0,                  STEP_SET_PHASE, PHASE_FAILED },
};

static const struct row passes[] = {
	{ "no run yet",                      PHASE_UNSET,      "A",  DOMAIN_NONE,    0,                  STEP_CREATE_VMI, 0 },
	{ "a run in order",                  PHASE_RUNNING,    "AR", DOMAIN_RUNNING, 0,                  STEP_NONE, 0 },
	{ "the phase comes first",           PHASE_RUNNING,    "AR", DOMAIN_SHUTOFF, REASON_CRASHED,     STEP_SET_PHASE, PHASE_FAILED },
	{ "then a failed start is counted",  PHASE_FAILED,     "A",  DOMAIN_NONE,    0,                  STEP_COUNT_FAILURE, 0 },
	{ "then the strategy",               PHASE_FAILED,     "AR", DOMAIN_SHUTOFF, REASON_CRASHED,     STEP_DELETE_VMI, 0 },
	{ "… RerunOnFailure",                PHASE_FAILED,     "FR", DOMAIN_SHUTOFF, REASON_CRASHED,     STEP_RERUN_VMI, 0 },
	{ "… RerunOnFailure, Succeeded",     PHASE_SUCCEEDED,  "FR", DOMAIN_SHUTOFF, REASON_SHUTDOWN,    STEP_DELETE_VMI, 0 },
	{ "… what was stopped is not rerun", PHASE_FAILED,     "FRd", DOMAIN_NONE,   0,                  STEP_CLEAN, 0 },
	{ "then a request that is done",     PHASE_RUNNING,    "ARq", DOMAIN_RUNNING, 0,                 STEP_POP_REQUEST, 0 },
	{ "then the strategy is recorded",   PHASE_RUNNING,    "ARn", DOMAIN_RUNNING, 0,                 STEP_RECORD_STRATEGY, 0 },
	{ "then what the run needs",         PHASE_SCHEDULED,  "A",  DOMAIN_NONE,    0,                  STEP_START, 0 },
};

static const struct row deletes[] = {
	{ "a VM without a run",              PHASE_UNSET,      "AD", DOMAIN_NONE,    0,                  STEP_FORGET_VM, 0 },
	{ "… that kept something",           PHASE_UNSET,      "ADK", DOMAIN_NONE,   0,                  STEP_PURGE, 0 },
	{ "… which is gone",                 PHASE_UNSET,      "ADKP", DOMAIN_NONE,  0,                  STEP_FORGET_VM, 0 },
	{ "… which nobody can remove now",   PHASE_UNSET,      "ADKu", DOMAIN_UNKNOWN, 0,                STEP_NONE, 0 },
	{ "… and whose run goes first",      PHASE_RUNNING,    "ADKR", DOMAIN_RUNNING, 0,                STEP_DELETE_VMI, 0 },
	{ "its run goes first",              PHASE_RUNNING,    "ADR", DOMAIN_RUNNING, 0,                 STEP_DELETE_VMI, 0 },
	{ "… gracefully",                    PHASE_RUNNING,    "ADRd", DOMAIN_RUNNING, 0,                STEP_SIGNAL, 0 },
	{ "… cleaned away",                  PHASE_SUCCEEDED,  "ADRd", DOMAIN_SHUTOFF, REASON_SHUTDOWN,  STEP_UNDEFINE, 0 },
	{ "… and forgotten",                 PHASE_SUCCEEDED,  "ADRdc", DOMAIN_NONE, 0,                  STEP_FORGET_VMI, 0 },
	{ "a failed start is not counted",   PHASE_FAILED,     "AD", DOMAIN_NONE,    0,                  STEP_DELETE_VMI, 0 },
};
/* clang-format on */

static bool has(const struct row *row, char letter)
{
	return strchr(row->facts, letter) != NULL;
}

static struct vm *make_vm(const struct row *row)
{
	struct vm *vm = xcalloc(1, sizeof(*vm));

	copy_str(vm->meta.uid, UID_SIZE, VM_UID);
	vm->strategy = has(row, 'F') ? STRATEGY_RERUN_ON_FAILURE : STRATEGY_ALWAYS;
	vm->recorded = has(row, 'n') ? STRATEGY_UNSET : vm->strategy;
	vm->meta.deleted = has(row, 'D');
	vm->keeps = has(row, 'K');
	if (has(row, 'q'))
		vm->requests[vm->n_requests++].action = REQUEST_START;
	return vm;
}

static struct vmi *make_vmi(const struct row *row)
{
	struct vmi *vmi = xcalloc(1, sizeof(*vmi));
	msec signalled = has(row, 's')           ? NOW
		: has(row, 'S') || has(row, 'k') ? NOW - SECONDS(60)
						 : 0;

	copy_str(vmi->meta.uid, UID_SIZE, VMI_UID);
	copy_str(vmi->owner, UID_SIZE, has(row, 'A') || has(row, 'F') ? VM_UID : "");
	vmi->phase = row->phase;
	vmi->meta.deleted = has(row, 'd');
	vmi->typed.grace = has(row, 'g') ? 0 : GRACE_UNSET;
	vmi->typed.acpi = !has(row, 'a');
	vmi->signal_first = vmi->signal_last = signalled;
	vmi->end.killed = has(row, 'k');
	vmi->prepared = !has(row, 'p');
	vmi->cleaned = has(row, 'c');
	vmi->scheduled_at = has(row, 't') ? NOW - SECONDS(START_TIMEOUT_S) : NOW;
	vmi->phase_wall[PHASE_RUNNING] = has(row, 'R');
	return vmi;
}

static struct machine *make_machine(const struct row *row)
{
	struct machine *m = machine_new("default", "web");

	m->vm = has(row, 'A') || has(row, 'F') ? make_vm(row) : NULL;
	m->vmi = row->phase != PHASE_UNSET ? make_vmi(row) : NULL;
	m->purged = has(row, 'P');
	m->slot = has(row, 'w') ? SLOT_WAITING : SLOT_HELD;
	m->dom.state = row->state;
	m->dom.reason = row->reason;
	m->dom.active = row->state == DOMAIN_RUNNING || row->state == DOMAIN_PAUSED;
	m->dom.agreed = has(row, '1') ? 1 : READS_TO_AGREE;
	m->dom.look_again = has(row, 'l');
	if (row->state != DOMAIN_NONE)
		copy_str(m->dom.owner, UID_SIZE, has(row, 'f') ? VM_UID : VMI_UID);
	if (has(row, 'h'))
		m->ops[LANE_MAIN] = (struct running_op){ 1, OP_START, NOW + SECONDS(9), false };
	return m;
}

static void check(const struct row *row)
{
	struct tuning tuning = TUNING_DEFAULT;
	struct host_facts host = { .now = { .boot = NOW },
		.tuning = &tuning,
		.connected = !has(row, 'u'),
		.settled = true };
	struct machine *m = make_machine(row);
	struct plan plan;

	tuning.crash_guard = false;
	plan = machine_decide(m, &host);
	ck_assert_msg(plan.step == row->step, "%s: %s, not %s", row->what, step_name(plan.step),
		step_name(row->step));
	if (plan.step == STEP_SET_PHASE)
		ck_assert_msg(plan.phase == row->next, "%s: %s, not %s", row->what,
			phase_name(plan.phase), phase_name(row->next));
	ck_assert_msg(!has(row, 'w') || plan.wants_slot, "%s: it wants no slot", row->what);
	machine_free(m);
}

START_TEST(test_run)
{
	check(&runs[_i]);
}
END_TEST

START_TEST(test_foreign)
{
	check(&foreign[_i]);
}
END_TEST

START_TEST(test_pass)
{
	check(&passes[_i]);
}
END_TEST

START_TEST(test_delete)
{
	check(&deletes[_i]);
}
END_TEST

Suite *test_decide_suite(void)
{
	Suite *s = suite_create("decide");
	TCase *run = tcase_create("§2.3 what a run needs next");
	TCase *other = tcase_create("§2.4, §3.0 what is another's");
	TCase *pass = tcase_create("§4.2 order of a VM's pass");
	TCase *end = tcase_create("§7.3 delete");

	tcase_add_loop_test(run, test_run, 0, (int)ARRAY_SIZE(runs));
	tcase_add_loop_test(other, test_foreign, 0, (int)ARRAY_SIZE(foreign));
	tcase_add_loop_test(pass, test_pass, 0, (int)ARRAY_SIZE(passes));
	tcase_add_loop_test(end, test_delete, 0, (int)ARRAY_SIZE(deletes));
	suite_add_tcase(s, run);
	suite_add_tcase(s, other);
	suite_add_tcase(s, pass);
	suite_add_tcase(s, end);
	return s;
}
