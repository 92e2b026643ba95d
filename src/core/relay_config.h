/* SPDX-License-Identifier: Apache-2.0 */
/* What a relay is told when it is started, as JSON on its standard input: the token is on
 * no command line. Pure. */
#ifndef VMAGENT_CORE_RELAY_CONFIG_H
#define VMAGENT_CORE_RELAY_CONFIG_H

#include "core/relay_control.h"

#define RELAY_TOKEN_SIZE   16
#define RELAY_TOKEN_TEXT   (2 * RELAY_TOKEN_SIZE + 1) /* in hex, with its NUL */
#define RELAY_CONFIG_MAX   (1 << 20)                  /* bytes of the JSON */
#define RELAY_IDLE_DEFAULT 1800 /* s without a stream or a question: then it ends by itself */

struct relay_config {
	char *id; /* owned, as all texts; of the migration, a UUID */
	bool source;
	uint8_t token[RELAY_TOKEN_SIZE]; /* secret of this migration: every stream must know it */
	char *peer;                      /* the other node's name, which its certificate carries */
	char *address;                   /* source: where the other agent listens */
	char *ca, *cert, *key;           /* PEM files; none with plain */
	bool plain;    /* no TLS: whoever can read the network can read the guest */
	char *libvirt; /* target: libvirtd's socket */
	char *user;    /* QEMU's, who may reach its sockets; NULL: this process's */
	char *xml;     /* target: the domain as prepared */
	bool disks;    /* disks are copied */
	bool postcopy;
	enum relay_hold hold; /* from the begin on */
	unsigned idle_s;
};

/* ERR_INVALID names the field. */
int relay_config_read(const char *json, struct relay_config *ret, struct err *err);
char *relay_config_write(const struct relay_config *config); /* owned by the caller */
void relay_config_done(struct relay_config *config);

/* A token in lower-case hex digits; hex may be NULL, which is none. */
bool relay_token_read(const char *hex, uint8_t ret[RELAY_TOKEN_SIZE]);
void relay_token_write(const uint8_t token[RELAY_TOKEN_SIZE], char ret[RELAY_TOKEN_TEXT]);

#endif
