/* SPDX-License-Identifier: Apache-2.0 */
/* GnuTLS's judgement, in our words. */
#include "io/peer_cert.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <vmagent/peer.h>

#include "core/codec.h"
#include "core/printable.h"

msec peer_cert_expiry(gnutls_x509_crt_t crt)
{
	time_t at = gnutls_x509_crt_get_expiration_time(crt);

	return at == (time_t)-1 ? 0 : SECONDS(at);
}

int peer_cert_import(const gnutls_datum_t *der, gnutls_x509_crt_t *ret)
{
	int rc = gnutls_x509_crt_init(ret);

	if (rc == 0)
		rc = gnutls_x509_crt_import(*ret, der, GNUTLS_X509_FMT_DER);
	else
		*ret = NULL;
	return rc;
}

bool peer_cert_is_for(gnutls_x509_crt_t crt, const char *name)
{
	return gnutls_x509_crt_check_hostname2(crt, name, GNUTLS_VERIFY_DO_NOT_ALLOW_WILDCARDS);
}

int peer_cert_load(gnutls_certificate_credentials_t credentials, const char *ca, const char *cert,
	const char *key, struct err *err)
{
	int rc = gnutls_certificate_set_x509_trust_file(credentials, ca, GNUTLS_X509_FMT_PEM);

	if (rc <= 0)
		return err_set(err, ERR_INVALID,
			"cannot read the CA's certificate '%s': %s; 'vmactl "
			"peer init' or 'join' makes it",
			ca, rc ? gnutls_strerror(rc) : "there is none in it");
	rc = gnutls_certificate_set_x509_key_file(credentials, cert, key, GNUTLS_X509_FMT_PEM);
	if (rc < 0)
		return err_set(err, ERR_INVALID,
			"cannot read the certificate '%s' with the key '%s': %s", cert, key,
			gnutls_strerror(rc));
	return 0;
}

int peer_cert_expired(const char *who, msec expires, struct err *err)
{
	char at[TIME_SIZE];

	format_time(expires, at);
	return err_set(err, ERR_FORBIDDEN, PEER_EXPIRY_WORDS, who, "has expired", at);
}

/* That, and nothing else, is wrong with it, and not with its CA's. */
static bool has_expired(unsigned status, const struct peer_cert *cert)
{
	return (status & ~(unsigned)GNUTLS_CERT_INVALID) == GNUTLS_CERT_EXPIRED &&
		cert->expires <= SECONDS(time(NULL));
}

/* GnuTLS says it in sentences, one after the other; ours has no full stop. */
static int refuse_status(unsigned status, const struct peer_cert *cert, struct err *err)
{
	gnutls_datum_t text = { 0 };
	char words[PEER_CERT_WHO_SIZE] = "it is not valid";
	size_t len;

	if (gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &text, 0) == 0) {
		copy_str(words, sizeof(words), (const char *)text.data);
		gnutls_free(text.data);
	}
	for (len = strlen(words); len && strchr(". ", words[len - 1]); len--)
		words[len - 1] = '\0';
	return err_set(err, ERR_FORBIDDEN, "the certificate of %.150s is refused: %s", cert->who,
		words);
}

static void name_of(gnutls_x509_crt_t crt, char *ret, size_t size)
{
	char cn[PEER_CERT_WHO_SIZE] = "";
	size_t len = sizeof(cn);

	if (gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0, cn, &len) < 0)
		copy_str(cn, sizeof(cn), "?");
	copy_printable(cn, sizeof(cn), cn);
	snprintf(ret, size, "'%.*s'", (int)size - 3, cn);
}

int peer_cert_read(gnutls_session_t session, struct peer_cert *ret, struct err *err)
{
	unsigned n = 0;
	const gnutls_datum_t *list = gnutls_certificate_get_peers(session, &n);
	struct peer_cert cert = { 0 };

	if (!list || !n || peer_cert_import(&list[0], &cert.crt) < 0) {
		peer_cert_done(&cert);
		return err_set(err, ERR_FORBIDDEN, "it shows no certificate");
	}
	name_of(cert.crt, cert.who, sizeof(cert.who));
	cert.expires = peer_cert_expiry(cert.crt);
	*ret = cert;
	return 0;
}

int peer_cert_judge(gnutls_session_t session, bool of_server, struct peer_cert *cert,
	struct err *err)
{
	gnutls_typed_vdata_st purpose = { .type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)(of_server ? GNUTLS_KP_TLS_WWW_SERVER
						    : GNUTLS_KP_TLS_WWW_CLIENT) };
	unsigned status = 0;
	int rc = gnutls_certificate_verify_peers(session, &purpose, 1, &status);

	if (rc < 0)
		return err_set(err, ERR_FORBIDDEN,
			"the certificate of %.150s cannot be checked: %s", cert->who,
			gnutls_strerror(rc));
	cert->expired = has_expired(status, cert);
	if (cert->expired)
		return peer_cert_expired(cert->who, cert->expires, err);
	return status ? refuse_status(status, cert, err) : 0;
}

int peer_cert_take(gnutls_session_t session, bool of_server, struct peer_cert *ret, struct err *err)
{
	struct peer_cert cert;
	int rc = peer_cert_read(session, &cert, err);

	if (rc < 0)
		return rc;
	rc = peer_cert_judge(session, of_server, &cert, err);
	if (rc < 0)
		peer_cert_done(&cert);
	else
		*ret = cert;
	return rc;
}

void peer_cert_done(struct peer_cert *cert)
{
	if (cert->crt)
		gnutls_x509_crt_deinit(cert->crt);
	cert->crt = NULL;
}
