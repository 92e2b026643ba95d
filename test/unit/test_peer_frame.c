/* SPDX-License-Identifier: Apache-2.0 */
/* What agents say to each other: there and back, every bound, and words for what makes no sense. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "core/peer_frame.h"

Suite *test_peer_frame_suite(void);

static struct err err;

static const struct peer_hello hello = {
	.version_min = 1,
	.version_max = 2,
	.version = 2,
	.agent = "0.1.0",
	.node = "host-a.example.org",
	.boot_id = "11111111-2222-3333-4444-555555555555",
	.database = "22222222-2222-3333-4444-555555555555",
	.host_uuid = "33333333-2222-3333-4444-555555555555",
	.wall = 1764460800123,
	.capabilities = 1U << PEER_CAN_KVM,
	.status = { 8, 68719476736, 3, 3221225472 },
};

static const struct peer_message samples[] = { { .kind = PEER_MESSAGE_HELLO, .hello = hello },
	{ .kind = PEER_MESSAGE_WELCOME, .hello = hello },
	{ .kind = PEER_MESSAGE_REFUSED, .why = "it is \"odd\", and says so" },
	{ .kind = PEER_MESSAGE_PING, .ping = { .id = 999999999999999, .wall = 0 } },
	{ .kind = PEER_MESSAGE_PONG, .ping = { .id = 7, .wall = 1764460800123 } },
	{ .kind = PEER_MESSAGE_STATUS, .status = { 2, 1, 0, 0 } },
#define HAS_DOCUMENT(c)                                                                  \
	(HANDOVER_##c == HANDOVER_PREPARE || HANDOVER_##c == HANDOVER_COMMIT ||          \
		HANDOVER_##c == HANDOVER_MINE || HANDOVER_##c == HANDOVER_PREPARED ||    \
		HANDOVER_##c == HANDOVER_CHECK || HANDOVER_##c == HANDOVER_CHECKED ||    \
		HANDOVER_##c == HANDOVER_DECLINED || HANDOVER_##c == HANDOVER_RECOVER || \
		HANDOVER_##c == HANDOVER_WHOSE || HANDOVER_##c == HANDOVER_ABORT)
#define X(c, name, number, max)                                                          \
	{ .kind = PEER_MESSAGE_##c,                                                      \
		.handover = { .kind = HANDOVER_##c,                                      \
			.migration = "44444444-2222-3333-4444-555555555555",             \
			.database = "22222222-2222-3333-4444-555555555555",              \
			.epoch = 3,                                                      \
			.succeeded = HANDOVER_##c == HANDOVER_FINALIZED,                 \
			.ended = HANDOVER_##c == HANDOVER_FINALIZED ? 1796036724636 : 0, \
			.room = HANDOVER_##c == HANDOVER_CHECKED ? 1 << 30 : 0,          \
			.why = name " is \"odd\"",                                       \
			.document = HAS_DOCUMENT(c) ? "{\"vm\": \"\xc3\xa9\"}" : NULL } },
	HANDOVERS(X)
#undef X
};
_Static_assert(ARRAY_SIZE(samples) == PEER_MESSAGE_MAX, "one of each");

/* Numbers, bounds and ways are fixed for ever: another release must understand them. */
static const struct {
	const char *name;
	unsigned number;
	size_t max;
	bool dialer, listener, opening, open; /* who may send it, and when */
} table[PEER_MESSAGE_MAX] = {
	{ "HELLO", 1, 4096, true, false, true, false },
	{ "WELCOME", 2, 4096, false, true, true, false },
	{ "REFUSED", 3, 2048, true, true, true, true },
	{ "PING", 4, 128, true, true, false, true },
	{ "PONG", 5, 128, true, true, false, true },
	{ "STATUS", 6, 1024, true, true, false, true },
	{ "PREPARE", 16, 4194304, true, true, false, true },
	{ "OUT", 17, 1024, true, true, false, true },
	{ "COMMIT", 18, 4194304, true, true, false, true },
	{ "ABORT", 19, 1024, true, true, false, true },
	{ "UNKNOWN-DB", 20, 1024, true, true, false, true },
	{ "ACK", 21, 1024, true, true, false, true },
	{ "CHECK", 22, 4194304, true, true, false, true },
	{ "RECLAIMED", 23, 1024, true, true, false, true },
	{ "RECOVER", 24, 4194304, true, true, false, true },
	{ "PREPARED", 32, 1048576, true, true, false, true },
	{ "BUSY", 33, 1024, true, true, false, true },
	{ "DECLINED", 34, 131072, true, true, false, true },
	{ "QUERY", 35, 1024, true, true, false, true },
	{ "COMPLETE", 36, 1024, true, true, false, true },
	{ "NOIMAGE", 37, 1024, true, true, false, true },
	{ "ABORTED", 38, 1024, true, true, false, true },
	{ "FINALIZED", 39, 1024, true, true, false, true },
	{ "CHECKED", 40, 131072, true, true, false, true },
	{ "OWNED", 41, 1024, true, true, false, true },
	{ "WHOSE", 48, 1024, true, true, false, true },
	{ "MINE", 49, 4194304, true, true, false, true },
};

