/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file with the variables of a guest's EFI firmware, which QEMU has open meanwhile: it is read where the guest does
 * not run any more, and written where it does not run yet. Blocks.
 */
#ifndef VMAGENT_IO_NVRAM_FILE_H
#define VMAGENT_IO_NVRAM_FILE_H

#include "core/nvram.h"

/* Errors: ERR_NOT_FOUND; ERR_TOO_LARGE, ERR_IO. To be released with nvram_done(). */
int nvram_file_read(const char *path, struct nvram *ret, struct err *err);
/* In place, made if it is not there; it is on the disk afterwards. Errors: ERR_IO. */
int nvram_file_write(const char *path, const struct nvram *nvram, struct err *err);

#endif
