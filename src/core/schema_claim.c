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
	F(CLAIM, "spec",                           SCOPE, REQUIRED, BELOW(CLAIM_SPEC)),
	F(CLAIM, "status",                         ANY, DROPPED),

	F(CLAIM_SPEC, "accessModes",               LIST, REQUIRED, RANGE(0, 4),
		NOTE("ReadWriteMany: its file lies on storage that other hosts have, too")),
	F(CLAIM_SPEC, "accessModes[]",             ENUM, ONE(ACCESS_MODES)),
	F(CLAIM_SPEC, "resources",                 MAP, REQUIRED),
	F(CLAIM_SPEC, "resources.requests",        MAP, REQUIRED),
	F(CLAIM_SPEC, "resources.requests.storage", QUANTITY, REQUIRED, RANGE(CLAIM_SIZE_MIN, 0),
		NOTE("it may grow: so does the file, when a run next begins with it")),
	F(CLAIM_SPEC, "resources.requests{}",      QUANTITY,
		IGNORED("storage is all that there is to ask for")),
	F(CLAIM_SPEC, "resources.limits",          MAP),
	F(CLAIM_SPEC, "resources.limits.storage",  QUANTITY,
		NOTE("a request over it is refused; the file has the size that is requested")),
	F(CLAIM_SPEC, "resources.limits{}",        QUANTITY,
		IGNORED("storage is all that there is to ask for")),
	F(CLAIM_SPEC, "storageClassName",          STRING,
		NOTE("one that the configuration gives a folder of its own, or any other")),
	F(CLAIM_SPEC, "volumeMode",                ENUM, ONE("Filesystem|Block"), DEFAULT("Filesystem"),
		NOTE("a raw file either way; of Block it has the whole size")),
	F(CLAIM_SPEC, "volumeName",                STRING, IGNORED(NO_VOLUMES)),
	F(CLAIM_SPEC, "selector",                  ANY, IGNORED(NO_VOLUMES)),
	F(CLAIM_SPEC, "volumeAttributesClassName", STRING, IGNORED(NO_VOLUMES)),
	F(CLAIM_SPEC, "dataSource",                MAP, REFUSED(NO_SOURCE)),
	F(CLAIM_SPEC, "dataSourceRef",             MAP, REFUSED(NO_SOURCE)),
};
/* clang-format on */

const struct schema_table schema_claim = { rows, ARRAY_SIZE(rows) };
