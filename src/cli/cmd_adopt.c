/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl adopt: a VM for a libvirt domain that somebody else made. What an adoption would come to
 * is asked of the agent and shown first; then, if it is wanted, that same adoption is done.
 */
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/yaml.h"

static int ask(struct cli *cli, const char *digest, struct node **ret, struct fault *fault)
{
	autofree char *path = resource_path(resource_domain, NULL, cli->args.names[0]);
	autofree char *line = xasprintf("POST %s/adopt", path), *json = NULL;
	struct node *body = node_new(NODE_MAP, NULL);

	node_set(body, "namespace", node_new(NODE_STRING, cli_namespace(cli)));
	if (cli->args.name)
		node_set(body, "vmName", node_new(NODE_STRING, cli->args.name));
	if (digest) {
		node_set(body, "digest", node_new(NODE_STRING, digest));
	} else {
		node_set(body, "dryRun", node_new(NODE_LIST, NULL));
		node_append(node_get(body, "dryRun"), node_new(NODE_STRING, "All"));
	}
	json = node_json(body);
	node_free(body);
	return client_call(cli, line, json, ret, fault);
}

static void print_list(FILE *out, const char *title, const struct node *list)
{
	if (!list || !list->n_children)
		return;
	fprintf(out, "%s\n", title);
	for (size_t i = 0; i < list->n_children; i++) {
		struct table line = { .n_columns = 1, .indent = 2 };

		table_add(&line, list->children[i]->text); /* which makes it harmless */
		table_print(&line, out);
		table_done(&line);
	}
}

#define LOSSES "What the manifest cannot say; it is lost at the guest's next start:"

/* Only the manifest on standard output, so that it can become a file. */
static int print_manifest(struct cli *cli, const struct node *review, struct fault *fault)
{
	const struct node *manifest = node_get(review, "manifest");
	struct printer printer;

	if (printer_init(&printer, cli, fault))
		return -1;
	if (manifest)
		printer_add(&printer, resource_vm, manifest);
	printer_done(&printer);
	print_list(stderr, LOSSES, node_get(review, "losses"));
	return 0;
}

static void show(const struct node *review)
{
	struct buf text = { 0 };

	if (node_get(review, "manifest"))
		yaml_print(node_get(review, "manifest"), &text);
	printf("%s\n", text.data ? text.data : "");
	print_list(stdout, LOSSES, node_get(review, "losses"));
	fflush(stdout);
	buf_done(&text);
}

/* 1: yes, 0: no, -1: it cannot be asked. */
static int confirm(struct cli *cli, const struct node *review, struct fault *fault)
{
	bool active = streq(node_get(review, "active")->text, "true");
	char answer[16] = "";

	if (cli->args.yes)
		return 1;
	if (!isatty(STDIN_FILENO))
		return cli_usage(cli, fault,
			"there is no terminal to ask on: look at it with --dry-run, then give --yes");
	printf("\nTake domain '%s' over %s? [y/N] ", cli->args.names[0],
		active ? "as it runs" : "(it is shut off)");
	fflush(stdout);
	if (!fgets(answer, sizeof(answer), stdin) || (answer[0] != 'y' && answer[0] != 'Y')) {
		printf("Nothing was changed.\n");
		return 0;
	}
	return 1;
}

static int adopt(struct cli *cli, const struct node *review, struct fault *fault)
{
	struct node *vm = NULL;
	int ret = ask(cli, node_text(review, "digest"), &vm, fault);
	const char *name = node_text(vm, "metadata.name");

	if (!ret)
		printf("%s/%s adopted\n"
		       "It is kept in the agent's database. To have it as a file of the manifests folder as "
		       "well:\n"
		       "  vmactl get vm %s -n %s -o yaml >/etc/vmagent/%s.yaml\n",
			resource_vm->full, name, name, cli_namespace(cli), name);
	node_free(vm);
	return ret;
}

static int refused(const struct cli *cli, const struct node *review, struct fault *fault)
{
	print_list(stderr, "Why it cannot be adopted:", node_get(review, "reasons"));
	return fault_set(fault, EXIT_ERROR, "domain '%s' cannot be adopted", cli->args.names[0]);
}

static int work(struct cli *cli, const struct node *review, struct fault *fault)
{
	const struct node *reasons = node_get(review, "reasons");
	int ret = 0;

	if (cli->args.output)
		ret = print_manifest(cli, review, fault);
	else
		show(review);
	if (!ret && reasons && reasons->n_children)
		return refused(cli, review, fault);
	if (ret || cli->args.output || (cli->args.dry_run && !streq(cli->args.dry_run, "none")))
		return ret;
	ret = confirm(cli, review, fault);
	return ret == 1 ? adopt(cli, review, fault) : ret;
}

static int run(struct cli *cli, struct fault *fault)
{
	struct node *review = NULL;
	int ret;

	if (cli->args.n_names != 1)
		return cli_usage(cli, fault, "which domain? 'vmactl get domains' lists them");
	ret = ask(cli, NULL, &review, fault);
	if (!ret)
		ret = work(cli, review, fault);
	node_free(review);
	return ret;
}

const struct command command_adopt = {
	.name = "adopt",
	.synopsis = "DOMAIN",
	.summary = "make a VM of a libvirt domain, without a restart",
	.details =
		"The manifest is shown first, and all that it cannot say and that is therefore lost at the\n"
		"guest's next start; then it asks. A running domain goes on running. -o yaml prints only the\n"
		"manifest, and adopts nothing.\n"
		"\n"
		"  vmactl get domains\n"
		"  vmactl adopt db --dry-run\n"
		"  vmactl adopt Old_DB --name db --yes",
	.options = TAKES(NAME) | TAKES(YES) | TAKES(DRY_RUN) | TAKES(OUTPUT),
	.run = run,
};
