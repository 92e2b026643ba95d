/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates: the node's own, from files that are read again when they change, and what a peer shows: by
 * our CA, not expired, and for the very name that is configured.
 */
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/peer_tls_private.h"

#define WORDS_MAX 256

/* ---- our own ------------------------------------------------------------------------------------------ */

static void files_stamp(const struct peer_tls *tls, char *ret, size_t size)
{
	const char *files[] = { tls->options.ca, tls->options.cert, tls->options.key };
	size_t at = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(files) && at < size; i++) {
		struct stat st = { 0 };

		(void)!stat(files[i], &st);
		at += (size_t)snprintf(ret + at, size - at, "%lld.%09ld %lld %lld;",
			(long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (long long)st.st_ino,
			(long long)st.st_size);
	}
}

static msec expiry_of(gnutls_x509_crt_t crt)
{
	time_t at = gnutls_x509_crt_get_expiration_time(crt);

	return at == (time_t)-1 ? 0 : SECONDS(at);
}

static int crt_import(const gnutls_datum_t *der, gnutls_x509_crt_t *ret)
{
	int rc = gnutls_x509_crt_init(ret);

	if (rc == 0)
		rc = gnutls_x509_crt_import(*ret, der, GNUTLS_X509_FMT_DER);
	else
		*ret = NULL;
	return rc;
}

/* By its names, each of which is one node's: no wildcards. */
static bool is_for(gnutls_x509_crt_t crt, const char *name)
{
	return gnutls_x509_crt_check_hostname2(crt, name, GNUTLS_VERIFY_DO_NOT_ALLOW_WILDCARDS);
}

/* Our own certificate must be for our own name: no peer would take it otherwise. */
static int check_own(const struct peer_tls *tls, struct credentials *c, struct err *err)
{
	gnutls_x509_crt_t crt = NULL;
	gnutls_datum_t der = { 0 };
	int ret = 0;

	if (gnutls_certificate_get_crt_raw(c->gnutls, 0, 0, &der) < 0 || crt_import(&der, &crt) < 0)
		ret = err_set(err, ERR_INVALID, "'%s' holds no certificate", tls->options.cert);
	else if (!is_for(crt, tls->options.hello.node))
		ret = err_set(err, ERR_INVALID,
			"the certificate '%s' is not for this node's name, '%s'; nodeName in the "
			"configuration sets that",
			tls->options.cert, tls->options.hello.node);
	else
		c->expires = expiry_of(crt);
	if (crt)
		gnutls_x509_crt_deinit(crt);
	return ret;
}

static int load(const struct peer_tls *tls, struct credentials *c, struct err *err)
{
	const struct peer_tls_options *o = &tls->options;
	int rc = gnutls_certificate_set_x509_trust_file(c->gnutls, o->ca, GNUTLS_X509_FMT_PEM);

	if (rc <= 0)
		return err_set(err, ERR_INVALID,
			"cannot read the CA's certificate '%s': %s; 'vmactl "
			"peer init' or 'join' makes it",
			o->ca, rc ? gnutls_strerror(rc) : "there is none in it");
	rc = gnutls_certificate_set_x509_key_file(c->gnutls, o->cert, o->key, GNUTLS_X509_FMT_PEM);
	if (rc < 0)
		return err_set(err, ERR_INVALID,
			"cannot read the certificate '%s' with the key '%s': %s", o->cert, o->key,
			gnutls_strerror(rc));
	return check_own(tls, c, err);
}

static void credentials_free(struct credentials *c)
{
	gnutls_certificate_free_credentials(c->gnutls);
	free(c);
}

void credentials_report(struct peer_tls *tls)
{
	const struct err *err = &tls->credentials_err;

	tls_event(tls,
		&(struct peer_event){ .kind = PEER_SELF,
			.why = err->code != ERR_OK ? err->msg : NULL,
			.expires = tls->credentials ? tls->credentials->expires : 0 });
}

/* Those that were in use stay in use if the new ones are no good. */
static void reload(struct peer_tls *tls)
{
	struct credentials *c = xcalloc(1, sizeof(*c));

	tls->credentials_err = (struct err){ 0 };
	if (gnutls_certificate_allocate_credentials(&c->gnutls) < 0)
		abort();
	if (load(tls, c, &tls->credentials_err) < 0) {
		credentials_free(c);
		return;
	}
	c->next = tls->credentials;
	tls->credentials = c;
	credentials_sweep(tls);
}

