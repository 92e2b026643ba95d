/* SPDX-License-Identifier: Apache-2.0 */
/* vmactl version: its own, and the agent's if it can be asked. */
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/print.h"

static int print_objects(struct cli *cli, struct node *agent, struct fault *fault)
{
	struct node *root = node_new(NODE_MAP, NULL);
	struct printer printer;
	int ret = printer_init(&printer, cli, fault);

	node_set_path(root, "clientVersion.gitVersion", node_new(NODE_STRING, VMAGENT_VERSION));
	if (agent)
		node_set(root, "serverVersion", agent);
	if (!ret)
		printer_add(&printer, resource_vm, root);
	printer_done(&printer);
	node_free(root);
	return ret;
}

static int run(struct cli *cli, struct fault *fault)
{
	struct node *agent = NULL;
	const char *version;

	if (!cli->args.client && client_get(cli, "/version", &agent, fault)) {
		fprintf(stderr, "%s\n", fault->text.data);
		fault_done(fault);
	}
	if (cli->args.output)
		return print_objects(cli, agent, fault);
	printf("Client Version: %s\n", VMAGENT_VERSION);
	version = node_text(agent, "vmagentVersion");
	if (!version)
		version = node_text(agent, "gitVersion");
	if (version)
		printf("Agent Version: %s\n", version);
	node_free(agent);
	return 0;
}

const struct command command_version = {
	.name = "version",
	.synopsis = "",
	.summary = "print the versions of vmactl and of the agent",
	.options = TAKES(CLIENT) | TAKES(OUTPUT),
	.run = run,
};
