/* SPDX-License-Identifier: Apache-2.0 */
/* What a VMI's spec comes to where it leaves something out; for defaulting and for the checks. */
#ifndef VMAGENT_CORE_DEFAULTS_H
#define VMAGENT_CORE_DEFAULTS_H

#include "core/node.h"

struct topology {
	int64_t sockets, cores, threads; /* at least 1 each */
	bool given;                      /* the spec says at least one of them */
};

struct topology topology_of(const struct node *spec);

/* The quantity that memory.guest is, or becomes: itself, requests.memory, limits.memory, or
 * NULL. */
const struct node *guest_memory_of(const struct node *spec);

/* A switch such as features.smm: absent is false, there without `enabled` true. */
bool feature_is_on(const struct node *spec, const char *path);

/* defaults_features.c. That of two Hyper-V features, by their names, the first needs the second. */
struct hyperv_need {
	const char *feature, *needs;
};
extern const struct hyperv_need hyperv_needs[];
extern const size_t hyperv_n_needs;

void default_features(struct node *spec);

#endif
