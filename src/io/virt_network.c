/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libvirt's networks, as far as guests of ours need them: made and started when a guest starts that
 * wants one, and kept. On the one with NAT each interface has an address reserved, by its MAC
 * address, so that it is known from the start and stays; it is given up with the domain. Workers,
 * several at a time: whoever loses a race looks again.
 */
#include <stdio.h>
#include <string.h>

#include "core/cidr.h"
#include "core/netconfig.h"
#include "io/virt_private.h"
#include "io/virt_xml.h"

#define TRIES_MAX    8 /* to reserve an address that others want at the same time */
#define FIRST_HOST   2 /* after the network's own address and the gateway's */
#define UPDATE_FLAGS (VIR_NETWORK_UPDATE_AFFECT_LIVE | VIR_NETWORK_UPDATE_AFFECT_CONFIG)

/* ---- being there ----------------------------------------------------------------------------- */

/* One that was defined just now and cannot be started is of no use to anybody. */
static int start(virNetworkPtr net, bool is_new, const char *name, struct err *err)
{
	if (virNetworkIsActive(net) == 1 || virNetworkCreate(net) == 0)
		return 0;
	virt_error(err, "start libvirt's network '%s'", name);
	if (virNetworkIsActive(net) == 1) { /* another worker was faster */
		*err = (struct err){ 0 };
		return 0;
	}
	if (is_new)
		virNetworkUndefine(net);
	return -(int)err->code;
}

/* Defined or found; *ret_is_new tells which. */
static virNetworkPtr find_or_define(virConnectPtr conn, const struct op_network *want,
	bool *ret_is_new, struct err *err)
{
	virNetworkPtr net = virNetworkLookupByName(conn, want->name);

	*ret_is_new = false;
	if (!net && virt_error_last() == VIR_ERR_NO_NETWORK) {
		net = virNetworkDefineXML(conn, want->xml);
		*ret_is_new = net != NULL;
		if (!net) {
			virt_error(err, "make libvirt's network '%s'", want->name);
			/* another worker may have been faster */
			return virNetworkLookupByName(conn, want->name);
		}
		virNetworkSetAutostart(net, 1);
	} else if (!net) {
		virt_error(err, "look for libvirt's network '%s'", want->name);
	}
	return net;
}

static virNetworkPtr ready(virConnectPtr conn, const struct op_network *want, struct err *err)
{
	bool is_new;
	virNetworkPtr net = find_or_define(conn, want, &is_new, err);

	if (!net)
		return NULL;
	*err = (struct err){ 0 };
	if (!start(net, is_new, want->name, err))
		return net;
	virNetworkFree(net);
	return NULL;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static bool read_reservations(virNetworkPtr net, struct virt_reservations *ret)
{
	char *xml = virNetworkGetXMLDesc(net, 0);
	bool has = xml && virt_xml_reservations(xml, ret);

	free(xml);
	return has;
}

static const char *reserved_for(const struct virt_reservations *r, const char *mac)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcasecmp(r->list[i].mac, mac) == 0)
			return r->list[i].address;
	return NULL;
}

struct leases {
	virNetworkDHCPLeasePtr *list;
	int n;
};

static struct leases read_leases(virNetworkPtr net)
{
	struct leases leases = { 0 };

	leases.n = virNetworkGetDHCPLeases(net, NULL, &leases.list, 0);
	return leases;
}

static void leases_done(struct leases *leases)
{
	for (int i = 0; i < leases->n; i++)
		virNetworkDHCPLeaseFree(leases->list[i]);
	if (leases->n >= 0)
		free(leases->list);
}

/* A guest that is gone keeps its lease for a while: until then the DHCP server gives
 * it to nobody else. */
static bool is_taken(const struct virt_reservations *r, const struct leases *leases,
	const char *address, const char *mac)
{
	for (size_t i = 0; i < r->n; i++)
		if (streq(r->list[i].address, address))
			return true;
	for (int i = 0; i < leases->n; i++)
		if (streq(leases->list[i]->ipaddr, address) &&
			(!leases->list[i]->mac || strcasecmp(leases->list[i]->mac, mac) != 0))
			return true;
	return false;
}

