/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target's relay, and whoever comes to it: without the token nobody keeps anybody else out, takes
 * more than a moment, or leaves anything behind. The relay is a process of its own, as it always
 * is; connections are handed to it as an agent does.
 */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/relay_config.h"
#include "io/peer_relay.h"
#include "test/lib/process.h"

Suite *test_relay_streams_suite(void);

#define ID          "5e1f0000-0000-4000-8000-000000000001"
#define TOKEN       "0123456789abcdef"
#define WRONG_TOKEN "0123456789abcdee"
#define PATIENCE_MS 20000
#define WARM        100
#define REFUSALS    1000

static char folder[64];
static pid_t relay;
static int libvirt = -1; /* listens */

/* ---- the relay ------------------------------------------------------------------------------- */

static void listen_as_libvirt(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	copy_str(at.sun_path, sizeof(at.sun_path), path);
	libvirt = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(libvirt, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(libvirt, 128), 0);
}

static void start(const char *place, const char *config)
{
	int in[2], out[2];
	char ready[8] = "";

	ck_assert_int_eq(pipe(in) | pipe(out), 0);
	relay = fork();
	if (relay == 0) {
		char *args[] = { "migrate-relay", (char *)(uintptr_t)place, NULL };

		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		closefrom(STDERR_FILENO + 1);
		_exit(relay_main(2, args));
	}
	close(in[0]);
	close(out[1]);
	ck_assert_int_eq(write(in[1], config, strlen(config)), strlen(config));
	close(in[1]);
	ck_assert_int_eq(read(out[0], ready, sizeof(ready)), 6);
	ck_assert_str_eq(ready, "ready\n");
	close(out[0]);
}

