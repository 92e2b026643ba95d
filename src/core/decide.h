/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decider of a machine: looks at desired state and facts and returns at most one step. Pure: no
 * clock, no I/O, and with no new fact a second call plans nothing new.
 *
 * Its rules stand in one ordered table, first match wins: first what the run's phase is, then what
 * the RunStrategy wants, then what the run itself needs next (semantics §2.3, §4.2, §7.2).
 */
#ifndef VMAGENT_CORE_DECIDE_H
#define VMAGENT_CORE_DECIDE_H

#include "core/machine.h"
#include "core/tuning.h"

/* X(constant, name, op): model steps have op NONE; the others also send that op after the
 * commit. */
#define STEPS(X)                                                                     \
	X(NONE, "none", NONE)                                                        \
	X(SET_PHASE, "set-phase", NONE)                                              \
	X(CREATE_VMI, "create-vmi", NONE)                                            \
	X(ADOPT_VMI, "adopt-vmi", NONE)                                              \
	X(DELETE_VMI, "delete-vmi", NONE)                                            \
	X(RERUN_VMI, "rerun-vmi", NONE) /* delete it and queue a Start */            \
	X(PIN, "pin", NONE)             /* its types, or why not */                  \
	X(BECOME_ALWAYS, "become-always", NONE)                                      \
	X(POP_REQUEST, "pop-request", NONE)                                          \
	X(COUNT_FAILURE, "count-failure", NONE)                                      \
	X(CLEAR_FAILURE, "clear-failure", NONE)                                      \
	X(COUNT_CRASH, "count-crash", NONE)                                          \
	X(CLEAR_CRASH, "clear-crash", NONE)                                          \
	X(RECORD_STRATEGY, "record-strategy", NONE)                                  \
	X(UNPAUSED, "unpaused", NONE) /* the release is done */                      \
	X(CLEAR_ERROR, "clear-error", NONE)                                          \
	X(IO_FAILED, "io-failed", NONE) /* a resume did not help */                  \
	X(IO_OVER, "io-over", NONE)     /* the guest has run for a while */          \
	X(WAIT_FOR, "wait-for", NONE)   /* an obstacle is in its way */              \
	X(IO_RESUME, "io-resume", RESUME)                                            \
	X(FORGET_VMI, "forget-vmi", NONE)                                            \
	X(FORGET_VM, "forget-vm", NONE)                                              \
	X(READ, "read", READ)                                                        \
	X(PREPARE, "prepare", PREPARE)                                               \
	X(START, "start", START)                                                     \
	X(CLAIM, "claim", CLAIM)                                                     \
	X(SUSPEND, "suspend", SUSPEND)                                               \
	X(RESUME, "resume", RESUME)                                                  \
	X(REBOOT, "reboot", REBOOT)                                                  \
	X(RESET, "reset", RESET)                                                     \
	X(SIGNAL, "signal", SHUTDOWN)                                                \
	X(ASK_AGENT, "ask-agent", AGENT_SHUTDOWN)                                    \
	X(REBOOT_BY_AGENT, "reboot-by-agent", AGENT_REBOOT)                          \
	X(SET_TIME, "set-time", AGENT_TIME)                                          \
	X(AGENT_INFO, "agent-info", AGENT_INFO)                                      \
	X(TELL_CREDENTIALS, "tell-credentials", AGENT_CREDENTIALS)                   \
	X(CREDENTIALS, "credentials", NONE) /* how that went */                      \
	X(PROBE, "probe", PROBE)                                                     \
	X(UNHEALTHY, "unhealthy", NONE) /* its liveness probe failed */              \
	X(READINESS, "readiness", NONE) /* its readiness probe passes, or no more */ \
	X(KILL, "kill", DESTROY)                                                     \
	X(READ_WORDS, "read-output", WORDS)                                          \
	X(UNDEFINE, "undefine", UNDEFINE)                                            \
	X(CLEAN, "clean", CLEAN)                                                     \
	X(PURGE, "purge", PURGE)                                                     \
	X(HOST_STOP, "host-stop", NONE)

enum step {
#define X(c, name, op) STEP_##c,
	STEPS(X)
#undef X
		STEP_MAX
};
const char *step_name(enum step step);
enum op_kind step_op(enum step step);

struct plan {
	enum step step;
	enum phase phase;               /* SET_PHASE */
	enum domain_reason cause;       /* SET_PHASE: why a run ended */
	const char *reason;             /* SET_PHASE: status.reason, or NULL; a constant */
	enum probe_of probe;            /* PROBE */
	int64_t credentials;            /* TELL_CREDENTIALS: which */
	enum obstacle obstacle;         /* WAIT_FOR */
	const char *obstacle_words;     /* … borrowed */
	const struct types_look *types; /* PIN; borrowed */
	/* SET_PHASE: the run went down with the host and is to be followed by another. */
	bool restore;
	msec wake_at;    /* boot time at which to decide again; NEVER: only on news */
	bool wants_slot; /* it is to start, and neither hangs nor waits for another try */
	bool may_live;   /* it runs, or may: a host that goes down has to stop it */
	bool is_coming;  /* it is on its way to a run: higher orders wait for it after a boot */
};

/* What a VM whose types are not pinned would have of them now. */
struct types_look {
	struct pin pins[VM_TYPES]; /* owned */
	enum type_trouble trouble; /* they cannot be had, or do not go with it, … */
	char *words;               /* owned or NULL: … why */
};

struct host_facts {
	struct now now;
	const struct tuning *tuning;    /* borrowed */
	bool connected;                 /* to libvirt */
	enum obstacle obstacle;         /* keeps this run from being prepared … */
	const struct types_look *types; /* of a VM with unpinned ones; borrowed, or NULL */
	const char *obstacle_words;     /* … what it is and what would end it; borrowed */
	/* That this run's guest agent is to be told (core/credentials.h); 0: none. */
	int64_t credentials;
	bool hold; /* no run is begun: the host goes down, or which ones run already is not known */
	bool going_down; /* the host does: what has ended stays as it is until the next boot */
	bool settled;    /* … long enough that one read of a new run's domain is enough */
};

#define START_TIMEOUT_S 240 /* in Scheduled, then Failed (§2.3 [P]) */

#define SET_TIME_S       60 /* after a resume the guest's clock is tried to be set for so long, … */
#define SET_TIME_RETRY_S 1 /* … each second (§5.4 unpause) */

struct plan machine_decide(const struct machine *m, const struct host_facts *host);

#endif
