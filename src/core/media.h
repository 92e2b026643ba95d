/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies on the media that are made for a guest: cloud-init's seeds (KubeVirt's formats: NoCloud
 * and config drive), the keys of a ConfigMap or Secret, what a run knows of itself. Pure: objects
 * are looked up by whoever asks.
 */
#ifndef VMAGENT_CORE_MEDIA_H
#define VMAGENT_CORE_MEDIA_H

#include <vmagent/hypervisor.h>

struct media_world {           /* borrowed */
	const char *ns, *name; /* of the run */
	const struct vmi *vmi;
	/* The content of a Secret or ConfigMap of the run's namespace, as JSON; NULL:
	 * there is none. Borrowed. */
	const char *(*find)(void *ctx, enum object_kind kind, const char *name);
	void *ctx;
};

struct media_files {             /* sorted by path */
	struct media_file *list; /* owned */
	size_t n, cap;
};
void media_files_done(struct media_files *files);

/*
 * The files of the volume's medium. Errors: ERR_NOT_FOUND, naming the object that is missing or
 * lacks something, and what to do; then *ret is empty.
 */
int media_files_of(const struct volume *volume, const struct media_world *world,
	struct media_files *ret, struct err *err);

/* The guest's name: the spec's hostname, else the object's, up to its first dot
 * and 63 characters. Owned. */
char *guest_hostname(const struct vmi_spec *spec, const char *name);

#endif
