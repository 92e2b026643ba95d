/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl start, stop, restart and migrate: the subresources of a VM, with the bodies and the rules
 * on flags that virtctl has. Whether a verb is allowed is the agent's to say.
 */
#include <string.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/follow_migration.h"
#include "cli/options.h"

#include <vmagent/spec.h>

#define SUBRESOURCES "/apis/subresources.kubevirt.io/v1"

/* Dry run only as an option of the agent's. */
static void add_dry_run(const struct cli *cli, struct node *body)
{
	struct node *list;

	if (!streq(cli->args.dry_run, "server") && !cli->args.check)
		return;
	list = node_new(NODE_LIST, NULL);
	node_append(list, node_new(NODE_STRING, "All"));
	node_set(body, "dryRun", list);
}

/* *ret_answer is owned by the caller; NULL: none. */
static int put(struct cli *cli, const char *name, const char *body, struct node **ret_answer,
	struct fault *fault)
{
	autofree char *path = resource_path(resource_vm, cli_namespace(cli), name);
	autofree char *line = xasprintf("PUT %s%s/%s", SUBRESOURCES,
		path + strlen(resource_vm->api), cli->command->name);

	return client_call(cli, line, body, ret_answer, fault);
}

static void say_done(const struct cli *cli, const char *name, const char *message)
{
	if (cli->args.check)
		printf("VM %s: %s\n", name, message ? message : "it can be moved");
	else
		printf("VM %s was scheduled to %s%s\n", name, cli->command->name,
			streq(cli->args.dry_run, "server") ? " (server dry run)" : "");
}

/* Only where it was asked for, and something moves: an order alone is done once it is taken. */
static bool waits(const struct cli *cli)
{
	return cli->args.wait && cli->args.given & TAKES(WAIT) && !cli->args.check &&
		!streq(cli->args.dry_run, "server");
}

/* Reports each that fails, and goes on with the next. */
static int wait_all(struct cli *cli, const struct targets *targets, size_t n, struct fault *fault)
{
	msec deadline = cli->args.timeout > 0 ? http_clock() + cli->args.timeout : NEVER;
	int ret = 0;

	fflush(stdout);
	for (size_t i = 0; !ret && i < n; i++) {
		ret = follow_migration(cli, targets->list[i].name, deadline, fault);
		if (ret && fault->exit != EXIT_UNREACHABLE)
			ret = (cli_report(cli, fault), 0);
	}
	return ret;
}

static void target_swap(struct target *a, struct target *b)
{
	struct target kept = *a;

	*a = *b;
	*b = kept;
}

/* Asks for each VM, reports what is refused, and owns body. */
static int put_all(struct cli *cli, struct node *body, struct fault *fault)
{
	struct targets targets = { 0 };
	autofree char *json = NULL;
	size_t n_taken = 0; /* they lie at the list's begin */
	int ret = targets_of(cli, resource_vm, &targets, fault);

	add_dry_run(cli, body);
	json = node_json(body);
	node_free(body);
	for (size_t i = 0; !ret && i < targets.n; i++) {
		struct node *answer = NULL;

		ret = put(cli, targets.list[i].name, json, &answer, fault);
		if (!ret) {
			say_done(cli, targets.list[i].name, node_text(answer, "message"));
			target_swap(&targets.list[i], &targets.list[n_taken++]);
		}
		node_free(answer);
		if (ret && fault->exit != EXIT_UNREACHABLE)
			ret = (cli_report(cli, fault), 0);
	}
	if (!ret && waits(cli))
		ret = wait_all(cli, &targets, n_taken, fault);
	targets_done(&targets);
	return ret;
}

static int run_start(struct cli *cli, struct fault *fault)
{
	struct node *body = node_new(NODE_MAP, NULL);

	if (cli->args.paused)
		node_set(body, "paused", node_new(NODE_BOOL, "true"));
	return put_all(cli, body, fault);
}

/* --force and --grace-period only together: neither alone says what is meant, but for
 * ever, which forces nothing. */
static int forced(struct cli *cli, const char *field, struct fault *fault)
{
	bool patient = cli->args.grace == GRACE_FOREVER_S;
	struct node *body;

	if (cli->args.force && patient)
		return cli_usage(cli, fault, "--grace-period=infinity never forces anything");
	if (!patient && cli->args.force != (cli->args.grace >= 0))
		return cli_usage(cli, fault, "--force and --grace-period go together");
	body = node_new(NODE_MAP, NULL);
	if (cli->args.force || patient)
		node_set(body, field, node_new_int(cli->args.grace));
	return put_all(cli, body, fault);
}

static int run_stop(struct cli *cli, struct fault *fault)
{
	return forced(cli, "gracePeriod", fault);
}

static int run_restart(struct cli *cli, struct fault *fault)
{
	return forced(cli, "gracePeriodSeconds", fault);
}

/* As KubeVirt's clients name a node. */
static int run_migrate(struct cli *cli, struct fault *fault)
{
	struct node *body = node_new(NODE_MAP, NULL), *selector;

	if (cli->args.to) {
		selector = node_new(NODE_MAP, NULL);
		node_set(selector, "kubernetes.io/hostname", node_new(NODE_STRING, cli->args.to));
		node_set(body, "addedNodeSelector", selector);
	}
	return put_all(cli, body, fault);
}

const struct command command_start = {
	.name = "start",
	.synopsis = "VM...",
	.summary = "start virtual machines",
	.details =
		"A VM whose run strategy is Halted becomes Always. --paused: this run begins paused, until it\n"
		"is unpaused.",
	.options = TAKES(PAUSED) | TAKES(DRY_RUN),
	.run = run_start,
};

const struct command command_stop = {
	.name = "stop",
	.synopsis = "VM...",
	.summary = "shut virtual machines down",
	.details =
		"The guest is asked to shut down, and killed when its grace period is over. A VM whose run\n"
		"strategy is Always becomes Halted. --force --grace-period=0 kills at once; with\n"
		"--grace-period=infinity it is never killed, however long it takes.",
	.options = TAKES(FORCE) | TAKES(GRACE) | TAKES(DRY_RUN),
	.run = run_stop,
};

const struct command command_restart = {
	.name = "restart",
	.synopsis = "VM...",
	.summary = "stop virtual machines and start them again",
	.details =
		"The new run takes up every change made to the VM since. --force --grace-period=0 does not\n"
		"wait for the guest.",
	.options = TAKES(FORCE) | TAKES(GRACE) | TAKES(DRY_RUN),
	.run = run_restart,
};

const struct command command_migrate = {
	.name = "migrate",
	.synopsis = "VM...",
	.summary = "move running virtual machines to another host",
	.details =
		"The guest goes on while its memory, and those of its disks that are on this host alone, are copied.\n"
		"Without --to it goes to the one of the peers that would take it which has the most memory free.\n"
		"--check moves nothing: it prints all that stands in the way, on this host and on the others,\n"
		"where the files and bridges are looked for that the guest would need.\n"
		"--wait returns only when it has ended, with 1 if it failed, and shows on the way how far it is; when\n"
		"TIME is over (default: for ever), or with Ctrl-C, the migration goes on.\n"
		"It needs 'migrations: {enabled: true}' in the configuration of both agents.",
	.options = TAKES(TO) | TAKES(CHECK) | TAKES(WAIT) | TAKES(TIMEOUT) | TAKES(DRY_RUN),
	.run = run_migrate,
};
