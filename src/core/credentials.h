/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passwords of a guest's users and their keys for ssh (accessCredentials by
 * qemuGuestAgent): what its agent is to be told, as QEMU's guest agent takes it. Pure;
 * Secrets are looked up by whoever asks.
 */
#ifndef VMAGENT_CORE_CREDENTIALS_H
#define VMAGENT_CORE_CREDENTIALS_H

#include "core/media.h"

/* Whether there is anything to tell it. */
bool has_agent_credentials(const struct vmi_spec *spec);

/* The name of a Secret that they need and that is not there; NULL: none. Borrowed from the spec. */
const char *credentials_missing(const struct vmi_spec *spec, const struct media_world *world);

/*
 * The agent's commands in order, as a JSON list; owned by the caller. NULL: there are none, or a
 * Secret is missing: what the guest has stays.
 */
char *credentials_commands(const struct vmi_spec *spec, const struct media_world *world);

/* One of such a list, as the agent takes it; NULL behind the last. *ret_what names it without what
 * it tells. Owned, both. */
char *credentials_command(const char *commands, size_t i, char **ret_what);

/* Tells one such list from another; never 0 but for NULL. */
int64_t credentials_version(const char *commands);

#endif
