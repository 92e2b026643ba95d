/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of semantics §9.3 about media made for the guest: cloud-init's texts and their size, what
 * sysprep and downwardAPI are made of, and where credentials go.
 *
 * Owns nothing; single values were judged by schema_check.c, so what is of a wrong
 * kind is passed over.
 */
#include <string.h>

#include "core/base64.h"
#include "core/rules_private.h"

#define SEED_LEN_MAX     2048 /* bytes of a text that stands in the manifest; KubeVirt */
#define MEDIUM_DEPTH_MAX 8    /* of a path on a medium; ISO 9660 */

/* ---- cloud-init ------------------------------------------------------------------------------ */

static void text_length(struct check *c, const struct node *seed, const char *field, bool base64)
{
	const struct node *text = node_get(seed, field);
	autofree char *bytes = NULL;
	size_t len = 0;

	if (!text || text->kind != NODE_STRING)
		return;
	if (base64)
		bytes = base64_decode(text->text, &len);
	else
		len = strlen(text->text);
	if (len > SEED_LEN_MAX)
		check_add_key(c, text, field,
			"%zu bytes, at most %d are possible; put it into a Secret", len,
			SEED_LEN_MAX);
}

/* Each from one source. */
static size_t text_sources(struct check *c, const struct node *seed, const char *const *fields)
{
	const struct node *last;
	size_t n = element_count_keys(seed, fields, &last);

	if (n > 1)
		check_add_key(c, last, last->key, "give one of %s, %s and %s, not %zu", fields[0],
			fields[1], fields[2], n);
	text_length(c, seed, fields[0], false);
	text_length(c, seed, fields[1], true);
	return n;
}

static void cloud_init_rules(struct check *c, const struct node *seed)
{
	static const char *const user[] = { "userData", "userDataBase64", "secretRef", NULL };
	static const char *const network[] = { "networkData", "networkDataBase64",
		"networkDataSecretRef", NULL };
	size_t mark;

	if (!seed || seed->kind != NODE_MAP)
		return;
	mark = check_enter(c, seed->key);
	if (text_sources(c, seed, user) + text_sources(c, seed, network) == 0)
		check_add_key(c, seed, "",
			"give userData, networkData or both, or Secrets with them");
	check_leave(c, mark);
}

/* ---- others ---------------------------------------------------------------------------------- */

static void sysprep_rules(struct check *c, const struct node *sysprep)
{
	static const char *const sources[] = { "configMap", "secret", NULL };
	const struct node *last;

	if (sysprep && sysprep->kind == NODE_MAP &&
		element_count_keys(sysprep, sources, &last) != 1)
		check_add_key(c, sysprep, "sysprep", "give configMap or secret, one of them");
}

static bool is_deep(const char *path)
{
	size_t slashes = 0;

	for (path += *path == '/'; *path; path++)
		slashes += *path == '/';
	return slashes >= MEDIUM_DEPTH_MAX;
}

static void downward_item_rules(struct check *c, const struct node *item)
{
	static const char *const sources[] = { "fieldRef", "resourceFieldRef", NULL };
	const struct node *path = node_get(item, "path"), *last;

	if (element_count_keys(item, sources, &last) != 1)
		check_add(c, item, "", "give fieldRef or resourceFieldRef, one of them");
	if (path && path->kind == NODE_STRING && is_deep(path->text))
		check_add(c, path, "path", "expected at most %d folders", MEDIUM_DEPTH_MAX - 1);
}

static void downward_rules(struct check *c, const struct node *downward)
{
	const struct node *fields = node_get(downward, "fields");

	for (size_t i = 0; i < list_count(fields); i++) {
		size_t mark = check_enter_item(c, "downwardAPI.fields", i);

		if (fields->children[i]->kind == NODE_MAP)
			downward_item_rules(c, fields->children[i]);
		check_leave(c, mark);
	}
}

void medium_rules(struct check *c, const struct node *volume)
{
	cloud_init_rules(c, node_get(volume, "cloudInitNoCloud"));
	cloud_init_rules(c, node_get(volume, "cloudInitConfigDrive"));
	sysprep_rules(c, node_get(volume, "sysprep"));
	downward_rules(c, node_get(volume, "downwardAPI"));
}

/* ---- credentials ----------------------------------------------------------------------------- */

static bool has_volume_of(const struct node *spec, const char *source)
{
	const struct node *volumes = node_get(spec, "volumes");

	for (size_t i = 0; i < list_count(volumes); i++)
		if (node_get(volumes->children[i], source))
			return true;
	return false;
}

/* Of the ways that keys may go, which one, and whether there is the volume that it needs. */
static void way_rules(struct check *c, const struct node *spec, const struct node *way)
{
	static const struct {
		const char *way, *volume;
	} needs[] = { { "noCloud", "cloudInitNoCloud" },
		{ "configDrive", "cloudInitConfigDrive" } };
	static const char *const ways[] = { "noCloud", "configDrive", "qemuGuestAgent", NULL };
	const struct node *users = node_at(way, "qemuGuestAgent.users"), *last;

	if (!way || way->kind != NODE_MAP)
		return;
	if (element_count_keys(way, ways, &last) != 1)
		check_add_key(c, way, way->key,
			"give one of noCloud, configDrive and qemuGuestAgent");
	if (users && users->kind == NODE_LIST && !users->n_children)
		check_add_key(c, users, "propagationMethod.qemuGuestAgent.users",
			"name at least one user");
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
		if (node_get(way, needs[i].way) && !has_volume_of(spec, needs[i].volume))
			check_add_key(c, way, way->key, "%s needs a volume with %s", needs[i].way,
				needs[i].volume);
}

void credential_rules(struct check *c, const struct node *spec)
{
	static const char *const kinds[] = { "sshPublicKey", "userPassword", NULL };
	const struct node *list = node_get(spec, "accessCredentials"), *last;

	for (size_t i = 0; i < list_count(list); i++) {
		const struct node *one = list->children[i];
		size_t mark = check_enter_item(c, "accessCredentials", i);

		if (one->kind == NODE_MAP && element_count_keys(one, kinds, &last) != 1)
			check_add(c, one, "", "give sshPublicKey or userPassword, one of them");
		way_rules(c, spec, node_at(one, "sshPublicKey.propagationMethod"));
		check_leave(c, mark);
	}
}
