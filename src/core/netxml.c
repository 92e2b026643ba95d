/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libvirt networks of the agent's making: one with NAT behind which guests have the pod network,
 * and one for each pool of SR-IOV devices, of which libvirt gives each guest a free one.
 */
#include "core/domxml_write.h"

#include <string.h>

#include "core/cidr.h"
#include "core/netconfig.h"

#define POOL_PREFIX "vmagent-"

static void dhcp(xmlTextWriterPtr w, const struct cidr *c)
{
	char first[CIDR_TEXT_SIZE], last[CIDR_TEXT_SIZE];

	cidr_address(c, 2, first);
	cidr_address(c, cidr_hosts(c) + 1, last);
	xml_open(w, "dhcp");
	xml_empty(w, "range", "start", first, "end", last, NULL);
	xml_close(w);
}

/* No delay and no spanning tree: it has guests alone, which want to be reached at once. */
static void nat(xmlTextWriterPtr w, const struct cidr *c)
{
	char gateway[CIDR_TEXT_SIZE];

	cidr_address(c, 1, gateway);
	xml_open(w, "network");
	xml_leaf(w, "name", NAT_NETWORK);
	xml_empty(w, "forward", "mode", "nat", NULL);
	xml_empty(w, "bridge", "name", NAT_BRIDGE, "stp", "off", "delay", "0", NULL);
	xml_open(w, "ip");
	xml_attr(w, "address", gateway);
	xml_attr_int(w, "prefix", c->prefix);
	dhcp(w, c);
	xml_close(w);
	xml_close(w);
}

char *nat_network_xml(const char *cidr)
{
	struct xml_text text;
	struct cidr c;

	if (!cidr_parse(cidr ? cidr : NAT_CIDR_DEFAULT, &c))
		abort(); /* the configuration was checked */
	text = xml_begin();
	nat(text.w, &c);
	return xml_end(&text);
}

char *pool_network_name(const char *pool)
{
	const char *slash = strrchr(pool, '/');

	return xasprintf(POOL_PREFIX "%s", slash ? slash + 1 : pool);
}

static void pool(xmlTextWriterPtr w, const struct sriov_pool *p)
{
	autofree char *name = pool_network_name(p->name);

	xml_open(w, "network");
	xml_leaf(w, "name", name);
	xml_open(w, "forward");
	xml_attr(w, "mode", "hostdev");
	xml_attr(w, "managed", "yes");
	if (p->pf)
		xml_empty(w, "pf", "dev", p->pf, NULL);
	for (size_t i = 0; i < p->n_vfs; i++)
		xml_pci_address(w, p->vfs[i]);
	xml_close(w);
	xml_close(w);
}

char *pool_network_xml(const struct sriov_pool *p)
{
	struct xml_text text = xml_begin();

	pool(text.w, p);
	return xml_end(&text);
}
