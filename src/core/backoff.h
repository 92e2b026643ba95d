/* SPDX-License-Identifier: Apache-2.0 */
/* Start-failure back-off (semantics §4.5). Pure: the jitter's randomness is an argument. */
#ifndef VMAGENT_CORE_BACKOFF_H
#define VMAGENT_CORE_BACKOFF_H

#include <vmagent/model.h>

#define BACKOFF_UNIT_S 10
#define BACKOFF_MAX_S  300

/* Seconds to wait after the n-th consecutive failure (n < 1 counts as 1). random is uniform over
 * uint32_t: d = unit·n², plus random mod (d/2 + 1), capped after the jitter. */
unsigned backoff_delay(int64_t n, uint32_t random);

/* Whether a final VMI counts as a start failure: final, never Running, not counted yet. */
bool start_failure_counts(const struct vm *vm, const struct vmi *vmi);

/* Counts it: count, lastFailedVMIUID, retryAfterTimestamp. */
void start_failure_count(struct vm *vm, const struct vmi *vmi, struct now now, uint32_t random);

/* Whether a recorded failure is to be cleared: the VMI has been Running, or the strategy is none
 * of Always, RerunOnFailure, Once. vmi may be NULL. */
bool start_failure_is_over(const struct vm *vm, const struct vmi *vmi);

#endif
