/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings in a table: name in the file, option on the command line, default. The file may be
 * missing only at its default path.
 */
#include "daemon/config_private.h"

#include <getopt.h>
#include <string.h>

#include "io/http.h"

#define SETTING(name, option, member, value)                         \
	{                                                            \
		name, option, value, offsetof(struct config, member) \
	}

/* clang-format off */
static const struct setting settings[] = {
	SETTING("manifests",            "manifests",        manifests, "/etc/vmagent"),
	SETTING("state",                "state",            state,     "/var/lib/vmagent"),
	SETTING("socket",               "socket",           socket,    "/run/vmagent/vmagent.sock"),
	SETTING("libvirt",              "libvirt",          libvirt,   "qemu:///system"),
	SETTING("readOnlySocket.path",  "read-only-socket", ro_socket, NULL),
	SETTING("readOnlySocket.group", NULL,               ro_group,  NULL),
	SETTING("imageDir",             NULL,               images.directory, NULL),
	SETTING("nodeName",             NULL,               node_name, NULL),
	SETTING("peerListen",           NULL,               peer_listen, "[::]"),
	SETTING("tls.ca",               NULL,               tls_ca,    "/etc/vmagent/pki/cacert.pem"),
	SETTING("tls.cert",             NULL,               tls_cert,  "/etc/vmagent/pki/nodecert.pem"),
	SETTING("tls.key",              NULL,               tls_key,   "/etc/vmagent/pki/nodekey.pem"),
};
/* clang-format on */

#define ROOTS(name, folder, member)                           \
	{                                                     \
		name, folder, offsetof(struct config, member) \
	}

static const struct root_list root_lists[] = {
	ROOTS("hostDiskRoots", "disks", host_disk_roots),
	ROOTS("imageRoots", "images", image_roots),
};

char **roots_at(struct config *config, const struct root_list *list)
{
	return (char **)((char *)config + list->offset);
}

const struct root_list *roots_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(root_lists); i++) {
		if (streq(root_lists[i].name, name))
			return &root_lists[i];
	}
	return NULL;
}

void roots_done(char **roots)
{
	for (; *roots; roots++)
		free(take(roots));
}

const char *config_usage(void)
{
	return "vmagent runs the virtual machines that manifests describe.\n\n"
	       "Usage: vmagent [OPTION...]\n"
	       "       vmagent migrate-relay FOLDER [VERB [WORD]]    (internal: see vmagent(8))\n\n"
	       "  --config FILE     configuration (default: " CONFIG_FILE ", if it is there)\n"
	       "  --manifests DIR   watched folder of manifests (default: /etc/vmagent)\n"
	       "  --state DIR       database and disks (default: /var/lib/vmagent)\n"
	       "  --socket PATH     API socket (default: /run/vmagent/vmagent.sock)\n"
	       "  --read-only-socket PATH\n"
	       "                    socket for monitoring (default: beside the API's, with -ro\n"
	       "                    in its name); none: there is none\n"
	       "  --libvirt URI     qemu:///system (default), qemu:///session,\n"
	       "                    qemu:///embed?root=DIR, test:///default\n"
	       "  --help            print this help\n"
	       "  --version         print the version\n\n"
	       "An option overrides the configuration file. SIGTERM ends the agent; guests go on.\n"
	       "See vmagent(8) and vmagent-manifest(5).\n";
}

char **setting_at(struct config *config, const struct setting *setting)
{
	return (char **)((char *)config + setting->offset);
}

const struct setting *setting_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		if (streq(settings[i].name, name))
			return &settings[i];
	}
	return NULL;
}

bool setting_is_below(const char *group)
{
	size_t len = strlen(group);

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		if (starts_with(settings[i].name, group) && settings[i].name[len] == '.')
			return true;
	}
	return false;
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

	for (size_t i = 0, n = 3; i < ARRAY_SIZE(settings); i++) {
		if (settings[i].option)
			options[n++] = (struct option){ settings[i].option, required_argument, NULL,
				OPTION_SETTING + (int)i };
	}
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
	config->tuning = TUNING_DEFAULT;
	config->ro_mode = HTTP_SOCKET_MODE;
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
	if (!config->storage.directory)
		config->storage.directory = xasprintf("%s/pvc", config->state);
	if (!config->images.directory)
		config->images.directory = xasprintf("%s/images", config->state);
}

/* /run/vmagent/vmagent.sock has vmagent-ro.sock beside it. */
static void default_ro_socket(struct config *config)
{
	const char *socket = config->socket, *ending = strrchr(socket, '.');
	int stem = ending && streq(ending, ".sock") ? (int)(ending - socket) : (int)strlen(socket);

	if (!config->ro_socket)
		config->ro_socket = xasprintf("%.*s-ro%s", stem, socket, socket + stem);
	else if (streq(config->ro_socket, CONFIG_RO_OFF))
		replace_str(&config->ro_socket, "");
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
	ret = config_read_file(ret_config, args.config ? args.config : CONFIG_FILE, err);
	if (ret == -ERR_NOT_FOUND && !args.config)
		ret = 0;
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		if (args.values[i])
			replace_str(setting_at(ret_config, &settings[i]), args.values[i]);
	}
	default_roots(ret_config);
	default_ro_socket(ret_config);
	return ret;
}

void config_done(struct config *config)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		free(take(setting_at(config, &settings[i])));
	for (size_t i = 0; i < ARRAY_SIZE(root_lists); i++)
		roots_done(roots_at(config, &root_lists[i]));
	image_rules_done(&config->images);
	storage_done(&config->storage);
	config_peers_done(config);
	host_place_done(&config->place);
	network_config_done(&config->networks);
	host_shares_done(&config->shares);
}
