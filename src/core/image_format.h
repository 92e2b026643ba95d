/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the first bytes of a disk image say. Formats are never left to QEMU to probe: a guest could
 * write a header of its choice into a raw disk. Pure.
 */
#ifndef VMAGENT_CORE_IMAGE_FORMAT_H
#define VMAGENT_CORE_IMAGE_FORMAT_H

#include <vmagent/base.h>

#define IMAGE_HEAD_SIZE 80 /* bytes that have to be read */

/* "qcow2" or "raw", a constant; NULL for what is surely neither: another hypervisor's image or a
 * packed file, which a guest could not use as it is. *ret_refers, if not NULL: the image names
 * another file, a backing or an external data file (QEMU's qcow2 specification, header). */
const char *image_format_of(const unsigned char *head, size_t len, bool *ret_refers);

/* The size of the disk in an image of that format whose file has so many bytes. */
int64_t image_size_of(const unsigned char *head, size_t len, const char *format, int64_t file_size);

#endif
