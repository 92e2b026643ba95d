/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl vnc: a viewer on this machine looks at the guest's display, through a loopback port that
 * takes one connection. vmactl vnc screenshot: a picture of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/loopback.h"
#include "cli/options.h"
#include "cli/relay.h"

#define PROTOCOL  "plain.kubevirt.io"
#define VIEWER_S  60 /* for a viewer to connect */
#define DRAIN_S   1
#define PORT_HINT "choose another with --port, or leave that away"

static char *subresource(struct cli *cli, const char *name, const char *what)
{
	autofree char *object = resource_path(resource_vmi, cli_namespace(cli), name);

	return xasprintf("/apis/subresources.kubevirt.io/v1%s/%s",
		object + strlen(resource_vmi->api), what);
}

/* ---- a picture ------------------------------------------------------------------------------- */

static int write_file(const char *path, const struct buf *image, struct fault *fault)
{
	bool to_stdout = streq(path, "-");
	FILE *out = to_stdout ? stdout : fopen(path, "we");
	bool written = out && fwrite(image->data, 1, image->len, out) == image->len && !fflush(out);

	if (out && !to_stdout && fclose(out))
		written = false;
	return written
		? 0
		: fault_set(fault, EXIT_ERROR, "cannot write '%s': %s", path, strerror(errno));
}

static int screenshot(struct cli *cli, struct fault *fault)
{
	const struct args *args = &cli->args;
	struct buf image = { 0 };
	autofree char *path = NULL;
	int ret;

	if (args->n_names != 2)
		return cli_usage(cli, fault, "name one VirtualMachineInstance");
	if (args->n_files != 1)
		return cli_usage(cli, fault, "where to? Give one --filename; - is standard output");
	path = subresource(cli, args->names[1],
		args->move_cursor ? "vnc/screenshot?moveCursor=true" : "vnc/screenshot");
	ret = client_fetch(cli, path, &image, fault);
	if (!ret)
		ret = write_file(args->files[0], &image, fault);
	buf_done(&image);
	return ret;
}

/* ---- a viewer -------------------------------------------------------------------------------- */

/* The child is the viewer; it ends with us. */
static int start_viewer(uint16_t port, struct fault *fault)
{
	autofree char *url = xasprintf("vnc://127.0.0.1:%u", port);
	autofree char *display = xasprintf("127.0.0.1::%u", port);
	sigset_t none;
	int failed[2];
	char byte;

	if (pipe2(failed, O_CLOEXEC))
		return fault_set(fault, EXIT_ERROR, "cannot start a viewer: %s", strerror(errno));
	if (fork() == 0) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		execlp("remote-viewer", "remote-viewer", url, NULL);
		execlp("vncviewer", "vncviewer", display, NULL);
		_exit(write(failed[1], "x", 1) == 1 ? 127 : 126);
	}
	close(failed[1]);
	if (read(failed[0], &byte, 1) == 1)
		fault_set(fault, EXIT_ERROR,
			"neither remote-viewer nor vncviewer is here: install one, or give --proxy-only "
			"and connect with what there is");
	close(failed[0]);
	return fault->text.len ? -1 : 0;
}

/* -1 with a fault, or without one after a signal. */
static int await_viewer(int listener, int signals, bool for_ever, struct fault *fault)
{
	msec deadline = for_ever ? NEVER : http_clock() + SECONDS(VIEWER_S);
	struct pollfd fds[] = { { .fd = listener, .events = POLLIN },
		{ .fd = signals, .events = POLLIN } };

	for (;;) {
		msec left = for_ever ? -1 : MAX(deadline - http_clock(), (msec)0);
		int client = -1;

		if (!poll(fds, ARRAY_SIZE(fds), (int)left))
			return fault_set(fault, EXIT_TIMEOUT, "no viewer has connected within %d s",
				VIEWER_S);
		if (fds[1].revents)
			return -1;
		if (fds[0].revents)
			client = loopback_accept(listener);
		if (client >= 0)
			return client;
	}
}

static int show(struct cli *cli, struct wsclient *ws, struct fault *fault)
{
	struct relay relay = { .ws = ws,
		.signals = relay_signals(0),
		.escape = -1,
		.drain = SECONDS(DRAIN_S) };
	int listener = -1, client, ret;
	uint16_t port = 0;

	ret = loopback_listen(MAX(cli->args.port, (int64_t)0), PORT_HINT, &listener, &port, fault);
	if (ret)
		return ret;
	if (cli->args.proxy_only) {
		printf("{\"port\":%u}\n", port);
		fflush(stdout);
	} else {
		ret = start_viewer(port, fault);
	}
	client = ret ? -1 : await_viewer(listener, relay.signals, cli->args.proxy_only, fault);
	close(listener);
	if (client < 0)
		return fault->text.len ? -1 : 0;
	relay.in = relay.out = client;
	relay_run(&relay);
	close(client);
	if (relay.left || wsclient_was_closed_well(ws))
		return 0;
	return fault_set(fault, EXIT_ERROR, "the display was closed: %s",
		*wsclient_reason(ws) ? wsclient_reason(ws) : "the agent ended it");
}

static int run(struct cli *cli, struct fault *fault)
{
	struct targets targets = { 0 };
	struct wsclient *ws = NULL;
	int ret;

	if (cli->args.n_names && streq(cli->args.names[0], "screenshot"))
		return screenshot(cli, fault);
	ret = targets_of(cli, resource_vmi, &targets, fault);
	if (!ret && targets.n > 1)
		ret = cli_usage(cli, fault, "one display at a time");
	if (!ret) {
		autofree char *path = subresource(cli, targets.list[0].name,
			cli->args.preserve_session ? "vnc?preserveSession=true" : "vnc");

		ret = wsclient_begin(cli, path, PROTOCOL, &ws, fault);
	}
	if (!ret)
		ret = show(cli, ws, fault);
	wsclient_free(ws);
	targets_done(&targets);
	return ret;
}

const struct command command_vnc = {
	.name = "vnc",
	.synopsis = "NAME | screenshot NAME -f FILE",
	.summary = "look at a guest's display",
	.details =
		"Starts remote-viewer or vncviewer; with --proxy-only it prints the port for another, which only you and\n"
		"root can connect to. A newcomer displaces the one before, unless --preserve-session is given.\n"
		"screenshot makes a picture (PNG) of the display; -f - is standard output:\n"
		"\n"
		"  vmactl vnc web --proxy-only --port 5900\n"
		"  vmactl vnc screenshot web -f web.png",
	.options = TAKES(FILE) | TAKES(PORT) | TAKES(PROXY_ONLY) | TAKES(PRESERVE_SESSION) |
		TAKES(MOVE_CURSOR),
	.run = run,
};
