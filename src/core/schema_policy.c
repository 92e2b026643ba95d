/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A MigrationPolicy: what a migration of some machines may take and do, instead of
 * what the configuration says.
 */
#include <vmagent/migration_limits.h>

#include "core/schema_rows.h"

#define LIKE_CONFIG "default: as the agent's configuration says"
#define NO_OPTIONS  "downtime rises in steps by itself, and nothing is compressed"

/* clang-format off */
static const struct schema_field rows[] = {
	F(POLICY, "apiVersion",                   STRING, REQUIRED),
	F(POLICY, "kind",                         STRING, REQUIRED),
	F(POLICY, "metadata",                     SCOPE, REQUIRED, BELOW(META)),
	F(POLICY, "spec",                         MAP, REQUIRED),
	F(POLICY, "spec.selectors",               MAP, REQUIRED,
		NOTE("of the policies whose labels a machine bears all, the one with most labels counts")),
	F(POLICY, "spec.selectors.virtualMachineInstanceSelector", MAP, NOTE("labels of the instance")),
	F(POLICY, "spec.selectors.virtualMachineInstanceSelector{}", STRING, RULE(LABEL_VALUE),
		KEY(LABEL_KEY)),
	F(POLICY, "spec.selectors.namespaceSelector", MAP, NOTE("labels of its namespace")),
	F(POLICY, "spec.selectors.namespaceSelector{}", STRING, RULE(LABEL_VALUE), KEY(LABEL_KEY)),
	F(POLICY, "spec.allowAutoConverge",       BOOL, NOTE(LIKE_CONFIG)),
	F(POLICY, "spec.allowPostCopy",           BOOL, NOTE(LIKE_CONFIG)),
	F(POLICY, "spec.allowWorkloadDisruption", BOOL, NOTE("default: as allowPostCopy, if that is given")),
	F(POLICY, "spec.bandwidthPerMigration",   QUANTITY, NOTE("bytes a second; 0: as fast as it goes")),
	F(POLICY, "spec.completionTimeoutPerGiB", INTEGER, RANGE(0, MIGRATION_SECONDS_MAX),
		NOTE("seconds for each GiB of memory and copied disks; 0: no limit")),
	F(POLICY, "spec.maxDowntimeMs",           INTEGER, RANGE(0, MIGRATION_DOWNTIME_MAX_MS),
		NOTE("for which the guest may stand still at the end")),
	F(POLICY, "spec.experimental",            ANY, IGNORED(NO_OPTIONS)),
	F(POLICY, "status",                       ANY, DROPPED),
};
/* clang-format on */

const struct schema_table schema_policy = { rows, ARRAY_SIZE(rows) };
