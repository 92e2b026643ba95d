/* SPDX-License-Identifier: Apache-2.0 */
/* A guest agent's answers as KubeVirt's objects (§5.4, §8.5); whatever a guest may say. */
#include <check.h>
#include <string.h>

#include "core/guest_look.h"

Suite *test_guest_look_suite(void);

#define OS                                                                                  \
	"\"guest-get-osinfo\":{\"return\":{\"name\":\"Debian\",\"kernel-release\":\"6.1\"," \
	"\"version\":\"12\",\"pretty-name\":\"Debian 12\",\"version-id\":\"12\","           \
	"\"kernel-version\":\"#1 SMP\",\"machine\":\"x86_64\",\"id\":\"debian\"}}"
#define USER(name) "{\"user\":\"" name "\",\"login-time\":1700000000.5,\"domain\":\"d\"}"
#define FS                                                                                  \
	"{\"name\":\"vda1\",\"mountpoint\":\"/\",\"type\":\"ext4\",\"used-bytes\":1,"       \
	"\"total-bytes\":105000000000,\"disk\":[{\"serial\":\"s\",\"bus-type\":\"virtio\"," \
	"\"dev\":\"/dev/vda1\",\"pci-controller\":{}}]}"

static char *document(enum guest_look look, const char *answers)
{
	struct err err = { .code = ERR_OK };
	char *text = NULL;

	ck_assert_msg(guest_look_document(look, answers, &text, &err) == 0, "%s", err.msg);
	return text;
}

START_TEST(everything_of_a_guest)
{
	autofree char *text = document(GUEST_LOOK_OS,
		"{" OS ",\"guest-info\":{\"return\":{\"version\":\"7.2\",\"supported_commands\":"
		"[{\"name\":\"guest-ping\",\"enabled\":true,\"success-response\":true}]}},"
		"\"guest-get-host-name\":{\"return\":{\"host-name\":\"web\"}},"
		"\"guest-get-timezone\":{\"return\":{\"zone\":\"CET\",\"offset\":3600}},"
		"\"guest-get-users\":{\"return\":[" USER(
			"root") "]},"
				"\"guest-get-fsinfo\":{\"return\":[" FS "]},"
				"\"guest-fsfreeze-status\":{\"return\":\"thawed\"}}");

	ck_assert_str_eq(text,
		"{\"kind\":\"VirtualMachineInstanceGuestAgentInfo\",\"apiVersion\":\"kubevirt.io/v1\","
		"\"guestAgentVersion\":\"7.2\","
		"\"supportedCommands\":[{\"name\":\"guest-ping\",\"enabled\":true}],"
		"\"hostname\":\"web\",\"os\":{\"name\":\"Debian\",\"kernelRelease\":\"6.1\","
		"\"version\":\"12\",\"prettyName\":\"Debian 12\",\"versionId\":\"12\","
		"\"kernelVersion\":\"#1 SMP\",\"machine\":\"x86_64\",\"id\":\"debian\"},"
		"\"timezone\":\"CET, 3600\","
		"\"userList\":[{\"userName\":\"root\",\"domain\":\"d\",\"loginTime\":1700000000.5}],"
		"\"fsInfo\":{\"disks\":[{\"diskName\":\"vda1\",\"mountPoint\":\"/\","
		"\"fileSystemType\":\"ext4\",\"usedBytes\":1,\"totalBytes\":105000000000,"
		"\"disk\":[{\"serial\":\"s\",\"busType\":\"virtio\"}]}]},"
		"\"fsFreezeStatus\":\"thawed\"}");
}
END_TEST

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

START_TEST(ten_are_shown_and_all_are_listed)
{
	struct buf users = { 0 };
	autofree char *answers = NULL, *all = NULL, *some = NULL;

	for (int i = 0; i < 12; i++)
		buf_printf(&users, "%s" USER("u"), i ? "," : "");
	answers = xasprintf("{" OS ",\"guest-get-users\":{\"return\":[%s]}}", users.data);
	all = document(GUEST_LOOK_USERS, answers);
	some = document(GUEST_LOOK_OS, answers);
	ck_assert_uint_eq(count(all, "userName"), 12);
	ck_assert_uint_eq(count(some, "userName"), GUEST_LOOK_SHOWN);
	ck_assert_ptr_nonnull(strstr(all, "\"metadata\":{},\"items\":["));
	buf_done(&users);
}
END_TEST

