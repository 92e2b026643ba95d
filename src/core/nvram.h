/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file with the variables of a guest's EFI firmware, as it travels with the guest: JSON without
 * the blocks that are blank, which is most of it. Pure.
 */
#ifndef VMAGENT_CORE_NVRAM_H
#define VMAGENT_CORE_NVRAM_H

#include <cjson/cJSON.h>

#include <vmagent/model.h>

#define NVRAM_MAX   (1 << 20) /* bytes of the file; that of OVMF has 528 KiB */
#define NVRAM_BLOCK 4096      /* bytes that are left out together */

/* Whether that file is its VM's, which has it from run to run. */
bool nvram_is_kept(const struct vmi *vmi);

struct nvram {
	uint8_t *data; /* owned */
	size_t len;    /* 1 to NVRAM_MAX bytes */
};

cJSON *nvram_pack(const struct nvram *nvram); /* owned by the caller */
/* Bounded and checked. Errors: ERR_INVALID. To be released with nvram_done(). */
int nvram_unpack(const cJSON *json, struct nvram *ret, struct err *err);
void nvram_done(struct nvram *nvram);

#endif
