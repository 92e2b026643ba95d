/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one computation of the websocket handshake: base64(SHA-1(key + a fixed text)). It guards
 * nothing; it only proves that the server speaks websocket, so a library for it would be too much.
 */
#include <string.h>

#include "core/base64.h"
#include "io/websocket.h"

#define MAGIC       "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#define KEY_MAX     64
#define BLOCK_SIZE  64
#define DIGEST_SIZE 20

static uint32_t rotate(uint32_t value, unsigned bits)
{
	return value << bits | value >> (32 - bits);
}

static uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
	if (round < 20)
		return ((b & c) | (~b & d)) + 0x5a827999;
	if (round < 40)
		return (b ^ c ^ d) + 0x6ed9eba1;
	if (round < 60)
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
	return (b ^ c ^ d) + 0xca62c1d6;
}

/* FIPS 180-4 §6.1.2 on one block. */
static void sha1_block(uint32_t hash[5], const uint8_t *block)
{
	uint32_t word[80], v[5];

	memcpy(v, hash, sizeof(v));
	for (unsigned i = 0; i < 80; i++) {
		uint32_t next;

		if (i < 16)
			word[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
				(uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
		else
			word[i] =
				rotate(word[i - 3] ^ word[i - 8] ^ word[i - 14] ^ word[i - 16], 1);
		next = rotate(v[0], 5) + mix(i, v[1], v[2], v[3]) + v[4] + word[i];
		v[4] = v[3];
		v[3] = v[2];
		v[2] = rotate(v[1], 30);
		v[1] = v[0];
		v[0] = next;
	}
	for (unsigned i = 0; i < 5; i++)
		hash[i] += v[i];
}

/* Of up to two blocks less the padding, which is enough for any key. */
static void sha1(const char *text, size_t len, uint8_t ret[DIGEST_SIZE])
{
	uint32_t hash[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	uint8_t padded[2 * BLOCK_SIZE] = { 0 };
	size_t size = len + 9 > BLOCK_SIZE ? 2 * BLOCK_SIZE : BLOCK_SIZE;

	memcpy(padded, text, len);
	padded[len] = 0x80;
	padded[size - 2] = (uint8_t)(len * 8 >> 8);
	padded[size - 1] = (uint8_t)(len * 8);
	for (size_t at = 0; at < size; at += BLOCK_SIZE)
		sha1_block(hash, padded + at);
	for (unsigned i = 0; i < DIGEST_SIZE; i++)
		ret[i] = (uint8_t)(hash[i / 4] >> (24 - 8 * (i % 4)));
}

void websocket_accept(const char *key, char ret[WEBSOCKET_ACCEPT_SIZE])
{
	char text[KEY_MAX + sizeof(MAGIC)];
	uint8_t digest[DIGEST_SIZE];
	autofree char *encoded = NULL;
	size_t len = strnlen(key, KEY_MAX);

	memcpy(text, key, len);
	memcpy(text + len, MAGIC, sizeof(MAGIC));
	sha1(text, len + sizeof(MAGIC) - 1, digest);
	encoded = base64_encode(digest, sizeof(digest));
	copy_str(ret, WEBSOCKET_ACCEPT_SIZE, encoded);
}
