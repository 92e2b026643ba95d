/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates, as agents and relays both judge them: by our CA, not expired, for their purpose,
 * and for a name. */
#ifndef VMAGENT_IO_PEER_CERT_H
#define VMAGENT_IO_PEER_CERT_H

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include <vmagent/err.h>

#define PEER_CERT_WHO_SIZE 256
#define PEER_PRIORITIES    "NORMAL:-VERS-ALL:+VERS-TLS1.3"

struct peer_cert {                    /* one that was shown */
	gnutls_x509_crt_t crt;        /* owned */
	char who[PEER_CERT_WHO_SIZE]; /* quoted, printable */
	msec expires;                 /* wall time */
	bool expired; /* … which has passed: it is judged, and good but for that */
};

/* Reads PEM files into credentials. ERR_INVALID says which, and what makes them. */
int peer_cert_load(gnutls_certificate_credentials_t credentials, const char *ca, const char *cert,
	const char *key, struct err *err);

/* What the session's other end has shown, after the handshake; nothing is judged. ERR_FORBIDDEN:
 * nothing. */
int peer_cert_read(gnutls_session_t session, struct peer_cert *ret, struct err *err);
/* Whether that is good; of_server: the other end was dialed. ERR_FORBIDDEN. */
int peer_cert_judge(gnutls_session_t session, bool of_server, struct peer_cert *cert,
	struct err *err);
/* Both; *ret is a good one. */
int peer_cert_take(gnutls_session_t session, bool of_server, struct peer_cert *ret,
	struct err *err);
void peer_cert_done(struct peer_cert *cert);

/* Says since when one is none any more; who: quoted. ERR_FORBIDDEN. */
int peer_cert_expired(const char *who, msec expires, struct err *err);

/* By its names, each of which is one node's: no wildcards. */
bool peer_cert_is_for(gnutls_x509_crt_t crt, const char *name);

int peer_cert_import(const gnutls_datum_t *der, gnutls_x509_crt_t *ret); /* GnuTLS's code */
msec peer_cert_expiry(gnutls_x509_crt_t crt);                            /* wall time, or 0 */

#endif
