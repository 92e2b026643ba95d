/* SPDX-License-Identifier: Apache-2.0 */
#include "test/lib/pki.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DAY_S (24 * 60 * 60)

static void write_text(const char *folder, const char *file, const char *suffix,
	const gnutls_datum_t *text)
{
	autofree char *path = xasprintf("%s/%s.%s", folder, file, suffix);
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(text->data, 1, text->size, out), text->size);
	ck_assert_int_eq(fclose(out), 0);
	gnutls_free(text->data);
}

static gnutls_x509_privkey_t make_key(void)
{
	gnutls_x509_privkey_t key;

	ck_assert_int_eq(gnutls_x509_privkey_init(&key), 0);
	ck_assert_int_eq(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
				 GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
		0);
	return key;
}

static gnutls_x509_crt_t make_crt(gnutls_x509_privkey_t key, const char *name, int days)
{
	gnutls_x509_crt_t crt;
	time_t now = time(NULL);

	ck_assert_int_eq(gnutls_x509_crt_init(&crt), 0);
	gnutls_x509_crt_set_version(crt, 3);
	gnutls_x509_crt_set_serial(crt, name, strlen(name));
	gnutls_x509_crt_set_activation_time(crt, now - 10 * DAY_S);
	gnutls_x509_crt_set_expiration_time(crt, now + days * DAY_S);
	gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
		(unsigned)strlen(name));
	gnutls_x509_crt_set_key(crt, key);
	return crt;
}

void pki_init(struct pki *pki, const char *folder, const char *name)
{
	gnutls_datum_t text;

	pki->key = make_key();
	pki->crt = make_crt(pki->key, name, 100);
	gnutls_x509_crt_set_basic_constraints(pki->crt, 1, -1);
	gnutls_x509_crt_set_key_usage(pki->crt, GNUTLS_KEY_KEY_CERT_SIGN);
	ck_assert_int_eq(gnutls_x509_crt_sign2(pki->crt, pki->crt, pki->key, GNUTLS_DIG_SHA256, 0),
		0);
	ck_assert_int_eq(gnutls_x509_crt_export2(pki->crt, GNUTLS_X509_FMT_PEM, &text), 0);
	write_text(folder, name, "ca", &text);
}

void pki_done(struct pki *pki)
{
	gnutls_x509_crt_deinit(pki->crt);
	gnutls_x509_privkey_deinit(pki->key);
}

void pki_issue(const struct pki *pki, const char *folder, const char *file, const char *name,
	int days)
{
	gnutls_x509_privkey_t key = make_key();
	gnutls_x509_crt_t crt = make_crt(key, name, days);
	gnutls_datum_t text;

	gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, name, (unsigned)strlen(name),
		GNUTLS_FSAN_SET);
	gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE);
	ck_assert_int_eq(gnutls_x509_crt_sign2(crt, pki->crt, pki->key, GNUTLS_DIG_SHA256, 0), 0);
	ck_assert_int_eq(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &text), 0);
	write_text(folder, file, "cert", &text);
	ck_assert_int_eq(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &text), 0);
	write_text(folder, file, "key", &text);
	gnutls_x509_crt_deinit(crt);
	gnutls_x509_privkey_deinit(key);
}
