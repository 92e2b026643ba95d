/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a guest is asked whether it is well, and what its answers come to (semantics §8.4). Pure.
 */
#ifndef VMAGENT_CORE_PROBE_H
#define VMAGENT_CORE_PROBE_H

#include <vmagent/model.h>

enum probe_verdict { PROBE_UNDECIDED, PROBE_PASSED, PROBE_FAILED };

/* The boot time at which to ask next, of a run that began at boot time `running` (0: nobody
 * knows). */
msec probe_at(const struct probe *probe, const struct probe_state *state, msec running);

/* Notes an answer, NULL for a good one, else what was wrong with it. */
void probe_note(struct probe_state *state, const struct probe *probe, const char *wrong, msec now);

enum probe_verdict probe_verdict(const struct probe *probe, const struct probe_state *state);

/* What a guest's agent answered: to guest-exec, the process; to guest-exec-status, how it is.
 * False: it is no such answer. A process that a signal ended has code -1. */
bool probe_exec_pid(const char *answer, int64_t *ret_pid);
bool probe_exec_status(const char *answer, bool *ret_exited, int64_t *ret_code);

/* The status of an HTTP answer that begins so; 0: it is none. Those from 200 to 399 are good. */
int probe_http_status(const char *answer);

#endif
