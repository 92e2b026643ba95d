/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An instancetype: what it gives to the machines that name it. A field that becomes one of their
 * template is as that one is, whatever this version makes of it.
 */
#include "core/schema_rows.h"

/* clang-format off */
static const struct schema_field rows[] = {
	F(INSTANCETYPE, "apiVersion",                  STRING, REQUIRED),
	F(INSTANCETYPE, "kind",                        STRING, REQUIRED),
	F(INSTANCETYPE, "metadata",                    SCOPE, REQUIRED, BELOW(META)),
	F(INSTANCETYPE, "spec",                        MAP, REQUIRED,
		NOTE("cpu and memory of the machines that name it, and more")),
	F(INSTANCETYPE, "status",                      ANY, DROPPED),
	F(INSTANCETYPE, "spec.annotations",            MAP, NOTE("of each run")),
	F(INSTANCETYPE, "spec.annotations{}",          STRING, KEY(LABEL_KEY)),
	F(INSTANCETYPE, "spec.cpu",                    MAP, REQUIRED),
	F(INSTANCETYPE, "spec.cpu.guest",              INTEGER, REQUIRED, RANGE(1, VCPUS_MAX),
		NOTE("vCPUs; sockets, unless the preference wants them otherwise")),
	F(INSTANCETYPE, "spec.cpu.model",              AS, LIKE(SPEC, "domain.cpu.model")),
	F(INSTANCETYPE, "spec.cpu.maxSockets",         AS, LIKE(SPEC, "domain.cpu.maxSockets")),
	F(INSTANCETYPE, "spec.cpu.dedicatedCPUPlacement", AS,
		LIKE(SPEC, "domain.cpu.dedicatedCpuPlacement")),
	F(INSTANCETYPE, "spec.cpu.isolateEmulatorThread", AS,
		LIKE(SPEC, "domain.cpu.isolateEmulatorThread")),
	F(INSTANCETYPE, "spec.cpu.numa",               AS, LIKE(SPEC, "domain.cpu.numa")),
	F(INSTANCETYPE, "spec.cpu.realtime",           AS, LIKE(SPEC, "domain.cpu.realtime")),
	F(INSTANCETYPE, "spec.memory",                 MAP, REQUIRED),
	F(INSTANCETYPE, "spec.memory.guest",           QUANTITY, REQUIRED, RANGE(MEMORY_MIN, 0)),
	F(INSTANCETYPE, "spec.memory.hugepages",       AS, LIKE(SPEC, "domain.memory.hugepages")),
	F(INSTANCETYPE, "spec.memory.maxGuest",        AS, LIKE(SPEC, "domain.memory.maxGuest")),
	F(INSTANCETYPE, "spec.memory.overcommitPercent", INTEGER, RANGE(0, 100),
		NOTE("requests.memory is so much less than the guest's")),
	F(INSTANCETYPE, "spec.gpus",                   AS, LIKE(SPEC, "domain.devices.gpus")),
	F(INSTANCETYPE, "spec.hostDevices",            AS,
		LIKE(SPEC, "domain.devices.hostDevices")),
	F(INSTANCETYPE, "spec.ioThreadsPolicy",        AS, LIKE(SPEC, "domain.ioThreadsPolicy")),
	F(INSTANCETYPE, "spec.ioThreads",              AS, LIKE(SPEC, "domain.ioThreads")),
	F(INSTANCETYPE, "spec.launchSecurity",         AS, LIKE(SPEC, "domain.launchSecurity")),
	F(INSTANCETYPE, "spec.nodeSelector",           AS, LIKE(SPEC, "nodeSelector")),
	F(INSTANCETYPE, "spec.schedulerName",          AS, LIKE(SPEC, "schedulerName")),
};
/* clang-format on */

const struct schema_table schema_instancetype = { rows, ARRAY_SIZE(rows) };
