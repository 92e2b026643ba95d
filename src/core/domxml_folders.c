/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes that a guest has as folders (filesystems): served by virtiofsd, which libvirt starts
 * beside QEMU and which must see the guest's memory. The guest mounts them by their names.
 */
#include "core/domxml_write.h"

#define QUEUE_SIZE "1024" /* KubeVirt's */

bool domain_has_folders(const struct vmi_spec *spec)
{
	for (size_t i = 0; i < spec->n_volumes; i++)
		if (spec->volumes[i].as_folder)
			return true;
	return false;
}

static void folder(xmlTextWriterPtr w, const struct volume *volume, const char *directory)
{
	autofree char *path = volume_target(volume, directory);
	autofree char *alias = xasprintf(FOLDER_ALIAS "%s", volume->name);

	xml_open(w, "filesystem");
	xml_attr(w, "type", "mount");
	xml_attr(w, "accessmode", "passthrough");
	xml_empty(w, "driver", "type", "virtiofs", "queue", QUEUE_SIZE, NULL);
	xml_empty(w, "source", "dir", path, NULL);
	xml_empty(w, "target", "dir", volume->name, NULL);
	xml_alias(w, alias);
	xml_close(w);
}

void domain_folders(xmlTextWriterPtr w, const struct vmi_spec *spec, const char *directory)
{
	for (size_t i = 0; i < spec->n_volumes; i++)
		if (spec->volumes[i].as_folder)
			folder(w, &spec->volumes[i], directory);
}
