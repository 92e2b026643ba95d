/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ops of a migration on the real host, each of which is the work of more than one adapter: at
 * the target the volumes are made, libvirt says how it will have the domain, and the relay is
 * started; at the source the relay is, and then libvirt migrates through it. Loop thread only.
 */
#ifndef VMAGENT_DAEMON_TRAVEL_H
#define VMAGENT_DAEMON_TRAVEL_H

#include <vmagent/hypervisor.h>

struct host;
struct travel;

/* Whether the op is one that takes more than an adapter. */
bool travel_is_op(enum op_kind kind);
void travel_submit(struct host *host, const struct op *op);

/* Whether the result is one of a travel's: then it is dealt with. */
bool travel_took(struct host *host, const struct op_result *result);

/* Ends the relay of that migration, and removes what is left of one that was killed.
 * Nobody waits for it. */
void travel_end_relay(struct host *host, const char *migration);

/* The same for each whose migration is not wanted: what an earlier life of the agent
 * did not come to. */
void travel_sweep_relays(struct host *host, bool (*wanted)(const void *ctx, const char *migration),
	const void *ctx);

#endif
