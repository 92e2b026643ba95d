/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carrying out a plan on the model: each step is one small change, and says what happened and why.
 * Pure but for what it changes in the machine: identity and time come as arguments.
 */
#ifndef VMAGENT_CORE_STEPS_H
#define VMAGENT_CORE_STEPS_H

#include "core/cause.h"

#define TEXT_SIZE 512

/* What libvirt shows of the domain at that moment; state UNKNOWN: nothing. */
struct libvirt_view {
	enum domain_state state;
	enum domain_reason reason;
};

/* Something worth an event and a log line. */
struct happening {
	enum object_kind kind; /* of the object that it happened to */
	bool warning;
	bool quiet;         /* an event alone: another one's line in the log tells of it */
	const char *reason; /* a constant, KubeVirt's where it has one; NULL: only logged */
	struct actor actor;
	enum cause cause; /* of a run's end */
	struct libvirt_view libvirt;
	const char *output;   /* borrowed: QEMU's own words, or NULL */
	char text[TEXT_SIZE]; /* "" means nothing happened that is worth saying */
};
void happen(struct happening *h, enum object_kind kind, const char *reason, const char *fmt, ...)
	PRINTF(4, 5);

struct step_env { /* borrowed */
	struct now now;
	const struct tuning *tuning;
	char uid[UID_SIZE]; /* CREATE_VMI: the new run's */
	uint32_t random;    /* COUNT_FAILURE, COUNT_CRASH: jitter */
};

/* Applies plan to m, marks what changed, and fills *ret (text "" when there is nothing to say).
 * Fails only for CREATE_VMI of a spec that cannot be understood; then nothing changed. */
int step_apply(struct machine *m, const struct plan *plan, const struct step_env *env,
	struct happening *ret, struct err *err);

/* A run of m's VM, as CREATE_VMI makes it but in phase Pending and not yet in m; NULL with words if
 * the spec cannot be understood. Owned by the caller. */
struct vmi *vmi_of_vm(const struct vm *vm, const struct step_env *env, struct err *err);

/* "Shutoff/Crashed", "NonExistent"; "" for a view of nothing. */
#define LIBVIRT_VIEW_SIZE 40
void libvirt_view_text(const struct libvirt_view *view, char ret[LIBVIRT_VIEW_SIZE]);

/* Marks a VMI or VM for deletion; no-op if it is already. */
void vmi_delete(struct machine *m, struct now now);
void vm_delete(struct machine *m, struct now now);

/* Marks a VM for deletion and lets go of its run, which belongs to nobody then; a run
 * that is to end, or was told to by a stop that came before, still ends. A restart that
 * only waits is forgotten. */
void vm_orphan(struct machine *m, struct now now);

/* The reason of the event that tells of it. A constant. */
const char *obstacle_event(enum obstacle obstacle);

/* A failed try of an op is not repeated before this many ms: 1 s doubling, to 30 s. */
#define RETRY_FIRST_S 1
#define RETRY_MAX_S   30
msec retry_delay(unsigned tries);

#endif
