/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl proxy: a loopback port that leads to the agent's socket, for clients that speak TCP only.
 * It lives as long as the command does, and has its caller's rights: only connections of this user
 * or of root are accepted, and of their requests only what proxy_filter.h lets pass.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/loopback.h"
#include "cli/options.h"
#include "cli/proxy_filter.h"
#include "cli/relay.h"

#define PORT_DEFAULT 8001 /* kubectl proxy's */
#define LINKS_MAX    256  /* connections at a time; more wait */
#define PIECE_SIZE   16384
#define FLOW_MAX     (256 * 1024) /* bytes that wait in one direction; then it is not read from */

struct flow { /* one direction of a link */
	int from, to;
	struct buf waiting; /* owned */
	bool ended;         /* nothing more comes */
	bool closed;        /* … and the other side was told */
};

struct link {
	int client, agent;
	struct flow up, down;
	struct filter filter;
	/* Nothing more passes; what the client still sends is dropped, so that it reads why. */
	bool refused;
};

struct proxy {
	int listener, signals;
	const char *socket;
	struct link *links[LINKS_MAX]; /* owned */
	size_t n;
};

/* ---- links ----------------------------------------------------------------------------------- */

static void answer_fault(struct link *l, const struct err *err)
{
	autofree char *body =
		xasprintf("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
			  "\"status\":\"Failure\",\"reason\":\"%s\",\"code\":%d,"
			  "\"message\":\"vmactl proxy: %s\"}\n",
			err_reason(err->code), err_status(err->code), err->msg);

	buf_printf(&l->down.waiting,
		"HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n"
		"Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
		err_status(err->code), err_reason(err->code), strlen(body), body);
	buf_done(&l->up.waiting);
	l->down.ended = l->refused = true;
}

static void link_add(struct proxy *p, int client)
{
	struct link *l = xcalloc(1, sizeof(*l));
	struct http h = { .fd = -1 };
	struct err err = { .code = ERR_OK };

	http_connect(&h, p->socket, &err);
	l->client = client;
	l->agent = h.fd;
	fcntl(client, F_SETFL, O_NONBLOCK);
	if (l->agent >= 0)
		fcntl(l->agent, F_SETFL, O_NONBLOCK);
	l->up = (struct flow){ .from = client, .to = l->agent };
	l->down = (struct flow){ .from = l->agent, .to = client };
	if (err.code)
		answer_fault(l, &err);
	p->links[p->n++] = l;
}

static void link_free(struct link *l)
{
	close(l->client);
	if (l->agent >= 0)
		close(l->agent);
	buf_done(&l->up.waiting);
	buf_done(&l->down.waiting);
	filter_done(&l->filter);
	free(l);
}

static void take_piece(struct link *l, struct flow *flow, const char *data, size_t len)
{
	struct err err;

	if (l->refused)
		return;
	if (flow == &l->down)
		buf_add(&flow->waiting, data, len);
	else if (filter_feed(&l->filter, data, len, &flow->waiting, &err))
		answer_fault(l, &err);
}

