/* SPDX-License-Identifier: Apache-2.0 */
/* printableStatus against semantics §6 and §15, row by row and order of rows;
 * conditions against §1.3, §11.4. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"

Suite *test_status_suite(void);

#define RUN "11111111-2222-3333-4444-555555555555"

/* Facts of §6, by letter, in one text; a strategy and a phase ("none": no VMI) beside it. */
struct world {
	struct vm vm;
	struct vmi vmi;
	struct domain dom;
	struct status_facts facts;
};

static enum phase phase_named(const char *name)
{
	enum phase phase = PHASE_UNSET;

	ck_assert_msg(phase_parse(name, &phase), "'%s'", name);
	return phase;
}

static void world_init(struct world *w, enum run_strategy strategy, const char *phase)
{
	*w = (struct world){ .vm = { .strategy = strategy, .recorded = strategy } };
	copy_str(w->vmi.meta.uid, UID_SIZE, RUN);
	copy_str(w->dom.owner, UID_SIZE, w->vmi.meta.uid);
	w->facts.vm = &w->vm;
	if (streq(phase, "none"))
		return;
	w->facts.vmi = &w->vmi;
	w->vmi.phase = phase_named(phase);
}

/* There is one at a time: of several letters the first counts. */
static void obstruct(struct world *w, enum obstacle obstacle)
{
	if (!w->vmi.obstacle)
		w->vmi.obstacle = obstacle;
}

static void world_set(struct world *w, char letter)
{
	switch (letter) {
	case 'T': /* VM deleting */
		w->vm.meta.deleted = 1;
		break;
	case 'D': /* VMI deleting */
		w->vmi.meta.deleted = 1;
		break;
	case 'm':
		w->facts.migrating = true;
		break;
	case 'p':
		w->facts.paused = true;
		break;
	case 'f': /* start failure */
		w->vm.failure.count = 1;
		break;
	case 'l': /* the crash-loop guard holds it back */
		w->vm.crash.count = 4;
		w->vm.crash.retry_wall = 1000;
		break;
	case 'n': /* quick ends, none of them held back */
		w->vm.crash.count = 3;
		break;
	case 's': /* a Start is queued */
		w->vm.requests[0].action = REQUEST_START;
		w->vm.n_requests = 1;
		break;
	case 'P':
		obstruct(w, OBSTACLE_NO_CLAIM);
		break;
	case 'V':
		w->facts.volumes = MAX(w->facts.volumes, VOLUMES_FAILED);
		break;
	case 'U':
		obstruct(w, OBSTACLE_UNSCHEDULABLE);
		break;
	case 'v':
		w->facts.volumes = MAX(w->facts.volumes, VOLUMES_FILLING);
		break;
	case 'b':
		w->facts.volumes = MAX(w->facts.volumes, VOLUMES_UNBOUND);
		break;
	case 'e':
		obstruct(w, OBSTACLE_IMAGE);
		break;
	case 'o':
		obstruct(w, OBSTACLE_IMAGE_BACK_OFF);
		break;
	default:
		ck_abort_msg("'%c'", letter);
	}
}

