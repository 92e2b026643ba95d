/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl explain: why a machine is as it is. Fetches its objects and events; what they mean is
 * explain.c's. For users of kubectl the word means the fields of a type: those are told by their
 * form, and explained out of the schema's tables.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/events.h"
#include "cli/explain.h"
#include "cli/options.h"

#include "core/schema_explain.h"
#include "core/schema_json.h"

struct asked {            /* what is asked about */
	const char *name; /* borrowed from argv */
	bool vmi;         /* only the run of that name */
};

/* "vm", "vm.spec.template": a path of fields begins with a type and names no object. */
static bool is_field(const char *word)
{
	autofree char *type = xstrndup(word, strcspn(word, "."));

	return resource_find(type) != NULL;
}

/* "web", "vm/web", "vmi/web", "vm web". */
static int parse(struct cli *cli, struct asked *ret, struct fault *fault)
{
	const struct args *args = &cli->args;
	struct targets targets = { 0 };
	int result = 0;

	if (!args->n_names || args->n_names > 2)
		return cli_usage(cli, fault, "name one VM: explain NAME");
	if (args->n_names == 1 && !strchr(args->names[0], '/')) {
		ret->name = args->names[0];
		return 0;
	}
	result = targets_parse(cli, &targets, fault);
	if (!result && (targets.n != 1 || targets.list[0].resource == resource_event))
		result = cli_usage(cli, fault, "name one VM: explain vm/NAME");
	if (!result) {
		ret->vmi = targets.list[0].resource == resource_vmi;
		ret->name = args->names[args->n_names - 1];
		if (strchr(ret->name, '/'))
			ret->name = strchr(ret->name, '/') + 1;
	}
	targets_done(&targets);
	return result;
}

/* An object that is not there is no fault here. */
static int get_one(struct cli *cli, const struct resource *resource, const char *name,
	struct node **ret, struct fault *fault)
{
	autofree char *path = resource_path(resource, cli_namespace(cli), name);
	int result = client_get(cli, path, ret, fault);

	if (result && fault->status == 404) {
		fault_done(fault);
		result = 0;
	}
	return result;
}

/* Whether the agent can do its work at all, in its own words. */
static int get_trouble(struct cli *cli, char **ret, struct fault *fault)
{
	int result = client_call(cli, "GET /healthz", NULL, NULL, fault);

	if (result && fault->status == 503) {
		const char *words = strstr(fault->text.data, "not healthy: ");

		*ret = words ? xstrdup(words + strlen("not healthy: ")) : NULL;
		fault_done(fault);
		result = 0;
	}
	return result;
}

static int print(struct cli *cli, const struct node *explanation, struct fault *fault)
{
	struct buf text = { 0 };
	struct printer printer;
	int ret = printer_init(&printer, cli, fault);

	if (!ret && cli->args.output) {
		printer_add(&printer, resource_vm, explanation);
		printer_flush(&printer);
	} else if (!ret) {
		explain_print(explanation, &text);
		fputs(text.data, stdout);
	}
	buf_done(&text);
	printer_done(&printer);
	return ret;
}

static int tell(struct cli *cli, const struct story *story, struct fault *fault)
{
	struct node *explanation;
	int ret;

	if (!story->vm && !story->vmi && !story->events->n_children)
		return fault_set(fault, EXIT_ERROR,
			"there is no VM '%s/%s', and no event tells of one", story->ns,
			story->name);
	explanation = explain(story);
	ret = print(cli, explanation, fault);
	node_free(explanation);
	return ret;
}

static int explain_object(struct cli *cli, struct fault *fault)
{
	struct node *vm = NULL, *vmi = NULL, *events = NULL;
	autofree char *trouble = NULL;
	struct asked asked = { 0 };
	struct target target = { 0 };
	int ret = parse(cli, &asked, fault);

	target.resource = asked.vmi ? resource_vmi : resource_vm;
	target.name = (char *)asked.name;
	if (!ret && !asked.vmi)
		ret = get_one(cli, resource_vm, asked.name, &vm, fault);
	if (!ret)
		ret = get_one(cli, resource_vmi, asked.name, &vmi, fault);
	if (!ret)
		ret = get_trouble(cli, &trouble, fault);
	if (!ret)
		ret = events_get(cli, &target, &events, fault);
	if (!ret) {
		struct story story = { cli_namespace(cli), asked.name, vm, vmi, events, trouble,
			SECONDS(time(NULL)) };

		ret = tell(cli, &story, fault);
	}
	node_free(vm);
	node_free(vmi);
	node_free(events);
	return ret;
}

static int print_schema(struct cli *cli, const struct resource *resource, struct fault *fault)
{
	enum object_kind kind;
	struct node *schema;
	int ret;

	if (!object_kind_parse(resource->kind, &kind))
		return cli_usage(cli, fault, "there is no schema of it");
	schema = schema_json_document(kind);
	ret = print(cli, schema, fault);
	node_free(schema);
	return ret;
}

/* Of the tables that are built in, so without an agent. */
static int explain_field(struct cli *cli, const char *word, struct fault *fault)
{
	autofree char *type = xstrndup(word, strcspn(word, "."));
	const struct resource *resource = resource_find(type);
	const struct schema_kind *known = schema_kind(resource->kind);
	const char *path = word + strlen(type);
	struct buf text = { 0 };
	struct err err = { 0 };

	if (cli->args.output && !*path)
		return print_schema(cli, resource, fault);
	if (cli->args.output)
		return cli_usage(cli, fault, "-o is for a whole type: explain vm -o json");
	if (!known || known->scope == SCOPE_MAX)
		return fault_set(fault, EXIT_USAGE,
			"the fields of '%s' are not explained here, those of vm, vmi, vmf and vmp are",
			type);
	if (schema_explain(known->scope, path + (*path == '.'), &text, &err))
		return fault_set(fault, EXIT_ERROR, "%s: %s", word, err.msg);
	printf("%s: %s", word, text.data);
	buf_done(&text);
	return 0;
}

static int run(struct cli *cli, struct fault *fault)
{
	if (cli->args.n_names == 1 && !strchr(cli->args.names[0], '/') &&
		is_field(cli->args.names[0]))
		return explain_field(cli, cli->args.names[0], fault);
	return explain_object(cli, fault);
}

const struct command command_explain = {
	.name = "explain",
	.synopsis = "NAME | vm/NAME | vmi/NAME | vm.FIELD...",
	.summary = "tell why a VM is as it is, or what a field of a manifest means",
	.details =
		"What is wanted and what is; what happened, who did it and what libvirt says; QEMU's last words\n"
		"where it ended without need. A VM that was deleted is explained for as long as its events are kept.\n"
		"A path of fields, such as vm.spec.template.spec.domain.cpu, is told of without an agent: what may stand\n"
		"there, its default, and what of it this version does not do. So are those of a vmi, an instancetype (vmf)\n"
		"and a preference (vmp); with -o json a whole type is a JSON Schema, for editors. For a VM called vm:\n"
		"explain vm/vm.",
	.options = TAKES(OUTPUT),
	.run = run,
};
