/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks in the configuration file: what the pod network is, networks by the names that manifests
 * use, pools of SR-IOV devices.
 */
#include <stdio.h>
#include <string.h>

#include "core/cidr.h"
#include "core/names.h"
#include "daemon/config_private.h"

#define WORDS_SIZE 700

static int refuse(const char *path, const struct node *at, struct err *err, const char *where,
	const char *expected)
{
	char words[WORDS_SIZE];

	snprintf(words, sizeof(words), "%s: %s", where, expected);
	return config_refuse(path, at, err, words);
}

/* ---- podNetwork ------------------------------------------------------------------------------ */

static bool is_pod_type(const char *text)
{
	enum pod_type ignored;

	return pod_type_parse(text, &ignored);
}

/* clang-format off */
static const struct { const char *name; bool (*is_good)(const char *text); const char *expected; } pod_fields[] = {
	{ "type",    is_pod_type,    "expected one of auto, nat, user, bridge, libvirt-network" },
	{ "bridge",  is_netdev_name, "expected the name of a bridge" },
	{ "network", is_net_name,    "expected the name of a libvirt network" },
	{ "cidr",    is_cidr4,       "expected a network such as " NAT_CIDR_DEFAULT },
};
/* clang-format on */

static int check_pod_field(const char *path, const struct node *field, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(pod_fields); i++) {
		if (!streq(pod_fields[i].name, field->key))
			continue;
		if (field->kind == NODE_STRING && pod_fields[i].is_good(field->text))
			return 0;
		return refuse(path, field, err, "spec.podNetwork", pod_fields[i].expected);
	}
	return refuse(path, field, err, "spec.podNetwork",
		"its fields are type, bridge, network, cidr");
}

int config_read_pod_network(struct config *config, const char *path, const struct node *map,
	struct err *err)
{
	struct network_config *n = &config->networks;
	const char *type = node_text(map, "type");

	if (map->kind != NODE_MAP)
		return refuse(path, map, err, "spec.podNetwork", "expected fields");
	for (size_t i = 0; i < map->n_children; i++)
		if (check_pod_field(path, map->children[i], err))
			return -ERR_INVALID;
	n->pod = POD_AUTO;
	if (type)
		pod_type_parse(type, &n->pod);
	replace_str(&n->bridge, node_text(map, "bridge"));
	replace_str(&n->network, node_text(map, "network"));
	replace_str(&n->cidr, node_text(map, "cidr"));
	if (n->pod == POD_BRIDGE && !n->bridge)
		return refuse(path, map, err, "spec.podNetwork", "type bridge needs a bridge");
	if (n->pod == POD_NETWORK && !n->network)
		return refuse(path, map, err, "spec.podNetwork",
			"type libvirt-network needs a network");
	return 0;
}

/* ---- networks -------------------------------------------------------------------------------- */

int config_read_networks(struct config *config, const char *path, const struct node *map,
	struct err *err)
{
	struct network_config *n = &config->networks;

	if (map->kind != NODE_MAP || map->n_children > NETWORKS_MAX)
		return refuse(path, map, err, "spec.networks",
			"expected at most 64 networks, by name");
	for (size_t i = 0; i < map->n_children; i++) {
		const struct node *network = map->children[i];
		struct named_network *to = &n->networks[n->n_networks];
		struct err why;

		if (!is_network_name(network->key))
			return refuse(path, network, err, "spec.networks",
				"expected a name as multus.networkName has it");
		if (network->kind != NODE_MAP)
			return refuse(path, network, err, "spec.networks",
				"expected a network: {type: bridge, bridge: br0}");
		if (attach_parse(network, NULL, &to->how, &why))
			return refuse(path, network, err, "spec.networks", why.msg);
		to->name = xstrdup(network->key);
		n->n_networks++;
	}
	return 0;
}

/* ---- sriovPools ------------------------------------------------------------------------------ */

static int read_vfs(struct sriov_pool *pool, const char *path, const struct node *list,
	struct err *err)
{
	if (list->kind != NODE_LIST || !list->n_children || list->n_children > POOL_VFS_MAX)
		return refuse(path, list, err, "spec.sriovPools",
			"vfs: expected 1 to 64 PCI addresses");
	for (size_t i = 0; i < list->n_children; i++) {
		const struct node *vf = list->children[i];

		if (vf->kind != NODE_STRING || !is_pci_address(vf->text))
			return refuse(path, vf, err, "spec.sriovPools",
				"vfs: expected a PCI address such as \"0000:81:01.0\"");
		pool->vfs[pool->n_vfs++] = xstrdup(vf->text);
	}
	return 0;
}

static int read_pool(struct network_config *n, const char *path, const struct node *from,
	struct err *err)
{
	const char *name = node_text(from, "name"), *pf = node_text(from, "pf");
	const struct node *vfs = node_get(from, "vfs");
	struct sriov_pool *pool = &n->pools[n->n_pools];

	if (!name || !is_net_name(name) || pool_find(n, name))
		return refuse(path, from, err, "spec.sriovPools",
			"a pool has a name of its own, as a resourceName annotation has it");
	if (!pf == !vfs || (pf && !is_netdev_name(pf)) || from->n_children != 2)
		return refuse(path, from, err, "spec.sriovPools",
			"a pool has a name, and either pf, a device of the host, or vfs");
	n->n_pools++;
	pool->name = xstrdup(name);
	pool->pf = xstrdup(pf);
	return vfs ? read_vfs(pool, path, vfs, err) : 0;
}

int config_read_pools(struct config *config, const char *path, const struct node *list,
	struct err *err)
{
	int rc = 0;

	if (list->kind != NODE_LIST || list->n_children > NETWORKS_MAX)
		return refuse(path, list, err, "spec.sriovPools",
			"expected a list of at most 64 pools");
	for (size_t i = 0; i < list->n_children && !rc; i++)
		rc = read_pool(&config->networks, path, list->children[i], err);
	return rc;
}
