/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VMI's spec around its domain: how it lives, where it may run, networks and volumes.
 */
#include "core/schema_rows.h"

#define NO_SCHEDULER   "there is no scheduler on one host"
#define NO_CLUSTER_DNS "there is no cluster whose names could be looked up"
#define NO_PROBES      "watch the guest from outside"
#define NO_MEDIA       "give it as a medium of your own: a hostDisk with a cdrom"
#define NO_STORAGE     "use a hostDisk"

/* clang-format off */
static const struct schema_field rows[] = {
	F(SPEC, "architecture",                  ENUM, ONE("amd64")),
	F(SPEC, "startStrategy",                 ENUM, ONE("Paused")),
	F(SPEC, "terminationGracePeriodSeconds", INTEGER, RANGE(0, GRACE_MAX_S), DEFAULT("30")),
	F(SPEC, "evictionStrategy",              ENUM,
		ONE("None|LiveMigrate|LiveMigrateIfPossible|External"),
		IGNORED("a guest goes down with its host in this version")),
	F(SPEC, "hostname",                      STRING, REFUSED("set the name in the guest")),
	F(SPEC, "subdomain",                     STRING, IGNORED(NO_CLUSTER_DNS)),
	F(SPEC, "dnsPolicy",                     STRING, IGNORED(NO_CLUSTER_DNS)),
	F(SPEC, "dnsConfig",                     ANY, IGNORED(NO_CLUSTER_DNS)),
	F(SPEC, "livenessProbe",                 MAP, REFUSED(NO_PROBES)),
	F(SPEC, "readinessProbe",                MAP, REFUSED(NO_PROBES)),
	F(SPEC, "accessCredentials",             LIST,
		REFUSED("put keys and passwords into the guest's image")),

	F(SPEC, "affinity",                  ANY, IGNORED(NO_SCHEDULER)),
	F(SPEC, "nodeSelector",              ANY, IGNORED(NO_SCHEDULER)),
	F(SPEC, "priorityClassName",         STRING, IGNORED(NO_SCHEDULER)),
	F(SPEC, "schedulerName",             STRING, IGNORED(NO_SCHEDULER)),
	F(SPEC, "tolerations",               ANY, IGNORED(NO_SCHEDULER)),
	F(SPEC, "topologySpreadConstraints", ANY, IGNORED(NO_SCHEDULER)),
	F(SPEC, "serviceAccountName",        STRING,
		IGNORED("there is no cluster that a guest could have an account of")),
	F(SPEC, "resourceClaims",            LIST, REFUSED("a host has no resource claims")),

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

	F(SPEC, "volumes",                                 LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "volumes[]",                               MAP),
	F(SPEC, "volumes[].name",                          STRING, REQUIRED, RULE(LABEL)),
	F(SPEC, "volumes[].containerDisk",                 MAP),
	F(SPEC, "volumes[].containerDisk.image",           STRING, REQUIRED, RULE(IMAGE)),
	F(SPEC, "volumes[].containerDisk.imagePullPolicy", ENUM, ONE(PULL_POLICIES),
		IGNORED(PULL_NOTE)),
	F(SPEC, "volumes[].containerDisk.imagePullSecret", STRING, IGNORED(PULL_NOTE)),
	F(SPEC, "volumes[].containerDisk.path",            STRING, IGNORED(PULL_NOTE)),
	F(SPEC, "volumes[].emptyDisk",                     MAP),
	F(SPEC, "volumes[].emptyDisk.capacity",            QUANTITY, REQUIRED, RANGE(1, 0)),
	F(SPEC, "volumes[].hostDisk",                      MAP),
	F(SPEC, "volumes[].hostDisk.path",                 STRING, REQUIRED, RULE(PATH)),
	F(SPEC, "volumes[].hostDisk.type",                 ENUM, REQUIRED,
		ONE("Disk|DiskOrCreate")),
	F(SPEC, "volumes[].hostDisk.capacity",             QUANTITY, RANGE(1, 0)),
	F(SPEC, "volumes[].hostDisk.shared",               BOOL, DEFAULT("false")),
	F(SPEC, "volumes[].cloudInitConfigDrive",          MAP, REFUSED(NO_MEDIA)),
	F(SPEC, "volumes[].cloudInitNoCloud",              MAP, REFUSED(NO_MEDIA)),
	F(SPEC, "volumes[].configMap",                     MAP, REFUSED(NO_MEDIA)),
	F(SPEC, "volumes[].containerPath",                 MAP,
		REFUSED("there is no container to take it from; use a hostDisk")),
	F(SPEC, "volumes[].dataVolume",                    MAP, REFUSED(NO_STORAGE)),
	F(SPEC, "volumes[].downwardAPI",                   MAP, REFUSED(NO_MEDIA)),
	F(SPEC, "volumes[].downwardMetrics",               MAP,
		REFUSED("read the guest's figures on the host")),
	F(SPEC, "volumes[].ephemeral",                     MAP,
		REFUSED("use a containerDisk, whose image is a local file")),
	F(SPEC, "volumes[].memoryDump",                    MAP,
		REFUSED("a guest's memory is not dumped in this version")),
	F(SPEC, "volumes[].persistentVolumeClaim",         MAP, REFUSED(NO_STORAGE)),
	F(SPEC, "volumes[].secret",                        MAP, REFUSED(NO_MEDIA)),
	F(SPEC, "volumes[].serviceAccount",                MAP,
		REFUSED("there is no cluster that a guest could have an account of")),
	F(SPEC, "volumes[].sysprep",                       MAP, REFUSED(NO_MEDIA)),
	F(SPEC, "utilityVolumes",                          LIST,
		REFUSED("they serve a launcher pod, and there is none")),
};
/* clang-format on */

const struct schema_table schema_spec = { rows, ARRAY_SIZE(rows) };
