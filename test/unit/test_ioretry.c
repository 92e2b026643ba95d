/* SPDX-License-Identifier: Apache-2.0 */
/* The retry manager of I/O errors against semantics §8.1 and the vectors of §15;
 * the memory of disks. */
#include <check.h>

#include "core/ioretry.h"

Suite *test_ioretry_suite(void);

#define T0 SECONDS(1000) /* boot time 0 means "never" */

/* One call at t ms after the first: what it answers, as upstream's does. */
struct call {
	msec t;
	bool resumes;
	msec delay; /* ms, of one that does not */
};

/* A failure that is to be recorded first costs a call of its own here, and none upstream. */
static void ask(struct io_retry *io, const struct call *call)
{
	msec delay, now = T0 + call->t;
	enum io_step step = io_retry_decide(io, now, &delay);

	if (step == IO_FAILED) {
		io_retry_note(io, step, now);
		step = io_retry_decide(io, now, &delay);
		ck_assert_int_ne(step, IO_FAILED);
	}
	ck_assert_msg((step == IO_RESUME) == call->resumes, "at %lld", (long long)call->t);
	if (step == IO_RESUME)
		io_retry_note(io, step, now);
	else
		ck_assert_int_eq(delay, call->delay);
}

/* clang-format off */
static const struct call persistent[] = {
	{ 0,      true,  0 },
	{ 1000,   false, 9000 },
	{ 10000,  false, 0 }, /* exactly then it is not yet time */
	{ 10010,  true,  0 },
	{ 11000,  false, 19010 },
	{ 30100,  true,  0 },
	{ 31000,  false, 39100 },
	{ 70200,  true,  0 },
	{ 70300,  false, 79900 },
	{ 150300, true,  0 },
	{ 150400, false, 159900 },
	{ 310400, true,  0 },
	{ 310500, false, 179900 },
	{ 490500, true,  0 },
	{ 490600, false, 179900 },
	{ 670600, true,  0 },
};

/* Each list is one life of the manager. */
static const struct call related[] =   { { 0, true, 0 }, { 29999, true, 0 }, { 30000, false, 19999 } };
static const struct call unrelated[] = { { 0, true, 0 }, { 30000, true, 0 }, { 31000, false, 9000 } };
static const struct call single[] =    { { 0, true, 0 }, { 45000, true, 0 }, { 46000, false, 9000 } };
static const struct call late_look[] = { { 0, true, 0 }, { 1000, false, 9000 }, { 500000, true, 0 },
	                                 { 500001, false, 19999 } };

static const struct {
	const struct call *calls;
	size_t n;
} lives[] = {
	{ persistent, ARRAY_SIZE(persistent) },
	{ related,    ARRAY_SIZE(related) },
	{ unrelated,  ARRAY_SIZE(unrelated) },
	{ single,     ARRAY_SIZE(single) },
	{ late_look,  ARRAY_SIZE(late_look) },
};
/* clang-format on */

START_TEST(vectors)
{
	struct io_retry io = { 0 };

	for (size_t i = 0; i < lives[_i].n; i++)
		ask(&io, &lives[_i].calls[i]);
}
END_TEST

START_TEST(it_is_over_half_a_minute_after_the_last_resume)
{
	struct io_retry io = { 0 };
	msec at;

	ck_assert(io_retry_is_over(&io, T0, &at)); /* it was never resumed */
	io_retry_note(&io, IO_RESUME, T0);
	ck_assert(!io_retry_is_over(&io, T0 + SECONDS(30) - 1, &at));
	ck_assert_int_eq(at, T0 + SECONDS(30));
	ck_assert(io_retry_is_over(&io, at, &at));
}
END_TEST

START_TEST(each_disk_and_reason_is_remembered_once)
{
	struct io_retry io = { 0 };
	char *text = io_error_text(&io);

	ck_assert_str_eq(text, "I/O error on an unknown disk");
	free(text);
	ck_assert(io_error_add(&io, "data", "enospc"));
	ck_assert(!io_error_add(&io, "data", "enospc"));
	ck_assert(!io_error_is_known(&io, "data", ""));
	ck_assert(io_error_add(&io, "data", ""));
	ck_assert(io_error_add(&io, "dat", "enospc")); /* a part of what is known is not known */
	ck_assert(io_error_is_known(&io, "dat", "enospc"));
	text = io_error_text(&io);
	ck_assert_str_eq(text,
		"no space left for disk 'data', I/O error on disk 'data', "
		"no space left for disk 'dat'");
	free(text);
	io_retry_note(&io, IO_RESUME, T0);
	io_retry_clear(&io);
	ck_assert_ptr_null(io.errors);
	ck_assert_int_eq(io.last, 0);
}
END_TEST

Suite *test_ioretry_suite(void)
{
	Suite *s = suite_create("ioretry");
	TCase *retry = tcase_create("§8.1, §15 I/O errors");

	tcase_add_loop_test(retry, vectors, 0, ARRAY_SIZE(lives));
	tcase_add_test(retry, it_is_over_half_a_minute_after_the_last_resume);
	tcase_add_test(retry, each_disk_and_reason_is_remembered_once);
	suite_add_tcase(s, retry);
	return s;
}
