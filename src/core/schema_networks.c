/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VMI's networks, and its domain's interfaces to them.
 */
#include "core/schema_rows.h"

#define ACPI_INDEX_MAX 16383 /* of systemd's names */
#define NIC_MODELS     "virtio|e1000|e1000e|igb|ne2k_pci|pcnet|rtl8139"
#define OTHER_BINDING  "use masquerade"
#define NOT_REACHED    "a user-mode network lets nobody in"

/* clang-format off */
static const struct schema_field rows[] = {
	F(SPEC, "networks",                         LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "networks[]",                       MAP),
	F(SPEC, "networks[].name",                  STRING, REQUIRED, RULE(INTERFACE)),
	F(SPEC, "networks[].pod",                   MAP),
	F(SPEC, "networks[].pod.vmNetworkCIDR",     STRING,
		REFUSED("the guest's network is 10.0.2.0/24")),
	F(SPEC, "networks[].pod.vmIPv6NetworkCIDR", STRING,
		REFUSED("the guest's network is fec0::/64")),
	F(SPEC, "networks[].multus",                MAP, REFUSED("only the pod network is there")),
	F(SPEC, "networks[].resourceClaim",         MAP, REFUSED("a host has no resource claims")),

	F(SPEC, "domain.devices.interfaces",                LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "domain.devices.interfaces[]",              MAP),
	F(SPEC, "domain.devices.interfaces[].name",         STRING, REQUIRED, RULE(INTERFACE)),
	F(SPEC, "domain.devices.interfaces[].model",        ENUM, ONE(NIC_MODELS),
		DEFAULT(DEFAULT_NIC_MODEL)),
	F(SPEC, "domain.devices.interfaces[].macAddress",   STRING, RULE(MAC)),
	F(SPEC, "domain.devices.interfaces[].bootOrder",    INTEGER, RANGE(1, BOOT_ORDER_MAX)),
	F(SPEC, "domain.devices.interfaces[].pciAddress",   STRING, RULE(PCI_ADDRESS)),
	F(SPEC, "domain.devices.interfaces[].acpiIndex",    INTEGER, RANGE(1, ACPI_INDEX_MAX)),
	F(SPEC, "domain.devices.interfaces[].state",        ENUM, ONE("up|down"), DEFAULT("up")),
	F(SPEC, "domain.devices.interfaces[].tag",          STRING,
		REFUSED("a macAddress tells the guest which interface it is")),
	F(SPEC, "domain.devices.interfaces[].masquerade",   MAP),
	F(SPEC, "domain.devices.interfaces[].bridge",       MAP),
	F(SPEC, "domain.devices.interfaces[].binding",      MAP, REFUSED(OTHER_BINDING)),
	F(SPEC, "domain.devices.interfaces[].passtBinding", MAP, REFUSED(OTHER_BINDING)),
	F(SPEC, "domain.devices.interfaces[].sriov",        MAP, REFUSED(OTHER_BINDING)),
	F(SPEC, "domain.devices.interfaces[].macvtap",      MAP, REFUSED(OTHER_BINDING)),
	F(SPEC, "domain.devices.interfaces[].passt",        MAP, REFUSED(OTHER_BINDING)),
	F(SPEC, "domain.devices.interfaces[].slirp",        MAP, REFUSED(OTHER_BINDING)),
	F(SPEC, "domain.devices.interfaces[].ports",        ANY, IGNORED(NOT_REACHED)),
	F(SPEC, "domain.devices.interfaces[].portRanges",   ANY, IGNORED(NOT_REACHED)),
	F(SPEC, "domain.devices.interfaces[].dhcpOptions",  MAP,
		REFUSED("the guest's DHCP server has no options")),
};
/* clang-format on */

const struct schema_table schema_networks = { rows, ARRAY_SIZE(rows) };
