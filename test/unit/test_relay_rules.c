/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a relay lets through: the conversation of two libvirtds that was recorded passes, and each
 * way to make more of it than the one migration that was prepared does not, in words.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/relay_rules.h"

#define CALLS    "test/fuzz/corpus/libvirt_rpc/calls"
#define ANSWERS  "test/fuzz/corpus/libvirt_rpc/answers"
#define PREPARED "test/fixtures/relay/prepared.xml"
#define FRAMES   32

Suite *test_relay_rules_suite(void);

static struct err err;
static struct buf calls, answers, prepared;
static struct xml_facts *facts;
static struct relay_rules rules;

static void load(const char *path, struct buf *ret)
{
	FILE *file = fopen(path, "r");
	char bytes[4096];
	size_t n;

	ck_assert_msg(file != NULL, "%s", path);
	while ((n = fread(bytes, 1, sizeof(bytes), file)))
		buf_add(ret, bytes, n);
	fclose(file);
}

static void setup(void)
{
	load(CALLS, &calls);
	load(ANSWERS, &answers);
	load(PREPARED, &prepared);
	ck_assert_int_eq(xml_facts_new(prepared.data, &facts, &err), 0);
	rules = (struct relay_rules){ .facts = facts,
		.data_uri = "unix:///run/vmagent/m/data",
		.disks_uri = "unix:///run/vmagent/m/nbd" };
}

static void teardown(void)
{
	buf_done(&calls);
	buf_done(&answers);
	buf_done(&prepared);
	xml_facts_free(facts);
}

static unsigned split(const struct buf *bytes, struct rpc_frame ret[FRAMES])
{
	size_t at = 0;
	unsigned n = 0;

	while (at < bytes->len) {
		int used = rpc_frame_take(bytes->data + at, bytes->len - at, &ret[n++], &err);

		ck_assert_int_gt(used, 0);
		ck_assert_uint_lt(n, FRAMES);
		at += (size_t)used;
	}
	return n;
}

/* The recorded call of that procedure; its bytes may be changed. */
static struct rpc_frame call_of(enum rpc_procedure procedure)
{
	struct rpc_frame frames[FRAMES];
	unsigned n = split(&calls, frames);

	for (unsigned i = 0; i < n; i++)
		if (frames[i].procedure == procedure && frames[i].program == RPC_REMOTE)
			return frames[i];
	ck_abort_msg("not recorded");
}

/* Replaces the nth place of a text by another of the same length. */
static void replace(const struct rpc_frame *frame, unsigned nth, const char *from, const char *to)
{
	uint8_t *at = (uint8_t *)(uintptr_t)frame->payload;

	ck_assert_uint_eq(strlen(from), strlen(to));
	for (size_t left = frame->len; left >= strlen(from); at++, left--)
		if (memcmp(at, from, strlen(from)) == 0 && nth-- == 0) {
			memcpy(at, to, strlen(to));
			return;
		}
	ck_abort_msg("'%s' is not there", from);
}

static void refused(const struct rpc_frame *frame, const char *words)
{
	err = (struct err){ 0 };
	ck_assert_int_lt(relay_rules_call(&rules, frame, &err), 0);
	ck_assert_msg(strstr(err.msg, words) != NULL, "'%s' is not in '%s'", words, err.msg);
}

/* ---- what passes ----------------------------------------------------------------------------- */

START_TEST(a_migration_passes)
{
	struct rpc_frame list[FRAMES];
	struct relay_talk talk = { 0 };
	unsigned n = split(&calls, list), finishes = 0;

	ck_assert_uint_eq(n, 14);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_msg(relay_rules_call(&rules, &list[i], &err) == 0, "%u: %s", i, err.msg);
		ck_assert_int_eq(relay_talk_call(&talk, &list[i], &err), 0);
		finishes += relay_is_finish_call(&list[i]);
	}
	ck_assert_uint_eq(finishes, 1);
	ck_assert_uint_eq(talk.n, 13);
	n = split(&answers, list);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_msg(relay_talk_answer(&talk, &list[i], &err) == 0, "%u: %s", i, err.msg);
		finishes += relay_is_finish_reply(&list[i]);
	}
	ck_assert_uint_eq(finishes, 2);
	ck_assert_uint_eq(talk.n, 0);
}
END_TEST

