/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that a manifest may say, in the order of its tables. A field that is in none of them
 * is refused by its name; every property that KubeVirt has is in one of them.
 *
 * Owns constants only. Rules that concern more than one field lie in rules*.c.
 */
#include "core/schema_rows.h"

#include "core/base64.h"
#include "core/cidr.h"
#include "core/cpuset.h"
#include "core/names.h"

static const struct schema_table *const tables[] = {
	&schema_objects,
	&schema_spec,
	&schema_placement,
	&schema_domain,
	&schema_devices,
	&schema_disks,
	&schema_volumes,
	&schema_networks,
	&schema_probe,
	&schema_instancetype,
	&schema_preference,
	&schema_claim,
	&schema_policy,
	&schema_migration,
	&schema_data_volume,
};

#define NO_COPIES "write a VirtualMachine for each"

/* clang-format off */
const struct schema_kind schema_kinds[] = {
	{ "VirtualMachine",                    SCOPE_VM,  NULL, NULL },
	{ "VirtualMachineInstance",            SCOPE_VMI, NULL, NULL },
	{ "VirtualMachineInstanceMigration",   SCOPE_MIGRATION, NULL, NULL },
	{ "VirtualMachineInstancetype",        SCOPE_INSTANCETYPE, NULL, NULL },
	{ "VirtualMachineClusterInstancetype", SCOPE_INSTANCETYPE, NULL, NULL },
	{ "VirtualMachinePreference",          SCOPE_PREFERENCE, NULL, NULL },
	{ "VirtualMachineClusterPreference",   SCOPE_PREFERENCE, NULL, NULL },
	{ "VirtualMachineInstancePreset",      SCOPE_MAX, "KubeVirt has given it up; write its fields in each machine",
	  NULL },
	{ "VirtualMachineInstanceReplicaSet",  SCOPE_MAX, NO_COPIES, NULL },
	{ "VirtualMachinePool",                SCOPE_MAX, NO_COPIES, NULL },
	{ "DataVolume",                        SCOPE_DATA_VOLUME, NULL, NULL },
	{ "PersistentVolumeClaim",             SCOPE_CLAIM, NULL, NULL },
	{ "Secret",                            SCOPE_MAX, NULL, NULL },
	{ "ConfigMap",                         SCOPE_MAX, NULL, NULL },
	{ "NetworkAttachmentDefinition",       SCOPE_MAX, NULL, NULL },
	{ "Namespace",                         SCOPE_MAX, NULL, NULL },
	{ "MigrationPolicy",                   SCOPE_POLICY, NULL, NULL },
	{ "PriorityClass",                     SCOPE_MAX, NULL, NULL },
	{ "ResourceClaimTemplate",             SCOPE_MAX, "a host has no resource claims", NULL },
	{ NULL,                                SCOPE_MAX, NULL, NULL },
};
/* clang-format on */

const struct schema_kind *schema_kind(const char *kind)
{
	for (const struct schema_kind *k = schema_kinds; k->kind; k++) {
		if (streq(k->kind, kind))
			return k;
	}
	return NULL;
}

const struct schema_field *schema_walk(struct schema_walk *walk)
{
	while (walk->table < ARRAY_SIZE(tables) && walk->row == tables[walk->table]->n) {
		walk->table++;
		walk->row = 0;
	}
	return walk->table < ARRAY_SIZE(tables) ? &tables[walk->table]->rows[walk->row++] : NULL;
}

static const struct {
	bool (*holds)(const char *text);
	const char *words;
} rules[] = {
#define X(c, holds, words) [RULE_##c] = { holds, words },
	SCHEMA_RULES(X)
#undef X
};

bool schema_rule_holds(enum schema_rule rule, const char *text)
{
	return !rules[rule].holds || rules[rule].holds(text);
}

const char *schema_rule_words(enum schema_rule rule)
{
	return rules[rule].words ? rules[rule].words : "a string";
}
