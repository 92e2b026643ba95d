/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A DataVolume, by itself or as a template of a VM: a claim, and what it is filled with.
 */
#include "core/claim.h"
#include "core/schema_rows.h"

#define ACCESS_MODES "ReadWriteOnce|ReadOnlyMany|ReadWriteMany|ReadWriteOncePod"
#define NO_VOLUMES   "there are no PersistentVolumes here: a claim is a file of the host"
#define ONLY_STORAGE "storage is all that there is to ask for"
#define OF_REQUEST   "a request over it is refused; the file has the size that is requested"
#define NO_PULLING   "nothing is pulled: a file of the host stands for the image"
#define BY_SOURCE    "say under spec.source what it is filled with"
#define FETCH_IT \
	"fetch the image, let the configuration's `images` name it, and use source.registry"
#define NO_UPLOAD \
	"put the image where the configuration's `images` finds it, and use source.registry"
#define NO_SNAPSHOT "there are no snapshots of claims; clone the claim itself with source.pvc"
#define NO_SOURCES  "DataSources are not kept here; name the claim itself under source.pvc"
#define NO_STEPS    "an image is imported as a whole, in one go"

/* clang-format off */
static const struct schema_field rows[] = {
	F(DATA_VOLUME, "apiVersion", STRING, REQUIRED),
	F(DATA_VOLUME, "kind",       STRING, REQUIRED),
	F(DATA_VOLUME, "metadata",   SCOPE, REQUIRED, BELOW(META)),
	F(DATA_VOLUME, "spec",       SCOPE, REQUIRED, BELOW(DATA_VOLUME_SPEC)),
	F(DATA_VOLUME, "status",     ANY, DROPPED),

	F(DATA_VOLUME_SPEC, "pvc",                          SCOPE, BELOW(CLAIM_SPEC),
		NOTE("the claim that is made, in full")),
	F(DATA_VOLUME_SPEC, "storage",                      MAP,
		NOTE("… or in short: what is left open is chosen")),
	F(DATA_VOLUME_SPEC, "storage.accessModes",          LIST, RANGE(0, 4),
		DEFAULT("[ReadWriteOnce]")),
	F(DATA_VOLUME_SPEC, "storage.accessModes[]",        ENUM, ONE(ACCESS_MODES)),
	F(DATA_VOLUME_SPEC, "storage.resources",            MAP),
	F(DATA_VOLUME_SPEC, "storage.resources.requests",   MAP),
	F(DATA_VOLUME_SPEC, "storage.resources.requests.storage", QUANTITY, RANGE(CLAIM_SIZE_MIN, 0),
		NOTE("the size of the disk; of a clone it may be left away")),
	F(DATA_VOLUME_SPEC, "storage.resources.requests{}", QUANTITY, IGNORED(ONLY_STORAGE)),
	F(DATA_VOLUME_SPEC, "storage.resources.limits",     MAP),
	F(DATA_VOLUME_SPEC, "storage.resources.limits.storage", QUANTITY, NOTE(OF_REQUEST)),
	F(DATA_VOLUME_SPEC, "storage.resources.limits{}",   QUANTITY, IGNORED(ONLY_STORAGE)),
	F(DATA_VOLUME_SPEC, "storage.storageClassName",     STRING),
	F(DATA_VOLUME_SPEC, "storage.volumeMode",           ENUM, ONE("Filesystem|Block"),
		DEFAULT("Filesystem")),
	F(DATA_VOLUME_SPEC, "storage.volumeName",           STRING, IGNORED(NO_VOLUMES)),
	F(DATA_VOLUME_SPEC, "storage.selector",             ANY, IGNORED(NO_VOLUMES)),
	F(DATA_VOLUME_SPEC, "storage.dataSource",           MAP, REFUSED(BY_SOURCE)),
	F(DATA_VOLUME_SPEC, "storage.dataSourceRef",        MAP, REFUSED(BY_SOURCE)),
	F(DATA_VOLUME_SPEC, "source",                       MAP, REQUIRED),
	F(DATA_VOLUME_SPEC, "source.blank",                 MAP, NOTE("an empty disk")),
	F(DATA_VOLUME_SPEC, "source.pvc",                   MAP,
		NOTE("a copy of a claim, which no run may write to meanwhile")),
	F(DATA_VOLUME_SPEC, "source.pvc.name",              STRING, REQUIRED, RULE(NAME)),
	F(DATA_VOLUME_SPEC, "source.pvc.namespace",         STRING, RULE(LABEL),
		NOTE("its own namespace, if it is left away")),
	F(DATA_VOLUME_SPEC, "source.registry",              MAP),
	F(DATA_VOLUME_SPEC, "source.registry.url",          STRING, REQUIRED, RULE(REGISTRY_URL),
		NOTE("the file of the host that stands for it, as for a containerDisk")),
	F(DATA_VOLUME_SPEC, "source.registry.imageStream",  STRING,
		REFUSED("there are no image streams here; give a url")),
	F(DATA_VOLUME_SPEC, "source.registry.pullMethod",   ENUM, ONE("pod|node"), IGNORED(NO_PULLING)),
	F(DATA_VOLUME_SPEC, "source.registry.secretRef",    STRING, IGNORED(NO_PULLING)),
	F(DATA_VOLUME_SPEC, "source.registry.certConfigMap", STRING, IGNORED(NO_PULLING)),
	F(DATA_VOLUME_SPEC, "source.registry.platform",     MAP, IGNORED(NO_PULLING)),
	F(DATA_VOLUME_SPEC, "source.registry.platform.architecture", STRING, IGNORED(NO_PULLING)),
	F(DATA_VOLUME_SPEC, "source.http",                  MAP, REFUSED(FETCH_IT)),
	F(DATA_VOLUME_SPEC, "source.s3",                    MAP, REFUSED(FETCH_IT)),
	F(DATA_VOLUME_SPEC, "source.gcs",                   MAP, REFUSED(FETCH_IT)),
	F(DATA_VOLUME_SPEC, "source.imageio",               MAP, REFUSED(FETCH_IT)),
	F(DATA_VOLUME_SPEC, "source.vddk",                  MAP, REFUSED(FETCH_IT)),
	F(DATA_VOLUME_SPEC, "source.upload",                MAP, REFUSED(NO_UPLOAD)),
	F(DATA_VOLUME_SPEC, "source.snapshot",              MAP, REFUSED(NO_SNAPSHOT)),
	F(DATA_VOLUME_SPEC, "sourceRef",                    MAP, REFUSED(NO_SOURCES)),
	F(DATA_VOLUME_SPEC, "contentType",                  ENUM, ONE("kubevirt"), DEFAULT("kubevirt"),
		NOTE("a disk; archives are not unpacked")),
	F(DATA_VOLUME_SPEC, "preallocation",                BOOL, DEFAULT("false")),
	F(DATA_VOLUME_SPEC, "priorityClassName",            STRING,
		IGNORED("an import waits for no room")),
	F(DATA_VOLUME_SPEC, "checkpoints",                  LIST, REFUSED(NO_STEPS)),
	F(DATA_VOLUME_SPEC, "finalCheckpoint",              BOOL, IGNORED(NO_STEPS)),
};
/* clang-format on */

const struct schema_table schema_data_volume = { rows, ARRAY_SIZE(rows) };
