/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns the table of CNI plugins that a host can stand in for. It must not know a single bridge:
 * whether there is one of that name is found out when a guest is prepared.
 */
#include "core/attach.h"

#include <string.h>

#include "core/enum.h"

#define RESOURCE_ANNOTATION "k8s.v1.cni.cncf.io/resourceName"
#define PLUGINS_MAX         16
#define SHOWN               64

ENUM_DEFINE(attach_kind, ATTACH, ATTACH_KINDS)

void attachment_done(struct attachment *a)
{
	free(a->source);
	free(a->mode);
	*a = (struct attachment){ 0 };
}

void attachment_copy(struct attachment *dst, const struct attachment *src)
{
	*dst = *src;
	dst->source = xstrdup(src->source);
	dst->mode = xstrdup(src->mode);
}

static bool is_word(const char *s, size_t max, const char *more)
{
	size_t len = strlen(s);

	for (const char *c = s; *c; c++)
		if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
			    (*c >= '0' && *c <= '9') || strchr(more, *c)))
			return false;
	return len && len <= max && !streq(s, ".") && !streq(s, "..");
}

bool is_netdev_name(const char *s)
{
	return is_word(s, NETDEV_LEN_MAX, "-_.@");
}

bool is_net_name(const char *s)
{
	return is_word(s, NET_NAME_LEN_MAX, "-_./");
}

/* ---- plugins --------------------------------------------------------------------------------- */

struct plugin {
	const char *type; /* CNI's */
	enum attach_kind kind;
	const char *sources[4]; /* where its source may stand, in this order */
	const char *fallback;   /* the source where none is given, or NULL: it is required */
	const char *mode;       /* of its kind, or NULL: as the field says */
};

/* clang-format off */
static const struct plugin plugins[] = {
	{ "bridge",          ATTACH_BRIDGE,  { "bridge" },                     "cni0", NULL },
	{ "cnv-bridge",      ATTACH_BRIDGE,  { "bridge" },                     NULL,   NULL },
	{ "ovs",             ATTACH_OVS,     { "bridge" },                     NULL,   NULL },
	{ "macvtap",         ATTACH_MACVTAP, { "master", "device", "dev" },    NULL,   NULL },
	{ "macvlan",         ATTACH_MACVTAP, { "master" },                     NULL,   NULL },
	{ "host-device",     ATTACH_MACVTAP, { "device" },                     NULL,   "passthrough" },
	{ "sriov",           ATTACH_SRIOV,   { "pool" },                       NULL,   NULL },
	{ "libvirt-network", ATTACH_NETWORK, { "network" },                    NULL,   NULL },
	{ "user",            ATTACH_USER,    { NULL },                         NULL,   NULL },
	{ "passt",           ATTACH_PASST,   { NULL },                         NULL,   NULL },
};
static const struct { const char *cni, *libvirt; } modes[] = {
	{ "bridge",      "bridge" },
	{ "vepa",        "vepa" },
	{ "private",     "private" },
	{ "passthru",    "passthrough" },
	{ "passthrough", "passthrough" },
};
/* clang-format on */

static int refuse_type(const struct node *config, struct err *err)
{
	const char *type = node_text(config, "type");
	struct buf known = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(plugins); i++)
		buf_printf(&known, "%s%s", i ? ", " : "", plugins[i].type);
	if (type)
		err_set(err, ERR_INVALID, "type: '%.*s' is not one that this host can do: %s",
			SHOWN, type, known.data);
	else
		err_set(err, ERR_INVALID, "type: expected one of %s", known.data);
	buf_done(&known);
	return -ERR_INVALID;
}

static const struct plugin *plugin_of(const struct node *config)
{
	const char *type = node_text(config, "type");

	for (size_t i = 0; type && i < ARRAY_SIZE(plugins); i++)
		if (streq(plugins[i].type, type))
			return &plugins[i];
	return NULL;
}

/* The tag; 0 is CNI's word for none. */
static int read_vlan(const struct node *config, unsigned *ret, struct err *err)
{
	const struct node *vlan = node_get(config, "vlan");
	char *end = NULL;
	long long n;

	if (!vlan)
		vlan = node_get(config, "tag");
	if (node_get(config, "trunk") || node_get(config, "vlanTrunk"))
		return err_set(err, ERR_INVALID,
			"%s: a guest has one VLAN; give each its own network, by vlan",
			node_get(config, "trunk") ? "trunk" : "vlanTrunk");
	if (!vlan)
		return 0;
	n = vlan->kind == NODE_NUMBER ? strtoll(vlan->text, &end, 10) : -1;
	if (!end || *end || n < 0 || n > VLAN_MAX)
		return err_set(err, ERR_INVALID, "%s: expected a number from 0 to %d", vlan->key,
			VLAN_MAX);
	*ret = (unsigned)n;
	return 0;
}

