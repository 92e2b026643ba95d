/* SPDX-License-Identifier: Apache-2.0 */
/* Small certificate authorities for tests, made in place: no certtool is needed,
 * and time is free. */
#ifndef TEST_LIB_PKI_H
#define TEST_LIB_PKI_H

#include <gnutls/x509.h>
#include <vmagent/base.h>

struct pki {
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t crt;
};

/* A CA, whose certificate is written to folder/NAME.ca */
void pki_init(struct pki *pki, const char *folder, const char *name);
void pki_done(struct pki *pki);

/* A node's certificate and key, folder/FILE.cert and FILE.key, valid for some days from now
 * on: -1 expired yesterday. */
void pki_issue(const struct pki *pki, const char *folder, const char *file, const char *name,
	int days);

#endif
