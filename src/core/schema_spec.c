/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VMI's spec around its domain: how it lives and where it may run.
 */
#include "core/schema_rows.h"

#define NO_CLUSTER_DNS "there is no cluster whose names could be looked up"

/* clang-format off */
static const struct schema_field rows[] = {
	F(SPEC, "architecture",                  ENUM, ONE("amd64")),
	F(SPEC, "startStrategy",                 ENUM, ONE("Paused")),
	F(SPEC, "terminationGracePeriodSeconds", INTEGER, RANGE(0, GRACE_MAX_S), DEFAULT("30")),
	F(SPEC, "evictionStrategy",              ENUM,
		ONE("None|LiveMigrate|LiveMigrateIfPossible|External"),
		IGNORED("a guest goes down with its host in this version")),
	F(SPEC, "hostname",                      STRING, RULE(LABEL)),
	F(SPEC, "subdomain",                     STRING, RULE(NAME), IGNORED(NO_CLUSTER_DNS)),
	F(SPEC, "dnsPolicy",                     STRING, IGNORED(NO_CLUSTER_DNS)),
	F(SPEC, "dnsConfig",                     ANY, IGNORED(NO_CLUSTER_DNS)),
	F(SPEC, "livenessProbe",                 SCOPE, BELOW(PROBE)),
	F(SPEC, "readinessProbe",                SCOPE, BELOW(PROBE)),

	F(SPEC, "serviceAccountName",        STRING,
		IGNORED("there is no cluster that a guest could have an account of")),
	F(SPEC, "resourceClaims",            LIST, REFUSED("a host has no resource claims")),

	F(SPEC, "utilityVolumes",                          LIST,
		REFUSED("they serve a launcher pod, and there is none")),
};
/* clang-format on */

const struct schema_table schema_spec = { rows, ARRAY_SIZE(rows) };
