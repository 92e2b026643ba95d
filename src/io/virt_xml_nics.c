/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interfaces of a domain's XML, and the addresses that a network's XML reserves for them.
 */
#include "core/domxml.h"
#include "io/virt_xml_tree.h"

#include <string.h>

static void copy_attr(char *ret, size_t size, xmlNodePtr node, const char *name)
{
	autofree char *value = xml_get(node, name);

	copy_str(ret, size, value);
}

static void read_source(xmlNodePtr nic, struct nic_info *ret)
{
	static const char *const attributes[] = { "network", "bridge", "dev" };
	xmlNodePtr source = xml_child(nic, "source");

	for (size_t i = 0; i < ARRAY_SIZE(attributes) && !ret->source[0]; i++)
		copy_attr(ret->source, sizeof(ret->source), source, attributes[i]);
}

/* The latter is an older version's. */
static const char *const prefixes[] = { ALIAS_PREFIX INTERFACE_ALIAS, ALIAS_PREFIX };

static void read_nic(xmlNodePtr nic, struct nic_info *ret)
{
	autofree char *alias = xml_get(xml_child(nic, "alias"), "name");
	autofree char *link = xml_get(xml_child(nic, "link"), "state");

	for (size_t i = 0; i < ARRAY_SIZE(prefixes) && !ret->name[0]; i++)
		if (alias && starts_with(alias, prefixes[i]))
			copy_str(ret->name, sizeof(ret->name), alias + strlen(prefixes[i]));
	copy_attr(ret->mac, sizeof(ret->mac), xml_child(nic, "mac"), "address");
	copy_attr(ret->type, sizeof(ret->type), nic, "type");
	copy_attr(ret->target, sizeof(ret->target), xml_child(nic, "target"), "dev");
	ret->down = streq(link, "down");
	read_source(nic, ret);
}

void virt_xml_nics(xmlNodePtr devices, struct domain_info *info)
{
	xmlNodePtr first = xml_child(devices, "interface");
	size_t n = 0;

	for (xmlNodePtr nic = first; nic; nic = xml_next(nic->next, "interface"))
		n++;
	info->nics = n ? xcalloc(n, sizeof(*info->nics)) : NULL;
	info->n_nics = 0;
	for (xmlNodePtr nic = first; nic; nic = xml_next(nic->next, "interface"))
		read_nic(nic, &info->nics[info->n_nics++]);
}

/* ---- changing a domain ----------------------------------------------------------------------- */

static void become_user(xmlNodePtr nic)
{
	xmlNodePtr next;

	xmlSetProp(nic, BAD_CAST "type", BAD_CAST "user");
	for (xmlNodePtr c = nic->children; c; c = next) {
		next = c->next;
		if (c->type != XML_ELEMENT_NODE ||
			(!streq((const char *)c->name, "source") &&
				!streq((const char *)c->name, "driver")))
			continue;
		xmlUnlinkNode(c);
		xmlFreeNode(c);
	}
}

char *virt_xml_without_network(const char *xml, const char *network)
{
	xmlDocPtr doc = tree_read(xml);
	xmlNodePtr devices = xml_child(doc ? xmlDocGetRootElement(doc) : NULL, "devices");
	xmlNodePtr nic = xml_child(devices, "interface");
	char *changed = NULL;

	for (; nic; nic = xml_next(nic->next, "interface")) {
		autofree char *source = xml_get(xml_child(nic, "source"), "network");

		if (streq(source, network))
			become_user(nic);
	}
	if (doc)
		changed = tree_print(doc);
	xmlFreeDoc(doc);
	return changed;
}

/* ---- a network's addresses ------------------------------------------------------------------- */

static xmlNodePtr ip_of(xmlDocPtr doc)
{
	xmlNodePtr ip = xml_child(doc ? xmlDocGetRootElement(doc) : NULL, "ip");

	while (ip && !xml_child(ip, "dhcp"))
		ip = xml_next(ip->next, "ip");
	return ip;
}

static void read_host(xmlNodePtr host, struct virt_reservations *ret)
{
	struct virt_reservation *one = &ret->list[ret->n];

	copy_attr(one->mac, sizeof(one->mac), host, "mac");
	copy_attr(one->address, sizeof(one->address), host, "ip");
	ret->n++;
}

bool virt_xml_reservations(const char *xml, struct virt_reservations *ret)
{
	xmlDocPtr doc = tree_read(xml);
	xmlNodePtr ip = ip_of(doc), host = xml_child(xml_child(ip, "dhcp"), "host");
	autofree char *address = xml_get(ip, "address"), *prefix = xml_get(ip, "prefix");
	size_t n = 0;

	*ret = (struct virt_reservations){ 0 };
	if (address)
		ret->cidr = xasprintf("%s/%s", address, prefix ? prefix : "24");
	for (xmlNodePtr h = host; h; h = xml_next(h->next, "host"))
		n++;
	ret->list = xcalloc(n + 1, sizeof(*ret->list));
	for (xmlNodePtr h = host; h; h = xml_next(h->next, "host"))
		read_host(h, ret);
	xmlFreeDoc(doc);
	return ret->cidr != NULL;
}

void virt_reservations_done(struct virt_reservations *r)
{
	free(r->list);
	free(r->cidr);
	*r = (struct virt_reservations){ 0 };
}
