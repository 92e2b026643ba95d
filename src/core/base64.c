/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base64.h"

#include <stdint.h>
#include <string.h>

#include <vmagent/base.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Three bytes become four digits; of the last group those that have no bytes are padding. */
static void encode_group(const uint8_t *data, size_t len, char ret[4])
{
	uint32_t bits = (uint32_t)data[0] << 16;

	bits |= len > 1 ? (uint32_t)data[1] << 8 : 0;
	bits |= len > 2 ? data[2] : 0;
	ret[0] = digits[bits >> 18];
	ret[1] = digits[bits >> 12 & 63];
	ret[2] = (char)(len > 1 ? digits[bits >> 6 & 63] : '=');
	ret[3] = (char)(len > 2 ? digits[bits & 63] : '=');
}

char *base64_encode(const void *data, size_t len)
{
	const uint8_t *bytes = data;
	char *text = xcalloc((len + 2) / 3 * 4 + 1, 1), *out = text;

	for (size_t i = 0; i < len; i += 3, out += 4)
		encode_group(bytes + i, MIN(len - i, 3), out);
	return text;
}

bool is_base64(const char *text)
{
	size_t len = strlen(text), padding = 0;

	while (padding < 2 && padding < len && text[len - 1 - padding] == '=')
		padding++;
	return len % 4 == 0 && strspn(text, digits) == len - padding;
}
