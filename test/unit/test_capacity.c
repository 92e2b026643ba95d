/* SPDX-License-Identifier: Apache-2.0 */
/* What a run asks of its host, whether it fits, and the words when it does not. */
#include <check.h>
#include <string.h>

#include "core/capacity.h"

Suite *test_capacity_suite(void);

#define MI INT64_C(1048576)
#define GI (1024 * MI)

/* clang-format off */
static const struct {
	const char *name;
	int64_t guest;               /* bytes */
	unsigned vcpus;
	bool graphics;
	struct demands demands;
	unsigned percent, ratio;
	int64_t memory, cpu;         /* what is asked for */
} asked[] = {
	/* 30 for QEMU, 8 for the CPU, 8 for the I/O thread, a 512th for its page tables */
	{ "bare",           512 * MI, 1, false, { .added_overhead = 0 }, 100, 10, (512 + 46 + 1) * MI, 100 },
	{ "a display",      512 * MI, 1, true,  { .added_overhead = 0 }, 100, 10, (512 + 78 + 1) * MI, 100 },
	{ "four CPUs",      512 * MI, 4, false, { .added_overhead = 0 }, 100, 10, (512 + 70 + 1) * MI, 400 },
	{ "a ratio of 1",   512 * MI, 4, false, { .added_overhead = 0 }, 100, 1,  (512 + 70 + 1) * MI, 4000 },
	{ "half a CPU more than the ratio has", 512 * MI, 3, false, { .added_overhead = 0 }, 100, 2, (512 + 62 + 1) * MI, 1500 },
	{ "overcommitted",  512 * MI, 1, false, { .added_overhead = 0 }, 200, 10, (256 + 46 + 1) * MI, 100 },
	{ "a third",        300 * MI, 1, false, { .added_overhead = 0 }, 300, 10, (100 + 46) * MI + 300 * MI / 512, 100 },
	{ "its own request", 512 * MI, 4, false, { .request = { 128 * MI, 250 } }, 200, 10,
		(128 + 70 + 1) * MI, 250 },
	{ "a CPU limit alone", 512 * MI, 4, false, { .limit = { GI, 3000 } }, 100, 10,
		(512 + 70 + 1) * MI, 3000 },
	{ "without overhead", 512 * MI, 1, false, { .overcommit_overhead = true }, 100, 10, 512 * MI, 100 },
	{ "as announced",   512 * MI, 1, false, { .added_overhead = 64 * MI }, 100, 10, (576 + 46 + 1) * MI, 100 },
	{ "CPUs of its own", 512 * MI, 4, false, { .request = { 0, 4000 } }, 100, 10, (512 + 70 + 1) * MI, 0 },
	{ "a host device",  512 * MI, 1, false, { .added_overhead = 0 }, 100, 10, (512 + 46 + 1 + 1024) * MI, 100 },
	{ "the most there is", INT64_MAX / 2, 1, false, { .overcommit_overhead = true }, 100, 10, INT64_C(1) << 50, 100 },
	{ "… by itself",     64 * MI, 1, false, { .request = { INT64_MAX, 0 }, .overcommit_overhead = true }, 100, 10,
		INT64_C(1) << 50, 100 },
};

static const struct {
	int64_t memory, cpu;           /* of the host; 0: not known */
	int64_t free_memory, free_cpu;
	int64_t need_memory, need_cpu;
	const char *words;             /* NULL: it fits */
} fits[] = {
	{ 8 * GI, 4000, 2 * GI, 1000, 2 * GI, 1000, NULL },
	{ 8 * GI, 4000, 2 * GI, 1000, 2 * GI + 1, 1000,
		"1 Insufficient memory: needs 2.1Gi of memory, 2Gi of 8Gi is free; stop 'default/web' or lower requests" },
	{ 8 * GI, 4000, 3 * GI / 2, 1000, 4 * GI, 1000,
		"1 Insufficient memory: needs 4Gi of memory, 1.5Gi of 8Gi is free; stop 'default/web' or lower requests" },
	{ 8 * GI, 4000, 2 * GI, 1000, GI, 1001,
		"1 Insufficient cpu: needs 1001m CPUs, 1 of 4 is free; stop 'default/web' or lower requests" },
	{ 8 * GI, 4000, 2 * GI, 900, 3 * GI, 1500,
		"1 Insufficient memory: needs 3Gi of memory, 2Gi of 8Gi is free; 1 Insufficient cpu: needs 1.5 CPUs, "
		"900m of 4 is free; stop 'default/web' or lower requests" },
	{ 8 * GI, 4000, -GI, -100, GI, 100,
		"1 Insufficient memory: needs 1Gi of memory, 0Mi of 8Gi is free; 1 Insufficient cpu: needs 100m CPUs, "
		"0m of 4 is free; stop 'default/web' or lower requests" },
	{ 8 * GI, 4000, 8 * GI, 4000, 9 * GI, 100,
		"1 Insufficient memory: needs 9Gi of memory, 8Gi of 8Gi is free, which is never enough: lower the VM's "
		"requests" },
	{ 0, 0, -5 * GI, -100, 9 * GI, 64000, NULL },
	{ 8 * GI, 4000, 2 * GI, -100, 2 * GI, 0, NULL },
	{ 0, 4000, -5 * GI, 100, 9 * GI, 200,
		"1 Insufficient cpu: needs 200m CPUs, 100m of 4 is free; stop 'default/web' or lower requests" },
};
/* clang-format on */

