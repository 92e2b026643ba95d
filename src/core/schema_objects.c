/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects as a whole: a VM around its template, a VMI, and what their metadata holds.
 */
#include "core/schema_rows.h"

/* WaitAsReceiver is set by a migration, never by a manifest. */
#define MANIFEST_STRATEGIES "Always|RerunOnFailure|Manual|Halted|Once"
#define NAMED_BY_VM         "a run has the name of its VM"
#define NAMES_TYPE          "gives it cpu and memory, and stays as it was when the VM first found it"
#define NAMES_PREFERENCE \
	"fills what the template leaves open; stays as it was when the VM first found it"
#define NAMES_REVISION "another VM's revision; an empty one takes the present state anew"
#define IS_A_TEMPLATE  "a template is that of a DataVolume"
#define INFERS         "its claim or DataVolume tells it, by a label"

#define OWNERS_MAX 64
#define OWNERS_NOTE                                                                                                 \
	"kept of what is stored as given (Secrets, ConfigMaps and the like), which is not deleted with its owner; " \
	"else the agent sets it"

/* clang-format off */
static const struct schema_field rows[] = {
	F(VM, "apiVersion",                 STRING, REQUIRED),
	F(VM, "kind",                       STRING, REQUIRED),
	F(VM, "metadata",                   SCOPE, REQUIRED, BELOW(META)),
	F(VM, "spec",                       MAP, REQUIRED),
	F(VM, "spec.runStrategy",           ENUM, ONE(MANIFEST_STRATEGIES)),
	F(VM, "spec.running",               BOOL,
		NOTE("the old form of runStrategy: true is Always, false Halted")),
	F(VM, "spec.dataVolumeTemplates",   LIST, RANGE(0, SPEC_LIST_MAX),
		NOTE("made with the VM, and deleted with it by command")),
	F(VM, "spec.dataVolumeTemplates[]",            MAP),
	F(VM, "spec.dataVolumeTemplates[].apiVersion", STRING, IGNORED(IS_A_TEMPLATE)),
	F(VM, "spec.dataVolumeTemplates[].kind",       STRING, IGNORED(IS_A_TEMPLATE)),
	F(VM, "spec.dataVolumeTemplates[].metadata",   SCOPE, REQUIRED, BELOW(META)),
	F(VM, "spec.dataVolumeTemplates[].spec",       SCOPE, REQUIRED, BELOW(DATA_VOLUME_SPEC)),
	F(VM, "spec.dataVolumeTemplates[].status",     ANY, DROPPED),
	F(VM, "spec.instancetype",                 MAP, NOTE(NAMES_TYPE)),
	F(VM, "spec.instancetype.name",            STRING, RULE(NAME)),
	F(VM, "spec.instancetype.kind",            STRING,
		DEFAULT("VirtualMachineClusterInstancetype")),
	F(VM, "spec.instancetype.revisionName",    STRING, NOTE(NAMES_REVISION)),
	F(VM, "spec.instancetype.inferFromVolume", STRING, NOTE(INFERS)),
	F(VM, "spec.instancetype.inferFromVolumeFailurePolicy", ENUM, ONE("Ignore|Reject"),
		DEFAULT("Reject")),
	F(VM, "spec.preference",                   MAP, NOTE(NAMES_PREFERENCE)),
	F(VM, "spec.preference.name",              STRING, RULE(NAME)),
	F(VM, "spec.preference.kind",              STRING,
		DEFAULT("VirtualMachineClusterPreference")),
	F(VM, "spec.preference.revisionName",      STRING, NOTE(NAMES_REVISION)),
	F(VM, "spec.preference.inferFromVolume",   STRING, NOTE(INFERS)),
	F(VM, "spec.preference.inferFromVolumeFailurePolicy", ENUM, ONE("Ignore|Reject"),
		DEFAULT("Reject")),
	F(VM, "spec.updateVolumesStrategy", ENUM, ONE("Replacement"), DEFAULT("Replacement"),
		NOTE("other volumes are those of the next run")),
	F(VM, "spec.template",              MAP, REQUIRED),
	F(VM, "spec.template.metadata",     SCOPE, BELOW(TEMPLATE_META)),
	F(VM, "spec.template.spec",         SCOPE, REQUIRED, BELOW(SPEC)),
	F(VM, "status",                     ANY, DROPPED),

	F(VMI, "apiVersion", STRING, REQUIRED),
	F(VMI, "kind",       STRING, REQUIRED),
	F(VMI, "metadata",   SCOPE, REQUIRED, BELOW(META)),
	F(VMI, "spec",       SCOPE, REQUIRED, BELOW(SPEC)),
	F(VMI, "status",     ANY, DROPPED),

	F(META, "name",                       STRING, REQUIRED, RULE(NAME)),
	F(META, "namespace",                  STRING, RULE(LABEL), DEFAULT("default")),
	F(META, "labels",                     MAP),
	F(META, "labels{}",                   STRING, RULE(LABEL_VALUE), KEY(LABEL_KEY)),
	F(META, "annotations",                MAP),
	F(META, "annotations{}",              STRING, KEY(LABEL_KEY)),
	F(META, "generateName",               STRING, REFUSED("give a name")),
	F(META, "uid",                        ANY, DROPPED),
	F(META, "resourceVersion",            ANY, DROPPED),
	F(META, "generation",                 ANY, DROPPED),
	F(META, "creationTimestamp",          ANY, DROPPED),
	F(META, "deletionTimestamp",          ANY, DROPPED),
	F(META, "deletionGracePeriodSeconds", ANY, DROPPED),
	F(META, "finalizers",                 ANY, DROPPED),
	F(META, "managedFields",              ANY, DROPPED),
	F(META, "ownerReferences",            LIST, RANGE(0, OWNERS_MAX), NOTE(OWNERS_NOTE)),
	F(META, "ownerReferences[]",          MAP),
	F(META, "ownerReferences[].apiVersion", STRING, REQUIRED),
	F(META, "ownerReferences[].kind",     STRING, REQUIRED),
	F(META, "ownerReferences[].name",     STRING, REQUIRED),
	F(META, "ownerReferences[].uid",      STRING, REQUIRED),
	F(META, "ownerReferences[].controller", BOOL),
	F(META, "ownerReferences[].blockOwnerDeletion", BOOL),
	F(META, "selfLink",                   ANY, DROPPED),

	F(TEMPLATE_META, "name",                       STRING, RULE(NAME), IGNORED(NAMED_BY_VM)),
	F(TEMPLATE_META, "namespace",                  STRING, RULE(LABEL), IGNORED(NAMED_BY_VM)),
	F(TEMPLATE_META, "labels",                     MAP),
	F(TEMPLATE_META, "labels{}",                   STRING, RULE(LABEL_VALUE), KEY(LABEL_KEY)),
	F(TEMPLATE_META, "annotations",                MAP),
	F(TEMPLATE_META, "annotations{}",              STRING, KEY(LABEL_KEY)),
	F(TEMPLATE_META, "generateName",               STRING, IGNORED(NAMED_BY_VM)),
	F(TEMPLATE_META, "uid",                        ANY, DROPPED),
	F(TEMPLATE_META, "resourceVersion",            ANY, DROPPED),
	F(TEMPLATE_META, "generation",                 ANY, DROPPED),
	F(TEMPLATE_META, "creationTimestamp",          ANY, DROPPED),
	F(TEMPLATE_META, "deletionTimestamp",          ANY, DROPPED),
	F(TEMPLATE_META, "deletionGracePeriodSeconds", ANY, DROPPED),
	F(TEMPLATE_META, "finalizers",                 ANY, DROPPED),
	F(TEMPLATE_META, "managedFields",              ANY, DROPPED),
	F(TEMPLATE_META, "ownerReferences",            ANY, DROPPED),
	F(TEMPLATE_META, "selfLink",                   ANY, DROPPED),
};
/* clang-format on */

const struct schema_table schema_objects = { rows, ARRAY_SIZE(rows) };
