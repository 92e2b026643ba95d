/* SPDX-License-Identifier: Apache-2.0 */
#include "core/utf8.h"

#include <string.h>

/* Bytes of the character that begins so; 0: none does. 0xc0 and 0xc1 could only begin one
 * that is too long. */
static size_t length_of(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

static bool is_well_chosen(size_t len, unsigned code)
{
	if (code >= 0xd800 && code < 0xe000)
		return false;
	if (len == 3)
		return code >= 0x800;
	return len != 4 || (code >= 0x10000 && code <= 0x10ffff);
}

size_t utf8_char(const char *s, size_t left, unsigned *ret_code)
{
	const unsigned char *bytes = (const unsigned char *)s;
	size_t len = left ? length_of(bytes[0]) : 0;
	unsigned code;

	if (!len || len > left)
		return 0;
	code = len == 1 ? bytes[0] : bytes[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (!is_well_chosen(len, code))
		return 0;
	*ret_code = code;
	return len;
}

bool utf8_is_control(unsigned code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

static bool is_clean(unsigned code)
{
	if (utf8_is_control(code))
		return code == '\t' || code == '\n' || code == '\r' || code == 0x85;
	return code != 0xfffe && code != 0xffff;
}

bool utf8_is_clean(const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		unsigned code;
		size_t n = utf8_char(s + i, len - i, &code);

		if (!n || !is_clean(code))
			return false;
		i += n;
	}
	return true;
}
