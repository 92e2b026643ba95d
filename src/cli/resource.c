/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of types, and how a command line names objects. Columns are KubeVirt's own printer
 * columns, and kubectl's for events; a type is added here and nowhere else.
 */
#include <string.h>

#include "cli/resource.h"

#define INSTANCETYPE    "instancetype.kubevirt.io"
#define CONDITION(type) ".status.conditions[?(@.type==\"" type "\")].status"
#define MESSAGE(type)   ".status.conditions[?(@.type==\"" type "\")].message"

/* clang-format off */
static const struct column vm_columns[] = {
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   false },
	{ "AGE",             ".metadata.creationTimestamp",          CELL_AGE,    false },
	{ "STATUS",          ".status.printableStatus",              CELL_TEXT,   false },
	{ "READY",           CONDITION("Ready"),                     CELL_TEXT,   false },
	{ "RUNSTRATEGY",     ".spec.runStrategy",                    CELL_TEXT,   true },
	{ "CRASHLOOP",       MESSAGE("CrashLoop"),                   CELL_TEXT,   true },
	{ 0 },
};
static const struct column vmi_columns[] = {
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   false },
	{ "AGE",             ".metadata.creationTimestamp",          CELL_AGE,    false },
	{ "PHASE",           ".status.phase",                        CELL_TEXT,   false },
	{ "IP",              ".status.interfaces[0].ipAddress",      CELL_TEXT,   false },
	{ "NODENAME",        ".status.nodeName",                     CELL_TEXT,   false },
	{ "READY",           CONDITION("Ready"),                     CELL_TEXT,   false },
	{ "LIVE-MIGRATABLE", CONDITION("LiveMigratable"),            CELL_TEXT,   true },
	{ "PAUSED",          CONDITION("Paused"),                    CELL_TEXT,   true },
	{ 0 },
};
static const struct column migration_columns[] = {
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   false },
	{ "PHASE",           ".status.phase",                        CELL_TEXT,   false },
	{ "VMI",             ".spec.vmiName",                        CELL_TEXT,   false },
	{ "SOURCE",          ".status.migrationState.sourceNode",    CELL_TEXT,   true },
	{ "TARGET",          ".status.migrationState.targetNode",    CELL_TEXT,   true },
	{ "PROGRESS",        ".status.progress",                     CELL_PROGRESS, true },
	{ "AGE",             ".metadata.creationTimestamp",          CELL_AGE,    true },
	{ "WHY",             ".status",                              CELL_WHY,    true },
	{ 0 },
};
static const struct column event_columns[] = {
	{ "LAST SEEN",       ".lastTimestamp",                       CELL_AGE,    false },
	{ "TYPE",            ".type",                                CELL_TEXT,   false },
	{ "REASON",          ".reason",                              CELL_TEXT,   false },
	{ "OBJECT",          ".involvedObject",                      CELL_OBJECT, false },
	{ "SOURCE",          ".source.component",                    CELL_TEXT,   true },
	{ "MESSAGE",         ".message",                             CELL_TEXT,   false },
	{ "FIRST SEEN",      ".firstTimestamp",                      CELL_AGE,    true },
	{ "COUNT",           ".count",                               CELL_TEXT,   true },
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   true },
	{ 0 },
};
static const struct column domain_columns[] = {
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   false },
	{ "UUID",            ".metadata.uid",                        CELL_TEXT,   false },
	{ "STATE",           ".status.state",                        CELL_TEXT,   false },
	{ "REASON",          ".status.reason",                       CELL_TEXT,   true },
	{ "WHOSE",           ".status.owner",                        CELL_TEXT,   false },
	{ "VMI",             ".status.vmiUID",                       CELL_TEXT,   true },
	{ "LAST SEEN",       ".status.lastSeen",                     CELL_AGE,    false },
	{ 0 },
};
static const struct column peer_columns[] = {
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   false },
	{ "ADDRESS",         ".spec.address",                        CELL_TEXT,   false },
	{ "STATE",           ".status.state",                        CELL_TEXT,   false },
	{ "SINCE",           ".status.since",                        CELL_AGE,    true },
	{ "VERSION",         ".status.version",                      CELL_TEXT,   false },
	{ "PROTOCOL",        ".status.protocol",                     CELL_TEXT,   true },
	{ "CLOCK(MS)",       ".status.clockDifferenceMilliseconds",  CELL_TEXT,   false },
	{ "CPUS",            ".status.capacity.cpus",                CELL_TEXT,   false },
	{ "MEMORY",          ".status.capacity.memory",              CELL_TEXT,   false },
	{ "GUESTS",          ".status.guests",                       CELL_TEXT,   false },
	{ "GUEST-MEMORY",    ".status.guestMemory",                  CELL_TEXT,   true },
	{ "CERTIFICATE-EXPIRES", ".status.certificateExpires",       CELL_TEXT,   false },
	{ "MESSAGE",         ".status.message",                      CELL_TEXT,   false },
	{ 0 },
};

