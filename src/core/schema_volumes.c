/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VMI's volumes: where the content of its disks comes from.
 */
#include "core/schema_rows.h"

#define NO_PLUGGING "volumes are not plugged into a guest that runs in this version"

#define SSH_KEY  "accessCredentials[].sshPublicKey"
#define BY_AGENT SSH_KEY ".propagationMethod.qemuGuestAgent"
#define PASSWORD "accessCredentials[].userPassword"
#define DOWNWARD "volumes[].downwardAPI.fields[]"

/* clang-format off */
#define CLOUD_INIT(which) \
	F(SPEC, "volumes[]." which,                              MAP), \
	F(SPEC, "volumes[]." which ".userData",                  STRING), \
	F(SPEC, "volumes[]." which ".userDataBase64",            STRING, RULE(BASE64)), \
	F(SPEC, "volumes[]." which ".secretRef",                 MAP), \
	F(SPEC, "volumes[]." which ".secretRef.name",            STRING, REQUIRED, RULE(NAME)), \
	F(SPEC, "volumes[]." which ".networkData",               STRING), \
	F(SPEC, "volumes[]." which ".networkDataBase64",         STRING, RULE(BASE64)), \
	F(SPEC, "volumes[]." which ".networkDataSecretRef",      MAP), \
	F(SPEC, "volumes[]." which ".networkDataSecretRef.name", STRING, REQUIRED, RULE(NAME))