/* clang-format off */
static const struct {
	enum run_strategy strategy;
	const char *phase, *facts, *want;
} rows[] = {
	/* 1 */
	{ STRATEGY_ALWAYS, "none",       "T",       "Terminating" },
	{ STRATEGY_ALWAYS, "Running",    "TDmp",    "Terminating" },
	{ STRATEGY_ALWAYS, "Failed",     "Tf",      "Terminating" },
	/* 2 */
	{ STRATEGY_ALWAYS, "Running",    "D",       "Stopping" },
	{ STRATEGY_ALWAYS, "Running",    "Dmp",     "Stopping" },
	{ STRATEGY_ALWAYS, "Pending",    "D",       "Stopping" },
	{ STRATEGY_ALWAYS, "Scheduled",  "D",       "Stopping" },
	{ STRATEGY_ALWAYS, "WaitingForSync", "D",   "Stopping" },
	{ STRATEGY_HALTED, "Succeeded",  "D",       "Stopped" },
	/* 3 */
	{ STRATEGY_ALWAYS, "Running",    "m",       "Migrating" },
	{ STRATEGY_ALWAYS, "Running",    "mp",      "Migrating" },
	{ STRATEGY_ALWAYS, "Running",    "mV",      "Migrating" },
	/* 4 */
	{ STRATEGY_ALWAYS, "Running",    "p",       "Paused" },
	{ STRATEGY_ALWAYS, "Running",    "pPVUvbeo", "Paused" },
	{ STRATEGY_ALWAYS, "Scheduled",  "p",       "Starting" },
	{ STRATEGY_MANUAL, "Failed",     "p",       "Stopped" },
	/* 5 */
	{ STRATEGY_ALWAYS, "Running",    "",        "Running" },
	{ STRATEGY_ALWAYS, "Running",    "f",       "Running" },
	{ STRATEGY_ALWAYS, "Running",    "PVUvbeo", "Running" },
	{ STRATEGY_HALTED, "Running",    "",        "Running" },
	/* 6-12, each with all that come after it */
	{ STRATEGY_ALWAYS, "Pending",    "PVUvbeo", "ErrorPvcNotFound" },
	{ STRATEGY_ALWAYS, "Pending",    "VUvbeo",  "DataVolumeError" },
	{ STRATEGY_ALWAYS, "Pending",    "Uvbeo",   "ErrorUnschedulable" },
	{ STRATEGY_ALWAYS, "Pending",    "vbeo",    "Provisioning" },
	{ STRATEGY_ALWAYS, "Pending",    "beo",     "WaitingForVolumeBinding" },
	{ STRATEGY_ALWAYS, "Pending",    "eo",      "ErrImagePull" },
	{ STRATEGY_ALWAYS, "Pending",    "o",       "ImagePullBackOff" },
	{ STRATEGY_ALWAYS, "none",       "v",       "Provisioning" },
	{ STRATEGY_ALWAYS, "none",       "Vf",      "DataVolumeError" },
	{ STRATEGY_ALWAYS, "none",       "bf",      "WaitingForVolumeBinding" },
	{ STRATEGY_HALTED, "none",       "b",       "Stopped" }, /* not set to start */
	/* 13 */
	{ STRATEGY_ALWAYS, "",           "",        "Starting" },
	{ STRATEGY_ALWAYS, "Pending",    "",        "Starting" },
	{ STRATEGY_ALWAYS, "Pending",    "f",       "Starting" },
	{ STRATEGY_ALWAYS, "Scheduling", "",        "Starting" },
	{ STRATEGY_ALWAYS, "Scheduled",  "f",       "Starting" },
	/* 14 */
	{ STRATEGY_ALWAYS, "none",       "f",       "CrashLoopBackOff" },
	{ STRATEGY_ALWAYS, "Failed",     "f",       "CrashLoopBackOff" },
	{ STRATEGY_RERUN_ON_FAILURE, "none", "f",   "CrashLoopBackOff" },
	{ STRATEGY_RERUN_ON_FAILURE, "Failed", "f", "CrashLoopBackOff" },
	{ STRATEGY_ONCE,   "Failed",     "f",       "CrashLoopBackOff" },
	{ STRATEGY_ONCE,   "Succeeded",  "f",       "CrashLoopBackOff" },
	{ STRATEGY_ALWAYS, "none",       "l",       "CrashLoopBackOff" }, /* ours, §4.5 [P] */
	{ STRATEGY_ALWAYS, "Failed",     "l",       "CrashLoopBackOff" },
	{ STRATEGY_ALWAYS, "Succeeded",  "l",       "CrashLoopBackOff" },
	{ STRATEGY_ALWAYS, "none",       "n",       "Stopped" },
	{ STRATEGY_ALWAYS, "Scheduled",  "l",       "Starting" },
	{ STRATEGY_ALWAYS, "Running",    "l",       "Running" },
	{ STRATEGY_RERUN_ON_FAILURE, "none", "ls",  "CrashLoopBackOff" },
	{ STRATEGY_RERUN_ON_FAILURE, "Failed", "l", "CrashLoopBackOff" },
	{ STRATEGY_RERUN_ON_FAILURE, "none", "l",   "Stopped" }, /* nothing is to start it */
	{ STRATEGY_ONCE,   "Failed",     "l",       "Stopped" },
	{ STRATEGY_MANUAL, "none",       "ls",      "Stopped" },
	{ STRATEGY_MANUAL, "none",       "f",       "Stopped" },
	{ STRATEGY_MANUAL, "Failed",     "f",       "Stopped" },
	{ STRATEGY_HALTED, "none",       "f",       "Stopped" },
	{ STRATEGY_WAIT_AS_RECEIVER, "none", "f",   "Stopped" },
	/* 15 */
	{ STRATEGY_ALWAYS, "none",       "",        "Stopped" },
	{ STRATEGY_HALTED, "none",       "",        "Stopped" },
	{ STRATEGY_MANUAL, "Failed",     "",        "Stopped" },
	{ STRATEGY_MANUAL, "Succeeded",  "",        "Stopped" },
	{ STRATEGY_ONCE,   "Failed",     "",        "Stopped" },
	{ STRATEGY_RERUN_ON_FAILURE, "Succeeded", "", "Stopped" },
	{ STRATEGY_WAIT_AS_RECEIVER, "none", "",    "Stopped" }, /* before 16 */
	/* 16 */
	{ STRATEGY_WAIT_AS_RECEIVER, "WaitingForSync", "", "WaitingForReceiver" },
	{ STRATEGY_WAIT_AS_RECEIVER, "Running", "", "Running" },
	{ STRATEGY_WAIT_AS_RECEIVER, "Pending", "", "Starting" },
	/* none matched */
	{ STRATEGY_ALWAYS, "WaitingForSync", "",    "Unknown" },
	{ STRATEGY_ALWAYS, "Unknown",    "",        "Unknown" },
	/* §15 */
	{ STRATEGY_ALWAYS, "Running",    "Tm",      "Terminating" },
	{ STRATEGY_ALWAYS, "Running",    "Dp",      "Stopping" },
	{ STRATEGY_ALWAYS, "Running",    "pm",      "Migrating" },
	{ STRATEGY_ALWAYS, "Running",    "V",       "Running" },
};
/* clang-format on */

