/* SPDX-License-Identifier: Apache-2.0 */
/* What the makers of media share: media.c of objects, media_seed.c of cloud-init,
 * media_run.c of the run. */
#ifndef VMAGENT_CORE_MEDIA_PRIVATE_H
#define VMAGENT_CORE_MEDIA_PRIVATE_H

#include "core/media.h"
#include "core/node.h"

struct maker {
	const struct volume *volume;
	const struct media_world *world;
	struct media_files *files;
	struct err *err;
};

typedef int media_fn(struct maker *maker);

int media_seed_no_cloud(struct maker *maker);     /* media_seed.c */
int media_seed_config_drive(struct maker *maker); /* … */
int media_downward(struct maker *maker);          /* media_run.c */

/* media_tags.c: adds what devices are tagged with to what is said of the guest. */
void media_add_devices(struct node *about, const struct vmi *vmi);

/* Adds a file; takes data, which has len bytes. Borrowed until the next one. */
struct media_file *media_add(struct maker *maker, const char *path, char *data, size_t len);
/* Takes text. */
struct media_file *media_add_text(struct maker *maker, const char *path, char *text);

/* The object's content, owned by the caller; NULL, with words unless it is optional,
 * if there is none. */
struct node *media_object(struct maker *maker, enum object_kind kind, const char *name,
	bool optional);

/* The bytes of a value in a content's `data` or `binaryData`; owned by the caller. */
char *media_value(enum object_kind kind, const struct node *value, bool binary, size_t *ret_len);

#endif
