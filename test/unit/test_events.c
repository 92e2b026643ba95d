/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semantics §1.5: the names of events are the contract. For each that can happen: what makes it
 * happen, on which object it is, Normal or Warning; and who did it, the cause of an end (§2.2),
 * what libvirt says. And their numbers.
 */
#include <cjson/cJSON.h>
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/decide.h"
#include "lib/rig.h"

Suite *test_events_suite(void);

#define LAST 30 /* s: longer than any grace period here */

static void boot(struct rig *r)
{
	rig_create(r, "Manual");
	rig_run(r, 1);
	rig_verb(r, VERB_START, NULL);
	rig_run(r, 1);
	ck_assert_int_eq(r->dom.state, DOMAIN_RUNNING);
}

static void becomes(struct rig *r, enum domain_state state, enum domain_reason reason)
{
	rig_domain(r, state, reason);
	rig_event(r, DOMAIN_EVENT_STOPPED);
	rig_run(r, 5);
}

static void poweroff(struct rig *r)
{
	boot(r);
	rig_event(r, DOMAIN_EVENT_SHUTDOWN);
	becomes(r, DOMAIN_SHUTOFF, REASON_SHUTDOWN);
}

static void panic(struct rig *r)
{
	boot(r);
	rig_event(r, DOMAIN_EVENT_PANICKED);
	becomes(r, DOMAIN_SHUTOFF, REASON_CRASHED);
}

static void crash(struct rig *r)
{
	boot(r);
	r->words = "qemu-system-x86_64: terminating on signal 11";
	becomes(r, DOMAIN_SHUTOFF, REASON_CRASHED);
}

static void stop(struct rig *r)
{
	boot(r);
	rig_verb(r, VERB_STOP, NULL);
	rig_run(r, 1);
}

static void stop_deaf(struct rig *r)
{
	r->deaf = true;
	stop(r);
	rig_run(r, LAST + 5);
}

static void stop_at_once(struct rig *r)
{
	boot(r);
	rig_verb(r, VERB_STOP, &(struct verb_options){ .has_grace = true, .grace = 0 });
	rig_run(r, 5);
}

static void destroy(struct rig *r)
{
	boot(r);
	becomes(r, DOMAIN_SHUTOFF, REASON_DESTROYED);
}

static void save(struct rig *r)
{
	boot(r);
	becomes(r, DOMAIN_SHUTOFF, REASON_SAVED);
}

static void vanish(struct rig *r)
{
	boot(r);
	becomes(r, DOMAIN_NONE, REASON_UNKNOWN);
}

static void forget(struct rig *r)
{
	boot(r);
	becomes(r, DOMAIN_SHUTOFF, REASON_UNKNOWN);
}

static void host_reboot(struct rig *r)
{
	boot(r);
	rig_domain(r, DOMAIN_SHUTOFF, REASON_UNKNOWN);
	r->boot_id[0]++;
	rig_restart(r);
}

static void refuse_start(struct rig *r)
{
	r->words = "qemu-system-x86_64: no";
	err_set(&r->refusal, ERR_HYPERVISOR, "start domain 'default_web': QEMU ended");
	rig_create(r, "Always");
	rig_run(r, 0); /* the next try comes after a second */
}

static void never_start(struct rig *r)
{
	refuse_start(r);
	rig_run(r, START_TIMEOUT_S + 10);
}

static void refuse_xml(struct rig *r)
{
	err_set(&r->refusal, ERR_INVALID, "define domain 'default_web': no such machine");
	rig_create(r, "Always");
	rig_run(r, 1);
}

static void delete_early(struct rig *r)
{
	refuse_start(r);
	rig_delete(r, KIND_VMI);
	rig_run(r, 5);
}

static void io_error(struct rig *r)
{
	boot(r);
	rig_domain(r, DOMAIN_PAUSED, REASON_IOERROR);
	rig_event(r, DOMAIN_EVENT_IO_ERROR);
	rig_run(r, 5);
}

static void pause(struct rig *r)
{
	boot(r);
	rig_vmi_verb(r, VMI_VERB_PAUSE);
	rig_run(r, 1);
}

static void unpause(struct rig *r)
{
	pause(r);
	rig_vmi_verb(r, VMI_VERB_UNPAUSE);
	rig_run(r, 1);
}

static void reset(struct rig *r)
{
	boot(r);
	rig_vmi_verb(r, VMI_VERB_RESET);
	rig_run(r, 1);
}

static void soft_reboot(struct rig *r)
{
	boot(r);
	rig_vmi_verb(r, VMI_VERB_SOFTREBOOT);
	rig_run(r, 1);
}

