/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What travel.c, which knows the stages of each op, and travel_relay.c, which knows the relay of
 * its migration, share. Loop thread only, but for what is said to be for a worker.
 */
#ifndef VMAGENT_DAEMON_TRAVEL_PRIVATE_H
#define VMAGENT_DAEMON_TRAVEL_PRIVATE_H

#include "core/migration_offer.h"
#include "daemon/host.h"
#include "daemon/travel.h"
#include "io/peer_relay.h"

struct travel {
	struct travel *next;
	struct host *host;
	struct op op;
	unsigned stage;               /* the one that comes next */
	struct migration_offer offer; /* the target's: made here, or heard */
	struct op_result result;
	uv_work_t work;
	struct relay_watch *watch; /* owned or NULL; the source's: of its relay */
	enum relay_finish finish;  /* … when it was looked at first */
	bool held;                 /* … which keeps the target's answer from libvirt */
};

/* To the next stage; with an error in its result, and after the last one, to the answer. */
void travel_go_on(struct travel *t);
void travel_after_work(uv_work_t *work, int status); /* of t->work: the same */

/* ---- travel_relay.c -------------------------------------------------------------------------- */

char *travel_relay_folder(const struct host *host, const char *migration); /* owned by the caller */

/* Stages: ends the one that an earlier life of the agent has left, of which nobody was told; tells
 * from now on whether it keeps the target's answer from libvirt. */
void travel_relay_end_old(struct travel *t);
void travel_relay_watch(struct travel *t);

/* As t's offer says; the next stage comes when it listens. */
void travel_relay_start(struct travel *t);
/* For a worker: it is another process. Errors: as relay_ask(). */
int travel_relay_ask(const struct travel *t, enum relay_verb verb, struct relay_status *ret,
	struct err *err);

#endif
