/* SPDX-License-Identifier: Apache-2.0 */
#include "test/lib/peer_ends.h"

#include <arpa/inet.h>
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "test/lib/client.h"

struct end a, b;
uv_loop_t loop;
#define FOLDER "/tmp/vmagent-peers.XXXXXX"

char folder[sizeof(FOLDER)];
struct pki ours;
static struct pki others;

struct now clock_now(void)
{
	struct timespec boot, wall;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &wall);
	return (struct now){ SECONDS(boot.tv_sec) + boot.tv_nsec / 1000000,
		SECONDS(wall.tv_sec) + wall.tv_nsec / 1000000 };
}

static void on_event(void *ctx, const struct peer_event *event)
{
	struct end *e = ctx;

	switch (event->kind) {
	case PEER_UP:
		e->ups++;
		e->hello = *event->hello;
		e->expires = event->expires;
		break;
	case PEER_DOWN:
		e->downs++;
		copy_str(e->why, sizeof(e->why), event->why);
		break;
	case PEER_ONE_WAY:
		e->one_ways++;
		copy_str(e->one_way, sizeof(e->one_way), event->why ? event->why : "");
		break;
	case PEER_CLOCK:
		e->clocks++;
		e->ahead = event->ahead;
		break;
	case PEER_STATUS:
		e->status = *event->status;
		break;
	case PEER_HANDOVER:
		e->handovers++;
		e->handover = *event->handover;
		free(e->document);
		e->document = xstrdup(event->handover->document);
		break;
	case PEER_STRANGER:
		e->strangers++;
		copy_str(e->stranger, sizeof(e->stranger), event->why);
		break;
	case PEER_SELF:
		e->selfs++;
		copy_str(e->self, sizeof(e->self), event->why);
		break;
	}
}

static unsigned any_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, len), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	close(fd);
	return ntohs(at.sin_port);
}

/* Nobody has it, nor will either end. */
unsigned free_port(void)
{
	unsigned port;

	do
		port = any_port();
	while (port == a.port || port == b.port);
	return port;
}

/* Of that name, with the certificate FILE; its peer is called `peer`. */
static void end_init(struct end *e, const char *name, const char *file, const char *peer)
{
	*e = (struct end){ .name = name, .port = free_port() };
	snprintf(e->listen, sizeof(e->listen), "127.0.0.1:%u", e->port);
	snprintf(e->ca, sizeof(e->ca), "%s/ours.ca", folder);
	snprintf(e->cert, sizeof(e->cert), "%s/%s.cert", folder, file);
	snprintf(e->key, sizeof(e->key), "%s/%s.key", folder, file);
	e->peer = (struct peer_config){ .name = (char *)peer, .address = e->to };
	e->options = (struct peer_tls_options){ .loop = &loop,
		.listen = e->listen,
		.peers = &e->peer,
		.n_peers = 1,
		.ca = e->ca,
		.cert = e->cert,
		.key = e->key,
		.hello = { .version_min = PEER_PROTOCOL_MIN,
			.version_max = PEER_PROTOCOL_MAX,
			.agent = "0.1.0",
			.boot_id = "b",
			.status = { 2, 1 << 30, 0, 0 } },
		.clock = clock_now,
		.sink = { e, on_event },
		.limits = { .dial_first = 20, .dial_max = 100, .ping = 50, .per_address = 1000 } };
	copy_str(e->options.hello.node, sizeof(e->options.hello.node), name);
}

void end_start(struct end *e)
{
	struct err err;

	ck_assert_msg(peer_tls_new(&e->options, &e->tls, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(peer_tls_listens_at(e->tls), e->port);
}

void end_stop(struct end *e)
{
	peer_tls_free(take(&e->tls));
	free(take(&e->document));
	uv_run(&loop, UV_RUN_NOWAIT);
}

void pair(const char *file_b, const char *name_b, const char *a_knows)
{
	end_init(&a, "a", "a", a_knows);
	end_init(&b, name_b, file_b, "a");
	strcpy(a.to, b.listen);
	strcpy(b.to, a.listen);
}

void start_both(void)
{
	end_start(&a);
	end_start(&b);
}

bool both_up(void *ctx)
{
	(void)ctx;
	return a.ups && b.ups;
}

static bool says_why(void *ctx)
{
	struct end *e = ctx;

	return strstr(e->why, e->wanted) != NULL;
}

static bool says_stranger(void *ctx)
{
	struct end *e = ctx;

	return strstr(e->stranger, e->wanted) != NULL;
}

void expect_why(struct end *e, const char *words)
{
	e->wanted = words;
	ck_assert_msg(loop_until(&loop, says_why, e), "%s: '%s'", e->name, e->why);
}

void expect_stranger(struct end *e, const char *words)
{
	e->wanted = words;
	ck_assert_msg(loop_until(&loop, says_stranger, e), "%s: '%s'", e->name, e->stranger);
}

void peers_set_up(void)
{
	uv_loop_init(&loop);
	a = b = (struct end){ 0 };
}

void peers_tear_down(void)
{
	peer_tls_free(a.tls);
	peer_tls_free(b.tls);
	free(a.document);
	free(b.document);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
}

void peers_begin(void)
{
	copy_str(folder, sizeof(folder), FOLDER); /* more than one suite begins here */
	ck_assert_ptr_nonnull(mkdtemp(folder));
	pki_init(&ours, folder, "ours");
	pki_init(&others, folder, "others");
	pki_issue(&ours, folder, "a", "a", 20);
	pki_issue(&ours, folder, "b", "b", 20);
	pki_issue(&ours, folder, "old", "b", -1);
	pki_issue(&others, folder, "stranger", "b", 20);
}

void peers_end(void)
{
	static const char *const names[] = { "ours.ca", "others.ca", "a", "b", "old", "stranger",
		"late" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		static const char *const suffixes[] = { "", ".cert", ".key" };

		for (size_t s = 0; s < ARRAY_SIZE(suffixes); s++) {
			autofree char *path = xasprintf("%s/%s%s", folder, names[i], suffixes[s]);

			unlink(path);
		}
	}
	rmdir(folder);
	pki_done(&ours);
	pki_done(&others);
}
