/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl migrate-cancel: finds the migration of each VM that has not ended, and deletes
 * it, as virtctl does.
 */
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/options.h"

static bool is_final(const struct node *migration)
{
	const char *phase = node_text(migration, "status.phase");

	return streq(phase, "Succeeded") || streq(phase, "Failed");
}

/* The one that is under way, or NULL. */
static const struct node *active_of(const struct node *list, const char *vm)
{
	const struct node *items = node_get(list, "items");

	for (size_t i = 0; items && i < items->n_children; i++)
		if (streq(node_text(items->children[i], "spec.vmiName"), vm) &&
			!is_final(items->children[i]))
			return items->children[i];
	return NULL;
}

static int cancel(const struct cli *cli, const struct node *list, const char *vm,
	struct fault *fault)
{
	const struct node *migration = active_of(list, vm);
	bool dry = streq(cli->args.dry_run, "server");
	autofree char *path = NULL, *line = NULL;

	if (!migration)
		return fault_set(fault, EXIT_ERROR, "found no migration to cancel for '%s'", vm);
	path = resource_path(resource_find("vmim"), cli_namespace(cli),
		node_text(migration, "metadata.name"));
	line = xasprintf("DELETE %s%s", path, dry ? "?dryRun=All" : "");
	if (client_call(cli, line, NULL, NULL, fault))
		return -1;
	printf("VM %s was scheduled to migrate-cancel%s\n", vm, dry ? " (server dry run)" : "");
	return 0;
}

static int run_migrate_cancel(struct cli *cli, struct fault *fault)
{
	autofree char *path = resource_path(resource_find("vmim"), cli_namespace(cli), NULL);
	struct targets targets = { 0 };
	struct node *list = NULL;
	int ret = targets_of(cli, resource_vm, &targets, fault);

	if (!ret)
		ret = client_get(cli, path, &list, fault);
	for (size_t i = 0; !ret && i < targets.n; i++) {
		ret = cancel(cli, list, targets.list[i].name, fault);
		if (ret && fault->exit != EXIT_UNREACHABLE)
			ret = (cli_report(cli, fault), 0);
	}
	node_free(list);
	targets_done(&targets);
	return ret;
}

const struct command command_migrate_cancel = {
	.name = "migrate-cancel",
	.synopsis = "VM...",
	.summary = "call off the migration of virtual machines",
	.details =
		"Until all of the guest is at the target it stays where it is; from then on it is too late, and the\n"
		"agent says so.",
	.options = TAKES(DRY_RUN),
	.run = run_migrate_cancel,
};
