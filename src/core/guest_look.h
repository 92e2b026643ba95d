/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a guest's agent tells of its guest, as KubeVirt's subresources guestosinfo, userlist
 * and filesystemlist (semantics §5.4, §8.5). Pure; the answers come from a guest, so nothing
 * in them is trusted.
 */
#ifndef VMAGENT_CORE_GUEST_LOOK_H
#define VMAGENT_CORE_GUEST_LOOK_H

#include <vmagent/err.h>
#include <vmagent/model.h>

/* Users and file systems in guestosinfo; in the lists of their own: all. */
#define GUEST_LOOK_SHOWN 10

/* What the agent is asked for it: commands without arguments, NULL-terminated. */
const char *const *guest_look_commands(enum guest_look look);

/* Whether there is an agent to be asked: a run in phase Running, its agent connected.
 * ERR_CONFLICT. */
int guest_look_check(const struct vmi *vmi, const struct domain *dom, struct err *err);

/* The subresource's object, owned by the caller, of a JSON object of the agent's answers by
 * command. What the agent did not say is left out. ERR_HYPERVISOR if answers are none. */
int guest_look_document(enum guest_look look, const char *answers, char **ret, struct err *err);

#endif