static const struct schema_field rows[] = {
	F(SPEC, "volumes",                                 LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "volumes[]",                               MAP),
	F(SPEC, "volumes[].name",                          STRING, REQUIRED, RULE(LABEL)),
	F(SPEC, "volumes[].containerDisk",                 MAP),
	F(SPEC, "volumes[].containerDisk.image",           STRING, REQUIRED, RULE(IMAGE)),
	F(SPEC, "volumes[].containerDisk.imagePullPolicy", ENUM, ONE(PULL_POLICIES),
		IGNORED(PULL_NOTE)),
	F(SPEC, "volumes[].containerDisk.imagePullSecret", STRING, IGNORED(PULL_NOTE)),
	F(SPEC, "volumes[].containerDisk.path",            STRING, RULE(INNER_PATH)),
	F(SPEC, "volumes[].emptyDisk",                     MAP),
	F(SPEC, "volumes[].emptyDisk.capacity",            QUANTITY, REQUIRED, RANGE(1, 0)),
	F(SPEC, "volumes[].hostDisk",                      MAP),
	F(SPEC, "volumes[].hostDisk.path",                 STRING, REQUIRED, RULE(PATH)),
	F(SPEC, "volumes[].hostDisk.type",                 ENUM, REQUIRED,
		ONE("Disk|DiskOrCreate")),
	F(SPEC, "volumes[].hostDisk.capacity",             QUANTITY, RANGE(1, 0)),
	F(SPEC, "volumes[].hostDisk.shared",               BOOL, DEFAULT("false")),
	CLOUD_INIT("cloudInitConfigDrive"),
	CLOUD_INIT("cloudInitNoCloud"),
	F(SPEC, "volumes[].configMap",                     MAP),
	F(SPEC, "volumes[].configMap.name",                STRING, REQUIRED, RULE(NAME)),
	F(SPEC, "volumes[].configMap.optional",            BOOL, DEFAULT("false")),
	F(SPEC, "volumes[].configMap.volumeLabel",         STRING, RULE(VOLUME_LABEL)),
	F(SPEC, "volumes[].containerPath",                 MAP,
		REFUSED("there is no container to take it from; use a hostDisk")),
	F(SPEC, "accessCredentials",                       LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "accessCredentials[]",                     MAP),
	F(SPEC, SSH_KEY,                                   MAP),
	F(SPEC, SSH_KEY ".source",                         MAP, REQUIRED),
	F(SPEC, SSH_KEY ".source.secret",                  MAP, REQUIRED),
	F(SPEC, SSH_KEY ".source.secret.secretName",       STRING, REQUIRED, RULE(NAME)),
	F(SPEC, SSH_KEY ".propagationMethod",              MAP, REQUIRED),
	F(SPEC, SSH_KEY ".propagationMethod.noCloud",      MAP),
	F(SPEC, SSH_KEY ".propagationMethod.configDrive",  MAP),
	F(SPEC, BY_AGENT,                                  MAP),
	F(SPEC, BY_AGENT ".users",                         LIST, REQUIRED, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, BY_AGENT ".users[]",                       STRING, RULE(LOGIN)),
	F(SPEC, PASSWORD,                                  MAP),
	F(SPEC, PASSWORD ".source",                        MAP, REQUIRED),
	F(SPEC, PASSWORD ".source.secret",                 MAP, REQUIRED),
	F(SPEC, PASSWORD ".source.secret.secretName",      STRING, REQUIRED, RULE(NAME)),
	F(SPEC, PASSWORD ".propagationMethod",             MAP, REQUIRED),
	F(SPEC, PASSWORD ".propagationMethod.qemuGuestAgent", MAP, REQUIRED),
	F(SPEC, "volumes[].dataVolume",                    MAP),
	F(SPEC, "volumes[].dataVolume.name",               STRING, REQUIRED, RULE(NAME)),
	F(SPEC, "volumes[].dataVolume.hotpluggable",       BOOL, IGNORED(NO_PLUGGING)),
	F(SPEC, "volumes[].downwardAPI",                   MAP),
	F(SPEC, "volumes[].downwardAPI.volumeLabel",       STRING, RULE(VOLUME_LABEL)),
	F(SPEC, "volumes[].downwardAPI.fields",            LIST, REQUIRED, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, DOWNWARD,                                  MAP),
	F(SPEC, DOWNWARD ".path",                          STRING, REQUIRED, RULE(INNER_PATH)),
	F(SPEC, DOWNWARD ".mode",                          INTEGER, RANGE(0, 0777),
		NOTE("of the file where the volume is a filesystem; a disk can only be read")),
	F(SPEC, DOWNWARD ".fieldRef",                      MAP),
	F(SPEC, DOWNWARD ".fieldRef.apiVersion",           ENUM, ONE("v1"), DEFAULT("v1")),
	F(SPEC, DOWNWARD ".fieldRef.fieldPath",            STRING, REQUIRED, RULE(DOWNWARD_FIELD)),
	F(SPEC, DOWNWARD ".resourceFieldRef",              MAP),
	F(SPEC, DOWNWARD ".resourceFieldRef.containerName", STRING,
		IGNORED("a run has no containers: the resources are its own")),
	F(SPEC, DOWNWARD ".resourceFieldRef.resource",     ENUM, REQUIRED,
		ONE("limits.cpu|limits.memory|requests.cpu|requests.memory")),
	F(SPEC, DOWNWARD ".resourceFieldRef.divisor",      QUANTITY, RANGE(1, 0), DEFAULT("1")),
	F(SPEC, "volumes[].downwardMetrics",               MAP,
		REFUSED("read the guest's figures on the host")),
	F(SPEC, "volumes[].ephemeral",                     MAP),
	F(SPEC, "volumes[].ephemeral.persistentVolumeClaim", MAP, REQUIRED),
	F(SPEC, "volumes[].ephemeral.persistentVolumeClaim.claimName", STRING, REQUIRED, RULE(NAME)),
	F(SPEC, "volumes[].ephemeral.persistentVolumeClaim.readOnly", BOOL,
		IGNORED("the claim below is only read anyway")),
	F(SPEC, "volumes[].memoryDump",                    MAP,
		REFUSED("a guest's memory is not dumped in this version")),
	F(SPEC, "volumes[].persistentVolumeClaim",         MAP),
	F(SPEC, "volumes[].persistentVolumeClaim.claimName", STRING, REQUIRED, RULE(NAME)),
	F(SPEC, "volumes[].persistentVolumeClaim.readOnly", BOOL, DEFAULT("false")),
	F(SPEC, "volumes[].persistentVolumeClaim.hotpluggable", BOOL, IGNORED(NO_PLUGGING)),
	F(SPEC, "volumes[].secret",                        MAP),
	F(SPEC, "volumes[].secret.secretName",             STRING, REQUIRED, RULE(NAME)),
	F(SPEC, "volumes[].secret.optional",               BOOL, DEFAULT("false")),
	F(SPEC, "volumes[].secret.volumeLabel",            STRING, RULE(VOLUME_LABEL)),
	F(SPEC, "volumes[].serviceAccount",                MAP,
		REFUSED("there is no cluster that a guest could have an account of")),
	F(SPEC, "volumes[].sysprep",                       MAP),
	F(SPEC, "volumes[].sysprep.configMap",             MAP),
	F(SPEC, "volumes[].sysprep.configMap.name",        STRING, REQUIRED, RULE(NAME)),
	F(SPEC, "volumes[].sysprep.secret",                MAP),
	F(SPEC, "volumes[].sysprep.secret.name",           STRING, REQUIRED, RULE(NAME)),
};
/* clang-format on */

const struct schema_table schema_volumes = { rows, ARRAY_SIZE(rows) };
