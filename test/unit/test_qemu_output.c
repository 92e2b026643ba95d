/* SPDX-License-Identifier: Apache-2.0 */
/* What is found of QEMU's own words in the end of the log that libvirt keeps of a
 * domain, and what not. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include <vmagent/hypervisor.h>

#include "core/qemu_output.h"

Suite *test_qemu_output_suite(void);

#define T0 1795910400000 /* 2026-11-29T00:00:00Z */
#define START \
	"2026-11-29 00:00:05.250+0000: starting up libvirt version: 9.0.0, package: x, hostname: h\n"
#define COMMAND                            \
	"LC_ALL=C \\\n"                    \
	"PATH=/usr/bin \\\n"               \
	"/usr/bin/qemu-system-x86_64 \\\n" \
	"-name guest=default_web \\\n"     \
	"-msg timestamp=on\n"
#define AT  "2026-11-29T00:00:06.123456Z "
#define END "2026-11-29 00:00:07.000+0000: shutting down, reason=crashed\n"

/* clang-format off */
static const struct {
	const char *log;
	bool cut;
	int written; /* s after T0 */
	int since;   /* … likewise, in ms */
	const char *words;
} logs[] = {
	/* QEMU's lines, without the time that stands before them and without libvirt's own */
	{ START COMMAND AT "qemu-system-x86_64: no such kernel\n" END, false, 7, 5000,
	  "qemu-system-x86_64: no such kernel" },
	{ START COMMAND AT "qemu-system-x86_64: one\n" AT "qemu-system-x86_64: two\n" END, false, 7, 5000,
	  "qemu-system-x86_64: one\nqemu-system-x86_64: two" },
	{ START COMMAND "malloc(): corrupted top size\n", false, 7, 5000, "malloc(): corrupted top size" },
	{ START COMMAND "the last line without an end", false, 7, 5000, "the last line without an end" },
	{ START COMMAND "2026-11-29 00:00:05.300+0000: Domain id=1 is tainted: custom-argv\n"
	  "char device redirected to /dev/pts/1 (label charserial0)\n\n\r\n  \n" END, false, 7, 5000, "  " },
	/* nothing */
	{ START COMMAND END, false, 7, 5000, NULL },
	{ START COMMAND, false, 7, 5000, NULL },
	{ "", false, 7, 5000, NULL },
	{ "something that libvirt did not write\n", false, 7, 5000, NULL },
	{ START "LC_ALL=C \\\n-name \\\n", false, 7, 5000, NULL },
	/* only of the newest start */
	{ START COMMAND AT "qemu: old\n" END START COMMAND AT "qemu: new\n" END, false, 7, 5000, "qemu: new" },
	{ START COMMAND AT "qemu: old\n" END START COMMAND END, false, 7, 5000, NULL },
	/* … and only if it is of this run */
	{ START COMMAND "of this run\n", false, 9, 5250, "of this run" },
	{ START COMMAND "of another run\n", false, 9, 5251, NULL },
	/* the header is farther back than was read: then the file's own time tells */
	{ "cut line\n" AT "qemu: two\n", true, 7, 5000, "qemu: two" },
	{ "cut line\n" AT "qemu: two\n", true, 4, 5000, NULL },
	{ "ut of the command \\\n-device x \\\n-msg timestamp=on\n" AT "qemu: three\n", true, 7, 5000, "qemu: three" },
	{ "a line before\nof an older one \\\n-msg timestamp=on\nqemu: four\n", true, 7, 5000, "qemu: four" },
	/* harmless: controls, C1 controls, broken and overlong UTF-8, surrogates */
	{ START COMMAND "a\033[31mb\tc\001\177d\n", false, 7, 5000, "a?[31mb c??d" },
	{ START COMMAND "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n", false, 7, 5000, "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
	{ START COMMAND "\xc2\x9b" "1m \xc3 \xff \xc0\xaf \xe0\x80\xaf \xed\xa0\x80 \xf4\x90\x80\x80\n", false, 7, 5000,
	  "??1m ? ? ?? ??? ??? ????" },
	/* QEMU's line that looks like a header is no header: it has a stamp of its own */
	{ START COMMAND AT "x: starting up libvirt version: 9\n", false, 7, 5000, "x: starting up libvirt version: 9" },
};
/* clang-format on */

static char *found(const char *log, size_t i)
{
	struct qemu_log_tail tail = { .text = log,
		.len = strlen(log),
		.cut = logs[i].cut,
		.written = T0 + SECONDS(logs[i].written),
		.since = T0 + logs[i].since };

	return qemu_output(&tail);
}

START_TEST(the_words_are_found)
{
	autofree char *words = found(logs[_i].log, (size_t)_i);

	ck_assert_int_eq(words == NULL, logs[_i].words == NULL);
	if (words)
		ck_assert_str_eq(words, logs[_i].words);
}
END_TEST

static size_t count_lines(const char *text)
{
	size_t n = 1;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

START_TEST(the_last_lines_are_kept)
{
	struct buf log = { 0 };
	autofree char *words = NULL;

	buf_puts(&log, START COMMAND);
	for (int i = 1; i <= 25; i++)
		buf_printf(&log, "line %d\n", i);
	words = found(log.data, 0);
	ck_assert_uint_eq(count_lines(words), OUTPUT_LINES_MAX);
	ck_assert(starts_with(words, "line 16\n"));
	ck_assert(strstr(words, "line 25"));
	buf_done(&log);
}
END_TEST

START_TEST(and_no_more_than_there_is_room_for)
{
	static const int lengths[] = { 100, 300, OUTPUT_MAX - 1, OUTPUT_MAX, 3 * OUTPUT_MAX };
	struct buf log = { 0 };
	autofree char *words = NULL;

	buf_puts(&log, START COMMAND);
	for (int i = 0; i < 12; i++)
		buf_printf(&log, "%0*d\n", lengths[_i], i);
	words = found(log.data, 0);
	ck_assert_uint_le(strlen(words), OUTPUT_MAX);
	ck_assert_uint_ge(strlen(words), 900);
	buf_done(&log);
}
END_TEST

/* Every end of a log, as a read in the middle of a write would have it; nothing is read past it. */
START_TEST(a_log_may_end_anywhere)
{
	const char *log = logs[_i].log;

	for (size_t len = 0; len <= strlen(log); len++) {
		autofree char *part = xcalloc(MAX(len, 1), 1);
		struct qemu_log_tail tail = { part, len, logs[_i].cut, T0, 0 };

		memcpy(part, log, len);
		free(qemu_output(&tail));
	}
}
END_TEST

Suite *test_qemu_output_suite(void)
{
	Suite *s = suite_create("qemu output");
	TCase *t = tcase_create("log");

	tcase_add_loop_test(t, the_words_are_found, 0, ARRAY_SIZE(logs));
	tcase_add_loop_test(t, a_log_may_end_anywhere, 0, ARRAY_SIZE(logs));
	tcase_add_test(t, the_last_lines_are_kept);
	tcase_add_loop_test(t, and_no_more_than_there_is_room_for, 0, 5);
	suite_add_tcase(s, t);
	return s;
}
