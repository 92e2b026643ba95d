/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cloud-init's seeds, as KubeVirt writes them. The instance is the firmware's UUID (NoCloud) or the
 * name (config drive): the same in each run, so that what is to be done once is done once.
 */
#include <stdio.h>
#include <string.h>

#include "core/base64.h"
#include "core/edit.h"
#include "core/media_private.h"

#define DRIVE "openstack/latest/"

/* ---- texts ----------------------------------------------------------------------------------- */

/* A Secret has it under one of two names. */
static int text_of_secret(struct maker *maker, const char *name, const char *const keys[2],
	char **ret_data, size_t *ret_len)
{
	struct node *content = media_object(maker, KIND_SECRET, name, false);
	const struct node *data = node_get(content, "data"), *value = node_get(data, keys[0]);

	if (!content)
		return -ERR_NOT_FOUND;
	value = value ? value : node_get(data, keys[1]);
	if (value)
		*ret_data = media_value(KIND_SECRET, value, false, ret_len);
	else
		err_set(maker->err, ERR_NOT_FOUND,
			"volume '%s': Secret '%s' has no key '%s': add it", maker->volume->name,
			name, keys[0]);
	node_free(content);
	return value ? 0 : -ERR_NOT_FOUND;
}

/* *ret_data stays NULL where nothing is given. */
static int text_of(struct maker *maker, const struct seed_text *text, const char *const keys[2],
	char **ret_data, size_t *ret_len)
{
	if (text->secret)
		return text_of_secret(maker, text->secret, keys, ret_data, ret_len);
	if (text->base64)
		*ret_data = base64_decode(text->base64, ret_len);
	if (!*ret_data && text->plain) {
		*ret_data = xstrdup(text->plain);
		*ret_len = strlen(text->plain);
	}
	return 0;
}

/* NoCloud must have its user data, though it be empty. */
static int add_texts(struct maker *maker, const char *user_path, const char *network_path,
	bool must_have_user)
{
	static const char *const user_keys[] = { "userdata", "userData" };
	static const char *const network_keys[] = { "networkdata", "networkData" };
	const struct media_source *media = maker->volume->media;
	char *user = NULL, *network = NULL;
	size_t n_user = 0, n_network = 0;
	int ret = text_of(maker, &media->user, user_keys, &user, &n_user);

	if (ret == 0)
		ret = text_of(maker, &media->network, network_keys, &network, &n_network);
	if (!user && must_have_user)
		user = xstrdup("");
	if (user)
		media_add(maker, user_path, user, n_user);
	if (network)
		media_add(maker, network_path, network, n_network);
	return ret;
}

/* ---- what is said of the guest --------------------------------------------------------------- */

static void set(struct node *map, const char *key, const char *text)
{
	if (text && *text)
		node_set(map, key, node_new(NODE_STRING, text));
}

/* Of the annotations that a VM with an instancetype gives its runs. */
static char *instance_type(const struct vmi *vmi)
{
	static const char *const keys[] = { "kubevirt.io/instancetype-name",
		"kubevirt.io/cluster-instancetype-name" };
	struct node *annotations = vmi->meta.annotations ? text_tree(vmi->meta.annotations) : NULL;
	char *type = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(keys) && !type; i++) {
		const struct node *value = node_get(annotations, keys[i]);

		type = value ? xstrdup(value->text) : NULL;
	}
	node_free(annotations);
	return type;
}

/* Without what surrounds it; one that is empty does not count. */
static void add_key(struct node *keys, const struct node *value)
{
	size_t len;
	autofree char *data = media_value(KIND_SECRET, value, false, &len);
	char *key = data + strspn(data, " \t\r\n"), number[16];

	len = strlen(key);
	while (len && strchr(" \t\r\n", key[len - 1]))
		key[--len] = '\0';
	snprintf(number, sizeof(number), "%zu", keys->n_children);
	if (len)
		set(keys, number, key);
}

/* "public-keys": {"0": KEY, …}, of the Secrets whose keys go this way. */
static int add_public_keys(struct maker *maker, struct node *about, const char *name,
	enum credential_way way)
{
	const struct vmi_spec *spec = &maker->world->vmi->typed;
	struct node *keys = node_new(NODE_MAP, NULL);

	for (size_t i = 0; i < spec->n_credentials; i++) {
		struct node *content;
		const struct node *data;

		if (spec->credentials[i].way != way)
			continue;
		content = media_object(maker, KIND_SECRET, spec->credentials[i].secret, false);
		if (!content) {
			node_free(keys);
			return -ERR_NOT_FOUND;
		}
		data = node_get(content, "data");
		for (size_t j = 0; data && j < data->n_children; j++)
			add_key(keys, data->children[j]);
		node_free(content);
	}
	if (keys->n_children)
		node_set(about, name, keys);
	else
		node_free(keys);
	return 0;
}

/* Takes about. */
static int add_about(struct maker *maker, const char *path, struct node *about, int ret)
{
	if (ret == 0)
		media_add_text(maker, path, node_json(about));
	node_free(about);
	return ret;
}

int media_seed_no_cloud(struct maker *maker)
{
	const struct media_world *world = maker->world;
	autofree char *type = instance_type(world->vmi);
	autofree char *host = guest_hostname(&world->vmi->typed, world->name);
	struct node *about = node_new(NODE_MAP, NULL);

	set(about, "instance-type", type);
	set(about, "instance-id", world->vmi->typed.uuid);
	set(about, "local-hostname", host);
	if (add_about(maker, "meta-data", about,
		    add_public_keys(maker, about, "public-keys", CREDENTIAL_NO_CLOUD)) < 0)
		return -ERR_NOT_FOUND;
	return add_texts(maker, "user-data", "network-config", true);
}

int media_seed_config_drive(struct maker *maker)
{
	const struct media_world *world = maker->world;
	autofree char *type = instance_type(world->vmi);
	autofree char *host = guest_hostname(&world->vmi->typed, world->name);
	autofree char *id = xasprintf("%s.%s", world->name, world->ns);
	struct node *about = node_new(NODE_MAP, NULL);

	set(about, "instance_type", type);
	set(about, "instance_id", id);
	set(about, "local_hostname", host);
	set(about, "hostname", host);
	set(about, "uuid", world->vmi->typed.uuid);
	media_add_devices(about, world->vmi);
	if (add_about(maker, DRIVE "meta_data.json", about,
		    add_public_keys(maker, about, "public_keys", CREDENTIAL_CONFIG_DRIVE)) < 0)
		return -ERR_NOT_FOUND;
	return add_texts(maker, DRIVE "user_data", DRIVE "network_data.json", false);
}