START_TEST(a_finish_that_gives_up_switches_nothing_over)
{
	struct rpc_frame finish = call_of(RPC_MIGRATE_FINISH);

	((uint8_t *)(uintptr_t)finish.payload)[finish.len - 1] = 1;
	ck_assert(!relay_is_finish_call(&finish));
	ck_assert_int_eq(relay_rules_call(&rules, &finish, &err), 0);
}
END_TEST

/* ---- procedures ------------------------------------------------------------------------------ */

START_TEST(only_the_few_procedures_pass)
{
	struct rpc_frame frame = { .program = RPC_REMOTE, .version = RPC_REMOTE_V };
	unsigned passed = 0;

	for (frame.procedure = 0; frame.procedure < 500; frame.procedure++)
		passed += relay_rules_call(&rules, &frame, &err) == 0;
	ck_assert_uint_eq(passed, 5); /* those without arguments */
	frame.procedure = RPC_DOMAIN_DESTROY;
	refused(&frame, "DomainDestroy (program 0x20008086, type 0) is no part of a migration");
	frame.procedure = RPC_MIGRATE_PERFORM; /* the target would send a domain of its own away */
	refused(&frame, "DomainMigratePerform3Params");
	frame.procedure = 304;
	refused(&frame, "procedure 304");
	frame = (struct rpc_frame){ .program = 0x20008087, .version = 1, .procedure = 1 };
	refused(&frame, "program 0x20008087"); /* QEMU's monitor */
	frame = (struct rpc_frame){ .program = RPC_REMOTE, .version = 1, .procedure = 2, .type = 3 };
	refused(&frame, "type 3");
}
END_TEST

START_TEST(only_this_host_is_opened)
{
	struct rpc_frame open = call_of(RPC_CONNECT_OPEN);

	replace(&open, 0, "qemu:///system", "qemu+ssh://x/s");
	refused(&open, "ConnectOpen: it opens 'qemu+ssh://x/s'");
}
END_TEST

/* ---- arguments ------------------------------------------------------------------------------- */

static const struct {
	enum rpc_procedure procedure;
	unsigned nth;
	const char *from, *to, *words;
} changes[] = {
	{ RPC_MIGRATE_PREPARE, 0, "<name>one", "<name>two", "the domain 'two'" },
	{ RPC_MIGRATE_PREPARE, 0, "f97c5d29941b</uuid>", "000000000000</uuid>", "not about 'one'" },
	{ RPC_MIGRATE_PREPARE, 0, "/b/disks/one.img", "/c/disks/one.img",
		"'domain/devices/disk/source@file=/tmp/ve.x5XR/c/disks/one.img', which was not prepared" },
	{ RPC_MIGRATE_PREPARE, 0, "type='raw' cache", "type='qed' cache", "driver@type=qed" },
	{ RPC_MIGRATE_PREPARE, 0, "/usr/bin/qemu-system", "/tmp/bin/qemu-system", "emulator" },
	{ RPC_MIGRATE_PREPARE, 0, "<backingStore/>", "<hostdev/>     ",
		"hostdev', which was not prepared" },
	{ RPC_MIGRATE_PREPARE, 0, "<serial type='udp'>", "<serial type='dev'>", "serial@type=dev" },
	{ RPC_MIGRATE_PREPARE, 0, "m/data", "x/data", "it is 'unix:///run/vmagent/x/data', not" },
	{ RPC_MIGRATE_PREPARE, 0, "m/nbd", "x/nbd", "parameter 'disks_uri'" },
	{ RPC_MIGRATE_PREPARE, 0, "disks_uri", "disks_url",
		"parameter 'disks_url' is not allowed" },
	{ RPC_MIGRATE_PREPARE, 0, "migrate_uri", "migrate_url", "parameter 'migrate_url'" },
	{ RPC_MIGRATE_PREPARE, 1, "<name>one", "<name>two", "its cookie: it is about" },
	{ RPC_MIGRATE_FINISH, 0, "destination_name", "destination_nome", "'destination_nome'" },
	{ RPC_MIGRATE_FINISH, 5, "one", "two",
		"parameter 'destination_name': it is 'two', not 'one'" },
	{ RPC_MIGRATE_FINISH, 1, "/b/disks/one.img", "/etc/disks/shado",
		"its cookie: the XML has" },
	{ RPC_MIGRATE_FINISH, 1, "<on_crash>destroy", "<on_Crash>destroy",
		"what should be the XML" },
};