static const struct column pod_columns[] = {
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   false },
	{ "READY",           ".status.containerStatuses",            CELL_READY,  false },
	{ "STATUS",          ".status.phase",                        CELL_TEXT,   false },
	{ "RESTARTS",        ".status.containerStatuses[0].restartCount", CELL_TEXT, false },
	{ "AGE",             ".metadata.creationTimestamp",          CELL_AGE,    false },
	{ "IP",              ".status.podIP",                        CELL_TEXT,   true },
	{ "NODE",            ".spec.nodeName",                       CELL_TEXT,   true },
	{ 0 },
};
static const struct column node_columns[] = {
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   false },
	{ "STATUS",          CONDITION("Ready"),                     CELL_WELL,   false },
	{ "AGE",             ".metadata.creationTimestamp",          CELL_AGE,    false },
	{ "VERSION",         ".status.nodeInfo.kubeletVersion",      CELL_TEXT,   false },
	{ "OS-IMAGE",        ".status.nodeInfo.osImage",             CELL_TEXT,   true },
	{ "KERNEL-VERSION",  ".status.nodeInfo.kernelVersion",       CELL_TEXT,   true },
	{ 0 },
};
static const struct column phase_columns[] = { /* of what has no more to say */
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   false },
	{ "STATUS",          ".status.phase",                        CELL_TEXT,   false },
	{ "AGE",             ".metadata.creationTimestamp",          CELL_AGE,    false },
	{ 0 },
};
static const struct column priority_columns[] = {
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   false },
	{ "VALUE",           ".value",                               CELL_TEXT,   false },
	{ "GLOBAL-DEFAULT",  ".globalDefault",                       CELL_TEXT,   false },
	{ "AGE",             ".metadata.creationTimestamp",          CELL_AGE,    false },
	{ 0 },
};
static const struct column plain_columns[] = {
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   false },
	{ "AGE",             ".metadata.creationTimestamp",          CELL_AGE,    false },
	{ 0 },
};
static const struct column secret_columns[] = {
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   false },
	{ "TYPE",            ".type",                                CELL_TEXT,   false },
	{ "DATA",            ".data",                                CELL_COUNT,  false },
	{ "AGE",             ".metadata.creationTimestamp",          CELL_AGE,    false },
	{ 0 },
};
static const struct column config_map_columns[] = {
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   false },
	{ "DATA",            ".data",                                CELL_COUNT,  false },
	{ "AGE",             ".metadata.creationTimestamp",          CELL_AGE,    false },
	{ 0 },
};
static const struct column claim_columns[] = {
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   false },
	{ "STATUS",          ".status.phase",                        CELL_PHASE,  false },
	{ "VOLUME",          ".spec.volumeName",                     CELL_TEXT,   false },
	{ "CAPACITY",        ".status.capacity.storage",             CELL_TEXT,   false },
	{ "ACCESS MODES",    ".status.accessModes",                  CELL_MODES,  false },
	{ "STORAGECLASS",    ".spec.storageClassName",               CELL_TEXT,   false },
	{ "AGE",             ".metadata.creationTimestamp",          CELL_AGE,    false },
	{ "VOLUMEMODE",      ".spec.volumeMode",                     CELL_TEXT,   true },
	{ 0 },
};
static const struct column data_volume_columns[] = {
	{ "NAME",            ".metadata.name",                       CELL_TEXT,   false },
	{ "PHASE",           ".status.phase",                        CELL_TEXT,   false },
	{ "PROGRESS",        ".status.progress",                     CELL_TEXT,   false },
	{ "RESTARTS",        ".status.restartCount",                 CELL_TEXT,   false },
	{ "AGE",             ".metadata.creationTimestamp",          CELL_AGE,    false },
	{ 0 },
};

