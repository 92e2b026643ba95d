/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is fetched from a guest: a picture of its display, connections to its ports; refusals in
 * KubeVirt's words, clients that leave before their answer comes, and the end of the API meanwhile.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/lib/stream.h"

#define NS      "/apis/kubevirt.io/v1/namespaces/default"
#define SUB     "/apis/subresources.kubevirt.io/v1/namespaces/default"
#define VMI     SUB "/virtualmachineinstances/"
#define VM      SUB "/virtualmachines/"
#define PICTURE "GET " VMI "a/vnc/screenshot"

static void start(struct api_fixture *f)
{
	api_fixture_start(f);
	f->yes.graphics = "/nowhere";
	f->yes.image = "\x89PNG\r\n\0end";
	f->yes.image_len = 10;
	api_expect(f, "POST " NS "/virtualmachines", api_vm("a", "Always"), 201, NULL);
	api_expect(f, "GET " NS "/virtualmachineinstances/a", NULL, 200, "\"Running\"");
}

static void refuse(struct api_fixture *f)
{
	err_set(&f->yes.refusal, ERR_UNAVAILABLE, "nothing there");
}

/* A VM whose devices are as told. */
static void create(struct api_fixture *f, const char *name, const char *devices)
{
	const char *plain = api_vm(name, "Always");
	autofree char *text =
		xasprintf("%.*s{ %s }\n", (int)(strlen(plain) - strlen("{}\n")), plain, devices);

	api_expect(f, "POST " NS "/virtualmachines", text, 201, NULL);
}

static void expect_refusal(struct api_fixture *f, const char *path, int status, const char *words)
{
	autofree char *body = NULL;
	int got = stream_refused(f, path, &body);

	ck_assert_msg(got == status && strstr(body, words), "%s: %d: %s", path, got, body);
}

START_TEST(a_picture)
{
	struct api_fixture f;
	struct client c;

	start(&f);
	client_open(&c, &f.loop, f.path);
	client_printf(&c, PICTURE "?moveCursor=true HTTP/1.1\r\nHost: x\r\n\r\n");
	ck_assert(client_sees(&c, "\r\n\r\n"));
	ck_assert_msg(starts_with(c.in.data, "HTTP/1.1 200 "), "%s", c.in.data);
	ck_assert_ptr_nonnull(strstr(c.in.data, "\r\nContent-Type: image/png\r\n"));
	ck_assert_ptr_nonnull(strstr(c.in.data, "\r\nContent-Length: 10\r\n"));
	client_drop(&c, "\r\n\r\n");
	ck_assert(client_gets(&c, 10));
	ck_assert_mem_eq(c.in.data, f.yes.image, 10);
	ck_assert(f.yes.errand.kind == OP_SCREENSHOT && f.yes.errand.wake);
	client_close(&c);
	refuse(&f);
	api_expect(&f, PICTURE, NULL, 503, "nothing there");
	ck_assert(!f.yes.errand.wake);
	api_expect(&f, "GET " VMI "b/vnc/screenshot", NULL, 404, "\\\"b\\\" not found");
	create(&f, "c", "autoattachGraphicsDevice: false");
	api_expect(&f, "GET " VMI "c/vnc/screenshot", NULL, 400, "No graphics devices are present");
	api_fixture_stop(&f);
}
END_TEST

/* The guest's end of the next forward. */
static void listen_in(struct api_fixture *f, struct guest *g)
{
	int pair[2];

	*g = (struct guest){ 0 };
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	f->yes.fd = pair[0];
	g->fd = pair[1];
}

START_TEST(a_port)
{
	struct api_fixture f;
	struct client c[2];
	struct guest g[2];

	start(&f);
	for (int i = 0; i < 2; i++) {
		listen_in(&f, &g[i]);
		stream_attach(&c[i], &f, i ? VM "a/portforward/8080/tcp" : VMI "a/portforward/22");
		ck_assert(f.yes.errand.kind == OP_FORWARD);
		ck_assert_uint_eq(f.yes.errand.port, i ? 8080 : 22);
	}
	for (int i = 0; i < 2; i++) { /* side by side */
		stream_send(&c[i], 2, "who?", 4);
		guest_expect(&f, &g[i], "who?");
		ck_assert_int_eq(write(g[i].fd, "SSH-2.0", 7), 7);
		ck_assert(client_sees(&c[i], "\x82\x07SSH-2.0"));
	}
	close(g[0].fd);
	ck_assert(client_sees(&c[0], "\x03\xe8the guest has closed the connection"));
	client_close(&c[1]);
	guest_expect(&f, &g[1], "");
	close(g[1].fd);
	client_close(&c[0]);
	api_fixture_stop(&f);
}
END_TEST

