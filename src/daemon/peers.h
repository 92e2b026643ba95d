/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of other agents, and what they were told of this node: peers.c,
 * declare_dead.c. Loop thread only. */
#ifndef VMAGENT_DAEMON_PEERS_H
#define VMAGENT_DAEMON_PEERS_H

#include <vmagent/peer.h>

struct peer_death {  /* who declared it dead */
	msec wall;   /* when; 0: nobody */
	int64_t uid; /* of the user */
};

struct peer_facts {                       /* what is known of one of them: peers.c */
	const struct peer_config *config; /* borrowed */
	bool up;
	char why[PEER_WHY_SIZE]; /* it is not */
	char one_way[PEER_WHY_SIZE]; /* it is, and why we do not reach it ourselves; "": nothing is known of that */
	msec since;                  /* wall time of that */
	msec ask_at;     /* boot time before which it is not asked again for what is contested */
	size_t ask_from; /* … of those that are: the first of the next question */
	char question[UID_SIZE]; /* … the latest */
	bool answered;           /* it has said what it has, since our database was lost */
	bool known;              /* it was up once, and hello is of then */
	struct peer_hello hello;
	msec expires, warned; /* wall times: of its certificate; of the last warning about that */
	bool has_clock, clock_warned;
	msec ahead, round_trip;
	struct peer_death dead; /* stored */
};

struct peers {                          /* peers.c */
	struct peer_facts *list;        /* owned: one for each in the configuration */
	struct peer_status status;      /* of this node */
	struct peer_status told;        /* … as published last */
	char self_why[PEER_WHY_SIZE];   /* our own certificate cannot be used; "": it can */
	msec self_expires, self_warned; /* wall times */
	msec ask_at;       /* boot time at which one is asked again for what is contested */
	bool dead_changed; /* who is dead is to be saved */
};

#endif