START_TEST(a_run_asks)
{
	struct vmi_spec spec = { .memory = asked[_i].guest,
		.sockets = asked[_i].vcpus,
		.cores = 1,
		.threads = 1,
		.graphics = asked[_i].graphics,
		.dedicated = streq(asked[_i].name, "CPUs of its own"),
		.n_devices = streq(asked[_i].name, "a host device"),
		.demands = asked[_i].demands };
	struct tuning tuning = TUNING_DEFAULT;
	struct resources asks;

	tuning.memory_percent = asked[_i].percent;
	tuning.cpu_ratio = asked[_i].ratio;
	asks = requests_of(&spec, &tuning);
	ck_assert_msg(asks.memory == asked[_i].memory, "%s: %lld, not %lld", asked[_i].name,
		(long long)asks.memory, (long long)asked[_i].memory);
	ck_assert_msg(asks.cpu == asked[_i].cpu, "%s: %lld", asked[_i].name, (long long)asks.cpu);
}
END_TEST

START_TEST(a_host_has_room)
{
	struct room room = { { fits[_i].memory, fits[_i].cpu },
		{ fits[_i].free_memory, fits[_i].free_cpu } };
	struct resources need = { fits[_i].need_memory, fits[_i].need_cpu };
	autofree char *words = NULL;

	ck_assert_int_eq(room_fits(&room, &need), !fits[_i].words);
	if (!fits[_i].words)
		return;
	words = room_words(&room, &need, "default/web");
	ck_assert_str_eq(words, fits[_i].words);
}
END_TEST

/* QEMU may not be killed for being QEMU, nor for what it translates where there is no KVM. */
START_TEST(a_limit_leaves_room_for_qemu)
{
	struct vmi_spec spec = { .memory = 512 * MI, .sockets = 1, .cores = 1, .threads = 1 };

	spec.demands.limit.memory = GI;
	ck_assert_int_eq(memory_ceiling(&spec, true), GI + (46 + 1 + 128) * MI);
	ck_assert_int_eq(memory_ceiling(&spec, false), GI + (46 + 1 + 128 + 1024) * MI);
	spec.demands.limit.memory = 1; /* less than the guest has */
	ck_assert_int_eq(memory_ceiling(&spec, true), (512 + 46 + 1 + 128) * MI);
	spec.demands.limit.memory = INT64_MAX;
	ck_assert_int_gt(memory_ceiling(&spec, true), INT64_C(1) << 50);
}
END_TEST

START_TEST(a_host_keeps_some)
{
	struct tuning tuning = TUNING_DEFAULT;
	struct resources host = { 8 * GI, 4000 }, unknown = { 0, 0 }, left;

	tuning.reserved = (struct resources){ GI, 500 };
	left = allocatable_of(&host, &tuning);
	ck_assert_int_eq(left.memory, 7 * GI);
	ck_assert_int_eq(left.cpu, 3500);
	tuning.reserved = (struct resources){ 9 * GI, 5000 };
	left = allocatable_of(&host, &tuning);
	ck_assert_int_eq(left.memory, 1); /* nothing, which is not the same as unknown */
	ck_assert_int_eq(left.cpu, 1);
	left = allocatable_of(&unknown, &tuning);
	ck_assert_int_eq(left.memory, 0);
	ck_assert_int_eq(left.cpu, 0);
}
END_TEST

Suite *test_capacity_suite(void)
{
	Suite *suite = suite_create("capacity");
	TCase *tc = tcase_create("capacity");

	tcase_add_loop_test(tc, a_run_asks, 0, ARRAY_SIZE(asked));
	tcase_add_loop_test(tc, a_host_has_room, 0, ARRAY_SIZE(fits));
	tcase_add_test(tc, a_host_keeps_some);
	tcase_add_test(tc, a_limit_leaves_room_for_qemu);
	suite_add_tcase(suite, tc);
	return suite;
}