START_TEST(printable_row)
{
	struct world w;

	world_init(&w, rows[_i].strategy, rows[_i].phase);
	for (const char *f = rows[_i].facts; *f; f++)
		world_set(&w, *f);
	ck_assert_msg(streq(printable_name(printable_of(&w.facts)), rows[_i].want),
		"%s, '%s', facts '%s': %s, not %s", run_strategy_name(rows[_i].strategy),
		rows[_i].phase, rows[_i].facts, printable_name(printable_of(&w.facts)),
		rows[_i].want);
}
END_TEST

/* Every status of §6 is the answer of some row above. */
START_TEST(printable_is_reached)
{
	bool seen = false;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		seen |= streq(rows[i].want, printable_name((enum printable)_i));
	ck_assert_msg(seen, "%s", printable_name((enum printable)_i));
}
END_TEST

/* ---- "set to start", §6 note 1 --------------------------------------------------------------- */

/* clang-format off */
static const struct {
	enum run_strategy strategy, recorded;
	const char *phase;
	enum request_action head;
	const char *uid;
	bool ran_once, want;
} starts[] = {
	{ STRATEGY_ALWAYS, STRATEGY_ALWAYS, "none", REQUEST_NONE, "", 0, true },
	{ STRATEGY_ALWAYS, STRATEGY_ALWAYS, "Succeeded", REQUEST_NONE, "", 0, true },
	{ STRATEGY_HALTED, STRATEGY_HALTED, "none", REQUEST_NONE, "", 0, false },
	{ STRATEGY_HALTED, STRATEGY_HALTED, "none", REQUEST_START, "", 0, false },
	{ STRATEGY_HALTED, STRATEGY_HALTED, "Running", REQUEST_NONE, "", 0, false },
	{ STRATEGY_MANUAL, STRATEGY_MANUAL, "none", REQUEST_NONE, "", 0, false },
	{ STRATEGY_MANUAL, STRATEGY_MANUAL, "none", REQUEST_START, "", 0, true },
	{ STRATEGY_MANUAL, STRATEGY_MANUAL, "none", REQUEST_STOP, RUN, 0, false },
	{ STRATEGY_MANUAL, STRATEGY_MANUAL, "Running", REQUEST_NONE, "", 0, true },
	{ STRATEGY_MANUAL, STRATEGY_MANUAL, "Running", REQUEST_STOP, RUN, 0, false },
	{ STRATEGY_MANUAL, STRATEGY_MANUAL, "Running", REQUEST_STOP, "another", 0, true },
	{ STRATEGY_MANUAL, STRATEGY_MANUAL, "Failed", REQUEST_START, "", 0, true },
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_RERUN_ON_FAILURE, "none", REQUEST_NONE, "", 0, false },
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_RERUN_ON_FAILURE, "none", REQUEST_START, "", 0, true },
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_UNSET, "none", REQUEST_NONE, "", 0, true },
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_RERUN_ON_FAILURE, "Succeeded", REQUEST_NONE, "", 0, false },
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_RERUN_ON_FAILURE, "Failed", REQUEST_NONE, "", 0, true },
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_RERUN_ON_FAILURE, "Running", REQUEST_NONE, "", 0, true },
	{ STRATEGY_ONCE, STRATEGY_ONCE, "none", REQUEST_NONE, "", 0, true },
	{ STRATEGY_ONCE, STRATEGY_ONCE, "none", REQUEST_NONE, "", 1, false }, /* §14 no. 8 */
	{ STRATEGY_ONCE, STRATEGY_ONCE, "Running", REQUEST_NONE, "", 0, false },
	{ STRATEGY_WAIT_AS_RECEIVER, STRATEGY_WAIT_AS_RECEIVER, "none", REQUEST_NONE, "", 0, false },
	{ STRATEGY_UNSET, STRATEGY_UNSET, "none", REQUEST_NONE, "", 0, false },
};
/* clang-format on */