/* A stored spec that this version cannot read, e.g. of another one. */
static int spoil(void *ctx, const struct object_row *row)
{
	char *copy = xstrdup(row->object), *at = strstr(copy, "64Mi");

	ck_assert_ptr_nonnull(at);
	at[2] = '?';
	*(char **)ctx = copy;
	return 1;
}

static int save_spoilt(void *ctx, const struct object_row *row)
{
	struct object_row *to = ctx;

	to->uid = xstrdup(row->uid);
	to->state = xstrdup(row->state);
	return 1;
}

static void create_odd(struct rig *r)
{
	struct object_query query = { .kind = KIND_VM };
	struct object_row row = { .kind = KIND_VM, .ns = "default", .name = "web" };

	rig_create(r, "Halted");
	rig_run(r, 1);
	store_each(r->store, &query, spoil, &row.object, NULL);
	store_each(r->store, &query, save_spoilt, &row, NULL);
	ck_assert_int_eq(store_begin(r->store, NULL), 0);
	row.rv = store_next_rv(r->store);
	ck_assert_int_eq(store_put(r->store, &row, NULL), 0);
	ck_assert_int_eq(store_commit(r->store, NULL), 0);
	rig_restart(r);
	rig_verb(r, VERB_START, NULL);
	rig_run(r, 5);
	free((char *)row.object);
	free((char *)row.uid);
	free((char *)row.state);
}

/* clang-format off */
static const struct {
	const char *reason; /* §1.5, but for the last rows: ours */
	void (*drive)(struct rig *r);
	const char *kind, *type, *actor, *cause, *libvirt, *message;
} events[] = {
	{ "Created",     boot,         "VMI", "Normal",  "agent",     NULL, NULL, "phase Scheduling -> Scheduled" },
	{ "Started",     boot,         "VMI", "Normal",  "agent",     NULL, NULL, "phase Scheduled -> Running" },
	{ "Stopped",     poweroff,     "VMI", "Normal",  "guest",     "GuestPoweroff", "Shutoff/Shutdown",
	  "phase Running -> Succeeded: the guest powered itself off (libvirt: Shutoff/Shutdown)" },
	{ "Stopped",     stop,         "VMI", "Normal",  "guest",     "GuestShutdown", "Shutoff/Shutdown",
	  "phase Running -> Succeeded: the guest shut down when asked to (libvirt: Shutoff/Shutdown)" },
	{ "Stopped",     panic,        "VMI", "Warning", "guest",     "GuestPanic", "Shutoff/Crashed",
	  "phase Running -> Failed: the guest panicked (libvirt: Shutoff/Crashed)" },
	{ "Stopped",     crash,        "VMI", "Warning", "host",      "QEMUCrashed", "Shutoff/Crashed",
	  "phase Running -> Failed: QEMU ended without a shutdown (libvirt: Shutoff/Crashed)" },
	{ "Stopped",     stop_deaf,    "VMI", "Warning", "agent",     "KilledAfterGrace", "Shutoff/Destroyed",
	  "phase Running -> Failed: killed when its grace period was over (libvirt: Shutoff/Destroyed)" },
	{ "Stopped",     stop_at_once, "VMI", "Normal",  "agent",     "KilledAtOnce", "Shutoff/Destroyed",
	  "phase Running -> Succeeded: killed at once (libvirt: Shutoff/Destroyed)" },
	{ "Stopped",     destroy,      "VMI", "Warning", "libvirt",   "DestroyedOutside", "Shutoff/Destroyed",
	  "phase Running -> Failed: destroyed from outside vmagent (libvirt: Shutoff/Destroyed)" },
	{ "Stopped",     save,         "VMI", "Normal",  "libvirt",   "SavedOutside", "Shutoff/Saved",
	  "phase Running -> Succeeded: saved from outside vmagent (libvirt: Shutoff/Saved)" },
	{ "Stopped",     vanish,       "VMI", "Warning", "libvirt",   "DomainVanished", "NonExistent",
	  "phase Running -> Failed: the domain vanished, and nothing tells why (libvirt: NonExistent)" },
	{ "Stopped",     forget,       "VMI", "Warning", "libvirt",   "DomainEndUnknown", "Shutoff/Unknown",
	  "phase Running -> Failed: the domain is off, and libvirt does not know why (libvirt: Shutoff/Unknown)" },
	{ "Stopped",     refuse_xml,   "VMI", "Warning", "agent",     "StartFailed", NULL,
	  "phase Scheduled -> Failed: define domain 'default_web': no such machine" },
	{ "Stopped",     never_start,  "VMI", "Warning", "agent",     "StartTimeout", NULL,
	  "phase Scheduled -> Failed: it could not be started in time" },
	{ "Stopped",     delete_early, "VMI", "Warning", "agent",     "DeletedBeforeRunning", NULL,
	  "phase Scheduled -> Failed: deleted before it ran" },
	{ "ShuttingDown", stop,        "VMI", "Normal",  "agent",     NULL, NULL, "signalled the guest to shut down" },
	{ "Deleted",     stop_deaf,    "VMI", "Warning", "agent",     NULL, NULL, "killing the guest: its grace period is over" },
	{ "Deleted",     stop_at_once, "VMI", "Normal",  "agent",     NULL, NULL, "killing the guest" },
	{ "SyncFailed",  refuse_start, "VMI", "Warning", "agent",     NULL, NULL,
	  "start failed: start domain 'default_web': QEMU ended" },
	{ "IOerror",     io_error,     "VMI", "Warning", "libvirt",   NULL, NULL,
	  "no space left for disk 'root': make room on its file system" },
	{ "GuestPanicked", panic,      "VMI", "Warning", "guest",     "GuestPanic", NULL, "the guest panicked" },
	{ "Paused",      pause,        "VMI", "Normal",  "user 1000", NULL, NULL, "pause accepted" },
	{ "Unpaused",    unpause,      "VMI", "Normal",  "user 1000", NULL, NULL, "unpause accepted" },
	{ "Reset",       reset,        "VMI", "Normal",  "user 1000", NULL, NULL, "reset accepted" },
	{ "SoftRebooted", soft_reboot, "VMI", "Normal",  "user 1000", NULL, NULL, "softreboot accepted" },
	{ "NodeUnresponsive", host_reboot, "VMI", "Warning", "host",  "HostRebooted", "Shutoff/Unknown",
	  "phase Running -> Failed: the host was restarted (libvirt: Shutoff/Unknown)" },
	{ "SuccessfulCreate", boot,    "VM",  "Normal",  "agent",     NULL, NULL, "Started the virtual machine by creating" },
	{ "SuccessfulDelete", stop,    "VM",  "Normal",  "agent",     NULL, NULL, "Stopped the virtual machine by deleting" },
	{ "FailedCreate", create_odd,  "VM",  "Warning", "agent",     NULL, NULL, "" },
	{ "QEMUOutput",  crash,        "VMI", "Warning", "agent",     NULL, NULL,
	  "QEMU wrote:\nqemu-system-x86_64: terminating on signal 11" },
	{ "QEMUOutput",  refuse_start, "VMI", "Warning", "agent",     NULL, NULL, "QEMU wrote:\nqemu-system-x86_64: no" },
	{ "StartRequested", boot,      "VM",  "Normal",  "user 1000", NULL, NULL, "start accepted" },
	{ "StopRequested", stop,       "VM",  "Normal",  "user 1000", NULL, NULL, "stop accepted" },
};
/* clang-format on */