static uint32_t hash_of(const char *mac)
{
	uint32_t h = UINT32_C(0x811c9dc5);

	for (; *mac; mac++)
		h = (h ^ (unsigned char)*mac) * UINT32_C(0x01000193);
	return h;
}

/* By its MAC address, so that an interface which comes again has the one it had, as a rule. */
static bool choose(const struct virt_reservations *r, const struct leases *leases, const char *mac,
	char ret[CIDR_TEXT_SIZE])
{
	struct cidr cidr;
	uint32_t hosts, at;

	if (!cidr_parse(r->cidr, &cidr))
		return false;
	hosts = cidr_hosts(&cidr);
	at = hash_of(mac) % hosts;
	for (uint32_t i = 0; i < hosts; i++) {
		cidr_address(&cidr, FIRST_HOST + (at + i) % hosts, ret);
		if (!is_taken(r, leases, ret, mac))
			return true;
	}
	return false;
}

static int update(virNetworkPtr net, virNetworkUpdateCommand command, const char *mac,
	const char *address)
{
	char xml[128];

	snprintf(xml, sizeof(xml), "<host mac='%s' ip='%s'/>", mac, address);
	return virNetworkUpdate(net, command, VIR_NETWORK_SECTION_IP_DHCP_HOST, -1, xml,
		UPDATE_FLAGS);
}

/* 0 when it has one, 1 with words when another was faster. */
static int try_to_reserve(virNetworkPtr net, const char *mac, struct err *err)
{
	const char *name = virNetworkGetName(net);
	struct virt_reservations r = { 0 };
	struct leases leases = { 0 };
	char address[CIDR_TEXT_SIZE];
	int rc = 0;

	if (!read_reservations(net, &r) || reserved_for(&r, mac)) {
		virt_reservations_done(&r);
		return 0; /* without DHCP there is nothing to reserve */
	}
	leases = read_leases(net);
	if (!choose(&r, &leases, mac, address))
		rc = err_set(err, ERR_HYPERVISOR, "libvirt's network '%s' (%s) has no address left",
			name, r.cidr);
	else if (update(net, VIR_NETWORK_UPDATE_COMMAND_ADD_LAST, mac, address) < 0)
		rc = virt_error(err, "reserve %s for '%s' on libvirt's network '%s'", address, mac,
			     name) < 0;
	leases_done(&leases);
	virt_reservations_done(&r);
	return rc;
}

static int reserve(virNetworkPtr net, const char *mac, struct err *err)
{
	int rc = 1;

	for (int i = 0; i < TRIES_MAX && rc == 1; i++)
		rc = try_to_reserve(net, mac, err);
	return rc ? -(int)err->code : 0;
}

/* Of the domain's interfaces to that network. */
static int reserve_all(virNetworkPtr net, const struct domain_info *info, struct err *err)
{
	const char *name = virNetworkGetName(net);
	int rc = 0;

	for (size_t i = 0; i < info->n_nics && !rc; i++)
		if (streq(info->nics[i].source, name))
			rc = reserve(net, info->nics[i].mac, err);
	return rc;
}

void virt_network_release(virConnectPtr conn, const struct domain_info *info)
{
	virNetworkPtr net = info->n_nics ? virNetworkLookupByName(conn, NAT_NETWORK) : NULL;
	struct virt_reservations r = { 0 };

	if (!net)
		return;
	read_reservations(net, &r);
	for (size_t i = 0; i < info->n_nics; i++) {
		const char *mac = info->nics[i].mac, *address = reserved_for(&r, mac);

		if (address && streq(info->nics[i].source, NAT_NETWORK))
			update(net, VIR_NETWORK_UPDATE_COMMAND_DELETE, mac, address);
	}
	virt_reservations_done(&r);
	virNetworkFree(net);
}

/* ---- a start's ------------------------------------------------------------------------------- */