START_TEST(set_to_start)
{
	struct world w;

	world_init(&w, starts[_i].strategy, starts[_i].phase);
	w.vm.recorded = starts[_i].recorded;
	w.vm.ran_once = starts[_i].ran_once;
	w.vm.requests[0].action = starts[_i].head;
	copy_str(w.vm.requests[0].uid, UID_SIZE, starts[_i].uid);
	w.vm.n_requests = starts[_i].head != REQUEST_NONE;
	w.vm.failure.retry_at = NEVER; /* the back-off does not count */
	ck_assert_int_eq(vm_is_set_to_start(&w.vm, w.facts.vmi), starts[_i].want);
}
END_TEST

/* ---- conditions ------------------------------------------------------------------------------ */

/* "Ready=False/GuestNotRunning Paused=True/PausedByUser"; what every guest that runs
 * has is left out. */
static char *text_of(struct conditions *c)
{
	struct buf b = { 0 };

	buf_puts(&b, "");
	for (size_t i = 0; i < c->n; i++) {
		if (strstr(c->list[i].type, "LiveMigratable"))
			continue;
		buf_printf(&b, "%s%s=%s", i ? " " : "", c->list[i].type,
			c->list[i].status ? "True" : "False");
		if (c->list[i].reason)
			buf_printf(&b, "/%s", c->list[i].reason);
		ck_assert(!c->list[i].message || c->list[i].message[0]);
	}
	conditions_done(c);
	ck_assert_uint_eq(c->n, 0);
	return b.data;
}

static void expect_vmi(const struct world *w, const char *want)
{
	struct conditions c;
	char *got;

	vmi_conditions(&w->vmi, &w->dom, &c);
	got = text_of(&c);
	ck_assert_str_eq(got, want);
	free(got);
}

static void expect_vm(const struct world *w, const char *want)
{
	struct conditions c;
	char *got;

	vm_conditions(&w->vm, w->facts.vmi, &w->dom, &c);
	got = text_of(&c);
	ck_assert_str_eq(got, want);
	free(got);
}

/* In the order of PHASES: only a Running guest can be ready. */
START_TEST(ready_by_phase)
{
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, phase_name((enum phase)_i));
	w.dom.state = DOMAIN_RUNNING;
	expect_vmi(&w, _i == PHASE_RUNNING ? "Ready=True" : "Ready=False/GuestNotRunning");
	expect_vm(&w, _i == PHASE_RUNNING ? "Ready=True" : "Ready=False/GuestNotRunning");
}
END_TEST

START_TEST(ready_ends_with_the_delete)
{
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, "Running");
	w.vmi.meta.deleted = 1;
	expect_vmi(&w, "Ready=False/PodTerminating");
}
END_TEST