/* Where its document lies is not part of what it says. */
static void same_message(struct peer_message *got, const struct peer_message *want)
{
	struct peer_message expected = *want;

	if (want->kind >= PEER_MESSAGE_HANDOVER) {
		ck_assert_pstr_eq(got->handover.document, want->handover.document);
		got->handover.document = expected.handover.document = NULL;
	}
	peer_message_done(got);
	ck_assert_mem_eq(got, &expected, sizeof(*got));
}

static void header(uint8_t ret[PEER_HEADER_SIZE], size_t len, unsigned number)
{
	memset(ret, 0, PEER_HEADER_SIZE);
	for (int i = 0; i < 4; i++)
		ret[i] = (uint8_t)(len >> (24 - 8 * i));
	ret[4] = (uint8_t)(number >> 8);
	ret[5] = (uint8_t)number;
}

START_TEST(the_table)
{
	uint8_t head[PEER_HEADER_SIZE];
	struct peer_frame frame;

	ck_assert_str_eq(peer_message_name(_i), table[_i].name);
	ck_assert_uint_eq(peer_message_number(_i), table[_i].number);
	header(head, table[_i].max, table[_i].number);
	ck_assert_int_eq(peer_frame_take(head, sizeof(head), &frame, &err), 0);
	header(head, table[_i].max + 1, table[_i].number);
	ck_assert_int_eq(peer_frame_take(head, sizeof(head), &frame, &err), -ERR_BAD_REQUEST);
	ck_assert_ptr_nonnull(strstr(err.msg, table[_i].name));
	for (int open = 0; open < 2; open++) {
		bool when = open ? table[_i].open : table[_i].opening;

		ck_assert_int_eq(peer_frame_expected(_i, true, open, &err) == 0,
			when && table[_i].dialer);
		ck_assert_int_eq(peer_frame_expected(_i, false, open, &err) == 0,
			when && table[_i].listener);
	}
}
END_TEST

START_TEST(there_and_back)
{
	struct buf out = { 0 };
	struct peer_frame frame;
	struct peer_message got;

	peer_message_write(&samples[_i], &out);
	buf_puts(&out, "and more");
	for (size_t len = 0; len < out.len - strlen("and more"); len++)
		ck_assert_int_eq(peer_frame_take(out.data, len, &frame, &err), 0);
	ck_assert_int_eq(peer_frame_take(out.data, out.len, &frame, &err),
		out.len - strlen("and more"));
	ck_assert_int_eq(frame.kind, samples[_i].kind);
	ck_assert_msg(peer_message_read(&frame, &got, &err) == 0, "%s", err.msg);
	same_message(&got, &samples[_i]);
	buf_done(&out);
}
END_TEST

static int read_text(enum peer_message_kind kind, const char *text, struct peer_message *ret)
{
	struct peer_frame frame = { kind, text, strlen(text) };

	return peer_message_read(&frame, ret, &err);
}

#define REST     "\"wallClock\":1,\"agentVersion\":\"1\",\"bootID\":\"b\""
#define CAPACITY "\"capacity\":{\"cpus\":1,\"memory\":1,\"guests\":0,\"guestMemory\":0}"
#define HAND_OF(migration)           \
	"\"migration\":\"" migration \
	"\",\"databaseID\":\"\",\"epoch\":1,\"succeeded\":0,\"why\":\"\""
#define HAND     HAND_OF("44444444-2222-3333-4444-555555555555")
#define VERSIONS "\"versionMin\":1,\"versionMax\":1,\"version\":0"

