/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three tables: what machines cannot do, what is not there, and what is not written. A thing that
 * gets built loses its row.
 */
#include <string.h>

#include "daemon/api/refusal.h"

#define VM  "/{api}/namespaces/{ns}/{vm}/{name}"
#define VMI "/{api}/namespaces/{ns}/{vmi}/{name}"
#define POD "/api/v1/namespaces/{ns}/pods/{name}"

#define HOTPLUG \
	"disks are not attached or detached while a VM runs: edit its volumes and restart it"
#define SEV    "launch security (SEV) is not built: guests of this agent are not encrypted"
#define BACKUP "backups by changed blocks are not built: stop the VM and copy its disks"
#define FREEZE \
	"freezing a guest's file systems is not built: stop the VM, or pause it, to copy its disks"
#define GRAPH    "objects are not drawn as a graph: see the volumes and networks of the spec"
#define DUMP     "memory dumps are not built: use 'virsh dump' on the host"
#define EVACUATE "there is no evacuation to cancel: call a move off with 'vmactl migrate-cancel'"
#define PROFILER "the agent has no profiler to be asked for: use perf on the host"
#define NO_CONTAINER \
	"a pod here stands for its VMI's QEMU and has no container: use 'vmactl console' to reach the guest"

/* clang-format off */
static const struct {
	const char *pattern, *why;
} undone[] = {
	{ VM "/addvolume",			HOTPLUG },
	{ VM "/removevolume",			HOTPLUG },
	{ VM "/evacuate/cancel",		EVACUATE },
	{ VM "/memorydump",			DUMP },
	{ VM "/removememorydump",		DUMP },
	{ VM "/objectgraph",			GRAPH },

	{ VMI "/addvolume",			HOTPLUG },
	{ VMI "/removevolume",			HOTPLUG },
	{ VMI "/backup",			BACKUP },
	{ VMI "/redefine-checkpoint",		BACKUP },
	{ VMI "/evacuate/cancel",		EVACUATE },
	{ VMI "/freeze",			FREEZE },
	{ VMI "/unfreeze",			FREEZE },
	{ VMI "/objectgraph",			GRAPH },
	{ VMI "/sev/fetchcertchain",		SEV },
	{ VMI "/sev/injectlaunchsecret",	SEV },
	{ VMI "/sev/querylaunchmeasurement",	SEV },
	{ VMI "/sev/setupsession",		SEV },
	{ VMI "/usbredir",			"USB redirection is not built: no guest has a port for it" },
	{ VMI "/vsock",				"streams to a guest's vsock are not built: connect to its CID on this host" },

	{ POD "/attach",			NO_CONTAINER },
	{ POD "/exec",				NO_CONTAINER },
	{ POD "/portforward",			NO_CONTAINER },
	{ POD "/log",				"a pod here stands for its VMI's QEMU and has no log of its own: "
						"see 'vmactl explain' and 'vmactl events'" },
	{ POD "/eviction",			"a pod here stands for its VMI's QEMU and is not evicted: move its VM with "
						"'vmactl migrate', or stop it" },

	{ "/{subapi}/guestfs",			"guestfs runs in a pod, and there are none here: use "
						"guestfish on the disk of a stopped VM" },
	{ "/{subapi}/start-cluster-profiler",	PROFILER },
	{ "/{subapi}/stop-cluster-profiler",	PROFILER },
	{ "/{subapi}/dump-cluster-profiler",	PROFILER },
	{ "/start-profiler",			PROFILER },
	{ "/stop-profiler",			PROFILER },
	{ "/dump-profiler",			PROFILER },
};

/* Each is one or more whole segments of a path. */
static const struct {
	const char *segments, *why;
} absent[] = {
	{ "/apis/backup.kubevirt.io",		BACKUP },
	{ "/apis/clone.kubevirt.io",		"clones are not built: copy the disks, and apply the manifest "
						"under another name" },
	{ "/apis/export.kubevirt.io",		"exports are not built: the disks are files on this host" },
	{ "/apis/pool.kubevirt.io",		"pools are not built: there is one host; apply a manifest per VM" },
	{ "/apis/snapshot.kubevirt.io",		"snapshots are not built: stop the VM and copy its disks" },
	{ "/virtualmachineinstancepresets",	"presets are gone from KubeVirt, too: use an instancetype" },
	{ "/virtualmachineinstancereplicasets",	"replica sets are not built: there is one host; apply a "
						"manifest per VM" },
	{ "/services",				"services are not built: a guest's ports are reached by 'vmactl "
						"port-forward', or from outside by its annotation vmagent.io/host-ports" },
	{ "/kubevirt",				"the resource is called 'kubevirts'" },
};

static const char *const read_only[KIND_MAX] = {
	[KIND_KUBEVIRT]  = "it shows how the agent is configured: change its configuration file, see vmagent(8)",
	[KIND_NODE]      = "it is this host as it is, and the agent's configuration is a file, see vmagent(8)",
	[KIND_POD]       = "it stands for its VMI's QEMU: change or delete the VM or VMI",
	[KIND_EVENT]     = "events are the agent's own, and go by themselves",
	[KIND_NEW_EVENT] = "events are the agent's own, and go by themselves",
};
/* clang-format on */

const char *refusal_of_writes(enum object_kind kind)
{
	return kind < KIND_MAX ? read_only[kind] : NULL;
}

static bool has_segments(const char *path, const char *segments)
{
	size_t len = strlen(segments);

	while ((path = strstr(path, segments))) {
		path += len;
		if (*path == '/' || !*path)
			return true;
	}
	return false;
}

bool refusal_of(const char *path, struct route_path *ret_path, struct err *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(undone); i++) {
		if (!route_matches(undone[i].pattern, path, ret_path))
			continue;
		err_set(ret, ERR_NOT_BUILT, "%s", undone[i].why);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++) {
		if (!has_segments(path, absent[i].segments))
			continue;
		err_set(ret, ERR_NOT_FOUND, "%s", absent[i].why);
		return true;
	}
	return false;
}