/* False when the connection broke. */
static bool flow_read(struct link *l, struct flow *flow)
{
	char data[PIECE_SIZE];
	ssize_t n = recv(flow->from, data, sizeof(data), 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		flow->ended = true;
	else
		take_piece(l, flow, data, (size_t)n);
	return true;
}

static bool flow_write(struct flow *flow)
{
	struct buf *w = &flow->waiting;
	ssize_t n = send(flow->to, w->data, w->len, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	memmove(w->data, w->data + n, w->len - (size_t)n);
	w->len -= (size_t)n;
	return true;
}

static void flow_close(struct flow *flow)
{
	if (!flow->ended || flow->waiting.len || flow->closed)
		return;
	shutdown(flow->to, SHUT_WR);
	flow->closed = true;
}

static bool flow_wants_input(const struct flow *flow)
{
	return !flow->ended && flow->waiting.len < FLOW_MAX;
}

/* One side of a link: what comes from it flows along `in`, what goes to it along `out`. */
static bool side_step(struct link *l, short revents, struct flow *in, struct flow *out)
{
	bool broken = revents & (POLLERR | POLLNVAL);

	if (revents & (POLLIN | POLLHUP) && flow_wants_input(in))
		broken |= !flow_read(l, in);
	if (revents & POLLOUT && out->waiting.len)
		broken |= !flow_write(out);
	return !broken;
}

/* False once it is over. */
static bool link_step(struct link *l, const struct pollfd *fds)
{
	if (!side_step(l, fds[0].revents, &l->up, &l->down) ||
		!side_step(l, fds[1].revents, &l->down, &l->up))
		return false;
	if (!l->refused)
		flow_close(&l->up);
	flow_close(&l->down);
	return !l->down.closed || (l->refused && !l->up.ended);
}

/* ---- the proxy ------------------------------------------------------------------------------- */

/* A descriptor of which nothing is wanted is left out: its hang-up would be reported without
 * end. */
static struct pollfd poll_of(int fd, const struct flow *in, const struct flow *out)
{
	short events =
		(short)((flow_wants_input(in) ? POLLIN : 0) | (out->waiting.len ? POLLOUT : 0));

	return (struct pollfd){ .fd = events ? fd : -1, .events = events };
}

static void links_poll(struct proxy *p, struct pollfd *fds)
{
	for (size_t i = 0; i < p->n; i++) {
		struct link *l = p->links[i];

		fds[2 * i] = poll_of(l->client, &l->up, &l->down);
		fds[2 * i + 1] = poll_of(l->agent, &l->down, &l->up);
	}
}

static void links_step(struct proxy *p, const struct pollfd *fds)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (link_step(p->links[i], &fds[2 * i]))
			p->links[kept++] = p->links[i];
		else
			link_free(p->links[i]);
	}
	p->n = kept;
}

static void serve(struct proxy *p)
{
	struct pollfd fds[2 + 2 * LINKS_MAX];

	for (;;) {
		size_t n = p->n;
		int client;

		fds[0] = (struct pollfd){ .fd = p->signals, .events = POLLIN };
		fds[1] =
			(struct pollfd){ .fd = n < LINKS_MAX ? p->listener : -1, .events = POLLIN };
		links_poll(p, fds + 2);
		if (poll(fds, 2 + 2 * n, -1) < 0 && errno != EINTR)
			return;
		if (fds[0].revents)
			return;
		links_step(p, fds + 2);
		client = fds[1].revents ? loopback_accept(p->listener) : -1;
		if (client >= 0)
			link_add(p, client);
	}
}

static int run(struct cli *cli, struct fault *fault)
{
	struct proxy p = { .listener = -1, .socket = client_socket(cli) };
	int64_t wanted = cli->args.port < 0 ? PORT_DEFAULT : cli->args.port;
	uint16_t port = 0;
	int ret;

	if (cli->args.n_names)
		return cli_usage(cli, fault, "it takes no names");
	p.signals = relay_signals(0);
	ret = loopback_listen(wanted, "choose another with --port, or any with --port 0",
		&p.listener, &port, fault);
	if (!ret) {
		printf("Starting to serve on 127.0.0.1:%u\n", port);
		fprintf(stderr, "Try: kubectl --server http://127.0.0.1:%u get vms -A\n", port);
		fflush(stdout);
		serve(&p);
	}
	for (size_t i = 0; i < p.n; i++)
		link_free(p.links[i]);
	close(p.signals);
	close(p.listener);
	return ret;
}

const struct command command_proxy = {
	.name = "proxy",
	.synopsis = "[--port N]",
	.summary = "let kubectl and virtctl in through a port of this machine",
	.details =
		"The port (8001, unless --port is given) is on the loopback address only and open as long as the command runs (end it with Ctrl+C).\n"
		"Only you and root can connect to it; whoever does has your rights. Web pages are refused.\n"
		"\n"
		"  vmactl proxy &\n"
		"  kubectl --server http://127.0.0.1:8001 get vms",
	.options = TAKES(PORT),
	.run = run,
};