START_TEST(more_than_was_prepared_is_refused)
{
	struct rpc_frame frame = call_of(changes[_i].procedure);

	replace(&frame, changes[_i].nth, changes[_i].from, changes[_i].to);
	refused(&frame, changes[_i].words);
}
END_TEST

/* Bits of the flags: the last word of a Prepare, and the last but one of a Finish. */
static void set_flags(const struct rpc_frame *frame, uint32_t set, uint32_t clear)
{
	uint8_t *at = (uint8_t *)(uintptr_t)frame->payload + frame->len -
		(frame->procedure == RPC_MIGRATE_FINISH ? 8 : 4);

	for (unsigned i = 0; i < 4; i++) {
		at[i] |= (uint8_t)(set >> (24 - 8 * i));
		at[i] &= (uint8_t) ~(clear >> (24 - 8 * i));
	}
}

START_TEST(the_guest_arrives_paused)
{
	struct rpc_frame prepare = call_of(RPC_MIGRATE_PREPARE);

	set_flags(&prepare, 0, 1 << 5);
	refused(&prepare, "not what is needed (0x20)");
	set_flags(&prepare, 1 << 15, 0); /* post-copy, whose guest cannot */
	refused(&prepare, "not allowed (0x8000)");
	rules.postcopy = true;
	ck_assert_msg(relay_rules_call(&rules, &prepare, &err) == 0, "%s", err.msg);
	set_flags(&prepare, 1 << 2, 0);
	refused(&prepare, "not allowed (0x4)"); /* tunnelled */
}
END_TEST

START_TEST(disks_are_copied_only_if_prepared)
{
	struct rpc_frame prepare = call_of(RPC_MIGRATE_PREPARE);

	rules.disks_uri = NULL;
	refused(&prepare, "disks_uri");
}
END_TEST

/* ---- XML ------------------------------------------------------------------------------------- */

static void xml_is(const char *xml, const char *words)
{
	int rc = xml_facts_check_domain(facts, xml, strlen(xml), &err);

	ck_assert_msg(words ? rc < 0 && strstr(err.msg, words) != NULL : rc == 0, "'%s': %s", xml,
		rc ? err.msg : "passes");
}

#define DOMAIN(inside)                                                                                 \
	"<domain type='qemu'><name>one</name><uuid>d0000000-0000-4000-8000-f97c5d29941b</uuid>" inside \
	"</domain>"

START_TEST(what_libvirt_adds_passes_and_nothing_else)
{
	xml_is(DOMAIN("<vcpu>1</vcpu><cpu><model>qemu64</model></cpu>"), NULL);
	xml_is(DOMAIN("<devices><controller type='usb'><alias name='usb'/></controller></devices>"),
		NULL);
	xml_is(DOMAIN("<devices><console type='udp'/></devices>"), NULL); /* as the serial line */
	xml_is(DOMAIN("<devices><video><model rendernode='dev/dri'/></video></devices>"),
		"rendernode");
	xml_is(DOMAIN("<cpu><model>/etc/shadow</model></cpu>"), "cpu/model=/etc/shadow");
	xml_is(DOMAIN("<cpu><model><![CDATA[/etc/shadow]]></model></cpu>"), "/etc/shadow");
	xml_is(DOMAIN("<seclabel type='none'/>"), "'domain/seclabel'");
	xml_is(DOMAIN("<metadata/>"), "'domain/metadata'");
	xml_is(DOMAIN("<q:commandline xmlns:q='http://libvirt.org/schemas/domain/qemu/1.0'/>"),
		"{http://libvirt.org/schemas/domain/qemu/1.0}commandline");
	xml_is(DOMAIN("<devices><hostdev mode='subsystem'/></devices>"), "hostdev");
	xml_is(DOMAIN("<devices><input type='evdev'/></devices>"), "input@type=evdev");
	xml_is(DOMAIN("<on_crash>coredump-restart</on_crash>"), "on_crash=coredump-restart");
	xml_is("<!DOCTYPE d [<!ENTITY e '/etc'>]>" DOMAIN(""), "is none");
	xml_is(DOMAIN("<name>two</name>"), "is about the domain");
	xml_is("<domain/>", "is about the domain '?'");
	xml_is("", "is none");
}
END_TEST

