/* SPDX-License-Identifier: Apache-2.0 */
/* What a guest's agent is told of passwords and keys, made of Secrets, and when it is another. */
#include <check.h>
#include <string.h>

#include "core/credentials.h"
#include "core/edit.h"
#include "core/manifest.h"
#include "core/spec_private.h"

Suite *test_credentials_suite(void);

/* clang-format off */
static const struct { const char *name, *content; } secrets[] = {
	{ "passwords", "{\"data\":{\"admin\":\"IGh1c2gK\",\"root\":\"YSJi\"}}" }, /* " hush\n", a"b */
	{ "keys",      "{\"data\":{\"a\":\"a2V5LWEK\",\"b\":\"a2V5LWIKCmtleS1jCg==\"}}" }, /* key-a; key-b and key-c */
	{ "more",      "{\"data\":{\"d\":\"a2V5LWQ=\"}}" },
	{ "empty",     "{}" },
};
/* clang-format on */

static const char *find(void *ctx, enum object_kind kind, const char *name)
{
	(void)ctx;
	ck_assert_int_eq(kind, KIND_SECRET);
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++)
		if (streq(secrets[i].name, name))
			return secrets[i].content;
	return NULL;
}

static const struct media_world world = { .ns = "default", .name = "web", .find = find };

#define PASSWORDS(secret)                                       \
	"{userPassword: {source: {secret: {secretName: " secret \
	"}}, propagationMethod: {qemuGuestAgent: {}}}}"
#define KEYS(secret, users)                                            \
	"{sshPublicKey: {source: {secret: {secretName: " secret "}}, " \
	"propagationMethod: {qemuGuestAgent: {users: " users "}}}}"
#define BY_CLOUD_INIT \
	"{sshPublicKey: {source: {secret: {secretName: gone}}, propagationMethod: {noCloud: {}}}}"

static struct vmi_spec spec_of(const char *list)
{
	autofree char *text = xasprintf("{accessCredentials: [%s]}", list);
	struct vmi_spec spec = { 0 };
	struct documents docs;
	struct err err;

	ck_assert_int_eq(nodes_parse(text, strlen(text), &docs, &(struct place){ 0 }, &err), 0);
	ck_assert_int_eq(spec_parse_credentials(docs.roots[0], &spec, &err), 0);
	documents_done(&docs);
	return spec;
}

/* clang-format off */
static const struct { const char *list, *commands, *missing; } rows[] = {
	{ BY_CLOUD_INIT, NULL, NULL },
	{ PASSWORDS("passwords"),
	  "[{\"execute\":\"guest-set-user-password\",\"arguments\":{\"username\":\"admin\",\"password\":\"aHVzaA==\",\"crypted\":false}},"
	  "{\"execute\":\"guest-set-user-password\",\"arguments\":{\"username\":\"root\",\"password\":\"YSJi\",\"crypted\":false}}]", NULL },
	{ KEYS("keys", "[admin]"),
	  "[{\"execute\":\"guest-ssh-add-authorized-keys\",\"arguments\":{\"username\":\"admin\",\"reset\":true,"
	  "\"keys\":[\"key-a\",\"key-b\",\"key-c\"]}}]", NULL },
	{ KEYS("more", "[root, admin]") "," PASSWORDS("empty") "," KEYS("keys", "[admin]"), /* all of a user's at a time */
	  "[{\"execute\":\"guest-ssh-add-authorized-keys\",\"arguments\":{\"username\":\"root\",\"reset\":true,\"keys\":[\"key-d\"]}},"
	  "{\"execute\":\"guest-ssh-add-authorized-keys\",\"arguments\":{\"username\":\"admin\",\"reset\":true,"
	  "\"keys\":[\"key-d\",\"key-a\",\"key-b\",\"key-c\"]}}]", NULL },
	{ KEYS("empty", "[admin]"), /* it has none any more */
	  "[{\"execute\":\"guest-ssh-add-authorized-keys\",\"arguments\":{\"username\":\"admin\",\"reset\":true,\"keys\":[]}}]", NULL },
	{ PASSWORDS("passwords") "," KEYS("none", "[admin]"), NULL, "none" },
};
/* clang-format on */

START_TEST(row)
{
	struct vmi_spec spec = spec_of(rows[_i].list);
	autofree char *commands = credentials_commands(&spec, &world);

	ck_assert_int_eq(has_agent_credentials(&spec), _i > 0);
	ck_assert_pstr_eq(credentials_missing(&spec, &world), rows[_i].missing);
	ck_assert_pstr_eq(commands, rows[_i].commands);
	vmi_spec_done(&spec);
}
END_TEST

START_TEST(one_by_one)
{
	struct vmi_spec spec = spec_of(PASSWORDS("passwords"));
	autofree char *commands = credentials_commands(&spec, &world), *what = NULL;
	autofree char *second = credentials_command(commands, 1, &what), *none = NULL;

	ck_assert_ptr_eq(second, strstr(second, "{\"execute\":\"guest-set-user-password\""));
	ck_assert_ptr_nonnull(strstr(second, "\"username\":\"root\""));
	ck_assert_str_eq(what, "guest-set-user-password for user 'root'");
	ck_assert_ptr_null(credentials_command(commands, 2, &none));
	ck_assert_ptr_null(credentials_command(NULL, 0, &none));
	vmi_spec_done(&spec);
}
END_TEST

START_TEST(versions)
{
	ck_assert_int_eq(credentials_version(NULL), 0);
	ck_assert_int_eq(credentials_version("[]"), credentials_version("[]"));
	ck_assert_int_ne(credentials_version("[1]"), credentials_version("[2]"));
	ck_assert_int_gt(credentials_version(""), 0);
}
END_TEST

Suite *test_credentials_suite(void)
{
	Suite *suite = suite_create("credentials");
	TCase *tcase = tcase_create("credentials");

	tcase_add_loop_test(tcase, row, 0, ARRAY_SIZE(rows));
	tcase_add_test(tcase, one_by_one);
	tcase_add_test(tcase, versions);
	suite_add_tcase(suite, tcase);
	return suite;
}
