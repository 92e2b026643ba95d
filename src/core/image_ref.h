/* SPDX-License-Identifier: Apache-2.0 */
/*
 * References to images, and the files that stand for them: the agent pulls nothing from registries
 * in this version. A reference is looked up in the configuration's `images`, in their order, then
 * in a folder. Pure.
 */
#ifndef VMAGENT_CORE_IMAGE_REF_H
#define VMAGENT_CORE_IMAGE_REF_H

#include <vmagent/base.h>

#define IMAGE_REF_LEN_MAX 1024
#define IMAGE_RULES_MAX   256
#define IMAGE_FILES_MAX   16 /* file names that a reference may have in the folder */

struct image_rule {  /* owned */
	char *match; /* a reference, or a shell pattern of some */
	char *path;  /* absolute: a disk image, or a folder that holds what the image would */
};

struct image_map {
	struct image_rule rules[IMAGE_RULES_MAX];
	size_t n_rules;
	char *directory; /* owned, absolute */
};

void image_rules_done(struct image_map *map);

/* Whether text is a reference as OCI registries have them: [HOST[:PORT]/]NAME[:TAG][@DIGEST]. */
bool is_image_ref(const char *text);

/* The first rule that matches; NULL if none does. */
const struct image_rule *image_rule_of(const struct image_map *map, const char *ref);

/*
 * What the reference's file is called in the folder, the likeliest first: the last part of its name
 * with its tag ("cirros:1.0"), then without it, each as it is and with .qcow2, .img and .raw.
 * Owned; returns how many.
 */
size_t image_files_of(const char *ref, char *ret_names[IMAGE_FILES_MAX]);

/* What to say when none of these is there, and what to do. Owned. */
char *image_missing_text(const struct image_map *map, const char *ref);

#endif
