/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl wait: until a condition holds, a field has a value, or the object is gone. A VMI that is
 * not there yet is waited for as long as its VM is there, because the one comes after the other.
 */
#include <string.h>
#include <strings.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/jsonpath.h"
#include "cli/options.h"

#define TIMEOUT_DEFAULT SECONDS(30) /* kubectl's */
#define WEEK            SECONDS(7 * 24 * 3600)

enum goal { GOAL_CONDITION, GOAL_FIELD, GOAL_DELETED, GOAL_CREATED };

struct waiting {
	struct cli *cli;
	enum goal goal;
	char *condition;       /* owned; CONDITION */
	char *value;           /* owned; CONDITION, FIELD; NULL: the field is there */
	struct jsonpath *path; /* owned; FIELD */
	const struct target *target;
};

/* condition=NAME[=VALUE] */
static void parse_condition(struct waiting *w, const char *text)
{
	size_t len = strcspn(text, "=");

	w->goal = GOAL_CONDITION;
	w->condition = xstrndup(text, len);
	w->value = xstrdup(text[len] ? text + len + 1 : "True");
}

/* jsonpath=PATH[=VALUE]: the path ends with its braces, or at the first = outside of brackets. */
static int parse_field(struct waiting *w, const char *text, struct err *err)
{
	autofree char *path = NULL;
	size_t len = 0;
	int depth = 0;

	while (text[len] && (depth || text[len] != '=')) {
		depth += !!strchr("{[(", text[len]);
		depth -= !!strchr("}])", text[len]);
		len++;
	}
	w->goal = GOAL_FIELD;
	path = xstrndup(text, len);
	w->value = text[len] ? xstrdup(text + len + 1) : NULL;
	return jsonpath_parse_path(path, &w->path, err);
}

static int parse_goal(struct waiting *w, struct fault *fault)
{
	const char *text = w->cli->args.for_what;
	struct err err = { 0 };

	if (!text)
		return cli_usage(w->cli, fault,
			"for what? Give --for=condition=NAME, --for=jsonpath=PATH=VALUE or --for=delete");
	if (streq(text, "delete"))
		w->goal = GOAL_DELETED;
	else if (streq(text, "create"))
		w->goal = GOAL_CREATED;
	else if (starts_with(text, "condition="))
		parse_condition(w, text + strlen("condition="));
	else if (!starts_with(text, "jsonpath="))
		return cli_usage(w->cli, fault, "--for does not take '%s'", text);
	else if (parse_field(w, text + strlen("jsonpath="), &err))
		return fault_set(fault, EXIT_USAGE, "%s", err.msg);
	return 0;
}

static bool condition_holds(const struct waiting *w, const struct node *object)
{
	const struct node *conditions = node_at(object, "status.conditions");

	for (size_t i = 0; conditions && i < conditions->n_children; i++) {
		const char *type = node_text(conditions->children[i], "type");
		const char *status = node_text(conditions->children[i], "status");

		if (type && !strcasecmp(type, w->condition))
			return status && !strcasecmp(status, w->value);
	}
	return false;
}

static bool field_holds(const struct waiting *w, const struct node *object)
{
	const struct node *found = jsonpath_first(w->path, object);
	struct buf text = { 0 };
	bool ret;

	if (!found)
		return false;
	jsonpath_print_node(found, &text);
	ret = !w->value || streq(text.data, w->value);
	buf_done(&text);
	return ret;
}

static bool holds(const struct waiting *w, const struct node *object)
{
	switch (w->goal) {
	case GOAL_CONDITION:
		return condition_holds(w, object);
	case GOAL_FIELD:
		return field_holds(w, object);
	case GOAL_CREATED:
		return true;
	case GOAL_DELETED:
		return false;
	}
	return false;
}

/* Whether an object that is not there may still come. */
static int may_come(const struct waiting *w, struct fault *fault)
{
	autofree char *path = NULL;

	if (w->goal == GOAL_CREATED)
		return 0;
	if (w->target->resource != resource_vmi)
		return fault_set(fault, EXIT_ERROR, "%s \"%s\" not found",
			w->target->resource->plural, w->target->name);
	path = resource_path(resource_vm, cli_namespace(w->cli), w->target->name);
	if (client_get(w->cli, path, NULL, fault))
		return fault->status == 404
			? fault_set(fault, EXIT_ERROR,
				  "neither a VMI nor a VM named \"%s\" is there", w->target->name)
			: -1;
	return 0;
}

static int listed(void *ctx, const struct node *items, struct fault *fault)
{
	struct waiting *w = ctx;

	if (w->goal == GOAL_DELETED)
		return !items->n_children;
	if (!items->n_children)
		return may_come(w, fault);
	return holds(w, items->children[0]);
}

static int changed(void *ctx, const char *type, const struct node *object, struct fault *fault)
{
	struct waiting *w = ctx;

	(void)fault;
	if (streq(type, "DELETED"))
		return w->goal == GOAL_DELETED;
	return holds(w, object);
}

static int await(struct waiting *w, msec deadline, struct fault *fault)
{
	struct follow follow = { .cli = w->cli,
		.resource = w->target->resource,
		.ns = cli_namespace(w->cli),
		.name = w->target->name,
		.deadline = deadline,
		.ctx = w,
		.listed = listed,
		.changed = changed };
	int ret = follow_run(&follow, fault);

	if (!ret)
		return fault_set(fault, EXIT_TIMEOUT,
			"timed out waiting for the condition on %s/%s", w->target->resource->plural,
			w->target->name);
	if (ret > 0) {
		printf("%s/%s condition met\n", w->target->resource->full, w->target->name);
		fflush(stdout);
	}
	return ret < 0 ? ret : 0;
}

static int run(struct cli *cli, struct fault *fault)
{
	struct waiting w = { .cli = cli };
	struct targets targets = { 0 };
	msec timeout = cli->args.timeout < 0 ? TIMEOUT_DEFAULT : cli->args.timeout;
	msec deadline = http_clock() + (timeout ? timeout : WEEK);
	int ret = parse_goal(&w, fault);

	if (!ret)
		ret = targets_parse(cli, &targets, fault);
	for (size_t i = 0; !ret && i < targets.n; i++) {
		w.target = &targets.list[i];
		if (w.target->name)
			ret = await(&w, deadline, fault);
		else
			ret = cli_usage(cli, fault, "which %s? Name it", w.target->resource->kind);
	}
	targets_done(&targets);
	jsonpath_free(w.path);
	free(w.condition);
	free(w.value);
	return ret;
}

const struct command command_wait = {
	.name = "wait",
	.synopsis = "vm|vmi NAME... | TYPE/NAME... --for=WHAT",
	.summary = "wait until objects are as wanted",
	.details =
		"WHAT is condition=NAME[=VALUE], jsonpath=PATH[=VALUE], create or delete. The time for all\n"
		"of it is 30s, unless --timeout says otherwise; when it is over the exit code is 4.\n"
		"\n"
		"  vmactl wait vmi/web --for=jsonpath='{.status.phase}'=Running --timeout=180s",
	.options = TAKES(FOR) | TAKES(TIMEOUT),
	.run = run,
};
