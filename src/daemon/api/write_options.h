/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request that writes says in its query: Kubernetes' CreateOptions, UpdateOptions and
 * PatchOptions.
 */
#ifndef VMAGENT_DAEMON_API_WRITE_OPTIONS_H
#define VMAGENT_DAEMON_API_WRITE_OPTIONS_H

#include "daemon/api/reply.h"

/* options is their kind. fieldManager and fieldValidation are checked and change nothing: nobody's
 * fields are tracked, and a field that is not known is refused whatever they say. Answers the
 * client itself, with 422, when one is wrong, and returns false. */
bool write_options_of(const struct call *call, const char *options, bool *ret_dry_run);

#endif
