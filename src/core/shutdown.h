/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shutdown pass (semantics §7.2 with its [P] rows): the clock starts when the first signal is
 * decided, never when one succeeds; each way to signal is repeated by itself, and one absolute kill
 * comes at first signal + grace, whatever the state. Pure.
 *
 * A guest has up to two ways to hear: its agent, while that is connected, and the ACPI power
 * button. They are sent beside each other, each anew every RESIGNAL_S as soon as the one before it
 * was answered: an agent that hangs holds up neither the button nor the kill. Without ACPI, but
 * with an agent, a stop is as graceful as with it (KubeVirt would kill such a guest at once); what
 * a kill then means for the phase stays KubeVirt's rule. A guest that no way reaches is killed at
 * once, for waiting is useless (§14 no. 14); once one was signalled its grace is its own, also if
 * the agent goes meanwhile: a guest that shuts down stops its agent early.
 */
#ifndef VMAGENT_CORE_SHUTDOWN_H
#define VMAGENT_CORE_SHUTDOWN_H

#include <vmagent/model.h>

#define RESIGNAL_S 5

enum shutdown_step { SHUTDOWN_WAIT, SHUTDOWN_ASK_AGENT, SHUTDOWN_PRESS_BUTTON, SHUTDOWN_KILL };

/* In the order in which they leave. */
enum signal_way { WAY_AGENT, WAY_BUTTON, WAY_MAX };

struct signal_facts {
	bool heard; /* the guest can hear it */
	bool busy;  /* the last one is not answered yet */
	msec last;  /* boot time of the last one; 0: none yet */
};

struct shutdown_facts {
	/* Seconds; GRACE_UNSET means GRACE_DEFAULT_S, GRACE_FOREVER_S no kill at all. */
	int64_t grace;
	struct signal_facts ways[WAY_MAX];
	enum domain_state state; /* Paused guests cannot react: kill at once (§14 no. 14) */
	msec first;              /* boot time of the first signal of any kind; 0: none yet */
	msec now;                /* boot */
	msec kill_at; /* boot time of the kill, if the grace is longer; 0: the grace alone */
};

/*
 * *ret_wake is the boot time at which to ask again (NEVER after a kill). The caller asks only while
 * there is something to stop: for NONE, SHUTOFF and UNKNOWN too the clock runs and ends in a kill.
 */
enum shutdown_step shutdown_decide(const struct shutdown_facts *facts, msec *ret_wake);

/* Whether a kill at that boot time came because the run's grace was over, and not
 * because waiting was useless. */
bool shutdown_grace_was_over(const struct vmi *vmi, msec at);

#endif
