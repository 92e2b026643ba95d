/* SPDX-License-Identifier: Apache-2.0 */
/* vmactl metrics: the agent's figures, as Prometheus reads them. */
#include <errno.h>
#include <string.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/options.h"

static int run(struct cli *cli, struct fault *fault)
{
	struct buf page = { 0 };
	int ret;

	if (cli->args.n_names)
		return cli_usage(cli, fault, "it takes no names");
	ret = client_fetch(cli, "/metrics", &page, fault);
	if (!ret && page.len && fwrite(page.data, 1, page.len, stdout) != page.len)
		ret = fault_set(fault, EXIT_ERROR, "cannot print it: %s", strerror(errno));
	buf_done(&page);
	return ret;
}

const struct command command_metrics = {
	.name = "metrics",
	.synopsis = "",
	.summary = "print the agent's figures in Prometheus' text format",
	.details =
		"Figures of this node, its guests, its peers and their certificates, and its migrations, as\n"
		"GET /metrics has them. For Prometheus, where nothing may listen on TCP: a timer that writes\n"
		"them into a file for node_exporter's textfile collector, or vmactl proxy.",
	.run = run,
};
