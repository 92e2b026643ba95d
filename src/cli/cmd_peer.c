/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl peer: certificates for agents that are to reach each other, made and installed without a
 * service, and how they stand. Only `ls` asks the agent.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/peer_pki.h"
#include "core/names.h"

static const char *folder_of(const struct cli *cli)
{
	return cli->args.pki ? cli->args.pki : PKI_FOLDER;
}

static int check_node(const struct cli *cli, const char *name, struct fault *fault)
{
	if (is_dns_subdomain(name))
		return 0;
	return cli_usage(cli, fault, "'%s' cannot be a node's name: lower case, as in DNS", name);
}

/* ---- init ------------------------------------------------------------------------------------ */

static int init(struct cli *cli, struct fault *fault)
{
	char host[NAME_MAX_LEN + 1] = "";
	const char *node = cli->args.name ? cli->args.name : host;

	gethostname(host, sizeof(host) - 1);
	if (cli->args.n_names != 1)
		return cli_usage(cli, fault, "init takes no name but --name");
	if (check_node(cli, node, fault) || peer_pki_init(folder_of(cli), node, fault))
		return -1;
	printf("This node is '%s', and the authority for its peers, in %s.\n"
	       "Whoever has %s/" PKI_CA_KEY
	       " can be any peer: keep it here, readable by root only, with\n"
	       "a copy off this host.\n"
	       "For each other node:  vmactl peer cert NODE, and there: vmactl peer join FILE\n",
		node, folder_of(cli), folder_of(cli));
	return 0;
}

/* ---- cert ------------------------------------------------------------------------------------ */

static int to_output(const struct cli *cli, const struct buf *bundle, struct fault *fault)
{
	if (isatty(STDOUT_FILENO))
		return cli_usage(cli, fault,
			"a key is not shown on a terminal: pipe it into 'vmactl "
			"peer join -' of the other host");
	fwrite(bundle->data, 1, bundle->len, stdout);
	return 0;
}

static int to_file(const char *node, const char *file, const struct buf *bundle,
	struct fault *fault)
{
	if (access(file, F_OK) == 0)
		return fault_set(fault, EXIT_ERROR, "'%s' is there already", file);
	if (peer_pki_write(file, bundle->data, bundle->len, 0600, fault))
		return -1;
	printf("%s: certificate and key of '%s'. Bring it there by a way that nobody else can read,\n"
	       "then: vmactl peer join %s, and remove it on both hosts.\n",
		file, node, file);
	return 0;
}

static int cert(struct cli *cli, struct fault *fault)
{
	const struct args *args = &cli->args;
	const char *node = args->n_names > 1 ? args->names[1] : NULL;
	autofree char *usual = node ? xasprintf("%s.peer.pem", node) : NULL;
	const char *file = args->n_names > 2 ? args->names[2] : usual;
	struct buf bundle = { 0 };
	int ret;

	if (!node || args->n_names > 3)
		return cli_usage(cli, fault, "whose? 'vmactl peer cert NODE [FILE|-]'");
	if (check_node(cli, node, fault))
		return -1;
	ret = peer_pki_issue(folder_of(cli), node, &bundle, fault);
	if (!ret)
		ret = streq(file, "-") ? to_output(cli, &bundle, fault)
				       : to_file(node, file, &bundle, fault);
	if (bundle.data)
		explicit_bzero(bundle.data, bundle.len);
	buf_done(&bundle);
	return ret;
}

/* ---- join ------------------------------------------------------------------------------------ */

static int read_bundle(const char *file, char *text, struct fault *fault)
{
	FILE *in = streq(file, "-") ? stdin : fopen(file, "re");

	if (!in)
		return fault_set(fault, EXIT_ERROR, "cannot read '%s': %s", file, strerror(errno));
	text[fread(text, 1, PKI_TEXT_MAX, in)] = '\0';
	if (in != stdin)
		fclose(in);
	return 0;
}

static int join(struct cli *cli, struct fault *fault)
{
	autofree char *text = xcalloc(1, PKI_TEXT_MAX + 1), *node = NULL;
	int ret;

	if (cli->args.n_names != 2)
		return cli_usage(cli, fault, "which bundle? 'vmactl peer join FILE|-'");
	ret = read_bundle(cli->args.names[1], text, fault);
	if (!ret)
		ret = peer_pki_join(folder_of(cli), text, fault);
	node = peer_pki_bundle_node(text);
	explicit_bzero(text, PKI_TEXT_MAX);
	if (ret)
		return -1;
	printf("This node is '%s': its certificate and key are in %s.\n"
	       "If the host is called otherwise, set nodeName in the configuration; name the peers there.\n",
		node ? node : "?", folder_of(cli));
	return 0;
}

/* ---- ls -------------------------------------------------------------------------------------- */

static int ls(struct cli *cli, struct fault *fault)
{
	cli->args.names[0] = "peers";
	return command_get.run(cli, fault);
}

/* ---- declare-dead ---------------------------------------------------------------------------- */

/* What became of each guest comes as a warning. */
static int declare_dead(struct cli *cli, struct fault *fault)
{
	const struct args *args = &cli->args;
	autofree char *line = NULL;

	if (args->n_names != 2)
		return cli_usage(cli, fault, "which host? 'vmactl peer declare-dead HOST'");
	if (check_node(cli, args->names[1], fault))
		return -1;
	if (!args->power_off_verified)
		return cli_usage(cli, fault,
			"make sure that '%s' is without power, and stays so, then say "
			"--power-off-verified: what waits for its word is settled without it, and a guest "
			"that still runs there would run twice",
			args->names[1]);
	line = xasprintf("POST /apis/vmagent.io/v1/peers/%s/declaredead", args->names[1]);
	if (client_call(cli, line, "{\"powerOffVerified\":true}", NULL, fault))
		return -1;
	printf("peer '%s' is declared dead\n", args->names[1]);
	return 0;
}

static int run(struct cli *cli, struct fault *fault)
{
	static const struct {
		const char *name;
		int (*run)(struct cli *cli, struct fault *fault);
	} verbs[] = { { "ls", ls }, { "init", init }, { "cert", cert }, { "join", join },
		{ "declare-dead", declare_dead } };

	for (size_t i = 0; cli->args.n_names && i < ARRAY_SIZE(verbs); i++)
		if (streq(cli->args.names[0], verbs[i].name))
			return verbs[i].run(cli, fault);
	return cli_usage(cli, fault, "what? ls, init, cert, join or declare-dead");
}

const struct command command_peer = {
	.name = "peer",
	.synopsis = "ls [NAME...] | init [--name=NODE] | cert NODE [FILE|-] | join FILE|- |\n"
		    "       declare-dead HOST --power-off-verified",
	.summary = "list the agents of other hosts; make certificates; give one up",
	.details =
		"ls shows this node and its peers: who can be reached or why not, how far the clocks differ,\n"
		"what they have, when their certificates expire.\n"
		"init makes a small authority, and this node's certificate; once, on one host. cert makes a\n"
		"bundle for another node (NODE.peer.pem), join installs it there; a later one replaces it. It\n"
		"holds the node's key: it goes by a way that nobody else can read.\n"
		"declare-dead settles what waits for the word of a host that will never come back. You vouch\n"
		"that it is without power.\n"
		"\n"
		"  vmactl peer init --name=host-a\n"
		"  vmactl peer cert host-b - | ssh root@host-b vmactl peer join -",
	.options = TAKES(NAME) | TAKES(PKI) | TAKES(OUTPUT) | TAKES(NO_HEADERS) |
		TAKES(IGNORE_NOT_FOUND) | TAKES(POWER_OFF_VERIFIED),
	.run = run,
};
