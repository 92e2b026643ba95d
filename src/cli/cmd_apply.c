/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl apply and create: objects from files to the agent. apply keeps kubectl's contract: what
 * was applied last is remembered in the object's annotation, so that a field taken out of the file
 * goes, a field that the file sets wins, and what others added stays.
 */
#include <string.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/merge_apply.h"
#include "cli/offline.h"
#include "cli/options.h"
#include "cli/print.h"

#define CONFLICTS_MAX 5 /* how often a change that came in between is merged anew */

struct apply {
	struct cli *cli;
	struct printer printer;
	const struct resource *resource; /* of the object in work */
	const char *ns, *name;           /* borrowed from it */
	struct node *wanted;             /* owned; what is applied */
};

static bool is_dry(const struct apply *a)
{
	return a->cli->args.dry_run && !streq(a->cli->args.dry_run, "none");
}

static void say(struct apply *a, const char *done, const struct node *object)
{
	const char *how = streq(a->cli->args.dry_run, "server") ? " (server dry run)"
								: " (dry run)";

	if (a->cli->args.output)
		printer_add(&a->printer, a->resource, object ? object : a->wanted);
	else
		printf("%s/%s %s%s\n", a->resource->full, a->name, done, is_dry(a) ? how : "");
	fflush(stdout);
}

/* POST creates, PUT replaces: one request with the object as its body. */
static int send(struct apply *a, const char *method, const struct node *body,
	struct node **ret_answer, struct fault *fault)
{
	const char *name = streq(method, "PUT") ? a->name : NULL;
	autofree char *path = resource_path(a->resource, a->ns, name);
	autofree char *line = xasprintf("%s %s%s", method, path, is_dry(a) ? "?dryRun=All" : "");
	autofree char *json = node_json(body);

	return client_call(a->cli, line, json, ret_answer, fault);
}

static int create(struct apply *a, struct fault *fault)
{
	struct node *answer = NULL;
	int ret = send(a, "POST", a->wanted, &answer, fault);

	if (!ret)
		say(a, "created", answer);
	node_free(answer);
	return ret;
}

static struct node *last_applied(const struct node *live)
{
	const struct node *annotation =
		node_get(node_at(live, "metadata.annotations"), LAST_APPLIED);
	struct node *base = NULL;

	if (annotation && annotation->kind == NODE_STRING)
		json_parse(annotation->text, strlen(annotation->text), &base, NULL);
	return base;
}

static int update(struct apply *a, const struct node *live, struct fault *fault)
{
	struct node *base = last_applied(live), *answer = NULL;
	struct node *merged = merge_apply(base, a->wanted, live);
	int ret = 0;

	if (node_equal(merged, live)) {
		say(a, "unchanged", live);
	} else {
		ret = send(a, "PUT", merged, &answer, fault);
		if (!ret)
			say(a, "configured", answer);
	}
	node_free(base);
	node_free(merged);
	node_free(answer);
	return ret;
}

static int apply_once(struct apply *a, struct fault *fault)
{
	autofree char *path = resource_path(a->resource, a->ns, a->name);
	struct node *live = NULL;
	int ret = client_get(a->cli, path, &live, fault);

	if (!ret)
		ret = update(a, live, fault);
	else if (fault->status == 404)
		ret = (fault_done(fault), create(a, fault));
	node_free(live);
	return ret;
}

static int apply(struct apply *a, struct fault *fault)
{
	int ret = 0;

	for (int i = 0; i < CONFLICTS_MAX; i++) {
		fault_done(fault);
		ret = apply_once(a, fault);
		if (!ret || fault->status != 409)
			break;
	}
	return ret;
}

/* The object as it is sent: its namespace filled in, without what only the agent sets. */
static void set_wanted(struct apply *a, const struct file_object *object)
{
	static const char *const server_set[] = { "uid", "resourceVersion", "generation",
		"creationTimestamp", "deletionTimestamp", "managedFields", "selfLink" };
	struct node *metadata;

	a->wanted = node_copy(object->root);
	node_set(a->wanted, "apiVersion", node_new(NODE_STRING, a->resource->version));
	node_remove(a->wanted, "status");
	if (!a->resource->of_the_host)
		node_set_path(a->wanted, "metadata.namespace", node_new(NODE_STRING, a->ns));
	metadata = node_get(a->wanted, "metadata");
	for (size_t i = 0; i < ARRAY_SIZE(server_set); i++)
		node_remove(metadata, server_set[i]);
	a->name = node_text(a->wanted, "metadata.name");
	if (!a->resource->of_the_host)
		a->ns = node_text(a->wanted, "metadata.namespace");
}

