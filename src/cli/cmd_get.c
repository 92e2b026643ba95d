/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl get: objects by name or all of a type, printed once or followed. One object is printed as
 * it is, several are a List, as kubectl prints them, so that scripts find .items.
 */
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/print.h"

struct get {
	struct cli *cli;
	struct printer printer;
	struct jsonpath *sort_by;    /* owned; NULL: as the agent lists them */
	const struct target *target; /* the one in work */
	struct node *found; /* owned list of what all targets gave; for json, yaml, jsonpath */
	bool single;        /* one object was asked for by name: it is no list */
	bool any;
};

static bool wants_list(const struct get *g)
{
	enum format format = g->printer.format;

	return format == FORMAT_JSON || format == FORMAT_YAML || format == FORMAT_JSONPATH;
}

static void show(struct get *g, struct node *items)
{
	const struct resource *resource = g->target->resource;
	bool begun = false;

	if (g->sort_by)
		jsonpath_sort(g->sort_by, items);
	for (size_t i = 0; i < items->n_children; i++) {
		g->any = true;
		if (wants_list(g)) {
			node_append(g->found, node_copy(items->children[i]));
			continue;
		}
		if (!begun)
			printer_begin(&g->printer, resource);
		begun = true;
		printer_add(&g->printer, resource, items->children[i]);
	}
	if (begun)
		printer_flush(&g->printer);
}

static int get_all(struct get *g, struct fault *fault)
{
	struct narrowing narrowing = { .labels = g->cli->args.selector };
	autofree char *path =
		resource_query(g->target->resource, cli_namespace(g->cli), &narrowing);
	struct node *answer = NULL, *items;
	int ret = client_get(g->cli, path, &answer, fault);

	items = node_get(answer, "items");
	if (!ret && items)
		show(g, items);
	node_free(answer);
	return ret;
}

/* Names of one type that follow each other share a table. */
static int get_named(struct get *g, size_t n, struct fault *fault)
{
	struct node *items = node_new(NODE_LIST, NULL);
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++) {
		autofree char *path = resource_path(g->target[i].resource, cli_namespace(g->cli),
			g->target[i].name);
		struct node *answer = NULL;

		ret = client_get(g->cli, path, &answer, fault);
		if (ret && fault->status == 404) {
			if (!g->cli->args.ignore_not_found)
				cli_report(g->cli, fault);
			fault_done(fault);
			ret = 0;
		}
		if (answer)
			node_append(items, answer);
	}
	show(g, items);
	node_free(items);
	return ret;
}

static void print_found(struct get *g)
{
	struct node *list = g->found, *root;

	if (g->single && !list->n_children)
		return;
	if (g->single) {
		printer_add(&g->printer, g->target->resource, list->children[0]);
		return;
	}
	g->found = NULL;
	root = node_new(NODE_MAP, NULL);
	node_set(root, "apiVersion", node_new(NODE_STRING, "v1"));
	node_set(root, "items", list);
	node_set(root, "kind", node_new(NODE_STRING, "List"));
	node_set_path(root, "metadata.resourceVersion", node_new(NODE_STRING, ""));
	printer_add(&g->printer, g->target->resource, root);
	node_free(root);
}

static int get_once(struct get *g, const struct targets *targets, struct fault *fault)
{
	int ret = 0;

	g->single = targets->n == 1 && targets->list[0].name;
	g->printer.with_type = targets->n > 1 &&
		targets->list[0].resource != targets->list[targets->n - 1].resource;
	for (size_t i = 0, n; !ret && i < targets->n; i += n) {
		g->target = &targets->list[i];
		for (n = 1; g->target->name && i + n < targets->n; n++)
			if (targets->list[i + n].resource != g->target->resource)
				break;
		ret = g->target->name ? get_named(g, n, fault) : get_all(g, fault);
	}
	if (!ret && wants_list(g))
		print_found(g);
	fflush(stdout);
	if (ret || g->any || wants_list(g) || targets->list[0].name)
		return ret;
	cli_report_none(g->cli, targets->list[0].resource->of_the_host);
	return 0;
}