static int prepare(virConnectPtr conn, const struct op_network *want, const char *xml,
	bool reserves, struct err *err)
{
	struct domain_info info = { 0 };
	virNetworkPtr net = ready(conn, want, err);
	int rc;

	if (!net)
		return -(int)err->code;
	virt_xml_live(xml, &info);
	rc = reserves ? reserve_all(net, &info, err) : 0;
	domain_info_done(&info);
	virNetworkFree(net);
	return rc;
}

void virt_network_arrived(virDomainPtr dom)
{
	virNetworkPtr net = virNetworkLookupByName(virDomainGetConnect(dom), NAT_NETWORK);
	struct domain_info info = { 0 };
	struct err ignored;
	char *xml = net ? virDomainGetXMLDesc(dom, 0) : NULL;

	if (xml)
		virt_xml_live(xml, &info);
	if (xml)
		reserve_all(net, &info, &ignored);
	domain_info_done(&info);
	free(xml);
	if (net)
		virNetworkFree(net);
}

int virt_networks_prepare(virConnectPtr conn, const struct op *op, char **ret_xml,
	char **ret_fallback, struct err *err)
{
	bool reserves = op->kind != OP_MIGRATE_PREPARE; /* who may never come leaves nothing */
	char *xml = xstrdup(op->xml);

	for (size_t i = 0; i < op->n_networks; i++) {
		const struct op_network *want = &op->networks[i];
		struct err why = { 0 };
		char *without;

		if (!prepare(conn, want, xml, reserves, &why))
			continue;
		if (!want->or_user) {
			free(xml);
			*err = why;
			if (err->code == ERR_INVALID) /* the host's to mend, not the manifest's */
				err->code = ERR_HYPERVISOR;
			return -(int)err->code;
		}
		without = virt_xml_without_network(xml, want->name);
		free(xml);
		xml = without;
		replace_str(ret_fallback, why.msg);
	}
	*ret_xml = xml;
	return 0;
}

/* ---- looking --------------------------------------------------------------------------------- */

static void reserved_address(virConnectPtr conn, struct nic_info *nic)
{
	virNetworkPtr net = virNetworkLookupByName(conn, nic->source);
	struct virt_reservations r = { 0 };

	if (net && read_reservations(net, &r) && reserved_for(&r, nic->mac))
		copy_str(nic->address, sizeof(nic->address), reserved_for(&r, nic->mac));
	virt_reservations_done(&r);
	if (net)
		virNetworkFree(net);
}

static void take_address(struct domain_info *info, virDomainInterfacePtr from)
{
	for (size_t i = 0; i < info->n_nics; i++) {
		struct nic_info *nic = &info->nics[i];

		if (nic->address[0] || !from->hwaddr || strcasecmp(from->hwaddr, nic->mac) != 0)
			continue;
		for (unsigned a = 0; a < from->naddrs && !nic->address[0]; a++)
			if (from->addrs[a].type == VIR_IP_ADDR_TYPE_IPV4)
				copy_str(nic->address, sizeof(nic->address), from->addrs[a].addr);
	}
}

/* Of a kind that libvirt can tell of: leases of its networks, and what the host
 * itself has talked to. */
static void found_addresses(virDomainPtr dom, struct domain_info *info, unsigned source)
{
	virDomainInterfacePtr *list = NULL;
	int n = virDomainInterfaceAddresses(dom, &list, source, 0);

	for (int i = 0; i < n; i++) {
		take_address(info, list[i]);
		virDomainInterfaceFree(list[i]);
	}
	free(list);
}

void virt_network_addresses(virDomainPtr dom, struct domain_info *info)
{
	bool wanted = false;

	for (size_t i = 0; i < info->n_nics; i++) {
		if (streq(info->nics[i].type, "network"))
			reserved_address(virDomainGetConnect(dom), &info->nics[i]);
		wanted |= !info->nics[i].address[0] && !streq(info->nics[i].type, "user");
	}
	if (wanted) {
		found_addresses(dom, info, VIR_DOMAIN_INTERFACE_ADDRESSES_SRC_LEASE);
		found_addresses(dom, info, VIR_DOMAIN_INTERFACE_ADDRESSES_SRC_ARP);
	}
}
