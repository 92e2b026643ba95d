/* SPDX-License-Identifier: Apache-2.0 */
#include "core/cidr.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define PREFIX_MAX 30 /* with room for a gateway and a guest */

/* "ADDRESS/PREFIX" in its parts; false if it is not so, or the prefix is over max. */
static bool split(const char *text, char *address, size_t size, unsigned max, unsigned *ret_prefix)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : 0;
	const char *digits = slash ? slash + 1 : "";
	unsigned prefix = 0;

	if (!len || len >= size || !*digits || strlen(digits) > 3 ||
		strspn(digits, "0123456789") != strlen(digits))
		return false;
	copy_str(address, len + 1, text);
	for (; *digits; digits++)
		prefix = prefix * 10 + (unsigned)(*digits - '0');
	*ret_prefix = prefix;
	return prefix && prefix <= max;
}

bool cidr_parse(const char *text, struct cidr *ret)
{
	char address[CIDR_TEXT_SIZE];
	struct in_addr in;
	unsigned prefix;

	if (!split(text, address, sizeof(address), PREFIX_MAX, &prefix) ||
		inet_pton(AF_INET, address, &in) != 1)
		return false;
	ret->prefix = prefix;
	ret->network = ntohl(in.s_addr) & (UINT32_MAX << (32 - prefix));
	return true;
}

uint32_t cidr_hosts(const struct cidr *c)
{
	return (uint32_t)((UINT64_C(1) << (32 - c->prefix)) - 3);
}

void cidr_address(const struct cidr *c, uint32_t i, char ret[CIDR_TEXT_SIZE])
{
	uint32_t a = c->network + i;

	snprintf(ret, CIDR_TEXT_SIZE, "%u.%u.%u.%u", a >> 24, a >> 16 & 0xff, a >> 8 & 0xff,
		a & 0xff);
}

bool is_cidr4(const char *text)
{
	struct cidr ignored;

	return cidr_parse(text, &ignored);
}

bool is_cidr6(const char *text)
{
	char address[INET6_ADDRSTRLEN];
	struct in6_addr in;
	unsigned prefix;

	return split(text, address, sizeof(address), 127, &prefix) &&
		inet_pton(AF_INET6, address, &in) == 1;
}

bool is_ipv4(const char *text)
{
	struct in_addr in;

	return inet_pton(AF_INET, text, &in) == 1;
}