/* What was prepared is what this host described; another path is none of the source's business. */
START_TEST(firmware_is_what_was_prepared)
{
#define OS(code, template, file)                                                             \
	DOMAIN("<os><type>hvm</type><loader readonly='yes' secure='yes' type='pflash'>" code \
	       "</loader><nvram template='" template "'>" file "</nvram><boot dev='hd'/></os>")
	struct xml_facts *efi;
	static const struct {
		const char *xml, *words;
	} rows[] = {
		{ OS("/fw/CODE.fd", "/fw/VARS.fd", "/vm/nvram"), NULL },
		{ OS("/etc/shadow", "/fw/VARS.fd", "/vm/nvram"), "'domain/os/loader=/etc/shadow'" },
		{ OS("/fw/CODE.fd", "/etc/shadow", "/vm/nvram"),
			"'domain/os/nvram@template=/etc/shadow'" },
		{ OS("/fw/CODE.fd", "/fw/VARS.fd", "/etc/shadow"),
			"'domain/os/nvram=/etc/shadow'" },
		{ OS("/fw/VARS.fd", "/fw/VARS.fd", "/vm/nvram"), "'domain/os/loader=/fw/VARS.fd'" },
	};

	ck_assert_int_eq(xml_facts_new(rows[0].xml, &efi, &err), 0);
	xml_is(rows[0].xml, "'domain/os/loader'");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int rc = xml_facts_check_domain(efi, rows[i].xml, strlen(rows[i].xml), &err);

		ck_assert_msg(rows[i].words ? rc < 0 && strstr(err.msg, rows[i].words) : rc == 0,
			"%s: %s", rows[i].xml, rc ? err.msg : "passes");
	}
	xml_facts_free(efi);
}
END_TEST

START_TEST(the_domain_in_a_cookie_is_one_as_well)
{
	char cookie[] =
		"<qemu-migration><name>one</name><uuid>d0000000-0000-4000-8000-f97c5d29941b</uuid>"
		"<domain type='qemu'><devices><disk type='block'><driver type='raw'/><backingStore/></disk>"
		"</devices></domain></qemu-migration>";

	ck_assert_int_lt(xml_facts_check_cookie(facts, cookie, sizeof(cookie), &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "'domain/devices/disk@type=block'"));
	memcpy(strstr(cookie, "block'"), "file' ", 6);
	ck_assert_msg(xml_facts_check_cookie(facts, cookie, sizeof(cookie), &err) == 0, "%s",
		err.msg);
	ck_assert_int_eq(xml_facts_check_cookie(facts, NULL, 0, &err), 0);
}
END_TEST

/* ---- frames ---------------------------------------------------------------------------------- */

START_TEST(frames_are_bounded)
{
	uint8_t head[RPC_HEADER_SIZE] = { 0, 0, 0, RPC_HEADER_SIZE };
	struct rpc_frame frame;

	ck_assert_int_eq(rpc_frame_take(head, 3, &frame, &err), 0);
	ck_assert_int_eq(rpc_frame_take(head, RPC_HEADER_SIZE - 1, &frame, &err), 0);
	ck_assert_int_eq(rpc_frame_take(head, RPC_HEADER_SIZE, &frame, &err), RPC_HEADER_SIZE);
	head[3]--;
	ck_assert_int_lt(rpc_frame_take(head, 4, &frame, &err), 0);
	head[0] = 1; /* 16 MiB */
	ck_assert_int_lt(rpc_frame_take(head, 4, &frame, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "4194304 are possible"));
	head[0] = 0;
	head[3] = RPC_HEADER_SIZE;
	head[19] = RPC_TYPE_MAX;
	ck_assert_int_lt(rpc_frame_take(head, RPC_HEADER_SIZE, &frame, &err), 0);
}
END_TEST

START_TEST(every_cut_of_arguments_is_refused)
{
	struct rpc_frame frame = call_of(RPC_MIGRATE_PREPARE);

	for (size_t len = frame.len; len--;) {
		struct rpc_frame cut = frame;

		cut.len = len;
		ck_assert_int_lt(relay_rules_call(&rules, &cut, &err), 0);
	}
}
END_TEST