static int read_mode(const struct node *config, const struct plugin *plugin, char **ret,
	struct err *err)
{
	const struct node *mode = node_get(config, "mode");

	if (plugin->kind != ATTACH_MACVTAP)
		return 0;
	for (size_t i = 0; !plugin->mode && mode && i < ARRAY_SIZE(modes); i++) {
		if (!streq(node_text(config, "mode"), modes[i].cni))
			continue;
		*ret = xstrdup(modes[i].libvirt);
		return 0;
	}
	if (mode && !plugin->mode)
		return err_set(err, ERR_INVALID,
			"mode: expected one of bridge, vepa, private, passthru");
	*ret = xstrdup(plugin->mode ? plugin->mode : "bridge");
	return 0;
}

static bool is_good_source(enum attach_kind kind, const char *source)
{
	return kind == ATTACH_NETWORK || kind == ATTACH_SRIOV ? is_net_name(source)
							      : is_netdev_name(source);
}

/* A device plugin's resource: of SR-IOV a pool; of macvtap "macvtap.network.kubevirt.io/DEVICE". */
static const char *source_of_resource(const struct plugin *plugin, const char *resource)
{
	const char *slash = resource ? strrchr(resource, '/') : NULL;

	if (plugin->kind == ATTACH_SRIOV)
		return resource;
	return plugin->kind == ATTACH_MACVTAP && slash ? slash + 1 : NULL;
}

static int read_source(const struct node *config, const char *resource, const struct plugin *plugin,
	char **ret, struct err *err)
{
	const char *source = NULL, *field = plugin->sources[0];

	for (size_t i = 0; !source && i < ARRAY_SIZE(plugin->sources) && plugin->sources[i]; i++)
		source = node_text(config, plugin->sources[i]);
	if (!field)
		return 0;
	if (!source)
		source = source_of_resource(plugin, resource);
	if (!source)
		source = plugin->fallback;
	if (!source)
		return err_set(err, ERR_INVALID, "%s: field is required for type '%s'", field,
			plugin->type);
	if (!is_good_source(plugin->kind, source))
		return err_set(err, ERR_INVALID, "%s: '%.*s' is no name of one", field, SHOWN,
			source);
	*ret = xstrdup(source);
	return 0;
}

int attach_parse(const struct node *config, const char *resource, struct attachment *ret,
	struct err *err)
{
	const struct plugin *plugin = plugin_of(config);
	struct plugin pool = { .type = "host-device", .kind = ATTACH_SRIOV, .sources = { "pool" } };
	struct attachment a = { 0 };

	if (!plugin)
		return refuse_type(config, err);
	/* With a device plugin's resource, which device it is is the plugin's to say. */
	if (streq(plugin->type, pool.type) && resource && !node_get(config, "device"))
		plugin = &pool;
	a.kind = plugin->kind;
	if (read_source(config, resource, plugin, &a.source, err) ||
		read_mode(config, plugin, &a.mode, err) || read_vlan(config, &a.vlan, err)) {
		attachment_done(&a);
		return -ERR_INVALID;
	}
	*ret = a;
	return 0;
}

/* ---- NetworkAttachmentDefinitions ------------------------------------------------------------ */

/* Of a list of plugins the first makes the interface, and the others tune it in ways that a guest
 * has no use for. */
static int parse_config(const struct node *config, const char *resource, struct attachment *ret,
	struct err *err)
{
	const struct node *list = node_get(config, "plugins");

	if (!list)
		return attach_parse(config, resource, ret, err);
	if (list->kind != NODE_LIST || !list->n_children || list->n_children > PLUGINS_MAX)
		return err_set(err, ERR_INVALID, "plugins: expected a list of 1 to %d plugins",
			PLUGINS_MAX);
	if (!attach_parse(list->children[0], resource, ret, err))
		return 0;
	return err_wrap(err, "plugins[0]");
}

int attach_parse_nad(const struct node *nad, struct attachment *ret, struct err *err)
{
	const char *text = node_text(nad, "spec.config");
	const struct node *resource =
		node_get(node_at(nad, "metadata.annotations"), RESOURCE_ANNOTATION);
	struct documents docs = { 0 };
	struct place at = { 0 };
	struct err why;
	int rc;

	if (!text)
		return err_set(err, ERR_INVALID,
			"spec.config: expected the CNI configuration, as a text in JSON");
	if (nodes_parse(text, strlen(text), &docs, &at, &why))
		return err_set(err, ERR_INVALID, "spec.config: line %d, column %d: %s", at.line,
			at.column, why.msg);
	rc = docs.n == 1 && docs.roots[0]->kind == NODE_MAP
		? parse_config(docs.roots[0], resource ? resource->text : NULL, ret, err)
		: err_set(err, ERR_INVALID, "expected a JSON object");
	documents_done(&docs);
	return rc ? err_wrap(err, "spec.config") : 0;
}
