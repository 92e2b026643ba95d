/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects to text and back: what a restart reads is what was saved, field by field; deadlines of
 * another boot are over; the public document has KubeVirt's shape, and numbers keep their text.
 */
#include <check.h>
#include <string.h>

#include "core/codec.h"

Suite *test_codec_suite(void);

#define VM_SPEC "{\"runStrategy\":\"Manual\",\"big\":9007199254740993}"
#define VMI_SPEC                                                               \
	"{\"domain\":{\"memory\":{\"guest\":\"64Mi\"},\"firmware\":{\"uuid\":" \
	"\"11111111-2222-4333-8444-555555555555\"},\"devices\":{}}}"

static struct vm *vm_full(void)
{
	struct vm *vm = xcalloc(1, sizeof(*vm));

	vm->meta = (struct object_meta){ .ns = xstrdup("lab"),
		.name = xstrdup("web"),
		.uid = "vm-uid",
		.generation = 3,
		.rv = 17,
		.created = 1000,
		.deleted = 2000,
		.labels = xstrdup("{\"a\":\"b\"}"),
		.annotations = xstrdup("{\"n\":\"1\"}") };
	vm->spec = xstrdup(VM_SPEC);
	vm->strategy = STRATEGY_MANUAL;
	vm->uses_running = true;
	vm->recorded = STRATEGY_ONCE;
	vm->requests[0] = (struct state_request){ REQUEST_STOP, "vmi-uid", false };
	vm->requests[1] = (struct state_request){ REQUEST_START, "", true };
	vm->n_requests = 2;
	vm->failure = (struct start_failure){ 4, "failed-uid", 5000, 6000 };
	vm->crash =
		(struct crash_loop){ 5, "crashed-uid", 7000, 8000, 120, xstrdup("it fell over") };
	vm->ran_once = true;
	vm->adopts = xstrdup("db");
	vm->manifest_file = xstrdup("web.yaml");
	vm->manifest_error = xstrdup("web.yaml:1:2: no");
	return vm;
}

static struct vmi *vmi_full(void)
{
	struct vmi *vmi = xcalloc(1, sizeof(*vmi));

	vmi->meta = (struct object_meta){ .ns = xstrdup("lab"),
		.name = xstrdup("web"),
		.uid = "vmi-uid",
		.generation = 1,
		.rv = 18,
		.created = 1000 };
	vmi->spec = xstrdup(VMI_SPEC);
	copy_str(vmi->owner, UID_SIZE, "vm-uid");
	vmi->phase = PHASE_RUNNING;
	vmi->phase_wall[PHASE_PENDING] = 1100;
	vmi->phase_wall[PHASE_RUNNING] = 1200;
	vmi->reason = xstrdup("Because");
	vmi->sync_error = xstrdup("no");
	vmi->end = (struct end_evidence){ true, true, true, true, REASON_SAVED };
	vmi->end_why = xstrdup("the guest panicked");
	vmi->running_at = 12;
	vmi->ended_at = 13;
	vmi->scheduled_at = 7;
	vmi->retry_at = 8;
	vmi->tries = 9;
	vmi->hopeless = true;
	vmi->pause = PAUSE_HELD;
	vmi->paused = true;
	vmi->agent = true;
	vmi->agent_problem = xstrdup("missing: guest-ping");
	vmi->set_time_until = 77;
	vmi->asked_last = 78;
	vmi->paused_by = REASON_USER;
	vmi->io = (struct io_retry){ xstrdup("data:enospc log:"), 12, 13, 14, true };
	vmi->act = ACT_RESET;
	vmi->signal_first = 10;
	vmi->signal_last = 11;
	vmi->rebooted = true;
	vmi->prepared = true;
	vmi->claim = true;
	vmi->domain = xstrdup("db");
	vmi->vm_generation = 3;
	vmi->cleaned = true;
	vmi->console = xstrdup("/run/console");
	vmi->graphics = xstrdup("/run/vnc.sock");
	return vmi;
}

static struct vm *vm_again(struct machine *m, bool same_boot)
{
	autofree char *document = vm_document(m), *state = vm_state(m->vm);
	struct vm *vm = NULL;
	struct err err;

	ck_assert_int_eq(vm_load(document, state, same_boot, &vm, &err), 0);
	return vm;
}

static struct vmi *vmi_again(struct machine *m, bool same_boot)
{
	autofree char *document = vmi_document(m, "node1"), *state = vmi_state(m->vmi);
	struct vmi *vmi = NULL;
	struct err err;

	ck_assert_int_eq(vmi_load(document, state, same_boot, &vmi, &err), 0);
	return vmi;
}

