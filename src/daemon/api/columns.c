/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KubeVirt's and CDI's printer columns, and Kubernetes' own for its kinds.
 */
#include "daemon/api/columns.h"

/* clang-format off */
static const struct column vm_columns[] = {
	{ "Name",            "string",  "name", 0, CELL_VALUE,     "metadata.name" },
	{ "Age",             "date",    "",     0, CELL_AGE,       "metadata.creationTimestamp" },
	{ "Status",          "string",  "",     0, CELL_VALUE,     "status.printableStatus" },
	{ "Ready",           "string",  "",     0, CELL_CONDITION, "Ready" },
	{ 0 },
};
static const struct column vmi_columns[] = {
	{ "Name",            "string",  "name", 0, CELL_VALUE,     "metadata.name" },
	{ "Age",             "date",    "",     0, CELL_AGE,       "metadata.creationTimestamp" },
	{ "Phase",           "string",  "",     0, CELL_VALUE,     "status.phase" },
	{ "IP",              "string",  "",     0, CELL_VALUE,     "status.interfaces.0.ipAddress" },
	{ "NodeName",        "string",  "",     0, CELL_VALUE,     "status.nodeName" },
	{ "Ready",           "string",  "",     0, CELL_CONDITION, "Ready" },
	{ "Live-Migratable", "string",  "",     1, CELL_CONDITION, "LiveMigratable" },
	{ "Paused",          "string",  "",     1, CELL_CONDITION, "Paused" },
	{ 0 },
};
static const struct column migration_columns[] = {
	{ "Name",            "string",  "name", 0, CELL_VALUE,     "metadata.name" },
	{ "Phase",           "string",  "",     0, CELL_VALUE,     "status.phase" },
	{ "VMI",             "string",  "",     0, CELL_VALUE,     "spec.vmiName" },
	{ 0 },
};
static const struct column event_columns[] = {
	{ "Last Seen",       "string",  "",     0, CELL_AGE,       "lastTimestamp" },
	{ "Type",            "string",  "",     0, CELL_VALUE,     "type" },
	{ "Reason",          "string",  "",     0, CELL_VALUE,     "reason" },
	{ "Object",          "string",  "",     0, CELL_INVOLVED,  "involvedObject" },
	{ "Subobject",       "string",  "",     1, CELL_VALUE,     "involvedObject.fieldPath" },
	{ "Source",          "string",  "",     1, CELL_VALUE,     "source.component" },
	{ "Message",         "string",  "",     0, CELL_VALUE,     "message" },
	{ "First Seen",      "string",  "",     1, CELL_AGE,       "firstTimestamp" },
	{ "Count",           "integer", "",     1, CELL_VALUE,     "count" },
	{ "Name",            "string",  "name", 1, CELL_VALUE,     "metadata.name" },
	{ 0 },
};
static const struct column new_event_columns[] = {
	{ "Last Seen",       "string",  "",     0, CELL_AGE,       "deprecatedLastTimestamp" },
	{ "Type",            "string",  "",     0, CELL_VALUE,     "type" },
	{ "Reason",          "string",  "",     0, CELL_VALUE,     "reason" },
	{ "Object",          "string",  "",     0, CELL_INVOLVED,  "regarding" },
	{ "Subobject",       "string",  "",     1, CELL_VALUE,     "regarding.fieldPath" },
	{ "Source",          "string",  "",     1, CELL_VALUE,     "deprecatedSource.component" },
	{ "Message",         "string",  "",     0, CELL_VALUE,     "note" },
	{ "First Seen",      "string",  "",     1, CELL_AGE,       "deprecatedFirstTimestamp" },
	{ "Count",           "integer", "",     1, CELL_VALUE,     "deprecatedCount" },
	{ "Name",            "string",  "name", 1, CELL_VALUE,     "metadata.name" },
	{ 0 },
};
static const struct column pod_columns[] = {
	{ "Name",            "string",  "name", 0, CELL_VALUE,     "metadata.name" },
	{ "Ready",           "string",  "",     0, CELL_READY,     "status.containerStatuses" },
	{ "Status",          "string",  "",     0, CELL_VALUE,     "status.phase" },
	{ "Restarts",        "integer", "",     0, CELL_VALUE,     "status.containerStatuses.0.restartCount" },
	{ "Age",             "string",  "",     0, CELL_AGE,       "metadata.creationTimestamp" },
	{ "IP",              "string",  "",     1, CELL_VALUE,     "status.podIP" },
	{ "Node",            "string",  "",     1, CELL_VALUE,     "spec.nodeName" },
	{ 0 },
};
static const struct column node_columns[] = {
	{ "Name",              "string", "name", 0, CELL_VALUE,     "metadata.name" },
	{ "Status",            "string", "",     0, CELL_WELL,      "Ready" },
	{ "Age",               "string", "",     0, CELL_AGE,       "metadata.creationTimestamp" },
	{ "Version",           "string", "",     0, CELL_VALUE,     "status.nodeInfo.kubeletVersion" },
	{ "OS-Image",          "string", "",     1, CELL_VALUE,     "status.nodeInfo.osImage" },
	{ "Kernel-Version",    "string", "",     1, CELL_VALUE,     "status.nodeInfo.kernelVersion" },
	{ "Container-Runtime", "string", "",     1, CELL_VALUE,     "status.nodeInfo.containerRuntimeVersion" },
	{ 0 },
};
static const struct column kubevirt_columns[] = {
	{ "Name",            "string",  "name", 0, CELL_VALUE,     "metadata.name" },
	{ "Age",             "date",    "",     0, CELL_AGE,       "metadata.creationTimestamp" },
	{ "Phase",           "string",  "",     0, CELL_VALUE,     "status.phase" },
	{ 0 },
};
static const struct column namespace_columns[] = {
	{ "Name",            "string",  "name", 0, CELL_VALUE,     "metadata.name" },
	{ "Status",          "string",  "",     0, CELL_VALUE,     "status.phase" },
	{ "Age",             "string",  "",     0, CELL_AGE,       "metadata.creationTimestamp" },
	{ 0 },
};
static const struct column secret_columns[] = {
	{ "Name",            "string",  "name", 0, CELL_VALUE,     "metadata.name" },
	{ "Type",            "string",  "",     0, CELL_VALUE,     "type" },
	{ "Data",            "string",  "",     0, CELL_COUNT,     "data" },
	{ "Age",             "string",  "",     0, CELL_AGE,       "metadata.creationTimestamp" },
	{ 0 },
};
static const struct column config_map_columns[] = {
	{ "Name",            "string",  "name", 0, CELL_VALUE,     "metadata.name" },
	{ "Data",            "string",  "",     0, CELL_COUNT,     "data" },
	{ "Age",             "string",  "",     0, CELL_AGE,       "metadata.creationTimestamp" },
	{ 0 },
};
static const struct column claim_columns[] = {
	{ "Name",            "string",  "name", 0, CELL_VALUE,     "metadata.name" },
	{ "Status",          "string",  "",     0, CELL_PHASE,     "status.phase" },
	{ "Volume",          "string",  "",     0, CELL_VALUE,     "spec.volumeName" },
	{ "Capacity",        "string",  "",     0, CELL_VALUE,     "status.capacity.storage" },
	{ "Access Modes",    "string",  "",     0, CELL_MODES,     "status.accessModes" },
	{ "StorageClass",    "string",  "",     0, CELL_VALUE,     "spec.storageClassName" },
	{ "Age",             "string",  "",     0, CELL_AGE,       "metadata.creationTimestamp" },
	{ "VolumeMode",      "string",  "",     1, CELL_VALUE,     "spec.volumeMode" },
	{ 0 },
};
static const struct column data_volume_columns[] = {
	{ "Name",            "string",  "name", 0, CELL_VALUE,     "metadata.name" },
	{ "Phase",           "string",  "",     0, CELL_VALUE,     "status.phase" },
	{ "Progress",        "string",  "",     0, CELL_VALUE,     "status.progress" },
	{ "Restarts",        "integer", "",     0, CELL_VALUE,     "status.restartCount" },
	{ "Age",             "string",  "",     0, CELL_AGE,       "metadata.creationTimestamp" },
	{ 0 },
};
static const struct column priority_columns[] = {
	{ "Name",            "string",  "name", 0, CELL_VALUE,     "metadata.name" },
	{ "Value",           "integer", "",     0, CELL_VALUE,     "value" },
	{ "Global-Default",  "boolean", "",     0, CELL_VALUE,     "globalDefault" },
	{ "Age",             "string",  "",     0, CELL_AGE,       "metadata.creationTimestamp" },
	{ 0 },
};
static const struct column plain_columns[] = {
	{ "Name",            "string",  "name", 0, CELL_VALUE,     "metadata.name" },
	{ "Age",             "string",  "",     0, CELL_AGE,       "metadata.creationTimestamp" },
	{ 0 },
};
static const struct column *const tables[KIND_MAX] = { /* without one: plain_columns */
	[KIND_VM]    = vm_columns,
	[KIND_VMI]   = vmi_columns,
	[KIND_MIGRATION] = migration_columns,
	[KIND_EVENT] = event_columns,
	[KIND_NEW_EVENT] = new_event_columns,
	[KIND_POD]   = pod_columns,
	[KIND_NODE]  = node_columns,
	[KIND_KUBEVIRT] = kubevirt_columns,
	[KIND_NAMESPACE] = namespace_columns,
	[KIND_SECRET] = secret_columns,
	[KIND_CONFIG_MAP] = config_map_columns,
	[KIND_PVC] = claim_columns,
	[KIND_DATA_VOLUME] = data_volume_columns,
	[KIND_PRIORITY_CLASS] = priority_columns,
};
/* clang-format on */

const struct column *columns_of(enum object_kind kind)
{
	return tables[kind] ? tables[kind] : plain_columns;
}
