/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings in a table: name in the file, option on the command line, default. Unknown fields are refused
 * with their place; the file may be missing only at its default path.
 */
#include "daemon/config.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "core/node.h"

struct setting {
	const char *name;  /* spec.NAME in the file, --NAME on the command line */
	const char *value; /* default */
	size_t offset;
};

#define SETTING(name, value)                                \
	{                                                   \
#name, value, offsetof(struct config, name) \
	}

/* clang-format off */
static const struct setting settings[] = {
	SETTING(manifests, "/etc/vmagent"),
	SETTING(state,     "/var/lib/vmagent"),
	SETTING(socket,    "/run/vmagent/vmagent.sock"),
	SETTING(libvirt,   "qemu:///system"),
};

static const char *const emulations[] = {
	[EMULATION_AUTO] = "auto",
	[EMULATION_KVM]  = "kvm",
	[EMULATION_TCG]  = "tcg",
};
/* clang-format on */

/* Where manifests may point at files; a missing list is <state>/FOLDER. */
struct root_list {
	const char *name; /* spec.NAME */
	const char *folder;
	size_t offset;
};

#define ROOTS(name, folder, member)                           \
	{                                                     \
		name, folder, offsetof(struct config, member) \
	}

static const struct root_list root_lists[] = {
	ROOTS("hostDiskRoots", "disks", host_disk_roots),
	ROOTS("imageRoots", "images", image_roots),
};

static char **roots_at(struct config *config, const struct root_list *list)
{
	return (char **)((char *)config + list->offset);
}

static const struct root_list *roots_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(root_lists); i++) {
		if (streq(root_lists[i].name, name))
			return &root_lists[i];
	}
	return NULL;
}

static void roots_done(char **roots)
{
	for (; *roots; roots++)
		free(take(roots));
}

const char *config_usage(void)
{
	return "vmagent runs the virtual machines that manifests describe.\n\n"
	       "Usage: vmagent [OPTION...]\n\n"
	       "  --config FILE     configuration (default: " CONFIG_FILE ", if it is there)\n"
	       "  --manifests DIR   watched folder of manifests (default: /etc/vmagent)\n"
	       "  --state DIR       database and disks (default: /var/lib/vmagent)\n"
	       "  --socket PATH     API socket (default: /run/vmagent/vmagent.sock)\n"
	       "  --libvirt URI     qemu:///system (default), qemu:///session,\n"
	       "                    qemu:///embed?root=DIR, test:///default\n"
	       "  --help            print this help\n"
	       "  --version         print the version\n\n"
	       "An option overrides the configuration file. SIGTERM ends the agent; guests go on.\n"
	       "See vmagent(8) and vmagent-manifest(5).\n";
}

static char **setting_at(struct config *config, const struct setting *setting)
{
	return (char **)((char *)config + setting->offset);
}

static const struct setting *setting_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		if (streq(settings[i].name, name))
			return &settings[i];
	}
	return NULL;
}

/* ---- the file ------------------------------------------------------------------------------- */

static int refuse(const char *path, const struct node *at, struct err *err, const char *expected)
{
	return err_set(err, ERR_INVALID, "%s:%d:%d: %s", path,
		at->key_line ? at->key_line : at->line, at->key_line ? at->key_column : at->column,
		expected);
}

static int read_roots(char **roots, const char *path, const struct node *list, struct err *err)
{
	if (list->kind != NODE_LIST || !list->n_children || list->n_children > CONFIG_ROOTS_MAX)
		return refuse(path, list, err, "expected a list of 1 to 64 folders");
	roots_done(roots);
	for (size_t i = 0; i < list->n_children; i++) {
		const struct node *root = list->children[i];

		if (root->kind != NODE_STRING || root->text[0] != '/')
			return refuse(path, root, err, "expected an absolute path");
		roots[i] = xstrdup(root->text);
	}
	return 0;
}

static int read_emulation(struct config *config, const char *path, const struct node *value,
	struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(emulations); i++) {
		if (value->kind == NODE_STRING && streq(value->text, emulations[i])) {
			config->emulation = (enum emulation)i;
			return 0;
		}
	}
	return refuse(path, value, err, "emulation: expected auto, kvm or tcg");
}

static int read_field(struct config *config, const char *path, const struct node *field,
	struct err *err)
{
	const struct setting *setting = setting_find(field->key);
	const struct root_list *roots = roots_find(field->key);
	char words[200];

	if (roots)
		return read_roots(roots_at(config, roots), path, field, err);
	if (streq(field->key, "emulation"))
		return read_emulation(config, path, field, err);
	snprintf(words, sizeof(words), "spec.%.100s: %s", field->key,
		setting ? "expected text" : "no such field");
	if (!setting || field->kind != NODE_STRING)
		return refuse(path, field, err, words);
	replace_str(setting_at(config, setting), field->text);
	return 0;
}

/* A misspelt `spec` would otherwise be a file that says nothing. */
static int check_document(const char *path, const struct node *root, struct err *err)
{
	static const char *const known[] = { "apiVersion", "kind", "metadata", "spec" };
	char words[200];

	for (size_t i = 0; i < root->n_children; i++) {
		const struct node *field = root->children[i];
		size_t k = 0;

		while (k < ARRAY_SIZE(known) && !streq(known[k], field->key))
			k++;
		if (k == ARRAY_SIZE(known)) {
			snprintf(words, sizeof(words), "%.100s: no such field", field->key);
			return refuse(path, field, err, words);
		}
		if (streq(field->key, "spec") && field->kind != NODE_MAP)
			return refuse(path, field, err, "spec: expected fields");
	}
	return 0;
}