/* Kinds of KubeVirt's neighbours, all named alike: kind, its name in lower case, group, version,
 * aliases. */
#define NEIGHBOUR(kind, name, group, version, aliases, columns, of_the_host)                 \
	{ kind, name "s", name "." group, "/apis/" group "/" version, group "/" version,     \
	  aliases " " name " " name "s " name "." group " " name "s." group, columns, of_the_host }

static const struct resource resources[] = {
	{ "VirtualMachine", "virtualmachines", "virtualmachine.kubevirt.io", "/apis/kubevirt.io/v1",
	  "kubevirt.io/v1", "vm vms virtualmachine virtualmachines virtualmachine.kubevirt.io "
	  "virtualmachines.kubevirt.io", vm_columns, false },
	{ "VirtualMachineInstance", "virtualmachineinstances", "virtualmachineinstance.kubevirt.io",
	  "/apis/kubevirt.io/v1", "kubevirt.io/v1", "vmi vmis virtualmachineinstance "
	  "virtualmachineinstances virtualmachineinstance.kubevirt.io "
	  "virtualmachineinstances.kubevirt.io", vmi_columns, false },
	{ "Event", "events", "event", "/api/v1", "v1", "ev event events", event_columns, false },
	{ "Domain", "domains", "domain.vmagent.io", "/apis/vmagent.io/v1", "vmagent.io/v1",
	  "domain domains domain.vmagent.io domains.vmagent.io", domain_columns, true },
	{ "Namespace", "namespaces", "namespace", "/api/v1", "v1", "ns namespace namespaces",
	  phase_columns, true },
	{ "VirtualMachineInstanceMigration", "virtualmachineinstancemigrations",
	  "virtualmachineinstancemigration.kubevirt.io", "/apis/kubevirt.io/v1", "kubevirt.io/v1",
	  "vmim vmims virtualmachineinstancemigration virtualmachineinstancemigrations "
	  "virtualmachineinstancemigration.kubevirt.io virtualmachineinstancemigrations.kubevirt.io",
	  migration_columns, false },
	{ "Pod", "pods", "pod", "/api/v1", "v1", "po pod pods", pod_columns, false },
	{ "Node", "nodes", "node", "/api/v1", "v1", "no node nodes", node_columns, true },
	{ "KubeVirt", "kubevirts", "kubevirt.kubevirt.io", "/apis/kubevirt.io/v1", "kubevirt.io/v1",
	  "kv kvs kubevirt kubevirts kubevirt.kubevirt.io kubevirts.kubevirt.io", phase_columns, false },
	{ "Peer", "peers", "peer.vmagent.io", "/apis/vmagent.io/v1", "vmagent.io/v1",
	  "peer peers peer.vmagent.io peers.vmagent.io", peer_columns, true },
	{ "Secret", "secrets", "secret", "/api/v1", "v1", "secret secrets", secret_columns, false },
	{ "ConfigMap", "configmaps", "configmap", "/api/v1", "v1", "cm configmap configmaps",
	  config_map_columns, false },
	{ "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim", "/api/v1", "v1",
	  "pvc persistentvolumeclaim persistentvolumeclaims", claim_columns, false },
	NEIGHBOUR("DataVolume", "datavolume", "cdi.kubevirt.io", "v1beta1", "dv dvs",
		data_volume_columns, false),
	NEIGHBOUR("NetworkAttachmentDefinition", "network-attachment-definition", "k8s.cni.cncf.io",
		"v1", "net-attach-def", plain_columns, false),
	{ "PriorityClass", "priorityclasses", "priorityclass.scheduling.k8s.io", "/apis/scheduling.k8s.io/v1",
	  "scheduling.k8s.io/v1", "pc priorityclass priorityclasses priorityclass.scheduling.k8s.io "
	  "priorityclasses.scheduling.k8s.io", priority_columns, true },
	{ "MigrationPolicy", "migrationpolicies", "migrationpolicy.migrations.kubevirt.io",
	  "/apis/migrations.kubevirt.io/v1alpha1", "migrations.kubevirt.io/v1alpha1",
	  "migrationpolicy migrationpolicies migrationpolicy.migrations.kubevirt.io "
	  "migrationpolicies.migrations.kubevirt.io", plain_columns, true },
	NEIGHBOUR("VirtualMachineInstancetype", "virtualmachineinstancetype", INSTANCETYPE,
		"v1beta1", "vmf vmfs vminstancetype vminstancetypes", plain_columns, false),
	NEIGHBOUR("VirtualMachineClusterInstancetype", "virtualmachineclusterinstancetype", INSTANCETYPE,
		"v1beta1", "vmcf vmcfs vmclusterinstancetype vmclusterinstancetypes", plain_columns, true),
	NEIGHBOUR("VirtualMachinePreference", "virtualmachinepreference", INSTANCETYPE,
		"v1beta1", "vmp vmps vmpref vmprefs", plain_columns, false),
	NEIGHBOUR("VirtualMachineClusterPreference", "virtualmachineclusterpreference", INSTANCETYPE,
		"v1beta1", "vmcp vmcps", plain_columns, true),
};
/* clang-format on */

