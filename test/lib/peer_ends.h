/* SPDX-License-Identifier: Apache-2.0 */
/* Two agents' ports on loopback, a and b, and what each has reported, for tests of how
 * they find each other. */
#ifndef VMAGENT_TEST_LIB_PEER_ENDS_H
#define VMAGENT_TEST_LIB_PEER_ENDS_H

#include "io/peer_tls_private.h"
#include "test/lib/pki.h"

/* An adapter, and what it has told. */
struct end {
	const char *name;
	unsigned port;
	char listen[64], to[64], ca[128], cert[128], key[128];
	struct peer_config peer;
	struct peer_tls_options options;
	struct peer_tls *tls;
	unsigned ups, downs, one_ways, clocks, strangers, selfs, handovers;
	struct handover handover;
	char *document; /* owned */
	struct peer_hello hello;
	struct peer_status status;
	msec expires, ahead;
	char why[ERR_MSG_SIZE], one_way[ERR_MSG_SIZE], stranger[ERR_MSG_SIZE], self[ERR_MSG_SIZE];
	const char *wanted; /* words that are waited for */
};

extern struct end a, b;
extern uv_loop_t loop;
/* Here are certificates: a; b; old, for b, which has expired; stranger, for b, of another CA. */
extern char folder[];
extern struct pki ours; /* the CA of a and b */

/* Unchecked fixture: the certificates. Checked: the loop; what was started is ended. */
void peers_begin(void);
void peers_end(void);
void peers_set_up(void);
void peers_tear_down(void);

struct now clock_now(void);
unsigned free_port(void); /* which is free just now */

/* Makes both ready to be started; more may be set until then. b has that certificate
 * file and that name. */
void pair(const char *file_b, const char *name_b, const char *a_knows);
void end_start(struct end *e);
void end_stop(struct end *e);
void start_both(void);

/* For loop_until. */
bool both_up(void *ctx);

/* Waits until it has said so: why its peer is down; why a stranger was refused. */
void expect_why(struct end *e, const char *words);
void expect_stranger(struct end *e, const char *words);

#endif
