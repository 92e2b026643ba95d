/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of commands, and what every one of them needs: a fault with its words, the namespace in
 * force. A command of its own file appears here and nowhere else.
 */
#include <errno.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"

const struct command *const commands[] = {
#define X(name) &command_##name,
	COMMANDS(X)
#undef X
		NULL,
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (streq(commands[i]->name, name))
			return commands[i];
	return NULL;
}

int fault_set(struct fault *fault, enum exit_code exit, const char *fmt, ...)
{
	autofree char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	fault_done(fault);
	fault->exit = exit;
	buf_printf(&fault->text, "error: %s", words);
	return -1;
}

void fault_done(struct fault *fault)
{
	buf_done(&fault->text);
	*fault = (struct fault){ 0 };
}

void cli_report(struct cli *cli, struct fault *fault)
{
	fflush(stdout);
	if (fault->text.data)
		fprintf(stderr, "%s\n", fault->text.data);
	cli->worst = MAX(cli->worst, fault->exit);
	fault_done(fault);
}

void cli_report_none(const struct cli *cli, bool of_the_host)
{
	fflush(stdout);
	if (of_the_host || !cli_namespace(cli))
		fprintf(stderr, "No resources found\n");
	else
		fprintf(stderr, "No resources found in %s namespace.\n", cli_namespace(cli));
}

const char *cli_namespace(const struct cli *cli)
{
	if (cli->args.all_namespaces)
		return NULL;
	return cli->args.ns ? cli->args.ns : "default";
}

int cli_usage(const struct cli *cli, struct fault *fault, const char *fmt, ...)
{
	autofree char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	return fault_set(fault, EXIT_USAGE, "%s; see 'vmactl %s --help'", words,
		cli->command->name);
}

static int run(struct cli *cli, int argc, char *const *argv, struct fault *fault)
{
	if (options_parse(argc, argv, &cli->command, &cli->args, fault))
		return -1;
	if (cli->args.help || !argc) {
		help_print(cli->command, stdout);
		return 0;
	}
	if (!cli->command)
		return fault_set(fault, EXIT_USAGE, "no command; see 'vmactl help'");
	return cli->command->run(cli, fault);
}

enum exit_code cli_main(int argc, char *const *argv)
{
	struct cli cli = { 0 };
	struct fault fault = { 0 };

	if (run(&cli, argc, argv, &fault))
		cli_report(&cli, &fault);
	fault_done(&fault);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "error: write standard output: %s\n", strerror(errno));
		cli.worst = MAX(cli.worst, EXIT_ERROR);
	}
	free(cli.args.names);
	return cli.worst;
}
