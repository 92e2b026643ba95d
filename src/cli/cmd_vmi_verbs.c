/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl pause, unpause, soft-reboot and reset: subresources of a VMI, which may be named by its
 * VM, as virtctl has it. Whether a verb is allowed is the agent's to say.
 */
#include <string.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/options.h"

#define SUBRESOURCES "/apis/subresources.kubevirt.io/v1"

static bool is_dry(const struct cli *cli)
{
	return streq(cli->args.dry_run, "server");
}

static int put(struct cli *cli, const char *verb, const char *name, struct fault *fault)
{
	autofree char *path = resource_path(resource_vmi, cli_namespace(cli), name);
	autofree char *line =
		xasprintf("PUT %s%s/%s", SUBRESOURCES, path + strlen(resource_vmi->api), verb);
	int ret =
		client_call(cli, line, is_dry(cli) ? "{\"dryRun\":[\"All\"]}" : "{}", NULL, fault);

	if (!ret)
		printf("VMI %s was scheduled to %s%s\n", name, cli->command->name,
			is_dry(cli) ? " (server dry run)" : "");
	if (ret && fault->exit != EXIT_UNREACHABLE)
		ret = (cli_report(cli, fault), 0);
	return ret;
}

/* "web", "vm web db", "vm/web vmi/db": a word alone is a name. */
static int names_of(struct cli *cli, struct targets *ret, struct fault *fault)
{
	const struct args *args = &cli->args;

	if (args->n_names > 1 && resource_find(args->names[0]))
		return targets_parse(cli, ret, fault);
	return targets_of(cli, resource_vmi, ret, fault);
}

static int put_all(struct cli *cli, const char *verb, struct fault *fault)
{
	struct targets targets = { 0 };
	int ret = names_of(cli, &targets, fault);

	for (size_t i = 0; !ret && i < targets.n; i++)
		ret = targets.list[i].resource == resource_event
			? cli_usage(cli, fault, "name a vm or a vmi")
			: put(cli, verb, targets.list[i].name, fault);
	targets_done(&targets);
	return ret;
}

static int run_pause(struct cli *cli, struct fault *fault)
{
	return put_all(cli, "pause", fault);
}

static int run_unpause(struct cli *cli, struct fault *fault)
{
	return put_all(cli, "unpause", fault);
}

static int run_soft_reboot(struct cli *cli, struct fault *fault)
{
	return put_all(cli, "softreboot", fault);
}

static int run_reset(struct cli *cli, struct fault *fault)
{
	return put_all(cli, "reset", fault);
}

#define SYNOPSIS "NAME... | vm|vmi NAME... | TYPE/NAME..."

const struct command command_pause = {
	.name = "pause",
	.synopsis = SYNOPSIS,
	.summary = "let guests stand still",
	.details =
		"The guest keeps its memory and stays paused, also over a restart of the agent, until it is\n"
		"unpaused or stopped. A paused guest that is stopped is killed at once.",
	.options = TAKES(DRY_RUN),
	.run = run_pause,
};

const struct command command_unpause = {
	.name = "unpause",
	.synopsis = SYNOPSIS,
	.summary = "let paused guests go on",
	.details = "Whoever or whatever paused it.",
	.options = TAKES(DRY_RUN),
	.run = run_unpause,
};

const struct command command_soft_reboot = {
	.name = "soft-reboot",
	.synopsis = SYNOPSIS,
	.summary = "ask guests to reboot",
	.details = "By the ACPI power button; the run and its VMI stay the same.",
	.options = TAKES(DRY_RUN),
	.run = run_soft_reboot,
};

const struct command command_reset = {
	.name = "reset",
	.synopsis = SYNOPSIS,
	.summary = "reset guests without asking them",
	.details = "As the reset button does; the run and its VMI stay the same.",
	.options = TAKES(DRY_RUN),
	.run = run_reset,
};
