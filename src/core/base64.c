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

/* Four digits become three bytes, or fewer by their padding. */
static size_t decode_group(const char group[4], char *out)
{
	uint32_t bits = 0;

	for (int i = 0; i < 4; i++)
		bits = bits << 6 |
			(group[i] == '=' ? 0 : (uint32_t)(strchr(digits, group[i]) - digits));
	out[0] = (char)(bits >> 16);
	out[1] = (char)(bits >> 8);
	out[2] = (char)bits;
	return group[2] == '=' ? 1 : group[3] == '=' ? 2 : 3;
}

char *base64_decode(const char *text, size_t *ret_len)
{
	autofree char *joined = xcalloc(strlen(text) + 1, 1);
	size_t n = 0, len = 0;
	char *out;

	for (; *text; text++)
		if (*text != '\n' && *text != '\r')
			joined[n++] = *text;
	if (!is_base64(joined))
		return NULL;
	out = xcalloc(n / 4 * 3 + 1, 1);
	for (size_t i = 0; i < n; i += 4)
		len += decode_group(joined + i, out + len);
	*ret_len = len;
	return out;
}
