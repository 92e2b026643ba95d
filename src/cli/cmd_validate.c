/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl validate: checks files without an agent, by the very validator that the agent applies to
 * its folder and its API. What only the node can know (whether a path lies below an allowed root,
 * whether a file exists) is not checked here.
 */
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/offline.h"
#include "cli/options.h"

#include "core/manifest.h"

bool offline_check(const char *source, const struct node *root)
{
	static const char *const anywhere[] = { "/", NULL };
	struct policy policy = { .host_disk_roots = anywhere, .default_namespace = "default" };
	struct findings findings = { 0 };
	struct manifest manifest = { 0 };
	int ret = manifest_check(root, &policy, &manifest, &findings);
	const struct findings *said = ret ? &findings : manifest.warnings;
	autofree char *text = said ? findings_text(said, source) : NULL;

	if (text)
		fputs(text, stderr);
	manifest_done(&manifest);
	findings_done(&findings);
	return !ret;
}

static void check(struct cli *cli, const struct file_object *object)
{
	const struct resource *resource;
	struct fault fault = { 0 };
	const char *ns;

	if (streq(node_text(object->root, "kind"), "AgentConfiguration"))
		printf("%s: is the agent's configuration, and checked by vmagent itself\n",
			object->source);
	else if (!offline_check(object->source, object->root))
		cli->worst = MAX(cli->worst, EXIT_ERROR);
	else if (file_object_place(cli, object, &resource, &ns, &fault))
		cli_report(cli, &fault);
	else
		printf("%s: %s/%s is valid\n", object->source, resource->full,
			node_text(object->root, "metadata.name"));
}

static int run(struct cli *cli, struct fault *fault)
{
	struct file_objects objects = { 0 };

	if (!cli->args.n_names && !cli->args.n_files)
		return cli_usage(cli, fault,
			"which file? Give files, folders, or - for standard input");
	files_read(cli, cli->args.names, cli->args.n_names, &objects);
	files_read(cli, cli->args.files, cli->args.n_files, &objects);
	for (size_t i = 0; i < objects.n; i++)
		check(cli, &objects.list[i]);
	file_objects_done(&objects);
	return 0;
}

const struct command command_validate = {
	.name = "validate",
	.synopsis = "FILE|FOLDER|-...",
	.summary = "check manifest files, without an agent",
	.details =
		"What is wrong goes to standard error as FILE:LINE:COLUMN: FIELD: MESSAGE, and the exit code\n"
		"is 1. A field that is accepted without effect is named there too. Nothing is sent anywhere.",
	.options = TAKES(FILE) | TAKES(RECURSIVE),
	.run = run,
};
