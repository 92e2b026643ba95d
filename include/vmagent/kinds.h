/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of object that there are: of which group, where they lie, and who makes them. Pure. */
#ifndef VMAGENT_KINDS_H
#define VMAGENT_KINDS_H

#include <vmagent/base.h>

/* Kinds of object that the store keeps and the API serves, or only the latter: X(constant, kind,
 * plural, group and version as stored, whether it lies in a namespace, home). */
#define OBJECT_KINDS(X)                                                                          \
	X(VM, "VirtualMachine", "virtualmachines", "kubevirt.io/v1", true, MACHINE)              \
	X(VMI, "VirtualMachineInstance", "virtualmachineinstances", "kubevirt.io/v1", true,      \
		MACHINE)                                                                         \
	X(MIGRATION, "VirtualMachineInstanceMigration", "virtualmachineinstancemigrations",      \
		"kubevirt.io/v1", true, ORDER)                                                   \
	X(EVENT, "Event", "events", "v1", true, AGENT)                                           \
	X(FILE, "ManifestFile", "manifestfiles", "vmagent.io/v1", true, AGENT)                   \
	X(POD, "Pod", "pods", "v1", true, MADE)                            /* of VMIs */         \
	X(NODE, "Node", "nodes", "v1", false, MADE)                        /* this host */       \
	X(KUBEVIRT, "KubeVirt", "kubevirts", "kubevirt.io/v1", true, MADE) /* this agent */      \
	X(HOST_SHUTDOWN, "HostShutdown", "hostshutdown", "vmagent.io/v1", false, AGENT)          \
	X(NAMESPACE, "Namespace", "namespaces", "v1", false, RECORD)                             \
	X(SECRET, "Secret", "secrets", "v1", true, RECORD)                                       \
	X(CONFIG_MAP, "ConfigMap", "configmaps", "v1", true, RECORD)                             \
	X(PVC, "PersistentVolumeClaim", "persistentvolumeclaims", "v1", true, RECORD)            \
	X(DATA_VOLUME, "DataVolume", "datavolumes", "cdi.kubevirt.io/v1beta1", true, RECORD)     \
	X(NETWORK, "NetworkAttachmentDefinition", "network-attachment-definitions",              \
		"k8s.cni.cncf.io/v1", true, RECORD)                                              \
	X(INSTANCETYPE, "VirtualMachineInstancetype", "virtualmachineinstancetypes",             \
		"instancetype.kubevirt.io/v1beta1", true, RECORD)                                \
	X(CLUSTER_INSTANCETYPE, "VirtualMachineClusterInstancetype",                             \
		"virtualmachineclusterinstancetypes", "instancetype.kubevirt.io/v1beta1", false, \
		RECORD)                                                                          \
	X(PREFERENCE, "VirtualMachinePreference", "virtualmachinepreferences",                   \
		"instancetype.kubevirt.io/v1beta1", true, RECORD)                                \
	X(CLUSTER_PREFERENCE, "VirtualMachineClusterPreference",                                 \
		"virtualmachineclusterpreferences", "instancetype.kubevirt.io/v1beta1", false,   \
		RECORD)                                                                          \
	X(NEW_EVENT, "Event", "events", "events.k8s.io/v1", true, MADE) /* of Events */          \
	X(PRIORITY_CLASS, "PriorityClass", "priorityclasses", "scheduling.k8s.io/v1", false,     \
		RECORD)                                                                          \
	X(MIGRATION_POLICY, "MigrationPolicy", "migrationpolicies",                              \
		"migrations.kubevirt.io/v1alpha1", false, RECORD)

/* Who makes and changes a kind's objects. */
enum object_home {
	HOME_AGENT,   /* the agent alone */
	HOME_MACHINE, /* a user; the agent acts on it */
	HOME_RECORD,  /* a user; it is kept as given, for others that name it */
	HOME_MADE,    /* nobody: the API makes it at each look */
	HOME_ORDER,   /* a user or the agent; the agent carries it out, once */
};

enum object_kind {
#define X(c, kind, plural, group, namespaced, home) KIND_##c,
	OBJECT_KINDS(X)
#undef X
		KIND_MAX
};
const char *object_kind_name(enum object_kind kind);        /* "VirtualMachine" */
const char *object_kind_plural(enum object_kind kind);      /* "virtualmachines" */
const char *object_kind_api_version(enum object_kind kind); /* "kubevirt.io/v1" */
/* "virtualmachines.kubevirt.io"; owned by the caller. */
char *object_kind_resource(enum object_kind kind);
bool object_kind_is_namespaced(enum object_kind kind);
enum object_home object_kind_home(enum object_kind kind);
/* Of two that share a name, the first: the one that is stored. */
bool object_kind_parse(const char *kind, enum object_kind *ret_kind);

#endif
