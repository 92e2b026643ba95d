/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl port-forward: loopback ports of this machine that lead to ports of a guest, as
 * long as the command runs. Each connection is a child with a websocket of its own, so that
 * none waits for another.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/loopback.h"
#include "cli/options.h"
#include "cli/relay.h"

#define PROTOCOL     "plain.kubevirt.io"
#define FORWARDS_MAX 32  /* ports of one command */
#define CHILDREN_MAX 256 /* connections at a time; more wait */
#define DRAIN_S      10  /* of silence after one side has closed its half */
#define PORT_HINT    "choose another: LOCAL:REMOTE, where 0 is any that is free"

struct forward {
	int64_t local, remote;
	int listener;
};

struct session {
	struct cli *cli;
	const struct resource *resource;
	char *ns, *name; /* owned */
	struct forward forwards[FORWARDS_MAX];
	size_t n;
	size_t children;
};

/* ---- what was typed -------------------------------------------------------------------------- */

/* TYPE/NAME[/NAMESPACE] */
static int read_target(struct session *s, const char *word, struct fault *fault)
{
	const char *slash = strchr(word, '/'), *second = slash ? strchr(slash + 1, '/') : NULL;
	autofree char *type = slash ? xstrndup(word, (size_t)(slash - word)) : NULL;

	s->resource = type ? resource_find(type) : NULL;
	if (s->resource != resource_vm && s->resource != resource_vmi)
		return cli_usage(s->cli, fault, "'%s': name a vm/NAME or a vmi/NAME", word);
	s->name = second ? xstrndup(slash + 1, (size_t)(second - slash - 1)) : xstrdup(slash + 1);
	s->ns = xstrdup(second ? second + 1 : cli_namespace(s->cli));
	if (!*s->name || !*s->ns || strchr(s->ns, '/'))
		return cli_usage(s->cli, fault, "'%s' is no TYPE/NAME[/NAMESPACE]", word);
	return 0;
}

static bool read_number(const char *text, size_t len, int64_t least, int64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || *ret > UINT16_MAX)
			return false;
		*ret = *ret * 10 + text[i] - '0';
	}
	return len && *ret >= least && *ret <= UINT16_MAX;
}

/* [tcp/]PORT or [tcp/]LOCAL:REMOTE */
static int read_port(struct session *s, const char *word, struct fault *fault)
{
	const char *ports = starts_with(word, "tcp/") ? word + 4 : word, *colon;
	struct forward *f = &s->forwards[s->n];

	if (starts_with(word, "udp/"))
		return cli_usage(s->cli, fault, "'%s': only tcp is forwarded in this version",
			word);
	if (s->n == FORWARDS_MAX)
		return cli_usage(s->cli, fault, "more than %d ports", FORWARDS_MAX);
	colon = strchr(ports, ':');
	f->listener = -1;
	if (!read_number(ports, colon ? (size_t)(colon - ports) : strlen(ports), colon ? 0 : 1,
		    &f->local) ||
		(colon && !read_number(colon + 1, strlen(colon + 1), 1, &f->remote)))
		return cli_usage(s->cli, fault, "'%s' is no port, LOCAL:REMOTE or tcp/LOCAL:REMOTE",
			word);
	if (!colon)
		f->remote = f->local;
	s->n++;
	return 0;
}

static int read_all(struct session *s, struct fault *fault)
{
	const struct args *args = &s->cli->args;
	int ret = 0;

	if (args->n_names < 2)
		return cli_usage(s->cli, fault, "name a vm or vmi, and ports");
	ret = read_target(s, args->names[0], fault);
	for (size_t i = 1; !ret && i < args->n_names; i++)
		ret = read_port(s, args->names[i], fault);
	if (!ret && args->stdio && s->n > 1)
		ret = cli_usage(s->cli, fault, "--stdio takes one port");
	return ret;
}

/* ---- one connection -------------------------------------------------------------------------- */

static int converse(const struct session *s, const struct forward *f, int in, int out,
	struct fault *fault)
{
	autofree char *object = resource_path(s->resource, s->ns, s->name);
	autofree char *path = xasprintf("/apis/subresources.kubevirt.io/v1%s/portforward/%lld/tcp",
		object + strlen(s->resource->api), (long long)f->remote);
	struct relay relay = { .in = in,
		.out = out,
		.signals = relay_signals(0),
		.escape = -1,
		.drain = SECONDS(DRAIN_S),
		.until_quiet = true };
	int ret = wsclient_begin(s->cli, path, PROTOCOL, &relay.ws, fault);

