/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent's configuration says of networks, and how it and a NetworkAttachmentDefinition
 * decide to what an interface is attached. Pure.
 */
#ifndef VMAGENT_CORE_NETCONFIG_H
#define VMAGENT_CORE_NETCONFIG_H

#include "core/attach.h"

/* The pod network. AUTO is NAT where that can be made, else USER. */
#define POD_TYPES(X)        \
	X(AUTO, "auto")     \
	X(NAT, "nat")       \
	X(USER, "user")     \
	X(BRIDGE, "bridge") \
	X(NETWORK, "libvirt-network")
enum pod_type {
#define X(c, t) POD_##c,
	POD_TYPES(X)
#undef X
		POD_TYPE_MAX
};
ENUM_DECLARE(pod_type, POD, POD_TYPES)

#define NAT_NETWORK      "vmagent"  /* libvirt's network of the agent's making … */
#define NAT_BRIDGE       "vmagent0" /* … and its bridge */
#define NAT_CIDR_DEFAULT "10.118.96.0/22"
#define NETWORKS_MAX     64
#define POOL_VFS_MAX     64

struct named_network {
	char *name; /* owned; as a multus networkName has it */
	struct attachment how;
};

struct sriov_pool {
	char *name;              /* owned; as a resourceName annotation has it */
	char *pf;                /* owned or NULL: all devices of that one */
	char *vfs[POOL_VFS_MAX]; /* owned; else these PCI addresses */
	size_t n_vfs;
};

struct network_config {
	enum pod_type pod;
	char *bridge;  /* owned or NULL; BRIDGE */
	char *network; /* owned or NULL; NETWORK */
	char *cidr;    /* owned or NULL: NAT_CIDR_DEFAULT */
	struct named_network networks[NETWORKS_MAX];
	size_t n_networks;
	struct sriov_pool pools[NETWORKS_MAX];
	size_t n_pools;
};
void network_config_done(struct network_config *config);

const struct named_network *network_find(const struct network_config *config, const char *name);
const struct sriov_pool *pool_find(const struct network_config *config, const char *name);

/* Of an interface to the pod network. */
void attach_pod(const struct network_config *config, const struct interface *nic,
	struct attachment *ret);

/*
 * Of one to the network that it names: nad is its tree, or NULL when there is
 * none, so that the configuration's networks are looked at. Errors, in words for
 * the user: ERR_NOT_FOUND, ERR_INVALID.
 */
int attach_named(const struct network_config *config, const struct interface *nic,
	const struct node *nad, struct attachment *ret, struct err *err);

/* The definitions of libvirt networks that the agent makes; owned by the caller. */
char *nat_network_xml(const char *cidr);
char *pool_network_xml(const struct sriov_pool *pool);

#endif
