/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl describe: one object for people: what it is, how it is and why, its conditions, all of its
 * spec and status, and what happened to it.
 */
#include <string.h>
#include <time.h>

#include "core/age.h"
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/events.h"
#include "cli/explain.h"
#include "cli/merge_apply.h"
#include "cli/options.h"
#include "cli/yaml.h"

#define LABEL_WIDTH 15

static void line(const char *label, const char *text)
{
	struct table table = { .n_columns = 1 };

	printf("%-*s", LABEL_WIDTH, label);
	table_add(&table, text); /* which makes it harmless */
	table_print(&table, stdout);
	table_done(&table);
}

static void field(const struct node *object, const char *label, const char *path)
{
	const struct node *found = node_at(object, path);
	struct buf text = { 0 };

	if (!found)
		return;
	jsonpath_print_node(found, &text);
	line(label, text.data);
	buf_done(&text);
}

static void time_field(const struct node *object, const char *label, const char *path)
{
	const char *text = node_text(object, path);
	autofree char *shown = NULL;
	char age[AGE_SIZE];
	msec then;

	if (!text || !time_parse(text, &then))
		return;
	age_format(SECONDS(time(NULL)) - then, age);
	shown = xasprintf("%s (%s ago)", text, age);
	line(label, shown);
}

/* Labels or annotations, one a line; what apply remembers is not shown. */
static void pairs(const struct node *object, const char *label, const char *path)
{
	const struct node *map = node_at(object, path);
	bool any = false;

	for (size_t i = 0; map && i < map->n_children; i++) {
		const struct node *child = map->children[i];
		autofree char *text = NULL;

		if (streq(child->key, LAST_APPLIED))
			continue;
		text = xasprintf("%s=%s", child->key, child->text ? child->text : "");
		line(any ? "" : label, text);
		any = true;
	}
	if (!any)
		line(label, "<none>");
}

static void owners(const struct node *object)
{
	const struct node *list = node_at(object, "metadata.ownerReferences");

	for (size_t i = 0; list && i < list->n_children; i++) {
		const char *kind = node_text(list->children[i], "kind");
		const char *name = node_text(list->children[i], "name");
		autofree char *text = xasprintf("%s/%s", kind ? kind : "", name ? name : "");

		line(i ? "" : "Controlled By:", text);
	}
}

static void why(const struct node *object)
{
	const struct node *conditions = node_at(object, "status.conditions");
	bool any = false;

	field(object, "Reason:", "status.reason");
	field(object, "Why:", "status.migrationState.failureReason");
	for (size_t i = 0; conditions && i < conditions->n_children; i++) {
		const struct node *condition = conditions->children[i];
		const char *reason = node_text(condition, "reason");
		const char *message = node_text(condition, "message");
		autofree char *text = NULL;

		if (!condition_is_trouble(condition) || (!reason && !message))
			continue;
		text = xasprintf("%s%s%s", reason ? reason : "", reason && message ? ": " : "",
			message ? message : "");
		line(any ? "" : "Why:", text);
		any = true;
	}
}

static void conditions(const struct node *object)
{
	static const char *const titles[] = { "TYPE", "STATUS", "REASON", "MESSAGE" };
	static const char *const paths[] = { "type", "status", "reason", "message" };
	const struct node *list = node_at(object, "status.conditions");
	struct table table = { .n_columns = ARRAY_SIZE(titles), .indent = 2 };

	if (!list || !list->n_children)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		table_add(&table, titles[i]);
	for (size_t i = 0; i < list->n_children; i++)
		for (size_t k = 0; k < ARRAY_SIZE(paths); k++)
			table_add(&table, node_text(list->children[i], paths[k]));
	printf("Conditions:\n");
	table_print(&table, stdout);
	table_done(&table);
}