	if (ret)
		return ret;
	relay_run(&relay);
	if (!relay.left && !wsclient_was_closed_well(relay.ws))
		ret = fault_set(fault, EXIT_ERROR, "the connection to port %lld was closed: %s",
			(long long)f->remote,
			*wsclient_reason(relay.ws) ? wsclient_reason(relay.ws)
						   : "the agent ended it");
	wsclient_free(relay.ws);
	close(relay.signals);
	return ret;
}

/* The child ends with its command. */
static void start_child(struct session *s, const struct forward *f, int client)
{
	struct fault fault = { 0 };
	pid_t parent = getpid(), child = fork();

	if (child > 0)
		s->children++;
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (size_t i = 0; i < s->n; i++)
		close(s->forwards[i].listener);
	if (getppid() == parent && converse(s, f, client, client, &fault))
		cli_report(s->cli, &fault);
	_exit(0);
}

/* ---- the ports ------------------------------------------------------------------------------- */

/* False when a signal says that it is over. */
static bool take_signal(struct session *s, int signals)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info) &&
		info.ssi_signo != SIGCHLD)
		return false;
	while (s->children && waitpid(-1, NULL, WNOHANG) > 0)
		s->children--;
	return true;
}

static void serve(struct session *s)
{
	int signals = relay_signals(SIGCHLD);
	struct pollfd fds[1 + FORWARDS_MAX];

	for (;;) {
		fds[0] = (struct pollfd){ .fd = signals, .events = POLLIN };
		for (size_t i = 0; i < s->n; i++)
			fds[1 + i] = (struct pollfd){ .fd = s->children < CHILDREN_MAX
					? s->forwards[i].listener
					: -1,
				.events = POLLIN };
		if (poll(fds, 1 + s->n, -1) < 0 && errno != EINTR)
			return;
		if (fds[0].revents && !take_signal(s, signals))
			return;
		for (size_t i = 0; i < s->n; i++) {
			int client = fds[1 + i].revents ? loopback_accept(s->forwards[i].listener)
							: -1;

			if (client < 0)
				continue;
			start_child(s, &s->forwards[i], client);
			close(client);
		}
	}
}

static int listen_all(struct session *s, struct fault *fault)
{
	for (size_t i = 0; i < s->n; i++) {
		struct forward *f = &s->forwards[i];
		uint16_t port;

		if (loopback_listen(f->local, PORT_HINT, &f->listener, &port, fault))
			return -1;
		printf("forwarding tcp 127.0.0.1:%u to %lld\n", port, (long long)f->remote);
	}
	fflush(stdout);
	return 0;
}

static int run(struct cli *cli, struct fault *fault)
{
	struct session s = { .cli = cli };
	int ret = read_all(&s, fault);

	if (!ret && cli->args.stdio) {
		ret = converse(&s, &s.forwards[0], STDIN_FILENO, STDOUT_FILENO, fault);
	} else if (!ret) {
		ret = listen_all(&s, fault);
		if (!ret)
			serve(&s);
	}
	for (size_t i = 0; i < s.n; i++)
		if (s.forwards[i].listener >= 0)
			close(s.forwards[i].listener);
	free(s.ns);
	free(s.name);
	return ret;
}

const struct command command_port_forward = {
	.name = "port-forward",
	.synopsis = "TYPE/NAME[/NAMESPACE] [tcp/]LOCAL[:REMOTE]...",
	.summary = "let ports of this machine lead to ports of a guest",
	.details =
		"The ports are on the loopback address only, for you and root, and open as long as the command runs (end it\n"
		"with Ctrl+C). LOCAL 0 is any that is free; without REMOTE it is the guest's port as well. With --stdio it is\n"
		"standard input and output that lead to the one port:\n"
		"\n"
		"  vmactl port-forward vm/web 8080:80\n"
		"  ssh -o ProxyCommand='vmactl port-forward --stdio vm/web 22' root@web",
	.options = TAKES(STDIO),
	.run = run,
};
