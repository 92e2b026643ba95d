/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a guest agent must be able to do, held against its answer to guest-info (semantics §1.3,
 * AgentVersionNotSupported). Pure; the answer comes from a guest, so nothing in it is trusted.
 */
#ifndef VMAGENT_CORE_AGENT_INFO_H
#define VMAGENT_CORE_AGENT_INFO_H

#include <vmagent/spec.h>

/*
 * *ret_problem: NULL when it can all that a run with this spec needs, else words that name what it
 * lacks; owned by the caller. One that does not list its commands is judged by its version. Returns
 * 0, or -ERR_INVALID if this is no answer.
 */
int agent_info_check(const char *answer, const struct vmi_spec *spec, char **ret_problem,
	struct err *err);

#endif
