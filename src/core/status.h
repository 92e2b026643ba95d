/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derived status: printableStatus (semantics §6, an ordered table, first match wins) and conditions
 * (§1.3). Nothing here is stored by itself; it is derived whenever an object is rendered.
 */
#ifndef VMAGENT_CORE_STATUS_H
#define VMAGENT_CORE_STATUS_H

#include "core/machine.h"

struct status_facts {
	const struct vm *vm;   /* not NULL */
	const struct vmi *vmi; /* or NULL */
	bool migrating;        /* migrationState started and not ended */
	bool paused;           /* VMI condition Paused=True */
	enum volumes_state volumes;
};

enum printable printable_of(const struct status_facts *facts);

/* "set to start" of §6 note 1. */
bool vm_is_set_to_start(const struct vm *vm, const struct vmi *vmi);

struct condition {
	const char *type;   /* borrowed, a constant */
	bool status;        /* True or False */
	const char *reason; /* borrowed, or NULL */
	char *message;      /* owned or NULL */
	msec since;         /* wall: lastTransitionTime; 0: not noted yet */
};
struct conditions {
	struct condition list[CONDITIONS_MAX];
	size_t n;
};
void conditions_done(struct conditions *c);

/* conditions_take_times() fills their `since` from what was noted. conditions_note() notes in m's
 * VM and VMI since when their conditions are as they are: what is new or has another status or
 * reason is so since now; a change of words alone is none. */
void conditions_take_times(struct conditions *c, const struct condition_times *times);
void conditions_note(struct machine *m, struct now now);

/* What condition Paused says; while libvirt cannot be asked, what was seen last. */
bool vmi_is_paused(const struct vmi *vmi, const struct domain *dom);

/* Whether the guest agent is connected; while libvirt cannot be asked, what was seen last. */
bool vmi_has_agent(const struct vmi *vmi, const struct domain *dom);

/*
 * VMI: Ready (GuestNotRunning …), what is in its way (OBSTACLES), Paused with
 * PausedByUser/PausedIOError/Paused<Reason>, AgentConnected,
 * AgentVersionNotSupported; of one that runs
 * also SoftwareEmulation, LiveMigratable and StorageLiveMigratable.
 * dom is what is known now.
 */
void vmi_conditions(const struct vmi *vmi, const struct domain *dom, struct conditions *ret);

/* VM: Ready (VMINotExists …), Failure, CrashLoop (the guard holds it back, or did before this run),
 * RestartRequired (an edit waits for the next run), ManifestRejected (file's content is not
 * applied), and the VMI's own mirrored; with no VMI nothing stale stays (§14 no. 12). */
void vm_conditions(const struct vm *vm, const struct vmi *vmi, const struct domain *dom,
	struct conditions *ret);

#endif
