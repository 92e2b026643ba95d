/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of IP addresses, as text: 10.0.2.0/24. Pure. */
#ifndef VMAGENT_CORE_CIDR_H
#define VMAGENT_CORE_CIDR_H

#include <vmagent/base.h>

struct cidr {             /* IPv4 */
	uint32_t network; /* its lowest address */
	unsigned prefix;
};

#define CIDR_TEXT_SIZE 16 /* of an address, with its NUL */

/* A network of 4 addresses at least. Bits below the prefix do not count. */
bool cidr_parse(const char *text, struct cidr *ret);

/* How many addresses guests may have: all but the network's own, the gateway and the broadcast. */
uint32_t cidr_hosts(const struct cidr *c);

/* Its i-th address: 0 is the network's own, 1 the gateway, 2 the first guest's. */
void cidr_address(const struct cidr *c, uint32_t i, char ret[CIDR_TEXT_SIZE]);

bool is_cidr4(const char *text); /* grammar alone */
bool is_cidr6(const char *text);
bool is_ipv4(const char *text);

#endif
