/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation and text, errors, the log's sink. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include <vmagent/err.h>
#include <vmagent/log.h>

Suite *test_base_suite(void);

START_TEST(strings_compare)
{
	ck_assert(streq("a", "a"));
	ck_assert(!streq("a", "A"));
	ck_assert(!streq("a", NULL));
	ck_assert(!streq(NULL, ""));
	ck_assert(streq(NULL, NULL));
	ck_assert(starts_with("abc", "ab"));
	ck_assert(starts_with("abc", ""));
	ck_assert(!starts_with("ab", "abc"));
	ck_assert(!starts_with(NULL, "a"));
}
END_TEST

START_TEST(strings_are_copied)
{
	char *s = xstrdup("one");
	char *part = xstrndup("abcdef", 3);
	char *text = xasprintf("%s-%d", part, 7);

	ck_assert_ptr_null(xstrdup(NULL));
	ck_assert_str_eq(part, "abc");
	ck_assert_str_eq(text, "abc-7");
	replace_str(&s, s + 1); /* a part of itself */
	ck_assert_str_eq(s, "ne");
	replace_str(&s, NULL);
	ck_assert_ptr_null(s);
	free(part);
	free(text);
}
END_TEST

static const struct {
	size_t size;
	const char *text, *want;
} cuts[] = {
	{ 8, "abc", "abc" },
	{ 4, "abc", "abc" },
	{ 3, "abc", "ab" },
	{ 1, "abc", "" },
	{ 8, NULL, "" },
	{ 4, "ab\xc3\xa9", "ab" },
	{ 5, "ab\xc3\xa9", "ab\xc3\xa9" },
	{ 4, "\xe2\x82\xac", "\xe2\x82\xac" },
	{ 3, "\xe2\x82\xac", "" },
};

START_TEST(copies_are_cut_between_characters)
{
	char field[16];

	memset(field, 'x', sizeof(field));
	copy_str(field, cuts[_i].size, cuts[_i].text);
	ck_assert_str_eq(field, cuts[_i].want);
	ck_assert_int_eq(field[cuts[_i].size], 'x');
}
END_TEST

START_TEST(take_hands_over)
{
	autofree char *s = xstrdup("mine");
	char *t = take(&s);

	ck_assert_ptr_null(s);
	ck_assert_str_eq(t, "mine");
	free(t);
}
END_TEST

START_TEST(arrays_start_zero_and_grow)
{
	int *a = xcalloc(3, sizeof(*a));
	void *empty = xcalloc(0, 0);

	ck_assert_int_eq(a[2], 0);
	ck_assert_ptr_nonnull(empty);
	a = xrealloc_array(a, 1000, sizeof(*a));
	a[999] = 1;
	ck_assert_int_eq(a[0], 0);
	free(a);
	free(empty);
}
END_TEST

START_TEST(a_size_that_overflows_aborts)
{
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr)); /* it says so, but not here */
	xrealloc_array(NULL, SIZE_MAX / 2, 3);
}
END_TEST

START_TEST(a_buf_grows)
{
	struct buf b = { 0 };

	buf_puts(&b, "");
	ck_assert_str_eq(b.data, "");
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%03d,", i);
	ck_assert_uint_eq(b.len, 4000);
	ck_assert_uint_eq(strlen(b.data), 4000);
	ck_assert_str_eq(b.data + 3992, "998,999,");
	buf_add(&b, "a\0b", 3);
	ck_assert_uint_eq(b.len, 4003);
	ck_assert_mem_eq(b.data + 4000, "a\0b", 4);
	buf_done(&b);
	ck_assert_ptr_null(b.data);
	ck_assert_uint_eq(b.len, 0);
}
END_TEST

START_TEST(an_error_holds_code_and_words)
{
	struct err err = { 0 };

	ck_assert_int_eq(err_set(&err, ERR_NOT_FOUND, "'%s' not found", "vm1"), -ERR_NOT_FOUND);
	ck_assert_int_eq(err.code, ERR_NOT_FOUND);
	ck_assert_str_eq(err.msg, "'vm1' not found");
	ck_assert_int_eq(err_wrap(&err, "apply '%s'", "a.yaml"), -ERR_NOT_FOUND);
	ck_assert_str_eq(err.msg, "apply 'a.yaml': 'vm1' not found");
	ck_assert_int_eq(err_set(&err, ERR_IO, "again: %s", err.msg), -ERR_IO);
	ck_assert_str_eq(err.msg, "again: apply 'a.yaml': 'vm1' not found");
	ck_assert_int_eq(err_set(NULL, ERR_IO, "nobody reads this"), -ERR_IO);
	ck_assert_int_lt(err_wrap(NULL, "nor this"), 0);
}
END_TEST