/* clang-format off */
static const struct { enum peer_message_kind kind; const char *text, *words; } bad[] = {
	{ PEER_MESSAGE_PING,    "",                        "message PING: expected a JSON object" },
	{ PEER_MESSAGE_PING,    "[1]",                     "expected a JSON object" },
	{ PEER_MESSAGE_PING,    "{\"id\":1",               "expected a JSON object" },
	{ PEER_MESSAGE_PING,    "{\"id\":-1,\"wall\":0}",  "'id': expected a number from 0" },
	{ PEER_MESSAGE_PING,    "{\"id\":1e99,\"wall\":0}", "'id': expected a number from 0" },
	{ PEER_MESSAGE_PING,    "{\"id\":\"1\",\"wall\":0}", "'id': expected a number" },
	{ PEER_MESSAGE_PONG,    "{\"id\":1}",              "'wall': expected a number" },
	{ PEER_MESSAGE_REFUSED, "{\"why\":1}",             "'why': expected text of less than 320 bytes" },
	{ PEER_MESSAGE_STATUS,  "{\"cpus\":2e6}",          "'cpus': expected a number from 0 to 1000000" },
	{ PEER_MESSAGE_COMMIT,  "{" HAND "}",              "'document': expected text" },
	{ PEER_MESSAGE_PREPARE, "{" HAND ",\"document\":{}}", "'document': expected text" },
	{ PEER_MESSAGE_QUERY,   "{\"migration\":\"a\"}",     "'databaseID': expected text" },
	{ PEER_MESSAGE_QUERY,   "{" HAND_OF("../../../tmp") "}", "'migration': expected a UUID" },
	{ PEER_MESSAGE_QUERY,   "{" HAND_OF("m") "}",      "'migration': expected a UUID" },
	{ PEER_MESSAGE_PREPARE, "{" HAND_OF("") "}",       "'migration': expected a UUID" },
	{ PEER_MESSAGE_HELLO,   "{" VERSIONS "," REST "," CAPACITY "}", "'nodeName': expected text" },
	{ PEER_MESSAGE_HELLO,   "{" VERSIONS "," REST ",\"nodeName\":\"a\"}", "'cpus': expected a number" },
	{ PEER_MESSAGE_WELCOME, "{\"versionMin\":2,\"versionMax\":1,\"version\":0," REST ",\"nodeName\":\"a\"," CAPACITY "}",
	  "'versionMin' is above 'versionMax'" },
	{ PEER_MESSAGE_WELCOME, "{\"versionMin\":0,\"versionMax\":1,\"version\":0," REST ",\"nodeName\":\"a\"," CAPACITY "}",
	  "'versionMin': expected a number from 1 to 65535" },
};
/* clang-format on */

START_TEST(bad_payloads)
{
	struct peer_message got;

	ck_assert_int_eq(read_text(bad[_i].kind, bad[_i].text, &got), -ERR_BAD_REQUEST);
	ck_assert_msg(strstr(err.msg, bad[_i].words) != NULL, "'%s'", err.msg);
}
END_TEST

/* Each byte or two would be a struct of eighty, for which a message is much too large. */
START_TEST(few_values_are_enough)
{
	struct buf list = { 0 }, inner = { 0 }, text = { 0 };
	struct peer_message got;

	for (unsigned i = 0; i < JSON_VALUES_MAX; i++)
		buf_puts(&list, ",1");
	buf_printf(&text, "{" HAND ",\"document\":\"{}\",\"x\":[1%s]}", list.data);
	ck_assert_int_eq(read_text(PEER_MESSAGE_PREPARE, text.data, &got), -ERR_BAD_REQUEST);
	ck_assert_ptr_nonnull(strstr(err.msg, "expected a JSON object of at most 100000 values"));
	buf_printf(&inner, "{" HAND ",\"document\":\"[1%s]\"}", list.data);
	ck_assert_int_eq(read_text(PEER_MESSAGE_PREPARE, inner.data, &got), -ERR_BAD_REQUEST);
	ck_assert_ptr_nonnull(strstr(err.msg, "'document': more than 100000 values"));
	text.len = inner.len = 0; /* … but in a text there may be any number of commas */
	buf_printf(&text, "{" HAND ",\"document\":\"[\\\"\\\\\\\"%s\\\"]\"}", list.data);
	ck_assert_msg(read_text(PEER_MESSAGE_PREPARE, text.data, &got) == 0, "%s", err.msg);
	peer_message_done(&got);
	buf_done(&list);
	buf_done(&inner);
	buf_done(&text);
}
END_TEST

