/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns which command of the agent tells what, and what KubeVirt calls it. It must not know how
 * the agent was asked.
 */
#include "core/guest_look.h"

#include <string.h>

#include "core/json.h"
#include "core/status.h"

#define OS_INFO     "guest-get-osinfo"
#define HOST_NAME   "guest-get-host-name"
#define TIMEZONE    "guest-get-timezone"
#define USERS       "guest-get-users"
#define FILESYSTEMS "guest-get-fsinfo"
#define FREEZE      "guest-fsfreeze-status"
#define INFO        "guest-info"

const char *const *guest_look_commands(enum guest_look look)
{
	static const char *const commands[GUEST_LOOK_MAX][8] = {
		[GUEST_LOOK_OS] = { OS_INFO, INFO, HOST_NAME, TIMEZONE, USERS, FILESYSTEMS,
			FREEZE },
		[GUEST_LOOK_USERS] = { USERS },
		[GUEST_LOOK_FILESYSTEMS] = { FILESYSTEMS },
	};

	return commands[look];
}

int guest_look_check(const struct vmi *vmi, const struct domain *dom, struct err *err)
{
	if (vmi->phase != PHASE_RUNNING)
		return err_set(err, ERR_CONFLICT,
			"the VMI is in phase %s: only a guest that runs can be asked",
			phase_name(vmi->phase));
	if (!vmi_has_agent(vmi, dom))
		return err_set(err, ERR_CONFLICT,
			"no guest agent is connected: install qemu-guest-agent in the guest, and start it");
	return 0;
}

/* ---- parts ----------------------------------------------------------------------------------- */

struct renaming {
	const char *guest, *ours;
};

static const struct renaming os_fields[] = {
	{ "name", "name" },
	{ "kernel-release", "kernelRelease" },
	{ "version", "version" },
	{ "pretty-name", "prettyName" },
	{ "version-id", "versionId" },
	{ "kernel-version", "kernelVersion" },
	{ "machine", "machine" },
	{ "id", "id" },
};
static const struct renaming user_fields[] = {
	{ "user", "userName" },
	{ "domain", "domain" },
	{ "login-time", "loginTime" },
};
static const struct renaming filesystem_fields[] = {
	{ "name", "diskName" },
	{ "mountpoint", "mountPoint" },
	{ "type", "fileSystemType" },
	{ "used-bytes", "usedBytes" },
	{ "total-bytes", "totalBytes" },
};
static const struct renaming disk_fields[] = {
	{ "serial", "serial" },
	{ "bus-type", "busType" },
};

/* Texts and numbers only: that is all there is in these. */
static void add_renamed(cJSON *to, const cJSON *from, const struct renaming *fields, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const cJSON *value = cJSON_GetObjectItemCaseSensitive(from, fields[i].guest);

		if (cJSON_IsString(value) || cJSON_IsNumber(value))
			cJSON_AddItemToObject(to, fields[i].ours, cJSON_Duplicate(value, false));
	}
}

/* The value of the agent's answer to a command, or NULL. */
static const cJSON *answer_to(const cJSON *answers, const char *command)
{
	return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(answers, command),
		"return");
}

static void add_disks(cJSON *to, const cJSON *filesystem)
{
	const cJSON *disks = cJSON_GetObjectItemCaseSensitive(filesystem, "disk"), *disk;
	cJSON *list;

	if (!cJSON_IsArray(disks))
		return;
	list = cJSON_AddArrayToObject(to, "disk");
	cJSON_ArrayForEach(disk, disks)
	{
		cJSON *one = cJSON_CreateObject();

		add_renamed(one, disk, disk_fields, ARRAY_SIZE(disk_fields));
		cJSON_AddItemToArray(list, one);
	}
}

static void add_users(cJSON *list, const cJSON *users, int limit)
{
	const cJSON *user;

	cJSON_ArrayForEach(user, users)
	{
		cJSON *one;

		if (limit-- == 0)
			return;
		one = cJSON_CreateObject();
		add_renamed(one, user, user_fields, ARRAY_SIZE(user_fields));
		cJSON_AddItemToArray(list, one);
	}
}

static void add_filesystems(cJSON *list, const cJSON *filesystems, int limit)
{
	const cJSON *filesystem;

	cJSON_ArrayForEach(filesystem, filesystems)
	{
		cJSON *one;

		if (limit-- == 0)
			return;
		one = cJSON_CreateObject();
		add_renamed(one, filesystem, filesystem_fields, ARRAY_SIZE(filesystem_fields));
		add_disks(one, filesystem);
		cJSON_AddItemToArray(list, one);
	}
}

