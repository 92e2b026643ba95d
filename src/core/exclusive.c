/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the volumes and interfaces of a spec as it was given: what is missing in it is
 * none of its business.
 *
 * Owns nothing. Which run has what now is the daemon's to know.
 */
#include "core/exclusive.h"

#include <ctype.h>

static const struct node *list_at(const struct node *spec, const char *path)
{
	const struct node *list = node_at(spec, path);

	return list && list->kind == NODE_LIST ? list : NULL;
}

static const struct node *named(const struct node *list, const char *name)
{
	for (size_t i = 0; list && i < list->n_children; i++)
		if (streq(node_text(list->children[i], "name"), name))
			return list->children[i];
	return NULL;
}

static bool is_true(const struct node *map, const char *path)
{
	const struct node *node = node_at(map, path);

	return node && node->kind == NODE_BOOL && streq(node->text, "true");
}

/* A volume that no disk names gets one. */
static bool is_written(const struct node *spec, const char *volume)
{
	const struct node *disk = named(list_at(spec, "domain.devices.disks"), volume);

	if (named(list_at(spec, "domain.devices.filesystems"), volume))
		return false;
	return !disk ||
		!(is_true(disk, "shareable") || is_true(disk, "disk.readonly") ||
			is_true(disk, "lun.readonly") || node_get(disk, "cdrom"));
}

static void add(struct exclusives *e, const char *list, size_t i, char *what)
{
	struct exclusive *x;

	if (e->n == e->cap) {
		e->cap = e->cap ? e->cap * 2 : 4;
		e->list = xrealloc_array(e->list, e->cap, sizeof(*e->list));
	}
	x = &e->list[e->n++];
	x->field = xasprintf("%s[%zu]", list, i);
	x->what = what;
}

static void add_volume(struct exclusives *e, const struct node *volume, size_t i, const char *ns)
{
	const char *path = node_text(volume, "hostDisk.path");
	const char *claim = node_text(volume, "persistentVolumeClaim.claimName");

	if (!claim)
		claim = node_text(volume, "dataVolume.name");
	if (path && !is_true(volume, "hostDisk.shared"))
		add(e, "volumes", i, xasprintf("disk '%s'", path));
	else if (claim && !is_true(volume, "persistentVolumeClaim.readOnly"))
		add(e, "volumes", i, xasprintf("claim '%s/%s'", ns, claim));
}

static void add_interface(struct exclusives *e, const struct node *interface, size_t i)
{
	const char *mac = node_text(interface, "macAddress");
	char *what = mac ? xasprintf("MAC address %s", mac) : NULL;

	if (!what)
		return;
	for (char *c = what + sizeof("MAC address ") - 1; *c; c++)
		*c = *c == '-' ? ':' : (char)tolower((unsigned char)*c);
	add(e, "domain.devices.interfaces", i, what);
}

void exclusives_of(const struct node *spec, const char *ns, struct exclusives *ret)
{
	const struct node *volumes = list_at(spec, "volumes");
	const struct node *interfaces = list_at(spec, "domain.devices.interfaces");

	*ret = (struct exclusives){ 0 };
	for (size_t i = 0; volumes && i < volumes->n_children; i++) {
		const char *name = node_text(volumes->children[i], "name");

		if (name && is_written(spec, name))
			add_volume(ret, volumes->children[i], i, ns);
	}
	for (size_t i = 0; interfaces && i < interfaces->n_children; i++)
		add_interface(ret, interfaces->children[i], i);
}

void exclusives_done(struct exclusives *e)
{
	for (size_t i = 0; i < e->n; i++) {
		free(e->list[i].field);
		free(e->list[i].what);
	}
	free(e->list);
	*e = (struct exclusives){ 0 };
}