static int read_document(struct config *config, const char *path, const struct node *root,
	struct err *err)
{
	const struct node *spec = node_get(root, "spec");
	int ret;

	if (!streq(node_text(root, "kind"), "AgentConfiguration") ||
		!streq(node_text(root, "apiVersion"), "vmagent.io/v1"))
		return refuse(path, root, err,
			"expected apiVersion vmagent.io/v1 and kind AgentConfiguration");
	ret = check_document(path, root, err);
	for (size_t i = 0; spec && i < spec->n_children && ret == 0; i++)
		ret = read_field(config, path, spec->children[i], err);
	return ret;
}

static char *read_text(const char *path, size_t *ret_len, struct err *err)
{
	char *text = xcalloc(1, NODE_TEXT_MAX + 1);
	FILE *file = fopen(path, "re");

	if (!file) {
		err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", path,
			strerror(errno));
		free(text);
		return NULL;
	}
	*ret_len = fread(text, 1, NODE_TEXT_MAX + 1, file);
	fclose(file);
	return text;
}

static int read_file(struct config *config, const char *path, struct err *err)
{
	struct documents docs = { 0 };
	struct err why;
	size_t len = 0;
	autofree char *text = read_text(path, &len, err);
	struct place at = { 0 };
	int ret = 0;

	if (!text)
		return -(int)err->code;
	if (nodes_parse(text, len, &docs, &at, &why) < 0)
		return err_set(err, ERR_INVALID, "%s:%d:%d: %s", path, at.line, at.column, why.msg);
	for (size_t i = 0; i < docs.n && ret == 0; i++)
		ret = read_document(config, path, docs.roots[i], err);
	documents_done(&docs);
	return ret;
}

/* ---- the command line ------------------------------------------------------------------------ */

struct arguments {
	const char *config; /* NULL: the default path, which may be missing */
	const char *values[ARRAY_SIZE(settings)];
	enum config_action action;
};

enum { OPTION_CONFIG = 1, OPTION_HELP, OPTION_VERSION, OPTION_SETTING };

static int read_option(struct arguments *args, int option, const char *word, struct err *err)
{
	if (option == OPTION_CONFIG)
		args->config = optarg;
	else if (option == OPTION_HELP)
		args->action = CONFIG_HELP;
	else if (option == OPTION_VERSION)
		args->action = CONFIG_VERSION;
	else if (option >= OPTION_SETTING && option < OPTION_SETTING + (int)ARRAY_SIZE(settings))
		args->values[option - OPTION_SETTING] = optarg;
	else
		return err_set(err, ERR_BAD_REQUEST, "'%s': %s; see 'vmagent --help'", word,
			option == ':' ? "an argument is missing" : "no such option");
	return 0;
}

static int read_arguments(int argc, char **argv, struct arguments *args, struct err *err)
{
	struct option options[ARRAY_SIZE(settings) + 4] = {
		{ "config", required_argument, NULL, OPTION_CONFIG },
		{ "help", no_argument, NULL, OPTION_HELP },
		{ "version", no_argument, NULL, OPTION_VERSION },
	};
	int option, ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		options[3 + i] = (struct option){ settings[i].name, required_argument, NULL,
			OPTION_SETTING + (int)i };
	optind = 0;
	while (ret == 0 && (option = getopt_long(argc, argv, ":", options, NULL)) != -1)
		ret = read_option(args, option, argv[optind - 1], err);
	if (ret == 0 && optind < argc)
		ret = err_set(err, ERR_BAD_REQUEST,
			"'%s': vmagent takes options only; see 'vmagent --help'", argv[optind]);
	return ret;
}

static void set_defaults(struct config *config)
{
	memset(config, 0, sizeof(*config));
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		*setting_at(config, &settings[i]) = xstrdup(settings[i].value);
}

static void default_roots(struct config *config)
{
	for (size_t i = 0; i < ARRAY_SIZE(root_lists); i++) {
		char **roots = roots_at(config, &root_lists[i]);

		if (!roots[0])
			roots[0] = xasprintf("%s/%s", config->state, root_lists[i].folder);
	}
}

int config_load(int argc, char **argv, struct config *ret_config, enum config_action *ret_action,
	struct err *err)
{
	struct arguments args = { 0 };
	int ret = read_arguments(argc, argv, &args, err);

	set_defaults(ret_config);
	*ret_action = args.action;
	if (ret < 0 || args.action != CONFIG_RUN)
		return ret;
	ret = read_file(ret_config, args.config ? args.config : CONFIG_FILE, err);
	if (ret == -ERR_NOT_FOUND && !args.config)
		ret = 0;
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		if (args.values[i])
			replace_str(setting_at(ret_config, &settings[i]), args.values[i]);
	}
	default_roots(ret_config);
	return ret;
}

void config_done(struct config *config)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		free(take(setting_at(config, &settings[i])));
	for (size_t i = 0; i < ARRAY_SIZE(root_lists); i++)
		roots_done(roots_at(config, &root_lists[i]));
}
