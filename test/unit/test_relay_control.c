/* SPDX-License-Identifier: Apache-2.0 */
/* What a relay is told and asked, and what it answers: there and back, and words for
 * what makes no sense. */
#include <check.h>
#include <string.h>

#include "core/relay_config.h"

Suite *test_relay_control_suite(void);

static struct err err;

START_TEST(requests)
{
	for (enum relay_verb verb = 0; verb < RELAY_VERB_MAX; verb++) {
		struct relay_request request = { .verb = verb, .hold = 0 }, back = { 0 };
		struct buf text = { 0 };

		if (verb == RELAY_HOLD)
			request.hold = RELAY_HOLD_REPLY;
		if (verb == RELAY_ADOPT)
			request.channel = RELAY_DISKS;
		relay_request_write(&request, &text);
		ck_assert_msg(relay_request_read(text.data, &back, &err) == 0, "%s", text.data);
		ck_assert_int_eq(back.verb, verb);
		ck_assert_int_eq(back.hold, request.hold);
		ck_assert_int_eq(back.channel, request.channel);
		buf_done(&text);
	}
}
END_TEST

START_TEST(requests_that_make_no_sense)
{
	static const char *const bad[] = { "", "1", "1 ", "2 status", "status", "1 jump", "1 hold",
		"1 hold status", "1 adopt", "1 adopt tape", "1 status now",
		"1 hold finish-callfinish-callfinish-callfinish-call" };
	struct relay_request request;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(relay_request_read(bad[i], &request, &err) == -ERR_BAD_REQUEST,
			"'%s'", bad[i]);
	relay_request_read("1 jump", &request, &err);
	ck_assert_str_eq(err.msg, "'jump' is nothing that a relay does");
}
END_TEST

START_TEST(answers)
{
	struct relay_status status = { .hold = RELAY_HOLD_CALL,
		.finish = RELAY_FINISH_LOST,
		.refused = 3,
		.why = "the other side = gone" };
	struct relay_status back;
	struct buf text = { 0 };

	for (unsigned i = 0; i < RELAY_CHANNEL_MAX; i++)
		status.channels[i] =
			(struct relay_counts){ i + 1, i + 10, i + 1000000000000, i + 7 };
	relay_answer_write(&status, &text);
	ck_assert_uint_lt(text.len, RELAY_PACKET_MAX);
	buf_puts(&text, "new=1\n");
	ck_assert_int_eq(relay_answer_read(text.data, &back, &err), 0);
	ck_assert_mem_eq(&back, &status, sizeof(back));
	text.len = 0;
	relay_error_write("nothing is held", &text);
	ck_assert_int_eq(relay_answer_read(text.data, &back, &err), -ERR_CONFLICT);
	ck_assert_str_eq(err.msg, "the relay: nothing is held");
	ck_assert_int_eq(relay_answer_read("2 ok\n", &back, &err), -ERR_BAD_REQUEST);
	buf_done(&text);
}
END_TEST

#define ID    "\"id\":\"5e1f0000-0000-4000-8000-000000000001\","
#define TOKEN "\"token\":\"00112233445566778899aabbccddeeff\","
#define TLS   "\"ca\":\"/ca\",\"cert\":\"/cert\",\"key\":\"/key\","

/* A peer's words may stand in it: they are words. */
START_TEST(nobody_else_says_what_a_relay_says)
{
	struct relay_status status = { .why = "a\nfinish=reply-held\nhold=finish-call\n\x1b[2J" };
	struct relay_status back;
	struct buf text = { 0 };

	relay_answer_write(&status, &text);
	ck_assert_int_eq(relay_answer_read(text.data, &back, &err), 0);
	ck_assert_int_eq(back.finish, RELAY_FINISH_NONE);
	ck_assert_int_eq(back.hold, RELAY_HOLD_NOTHING);
	ck_assert_str_eq(back.why, "a?finish=reply-held?hold=finish-call??[2J");
	buf_done(&text);
}
END_TEST

START_TEST(a_configuration)
{
	struct relay_config config, back;
	autofree char *text = NULL;

	ck_assert_msg(relay_config_read("{" ID TOKEN TLS
					"\"peer\":\"b\",\"source\":true,\"address\":\"10.0.0.2\","
					"\"hold\":\"finish-call\",\"disks\":true}",
			      &config, &err) == 0,
		"%s", err.msg);
	text = relay_config_write(&config);
	ck_assert_msg(relay_config_read(text, &back, &err) == 0, "%s", err.msg);
	ck_assert_str_eq(back.address, "10.0.0.2");
	ck_assert_mem_eq(back.token,
		"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff", 16);
	ck_assert(back.disks && back.source && !back.plain && !back.postcopy);
	ck_assert_int_eq(back.hold, RELAY_HOLD_CALL);
	ck_assert_uint_eq(back.idle_s, RELAY_IDLE_DEFAULT);
	relay_config_done(&config);
	relay_config_done(&back);
}
END_TEST

static const struct {
	const char *json, *words;
} bad[] = {
	{ "", "a JSON object" },
	{ "[]", "a JSON object" },
	{ "{" ID TOKEN TLS "\"source\":true,\"address\":\"a\"}", "'peer' is missing" },
	{ "{" ID TOKEN TLS "\"peer\":\"b\",\"source\":true}", "'address' is missing" },
	{ "{" ID TOKEN TLS "\"peer\":\"b\",\"libvirt\":\"/s\"}", "'xml' is missing" },
	{ "{" ID TOKEN "\"peer\":\"b\",\"source\":true,\"address\":\"a\"}", "'ca' is missing" },
	{ "{" ID TLS "\"peer\":\"b\",\"source\":true,\"address\":\"a\"}", "'token' is missing" },
	{ "{" ID TLS "\"token\":\"00\"}", "'token'" },
	{ "{\"id\":\"x\"," TOKEN TLS "\"peer\":\"b\",\"source\":true,\"address\":\"a\"}",
		"no UUID" },
	{ "{\"idd\":\"x\"}", "'idd'" },
	{ "{\"id\":\"x\",\"id\":\"y\"}", "'id'" },
	{ "{\"hold\":\"it\"}", "'hold'" },
	{ "{\"plain\":1}", "'plain'" },
};

START_TEST(configurations_that_are_none)
{
	struct relay_config config;

	ck_assert_int_eq(relay_config_read(bad[_i].json, &config, &err), -ERR_INVALID);
	ck_assert_msg(strstr(err.msg, bad[_i].words) != NULL, "%s", err.msg);
}
END_TEST

Suite *test_relay_control_suite(void)
{
	Suite *s = suite_create("relay_control");
	TCase *t = tcase_create("control");

	tcase_add_test(t, requests);
	tcase_add_test(t, requests_that_make_no_sense);
	tcase_add_test(t, answers);
	tcase_add_test(t, nobody_else_says_what_a_relay_says);
	tcase_add_test(t, a_configuration);
	tcase_add_loop_test(t, configurations_that_are_none, 0, (int)ARRAY_SIZE(bad));
	suite_add_tcase(s, t);
	return s;
}
