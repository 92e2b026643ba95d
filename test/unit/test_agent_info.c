/* SPDX-License-Identifier: Apache-2.0 */
/* What a guest agent lacks, by its own answer (semantics §1.3 AgentVersionNotSupported), and
 * answers that are none. */
#include <check.h>
#include <string.h>

#include "core/agent_info.h"

Suite *test_agent_info_suite(void);

/* §1.3, in its order. */
static const char *const required[] = { "guest-ping", "guest-get-time", "guest-info",
	"guest-shutdown", "guest-network-get-interfaces", "guest-get-fsinfo", "guest-get-host-name",
	"guest-get-users", "guest-get-timezone", "guest-get-osinfo" };

/* An answer with all of them but the one at `without`, which is there as `instead` says. */
static char *answer_of(const char *version, size_t without, const char *instead)
{
	struct buf b = { 0 };

	buf_printf(&b, "{\"return\":{\"version\":\"%s\",\"supported_commands\":[", version);
	for (size_t i = 0; i < ARRAY_SIZE(required); i++) {
		if (i != without)
			buf_printf(&b,
				"{\"enabled\":true,\"name\":\"%s\",\"success-response\":true},",
				required[i]);
	}
	buf_printf(&b, "%s{\"enabled\":true,\"name\":\"guest-exec\"}]}}", instead);
	return b.data;
}

static void expect_for(struct credential *credentials, size_t n, const char *answer,
	const char *want)
{
	struct vmi_spec spec = { .credentials = credentials, .n_credentials = n };
	char *problem = (char *)"unset";
	struct err err = { 0 };

	ck_assert_msg(agent_info_check(answer, &spec, &problem, &err) == 0, "%s: %s", answer,
		err.msg);
	ck_assert_msg(streq(problem, want), "%s: %s", answer, problem);
	free(problem);
}

static void expect(const char *answer, const char *want)
{
	expect_for(NULL, 0, answer, want);
}

/* Only who wants passwords or keys needs more. */
START_TEST(credentials)
{
	struct credential two[] = { { .way = CREDENTIAL_AGENT_KEYS },
		{ .way = CREDENTIAL_AGENT_PASSWORDS } };
	autofree char *plain = answer_of("7.2.22", ARRAY_SIZE(required), "");
	autofree char *all = answer_of("7.2.22", ARRAY_SIZE(required),
		"{\"enabled\":true,\"name\":\"guest-ssh-add-authorized-keys\"},"
		"{\"enabled\":true,\"name\":\"guest-set-user-password\"},");

	expect_for(two, 2, plain,
		"missing: guest-ssh-add-authorized-keys, guest-set-user-password; "
		"the guest agent's version is 7.2.22");
	expect_for(two, 1, plain,
		"missing: guest-ssh-add-authorized-keys; the guest agent's version is 7.2.22");
	expect_for(two, 2, all, NULL);
	two[0].way = CREDENTIAL_NO_CLOUD;
	expect_for(two, 1, plain, NULL);
}
END_TEST

START_TEST(one_is_missing)
{
	autofree char *answer = answer_of("7.2.22", (size_t)_i, "");
	autofree char *disabled = xasprintf("{\"enabled\":false,\"name\":\"%s\"},", required[_i]);
	autofree char *off = answer_of("7.2.22", (size_t)_i, disabled);
	autofree char *want =
		xasprintf("missing: %s; the guest agent's version is 7.2.22", required[_i]);

	expect(answer, want);
	expect(off, want);
}
END_TEST

START_TEST(none_is_missing)
{
	autofree char *answer = answer_of("1.0", ARRAY_SIZE(required), "");

	expect(answer, NULL);
}
END_TEST

/* clang-format off */
static const struct { const char *answer, *want; } others[] = {
	{ "{\"return\":{\"version\":\"2.0.0\"}}", NULL },
	{ "{\"return\":{\"version\":\"3.1\",\"supported_commands\":[]}}", NULL },
	{ "{\"return\":{\"version\":\"5.2.0\"}}", NULL },
	{ "{\"return\":{\"version\":\"1.7.0\"}}",
	  "the guest agent, version 1.7.0, does not say which commands it supports" },
	{ "{\"return\":{\"version\":\"6.0.0\"}}",
	  "the guest agent, version 6.0.0, does not say which commands it supports" },
	{ "{\"return\":{\"version\":\"25\"}}",
	  "the guest agent, version 25, does not say which commands it supports" },
	{ "{\"return\":{}}", "the guest agent, version unknown, does not say which commands it supports" },
	{ "{\"return\":{\"version\":7}}", "the guest agent, version unknown, does not say which commands it supports" },
	{ "{\"return\":{\"version\":\"\\u001b[2J\"}}",
	  "the guest agent, version unknown, does not say which commands it supports" },
	{ "{\"return\":{\"version\":\"1111111111111111111111111111111111\"}}",
	  "the guest agent, version unknown, does not say which commands it supports" },
	{ "{\"return\":{\"supported_commands\":\"all\"}}",
	  "the guest agent, version unknown, does not say which commands it supports" },
};

static const char *const none[] = { NULL, "", "{", "[]", "7", "{\"return\":[]}", "{\"return\":7}", "{\"error\":{}}" };
/* clang-format on */

START_TEST(without_a_list)
{
	expect(others[_i].answer, others[_i].want);
}
END_TEST

START_TEST(no_answer)
{
	struct vmi_spec spec = { 0 };
	char *problem = (char *)"unset";
	struct err err = { 0 };

	ck_assert_int_eq(agent_info_check(none[_i], &spec, &problem, &err), -ERR_INVALID);
	ck_assert_str_eq(problem, "unset");
	ck_assert_str_eq(err.msg, "the guest agent's answer to 'guest-info' is not one");
}
END_TEST

Suite *test_agent_info_suite(void)
{
	Suite *s = suite_create("agent_info (§1.3)");
	TCase *tc = tcase_create("answers");

	tcase_add_loop_test(tc, one_is_missing, 0, ARRAY_SIZE(required));
	tcase_add_test(tc, none_is_missing);
	tcase_add_test(tc, credentials);
	tcase_add_loop_test(tc, without_a_list, 0, ARRAY_SIZE(others));
	tcase_add_loop_test(tc, no_answer, 0, ARRAY_SIZE(none));
	suite_add_tcase(s, tc);
	return s;
}
