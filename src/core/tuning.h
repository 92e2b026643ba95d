/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an administrator can set of the agent's decisions. Read once at start; constant afterwards.
 */
#ifndef VMAGENT_CORE_TUNING_H
#define VMAGENT_CORE_TUNING_H

#include <stdbool.h>

#include <vmagent/migration_limits.h>
#include <vmagent/placement.h>

#include "core/enum.h"

/* What becomes of the machines that ran when the host went down, X(constant, text): as KubeVirt
 * does it (semantics §4.6), or whatever ran runs again. */
#define BOOT_POLICIES(X) X(KUBEVIRT, "kubevirt") X(RESTORE_RUNNING, "restore-running")
enum boot_policy {
#define X(c, t) BOOT_##c,
	BOOT_POLICIES(X)
#undef X
		BOOT_POLICY_MAX
};

/* What a hand-over stands on, each of it necessary: the simulation leaves out one at a time, and
 * shows that then a guest runs twice, or on a stale image, or is lost. */
struct handover_rules {
	/* libvirt leaves the guest standing at the target: only its agent resumes it. */
	bool paused;
	/* Nothing is released unless the source's guest is known not to have run on. */
	bool evidence;
	bool patience; /* a target that hears nothing waits */
	bool memory;   /* what was released is remembered until the target has finished */
	/* A QEMU that was ended counts only if libvirt was kept waiting until after that. */
	bool vouching;
	bool suspicion; /* whoever has lost its database does not conclude that there was nothing */
};
#define HANDOVER_RULES ((struct handover_rules){ true, true, true, true, true, true })

/* KubeVirt's MigrationConfiguration, as far as it is about one host. */
struct migration_config {
	struct migration_limits limits;
	unsigned outbound, inbound; /* migrations at once: out of this host, and into it */
};
#define MIGRATION_CONFIG_DEFAULT ((struct migration_config){ MIGRATION_LIMITS_DEFAULT, 2, 2 })
#define MIGRATIONS_AT_ONCE_MAX   16 /* in each direction */

#define HOST_SHUTDOWN_MAX_S 86400
#define RESERVED_MEMORY     (INT64_C(512) << 20) /* bytes */

struct tuning {
	bool crash_guard;             /* off: upstream's exact behaviour (§4.5) */
	unsigned crash_stable_s;      /* a run that lasts this long is no crash loop */
	unsigned crash_free;          /* quick ends in a row that are not held back */
	enum boot_policy boot_policy; /* when another boot of the host is noticed */
	unsigned start_slots;         /* starts under way at one time */
	struct handover_rules handover;
	struct migration_config migrations;
	unsigned shutdown_s; /* within which a host that goes down has its guests stopped */
	/* Of a guest's memory: 100 is as much as is asked of the host, 200 half. */
	unsigned memory_percent;
	unsigned cpu_ratio;        /* vCPUs for each CPU of the host */
	struct resources reserved; /* for the host itself */
};

#define TUNING_DEFAULT                                     \
	((struct tuning){                                  \
		.crash_guard = true,                       \
		.crash_stable_s = 120,                     \
		.crash_free = 3,                           \
		.boot_policy = BOOT_KUBEVIRT,              \
		.start_slots = 4,                          \
		.shutdown_s = 300,                         \
		.memory_percent = 100,                     \
		.cpu_ratio = 10,                           \
		.reserved = { .memory = RESERVED_MEMORY }, \
		.handover = HANDOVER_RULES,                \
		.migrations = MIGRATION_CONFIG_DEFAULT,    \
	})

#endif
