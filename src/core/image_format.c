/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few fields of a qcow2 header that matter here, big endian, at their offsets. Knows no files.
 */
#include "core/image_format.h"

#define QCOW2_MAGIC         0x514649fb
#define OFFSET_VERSION      4
#define OFFSET_BACKING      8
#define OFFSET_INCOMPATIBLE 72                 /* from version 3 on */
#define DATA_FILE           (UINT64_C(1) << 2) /* incompatible feature: external data file */

static uint64_t big_endian(const unsigned char *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

const char *image_format_of(const unsigned char *head, size_t len, bool *ret_refers)
{
	bool qcow2 = len >= IMAGE_HEAD_SIZE && big_endian(head, 4) == QCOW2_MAGIC;

	if (ret_refers)
		*ret_refers = qcow2 &&
			(big_endian(head + OFFSET_BACKING, 8) != 0 ||
				(big_endian(head + OFFSET_VERSION, 4) >= 3 &&
					(big_endian(head + OFFSET_INCOMPATIBLE, 8) & DATA_FILE)));
	return qcow2 ? "qcow2" : "raw";
}