START_TEST(a_newer_version_may_say_more)
{
	struct peer_message got;

	ck_assert_int_eq(read_text(PEER_MESSAGE_HELLO,
				 "{" VERSIONS "," REST ",\"nodeName\":\"a\"," CAPACITY
				 ",\"capabilities\":[\"fly\",7,\"kvm\"],\"more\":{\"x\":[]}}",
				 &got),
		0);
	ck_assert_uint_eq(got.hello.capabilities, 1U << PEER_CAN_KVM);
	ck_assert_str_eq(got.hello.node, "a");
}
END_TEST

START_TEST(words_of_others_are_harmless)
{
	struct peer_message got;

	ck_assert_int_eq(read_text(PEER_MESSAGE_REFUSED, "{\"why\":\"a\\u001b[2Jb\\n\xc3\xa9\"}",
				 &got),
		0);
	ck_assert_str_eq(got.why, "a?[2Jb???");
}
END_TEST

START_TEST(bad_headers)
{
	uint8_t head[PEER_HEADER_SIZE];
	struct peer_frame frame;

	header(head, 0, 0);
	ck_assert_int_eq(peer_frame_take(head, sizeof(head), &frame, &err), -ERR_BAD_REQUEST);
	ck_assert_str_eq(err.msg, "message 0 is not known");
	header(head, 0, 7);
	ck_assert_int_eq(peer_frame_take(head, sizeof(head), &frame, &err), -ERR_BAD_REQUEST);
	header(head, 2, 4);
	head[7] = 1;
	ck_assert_int_eq(peer_frame_take(head, sizeof(head), &frame, &err), -ERR_BAD_REQUEST);
	ck_assert_str_eq(err.msg, "a frame's header makes no sense");
	header(head, 0xffffffff, 4);
	ck_assert_int_eq(peer_frame_take(head, sizeof(head), &frame, &err), -ERR_BAD_REQUEST);
}
END_TEST

START_TEST(the_preface)
{
	uint8_t bytes[PEER_PREFACE_SIZE];
	enum peer_connection kind;

	peer_preface_write(bytes);
	ck_assert_int_eq(peer_preface_read(bytes, &kind, &err), 0);
	ck_assert_int_eq(kind, PEER_AGENTS);
	ck_assert_mem_eq(bytes, "VMAP\1\1\0\0", PEER_PREFACE_SIZE);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] += 4; /* there are four kinds */
		ck_assert_int_eq(peer_preface_read(bytes, &kind, &err), -ERR_BAD_REQUEST);
		bytes[i] -= 4;
	}
	ck_assert_int_eq(peer_preface_read((const uint8_t *)"GET / HT", &kind, &err),
		-ERR_BAD_REQUEST);
	ck_assert_str_eq(err.msg, "what it sent is no peer's greeting");
}
END_TEST

START_TEST(the_preface_of_a_stream)
{
	static const char id[] = "0123abcd-4567-89ab-cdef-0123456789ab";
	uint8_t bytes[PEER_STREAM_PREFACE_SIZE];
	enum peer_connection kind;
	char back[UID_SIZE];

	ck_assert(peer_stream_preface_write(PEER_STREAM_DISKS, id, bytes));
	ck_assert_mem_eq(bytes, "VMAP\1\4\0\0\x01\x23\xab\xcd\x45\x67", 14);
	ck_assert_int_eq(peer_preface_read(bytes, &kind, &err), 0);
	ck_assert_int_eq(kind, PEER_STREAM_DISKS);
	peer_stream_preface_id(bytes, back);
	ck_assert_str_eq(back, id);
	ck_assert(!peer_stream_preface_write(PEER_STREAM_DISKS, "no-uuid", bytes));
	ck_assert(!peer_stream_preface_write(PEER_STREAM_DISKS, "", bytes));
	ck_assert(!peer_stream_preface_write(PEER_STREAM_DISKS,
		"0123ABCD-4567-89ab-cdef-0123456789ab", bytes));
}
END_TEST