START_TEST(an_error_is_cut)
{
	struct err err = { 0 };
	char text[2 * ERR_MSG_SIZE];

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	err_set(&err, ERR_IO, "%s", text);
	ck_assert_uint_eq(strlen(err.msg), ERR_MSG_SIZE - 1);
	err_wrap(&err, "%s", "outer");
	ck_assert_uint_eq(strlen(err.msg), ERR_MSG_SIZE - 1);
	ck_assert(starts_with(err.msg, "outer: aaa"));
}
END_TEST

static const struct {
	enum err_code code;
	int status;
	const char *reason;
} codes[] = {
	/* Kubernetes' StatusReasons (apimachinery's metav1), by HTTP status */
	{ ERR_OK, 200, "" }, { ERR_BAD_REQUEST, 400, "BadRequest" },
	{ ERR_FORBIDDEN, 403, "Forbidden" }, { ERR_NOT_FOUND, 404, "NotFound" },
	{ ERR_METHOD, 405, "MethodNotAllowed" }, { ERR_NOT_ACCEPTABLE, 406, "NotAcceptable" },
	{ ERR_CONFLICT, 409, "Conflict" }, { ERR_EXISTS, 409, "AlreadyExists" },
	{ ERR_GONE, 410, "Expired" }, { ERR_TOO_LARGE, 413, "RequestEntityTooLarge" },
	{ ERR_MEDIA_TYPE, 415, "UnsupportedMediaType" }, { ERR_INVALID, 422, "Invalid" },
	{ ERR_TOO_MANY, 429, "TooManyRequests" }, { ERR_INTERNAL, 500, "InternalError" },
	{ ERR_UNAVAILABLE, 503, "ServiceUnavailable" }, { ERR_TIMEOUT, 504, "Timeout" },
	{ ERR_IO, 500, "InternalError" }, { ERR_NO_SPACE, 507, "InternalError" },
	{ ERR_HYPERVISOR, 500, "InternalError" }, { ERR_DOMAIN_GONE, 404, "NotFound" },
	{ ERR_NOT_BUILT, 501, "NotImplemented" }, /* none of Kubernetes': it has no word for it */
	{ ERR_UNSAVED, 503, "ServiceUnavailable" }, { ERR_NO_IMAGE, 404, "NotFound" },
	{ ERR_MAX, 500, "InternalError" }, /* no code at all */
};
_Static_assert(ARRAY_SIZE(codes) == ERR_MAX + 1, "a row for each code");

START_TEST(a_code_has_its_http_status)
{
	ck_assert_int_eq(codes[_i].code, _i);
	ck_assert_int_eq(err_status(codes[_i].code), codes[_i].status);
	ck_assert_str_eq(err_reason(codes[_i].code), codes[_i].reason);
}
END_TEST

static void keep_line(void *ctx, const struct log_line *line)
{
	struct buf *b = ctx;

	buf_printf(b, "%d %s\n", (int)line->level, line->text);
}

START_TEST(lines_go_to_the_sink)
{
	struct buf b = { 0 };

	log_text(LOG_LEVEL_ERROR, "nowhere");
	log_to(keep_line, &b);
	log_text(LOG_LEVEL_NOTICE, "started '%s'", "vm1");
	log_emit(&(struct log_line){ .level = LOG_LEVEL_DEBUG, .text = "seen" });
	log_to(NULL, NULL);
	log_text(LOG_LEVEL_ERROR, "nowhere");
	ck_assert_str_eq(b.data, "5 started 'vm1'\n7 seen\n");
	buf_done(&b);
}
END_TEST

Suite *test_base_suite(void)
{
	Suite *s = suite_create("base");
	TCase *text = tcase_create("text");
	TCase *errors = tcase_create("errors");
	TCase *log = tcase_create("log");

	tcase_add_test(text, strings_compare);
	tcase_add_test(text, strings_are_copied);
	tcase_add_loop_test(text, copies_are_cut_between_characters, 0, ARRAY_SIZE(cuts));
	tcase_add_test(text, take_hands_over);
	tcase_add_test(text, arrays_start_zero_and_grow);
	tcase_add_test_raise_signal(text, a_size_that_overflows_aborts, 6);
	tcase_add_test(text, a_buf_grows);
	suite_add_tcase(s, text);
	tcase_add_test(errors, an_error_holds_code_and_words);
	tcase_add_test(errors, an_error_is_cut);
	tcase_add_loop_test(errors, a_code_has_its_http_status, 0, ARRAY_SIZE(codes));
	suite_add_tcase(s, errors);
	tcase_add_test(log, lines_go_to_the_sink);
	suite_add_tcase(s, log);
	return s;
}
