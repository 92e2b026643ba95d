/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VMI's networks, and its domain's interfaces to them.
 */
#include "core/schema_rows.h"

#define ACPI_INDEX_MAX 16383 /* of systemd's names */
#define NIC_MODELS     "virtio|e1000|e1000e|igb|ne2k_pci|pcnet|rtl8139"
#define NO_CLAIMS      "a host has no resource claims"

/* clang-format off */
static const struct schema_field rows[] = {
	F(SPEC, "networks",                         LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "networks[]",                       MAP),
	F(SPEC, "networks[].name",                  STRING, REQUIRED, RULE(INTERFACE)),
	F(SPEC, "networks[].pod",                   MAP),
	F(SPEC, "networks[].pod.vmNetworkCIDR",     STRING, RULE(CIDR4)),
	F(SPEC, "networks[].pod.vmIPv6NetworkCIDR", STRING, RULE(CIDR6)),
	F(SPEC, "networks[].multus",                MAP),
	F(SPEC, "networks[].multus.networkName",    STRING, REQUIRED, RULE(NETWORK_NAME)),
	F(SPEC, "networks[].multus.default",        BOOL, DEFAULT("false")),
	F(SPEC, "networks[].resourceClaim",         MAP, REFUSED(NO_CLAIMS)),

	F(SPEC, "domain.devices.interfaces",                LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "domain.devices.interfaces[]",              MAP),
	F(SPEC, "domain.devices.interfaces[].name",         STRING, REQUIRED, RULE(INTERFACE)),
	F(SPEC, "domain.devices.interfaces[].model",        ENUM, ONE(NIC_MODELS),
		DEFAULT(DEFAULT_NIC_MODEL)),
	F(SPEC, "domain.devices.interfaces[].macAddress",   STRING, RULE(MAC)),
	F(SPEC, "domain.devices.interfaces[].bootOrder",    INTEGER, RANGE(1, BOOT_ORDER_MAX)),
	F(SPEC, "domain.devices.interfaces[].pciAddress",   STRING, RULE(PCI_ADDRESS)),
	F(SPEC, "domain.devices.interfaces[].acpiIndex",    INTEGER, RANGE(1, ACPI_INDEX_MAX)),
	F(SPEC, "domain.devices.interfaces[].state",        ENUM, ONE("up|down|absent"),
		DEFAULT("up")),
	F(SPEC, "domain.devices.interfaces[].tag",          STRING, RULE(WORD),
		NOTE("told by cloudInitConfigDrive, with the MAC address")),
	F(SPEC, "domain.devices.interfaces[].masquerade",   MAP),
	F(SPEC, "domain.devices.interfaces[].bridge",       MAP),
	F(SPEC, "domain.devices.interfaces[].binding",      MAP),
	F(SPEC, "domain.devices.interfaces[].binding.name", STRING, REQUIRED, RULE(LABEL)),
	F(SPEC, "domain.devices.interfaces[].passtBinding", MAP),
	F(SPEC, "domain.devices.interfaces[].sriov",        MAP),
	F(SPEC, "domain.devices.interfaces[].macvtap",      MAP),
	F(SPEC, "domain.devices.interfaces[].passt",        MAP),
	F(SPEC, "domain.devices.interfaces[].slirp",        MAP),
	F(SPEC, "domain.devices.interfaces[].ports",        LIST, RANGE(0, PORTS_MAX)),
	F(SPEC, "domain.devices.interfaces[].ports[]",      MAP),
	F(SPEC, "domain.devices.interfaces[].ports[].name", STRING, RULE(INTERFACE)),
	F(SPEC, "domain.devices.interfaces[].ports[].port", INTEGER, REQUIRED, RANGE(1, 65535)),
	F(SPEC, "domain.devices.interfaces[].ports[].protocol",      ENUM, ONE("TCP|UDP"),
		DEFAULT("TCP")),
	F(SPEC, "domain.devices.interfaces[].portRanges",            LIST, RANGE(0, PORTS_MAX)),
	F(SPEC, "domain.devices.interfaces[].portRanges[]",          MAP),
	F(SPEC, "domain.devices.interfaces[].portRanges[].start",    INTEGER, REQUIRED,
		RANGE(1, 65535)),
	F(SPEC, "domain.devices.interfaces[].portRanges[].end",      INTEGER, REQUIRED,
		RANGE(1, 65535)),
	F(SPEC, "domain.devices.interfaces[].portRanges[].protocol", ENUM, ONE("TCP|UDP"),
		DEFAULT("TCP")),
	F(SPEC, "domain.devices.interfaces[].dhcpOptions",           MAP,
		REFUSED("libvirt's DHCP server has options for all guests: dnsmasq 2.90 ends at its "
			"next reload once a guest has a tag of its own")),
};
/* clang-format on */

const struct schema_table schema_networks = { rows, ARRAY_SIZE(rows) };