/* Versions of A and B, which of them is used, or who is to be upgraded. */
static const struct {
	unsigned a_min, a_max, b_min, b_max, used;
	const char *upgrade;
} versions[] = {
	{ 1, 1, 1, 1, 1, NULL },
	{ 1, 3, 2, 5, 3, NULL },
	{ 2, 5, 1, 3, 3, NULL },
	{ 1, 9, 4, 4, 4, NULL },
	{ 1, 1, 2, 2, 0, "upgrade 'a'" },
	{ 3, 4, 1, 2, 0, "upgrade 'b'" },
};

START_TEST(which_version)
{
	struct peer_hello a = { .version_min = versions[_i].a_min,
		.version_max = versions[_i].a_max,
		.node = "a",
		.agent = "1.0" };
	struct peer_hello b = { .version_min = versions[_i].b_min,
		.version_max = versions[_i].b_max,
		.node = "b",
		.agent = "2.0" };
	unsigned used = 0;
	int ret = peer_version_choose(&a, &b, &used, &err);

	ck_assert_uint_eq(used, versions[_i].used);
	ck_assert_int_eq(ret, used ? 0 : -ERR_CONFLICT);
	if (!used)
		ck_assert_msg(strstr(err.msg, versions[_i].upgrade) != NULL, "'%s'", err.msg);
	ck_assert_int_eq(peer_version_choose(&b, &a, &used, &err), ret);
	if (ret)
		ck_assert_msg(strstr(err.msg, versions[_i].upgrade) != NULL, "'%s'", err.msg);
}
END_TEST

/* Who must not be a peer: what two hosts have in common, and a word of why. */
static const struct {
	const char *database[2], *host[2], *words;
} twins[] = {
	{ { "", "" }, { "", "" }, NULL }, /* neither was told */
	{ { "d1", "d2" }, { "h1", "h2" }, NULL },
	{ { "d1", "" }, { "h1", "" }, NULL },
	{ { "d1", "d2" }, { "h1", "h1" }, "'b' has the same host UUID as 'a' (h1)" },
	{ { "d1", "d1" }, { "h1", "h2" }, "the database of 'b' is a copy of that of 'a' (d1)" },
};

START_TEST(twins_are_refused)
{
	struct peer_hello a = { .node = "a" }, b = { .node = "b" };

	copy_str(a.database, UID_SIZE, twins[_i].database[0]);
	copy_str(b.database, UID_SIZE, twins[_i].database[1]);
	copy_str(a.host_uuid, UID_SIZE, twins[_i].host[0]);
	copy_str(b.host_uuid, UID_SIZE, twins[_i].host[1]);
	ck_assert_int_eq(peer_hello_check(&a, &b, &err), twins[_i].words ? -ERR_FORBIDDEN : 0);
	if (twins[_i].words)
		ck_assert_msg(strstr(err.msg, twins[_i].words) != NULL, "'%s'", err.msg);
}
END_TEST

START_TEST(clocks)
{
	ck_assert_int_eq(peer_clock_ahead(10000, 9990, 20), 0);
	ck_assert_int_eq(peer_clock_ahead(10000, 12990, 20), 3000);
	ck_assert_int_eq(peer_clock_ahead(10000, 4990, 20), -5000);
}
END_TEST

Suite *test_peer_frame_suite(void)
{
	Suite *s = suite_create("peer frame");
	TCase *t = tcase_create("frames");

	tcase_add_loop_test(t, the_table, 0, PEER_MESSAGE_MAX);
	tcase_add_loop_test(t, there_and_back, 0, ARRAY_SIZE(samples));
	tcase_add_loop_test(t, bad_payloads, 0, ARRAY_SIZE(bad));
	tcase_add_test(t, few_values_are_enough);
	tcase_add_test(t, a_newer_version_may_say_more);
	tcase_add_test(t, words_of_others_are_harmless);
	tcase_add_test(t, bad_headers);
	tcase_add_test(t, the_preface);
	tcase_add_test(t, the_preface_of_a_stream);
	tcase_add_loop_test(t, which_version, 0, ARRAY_SIZE(versions));
	tcase_add_loop_test(t, twins_are_refused, 0, ARRAY_SIZE(twins));
	tcase_add_test(t, clocks);
	suite_add_tcase(s, t);
	return s;
}
