/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of spec_parse() that is about volumes: where a disk's content comes from.
 *
 * Owns how texts become values. It must not judge: which values are possible has been checked.
 */
#include "core/names.h"
#include "core/spec_private.h"

static int parse_host_disk(const struct node *host, struct volume *volume, struct err *err)
{
	volume->kind = VOLUME_HOST_DISK;
	volume->path = spec_copy(host, "path");
	volume->shared = spec_bool(host, "shared", false);
	if (spec_quantity(host, "capacity", &volume->capacity, err))
		return -ERR_INVALID;
	/* Without a capacity nothing can be created: the file must be there. */
	volume->create = streq(node_text(host, "type"), "DiskOrCreate") && volume->capacity;
	return volume->path ? 0 : err_set(err, ERR_INVALID, "hostDisk has no path");
}

static int parse_claim(const struct node *from, struct volume *volume, struct err *err)
{
	/* clang-format off */
	static const struct {
		const char *field, *name;
		enum volume_kind kind;
	} ways[] = {
		{ "persistentVolumeClaim", "persistentVolumeClaim.claimName",           VOLUME_CLAIM },
		{ "dataVolume",            "dataVolume.name",                           VOLUME_CLAIM },
		{ "ephemeral",             "ephemeral.persistentVolumeClaim.claimName", VOLUME_EPHEMERAL },
	};
	/* clang-format on */
	size_t i = 0;

	while (!node_get(from, ways[i].field))
		i++;
	volume->kind = ways[i].kind;
	volume->claim = spec_copy(from, ways[i].name);
	volume->data_volume = streq(ways[i].field, "dataVolume");
	return volume->claim
		? 0
		: err_set(err, ERR_INVALID, "volume '%s' names no claim", volume->name);
}

/* Its disk is read only. */
static void take_read_only(const struct node *volume, struct vmi_spec *s)
{
	for (size_t i = 0; i < s->n_disks; i++)
		if (streq(s->disks[i].name, node_text(volume, "name")))
			s->disks[i].readonly |=
				spec_bool(volume, "persistentVolumeClaim.readOnly", false);
}

static int parse_volume(const struct node *from, struct volume *volume, struct err *err)
{
	const char *image = node_text(from, "containerDisk.image");

	volume->name = spec_copy(from, "name");
	if (!volume->name)
		return err_set(err, ERR_INVALID, "a volume has no name");
	if (node_get(from, "hostDisk"))
		return parse_host_disk(node_get(from, "hostDisk"), volume, err);
	if (image) {
		volume->kind = VOLUME_CONTAINER_DISK;
		volume->path = xstrdup(image_path(image));
		volume->inner = spec_copy(from, "containerDisk.path");
		return 0;
	}
	if (node_get(from, "persistentVolumeClaim") || node_get(from, "dataVolume") ||
		node_get(from, "ephemeral"))
		return parse_claim(from, volume, err);
	if (!node_get(from, "emptyDisk"))
		return spec_parse_medium(from, volume, err);
	volume->kind = VOLUME_EMPTY_DISK;
	return spec_quantity(from, "emptyDisk.capacity", &volume->capacity, err);
}

static bool is_folder(const struct node *spec, const char *volume)
{
	const struct node *list = node_at(spec, "domain.devices.filesystems");

	for (size_t i = 0; list && i < list->n_children; i++)
		if (streq(node_text(list->children[i], "name"), volume))
			return true;
	return false;
}

int spec_parse_volumes(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	const char *slic = node_text(spec, "domain.firmware.acpi.slicNameRef");
	const struct node *list;
	size_t n;
	int rc = spec_list(spec, "volumes", &list, &n, err);

	s->volumes = rc || !n ? NULL : xcalloc(n, sizeof(*s->volumes));
	for (size_t i = 0; !rc && i < n; i++) {
		rc = parse_volume(list->children[i], &s->volumes[s->n_volumes++], err);
		s->volumes[i].as_folder = is_folder(spec, s->volumes[i].name);
		s->volumes[i].slic = slic && streq(s->volumes[i].name, slic);
		take_read_only(list->children[i], s);
	}
	return rc;
}