static const char *text_at(const cJSON *json, const char *path)
{
	autofree char *copy = xstrdup(path);
	char *rest = copy, *key;

	while (json && (key = strsep(&rest, " ")))
		json = cJSON_GetObjectItemCaseSensitive(json, key);
	return cJSON_GetStringValue(json);
}

struct search {
	const char *reason;
	size_t n;
	cJSON *newest; /* owned */
	struct buf all;
};

static int look(void *ctx, const struct object_row *row)
{
	struct search *s = ctx;
	cJSON *root = cJSON_Parse(row->object);

	buf_printf(&s->all, "%s: %s\n", text_at(root, "reason"), text_at(root, "message"));
	if (!streq(text_at(root, "reason"), s->reason)) {
		cJSON_Delete(root);
		return 0;
	}
	s->n++;
	cJSON_Delete(s->newest);
	s->newest = root;
	return 0;
}

static void find(struct rig *r, struct search *s)
{
	struct object_query query = { .kind = KIND_EVENT };

	buf_puts(&s->all, "");
	store_each(r->store, &query, look, s, NULL);
}

static void same(const struct search *s, const char *path, const char *want)
{
	const char *got = text_at(s->newest, path);

	ck_assert_msg(streq(got, want), "%s is '%s', not '%s'; all events:\n%s", path,
		got ? got : "not there", want ? want : "not there", s->all.data);
}

START_TEST(section_1_5)
{
	struct search s = { .reason = events[_i].reason };
	const char *message;
	struct rig r;

	rig_begin(&r);
	events[_i].drive(&r);
	find(&r, &s);
	ck_assert_msg(s.n == 1, "%zu events %s among:\n%s", s.n, s.reason, s.all.data);
	same(&s, "type", events[_i].type);
	same(&s, "involvedObject kind",
		streq(events[_i].kind, "VM") ? "VirtualMachine" : "VirtualMachineInstance");
	same(&s, "involvedObject name", "web");
	same(&s, "metadata annotations vmagent.io/actor", events[_i].actor);
	same(&s, "metadata annotations vmagent.io/cause", events[_i].cause);
	same(&s, "metadata annotations vmagent.io/libvirt", events[_i].libvirt);
	same(&s, "reportingInstance", "node1");
	message = text_at(s.newest, "message");
	ck_assert_msg(starts_with(message, events[_i].message), "%s", message);
	buf_done(&s.all);
	cJSON_Delete(s.newest);
	rig_end(&r);
}
END_TEST

