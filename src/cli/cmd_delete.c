/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl delete: by name, by file, by label or all of a type; then waits until each object is gone.
 * An object that is back under the same name with another UID counts as gone.
 */
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/options.h"

#include <vmagent/spec.h>

struct victim {
	const struct resource *resource;
	char *ns, *name; /* owned */
	char *uid;       /* owned or NULL */
};

struct deletion {
	struct cli *cli;
	char *body;          /* owned; DeleteOptions */
	struct victim *list; /* owned; those whose deletion was accepted */
	size_t n;
	struct victim *awaited;
};

static const char *policy_of(const char *cascade)
{
	static const char *const names[][2] = { { "background", "Background" },
		{ "foreground", "Foreground" }, { "orphan", "Orphan" }, { "true", "Background" },
		{ "false", "Orphan" } };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (streq(cascade, names[i][0]))
			return names[i][1];
	return NULL;
}

/* kubectl's rules: only --force kills at once, so that a lone 0 is a 1. */
static int64_t grace_of(const struct args *args)
{
	if (args->force)
		return 0;
	return args->now || args->grace == 0 ? 1 : args->grace;
}

static int check_args(struct deletion *d, struct fault *fault)
{
	const struct args *args = &d->cli->args;

	if (args->now && args->grace != GRACE_UNSET)
		return cli_usage(d->cli, fault, "--now and --grace-period exclude each other");
	if (args->force && (args->now || args->grace > 0))
		return cli_usage(d->cli, fault,
			"--force kills at once: it goes with --grace-period=0 or none");
	if (args->cascade && !policy_of(args->cascade))
		return cli_usage(d->cli, fault, "--cascade takes background, foreground or orphan");
	return 0;
}

static void make_body(struct deletion *d)
{
	const struct args *args = &d->cli->args;
	int64_t grace = grace_of(args);
	struct node *root = node_new(NODE_MAP, NULL);

	node_set(root, "kind", node_new(NODE_STRING, "DeleteOptions"));
	node_set(root, "apiVersion", node_new(NODE_STRING, "v1"));
	if (grace >= 0)
		node_set(root, "gracePeriodSeconds", node_new_int(grace));
	if (args->cascade)
		node_set(root, "propagationPolicy",
			node_new(NODE_STRING, policy_of(args->cascade)));
	d->body = node_json(root);
	node_free(root);
}

/* The answer is the object as it is now, or a Status that names it. */
static void remember(struct deletion *d, const struct victim *victim, const struct node *answer)
{
	const char *uid = node_text(answer, "metadata.uid");

	if (!uid)
		uid = node_text(answer, "details.uid");
	d->list = xrealloc_array(d->list, d->n + 1, sizeof(*d->list));
	d->list[d->n++] = (struct victim){ .resource = victim->resource,
		.ns = xstrdup(victim->ns),
		.name = xstrdup(victim->name),
		.uid = xstrdup(uid) };
}

static int delete (struct deletion *d, const struct victim *victim, struct fault *fault)
{
	autofree char *path = resource_path(victim->resource, victim->ns, victim->name);
	bool dry = streq(d->cli->args.dry_run, "server");
	autofree char *line = xasprintf("DELETE %s%s", path, dry ? "?dryRun=All" : "");
	struct node *answer = NULL;
	int ret = client_call(d->cli, line, d->body, &answer, fault);

	if (ret && fault->status == 404 && d->cli->args.ignore_not_found) {
		fault_done(fault);
		return 0;
	}
	if (!ret) {
		printf("%s \"%s\" deleted%s\n", victim->resource->full, victim->name,
			dry ? " (server dry run)" : "");
		fflush(stdout);
		if (!dry)
			remember(d, victim, answer);
	}
	node_free(answer);
	return ret;
}

/* What cannot be deleted is reported and the others go on; without an agent there is no point. */
static int delete_next(struct deletion *d, const struct victim *victim, struct fault *fault)
{
	if (!delete (d, victim, fault))
		return 0;
	if (fault->exit == EXIT_UNREACHABLE)
		return -1;
	cli_report(d->cli, fault);
	return 0;
}

static int delete_matching(struct deletion *d, const struct resource *resource, struct fault *fault)
{
	const struct args *args = &d->cli->args;
	struct narrowing narrowing = { .labels = args->selector };
	autofree char *path = resource_query(resource, cli_namespace(d->cli), &narrowing);
	struct node *answer = NULL, *items;
	int ret = 0;

	if (!args->all && !args->selector)
		return cli_usage(d->cli, fault, "which? Give names, -l SELECTOR or --all");
	ret = client_get(d->cli, path, &answer, fault);
	items = node_get(answer, "items");
	for (size_t i = 0; !ret && items && i < items->n_children; i++) {
		struct victim victim = { .resource = resource,
			.ns = (char *)node_text(items->children[i], "metadata.namespace"),
			.name = (char *)node_text(items->children[i], "metadata.name") };

		ret = delete_next(d, &victim, fault);
	}
	node_free(answer);
	return ret;
}