/* In the order of DOMAIN_REASONS: three names of KubeVirt's, ours for the others (§14 no. 10). */
static const char *const pauses[] = { "PausedUnknown", "PausedByUser", "PausedByMigrationMonitor",
	"PausedSave", "PausedDump", "PausedIOError", "PausedWatchdog", "PausedFromSnapshot",
	"PausedShuttingDown", "PausedSnapshot", "PausedCrashed", "PausedStartingUp",
	"PausedPostcopy", "PausedPostcopyFailed", "PausedShutdown", "PausedDestroyed",
	"PausedMigrated", "PausedSaved", "PausedFailed", "PausedPanicked", "PausedDaemon",
	"PausedAPIError" };
_Static_assert(ARRAY_SIZE(pauses) == DOMAIN_REASON_MAX, "a name for each reason");

START_TEST(paused_by_reason)
{
	char want[128];
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, "Running");
	w.dom.state = DOMAIN_PAUSED;
	w.dom.reason = (enum domain_reason)_i;
	snprintf(want, sizeof(want), "Ready=False/ReadinessGatesNotReady Paused=True/%s",
		pauses[_i]);
	expect_vmi(&w, want);
	expect_vm(&w, want);
}
END_TEST

#define UNSUPPORTED \
	"AgentVersionNotSupported=True/This guest agent doesn't support required basic commands"

/* Only ever True, and removed otherwise (§1.3); while libvirt cannot be asked, what
 * was seen last holds. */
START_TEST(agent_connected)
{
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, "Running");
	w.dom.state = DOMAIN_RUNNING;
	w.vmi.agent = true;
	expect_vmi(&w, "Ready=True");
	w.dom.agent = true;
	expect_vmi(&w, "Ready=True AgentConnected=True");
	expect_vm(&w, "Ready=True AgentConnected=True");
	w.dom.state = DOMAIN_UNKNOWN;
	w.dom.agent = false;
	expect_vmi(&w, "Ready=True AgentConnected=True");
	w.vmi.agent_problem = (char *)"missing: guest-ping";
	expect_vmi(&w, "Ready=True AgentConnected=True " UNSUPPORTED);
	w.dom.state = DOMAIN_RUNNING;
	expect_vmi(&w, "Ready=True"); /* what another one lacked */
	w.dom.state = DOMAIN_UNKNOWN;
	w.vmi.phase = PHASE_SUCCEEDED;
	expect_vmi(&w, "Ready=False/GuestNotRunning");
}
END_TEST

/* While libvirt cannot be asked, what was seen last holds; what it forgot, a
 * user's own pause tells. */
START_TEST(paused_as_last_seen)
{
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, "Running");
	w.dom.state = DOMAIN_UNKNOWN;
	w.vmi.pause = PAUSE_HELD;
	expect_vmi(&w, "Ready=True");
	w.vmi.paused = true;
	w.vmi.paused_by = REASON_IOERROR;
	expect_vmi(&w, "Ready=False/ReadinessGatesNotReady Paused=True/PausedIOError");
	w.dom.state = DOMAIN_PAUSED;
	expect_vmi(&w, "Ready=False/ReadinessGatesNotReady Paused=True/PausedByUser");
	w.dom.owner[0] = '\0'; /* a domain that is not its own */
	expect_vmi(&w, "Ready=True");
}
END_TEST

START_TEST(paused_only_while_paused)
{
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, "Running");
	w.dom.reason = REASON_USER;
	for (int state = 0; state < DOMAIN_STATE_MAX; state++) {
		w.dom.state = (enum domain_state)state;
		if (state != DOMAIN_PAUSED)
			expect_vmi(&w, "Ready=True");
	}
	w.dom.state = DOMAIN_PAUSED;
	w.vmi.phase = PHASE_FAILED; /* post-copy failed, not yet destroyed */
	expect_vmi(&w, "Ready=False/GuestNotRunning");
}
END_TEST

START_TEST(synchronized_is_only_ever_false)
{
	struct conditions c;
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, "Scheduled");
	w.vmi.sync_error = (char[]){ "no such image" };
	vmi_conditions(&w.vmi, NULL, &c);
	ck_assert_str_eq(c.list[1].message, "no such image");
	conditions_done(&c);
	expect_vmi(&w,
		"Ready=False/GuestNotRunning "
		"Synchronized=False/Synchronizing with the Domain failed.");
	expect_vm(&w,
		"Ready=False/GuestNotRunning "
		"Synchronized=False/Synchronizing with the Domain failed.");
}
END_TEST

