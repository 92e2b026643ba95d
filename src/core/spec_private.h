/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of spec_parse() share: reading a value at a path, with what an absent one
 * means. */
#ifndef VMAGENT_CORE_SPEC_PRIVATE_H
#define VMAGENT_CORE_SPEC_PRIVATE_H

#include <vmagent/spec.h>

#include "core/node.h"

bool spec_bool(const struct node *map, const char *path, bool absent);

/* A whole number from 0 to INT32_MAX, or `absent`. */
int spec_int(const struct node *map, const char *path, int64_t absent, int64_t *ret,
	struct err *err);
int spec_unsigned(const struct node *map, const char *path, unsigned *ret, struct err *err);
int spec_quantity(const struct node *map, const char *path, int64_t *ret, struct err *err);
char *spec_copy(const struct node *map, const char *path); /* owned or NULL */

/* A list's length, bounded; *ret_list may be NULL. */
int spec_list(const struct node *spec, const char *path, const struct node **ret_list,
	size_t *ret_n, struct err *err);

/* On or off by its field `enabled`, which is true if absent; unset if there is nothing at path. */
enum toggle spec_toggle(const struct node *map, const char *path);

/* spec_cpu.c */
int spec_parse_cpu(const struct node *spec, struct vmi_spec *s, struct err *err);
int spec_parse_memory(const struct node *spec, struct vmi_spec *s, struct err *err);

/* spec_domain.c */
int spec_parse_features(const struct node *spec, struct vmi_spec *s, struct err *err);
void spec_parse_launch(const struct node *spec, struct vmi_spec *s);
int spec_parse_clock(const struct node *spec, struct vmi_spec *s, struct err *err);

/* spec_disks.c, spec_volumes.c, spec_interfaces.c */
int spec_parse_disks(const struct node *spec, struct vmi_spec *s, struct err *err);
int spec_parse_volumes(const struct node *spec, struct vmi_spec *s, struct err *err);
int spec_parse_interfaces(const struct node *spec, struct vmi_spec *s, struct err *err);

/* spec_media.c: the volume's source is one that a medium is made of; and what goes along with
 * some. */
int spec_parse_medium(const struct node *from, struct volume *volume, struct err *err);
int spec_parse_credentials(const struct node *spec, struct vmi_spec *s, struct err *err);

/* The binding that a plugin of that name stands for; false: nobody knows it. name may be NULL. */
bool binding_of_plugin(const char *name, enum binding *ret);

/* spec_probes.c */
int spec_parse_probes(const struct node *spec, struct vmi_spec *s, struct err *err);

/* spec_devices.c */
int spec_parse_peripherals(const struct node *spec, struct vmi_spec *s, struct err *err);

/* spec_hostdev.c */
int spec_parse_host_devices(const struct node *spec, struct vmi_spec *s, struct err *err);

/* spec_placement.c */
int spec_parse_demands(const struct node *spec, struct vmi_spec *s, struct err *err);
int spec_parse_placement(const struct node *spec, struct vmi_spec *s, struct err *err);

#endif
