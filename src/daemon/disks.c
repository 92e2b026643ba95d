/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which run holds which file of the host: an index by path, so that no two guests write to the
 * same disk (users.md 32). A run holds its files from before they are made until it is cleaned
 * away. It goes by the paths as the manifests write them; what escapes that, QEMU's own lock
 * on the image refuses.
 */
#include <string.h>

#include "daemon/obstacles.h"

/* What two runs may do with one file at a time: both read it, or both know that the
 * other writes to it. */
enum use { USE_READ, USE_SHARE, USE_WRITE };

struct disk_claim {
	char *path; /* owned */
	const struct machine *m;
	enum use use;
};

static bool is_holding(const struct machine *m)
{
	return m->vmi && !m->vmi->cleaned &&
		(m->vmi->prepared || m->ops[LANE_MAIN].kind == OP_PREPARE);
}

/* A file that lasts, and that other runs may name as well. */
static bool is_common(const struct volume *volume)
{
	return volume->kind == VOLUME_HOST_DISK || volume->claim;
}

static enum use use_of(const struct vmi_spec *spec, const struct volume *volume)
{
	if (volume->kind == VOLUME_EPHEMERAL)
		return USE_READ;
	if (volume->as_folder)
		return USE_SHARE;
	for (size_t i = 0; i < spec->n_disks; i++) {
		const struct disk *disk = &spec->disks[i];

		if (!streq(disk->name, volume->name))
			continue;
		if (disk->shareable)
			return USE_SHARE;
		return disk->readonly || disk->device == DISK_DEVICE_CDROM ? USE_READ : USE_WRITE;
	}
	return USE_READ;
}

static bool goes_with(enum use a, enum use b)
{
	return a == b && a != USE_WRITE;
}

/* The first claim on that path, or the place of one. */
static size_t place_of(const struct disks *disks, const char *path)
{
	size_t low = 0, high = disks->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(disks->list[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void claim(struct disks *disks, const struct machine *m, const struct volume *volume)
{
	size_t at = place_of(disks, volume->path);

	(void)LIST_ADD(disks->list, disks->n, disks->cap);
	memmove(&disks->list[at + 1], &disks->list[at], (disks->n - 1 - at) * sizeof(*disks->list));
	disks->list[at] = (struct disk_claim){ .path = xstrdup(volume->path),
		.m = m,
		.use = use_of(&m->vmi->typed, volume) };
}

static void release(struct disks *disks, const struct machine *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < disks->n; i++) {
		if (disks->list[i].m == m)
			free(disks->list[i].path);
		else
			disks->list[kept++] = disks->list[i];
	}
	disks->n = kept;
}

void disks_update(struct agent *agent, struct machine *m)
{
	bool holds = is_holding(m);

	if (holds == m->holds_disks)
		return;
	m->holds_disks = holds;
	macs_hold(agent, m, holds);
	host_ports_hold(agent, m, holds);
	if (!holds) {
		release(&agent->disks, m);
		agent->freed = true;
		return;
	}
	for (size_t i = 0; i < m->vmi->typed.n_volumes; i++) {
		if (is_common(&m->vmi->typed.volumes[i]))
			claim(&agent->disks, m, &m->vmi->typed.volumes[i]);
	}
}

static const struct machine *holder_of(const struct disks *disks, const struct machine *m,
	const struct volume *volume)
{
	enum use use = use_of(&m->vmi->typed, volume);

	for (size_t i = place_of(disks, volume->path);
		i < disks->n && streq(disks->list[i].path, volume->path); i++) {
		const struct disk_claim *c = &disks->list[i];

		if (c->m != m && !goes_with(c->use, use))
			return c->m;
	}
	return NULL;
}

const struct machine *disks_writer(const struct disks *disks, const char *file)
{
	for (size_t i = place_of(disks, file); i < disks->n && streq(disks->list[i].path, file);
		i++)
		if (disks->list[i].use != USE_READ)
			return disks->list[i].m;
	return NULL;
}

enum obstacle disks_obstacle(const struct agent *agent, const struct machine *m, char **ret_words)
{
	for (size_t i = 0; i < m->vmi->typed.n_volumes; i++) {
		const struct volume *volume = &m->vmi->typed.volumes[i];
		const struct machine *holder =
			is_common(volume) ? holder_of(&agent->disks, m, volume) : NULL;

		if (is_common(volume) && use_of(&m->vmi->typed, volume) != USE_READ &&
			data_volumes_copy(agent, volume->path)) {
			*ret_words =
				xasprintf("volume '%s' ('%s') is being copied for a DataVolume",
					volume->name, volume->path);
			return OBSTACLE_IN_USE;
		}
		if (!holder)
			continue;
		*ret_words =
			xasprintf("volume '%s' ('%s') is in use by '%s/%s', which must stop first",
				volume->name, volume->path, holder->ns, holder->name);
		return OBSTACLE_IN_USE;
	}
	return OBSTACLE_NONE;
}

void disks_done(struct disks *disks)
{
	for (size_t i = 0; i < disks->n; i++)
		free(disks->list[i].path);
	free(disks->list);
}