START_TEST(without_a_vmi_nothing_stale_stays)
{
	struct world w;

	world_init(&w, STRATEGY_MANUAL, "none");
	w.dom.state = DOMAIN_PAUSED;
	w.dom.reason = REASON_USER;
	w.vmi.sync_error = (char[]){ "of the run before" };
	expect_vm(&w, "Ready=False/VMINotExists");
}
END_TEST

/* Count, window and cause, and what comes next, from the first wait on until the count is reset. */
START_TEST(a_crash_loop_shows)
{
	static const char said[] =
		"ended 4 times in a row within 120 s of its start, the last time: it fell over; ";
	static const char *const next[] = { "next try at 1970-01-01T00:00:01Z",
		"this is the next try" };
	static const char *const phases[] = { "none", "Running" };

	for (size_t i = 0; i < ARRAY_SIZE(next); i++) {
		autofree char *want = xasprintf("%s%s", said, next[i]);
		struct conditions c;
		struct world w;

		world_init(&w, STRATEGY_ALWAYS, phases[i]);
		world_set(&w, 'n');
		expect_vm(&w, i ? "Ready=True" : "Ready=False/VMINotExists");
		world_set(&w, 'l');
		w.vm.crash.window_s = 120;
		w.vm.crash.cause = (char[]){ "it fell over" };
		vm_conditions(&w.vm, w.facts.vmi, &w.dom, &c);
		ck_assert_str_eq(c.list[c.n - 1].message, want);
		conditions_done(&c);
		expect_vm(&w,
			i ? "Ready=True CrashLoop=True/GuestKeepsEnding"
			  : "Ready=False/VMINotExists CrashLoop=True/GuestKeepsEnding");
		w.vm.strategy = STRATEGY_MANUAL;
		expect_vm(&w, i ? "Ready=True" : "Ready=False/VMINotExists");
	}
}
END_TEST

START_TEST(a_rejected_manifest_shows)
{
	struct conditions c;
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, "Running");
	w.vm.manifest_error = (char[]){ "web.yaml:3:5: unknown field 'memoryy'" };
	expect_vm(&w, "Ready=True ManifestRejected=True/ManifestRejected");
	vm_conditions(&w.vm, &w.vmi, &w.dom, &c);
	ck_assert_str_eq(c.list[c.n - 1].message, "web.yaml:3:5: unknown field 'memoryy'");
	conditions_done(&c);
}
END_TEST

START_TEST(an_unsupported_strategy_is_a_failure)
{
	struct world w;

	world_init(&w, STRATEGY_UNSET, "none");
	expect_vm(&w, "Ready=False/VMINotExists Failure=True/UnsupportedSyncError");
}
END_TEST

START_TEST(all_at_once_fits)
{
	struct world w;

	world_init(&w, STRATEGY_UNSET, "Running");
	w.dom.state = DOMAIN_PAUSED;
	w.dom.reason = REASON_IOERROR;
	w.vmi.sync_error = (char[]){ "x" };
	w.vm.manifest_error = (char[]){ "y" };
	expect_vm(&w,
		"Ready=False/ReadinessGatesNotReady "
		"Synchronized=False/Synchronizing with the Domain failed. "
		"Paused=True/PausedIOError Failure=True/UnsupportedSyncError "
		"ManifestRejected=True/ManifestRejected");
}
END_TEST

/* ---- since when, §1.3 ------------------------------------------------------------------------ */

static msec since_of(struct machine *m, const char *type)
{
	struct conditions c;
	msec since = -1;

	vm_conditions(m->vm, m->vmi, &m->dom, &c);
	for (size_t i = 0; i < c.n; i++) {
		if (streq(c.list[i].type, type))
			since = c.list[i].since;
	}
	conditions_done(&c);
	return since;
}

static void note_at(struct machine *m, msec wall)
{
	conditions_note(m, (struct now){ .wall = wall });
}

/* Only another status or reason is a transition; other words are not; what comes back begins
 * anew. */