static void assert_same_meta(const struct object_meta *a, const struct object_meta *b)
{
	ck_assert_str_eq(a->ns, b->ns);
	ck_assert_str_eq(a->name, b->name);
	ck_assert_str_eq(a->uid, b->uid);
	ck_assert_int_eq(a->generation, b->generation);
	ck_assert_int_eq(a->rv, b->rv);
	ck_assert_int_eq(a->created, b->created);
	ck_assert_int_eq(a->deleted, b->deleted);
	ck_assert_pstr_eq(a->labels, b->labels);
	ck_assert_pstr_eq(a->annotations, b->annotations);
}

START_TEST(test_vm_round_trip)
{
	struct machine m = { .vm = vm_full() };
	struct vm *vm = vm_again(&m, true);

	assert_same_meta(&vm->meta, &m.vm->meta);
	ck_assert_str_eq(vm->spec, VM_SPEC);
	ck_assert_int_eq(vm->strategy, STRATEGY_MANUAL);
	ck_assert(vm->uses_running && vm->ran_once);
	ck_assert_int_eq(vm->recorded, STRATEGY_ONCE);
	ck_assert_int_eq(vm->n_requests, 2);
	ck_assert_mem_eq(vm->requests, m.vm->requests, sizeof(vm->requests));
	ck_assert_int_eq(vm->failure.count, 4);
	ck_assert_str_eq(vm->failure.last_uid, "failed-uid");
	ck_assert_int_eq(vm->failure.retry_at, 5000);
	ck_assert_int_eq(vm->failure.retry_wall, 6000);
	ck_assert_int_eq(vm->crash.count, 5);
	ck_assert_str_eq(vm->crash.last_uid, "crashed-uid");
	ck_assert_int_eq(vm->crash.retry_at, 7000);
	ck_assert_int_eq(vm->crash.retry_wall, 8000);
	ck_assert_int_eq(vm->crash.window_s, 120);
	ck_assert_str_eq(vm->crash.cause, "it fell over");
	ck_assert_str_eq(vm->manifest_file, "web.yaml");
	ck_assert_str_eq(vm->manifest_error, "web.yaml:1:2: no");
	vm_free(vm);
	vm_free(m.vm);
}
END_TEST

START_TEST(test_vmi_round_trip)
{
	struct machine m = { .vmi = vmi_full() };
	struct vmi *vmi = vmi_again(&m, true);

	assert_same_meta(&vmi->meta, &m.vmi->meta);
	ck_assert_str_eq(vmi->spec, VMI_SPEC);
	ck_assert_str_eq(vmi->owner, "vm-uid");
	ck_assert_int_eq(vmi->phase, PHASE_RUNNING);
	ck_assert_mem_eq(vmi->phase_wall, m.vmi->phase_wall, sizeof(vmi->phase_wall));
	ck_assert_str_eq(vmi->reason, "Because");
	ck_assert_str_eq(vmi->sync_error, "no");
	ck_assert(vmi->end.killed && vmi->end.guest_shutdown && vmi->end.panicked);
	ck_assert_int_eq(vmi->end.stopped, REASON_SAVED);
	ck_assert_str_eq(vmi->end_why, "the guest panicked");
	ck_assert_int_eq(vmi->running_at, 12);
	ck_assert_int_eq(vmi->ended_at, 13);
	ck_assert_int_eq(vmi->scheduled_at, 7);
	ck_assert_int_eq(vmi->retry_at, 8);
	ck_assert_int_eq(vmi->tries, 9);
	ck_assert_int_eq(vmi->pause, PAUSE_HELD);
	ck_assert(vmi->paused);
	ck_assert(vmi->agent);
	ck_assert_str_eq(vmi->agent_problem, "missing: guest-ping");
	ck_assert_int_eq(vmi->set_time_until, 77);
	ck_assert_int_eq(vmi->asked_last, 78);
	ck_assert_int_eq(vmi->paused_by, REASON_USER);
	ck_assert_str_eq(vmi->io.errors, "data:enospc log:");
	ck_assert_int_eq(vmi->io.last, 12);
	ck_assert_int_eq(vmi->io.next, 13);
	ck_assert_int_eq(vmi->io.wait, 14);
	ck_assert(vmi->io.failed);
	ck_assert_int_eq(vmi->act, ACT_RESET);
	ck_assert_int_eq(vmi->signal_first, 10);
	ck_assert_int_eq(vmi->signal_last, 11);
	ck_assert(vmi->hopeless && vmi->rebooted && vmi->prepared && vmi->cleaned);
	ck_assert_int_eq(vmi->vm_generation, 3);
	ck_assert_str_eq(vmi->console, "/run/console");
	ck_assert_str_eq(vmi->graphics, "/run/vnc.sock");
	ck_assert_int_eq(vmi->typed.memory, 64 << 20);
	vmi_free(vmi);
	vmi_free(m.vmi);
}
END_TEST