/* ---- guestosinfo ----------------------------------------------------------------------------- */

static void add_agent(cJSON *to, const cJSON *info)
{
	const cJSON *version = cJSON_GetObjectItemCaseSensitive(info, "version");
	const cJSON *commands = cJSON_GetObjectItemCaseSensitive(info, "supported_commands");
	const cJSON *command;
	cJSON *list;

	if (cJSON_IsString(version))
		cJSON_AddStringToObject(to, "guestAgentVersion", version->valuestring);
	list = cJSON_AddArrayToObject(to, "supportedCommands");
	cJSON_ArrayForEach(command, commands)
	{
		const cJSON *name = cJSON_GetObjectItemCaseSensitive(command, "name");
		cJSON *one = cJSON_CreateObject();

		if (cJSON_IsString(name))
			cJSON_AddStringToObject(one, "name", name->valuestring);
		cJSON_AddBoolToObject(one, "enabled", json_is_true(command, "enabled"));
		cJSON_AddItemToArray(list, one);
	}
}

/* "zone, offset" */
static void add_timezone(cJSON *to, const cJSON *timezone)
{
	const cJSON *zone = cJSON_GetObjectItemCaseSensitive(timezone, "zone");
	const cJSON *offset = cJSON_GetObjectItemCaseSensitive(timezone, "offset");
	autofree char *text = NULL;

	if (!cJSON_IsNumber(offset))
		return;
	text = xasprintf("%s, %d", cJSON_IsString(zone) ? zone->valuestring : "", offset->valueint);
	cJSON_AddStringToObject(to, "timezone", text);
}

static void add_text(cJSON *to, const char *name, const cJSON *value)
{
	if (cJSON_IsString(value))
		cJSON_AddStringToObject(to, name, value->valuestring);
}

static void fill_os(cJSON *to, const cJSON *answers)
{
	const cJSON *host = answer_to(answers, HOST_NAME);

	add_agent(to, answer_to(answers, INFO));
	add_text(to, "hostname", cJSON_GetObjectItemCaseSensitive(host, "host-name"));
	add_renamed(cJSON_AddObjectToObject(to, "os"), answer_to(answers, OS_INFO), os_fields,
		ARRAY_SIZE(os_fields));
	add_timezone(to, answer_to(answers, TIMEZONE));
	add_users(cJSON_AddArrayToObject(to, "userList"), answer_to(answers, USERS),
		GUEST_LOOK_SHOWN);
	add_filesystems(cJSON_AddArrayToObject(cJSON_AddObjectToObject(to, "fsInfo"), "disks"),
		answer_to(answers, FILESYSTEMS), GUEST_LOOK_SHOWN);
	add_text(to, "fsFreezeStatus", answer_to(answers, FREEZE));
}

/* ---- documents ------------------------------------------------------------------------------- */

static void fill_users(cJSON *to, const cJSON *answers)
{
	cJSON_AddObjectToObject(to, "metadata");
	add_users(cJSON_AddArrayToObject(to, "items"), answer_to(answers, USERS), -1);
}

static void fill_filesystems(cJSON *to, const cJSON *answers)
{
	cJSON_AddObjectToObject(to, "metadata");
	add_filesystems(cJSON_AddArrayToObject(to, "items"), answer_to(answers, FILESYSTEMS), -1);
}

static const struct {
	const char *kind;
	void (*fill)(cJSON *to, const cJSON *answers);
} documents[GUEST_LOOK_MAX] = {
	[GUEST_LOOK_OS] = { "VirtualMachineInstanceGuestAgentInfo", fill_os },
	[GUEST_LOOK_USERS] = { "VirtualMachineInstanceGuestOSUserList", fill_users },
	[GUEST_LOOK_FILESYSTEMS] = { "VirtualMachineInstanceFileSystemList", fill_filesystems },
};

int guest_look_document(enum guest_look look, const char *answers, char **ret, struct err *err)
{
	cJSON *from = cJSON_Parse(answers ? answers : ""), *to;

	if (!cJSON_IsObject(from) || !answer_to(from, *guest_look_commands(look))) {
		cJSON_Delete(from);
		return err_set(err, ERR_HYPERVISOR, "the guest agent does not answer '%s'",
			*guest_look_commands(look));
	}
	to = cJSON_CreateObject();
	cJSON_AddStringToObject(to, "kind", documents[look].kind);
	cJSON_AddStringToObject(to, "apiVersion", "kubevirt.io/v1");
	documents[look].fill(to, from);
	cJSON_Delete(from);
	*ret = json_take_text(to);
	return 0;
}
