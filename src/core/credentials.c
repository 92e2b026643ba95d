/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As KubeVirt has it: of a Secret with passwords each key is a user; of one with keys each
 * value is a key, or several, one a line, and a user named by several credentials has the keys
 * of all, and no others.
 */
#include "core/credentials.h"

#include <string.h>

#include "core/base64.h"
#include "core/edit.h"
#include "core/json.h"
#include "core/media_private.h"

#define BLANKS " \t\r\n"

static bool is_by_agent(const struct credential *credential)
{
	return credential->way == CREDENTIAL_AGENT_KEYS ||
		credential->way == CREDENTIAL_AGENT_PASSWORDS;
}

bool has_agent_credentials(const struct vmi_spec *spec)
{
	for (size_t i = 0; i < spec->n_credentials; i++)
		if (is_by_agent(&spec->credentials[i]))
			return true;
	return false;
}

const char *credentials_missing(const struct vmi_spec *spec, const struct media_world *world)
{
	for (size_t i = 0; i < spec->n_credentials; i++)
		if (is_by_agent(&spec->credentials[i]) &&
			!world->find(world->ctx, KIND_SECRET, spec->credentials[i].secret))
			return spec->credentials[i].secret;
	return NULL;
}

static cJSON *add_command(cJSON *list, const char *name)
{
	cJSON *command = cJSON_CreateObject();

	cJSON_AddItemToArray(list, command);
	cJSON_AddStringToObject(command, "execute", name);
	return cJSON_AddObjectToObject(command, "arguments");
}

/* Takes text; without what surrounds it. Owned by the caller. */
static char *trimmed(char *text)
{
	char *from = text + strspn(text, BLANKS), *ret;
	size_t len = strlen(from);

	while (len && strchr(BLANKS, from[len - 1]))
		len--;
	ret = xstrndup(from, len);
	free(text);
	return ret;
}

/* ---- passwords ------------------------------------------------------------------------------- */

static void add_passwords(cJSON *list, const struct node *data)
{
	for (size_t i = 0; data && i < data->n_children; i++) {
		const struct node *value = data->children[i];
		size_t len;
		autofree char *password = trimmed(media_value(KIND_SECRET, value, false, &len));
		autofree char *encoded = base64_encode(password, strlen(password));
		cJSON *arguments = add_command(list, "guest-set-user-password");

		cJSON_AddStringToObject(arguments, "username", value->key);
		cJSON_AddStringToObject(arguments, "password", encoded);
		cJSON_AddBoolToObject(arguments, "crypted", false);
	}
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* The keys that the user has so far, in the list of commands. */
static cJSON *keys_of(cJSON *list, const char *user)
{
	cJSON *command, *arguments;

	cJSON_ArrayForEach(command, list)
	{
		arguments = cJSON_GetObjectItemCaseSensitive(command, "arguments");
		if (cJSON_HasObjectItem(arguments, "keys") &&
			streq(json_text(arguments, "username"), user))
			return cJSON_GetObjectItemCaseSensitive(arguments, "keys");
	}
	arguments = add_command(list, "guest-ssh-add-authorized-keys");
	cJSON_AddStringToObject(arguments, "username", user);
	cJSON_AddBoolToObject(arguments, "reset", true);
	return cJSON_AddArrayToObject(arguments, "keys");
}

static void add_lines(cJSON *keys, char *text)
{
	char *rest = NULL;

	for (char *line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest))
		if (line[strspn(line, BLANKS)])
			cJSON_AddItemToArray(keys, cJSON_CreateString(line));
}

static void add_keys(cJSON *list, const struct credential *credential, const struct node *data)
{
	for (size_t i = 0; i < credential->n_users; i++) {
		cJSON *keys = keys_of(list, credential->users[i]);

		for (size_t j = 0; data && j < data->n_children; j++) {
			size_t len;
			autofree char *text =
				trimmed(media_value(KIND_SECRET, data->children[j], false, &len));

			add_lines(keys, text);
		}
	}
}

/* ---- the whole ------------------------------------------------------------------------------- */

char *credentials_commands(const struct vmi_spec *spec, const struct media_world *world)
{
	cJSON *list;

	if (!has_agent_credentials(spec) || credentials_missing(spec, world))
		return NULL;
	list = cJSON_CreateArray();
	for (size_t i = 0; i < spec->n_credentials; i++) {
		const struct credential *credential = &spec->credentials[i];
		struct node *content;

		if (!is_by_agent(credential))
			continue;
		content = text_tree(world->find(world->ctx, KIND_SECRET, credential->secret));
		if (credential->way == CREDENTIAL_AGENT_PASSWORDS)
			add_passwords(list, node_get(content, "data"));
		else
			add_keys(list, credential, node_get(content, "data"));
		node_free(content);
	}
	return json_take_text(list);
}

char *credentials_command(const char *commands, size_t i, char **ret_what)
{
	cJSON *list = cJSON_Parse(commands ? commands : "");
	const cJSON *one = cJSON_GetArrayItem(list, (int)i);
	const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(one, "arguments");
	char *text = one ? cJSON_PrintUnformatted(one) : NULL;

	if (text)
		*ret_what = xasprintf("%s for user '%s'", json_text(one, "execute"),
			json_text(arguments, "username"));
	cJSON_Delete(list);
	return text;
}

#define VERSION_BITS 53 /* what a number in JSON keeps */

/* FNV-1a: it tells what changed, and keeps no secret. */
int64_t credentials_version(const char *commands)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	if (!commands)
		return 0;
	for (; *commands; commands++)
		hash = (hash ^ (unsigned char)*commands) * UINT64_C(1099511628211);
	hash = (hash ^ (hash >> VERSION_BITS)) & ((UINT64_C(1) << VERSION_BITS) - 1);
	return hash ? (int64_t)hash : 1;
}
