/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run's status says of its machine (semantics §1.4): CPUs, memory, volumes,
 * interfaces, how it can be migrated. All of it follows from the spec, because nothing is
 * changed in a run that lives.
 */
#include <stdio.h>

#include "core/document_private.h"
#include "core/domxml.h"
#include "core/holding.h"
#include "core/migratable.h"
#include "core/nics.h"

static void add_topology(cJSON *status, const struct vmi_spec *spec)
{
	cJSON *json = cJSON_AddObjectToObject(status, "currentCPUTopology");

	cJSON_AddNumberToObject(json, "cores", spec->cores);
	cJSON_AddNumberToObject(json, "sockets", spec->sockets);
	cJSON_AddNumberToObject(json, "threads", spec->threads);
}

/* As a quantity, in the largest binary unit that holds it exactly. */
static void add_quantity(cJSON *json, const char *key, int64_t bytes)
{
	static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti" };
	size_t unit = 0;
	char text[32];

	for (; unit + 1 < ARRAY_SIZE(units) && bytes && bytes % 1024 == 0; unit++)
		bytes /= 1024;
	snprintf(text, sizeof(text), "%lld%s", (long long)bytes, units[unit]);
	cJSON_AddStringToObject(json, key, text);
}

static void add_memory(cJSON *status, const struct vmi_spec *spec)
{
	cJSON *json = cJSON_AddObjectToObject(status, "memory");

	add_quantity(json, "guestAtBoot", spec->memory);
	add_quantity(json, "guestCurrent", spec->memory);
	add_quantity(json, "guestRequested", spec->memory);
}

/* The size of a file that was there before is not known here. */
static void add_volumes(cJSON *status, const struct vmi *vmi)
{
	const struct vmi_spec *spec = &vmi->typed;
	cJSON *list = spec->n_disks ? cJSON_AddArrayToObject(status, "volumeStatus") : NULL;

	for (size_t i = 0; i < spec->n_disks; i++) {
		const struct volume *volume = volume_of(spec, spec->disks[i].name);
		cJSON *json = cJSON_CreateObject();
		char target[TARGET_SIZE];

		disk_target(spec, &spec->disks[i], target);
		cJSON_AddStringToObject(json, "name", spec->disks[i].name);
		cJSON_AddStringToObject(json, "target", target);
		cJSON_AddStringToObject(json, "phase", vmi->prepared ? "Ready" : "Pending");
		if (volume && volume->claim)
			cJSON_AddStringToObject(cJSON_AddObjectToObject(json,
							"persistentVolumeClaimInfo"),
				"claimName", volume->claim);
		if (volume && volume->kind == VOLUME_EMPTY_DISK)
			cJSON_AddNumberToObject(json, "size", (double)volume_size(volume));
		cJSON_AddItemToArray(list, json);
	}
}

/* What is seen of it goes before what the spec says. A user-mode network's address means
 * nothing outside of it. */
static cJSON *interface_json(const struct vmi *vmi, const struct interface *nic)
{
	autofree char *mac = interface_mac(nic, vmi->owner, vmi->meta.uid);
	struct nic_info seen = { 0 };
	cJSON *json = cJSON_CreateObject();
	bool is_user = !nics_find(vmi->nics, nic->name, &seen) || streq(seen.type, "user");

	if (seen.address[0]) {
		const char *address = seen.address;

		cJSON_AddStringToObject(json, "ipAddress", address);
		cJSON_AddItemToObject(json, "ipAddresses", cJSON_CreateStringArray(&address, 1));
	}
	cJSON_AddStringToObject(json, "name", nic->name);
	cJSON_AddStringToObject(json, "mac", seen.mac[0] ? seen.mac : mac);
	cJSON_AddStringToObject(json, "infoSource", "domain");
	if (seen.target[0])
		cJSON_AddStringToObject(json, "podInterfaceName", seen.target);
	cJSON_AddStringToObject(json, "linkState", nic->down || seen.down ? "down" : "up");
	cJSON_AddNumberToObject(json, "queueCount",
		interface_queues(&vmi->typed, nic, is_user ? ATTACH_USER : ATTACH_BRIDGE));
	return json;
}

/* The default network comes first, as upstream. */
static void add_interfaces(cJSON *status, const struct vmi *vmi)
{
	const struct vmi_spec *spec = &vmi->typed;
	cJSON *list = spec->n_interfaces ? cJSON_AddArrayToObject(status, "interfaces") : NULL;

	for (size_t i = 0; i < 2 * spec->n_interfaces; i++) {
		const struct interface *nic = &spec->interfaces[i % spec->n_interfaces];
		bool first_round = i < spec->n_interfaces;

		if (first_round == !nic->network && !nic->absent)
			cJSON_AddItemToArray(list, interface_json(vmi, nic));
	}
}

static void add_cid(cJSON *status, const struct vmi *vmi)
{
	struct holding holding;

	holding_parse(vmi->held, &holding);
	if (holding.cid)
		cJSON_AddNumberToObject(status, "VSOCKCID", holding.cid);
	holding_done(&holding);
}

void document_add_run(cJSON *status, const struct vmi *vmi)
{
	struct migratable migratable;

	if (vmi->typed.machine_type)
		cJSON_AddStringToObject(cJSON_AddObjectToObject(status, "machine"), "type",
			vmi->typed.machine_type);
	add_topology(status, &vmi->typed);
	add_memory(status, &vmi->typed);
	add_volumes(status, vmi);
	add_cid(status, vmi);
	if (vmi->phase != PHASE_RUNNING)
		return;
	add_interfaces(status, vmi);
	migratable_of(vmi, &migratable);
	cJSON_AddStringToObject(status, "migrationMethod",
		migratable.block ? "BlockMigration" : "LiveMigration");
	migratable_done(&migratable);
}
