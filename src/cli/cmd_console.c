/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl console: this terminal becomes the guest's serial console. Without a terminal what is read
 * from standard input is sent, and after its end the guest may still answer for a moment.
 *
 * The terminal is raw meanwhile, so signals are taken through a descriptor: whatever ends the
 * command, the terminal is set back.
 */
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/relay.h"

#define ESCAPE   0x1d /* Ctrl+], which is also Ctrl+5 */
#define PROTOCOL "plain.kubevirt.io"

/* Raw, unless it is none: true, and *saved is how it was. */
static bool make_raw(struct termios *saved)
{
	struct termios raw;

	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, saved))
		return false;
	raw = *saved;
	cfmakeraw(&raw);
	return !tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
}

/* The signals are caught before the terminal changes: whatever ends the command, it is set back. */
static void talk(struct relay *relay, const char *name)
{
	struct termios saved;
	bool raw;

	relay->signals = relay_signals(0);
	raw = make_raw(&saved);
	relay->escape = raw ? ESCAPE : -1;
	if (raw)
		fprintf(stderr,
			"Connected to the console of %s. Press Enter for a prompt, "
			"Ctrl+] or Ctrl+5 to leave it.\r\n",
			name);
	relay_run(relay);
	if (raw)
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved);
	if (relay->signals >= 0)
		close(relay->signals);
	if (raw)
		fprintf(stderr, "\n");
}

static int converse(struct relay *relay, const char *name, struct fault *fault)
{
	const char *reason;

	talk(relay, name);
	if (relay->left)
		return 0;
	reason = wsclient_reason(relay->ws);
	if (!wsclient_was_closed_well(relay->ws))
		return fault_set(fault, EXIT_ERROR, "the console was closed: %s",
			*reason ? reason : "the agent ended it");
	if (*reason)
		fprintf(stderr, "The console was closed: %s\n", reason);
	return 0;
}

static int run(struct cli *cli, struct fault *fault)
{
	struct relay relay = { .in = STDIN_FILENO, .out = STDOUT_FILENO, .drain = cli->args.drain };
	struct targets targets = { 0 };
	int ret = targets_of(cli, resource_vmi, &targets, fault);

	if (!ret && targets.n > 1)
		ret = cli_usage(cli, fault, "one console at a time");
	if (!ret) {
		autofree char *object =
			resource_path(resource_vmi, cli_namespace(cli), targets.list[0].name);
		autofree char *path = xasprintf("/apis/subresources.kubevirt.io/v1%s/console",
			object + strlen(resource_vmi->api));

		ret = wsclient_begin(cli, path, PROTOCOL, &relay.ws, fault);
	}
	if (!ret)
		ret = converse(&relay, targets.list[0].name, fault);
	wsclient_free(relay.ws);
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
