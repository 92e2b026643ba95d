/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of what is served. Short names and categories are KubeVirt's and Kubernetes' own.
 */
#include "daemon/api/resources.h"

#include <string.h>

/* clang-format off */
const struct api_group api_groups[] = {
	{ "",                         { "v1" } },
	{ "cdi.kubevirt.io",          { "v1beta1" } },
	{ "events.k8s.io",            { "v1" } },
	{ "instancetype.kubevirt.io", { "v1beta1" } },
	{ "k8s.cni.cncf.io",          { "v1" } },
	{ "kubevirt.io",              { "v1", "v1alpha3" } },
	{ "migrations.kubevirt.io",   { "v1alpha1" } },
	{ "scheduling.k8s.io",        { "v1" } },
	{ SUBRESOURCES_GROUP,         { "v1", "v1alpha3" } },
	{ "vmagent.io",               { "v1" } },
	{ 0 },
};

#define KUBEVIRT     "kubevirt.io"
#define SUBRESOURCES SUBRESOURCES_GROUP
#define INSTANCETYPE "instancetype.kubevirt.io"
#define CDI          "cdi.kubevirt.io"
#define CNI          "k8s.cni.cncf.io"
#define EVENTS       "events.k8s.io"
#define MIGRATIONS   "migrations.kubevirt.io"
#define SCHEDULING   "scheduling.k8s.io"
#define VMAGENT      "vmagent.io"
#define ALL          "\"all\""
#define READ         RESOURCE_READ
#define WRITE        (RESOURCE_READ | RESOURCE_WRITE)

const struct resource api_resources[] = {
	{ "", "configmaps", "configmap", "ConfigMap", "\"cm\"", "", true, WRITE, KIND_CONFIG_MAP },
	{ "", "events", "event", "Event", "\"ev\"", "", true, READ, KIND_EVENT },
	{ "", "namespaces", "namespace", "Namespace", "\"ns\"", "", false, WRITE & ~RESOURCE_DELETE_ALL,
	  KIND_NAMESPACE },
	{ "", "nodes", "node", "Node", "\"no\"", "", false, READ, KIND_NODE },
	{ "", "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim", "\"pvc\"", "", true,
	  WRITE, KIND_PVC },
	{ "", "pods", "pod", "Pod", "\"po\"", ALL, true, READ, KIND_POD },
	{ "", "secrets", "secret", "Secret", "", "", true, WRITE, KIND_SECRET },

	{ CDI, "datavolumes", "datavolume", "DataVolume", "\"dv\",\"dvs\"", ALL, true, WRITE, KIND_DATA_VOLUME },

	{ CNI, "network-attachment-definitions", "network-attachment-definition",
	  "NetworkAttachmentDefinition", "\"net-attach-def\"", "", true, WRITE, KIND_NETWORK },

	{ EVENTS, "events", "event", "Event", "\"ev\"", "", true, READ, KIND_NEW_EVENT },

	{ INSTANCETYPE, "virtualmachineclusterinstancetypes", "virtualmachineclusterinstancetype",
	  "VirtualMachineClusterInstancetype", "\"vmclusterinstancetype\",\"vmclusterinstancetypes\","
	  "\"vmcf\",\"vmcfs\"", "", false, WRITE, KIND_CLUSTER_INSTANCETYPE },
	{ INSTANCETYPE, "virtualmachineclusterpreferences", "virtualmachineclusterpreference",
	  "VirtualMachineClusterPreference", "\"vmcp\",\"vmcps\"", "", false, WRITE,
	  KIND_CLUSTER_PREFERENCE },
	{ INSTANCETYPE, "virtualmachineinstancetypes", "virtualmachineinstancetype",
	  "VirtualMachineInstancetype", "\"vminstancetype\",\"vminstancetypes\",\"vmf\",\"vmfs\"", ALL, true,
	  WRITE, KIND_INSTANCETYPE },
	{ INSTANCETYPE, "virtualmachinepreferences", "virtualmachinepreference",
	  "VirtualMachinePreference", "\"vmpref\",\"vmprefs\",\"vmp\",\"vmps\"", ALL, true, WRITE,
	  KIND_PREFERENCE },

	{ KUBEVIRT, "kubevirts", "kubevirt", "KubeVirt", "\"kv\",\"kvs\"", ALL, true, READ, KIND_KUBEVIRT },
	{ KUBEVIRT, "virtualmachineinstancemigrations", "virtualmachineinstancemigration",
	  "VirtualMachineInstanceMigration", "\"vmim\",\"vmims\"", ALL, true, WRITE, KIND_MIGRATION },
	{ KUBEVIRT, "virtualmachineinstances", "virtualmachineinstance", "VirtualMachineInstance",
	  "\"vmi\",\"vmis\"", ALL, true, WRITE, KIND_VMI },
	{ KUBEVIRT, "virtualmachines", "virtualmachine", "VirtualMachine", "\"vm\",\"vms\"", ALL, true, WRITE,
	  KIND_VM },

	{ MIGRATIONS, "migrationpolicies", "migrationpolicy", "MigrationPolicy", "", "", false, WRITE,
	  KIND_MIGRATION_POLICY },

	{ SCHEDULING, "priorityclasses", "priorityclass", "PriorityClass", "\"pc\"", "", false, WRITE,
	  KIND_PRIORITY_CLASS },

	{ VMAGENT, "domains", "domain", "Domain", "", "", false, RESOURCE_GET | RESOURCE_LIST, KIND_MAX },
	{ VMAGENT, "peers", "peer", "Peer", "", "", false, RESOURCE_GET | RESOURCE_LIST, KIND_MAX },
	{ 0 },
};

