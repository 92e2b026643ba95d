/* SPDX-License-Identifier: Apache-2.0 */
/* HOST, HOST:PORT, [V6] or [V6]:PORT, as an administrator writes where something listens. Pure. */
#ifndef VMAGENT_CORE_ADDRESS_H
#define VMAGENT_CORE_ADDRESS_H

#include <vmagent/base.h>

#define PEER_PORT 16516 /* beside libvirt's 16509 and 16514 */

struct address {
	char host[NAME_MAX_LEN + 1]; /* a name, or an address without brackets */
	unsigned port;               /* PEER_PORT where none is given */
};

/* False when it is none of that. An IPv6 address without brackets is taken for one without a
 * port. */
bool address_parse(const char *text, struct address *ret);

#endif
