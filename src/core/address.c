/* SPDX-License-Identifier: Apache-2.0 */
#include "core/address.h"

#include <string.h>

static bool copy_host(const char *from, size_t len, const char *allowed, struct address *ret)
{
	if (!len || len >= sizeof(ret->host) || strspn(from, allowed) < len)
		return false;
	memcpy(ret->host, from, len);
	ret->host[len] = '\0';
	return true;
}

static bool read_port(const char *text, unsigned *ret)
{
	unsigned port = 0;

	if (!*text || strlen(text) > 5 || strspn(text, "0123456789") != strlen(text))
		return false;
	for (; *text; text++)
		port = port * 10 + (unsigned)(*text - '0');
	*ret = port;
	return port <= 65535;
}

#define HEX  "0123456789abcdefABCDEF"
#define NAME HEX "ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ.-"
#define V6   NAME ":%" /* a zone may follow, by its name */

bool address_parse(const char *text, struct address *ret)
{
	const char *colon = strchr(text, ':');
	const char *end = strchr(text, ']');

	ret->port = PEER_PORT;
	if (text[0] == '[')
		return end && copy_host(text + 1, (size_t)(end - text - 1), V6, ret) &&
			(!end[1] || (end[1] == ':' && read_port(end + 2, &ret->port)));
	if (!colon)
		return copy_host(text, strlen(text), NAME, ret);
	if (strchr(colon + 1, ':'))
		return copy_host(text, strlen(text), V6, ret);
	return copy_host(text, (size_t)(colon - text), NAME, ret) &&
		read_port(colon + 1, &ret->port);
}