struct credentials *credentials_get(struct peer_tls *tls, struct err *err)
{
	char stamp[sizeof(tls->stamp)];

	files_stamp(tls, stamp, sizeof(stamp));
	if (!streq(stamp, tls->stamp)) {
		copy_str(tls->stamp, sizeof(tls->stamp), stamp);
		reload(tls);
		credentials_report(tls);
	}
	if (!tls->credentials)
		*err = tls->credentials_err;
	return tls->credentials;
}

static bool is_used(const struct peer_tls *tls, const struct credentials *c)
{
	for (const struct conn *conn = tls->conns; conn; conn = conn->next)
		if (conn->credentials == c)
			return true;
	return c == tls->credentials && !tls->closing;
}

void credentials_sweep(struct peer_tls *tls)
{
	struct credentials **at = &tls->credentials, *c;

	while ((c = *at)) {
		if (is_used(tls, c)) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		credentials_free(c);
	}
}

/* ---- the other's --------------------------------------------------------------------------------------- */

/* GnuTLS says it in sentences, one after the other; ours has no full stop. */
static int refuse_status(unsigned status, const char *who, struct err *err)
{
	gnutls_datum_t text = { 0 };
	char words[WORDS_MAX] = "it is not valid";
	size_t len;

	if (gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &text, 0) == 0) {
		copy_str(words, sizeof(words), (const char *)text.data);
		gnutls_free(text.data);
	}
	for (len = strlen(words); len && strchr(". ", words[len - 1]); len--)
		words[len - 1] = '\0';
	return err_set(err, ERR_FORBIDDEN, "the certificate of %.150s is refused: %s", who, words);
}

static void name_of(gnutls_x509_crt_t crt, char *ret, size_t size)
{
	char cn[WORDS_MAX] = "";
	size_t len = sizeof(cn);

	if (gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0, cn, &len) < 0)
		copy_str(cn, sizeof(cn), "?");
	for (char *c = cn; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			*c = '?';
	snprintf(ret, size, "'%.*s'", (int)size - 3, cn);
}

static int match(struct conn *c, gnutls_x509_crt_t crt, const char *who, struct err *err)
{
	struct peer_tls *tls = c->tls;

	if (c->peer) {
		if (is_for(crt, c->peer->config->name))
			return 0;
		return err_set(err, ERR_FORBIDDEN,
			"the certificate is for %.150s, not for '%.150s'", who,
			c->peer->config->name);
	}
	for (size_t i = 0; i < tls->options.n_peers; i++) {
		if (!is_for(crt, tls->peers[i].config->name))
			continue;
		c->peer = &tls->peers[i];
		return 0;
	}
	return err_set(err, ERR_FORBIDDEN, "%.150s is no peer in the configuration of '%.150s'",
		who, tls->options.hello.node);
}

static int verify(struct conn *c, gnutls_x509_crt_t crt, struct err *err)
{
	gnutls_typed_vdata_st purpose = { .type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)(c->dialer ? GNUTLS_KP_TLS_WWW_SERVER
						    : GNUTLS_KP_TLS_WWW_CLIENT) };
	unsigned status = 0;
	char who[WORDS_MAX];
	int rc = gnutls_certificate_verify_peers(c->session, &purpose, 1, &status);

	name_of(crt, who, sizeof(who));
	if (rc < 0)
		return err_set(err, ERR_FORBIDDEN,
			"the certificate of %.150s cannot be checked: %s", who,
			gnutls_strerror(rc));
	if (status)
		return refuse_status(status, who, err);
	c->expires = expiry_of(crt);
	return match(c, crt, who, err);
}

int conn_verify(struct conn *c, struct err *err)
{
	unsigned n = 0;
	const gnutls_datum_t *list = gnutls_certificate_get_peers(c->session, &n);
	gnutls_x509_crt_t crt = NULL;
	int ret;

	if (!list || !n || crt_import(&list[0], &crt) < 0)
		ret = err_set(err, ERR_FORBIDDEN, "it shows no certificate");
	else
		ret = verify(c, crt, err);
	if (crt)
		gnutls_x509_crt_deinit(crt);
	return ret;
}
