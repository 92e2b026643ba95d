/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VirtualMachineInstanceMigration: the order to move one running guest to another host.
 */
#include "core/migration_order.h"
#include "core/schema_rows.h"

#define PRIORITIES "system-critical|user-triggered|system-maintenance"
#define NO_CLUSTERS                                                                    \
	"KubeVirt has it for two clusters; here the agents move a guest between them " \
	"by themselves: leave it away, and name the peer in addedNodeSelector"

/* clang-format off */
static const struct schema_field rows[] = {
	F(MIGRATION, "apiVersion",               STRING, REQUIRED),
	F(MIGRATION, "kind",                     STRING, REQUIRED),
	F(MIGRATION, "metadata",                 SCOPE, REQUIRED, BELOW(META)),
	F(MIGRATION, "spec",                     MAP, REQUIRED),
	F(MIGRATION, "spec.vmiName",             STRING, REQUIRED, RULE(NAME),
		NOTE("the run that moves: it has the name of its VM")),
	F(MIGRATION, "spec.addedNodeSelector",   MAP,
		NOTE(HOSTNAME_LABEL " names the peer it goes to; without one that of the annotation " PEER_ANNOTATION
			", or the peer that is best")),
	F(MIGRATION, "spec.addedNodeSelector{}", STRING, RULE(LABEL_VALUE), KEY(LABEL_KEY)),
	F(MIGRATION, "spec.priority",            ENUM, ONE(PRIORITIES),
		NOTE("of those that wait for their turn the more urgent begins; default: user-triggered")),
	F(MIGRATION, "spec.sendTo",              MAP, REFUSED(NO_CLUSTERS)),
	F(MIGRATION, "spec.receive",             MAP, REFUSED(NO_CLUSTERS)),
	F(MIGRATION, "status",                   ANY, DROPPED),
};
/* clang-format on */

const struct schema_table schema_migration = { rows, ARRAY_SIZE(rows) };