START_TEST(answers_are_to_calls)
{
	struct rpc_frame list[FRAMES];
	struct relay_talk talk = { 0 };
	struct rpc_frame reply;

	split(&answers, list);
	reply = list[0];
	ck_assert_int_lt(relay_talk_answer(&talk, &reply, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "AuthList"));
	split(&calls, list);
	for (unsigned i = 0; i < RELAY_CALLS_MAX; i++)
		ck_assert_int_eq(relay_talk_call(&talk, &list[0], &err), 0);
	ck_assert_int_lt(relay_talk_call(&talk, &list[0], &err), 0);
	ck_assert_int_eq(relay_talk_answer(&talk, &reply, &err), 0);
	reply.type = RPC_EVENT;
	ck_assert_int_lt(relay_talk_answer(&talk, &reply, &err), 0);
}
END_TEST

/* The recorded answer to a Prepare, with another end: where it sends the guest. */
static void prepare_answers(const char *uri, bool passes)
{
	struct relay_talk talk = { .data_uri = rules.data_uri };
	struct rpc_frame list[FRAMES], prepare = call_of(RPC_MIGRATE_PREPARE), reply = { 0 };
	struct buf bytes = { 0 };
	unsigned n = split(&answers, list);

	for (unsigned i = 0; i < n; i++)
		if (list[i].procedure == RPC_MIGRATE_PREPARE)
			reply = list[i];
	buf_add(&bytes, reply.payload, reply.len - 4); /* without "there is none" */
	buf_add(&bytes, (uint8_t[]){ 0, 0, 0, 1, 0, 0, 0, (uint8_t)strlen(uri) }, 8);
	buf_add(&bytes, uri, strlen(uri));
	buf_add(&bytes, "\0\0\0", (4 - strlen(uri) % 4) % 4);
	reply.payload = (const uint8_t *)bytes.data;
	reply.len = bytes.len;
	ck_assert_int_eq(relay_talk_call(&talk, &prepare, &err), 0);
	ck_assert_int_eq(relay_talk_answer(&talk, &reply, &err) == 0, passes);
	buf_done(&bytes);
}

START_TEST(the_guest_goes_nowhere_else)
{
	prepare_answers("unix:///run/vmagent/m/data", true);
	prepare_answers("unix:///run/docker.sock", false);
	ck_assert_ptr_nonnull(
		strstr(err.msg, "sends the guest to 'unix:///run/docker.sock', not to"));
	prepare_answers("tcp:10.0.0.1:22", false);
	prepare_answers("", false);
}
END_TEST

/* What the target says of itself may make libvirtd want more than this. */
START_TEST(the_source_says_no_more_than_it_must)
{
	struct rpc_frame frame = { .program = RPC_REMOTE, .version = RPC_REMOTE_V };
	struct relay_talk talk = { 0 };
	unsigned passed = 0;

	for (frame.procedure = 0; frame.procedure < 500; frame.procedure++)
		passed += relay_talk_call(&talk, &frame, &err) == 0;
	ck_assert_uint_eq(passed, 9);
	frame.procedure = 67;
	ck_assert_int_lt(relay_talk_call(&talk, &frame, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "procedure 67 ")); /* AuthSaslInit */
}
END_TEST

Suite *test_relay_rules_suite(void)
{
	Suite *s = suite_create("relay_rules");
	TCase *t = tcase_create("rules");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_migration_passes);
	tcase_add_test(t, a_finish_that_gives_up_switches_nothing_over);
	tcase_add_test(t, only_the_few_procedures_pass);
	tcase_add_test(t, only_this_host_is_opened);
	tcase_add_loop_test(t, more_than_was_prepared_is_refused, 0, (int)ARRAY_SIZE(changes));
	tcase_add_test(t, the_guest_arrives_paused);
	tcase_add_test(t, disks_are_copied_only_if_prepared);
	tcase_add_test(t, what_libvirt_adds_passes_and_nothing_else);
	tcase_add_test(t, firmware_is_what_was_prepared);
	tcase_add_test(t, the_domain_in_a_cookie_is_one_as_well);
	tcase_add_test(t, frames_are_bounded);
	tcase_add_test(t, every_cut_of_arguments_is_refused);
	tcase_add_test(t, answers_are_to_calls);
	tcase_add_test(t, the_guest_goes_nowhere_else);
	tcase_add_test(t, the_source_says_no_more_than_it_must);
	suite_add_tcase(s, t);
	return s;
}