static void setup(void)
{
	autofree char *config = NULL, *place = NULL, *socket_path = NULL;
	uint8_t token[RELAY_TOKEN_SIZE];
	char hex[RELAY_TOKEN_TEXT];

	copy_str(folder, sizeof(folder), "/tmp/vmagent-relay.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	memcpy(token, TOKEN, sizeof(token));
	relay_token_write(token, hex);
	place = xasprintf("%s/" ID, folder);
	socket_path = xasprintf("%s/libvirt", folder);
	listen_as_libvirt(socket_path);
	config = xasprintf("{\"id\":\"" ID "\",\"peer\":\"host-a\",\"token\":\"%s\",\"plain\":true,"
			   "\"libvirt\":\"%s\",\"xml\":\"<domain><name>one</name><uuid>" ID
			   "</uuid></domain>\"}",
		hex, socket_path);
	start(place, config);
}

static bool has_ended(int patience_ms)
{
	for (int ms = 0; relay && ms <= patience_ms; ms += 10) {
		if (waitpid(relay, NULL, WNOHANG) == relay)
			relay = 0;
		else
			usleep(10000);
	}
	return relay == 0;
}

static void teardown(void)
{
	autofree char *remove_all = xasprintf("rm -rf %s", folder);

	if (relay)
		kill(relay, SIGKILL);
	ck_assert(has_ended(PATIENCE_MS));
	close(libvirt);
	ck_assert_int_eq(system(remove_all), 0);
}

static int ask(enum relay_verb verb)
{
	autofree char *place = xasprintf("%s/" ID, folder);
	struct relay_request request = { .verb = verb };
	struct relay_status status;
	struct err err;

	return relay_ask(place, &request, &status, &err);
}

/* ---- whoever comes --------------------------------------------------------------------------- */

/* Our end of a connection that was handed over. */
static int come(enum relay_channel channel)
{
	struct timeval patience = { .tv_sec = PATIENCE_MS / 1000 };
	struct err err = { 0 };
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	for (int ms = 0; relay_hand_over(folder, ID, channel, ends[1], &err) < 0; ms++) {
		ck_assert_msg(ms < PATIENCE_MS, "%s", err.msg); /* it may be busy */
		usleep(1000);
	}
	close(ends[1]);
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return ends[0];
}

static void say(int fd, const char *token)
{
	ck_assert_int_eq(send(fd, token, RELAY_TOKEN_SIZE, MSG_NOSIGNAL), RELAY_TOKEN_SIZE);
}

/* The words that it is refused with; "": it is let in; NULL: the connection just ended. */
static const char *answer(int fd)
{
	static char words[256];
	uint8_t len = 0;

	memset(words, 0, sizeof(words));
	if (recv(fd, &len, 1, 0) != 1)
		return NULL;
	ck_assert(!len || recv(fd, words, len, MSG_WAITALL) == len);
	return words;
}

static void is_refused(enum relay_channel channel, const char *token, const char *why)
{
	int fd = come(channel);
	const char *words;

	say(fd, token);
	words = answer(fd);
	ck_assert_ptr_nonnull(words);
	ck_assert_msg(strstr(words, why) != NULL, "'%s' is not in '%s'", why, words);
	close(fd);
}

START_TEST(a_stranger_takes_nobodys_place)
{
	int stranger = come(RELAY_RPC), fd = come(RELAY_RPC);

	say(fd, TOKEN);
	ck_assert_str_eq(answer(fd), "");
	is_refused(RELAY_RPC, TOKEN, "libvirt's RPC has a stream already");
	is_refused(RELAY_RPC, WRONG_TOKEN, "it does not know this migration's token");
	close(fd);
	close(stranger);
}
END_TEST

START_TEST(many_strangers_keep_nobody_out)
{
	int strangers[70], fd;

	for (size_t i = 0; i < ARRAY_SIZE(strangers); i++)
		strangers[i] = come(RELAY_DATA);
	fd = come(RELAY_RPC);
	say(fd, TOKEN);
	ck_assert_str_eq(answer(fd), "");
	ck_assert_ptr_null(answer(strangers[0])); /* it had to make room */
	for (size_t i = 0; i < ARRAY_SIZE(strangers); i++)
		close(strangers[i]);
	close(fd);
}
END_TEST

/* One byte after the other, as long as it is listened to. */
START_TEST(whoever_greets_does_not_keep_it_from_its_end)
{
	int fd = come(RELAY_DATA);
	size_t said = 0;

	ck_assert_int_eq(ask(RELAY_END), 0);
	while (said < RELAY_TOKEN_SIZE && !has_ended(300))
		said += send(fd, TOKEN + said, 1, MSG_NOSIGNAL) == 1;
	ck_assert_uint_lt(said, RELAY_TOKEN_SIZE);
	close(fd);
}
END_TEST

/* ---- what is held ---------------------------------------------------------------------------- */

static void switch_over(int fd)
{
	static const uint8_t finish[] = { 0, 0, 0, 76, 0x20, 0, 0x80, 0x86, 0, 0, 0, 1, 0, 0, 1, 50,
		0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, /* one parameter */ 0, 0, 0, 1, 0, 0, 0, 16,
		'd', 'e', 's', 't', 'i', 'n', 'a', 't', 'i', 'o', 'n', '_', 'n', 'a', 'm', 'e', 0,
		0, 0, 7, 0, 0, 0, 3, 'o', 'n', 'e', 0, /* no cookie */ 0, 0, 0, 0,
		/* LIVE, PEER2PEER, PAUSED */ 0, 0, 0, 0x23, 0, 0, 0, 0 };

	ck_assert_int_eq(send(fd, finish, sizeof(finish), MSG_NOSIGNAL), sizeof(finish));
}

static void wait_until_held(void)
{
	autofree char *place = xasprintf("%s/" ID, folder);
	struct relay_request request = { .verb = RELAY_STATUS };
	struct relay_status status = { .refused = 0 };
	struct err err = { 0 };

	for (int ms = 0; status.finish != RELAY_FINISH_CALL_HELD; ms++) {
		ck_assert_int_lt(ms, PATIENCE_MS);
		ck_assert_msg(relay_ask(place, &request, &status, &err) == 0, "%s", err.msg);
		ck_assert_uint_eq(status.refused, 0);
		usleep(1000);
	}
}

/* It may have four million bytes, and so may the next one. */
START_TEST(one_call_is_held)
{
	autofree char *place = xasprintf("%s/" ID, folder);
	struct relay_request request = { .verb = RELAY_HOLD, .hold = RELAY_HOLD_CALL };
	struct relay_status status;
	struct err err;
	int fd = come(RELAY_RPC);
	char byte;

	ck_assert_int_eq(relay_ask(place, &request, &status, &err), 0);
	say(fd, TOKEN);
	ck_assert_str_eq(answer(fd), "");
	switch_over(fd);
	wait_until_held();
	switch_over(fd);
	ck_assert_int_eq(recv(fd, &byte, 1, 0), 0);
	close(fd);
}
END_TEST

/* ---- nothing is left of a thousand ----------------------------------------------------------- */

static void destroys(void)
{
	static const uint8_t destroy[] = { 0, 0, 0, 28, 0x20, 0, 0x80, 0x86, 0, 0, 0, 1, 0, 0, 0,
		12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0 };
	int fd = come(RELAY_RPC), local;
	char byte;

	say(fd, TOKEN);
	ck_assert_str_eq(answer(fd), "");
	local = accept4(libvirt, NULL, NULL, SOCK_CLOEXEC);
	ck_assert_int_eq(send(fd, destroy, sizeof(destroy), MSG_NOSIGNAL), sizeof(destroy));
	ck_assert_int_le(recv(fd, &byte, 1, 0), 0);
	ck_assert_int_eq(recv(local, &byte, 1, 0), 0); /* of which libvirt has seen nothing */
	close(local);
	close(fd);
	while (ask(RELAY_STATUS) == 0 && process_tasks(relay) > 1)
		usleep(1000);
}

static void refuse(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (i % 4 == 0)
			destroys();
		else if (i % 4 == 1)
			close(come(RELAY_DATA)); /* says nothing */
		else
			is_refused(i % 4 == 2 ? RELAY_RPC : RELAY_DATA, WRONG_TOKEN,
				"it does not know this migration's token");
	}
	for (int ms = 0; ms < PATIENCE_MS && process_tasks(relay) > 1; ms++)
		usleep(1000);
	ck_assert_int_eq(ask(RELAY_STATUS), 0);
}

START_TEST(a_thousand_refusals_leave_nothing)
{
	unsigned fds, tasks;
	long memory;

	refuse(WARM);
	fds = process_files(relay);
	tasks = process_tasks(relay);
	memory = process_memory_kb(relay);
	refuse(REFUSALS);
	/* What has just asked it may not be closed yet. */
	for (int ms = 0; ms < PATIENCE_MS && process_files(relay) > fds; ms++)
		usleep(1000);
	ck_assert_uint_le(process_files(relay), fds);
	ck_assert_uint_le(process_tasks(relay), tasks);
	ck_assert_int_le(process_memory_kb(relay), memory + PROCESS_GROWTH_KB);
}
END_TEST

Suite *test_relay_streams_suite(void)
{
	Suite *s = suite_create("relay_streams");
	TCase *t = tcase_create("strangers");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_stranger_takes_nobodys_place);
	tcase_add_test(t, many_strangers_keep_nobody_out);
	tcase_add_test(t, whoever_greets_does_not_keep_it_from_its_end);
	tcase_add_test(t, one_call_is_held);
	tcase_add_test(t, a_thousand_refusals_leave_nothing);
	suite_add_tcase(s, t);
	return s;
}
