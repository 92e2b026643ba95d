/* SPDX-License-Identifier: Apache-2.0 */
/* vmactl db accept: what does not run here waits no longer for peers that will not answer. */
#include <stdio.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/options.h"

static int run(struct cli *cli, struct fault *fault)
{
	const struct args *args = &cli->args;

	if (args->n_names != 1 || !streq(args->names[0], "accept"))
		return cli_usage(cli, fault, "what? accept");
	if (client_call(cli, "POST /apis/vmagent.io/v1/database/accept", NULL, NULL, fault))
		return -1;
	puts("what does not run here is no longer held");
	return 0;
}

const struct command command_db = {
	.name = "db",
	.synopsis = "accept",
	.summary = "go on with a database that was lost and is filled again",
	.details =
		"After its database was lost the agent fills it again from manifests and domains. What does not\n"
		"run here may run at a peer by now, and is held until each peer has said what it has.\n"
		"accept ends that without them: you vouch that nothing of it was moved to one that is silent.",
	.run = run,
};