static int delete_targets(struct deletion *d, struct fault *fault)
{
	struct targets targets = { 0 };
	int ret = targets_parse(d->cli, &targets, fault);

	for (size_t i = 0; !ret && i < targets.n; i++) {
		struct victim victim = { .resource = targets.list[i].resource,
			.ns = (char *)cli_namespace(d->cli),
			.name = targets.list[i].name };

		ret = victim.name ? delete_next(d, &victim, fault)
				  : delete_matching(d, victim.resource, fault);
	}
	targets_done(&targets);
	return ret;
}

static int delete_files(struct deletion *d, struct fault *fault)
{
	struct file_objects objects = { 0 };
	int ret = 0;

	files_read(d->cli, d->cli->args.files, d->cli->args.n_files, &objects);
	for (size_t i = 0; !ret && i < objects.n; i++) {
		const char *ns;
		struct victim victim = { 0 };

		if (file_object_place(d->cli, &objects.list[i], &victim.resource, &ns, fault)) {
			cli_report(d->cli, fault);
			continue;
		}
		victim.ns = (char *)ns;
		victim.name = (char *)node_text(objects.list[i].root, "metadata.name");
		ret = delete_next(d, &victim, fault);
	}
	file_objects_done(&objects);
	return ret;
}

/* Whether this object is another one than the one that was deleted. */
static bool is_successor(const struct deletion *d, const struct node *object)
{
	const char *uid = node_text(object, "metadata.uid");

	return d->awaited->uid && uid && !streq(uid, d->awaited->uid);
}

static int look(void *ctx, const struct node *items, struct fault *fault)
{
	struct deletion *d = ctx;

	(void)fault;
	return !items->n_children || is_successor(d, items->children[0]);
}

static int changed(void *ctx, const char *type, const struct node *object, struct fault *fault)
{
	struct deletion *d = ctx;

	(void)fault;
	return streq(type, "DELETED") || is_successor(d, object);
}

static int await(struct deletion *d, struct fault *fault)
{
	msec timeout = d->cli->args.timeout;
	msec deadline = timeout > 0 ? http_clock() + timeout : NEVER;
	int ret = 1;

	for (size_t i = 0; ret == 1 && i < d->n; i++) {
		struct follow follow = { .cli = d->cli,
			.resource = d->list[i].resource,
			.ns = d->list[i].ns,
			.name = d->list[i].name,
			.deadline = deadline,
			.ctx = d,
			.listed = look,
			.changed = changed };

		d->awaited = &d->list[i];
		ret = follow_run(&follow, fault);
		if (!ret)
			return fault_set(fault, EXIT_TIMEOUT, "timed out: %s/%s is not gone yet",
				d->list[i].resource->plural, d->list[i].name);
	}
	return ret < 0 ? ret : 0;
}

static void done(struct deletion *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->list[i].ns);
		free(d->list[i].name);
		free(d->list[i].uid);
	}
	free(d->list);
	free(d->body);
}

static int run(struct cli *cli, struct fault *fault)
{
	struct deletion d = { .cli = cli };
	int ret = check_args(&d, fault);

	if (!ret) {
		make_body(&d);
		ret = cli->args.n_files ? delete_files(&d, fault) : delete_targets(&d, fault);
	}
	if (!ret && cli->args.wait)
		ret = await(&d, fault);
	done(&d);
	return ret;
}

const struct command command_delete = {
	.name = "delete",
	.synopsis = "TYPE NAME... | TYPE/NAME... | TYPE --all|-l SELECTOR | -f FILE",
	.summary = "delete objects, and wait until they are gone",
	.details =
		"A VM's guest is shut down first, within its grace period; --force kills it at once. Volumes\n"
		"stay. With --cascade=orphan the guest runs on: its VMI stays, and a VM of that name that is\n"
		"created later adopts it. A VM whose file still lies in the agent's folder stays deleted until\n"
		"the content of that file changes.",
	.options = TAKES(FILE) | TAKES(RECURSIVE) | TAKES(GRACE) | TAKES(NOW) | TAKES(CASCADE) |
		TAKES(WAIT) | TAKES(TIMEOUT) | TAKES(ALL) | TAKES(SELECTOR) | TAKES(FORCE) |
		TAKES(DRY_RUN) | TAKES(ALL_NAMESPACES) | TAKES(IGNORE_NOT_FOUND),
	.run = run,
};
