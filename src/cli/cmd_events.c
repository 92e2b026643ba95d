/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl events: what happened, oldest first. The events of vm/NAME are those of its VMI as well:
 * for whoever asks why a machine does not run, the two are one story.
 */
#include <string.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/events.h"
#include "cli/options.h"

bool event_concerns(const struct node *event, const struct target *target)
{
	const char *kind = node_text(event, "involvedObject.kind");

	if (!streq(node_text(event, "involvedObject.name"), target->name))
		return false;
	return streq(kind, target->resource->kind) ||
		(target->resource == resource_vm && streq(kind, resource_vmi->kind));
}

int events_get(const struct cli *cli, const struct target *target, struct node **ret_items,
	struct fault *fault)
{
	autofree char *path = resource_path(resource_event, cli_namespace(cli), NULL);
	struct node *answer = NULL, *items;
	struct jsonpath *by_time = NULL;
	int ret = client_get(cli, path, &answer, fault);

	*ret_items = node_new(NODE_LIST, NULL);
	items = node_get(answer, "items");
	for (size_t i = 0; items && i < items->n_children; i++)
		if (!target || event_concerns(items->children[i], target))
			node_append(*ret_items, node_copy(items->children[i]));
	if (!ret && !jsonpath_parse_path(".lastTimestamp", &by_time, NULL))
		jsonpath_sort(by_time, *ret_items);
	jsonpath_free(by_time);
	node_free(answer);
	return ret;
}

struct events {
	struct cli *cli;
	struct printer printer;
	struct targets targets; /* --for: one, or none */
	bool begun;
};

static const struct target *wanted(const struct events *e)
{
	return e->targets.n ? &e->targets.list[0] : NULL;
}

static void show(struct events *e, const struct node *items)
{
	if (!e->begun)
		printer_begin(&e->printer, resource_event);
	e->begun = true;
	for (size_t i = 0; i < items->n_children; i++)
		if (!wanted(e) || event_concerns(items->children[i], wanted(e)))
			printer_add(&e->printer, resource_event, items->children[i]);
	printer_flush(&e->printer);
}

static int show_once(struct events *e, struct fault *fault)
{
	struct node *items = NULL;
	int ret = events_get(e->cli, wanted(e), &items, fault);

	if (!ret && items->n_children)
		show(e, items);
	else if (!ret)
		fprintf(stderr, "No events found.\n");
	node_free(items);
	return ret;
}

static int show_listed(void *ctx, const struct node *items, struct fault *fault)
{
	(void)fault;
	show(ctx, items);
	return 0;
}

static int show_changed(void *ctx, const char *type, const struct node *object, struct fault *fault)
{
	struct events *e = ctx;

	(void)fault;
	if (streq(type, "DELETED") || (wanted(e) && !event_concerns(object, wanted(e))))
		return 0;
	printer_add(&e->printer, resource_event, object);
	printer_flush(&e->printer);
	return 0;
}

static int show_follow(struct events *e, struct fault *fault)
{
	struct follow follow = { .cli = e->cli,
		.resource = resource_event,
		.ns = cli_namespace(e->cli),
		.deadline = NEVER,
		.ctx = e,
		.listed = show_listed,
		.changed = show_changed };

	return follow_run(&follow, fault);
}

static int parse_for(struct events *e, struct fault *fault)
{
	struct cli named = *e->cli;

	if (!named.args.for_what)
		return 0;
	named.args.names = &named.args.for_what;
	named.args.n_names = 1;
	if (!strchr(named.args.for_what, '/'))
		return cli_usage(e->cli, fault, "--for takes TYPE/NAME");
	return targets_parse(&named, &e->targets, fault);
}

static int run(struct cli *cli, struct fault *fault)
{
	struct events e = { .cli = cli };
	int ret = printer_init(&e.printer, cli, fault);

	if (!ret && cli->args.n_names)
		ret = cli_usage(cli, fault, "events takes no names; give --for=vm/NAME");
	if (!ret)
		ret = parse_for(&e, fault);
	if (!ret)
		ret = cli->args.watch ? show_follow(&e, fault) : show_once(&e, fault);
	targets_done(&e.targets);
	printer_done(&e.printer);
	return ret;
}

const struct command command_events = {
	.name = "events",
	.synopsis = "[--for TYPE/NAME]",
	.summary = "show what happened, and why",
	.details =
		"--for=vm/NAME shows the events of the VM and of its runs; --for=vmi/NAME those of its runs.",
	.options = TAKES(ALL_NAMESPACES) | TAKES(WATCH) | TAKES(FOR) | TAKES(OUTPUT) |
		TAKES(NO_HEADERS),
	.run = run,
};
