/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To what a run's interfaces are attached: their networks are looked up among the records, then in
 * the configuration. What is not there keeps the run from being prepared; what the host itself
 * lacks is found when it is.
 */
#include <string.h>

#include "core/domxml.h"
#include "core/host_ports.h"
#include "daemon/obstacles.h"

/* For callers without a configuration: the pod network is QEMU's own. */
static const struct network_config no_config = { .pod = POD_USER };

static const struct network_config *config_of(const struct agent *agent)
{
	return agent->options->networks ? agent->options->networks : &no_config;
}

/* "namespace/name", or a name in the run's own namespace. */
static const struct record *find_record(const struct agent *agent, const struct machine *m,
	const char *network)
{
	const char *slash = strchr(network, '/');
	autofree char *ns = slash ? xstrndup(network, (size_t)(slash - network)) : xstrdup(m->ns);

	return records_find(&agent->records, KIND_NETWORK, ns, slash ? slash + 1 : network);
}

/* Only QEMU's own stack has a way in from the host's ports: with it, where the agent may choose. */
static bool wants_host_ports(const struct machine *m)
{
	struct host_ports ports;

	host_ports_of(m->vmi, &ports);
	return ports.n > 0;
}

static int attach(const struct agent *agent, const struct machine *m, const struct interface *nic,
	struct attachment *ret, struct err *err)
{
	const struct record *r = nic->network ? find_record(agent, m, nic->network) : NULL;
	struct node *tree;
	int rc;

	if (!nic->network) {
		attach_pod(config_of(agent), nic, ret);
		if (ret->or_user && wants_host_ports(m)) {
			attachment_done(ret);
			*ret = (struct attachment){ .kind = ATTACH_USER };
		}
		return 0;
	}
	tree = r ? record_tree(r) : NULL;
	rc = attach_named(config_of(agent), nic, tree, ret, err);
	node_free(tree);
	return rc;
}

enum obstacle networks_obstacle(const struct agent *agent, const struct machine *m,
	char **ret_words)
{
	for (size_t i = 0; i < m->vmi->typed.n_interfaces; i++) {
		struct attachment a = { 0 };
		struct err err;
		int rc = attach(agent, m, &m->vmi->typed.interfaces[i], &a, &err);

		attachment_done(&a);
		if (!rc)
			continue;
		*ret_words = xstrdup(err.msg);
		return OBSTACLE_MISSING;
	}
	return OBSTACLE_NONE;
}

/* A network that went after the run was prepared is libvirt's to miss, under its name. */
struct attachment *networks_attach(const struct agent *agent, const struct machine *m)
{
	const struct vmi_spec *spec = &m->vmi->typed;
	struct attachment *list = xcalloc(spec->n_interfaces + 1, sizeof(*list));
	struct err ignored;

	for (size_t i = 0; i < spec->n_interfaces; i++)
		if (attach(agent, m, &spec->interfaces[i], &list[i], &ignored))
			list[i] = (struct attachment){ .kind = ATTACH_NETWORK,
				.source = xstrdup(spec->interfaces[i].network) };
	return list;
}

void networks_free(struct attachment *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		attachment_done(&list[i]);
	free(list);
}

/* ---- what ops need --------------------------------------------------------------------------- */

static void add_network(struct op *op, char *name, char *xml, bool or_user)
{
	op->networks = xrealloc_array(op->networks, op->n_networks + 1, sizeof(*op->networks));
	op->networks[op->n_networks++] =
		(struct op_network){ .name = name, .xml = xml, .or_user = or_user };
}

void networks_fill_start(const struct agent *agent, struct op *op, const struct attachment *list,
	size_t n)
{
	const struct network_config *config = config_of(agent);

	for (size_t i = 0; i < n; i++) {
		const struct sriov_pool *pool =
			list[i].kind == ATTACH_SRIOV ? pool_find(config, list[i].source) : NULL;

		if (list[i].made)
			add_network(op, xstrdup(list[i].source), nat_network_xml(config->cidr),
				list[i].or_user);
		if (pool)
			add_network(op, pool_network_name(pool->name), pool_network_xml(pool),
				false);
	}
}

static void add_check(struct op *op, enum volume_work_kind kind, const char *nic, const char *what)
{
	op->work = xrealloc_array(op->work, op->n_work + 1, sizeof(*op->work));
	op->work[op->n_work++] = (struct volume_work){ .kind = kind,
		.volume = xstrdup(nic),
		.target = xstrdup(what) };
}

void networks_fill_prepare(const struct agent *agent, const struct machine *m, struct op *op)
{
	const struct vmi_spec *spec = &m->vmi->typed;
	struct attachment *list = networks_attach(agent, m);

	for (size_t i = 0; i < spec->n_interfaces; i++) {
		const char *nic = spec->interfaces[i].name;

		if (list[i].kind == ATTACH_BRIDGE)
			add_check(op, VOLUME_WORK_BRIDGE, nic, list[i].source);
		if (list[i].kind == ATTACH_OVS || list[i].kind == ATTACH_MACVTAP)
			add_check(op, VOLUME_WORK_DEVICE, nic, list[i].source);
		if (list[i].kind == ATTACH_PASST)
			add_check(op, VOLUME_WORK_PROGRAM, nic, "passt");
	}
	networks_free(list, spec->n_interfaces);
}
