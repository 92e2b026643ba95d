/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PersistentVolumeClaim, as a host needs it.
 */
#include "core/claim.h"
#include "core/schema_rows.h"

#define ACCESS_MODES "ReadWriteOnce|ReadOnlyMany|ReadWriteMany|ReadWriteOncePod"
#define NO_VOLUMES   "there are no PersistentVolumes here: a claim is a file of the host"
#define NO_SOURCE    "put the content into the claim's disk.img, as a raw image, before its first use"

/* clang-format off */
static const struct schema_field rows[] = {
	F(CLAIM, "apiVersion",                     STRING, REQUIRED),
	F(CLAIM, "kind",                           STRING, REQUIRED),
	F(CLAIM, "metadata",                       SCOPE, REQUIRED, BELOW(META)),
	F(CLAIM, "spec",                           MAP, REQUIRED),
	F(CLAIM, "spec.accessModes",               LIST, REQUIRED, RANGE(0, 4),
		NOTE("ReadWriteMany: its file lies on storage that other hosts have, too")),
	F(CLAIM, "spec.accessModes[]",             ENUM, ONE(ACCESS_MODES)),
	F(CLAIM, "spec.resources",                 MAP, REQUIRED),
	F(CLAIM, "spec.resources.requests",        MAP, REQUIRED),
	F(CLAIM, "spec.resources.requests.storage", QUANTITY, REQUIRED, RANGE(CLAIM_SIZE_MIN, 0),
		NOTE("it may grow: so does the file, when a run next begins with it")),
	F(CLAIM, "spec.resources.requests{}",      QUANTITY,
		IGNORED("storage is all that there is to ask for")),
	F(CLAIM, "spec.resources.limits",          MAP,
		IGNORED("a file has the size that is requested")),
	F(CLAIM, "spec.resources.limits{}",        QUANTITY,
		IGNORED("a file has the size that is requested")),
	F(CLAIM, "spec.storageClassName",          STRING,
		NOTE("one that the configuration gives a folder of its own, or any other")),
	F(CLAIM, "spec.volumeMode",                ENUM, ONE("Filesystem|Block"), DEFAULT("Filesystem"),
		NOTE("a raw file either way; of Block it has the whole size")),
	F(CLAIM, "spec.volumeName",                STRING, IGNORED(NO_VOLUMES)),
	F(CLAIM, "spec.selector",                  ANY, IGNORED(NO_VOLUMES)),
	F(CLAIM, "spec.volumeAttributesClassName", STRING, IGNORED(NO_VOLUMES)),
	F(CLAIM, "spec.dataSource",                MAP, REFUSED(NO_SOURCE)),
	F(CLAIM, "spec.dataSourceRef",             MAP, REFUSED(NO_SOURCE)),
	F(CLAIM, "status",                         ANY, DROPPED),
};
/* clang-format on */

const struct schema_table schema_claim = { rows, ARRAY_SIZE(rows) };
