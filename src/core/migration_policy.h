/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which MigrationPolicy a machine's migration follows, and what comes of it and the configuration
 * together: KubeVirt's rules. Pure.
 */
#ifndef VMAGENT_CORE_MIGRATION_POLICY_H
#define VMAGENT_CORE_MIGRATION_POLICY_H

#include <vmagent/migration_limits.h>

#include "core/record.h"
#include "core/tuning.h"

struct policed { /* whose migration it is; borrowed JSON object texts, or NULL */
	const char *labels, *namespace_labels;
};

/*
 * Of the n policies the one that counts: all of its selectors' labels are borne, and no other that
 * is so has more of them; of two with as many the one with more of the machine's own, then the
 * first by name. NULL: none is so.
 */
const struct record *migration_policy_find(struct record *const *policies, size_t n,
	const struct policed *whose);

/* What the policy says instead of *limits. */
void migration_policy_apply(const struct record *policy, struct migration_limits *limits);

/* status.migrationState.migrationConfiguration; owned by the caller. And what one says, or a
 * policy's spec, instead of *limits. */
struct cJSON *migration_limits_json(const struct migration_limits *limits);
void migration_limits_read(const struct cJSON *spec, struct migration_limits *limits);

/* spec.configuration.migrations of the KubeVirt object, as JSON; owned by the caller. */
char *migration_config_json(const struct migration_config *config);

#endif
