/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The display's websocket: nothing of it is lost, whoever is slow; a newcomer displaces the client
 * before, or is refused if it asks for that; and who gets none, in KubeVirt's words.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "test/lib/stream.h"

#define NS  "/apis/kubevirt.io/v1/namespaces/default"
#define SUB "/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances"
#define VNC SUB "/a/vnc"

static void start(struct api_fixture *f, struct guest *g)
{
	guest_start(g, "vnc.sock");
	api_fixture_start(f);
	f->yes.graphics = g->path;
	api_expect(f, "POST " NS "/virtualmachines", api_vm("a", "Always"), 201, NULL);
	api_expect(f, "GET " NS "/virtualmachineinstances/a", NULL, 200, "\"Running\"");
}

static void stop(struct api_fixture *f, struct guest *g)
{
	api_fixture_stop(f);
	guest_stop(g);
}

START_TEST(bytes_go_both_ways)
{
	struct api_fixture f;
	struct guest g;
	struct client c;

	start(&f, &g);
	stream_attach(&c, &f, VNC);
	guest_accept(&g);
	ck_assert_int_eq(write(g.fd, "RFB 003.008\n", 12), 12);
	ck_assert(client_sees(&c, "\x82\x0cRFB 003.008\n"));
	stream_send(&c, 2, "RFB 003.008\n", 12);
	guest_expect(&f, &g, "RFB 003.008\n");
	close(g.fd);
	g.fd = -1;
	ck_assert(client_sees(&c, "\x03\xe8the display has ended with its guest"));
	ck_assert(client_ends(&c));
	client_close(&c);
	stop(&f, &g);
}
END_TEST

static void expect_refusal(struct api_fixture *f, const char *path, int status, const char *words)
{
	autofree char *body = NULL;
	int got = stream_refused(f, path, &body);

	ck_assert_msg(got == status && strstr(body, words), "%s: %d: %s", path, got, body);
}

START_TEST(one_at_a_time)
{
	struct api_fixture f;
	struct guest g;
	struct client first, second;

	start(&f, &g);
	stream_attach(&first, &f, VNC "?preserveSession=true");
	guest_accept(&g);
	expect_refusal(&f, VNC "?preserveSession=true", 503,
		"Active VNC connection. Request denied");
	stream_attach(&second, &f, VNC "?preserveSession=false");
	ck_assert(client_sees(&first,
		"\x03\xf0"
		"another client has taken over this VNC session"));
	ck_assert(client_ends(&first));
	client_close(&second);
	guest_accept(&g);
	guest_expect(&f, &g, "");
	stream_attach(&second, &f, VNC "?preserveSession=true"); /* nobody is there any more */
	client_close(&first);
	client_close(&second);
	stop(&f, &g);
}
END_TEST

/* The guest's side waits for a client that does not read, and every byte arrives in the end. */
START_TEST(a_slow_client)
{
	struct api_fixture f;
	struct guest g;
	struct client c;
	char flood[4096];
	size_t written = 0;

	memset(flood, '.', sizeof(flood));
	start(&f, &g);
	stream_attach(&c, &f, VNC);
	guest_accept(&g);
	for (int idle = 0; idle < 100; idle++) {
		ssize_t n = write(g.fd, flood, sizeof(flood));

		if (n > 0) {
			written += (size_t)n;
			idle = 0;
		}
		ck_assert_uint_lt(written, 8 * 1024 * 1024);
		uv_run(&f.loop, UV_RUN_NOWAIT);
	}
	ck_assert(client_gets(&c, written));
	while (write(g.fd, "the end", 7) != 7)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	ck_assert(client_sees(&c, "the end"));
	for (size_t i = 0; i < c.in.len; i++)
		written -= c.in.data[i] == '.' ? 1 : 0;
	/* frames' heads may have a dot in them, payload that is lost would be thousands */
	ck_assert_uint_le(written + 64, 128);
	client_close(&c);
	stop(&f, &g);
}
END_TEST

/* … and what a client has sent before it left still arrives at a guest that was slow to take it. */
START_TEST(last_words)
{
	struct api_fixture f;
	struct guest g;
	struct client c;
	struct guest_reading r = { .guest = &g };
	char words[8192];
	size_t sent = 0;
	int arrived = 0;

	memset(words, 'w', sizeof(words));
	start(&f, &g);
	stream_attach(&c, &f, VNC);
	guest_accept(&g);
	while ((size_t)arrived == sent) { /* until the guest's socket takes no more */
		stream_send(&c, 2, words, sizeof(words));
		sent += sizeof(words);
		for (int i = 0; i < 50; i++)
			uv_run(&f.loop, UV_RUN_NOWAIT);
		ck_assert_int_eq(ioctl(g.fd, FIONREAD, &arrived), 0);
	}
	stream_send(&c, 8, "\x03\xe8", 2);
	for (int i = 0; i < 50; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	r.want = sent + 1; /* until the end */
	ck_assert(loop_until(&f.loop, guest_has_read, &r));
	ck_assert_uint_eq(r.in.len, sent);
	buf_done(&r.in);
	ck_assert(client_ends(&c));
	client_close(&c);
	stop(&f, &g);
}
END_TEST

START_TEST(who_gets_none)
{
	struct api_fixture f;
	struct guest g;
	autofree char *headless = NULL;
	const char *plain;

	start(&f, &g);
	api_expect(&f, "GET " VNC, NULL, 400, "a VNC session is a websocket");
	expect_refusal(&f, SUB "/b/vnc", 404,
		"virtualmachineinstances.kubevirt.io \\\"b\\\" not found");
	plain = api_vm("c", "Always");
	headless = xasprintf("%.*s{ autoattachGraphicsDevice: false }\n",
		(int)(strlen(plain) - strlen("{}\n")), plain);
	api_expect(&f, "POST " NS "/virtualmachines", headless, 201, NULL);
	expect_refusal(&f, SUB "/c/vnc", 400, "No graphics devices are present");
	f.yes.graphics = NULL;
	api_expect(&f, "POST " NS "/virtualmachines", api_vm("d", "Always"), 201, NULL);
	expect_refusal(&f, SUB "/d/vnc", 400, "No graphics devices are present: 'd' was started");
	unlink(g.path);
	expect_refusal(&f, VNC, 503, "cannot open the VNC server");
	stop(&f, &g);
}
END_TEST

Suite *test_api_vnc_suite(void);

Suite *test_api_vnc_suite(void)
{
	Suite *suite = suite_create("api_vnc");
	TCase *tc = tcase_create("vnc");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, bytes_go_both_ways);
	tcase_add_test(tc, one_at_a_time);
	tcase_add_test(tc, a_slow_client);
	tcase_add_test(tc, last_words);
	tcase_add_test(tc, who_gets_none);
	suite_add_tcase(suite, tc);
	return suite;
}
