/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl console: this terminal becomes the guest's serial console. Without a terminal what is read
 * from standard input is sent, and after its end the guest may still answer for a moment.
 *
 * The terminal is raw meanwhile, so signals are taken through a descriptor: whatever ends the
 * command, the terminal is set back.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/wsclient.h"

#define ESCAPE   0x1d /* Ctrl+], which is also Ctrl+5 */
#define PROTOCOL "plain.kubevirt.io"

struct console {
	struct wsclient *ws;
	bool raw; /* the terminal was changed: `saved` is how it was */
	struct termios saved;
	int signals;   /* descriptor of the signals that end us */
	bool reading;  /* standard input has not ended */
	bool left;     /* the user has left, or a signal came */
	msec deadline; /* after the end of the input; NEVER */
	msec drain;
};

static void make_raw(struct console *c)
{
	struct termios raw;

	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &c->saved))
		return;
	raw = c->saved;
	cfmakeraw(&raw);
	c->raw = !tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
}

static void catch_signals(struct console *c)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	c->signals = signalfd(-1, &set, SFD_CLOEXEC);
}

static bool write_all(const struct buf *buf)
{
	size_t at = 0;

	while (at < buf->len) {
		ssize_t n = write(STDOUT_FILENO, buf->data + at, buf->len - at);

		if (n < 0 && errno != EINTR)
			return false;
		at += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static void take_input(struct console *c)
{
	char data[4096];
	ssize_t n = read(STDIN_FILENO, data, sizeof(data));
	const char *escape;

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		c->reading = false;
		c->deadline = http_clock() + c->drain;
		return;
	}
	escape = c->raw ? memchr(data, ESCAPE, (size_t)n) : NULL;
	c->left = escape;
	if (escape)
		n = escape - data;
	if (n)
		wsclient_send(c->ws, data, (size_t)n);
}

/* Moves what can be moved; false once it is over. */
static bool move(struct console *c, const struct pollfd *fds)
{
	struct buf came = { 0 };
	bool open, written;

	if (fds[1].revents)
		take_input(c);
	if (fds[2].revents)
		c->left = true;
	open = wsclient_step(c->ws, &came);
	written = write_all(&came);
	buf_done(&came);
	return open && written && !c->left;
}

static void relay(struct console *c)
{
	struct pollfd fds[3];

	do {
		bool reads = c->reading && !wsclient_is_full(c->ws);
		msec left;

		if (!c->reading && wsclient_events(c->ws) & POLLOUT)
			c->deadline =
				http_clock() + c->drain; /* it counts from the last byte sent */
		left = c->deadline == NEVER ? -1 : MAX(c->deadline - http_clock(), (msec)0);

		fds[0] = (struct pollfd){ .fd = wsclient_fd(c->ws),
			.events = wsclient_events(c->ws) };
		fds[1] = (struct pollfd){ .fd = reads ? STDIN_FILENO : -1, .events = POLLIN };
		fds[2] = (struct pollfd){ .fd = c->signals, .events = POLLIN };
		if (!left ||
			(poll(fds, ARRAY_SIZE(fds), (int)MIN(left, INT32_MAX)) < 0 &&
				errno != EINTR)) {
			c->left = true;
			return;
		}
	} while (move(c, fds));
}

static int converse(struct cli *cli, struct console *c, const char *name, struct fault *fault)
{
	struct buf first = { 0 };
	bool open;

	catch_signals(c);
	make_raw(c);
	if (c->raw)
		fprintf(stderr,
			"Connected to the console of %s. Press Enter for a prompt, "
			"Ctrl+] or Ctrl+5 to leave it.\r\n",
			name);
	open = wsclient_step(c->ws, &first); /* what came with the handshake waits for no poll */
	if (write_all(&first) && open)
		relay(c);
	buf_done(&first);
	if (c->raw)
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &c->saved);
	if (c->signals >= 0)
		close(c->signals);
	if (c->raw)
		fprintf(stderr, "\n");
	if (c->left)
		return 0;
	if (!wsclient_was_closed_well(c->ws))
		return fault_set(fault, EXIT_ERROR, "the console was closed: %s",
			*wsclient_reason(c->ws) ? wsclient_reason(c->ws) : "the agent ended it");
	if (*wsclient_reason(c->ws))
		fprintf(stderr, "The console was closed: %s\n", wsclient_reason(c->ws));
	(void)cli;
	return 0;
}

static int run(struct cli *cli, struct fault *fault)
{
	struct console c = { .signals = -1, .reading = true, .deadline = NEVER };
	struct targets targets = { 0 };
	int ret = targets_of(cli, resource_vmi, &targets, fault);

	c.drain = cli->args.drain;
	if (!ret && targets.n > 1)
		ret = cli_usage(cli, fault, "one console at a time");
	if (!ret) {
		autofree char *object =
			resource_path(resource_vmi, cli_namespace(cli), targets.list[0].name);
		autofree char *path = xasprintf("/apis/subresources.kubevirt.io/v1%s/console",
			object + strlen(resource_vmi->api));

		ret = wsclient_begin(cli, path, PROTOCOL, &c.ws, fault);
	}
	if (!ret)
		ret = converse(cli, &c, targets.list[0].name, fault);
	wsclient_free(c.ws);
	targets_done(&targets);
	return ret;
}

const struct command command_console = {
	.name = "console",
	.synopsis = "NAME",
	.summary = "connect to a guest's serial console",
	.details =
		"Ctrl+] or Ctrl+5 leaves it. Without a terminal, standard input is sent and what the guest says\n"
		"is printed until the input has ended and --drain is over:\n"
		"\n"
		"  echo poweroff | vmactl console web",
	.options = TAKES(DRAIN),
	.run = run,
};