/* Writes what is applied into its own annotation. */
static void remember(struct apply *a)
{
	struct node *metadata = node_get(a->wanted, "metadata");
	struct node *annotations = node_get(metadata, "annotations");
	autofree char *json = NULL, *line = NULL;

	if (!annotations || annotations->kind != NODE_MAP) {
		annotations = node_new(NODE_MAP, NULL);
		node_set(metadata, "annotations", annotations);
	}
	node_remove(annotations, LAST_APPLIED);
	json = node_json(a->wanted);
	line = xasprintf("%s\n", json);
	node_set(annotations, LAST_APPLIED, node_new(NODE_STRING, line));
}

static int work(struct apply *a, const struct file_object *object, bool merge, struct fault *fault)
{
	int ret = 0;

	if (a->cli->args.validate && !offline_check(object->source, object->root)) {
		a->cli->worst = MAX(a->cli->worst, EXIT_ERROR);
		return 0;
	}
	if (file_object_place(a->cli, object, &a->resource, &a->ns, fault))
		return -1;
	set_wanted(a, object);
	if (merge)
		remember(a);
	if (streq(a->cli->args.dry_run, "client"))
		say(a, merge ? "configured" : "created", NULL);
	else
		ret = merge ? apply(a, fault) : create(a, fault);
	node_free(take(&a->wanted));
	return ret;
}

static int apply_files(struct apply *a, bool merge, struct fault *fault)
{
	struct cli *cli = a->cli;
	struct file_objects objects = { 0 };

	if (!cli->args.n_files || cli->args.n_names)
		return cli_usage(cli, fault, "which file? Give -f FILE, -f FOLDER or -f -");
	files_read(cli, cli->args.files, cli->args.n_files, &objects);
	for (size_t i = 0; i < objects.n; i++) {
		if (!work(a, &objects.list[i], merge, fault))
			continue;
		if (fault->exit == EXIT_UNREACHABLE)
			break;
		cli_report(cli, fault);
	}
	file_objects_done(&objects);
	return fault->exit ? -1 : 0;
}

/* It says nothing but its name, so that it needs no file. */
static int create_namespace(struct apply *a, const char *name, struct fault *fault)
{
	int ret = 0;

	a->resource = resource_namespace;
	a->name = name;
	a->wanted = node_new(NODE_MAP, NULL);
	node_set(a->wanted, "apiVersion", node_new(NODE_STRING, a->resource->version));
	node_set(a->wanted, "kind", node_new(NODE_STRING, a->resource->kind));
	node_set_path(a->wanted, "metadata.name", node_new(NODE_STRING, name));
	if (streq(a->cli->args.dry_run, "client"))
		say(a, "created", NULL);
	else
		ret = create(a, fault);
	node_free(take(&a->wanted));
	return ret;
}

static bool names_namespace(const struct args *args)
{
	return !args->n_files && args->n_names == 2 &&
		resource_find(args->names[0]) == resource_namespace;
}

static int run(struct cli *cli, bool merge, struct fault *fault)
{
	struct apply a = { .cli = cli };
	const char *dry = cli->args.dry_run;
	int ret;

	if (dry && !streq(dry, "none") && !streq(dry, "server") && !streq(dry, "client"))
		return cli_usage(cli, fault, "--dry-run takes none, server or client");
	if (printer_init(&a.printer, cli, fault))
		return -1;
	if (!merge && names_namespace(&cli->args))
		ret = create_namespace(&a, cli->args.names[1], fault);
	else
		ret = apply_files(&a, merge, fault);
	printer_done(&a.printer);
	return ret;
}

static int run_apply(struct cli *cli, struct fault *fault)
{
	return run(cli, true, fault);
}

static int run_create(struct cli *cli, struct fault *fault)
{
	return run(cli, false, fault);
}

const struct command command_apply = {
	.name = "apply",
	.synopsis = "-f FILE|FOLDER|-",
	.summary = "create objects from files, or change them to what the files say",
	.details =
		"Fields that a file sets win over changes made since; fields taken out of a file since it\n"
		"was last applied are removed; all others stay. Files are checked first.",
	.options = TAKES(FILE) | TAKES(RECURSIVE) | TAKES(VALIDATE) | TAKES(DRY_RUN) |
		TAKES(OUTPUT),
	.run = run_apply,
};

const struct command command_create = {
	.name = "create",
	.synopsis = "-f FILE|FOLDER|- | namespace NAME",
	.summary = "create objects from files, or a namespace; one that exists is an error",
	.options = TAKES(FILE) | TAKES(RECURSIVE) | TAKES(VALIDATE) | TAKES(DRY_RUN) |
		TAKES(OUTPUT),
	.run = run_create,
};