START_TEST(a_condition_keeps_its_time)
{
	struct world w;
	struct machine m;

	world_init(&w, STRATEGY_ALWAYS, "Running");
	m = (struct machine){ .vm = &w.vm, .vmi = &w.vmi, .dom = w.dom };
	m.dom.state = DOMAIN_RUNNING;
	ck_assert_int_eq(since_of(&m, "Ready"), 0); /* not noted yet */
	note_at(&m, 1000);
	note_at(&m, 2000);
	ck_assert_int_eq(since_of(&m, "Ready"), 1000);
	ck_assert_int_eq(w.vmi.times.list[0].since, 1000);
	w.vmi.sync_error = (char[]){ "one" };
	note_at(&m, 3000);
	w.vmi.sync_error = (char[]){ "another" };
	note_at(&m, 4000);
	ck_assert_int_eq(since_of(&m, "Synchronized"), 3000);
	m.dom.state = DOMAIN_PAUSED;
	m.dom.reason = REASON_USER;
	note_at(&m, 5000);
	ck_assert_int_eq(since_of(&m, "Ready"), 5000);
	ck_assert_int_eq(since_of(&m, "Synchronized"), 3000);
	m.dom.reason = REASON_IOERROR;
	note_at(&m, 6000);
	ck_assert_int_eq(since_of(&m, "Paused"), 6000);
	ck_assert_int_eq(since_of(&m, "Ready"), 5000);
	w.vmi.sync_error = NULL;
	note_at(&m, 7000);
	ck_assert_int_eq(since_of(&m, "Synchronized"), -1);
	w.vmi.sync_error = (char[]){ "another" };
	note_at(&m, 8000);
	ck_assert_int_eq(since_of(&m, "Synchronized"), 8000);
	m.vmi = NULL; /* the run is gone, and with it all that was mirrored (§11.4) */
	note_at(&m, 9000);
	ck_assert_int_eq(since_of(&m, "Paused"), -1);
	ck_assert_int_eq(since_of(&m, "Ready"), 9000);
	ck_assert_uint_eq(w.vm.times.n, 1);
}
END_TEST

START_TEST(software_emulation_while_it_lives)
{
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, "Running");
	w.vmi.emulated = true;
	expect_vm(&w, "Ready=True SoftwareEmulation=True");
	w.vmi.phase = PHASE_FAILED;
	expect_vm(&w, "Ready=False/GuestNotRunning");
}
END_TEST

START_TEST(an_edit_that_waits_shows)
{
	struct conditions c;
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, "Running");
	w.vm.restart = (char[]){ "domain.memory.guest" };
	expect_vm(&w, "Ready=True RestartRequired=True");
	vm_conditions(&w.vm, &w.vmi, &w.dom, &c);
	ck_assert_str_eq(c.list[c.n - 1].message,
		"'spec.template.spec.domain.memory.guest' differs from what the guest runs with: "
		"restart the VM to apply it");
	conditions_done(&c);
}
END_TEST

Suite *test_status_suite(void)
{
	Suite *s = suite_create("status");
	TCase *printable = tcase_create("§6, §15 printableStatus");
	TCase *conditions = tcase_create("§1.3, §11.4 conditions");

	tcase_add_loop_test(printable, printable_row, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(printable, printable_is_reached, 0, PRINTABLE_MAX);
	tcase_add_loop_test(printable, set_to_start, 0, ARRAY_SIZE(starts));
	suite_add_tcase(s, printable);
	tcase_add_loop_test(conditions, ready_by_phase, 0, PHASE_MAX);
	tcase_add_test(conditions, ready_ends_with_the_delete);
	tcase_add_loop_test(conditions, paused_by_reason, 0, DOMAIN_REASON_MAX);
	tcase_add_test(conditions, paused_as_last_seen);
	tcase_add_test(conditions, agent_connected);
	tcase_add_test(conditions, paused_only_while_paused);
	tcase_add_test(conditions, synchronized_is_only_ever_false);
	tcase_add_test(conditions, without_a_vmi_nothing_stale_stays);
	tcase_add_test(conditions, a_crash_loop_shows);
	tcase_add_test(conditions, a_rejected_manifest_shows);
	tcase_add_test(conditions, an_unsupported_strategy_is_a_failure);
	tcase_add_test(conditions, all_at_once_fits);
	tcase_add_test(conditions, a_condition_keeps_its_time);
	tcase_add_test(conditions, software_emulation_while_it_lives);
	tcase_add_test(conditions, an_edit_that_waits_shows);
	suite_add_tcase(s, conditions);
	return s;
}