const struct subresource api_subresources[] = {
	{ KUBEVIRT, "virtualmachineinstancemigrations", "status", "VirtualMachineInstanceMigration",
	  RESOURCE_GET },
	{ KUBEVIRT, "virtualmachineinstances", "status", "VirtualMachineInstance", RESOURCE_GET },
	{ KUBEVIRT, "virtualmachines", "status", "VirtualMachine", RESOURCE_GET },
	{ SUBRESOURCES, "virtualmachineinstances", "console", "", RESOURCE_GET },
	{ SUBRESOURCES, "virtualmachineinstances", "filesystemlist", "VirtualMachineInstanceFileSystemList",
	  RESOURCE_GET },
	{ SUBRESOURCES, "virtualmachineinstances", "guestosinfo", "VirtualMachineInstanceGuestAgentInfo",
	  RESOURCE_GET },
	{ SUBRESOURCES, "virtualmachineinstances", "pause", "", RESOURCE_UPDATE },
	{ SUBRESOURCES, "virtualmachineinstances", "portforward", "", RESOURCE_GET },
	{ SUBRESOURCES, "virtualmachineinstances", "reset", "", RESOURCE_UPDATE },
	{ SUBRESOURCES, "virtualmachineinstances", "softreboot", "", RESOURCE_UPDATE },
	{ SUBRESOURCES, "virtualmachineinstances", "unpause", "", RESOURCE_UPDATE },
	{ SUBRESOURCES, "virtualmachineinstances", "userlist", "VirtualMachineInstanceGuestOSUserList",
	  RESOURCE_GET },
	{ SUBRESOURCES, "virtualmachineinstances", "vnc", "", RESOURCE_GET },
	{ SUBRESOURCES, "virtualmachineinstances", "vnc/screenshot", "", RESOURCE_GET },
	{ SUBRESOURCES, "virtualmachines", "expand-spec", "VirtualMachine", RESOURCE_GET },
	{ SUBRESOURCES, "virtualmachines", "migrate", "", RESOURCE_UPDATE },
	{ SUBRESOURCES, "virtualmachines", "portforward", "", RESOURCE_GET },
	{ SUBRESOURCES, "virtualmachines", "restart", "", RESOURCE_UPDATE },
	{ SUBRESOURCES, "virtualmachines", "start", "", RESOURCE_UPDATE },
	{ SUBRESOURCES, "virtualmachines", "stop", "", RESOURCE_UPDATE },
	{ VMAGENT, "domains", "adopt", "DomainAdoption", RESOURCE_CREATE },
	{ 0 },
};
/* clang-format on */

static bool is_text(const char *text, const char *at, size_t len)
{
	return strlen(text) == len && memcmp(text, at, len) == 0;
}

const struct api_group *api_group_find(const char *name, size_t len)
{
	for (const struct api_group *g = api_groups; g->name; g++)
		if (is_text(g->name, name, len))
			return g;
	return NULL;
}

const char *api_group_version(const struct api_group *group, const char *version, size_t len)
{
	for (size_t i = 0; i < GROUP_VERSIONS_MAX && group->versions[i]; i++)
		if (is_text(group->versions[i], version, len))
			return group->versions[i];
	return NULL;
}

const struct resource *api_resource_find(const struct api_group *group, const char *plural,
	size_t len)
{
	for (const struct resource *r = api_resources; r->plural; r++)
		if (streq(r->group, group->name) && is_text(r->plural, plural, len))
			return r;
	return NULL;
}

const struct subresource *api_subresource_of(const struct resource *resource, const char *name)
{
	for (const struct subresource *s = api_subresources; s->name; s++)
		if (streq(s->group, resource->group) && streq(s->parent, resource->plural) &&
			streq(s->name, name))
			return s;
	return NULL;
}

const struct resource *api_resource_of(enum object_kind kind)
{
	for (const struct resource *r = api_resources; r->plural; r++)
		if (r->object == kind)
			return r;
	return NULL;
}

const char *resource_verb_name(enum resource_verb_number verb)
{
	static const char *const names[] = {
#define X(c, text) text,
		RESOURCE_VERBS(X)
#undef X
	};

	return verb < RESOURCE_VERBS_N ? names[verb] : "?";
}
