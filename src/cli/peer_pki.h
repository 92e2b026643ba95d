/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small certificate authority for agents that reach each other: made by certtool, as vmagent(8)
 * shows, in files of one folder. The authority's key stays on the host where it was made.
 */
#ifndef VMAGENT_CLI_PEER_PKI_H
#define VMAGENT_CLI_PEER_PKI_H

#include "cli/cli.h"

#define PKI_FOLDER   "/etc/vmagent/pki"
#define PKI_CA       "cacert.pem"
#define PKI_CA_KEY   "cakey.pem"
#define PKI_CERT     "nodecert.pem"
#define PKI_KEY      "nodekey.pem"
#define PKI_TEXT_MAX 65536 /* bytes of a bundle */

/* Makes the authority, and this node's certificate. Refused where there is one already. */
int peer_pki_init(const char *folder, const char *node, struct fault *fault);

/* A bundle for another node: the authority's certificate, the node's, and its key. Appended to
 * out. */
int peer_pki_issue(const char *folder, const char *node, struct buf *out, struct fault *fault);

/* Puts a bundle's parts in place. Refused where another authority is trusted already. */
int peer_pki_join(const char *folder, const char *bundle, struct fault *fault);

/* The node that a bundle says it is for, owned by the caller; NULL: it does not say. */
char *peer_pki_bundle_node(const char *bundle);

/* Replaces the file, which is on disk before that; mode is not narrowed by the umask. */
int peer_pki_write(const char *path, const void *data, size_t len, int mode, struct fault *fault);

#endif
