/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns the list of commands that a guest agent needs. It must not know how it was asked.
 */
#include "core/agent_info.h"

#include <stdio.h>
#include <string.h>

#include "core/json.h"

static bool uses(const struct vmi_spec *spec, enum credential_way way)
{
	for (size_t i = 0; i < spec->n_credentials; i++)
		if (spec->credentials[i].way == way)
			return true;
	return false;
}

static bool uses_keys(const struct vmi_spec *spec)
{
	return uses(spec, CREDENTIAL_AGENT_KEYS);
}

static bool uses_passwords(const struct vmi_spec *spec)
{
	return uses(spec, CREDENTIAL_AGENT_PASSWORDS);
}

/* KubeVirt's basic ones; those for ssh keys and passwords count only for whoever uses them. */
/* clang-format off */
static const struct {
	const char *command;
	bool (*wanted)(const struct vmi_spec *spec); /* NULL: by all */
} required[] = {
	{ "guest-ping",                     NULL },
	{ "guest-get-time",                 NULL },
	{ "guest-info",                     NULL },
	{ "guest-shutdown",                 NULL },
	{ "guest-network-get-interfaces",   NULL },
	{ "guest-get-fsinfo",               NULL },
	{ "guest-get-host-name",            NULL },
	{ "guest-get-users",                NULL },
	{ "guest-get-timezone",             NULL },
	{ "guest-get-osinfo",               NULL },
	{ "guest-ssh-add-authorized-keys",  uses_keys },
	{ "guest-set-user-password",        uses_passwords },
};
/* clang-format on */

#define VERSION_MAX    32
/* The majors of agents too old to list their commands, and good enough. */
#define VERSIONS_KNOWN "2345"

static bool is_enabled(const cJSON *commands, const char *name)
{
	const cJSON *command;

	cJSON_ArrayForEach(command, commands)
	{
		const cJSON *enabled = cJSON_GetObjectItemCaseSensitive(command, "enabled");
		const cJSON *its = cJSON_GetObjectItemCaseSensitive(command, "name");

		if (streq(cJSON_GetStringValue(its), name))
			return cJSON_IsTrue(enabled);
	}
	return false;
}

/* A guest's own words are shown only if they look like a version. */
static const char *version_of(const cJSON *info)
{
	const char *text = json_text(info, "version");
	size_t plain = text ? strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz.+~-") : 0;

	return text && plain && plain <= VERSION_MAX && !text[plain] ? text : "unknown";
}

static char *problem_of(const cJSON *info, const cJSON *commands, const struct vmi_spec *spec)
{
	const char *version = version_of(info);
	struct buf missing = { 0 };

	if (!cJSON_GetArraySize(commands)) {
		if (strchr(VERSIONS_KNOWN, *version) && version[1] == '.')
			return NULL;
		return xasprintf("the guest agent, version %s, does not say which commands it supports",
			version);
	}
	for (size_t i = 0; i < ARRAY_SIZE(required); i++) {
		if (required[i].wanted && !required[i].wanted(spec))
			continue;
		if (!is_enabled(commands, required[i].command))
			buf_printf(&missing, "%s%s", missing.len ? ", " : "", required[i].command);
	}
	if (missing.data)
		buf_printf(&missing, "; the guest agent's version is %s", version);

	char *text = missing.data ? xasprintf("missing: %s", missing.data) : NULL;

	buf_done(&missing);
	return text;
}

int agent_info_check(const char *answer, const struct vmi_spec *spec, char **ret_problem,
	struct err *err)
{
	cJSON *root = cJSON_Parse(answer ? answer : "");
	const cJSON *info = cJSON_GetObjectItemCaseSensitive(root, "return");
	int ret = 0;

	if (!cJSON_IsObject(info))
		ret = err_set(err, ERR_INVALID,
			"the guest agent's answer to 'guest-info' is not one");
	else
		*ret_problem = problem_of(info,
			cJSON_GetObjectItemCaseSensitive(info, "supported_commands"), spec);
	cJSON_Delete(root);
	return ret;
}