START_TEST(file_systems_are_listed)
{
	autofree char *text = document(GUEST_LOOK_FILESYSTEMS,
		"{\"guest-get-fsinfo\":{\"return\":[" FS "," FS "]}}");

	ck_assert_uint_eq(count(text, "\"mountPoint\":\"/\""), 2);
	ck_assert_ptr_nonnull(strstr(text, "VirtualMachineInstanceFileSystemList"));
}
END_TEST

/* What an agent does not know is left out; what it makes up is, too. */
START_TEST(a_guest_may_say_anything)
{
	autofree char *odd = document(GUEST_LOOK_OS,
		"{\"guest-get-osinfo\":{\"return\":{\"name\":{\"a\":[1]},\"id\":[2]}},"
		"\"guest-info\":{\"return\":[{\"version\":1}]},"
		"\"guest-get-host-name\":{\"return\":\"x\"},"
		"\"guest-get-timezone\":{\"return\":{\"offset\":\"x\"}},"
		"\"guest-get-users\":{\"return\":{\"user\":\"x\"}},"
		"\"guest-get-fsinfo\":{\"return\":[{\"disk\":{\"a\":1}},7]},"
		"\"guest-fsfreeze-status\":{\"return\":{}}}");

	ck_assert_str_eq(odd,
		"{\"kind\":\"VirtualMachineInstanceGuestAgentInfo\",\"apiVersion\":\"kubevirt.io/v1\","
		"\"supportedCommands\":[],\"os\":{},\"userList\":[{}],"
		"\"fsInfo\":{\"disks\":[{},{}]}}");
}
END_TEST

static const char *const nothing[] = { NULL, "", "no JSON", "[]", "{}",
	"{\"guest-get-osinfo\":{\"error\":{}}}" };

START_TEST(no_answer_is_an_error)
{
	struct err err = { .code = ERR_OK };
	char *text = NULL;

	ck_assert_int_eq(guest_look_document(GUEST_LOOK_OS, nothing[_i], &text, &err),
		-ERR_HYPERVISOR);
	ck_assert_ptr_null(text);
	ck_assert_str_eq(err.msg, "the guest agent does not answer 'guest-get-osinfo'");
}
END_TEST

/* §5.4: phase Running, and AgentConnected; [P] 409 */
START_TEST(who_may_be_asked)
{
	struct vmi vmi = { .phase = PHASE_SCHEDULED };
	struct domain dom = { .state = DOMAIN_RUNNING, .agent = true };
	struct err err;

	ck_assert_int_eq(guest_look_check(&vmi, &dom, &err), -ERR_CONFLICT);
	ck_assert_ptr_nonnull(strstr(err.msg, "phase Scheduled"));
	vmi.phase = PHASE_RUNNING;
	ck_assert_int_eq(guest_look_check(&vmi, &dom, &err), 0);
	dom.agent = false;
	ck_assert_int_eq(guest_look_check(&vmi, &dom, &err), -ERR_CONFLICT);
	ck_assert_ptr_nonnull(strstr(err.msg, "no guest agent is connected"));
}
END_TEST

Suite *test_guest_look_suite(void)
{
	Suite *suite = suite_create("guest_look");
	TCase *tcase = tcase_create("guest look");

	tcase_add_test(tcase, everything_of_a_guest);
	tcase_add_test(tcase, ten_are_shown_and_all_are_listed);
	tcase_add_test(tcase, file_systems_are_listed);
	tcase_add_test(tcase, a_guest_may_say_anything);
	tcase_add_loop_test(tcase, no_answer_is_an_error, 0, (int)ARRAY_SIZE(nothing));
	tcase_add_test(tcase, who_may_be_asked);
	suite_add_tcase(suite, tcase);
	return suite;
}