/* An end that is nobody's riddle has no words of QEMU's, whatever its log says. */
START_TEST(innocent_ends_have_no_output)
{
	static void (*const innocent[])(struct rig * r) = { poweroff, stop, panic, stop_deaf,
		stop_at_once, destroy, save, host_reboot };
	struct search s = { .reason = "QEMUOutput" };
	struct rig r;

	rig_begin(&r);
	r.words = "qemu-system-x86_64: terminating on signal 15 from pid 1";
	innocent[_i](&r);
	find(&r, &s);
	ck_assert_uint_eq(s.n, 0);
	buf_done(&s.all);
	cJSON_Delete(s.newest);
	rig_end(&r);
}
END_TEST

/* ---- numbers --------------------------------------------------------------------------------- */

struct count {
	int64_t first, last;
	size_t n;
};

static int count_event(void *ctx, const struct object_row *row)
{
	struct count *c = ctx;
	cJSON *root = cJSON_Parse(row->object);
	const char *text = text_at(root, "metadata annotations vmagent.io/seq");
	int64_t seq = strtoll(text, NULL, 10);

	ck_assert_int_eq(strtoll(strrchr(row->name, '.') + 1, NULL, 16), seq);
	ck_assert_msg(!c->n || seq == c->last + 1, "event %lld follows on %lld", (long long)seq,
		(long long)c->last);
	c->first = c->n++ ? c->first : seq;
	c->last = seq;
	cJSON_Delete(root);
	return 0;
}

/* Their names are in the order of their numbers, for the number in them is as wide as it gets. */
static struct count numbers(struct rig *r)
{
	struct object_query query = { .kind = KIND_EVENT };
	struct count c = { 0 };

	store_each(r->store, &query, count_event, &c, NULL);
	return c;
}

START_TEST(numbers_have_no_gaps)
{
	struct count before, after;
	struct rig r;

	rig_begin(&r);
	stop(&r);
	before = numbers(&r);
	ck_assert_int_eq(before.first, 1);
	rig_restart(&r);
	store_fail_after(r.store, 2); /* the commit that would number the next one fails once */
	rig_verb(&r, VERB_START, NULL);
	rig_run(&r, 10);
	rig_restart(&r);
	after = numbers(&r);
	ck_assert_int_eq(after.first, 1);
	ck_assert_int_gt(after.last, before.last);
	rig_end(&r);
}
END_TEST

START_TEST(the_oldest_go_and_numbers_go_on)
{
	struct count c;
	struct rig r;

	rig_begin(&r);
	rig_create(&r, "Halted");
	rig_run(&r, 1);
	for (int i = 0; i < EVENT_WINDOW + 100; i++)
		rig_verb(&r, VERB_STOP, NULL); /* refused, each time with an event */
	rig_run(&r, 1);
	rig_verb(&r, VERB_STOP, NULL);
	rig_run(&r, 1);
	c = numbers(&r);
	ck_assert_uint_eq(c.n, EVENT_WINDOW);
	ck_assert_int_eq(c.last, EVENT_WINDOW + 101);
	rig_end(&r);
}
END_TEST

/* No number comes twice, also when the process ends before it has an event to number. */
START_TEST(numbers_rise_after_a_lost_database)
{
	struct count before, after;
	int64_t rv;
	struct rig r;

	rig_begin(&r);
	stop(&r);
	before = numbers(&r);
	rv = store_current_rv(r.store);
	ck_assert_int_le(before.last, rv);
	rig_lose_database(&r);
	rig_restart(&r);
	rig_create(&r, "Always");
	rig_run(&r, 1);
	after = numbers(&r);
	ck_assert_int_gt(after.first, before.last);
	rig_end(&r);
}
END_TEST

Suite *test_events_suite(void)
{
	Suite *s = suite_create("events (§1.5)");
	TCase *t = tcase_create("names");

	tcase_add_loop_test(t, section_1_5, 0, ARRAY_SIZE(events));
	tcase_add_loop_test(t, innocent_ends_have_no_output, 0, 8);
	suite_add_tcase(s, t);
	t = tcase_create("numbers");
	tcase_set_timeout(t, 60);
	tcase_add_test(t, numbers_have_no_gaps);
	tcase_add_test(t, the_oldest_go_and_numbers_go_on);
	tcase_add_test(t, numbers_rise_after_a_lost_database);
	suite_add_tcase(s, t);
	return s;
}
