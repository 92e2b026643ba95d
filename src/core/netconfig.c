/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To what an interface is attached. Owns the rule of what each binding may be attached to; which of
 * it the host really has is not known here.
 */
#include "core/netconfig.h"

#include <string.h>

#include "core/enum.h"

ENUM_DEFINE(pod_type, POD, POD_TYPES)

static void pool_done(struct sriov_pool *pool)
{
	free(pool->name);
	free(pool->pf);
	for (size_t i = 0; i < pool->n_vfs; i++)
		free(pool->vfs[i]);
}

void network_config_done(struct network_config *config)
{
	free(config->bridge);
	free(config->network);
	free(config->cidr);
	for (size_t i = 0; i < config->n_networks; i++) {
		free(config->networks[i].name);
		attachment_done(&config->networks[i].how);
	}
	for (size_t i = 0; i < config->n_pools; i++)
		pool_done(&config->pools[i]);
	*config = (struct network_config){ 0 };
}

const struct named_network *network_find(const struct network_config *config, const char *name)
{
	for (size_t i = 0; i < config->n_networks; i++)
		if (streq(config->networks[i].name, name))
			return &config->networks[i];
	return NULL;
}

/* By its whole name, or by what follows the domain in it. */
const struct sriov_pool *pool_find(const struct network_config *config, const char *name)
{
	for (size_t i = 0; i < config->n_pools; i++) {
		const char *pool = config->pools[i].name, *slash = strrchr(name, '/');

		if (streq(pool, name) || (slash && streq(pool, slash + 1)))
			return &config->pools[i];
	}
	return NULL;
}

/* ---- the pod network ------------------------------------------------------------------------- */

/* A network of its own is what only QEMU's own stack gives to one guest. */
static enum pod_type pod_type_of(const struct network_config *config, const struct interface *nic)
{
	if (nic->binding == BINDING_SLIRP)
		return POD_USER;
	if ((nic->cidr || nic->cidr6) && (config->pod == POD_AUTO || config->pod == POD_NAT))
		return POD_USER;
	return config->pod;
}

void attach_pod(const struct network_config *config, const struct interface *nic,
	struct attachment *ret)
{
	enum pod_type type = pod_type_of(config, nic);

	*ret = (struct attachment){ .kind = ATTACH_USER };
	if (nic->binding == BINDING_PASST) {
		ret->kind = ATTACH_PASST;
	} else if (type == POD_AUTO || type == POD_NAT) {
		*ret = (struct attachment){ .kind = ATTACH_NETWORK,
			.source = xstrdup(NAT_NETWORK),
			.made = true,
			.or_user = type == POD_AUTO };
	} else if (type == POD_BRIDGE) {
		*ret = (struct attachment){ .kind = ATTACH_BRIDGE,
			.source = xstrdup(config->bridge) };
	} else if (type == POD_NETWORK) {
		*ret = (struct attachment){ .kind = ATTACH_NETWORK,
			.source = xstrdup(config->network) };
	}
}

/* ---- other networks -------------------------------------------------------------------------- */

static int fits(const struct network_config *config, const struct interface *nic,
	const struct attachment *a, struct err *err)
{
	bool is_pool = a->kind == ATTACH_SRIOV;

	if (is_pool != (nic->binding == BINDING_SRIOV))
		return err_set(err, ERR_INVALID,
			"network '%s' is of type '%s', which the binding '%s' of interface '%s' cannot "
			"use",
			nic->network, attach_kind_name(a->kind), binding_name(nic->binding),
			nic->name);
	if (nic->binding == BINDING_MACVTAP && a->kind != ATTACH_MACVTAP)
		return err_set(err, ERR_INVALID,
			"network '%s' is of type '%s', and interface '%s' wants macvtap",
			nic->network, attach_kind_name(a->kind), nic->name);
	if (is_pool && !pool_find(config, a->source))
		return err_set(err, ERR_NOT_FOUND,
			"network '%s' takes devices from the pool '%s', which the agent's configuration "
			"does not have: add it to sriovPools",
			nic->network, a->source);
	if (a->vlan && a->kind != ATTACH_OVS && !is_pool)
		return err_set(err, ERR_INVALID,
			"network '%s' is of type '%s', which libvirt gives no VLAN: use a bridge or "
			"device that is on VLAN %u, or the type ovs",
			nic->network, attach_kind_name(a->kind), a->vlan);
	return 0;
}

static int find(const struct network_config *config, const struct interface *nic,
	const struct node *nad, struct attachment *ret, struct err *err)
{
	const struct named_network *named = network_find(config, nic->network);

	if (nad && attach_parse_nad(nad, ret, err))
		return err_wrap(err, "network '%s'", nic->network);
	if (nad)
		return 0;
	if (!named)
		return err_set(err, ERR_NOT_FOUND,
			"there is no NetworkAttachmentDefinition '%s' for interface '%s': make it, or add "
			"it to the agent's networks",
			nic->network, nic->name);
	attachment_copy(ret, &named->how);
	return 0;
}

int attach_named(const struct network_config *config, const struct interface *nic,
	const struct node *nad, struct attachment *ret, struct err *err)
{
	struct attachment a = { 0 };

	if (find(config, nic, nad, &a, err))
		return -(int)err->code;
	if (fits(config, nic, &a, err)) {
		attachment_done(&a);
		return -(int)err->code;
	}
	*ret = a;
	return 0;
}
