/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shutdown pass (semantics §7.2 with its [P] rows): the clock starts at the first signal, the
 * signal is repeated, and one absolute kill comes at first signal + grace, whatever the state. Pure.
 */
#ifndef VMAGENT_CORE_SHUTDOWN_H
#define VMAGENT_CORE_SHUTDOWN_H

#include <vmagent/model.h>

#define RESIGNAL_S 5

enum shutdown_step { SHUTDOWN_WAIT, SHUTDOWN_SIGNAL, SHUTDOWN_KILL };

struct shutdown_facts {
	int64_t grace; /* seconds; GRACE_UNSET means GRACE_DEFAULT_S, GRACE_FOREVER_S no kill at all */
	bool acpi;     /* without it a signal is useless: kill at once */
	enum domain_state state; /* Paused guests cannot react: kill at once (§14 no. 14) */
	msec first;              /* boot time of the first signal; 0: none yet */
	msec last;               /* of the last one */
	msec now;                /* boot */
	msec kill_at; /* boot time of the kill, if the grace is longer; 0: the grace alone */
};

/*
 * *ret_wake is the boot time at which to ask again (NEVER after a kill). The caller asks only while
 * there is something to stop: for NONE, SHUTOFF and UNKNOWN too the clock runs and ends in a kill.
 */
enum shutdown_step shutdown_decide(const struct shutdown_facts *facts, msec *ret_wake);

#endif