static void section(const struct node *object, const char *title, const char *key)
{
	struct node *part = node_copy(node_get(object, key));
	struct buf text = { 0 };
	char *rest, *at;

	if (part && part->kind == NODE_MAP)
		node_remove(part, "conditions");
	if (part && part->n_children) {
		yaml_print(part, &text);
		printf("%s\n", title);
		for (rest = text.data; rest && (at = strsep(&rest, "\n")) && (*at || rest);)
			printf("  %s\n", at);
	}
	buf_done(&text);
	node_free(part);
}

static int show_events(struct cli *cli, const struct target *target, struct fault *fault)
{
	struct printer printer = { 0 };
	struct node *items = NULL;
	int ret = events_get(cli, target, &items, fault);

	if (!ret && !items->n_children)
		line("Events:", "<none>");
	if (!ret && items->n_children) {
		printf("Events:\n");
		printer_begin(&printer, resource_event);
		printer.table.indent = 2;
		for (size_t i = 0; i < items->n_children; i++)
			printer_add(&printer, resource_event, items->children[i]);
		printer_flush(&printer);
	}
	printer_done(&printer);
	node_free(items);
	return ret;
}

static void show_object(const struct node *object)
{
	field(object, "Name:", "metadata.name");
	field(object, "Namespace:", "metadata.namespace");
	field(object, "Kind:", "kind");
	field(object, "UID:", "metadata.uid");
	pairs(object, "Labels:", "metadata.labels");
	pairs(object, "Annotations:", "metadata.annotations");
	owners(object);
	time_field(object, "Created:", "metadata.creationTimestamp");
	time_field(object, "Deletion:", "metadata.deletionTimestamp");
	field(object, "Run Strategy:", "spec.runStrategy");
	field(object, "Running:", "spec.running");
	field(object, "Status:", "status.printableStatus");
	field(object, "Phase:", "status.phase");
	field(object, "Node:", "status.nodeName");
	field(object, "Node:", "spec.nodeName");
	why(object);
	conditions(object);
	section(object, "Spec:", "spec");
	section(object, "Details:", "status");
}

static int describe(struct cli *cli, const struct target *target, struct fault *fault)
{
	autofree char *path = resource_path(target->resource, cli_namespace(cli), target->name);
	struct node *object = NULL;
	int ret = client_get(cli, path, &object, fault);

	if (!ret) {
		show_object(object);
		ret = show_events(cli, target, fault);
	}
	node_free(object);
	return ret;
}

/* A type without a name means all of them. */
static int describe_all(struct cli *cli, const struct resource *resource, struct fault *fault)
{
	autofree char *path = resource_path(resource, cli_namespace(cli), NULL);
	struct node *answer = NULL, *items;
	int ret = client_get(cli, path, &answer, fault);

	items = node_get(answer, "items");
	for (size_t i = 0; !ret && items && i < items->n_children; i++) {
		struct target target = { .resource = resource,
			.name = (char *)node_text(items->children[i], "metadata.name") };

		printf("%s", i ? "\n\n" : "");
		show_object(items->children[i]);
		ret = show_events(cli, &target, fault);
	}
	if (!ret && (!items || !items->n_children))
		cli_report_none(cli, resource->of_the_host);
	node_free(answer);
	return ret;
}

static int run(struct cli *cli, struct fault *fault)
{
	struct targets targets = { 0 };
	int ret = targets_parse(cli, &targets, fault);

	for (size_t i = 0; !ret && i < targets.n; i++) {
		const struct target *target = &targets.list[i];

		printf("%s", i ? "\n\n" : "");
		ret = target->name ? describe(cli, target, fault)
				   : describe_all(cli, target->resource, fault);
		if (ret && fault->status)
			ret = (cli_report(cli, fault), 0);
	}
	targets_done(&targets);
	return ret;
}

const struct command command_describe = {
	.name = "describe",
	.synopsis = "TYPE [NAME...] | TYPE/NAME...",
	.summary = "tell all about objects: state, cause, spec, events",
	.run = run,
};
