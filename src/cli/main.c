/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl, the command line of vmagent: parses what was typed, runs the command and turns its fault
 * into words on standard error and an exit code. It links neither libvirt nor the store: it must
 * start in milliseconds, and it knows the agent only by its API.
 */
#include <errno.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"

static int run(struct cli *cli, int argc, char **argv, struct fault *fault)
{
	if (options_parse(argc - 1, argv + 1, &cli->command, &cli->args, fault))
		return -1;
	if (cli->args.help || argc < 2) {
		help_print(cli->command, stdout);
		return 0;
	}
	if (!cli->command)
		return fault_set(fault, EXIT_USAGE, "no command; see 'vmactl help'");
	return cli->command->run(cli, fault);
}

int main(int argc, char **argv)
{
	struct cli cli = { 0 };
	struct fault fault = { 0 };

	if (run(&cli, argc, argv, &fault))
		cli_report(&cli, &fault);
	if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE) {
		fprintf(stderr, "error: write standard output: %s\n", strerror(errno));
		cli.worst = MAX(cli.worst, EXIT_ERROR);
	}
	free(cli.args.names);
	return (int)cli.worst;
}
