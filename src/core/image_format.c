/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few fields of a qcow2 header that matter here, big endian, at their offsets. Knows no files.
 */
#include "core/image_format.h"

#include <string.h>

#define QCOW2_MAGIC         0x514649fb
#define OFFSET_VERSION      4
#define OFFSET_BACKING      8
#define OFFSET_SIZE         24
#define OFFSET_INCOMPATIBLE 72                 /* from version 3 on */
#define DATA_FILE           (UINT64_C(1) << 2) /* incompatible feature: external data file */

struct magic { /* of files that are no disk as they are */
	const char *bytes;
	size_t len;
	size_t offset;
};

/* clang-format off */
static const struct magic others[] = {
	{ "KDMV",                     4, 0 },    /* VMDK */
	{ "vhdxfile",                 8, 0 },    /* VHDX */
	{ "conectix",                 8, 0 },    /* VHD */
	{ "\x7f\x10\xda\xbe",         4, 0x40 }, /* VDI */
	{ "\x1f\x8b\x08",             3, 0 },    /* gzip */
	{ "\xfd" "7zXZ",              5, 0 },    /* xz */
	{ "BZh",                      3, 0 },    /* bzip2 */
	{ "\x28\xb5\x2f\xfd",         4, 0 },    /* zstd */
};
/* clang-format on */

static bool is_other(const unsigned char *head, size_t len)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const struct magic *m = &others[i];

		if (len >= m->offset + m->len && memcmp(head + m->offset, m->bytes, m->len) == 0)
			return true;
	}
	return false;
}

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
	if (qcow2)
		return "qcow2";
	return is_other(head, len) ? NULL : "raw";
}

int64_t image_size_of(const unsigned char *head, size_t len, const char *format, int64_t file_size)
{
	uint64_t size;

	if (!streq(format, "qcow2") || len < IMAGE_HEAD_SIZE)
		return file_size;
	size = big_endian(head + OFFSET_SIZE, 8);
	return size > INT64_MAX ? INT64_MAX : (int64_t)size;
}