const struct resource *const resource_vm = &resources[0];
const struct resource *const resource_vmi = &resources[1];
const struct resource *const resource_event = &resources[2];
const struct resource *const resource_domain = &resources[3];
const struct resource *const resource_namespace = &resources[4];

static bool word_in(const char *list, const char *word, size_t len)
{
	for (;;) {
		size_t n = strcspn(list, " ");

		if (n == len && !strncasecmp(list, word, len))
			return true;
		if (!list[n])
			return false;
		list += n + 1;
	}
}

static const struct resource *find_len(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(resources); i++)
		if (len && word_in(resources[i].names, name, len))
			return &resources[i];
	return NULL;
}

const struct resource *resource_find(const char *name)
{
	return find_len(name, strlen(name));
}

const struct resource *resource_of_kind(const char *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(resources); i++)
		if (streq(resources[i].kind, kind))
			return &resources[i];
	return NULL;
}

void targets_done(struct targets *targets)
{
	for (size_t i = 0; i < targets->n; i++)
		free(targets->list[i].name);
	free(targets->list);
	*targets = (struct targets){ 0 };
}

/* name NULL: all of them. An empty one would be the path of all, too: often it is a variable
 * that is not set. */
static int add_target(struct targets *to, const struct resource *resource, const char *name,
	struct fault *fault)
{
	if (name && !*name)
		return fault_set(fault, EXIT_USAGE, "a name may not be empty");
	to->list = xrealloc_array(to->list, to->n + 1, sizeof(*to->list));
	to->list[to->n++] = (struct target){ .resource = resource, .name = xstrdup(name) };
	return 0;
}

static int unknown_type(struct fault *fault, const char *word, size_t len)
{
	return fault_set(fault, EXIT_ERROR,
		"there is no resource type '%.*s' here; 'vmactl get --help' names them all",
		(int)len, word);
}