static int show_listed(void *ctx, const struct node *items, struct fault *fault)
{
	struct get *g = ctx;

	if (!g->any)
		printer_begin(&g->printer, g->target->resource);
	if (!items->n_children && g->target->name && !g->any)
		return fault_set(fault, EXIT_ERROR, "%s \"%s\" not found",
			g->target->resource->plural, g->target->name);
	for (size_t i = 0; i < items->n_children; i++)
		if ((g->any || !g->cli->args.watch_only))
			printer_add(&g->printer, g->target->resource, items->children[i]);
	g->any = true;
	printer_flush(&g->printer);
	return 0;
}

static int show_changed(void *ctx, const char *type, const struct node *object, struct fault *fault)
{
	struct get *g = ctx;

	(void)type;
	(void)fault;
	printer_add(&g->printer, g->target->resource, object);
	printer_flush(&g->printer);
	return 0;
}

static int get_follow(struct get *g, const struct targets *targets, struct fault *fault)
{
	struct follow follow = { .cli = g->cli,
		.resource = targets->list[0].resource,
		.ns = cli_namespace(g->cli),
		.name = targets->list[0].name,
		.labels = g->cli->args.selector,
		.deadline = NEVER,
		.ctx = g,
		.listed = show_listed,
		.changed = show_changed };

	if (targets->n > 1)
		return cli_usage(g->cli, fault, "only one type, or one object, can be watched");
	g->target = &targets->list[0];
	return follow_run(&follow, fault);
}

static int prepare(struct get *g, struct fault *fault)
{
	struct err err = { 0 };

	if (printer_init(&g->printer, g->cli, fault))
		return -1;
	if (g->cli->args.sort_by && jsonpath_parse_path(g->cli->args.sort_by, &g->sort_by, &err))
		return fault_set(fault, EXIT_USAGE, "%s", err.msg);
	return 0;
}

static int run(struct cli *cli, struct fault *fault)
{
	struct get g = { .cli = cli, .found = node_new(NODE_LIST, NULL) };
	struct targets targets = { 0 };
	int ret = prepare(&g, fault);

	if (!ret)
		ret = targets_parse(cli, &targets, fault);
	if (!ret && cli->args.all_namespaces && targets.list[0].name)
		ret = cli_usage(cli, fault,
			"an object of a name lies in one namespace: leave -A away");
	if (!ret)
		ret = cli->args.watch || cli->args.watch_only ? get_follow(&g, &targets, fault)
							      : get_once(&g, &targets, fault);
	targets_done(&targets);
	printer_done(&g.printer);
	jsonpath_free(g.sort_by);
	node_free(g.found);
	return ret;
}

const struct command command_get = {
	.name = "get",
	.synopsis = "TYPE [NAME...] | TYPE/NAME...",
	.summary = "list objects, or show some by name",
	.details =
		"Types: vm, vmi, events, domains, peers, namespaces; what machines name: secrets, configmaps (cm),\n"
		"persistentvolumeclaims (pvc), datavolumes (dv), network-attachment-definitions (net-attach-def),\n"
		"virtualmachineinstancetypes (vmf), virtualmachineclusterinstancetypes (vmcf),\n"
		"virtualmachinepreferences (vmp), virtualmachineclusterpreferences (vmcp); and, for whoever looks\n"
		"for them, pods (one for each vmi), nodes (this host), kubevirts. all is vm,vmi. They may be\n"
		"joined: vm,vmi. With -w it goes on printing rows as things change.\n"
		"domains are what libvirt has beside the agent's own: foreign ones, and strays, which an\n"
		"agent made for a run that is not known any more. The agent never touches them.\n"
		"\n"
		"  vmactl get vm,vmi\n"
		"  vmactl get vmi web -o jsonpath='{.status.phase}{\"\\n\"}'\n"
		"  vmactl get events --sort-by=.metadata.creationTimestamp",
	.options = TAKES(OUTPUT) | TAKES(ALL_NAMESPACES) | TAKES(WATCH) | TAKES(WATCH_ONLY) |
		TAKES(SELECTOR) | TAKES(SORT_BY) | TAKES(NO_HEADERS) | TAKES(SHOW_LABELS) |
		TAKES(IGNORE_NOT_FOUND),
	.run = run,
};
