/* SPDX-License-Identifier: Apache-2.0 */
/* vmactl help, and --help of every command: made from the tables of commands and options. */
#include "cli/commands.h"
#include "cli/options.h"

static void print_overview(FILE *out)
{
	fprintf(out,
		"vmactl drives vmagent, the virtual machines of this host.\n\n"
		"Usage: vmactl [OPTION...] COMMAND [ARGUMENT...]\n\nCommands:\n");
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(out, "\nOptions of every command:\n");
	options_help(TAKES_ALWAYS, out);
	fprintf(out, "\n'vmactl COMMAND --help' tells more; vmactl(1) tells all.\n");
}

void help_print(const struct command *command, FILE *out)
{
	if (!command) {
		print_overview(out);
		return;
	}
	fprintf(out, "vmactl %s: %s.\n\nUsage: vmactl %s %s\n", command->name, command->summary,
		command->name, command->synopsis);
	if (command->details)
		fprintf(out, "\n%s\n", command->details);
	fprintf(out, "\nOptions:\n");
	options_help(command->options | TAKES_ALWAYS, out);
}

static int run(struct cli *cli, struct fault *fault)
{
	const struct command *command = NULL;

	if (cli->args.n_names) {
		command = command_find(cli->args.names[0]);
		if (!command)
			return fault_set(fault, EXIT_USAGE,
				"there is no command '%s'; see 'vmactl help'", cli->args.names[0]);
	}
	help_print(command, stdout);
	return 0;
}

const struct command command_help = {
	.name = "help",
	.synopsis = "[COMMAND]",
	.summary = "explain vmactl or one of its commands",
	.run = run,
};