/* One TYPE/NAME. */
static int add_pair(struct targets *to, const char *word, struct fault *fault)
{
	size_t len = strcspn(word, "/");
	const struct resource *resource = find_len(word, len);

	if (!word[len] || !word[len + 1] || strchr(word + len + 1, '/'))
		return fault_set(fault, EXIT_USAGE,
			"'%s' is not TYPE/NAME: the two ways of naming objects cannot be mixed",
			word);
	if (!resource)
		return unknown_type(fault, word, len);
	return add_target(to, resource, word + len + 1, fault);
}

/* TYPE[,TYPE...], with names or without. */
static int add_types(struct targets *to, const char *types, const struct args *args,
	struct fault *fault)
{
	for (;;) {
		size_t len = strcspn(types, ",");
		const struct resource *resource = find_len(types, len);

		if (!resource)
			return unknown_type(fault, types, len);
		for (size_t i = 1; i < args->n_names; i++)
			if (add_target(to, resource, args->names[i], fault))
				return -1;
		if (args->n_names == 1 && add_target(to, resource, NULL, fault))
			return -1;
		if (!types[len])
			return 0;
		types += len + 1;
	}
}

int targets_parse(const struct cli *cli, struct targets *ret, struct fault *fault)
{
	const struct args *args = &cli->args;
	int result = 0;

	if (!args->n_names)
		return cli_usage(cli, fault, "what? Name a type, for example vm");
	if (strchr(args->names[0], '/')) {
		for (size_t i = 0; !result && i < args->n_names; i++)
			result = add_pair(ret, args->names[i], fault);
		return result;
	}
	return add_types(ret, streq(args->names[0], "all") ? "vm,vmi" : args->names[0], args,
		fault);
}

int targets_of(const struct cli *cli, const struct resource *resource, struct targets *ret,
	struct fault *fault)
{
	if (!cli->args.n_names)
		return cli_usage(cli, fault, "which %s?", resource->kind);
	for (size_t i = 0; i < cli->args.n_names; i++) {
		const char *word = cli->args.names[i];

		if (strchr(word, '/') ? add_pair(ret, word, fault)
				      : add_target(ret, resource, word, fault))
			return -1;
		if (ret->list[i].resource != resource && ret->list[i].resource != resource_vm)
			return cli_usage(cli, fault, "'%s' is no %s", word, resource->kind);
		ret->list[i].resource = resource;
	}
	return 0;
}

/* Percent-encodes what may not stand in a path or a query. */
static void add_encoded(struct buf *out, const char *text)
{
	for (const char *c = text; *c; c++) {
		bool plain = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
			(*c >= 'A' && *c <= 'Z') || strchr("-._~", *c);

		if (plain)
			buf_add(out, c, 1);
		else
			buf_printf(out, "%%%02X", (unsigned char)*c);
	}
}

char *resource_path(const struct resource *resource, const char *ns, const char *name)
{
	struct buf out = { 0 };

	buf_puts(&out, resource->api);
	if (ns && !resource->of_the_host) {
		buf_puts(&out, "/namespaces/");
		add_encoded(&out, ns);
	}
	buf_printf(&out, "/%s", resource->plural);
	if (name) {
		buf_puts(&out, "/");
		add_encoded(&out, name);
	}
	return out.data;
}

static void add_parameter(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, "%s%s=", strchr(out->data, '?') ? "&" : "?", name);
	add_encoded(out, value);
}

char *resource_query(const struct resource *resource, const char *ns,
	const struct narrowing *narrowing)
{
	autofree char *path = resource_path(resource, ns, NULL);
	autofree char *field = NULL;
	struct buf out = { 0 };

	buf_puts(&out, path);
	if (narrowing->name) {
		field = xasprintf("metadata.name=%s", narrowing->name);
		add_parameter(&out, "fieldSelector", field);
	}
	if (narrowing->labels)
		add_parameter(&out, "labelSelector", narrowing->labels);
	if (narrowing->watch) {
		add_parameter(&out, "watch", "true");
		add_parameter(&out, "allowWatchBookmarks", "true");
		add_parameter(&out, "resourceVersion", narrowing->watch);
	}
	return out.data;
}