START_TEST(which_port_is_none)
{
	struct api_fixture f;
	static const char *const bad[] = { "0", "65536", "70000000000", "x", "-1", "22x", "+22" };

	start(&f);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		autofree char *path = xasprintf(VMI "a/portforward/%s", bad[i]);

		expect_refusal(&f, path, 400, "between 1 and 65535");
	}
	expect_refusal(&f, VMI "a/portforward/53/udp", 400, "'udp' cannot be forwarded");
	expect_refusal(&f, VMI "b/portforward/22", 404, "virtualmachineinstances.kubevirt.io");
	expect_refusal(&f, VM "b/portforward/22", 404, "virtualmachines.kubevirt.io");
	api_expect(&f, "GET " VMI "a/portforward/22", NULL, 400, "a port is a websocket");
	refuse(&f);
	expect_refusal(&f, VMI "a/portforward/22", 503, "nothing there");
	create(&f, "c", "autoattachPodInterface: false");
	expect_refusal(&f, VMI "c/portforward/22", 400, "no network interfaces are present");
	api_expect(&f, "POST " NS "/virtualmachines", api_vm("d", "Halted"), 201, NULL);
	expect_refusal(&f, VM "d/portforward/22", 409, "VMI is not started");
	api_expect(&f, "PUT " VMI "a/pause", "", 200, NULL);
	expect_refusal(&f, VMI "a/portforward/22", 409, "VMI is paused");
	api_fixture_stop(&f);
}
END_TEST

static bool has_op(void *ctx)
{
	struct api_fixture *f = ctx;

	for (size_t i = 0; i < f->yes.n_ops; i++)
		if (op_kind_lane(f->yes.ops[i].kind) == LANE_ERRAND)
			return true;
	return false;
}

static void ask(struct api_fixture *f, struct client *c)
{
	client_open(c, &f->loop, f->path);
	client_printf(c,
		"GET " VMI "a/portforward/22 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
		"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
		"Sec-WebSocket-Key: " STREAM_KEY "\r\n\r\n");
}

/* Who has left by the time that its port is connected leaves nothing behind. */
START_TEST(nobody_is_there_any_more)
{
	struct api_fixture f;
	struct client c;
	struct guest g;

	start(&f);
	listen_in(&f, &g);
	f.yes.late = true;
	ask(&f, &c);
	ck_assert(loop_until(&f.loop, has_op, &f));
	client_close(&c);
	for (int i = 0; i < 50; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	f.yes.late = false;
	guest_expect(&f, &g, "");
	close(g.fd);
	api_fixture_stop(&f);
}
END_TEST

START_TEST(the_api_ends)
{
	struct api_fixture f;
	struct client c;

	start(&f);
	f.yes.late = true;
	ask(&f, &c);
	ck_assert(loop_until(&f.loop, has_op, &f));
	api_free(f.api);
	f.api = NULL;
	f.yes.late = false; /* its answer comes to nobody */
	refuse(&f);
	for (int i = 0; i < 50; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	api_fixture_stop(&f);
	close(c.fd);
	buf_done(&c.in);
}
END_TEST

Suite *test_api_errand_suite(void);

Suite *test_api_errand_suite(void)
{
	Suite *suite = suite_create("api_errand");
	TCase *tc = tcase_create("errand");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, a_picture);
	tcase_add_test(tc, a_port);
	tcase_add_test(tc, which_port_is_none);
	tcase_add_test(tc, nobody_is_there_any_more);
	tcase_add_test(tc, the_api_ends);
	suite_add_tcase(suite, tc);
	return suite;
}
