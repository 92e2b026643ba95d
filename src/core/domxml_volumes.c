/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a run's volumes lie, and what PREPARE has to do before it can start (semantics §10.1). What
 * lives only as long as the run lies in the run's own folder: <directory>/<volume>.qcow2. Knows
 * nothing of the files themselves.
 */
#include "core/domxml_write.h"

#define CAPACITY_UNIT (INT64_C(1) << 20) /* sizes are aligned down to it, as KubeVirt does */

const struct volume *volume_of(const struct vmi_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->n_volumes; i++)
		if (streq(spec->volumes[i].name, name))
			return &spec->volumes[i];
	return NULL;
}

char *volume_target(const struct volume *volume, const char *directory)
{
	if (volume->kind == VOLUME_HOST_DISK || volume->kind == VOLUME_CLAIM)
		return xstrdup(volume->path);
	if (volume->as_folder)
		return xasprintf("%s/" DOMAIN_FOLDERS "/%s", directory, volume->name);
	return xasprintf("%s/%s.%s", directory, volume->name, volume->media ? "iso" : "qcow2");
}

char *volume_path(const struct vmi_spec *spec, const char *name, const char *directory)
{
	const struct volume *volume = volume_of(spec, name);

	return volume ? volume_target(volume, directory) : NULL;
}

static bool has_base(const struct volume *volume)
{
	return volume->kind == VOLUME_CONTAINER_DISK || volume->kind == VOLUME_EPHEMERAL;
}

char *volume_base(const struct volume *volume, const char *directory)
{
	return has_base(volume) ? xasprintf("%s/%s.base", directory, volume->name) : NULL;
}

char *kernel_path(const char *directory)
{
	return xasprintf("%s/kernel", directory);
}

char *initrd_path(const char *directory)
{
	return xasprintf("%s/initrd", directory);
}

char *slic_path(const char *directory)
{
	return xasprintf("%s/" SLIC_FILE, directory);
}

const struct volume *spec_slic(const struct vmi_spec *spec)
{
	for (size_t i = 0; i < spec->n_volumes; i++)
		if (spec->volumes[i].slic)
			return &spec->volumes[i];
	return NULL;
}

static enum volume_work_kind work_kind(const struct volume *volume)
{
	if (volume->as_folder)
		return volume->claim ? VOLUME_WORK_CLAIM_FOLDER : VOLUME_WORK_FOLDER;
	switch (volume->kind) {
	case VOLUME_HOST_DISK:
		return volume->create ? VOLUME_WORK_CREATE_RAW : VOLUME_WORK_CHECK;
	case VOLUME_CONTAINER_DISK:
		return VOLUME_WORK_OVERLAY;
	case VOLUME_EMPTY_DISK:
		return VOLUME_WORK_EMPTY;
	case VOLUME_CLAIM:
		return VOLUME_WORK_CLAIM;
	case VOLUME_EPHEMERAL:
		return VOLUME_WORK_OVERLAY;
	case VOLUME_NO_CLOUD:
	case VOLUME_CONFIG_DRIVE:
	case VOLUME_CONFIG_MAP:
	case VOLUME_SECRET:
	case VOLUME_DOWNWARD_API:
	case VOLUME_SYSPREP:
		return VOLUME_WORK_MEDIUM;
	case VOLUME_KIND_MAX:
		break;
	}
	abort();
}

int64_t volume_size(const struct volume *volume)
{
	int64_t capacity = volume->capacity;

	return capacity < CAPACITY_UNIT ? capacity : capacity - capacity % CAPACITY_UNIT;
}

static struct volume_work volume_work_of(const struct volume *volume, const char *directory)
{
	return (struct volume_work){
		.kind = work_kind(volume),
		.volume = xstrdup(volume->name),
		.target = volume_target(volume, directory),
		.base = has_base(volume) ? xstrdup(volume->path) : NULL,
		.inner = xstrdup(volume->inner),
		.link = volume_base(volume, directory),
		.capacity = volume_size(volume),
		.claimed = volume->kind == VOLUME_EPHEMERAL,
		.label = volume->media && !volume->as_folder ? xstrdup(volume->media->label) : NULL,
	};
}

/* Without the file there is nothing to do. */
static void add_boot_file(struct volume_work *work, size_t *n, const char *image, const char *file,
	char *target)
{
	if (!file) {
		free(target);
		return;
	}
	work[(*n)++] = (struct volume_work){ .kind = VOLUME_WORK_LINK,
		.volume = xstrdup("kernelBoot"),
		.target = target,
		.base = xstrdup(image),
		.inner = xstrdup(file) };
}

void volume_works(const struct vmi_spec *spec, const char *directory, struct volume_work **ret_work,
	size_t *ret_n)
{
	const struct kernel_boot *boot = &spec->kernel_boot;
	const struct volume *slic = spec_slic(spec);
	struct volume_work *work = xcalloc(spec->n_volumes + 3, sizeof(*work));
	size_t n = 0;

	add_boot_file(work, &n, boot->image, boot->kernel, kernel_path(directory));
	add_boot_file(work, &n, boot->image, boot->initrd, initrd_path(directory));
	if (slic)
		work[n++] = (struct volume_work){ .kind = VOLUME_WORK_TABLE,
			.volume = xstrdup(slic->name),
			.target = slic_path(directory),
			.inner = xstrdup(SLIC_FILE) };
	for (size_t i = 0; i < spec->n_volumes; i++)
		work[n++] = volume_work_of(&spec->volumes[i], directory);
	*ret_work = work;
	*ret_n = n;
}
