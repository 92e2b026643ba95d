/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates: the node's own, from files that are read again when they change, and what a peer
 * shows: by our CA, not expired, and for the very name that is configured.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/peer_cert.h"
#include "io/peer_tls_private.h"

/* ---- our own --------------------------------------------------------------------------------- */

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

/* Our own certificate must be for our own name: no peer would take it otherwise. */
static int check_own(const struct peer_tls *tls, struct credentials *c, struct err *err)
{
	gnutls_x509_crt_t crt = NULL;
	gnutls_datum_t der = { 0 };
	int ret = 0;

	if (gnutls_certificate_get_crt_raw(c->gnutls, 0, 0, &der) < 0 ||
		peer_cert_import(&der, &crt) < 0)
		ret = err_set(err, ERR_INVALID, "'%s' holds no certificate", tls->options.cert);
	else if (!peer_cert_is_for(crt, tls->options.hello.node))
		ret = err_set(err, ERR_INVALID,
			"the certificate '%s' is not for this node's name, '%s'; nodeName in the "
			"configuration sets that",
			tls->options.cert, tls->options.hello.node);
	else
		c->expires = peer_cert_expiry(crt);
	if (crt)
		gnutls_x509_crt_deinit(crt);
	return ret;
}

static int load(const struct peer_tls *tls, struct credentials *c, struct err *err)
{
	const struct peer_tls_options *o = &tls->options;
	int rc = peer_cert_load(c->gnutls, o->ca, o->cert, o->key, err);

	return rc < 0 ? rc : check_own(tls, c, err);
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

/* ---- the other's ----------------------------------------------------------------------------- */

static struct peer *peer_of(const struct peer_tls *tls, const struct peer_cert *cert)
{
	for (size_t i = 0; i < tls->options.n_peers; i++)
		if (peer_cert_is_for(cert->crt, tls->peers[i].config->name))
			return &tls->peers[i];
	return NULL;
}

static int match(struct conn *c, const struct peer_cert *cert, struct err *err)
{
	if (c->peer) {
		if (peer_cert_is_for(cert->crt, c->peer->config->name))
			return 0;
		return err_set(err, ERR_FORBIDDEN,
			"the certificate is for %.150s, not for '%.150s'", cert->who,
			c->peer->config->name);
	}
	c->peer = peer_of(c->tls, cert);
	if (c->peer)
		return 0;
	return err_set(err, ERR_FORBIDDEN, "%.150s is no peer in the configuration of '%.150s'",
		cert->who, c->tls->options.hello.node);
}

/* Who comes with one that has expired is the peer all the same: that is why it is none, whatever
 * was known before. Who was dialed is told of by the dial. */
static void tell_expired(const struct conn *c, const struct peer_cert *cert, const char *why)
{
	const struct peer *peer = c->dialer ? NULL : peer_of(c->tls, cert);

	if (peer && !peer->conn)
		tls_event(c->tls,
			&(struct peer_event){ .kind = PEER_DOWN,
				.name = peer->config->name,
				.why = why });
}

int conn_verify(struct conn *c, struct err *err)
{
	struct peer_cert cert;
	int ret = peer_cert_read(c->session, &cert, err);

	if (ret < 0)
		return ret;
	c->expires = cert.expires;
	ret = peer_cert_judge(c->session, c->dialer, &cert, err);
	if (cert.expired)
		tell_expired(c, &cert, err->msg);
	if (ret == 0)
		ret = match(c, &cert, err);
	peer_cert_done(&cert);
	return ret;
}