START_TEST(test_other_boot_ends_deadlines)
{
	struct machine m = { .vm = vm_full(), .vmi = vmi_full() };
	struct vm *vm = vm_again(&m, false);
	struct vmi *vmi = vmi_again(&m, false);

	ck_assert_int_eq(vm->failure.retry_at, 0);
	ck_assert_int_eq(vm->failure.retry_wall, 6000);
	ck_assert_int_eq(vm->crash.retry_at, 0);
	ck_assert_int_eq(vm->crash.retry_wall, 8000);
	ck_assert_int_eq(vm->crash.count, 5);
	ck_assert_int_eq(vmi->running_at, 0);
	ck_assert_int_eq(vmi->ended_at, 0);
	ck_assert_int_eq(vmi->scheduled_at, 0);
	ck_assert_int_eq(vmi->retry_at, 0);
	ck_assert_int_eq(vmi->signal_first, 0);
	ck_assert_int_eq(vmi->io.last, 0);
	ck_assert(vmi->end.killed);
	vm_free(vm);
	vmi_free(vmi);
	vm_free(m.vm);
	vmi_free(m.vmi);
}
END_TEST

/* Of a host that was booted later: what was before that is as long ago as it can be. */
START_TEST(test_another_hosts_deadlines)
{
	struct vmi vmi = { .running_at = 5000, .scheduled_at = 100, .retry_at = 0 };

	vmi.io.last = 4000;
	vmi_shift(&vmi, -1000);
	ck_assert_int_eq(vmi.running_at, 4000);
	ck_assert_int_eq(vmi.scheduled_at, 1);
	ck_assert_int_eq(vmi.retry_at, 0);
	ck_assert_int_eq(vmi.io.last, 3000);
	vmi_shift(&vmi, 7);
	ck_assert_int_eq(vmi.running_at, 4007);
}
END_TEST

START_TEST(test_document_keeps_number_text)
{
	struct machine m = { .vm = vm_full() };
	autofree char *document = vm_document(&m);

	ck_assert_ptr_nonnull(strstr(document, "9007199254740993"));
	ck_assert_ptr_nonnull(strstr(document, "\"resourceVersion\":\"17\""));
	ck_assert_ptr_nonnull(strstr(document, "\"deletionTimestamp\":\"1970-01-01T00:00:02Z\""));
	ck_assert_ptr_nonnull(strstr(document, "\"printableStatus\":\"Terminating\""));
	vm_free(m.vm);
}
END_TEST

START_TEST(test_broken_rows_are_refused)
{
	struct vm *vm = NULL;
	struct err err;

	ck_assert_int_lt(vm_load("{", "{}", true, &vm, &err), 0);
	ck_assert_int_lt(vm_load("{\"spec\":{}}", "{}", true, &vm, &err), 0);
	ck_assert_int_lt(vm_load("{\"spec\":{}}",
				 "{\"namespace\":\"a\",\"name\":\"b\",\"strategy\":99}", true, &vm,
				 &err),
		0);
	ck_assert_int_lt(vm_load("{\"spec\":{}}",
				 "{\"namespace\":\"a\",\"name\":\"b\",\"requests\":[{\"action\":7}]}",
				 true, &vm, &err),
		0);
	ck_assert_ptr_null(vm);
}
END_TEST

/* What a peer says of a guest is read in the same way: no number of it is computed with that
 * overflows. */
START_TEST(test_wild_numbers)
{
	static const struct {
		const char *number;
		msec is;
	} cases[] = {
		{ "1e300", NEVER },
		{ "-1e300", 0 },
		{ "1.5e18", 0 },
		{ "\"7\"", 0 },
		{ "9223372036854775807", NEVER },
		{ "12", 12 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autofree char *state = xasprintf("{\"namespace\":\"a\",\"name\":\"b\","
						 "\"killAt\":%s,\"tries\":%s,"
						 "\"entered\":{\"Running\":%s}}",
			cases[i].number, cases[i].number, cases[i].number);
		struct vmi *vmi = NULL;
		struct err err;

		ck_assert_int_eq(vmi_load("{\"spec\":" VMI_SPEC "}", state, true, &vmi, &err), 0);
		ck_assert_int_eq(vmi->kill_at, cases[i].is);
		ck_assert_int_eq(vmi->phase_wall[PHASE_RUNNING], cases[i].is);
		ck_assert_uint_eq(vmi->tries, cases[i].is == 12 ? 12 : 0);
		vmi_shift(vmi, -NEVER / 2);
		ck_assert_int_ge(vmi->kill_at, 0);
		vmi_free(vmi);
	}
}
END_TEST

Suite *test_codec_suite(void)
{
	Suite *suite = suite_create("codec");
	TCase *tcase = tcase_create("round trip");

	tcase_add_test(tcase, test_vm_round_trip);
	tcase_add_test(tcase, test_vmi_round_trip);
	tcase_add_test(tcase, test_other_boot_ends_deadlines);
	tcase_add_test(tcase, test_another_hosts_deadlines);
	tcase_add_test(tcase, test_document_keeps_number_text);
	tcase_add_test(tcase, test_broken_rows_are_refused);
	tcase_add_test(tcase, test_wild_numbers);
	suite_add_tcase(suite, tcase);
	return suite;
}
