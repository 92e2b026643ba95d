/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way between two relays. After the preface comes TLS, in which each shows the certificate of
 * the very node that the migration is with; then the dialer says the token, and the listener
 * answers one byte: 0, or how many bytes of words follow that say why not. All of this blocks,
 * within time limits; the pump then does not.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/address.h"
#include "core/printable.h"
#include "io/peer_cert.h"
#include "io/peer_relay_private.h"

#define CONNECT_MS      5000
#define GREETING_MS     10000 /* TLS, and each read of what follows */
#define RECORD_SIZE     16384
#define BYE_MS          5000
#define KEEPALIVE_IDLE  3 /* s */
#define KEEPALIVE_EVERY 2
#define KEEPALIVE_TIMES 3
#define GO_ON           0
#define WORDS_MAX       255

/* ---- bytes ----------------------------------------------------------------------------------- */

static ssize_t tls_result(ssize_t n)
{
	if (n >= 0)
		return n;
	errno = n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED ? EAGAIN : ECONNRESET;
	return -1;
}

ssize_t link_read(struct link *link, void *data, size_t len)
{
	if (link->session)
		return tls_result(gnutls_record_recv(link->session, data, len));
	return recv(link->fd, data, len, 0);
}

/* A record that was begun is ended without looking at data: it may have moved. */
ssize_t link_write(struct link *link, const void *data, size_t len)
{
	ssize_t n;

	if (!link->session)
		return send(link->fd, data, len, MSG_NOSIGNAL);
	n = link->again ? gnutls_record_send(link->session, NULL, 0)
			: gnutls_record_send(link->session, data, MIN(len, RECORD_SIZE));
	link->again = n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED;
	return tls_result(n);
}

bool link_has_more(const struct link *link)
{
	return link->session && gnutls_record_check_pending(link->session) > 0;
}

void link_close(struct link *link)
{
	if (link->session)
		gnutls_deinit(link->session);
	if (link->fd >= 0)
		close(link->fd);
	*link = (struct link){ .fd = -1 };
}

/* Who closes with bytes unread resets the connection, and what is still on its way is lost. */
void link_bye(struct link *link, bool wait)
{
	struct pollfd pfd = { .fd = link->fd, .events = POLLIN };
	msec until = relay_now() + BYE_MS, now;
	char bytes[4096];

	if (link->session)
		gnutls_bye(link->session, GNUTLS_SHUT_WR);
	shutdown(link->fd, SHUT_WR);
	while (wait && (now = relay_now()) < until && poll(&pfd, 1, (int)(until - now)) > 0 &&
		recv(link->fd, bytes, sizeof(bytes), 0) > 0)
		;
}

static int cut(struct err *err)
{
	return err_set(err, ERR_UNAVAILABLE, "the connection was cut");
}

static int read_all(struct link *link, void *data, size_t len, struct err *err)
{
	uint8_t *at = data;

	while (len) {
		ssize_t n = link_read(link, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return cut(err);
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_all(struct link *link, const void *data, size_t len, struct err *err)
{
	const uint8_t *at = data;

	while (len) {
		ssize_t n = link_write(link, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return cut(err);
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* ---- sockets --------------------------------------------------------------------------------- */

static void set_blocking(int fd, bool blocking)
{
	int flags = fcntl(fd, F_GETFL);
	struct timeval patience = { .tv_sec = GREETING_MS / 1000 };

	fcntl(fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

/* No TCP_USER_TIMEOUT: it also ends a connection whose other end is there and reads slowly, as QEMU
 * may. A host that is gone is noticed by libvirt's own keepalives, whose end cancels the rest. */
static void tune(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE },
		{ IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_EVERY },
		{ IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_TIMES },
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			sizeof(options[i].value));
}

static int link_local(const char *path, struct link *ret, struct err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	copy_str(at.sun_path, sizeof(at.sun_path), path);
	ret->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (ret->fd < 0 || connect(ret->fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		int error = errno;

		link_close(ret);
		return err_set(err, ERR_UNAVAILABLE, "cannot connect to '%s': %s", path,
			strerror(error));
	}
	set_blocking(ret->fd, false);
	return 0;
}

static int connect_within(const struct addrinfo *at)
{
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	int error = ETIMEDOUT;
	socklen_t len = sizeof(error);

	if (fd < 0)
		return -1;
	if (connect(fd, at->ai_addr, at->ai_addrlen) < 0 && errno != EINPROGRESS)
		error = errno;
	else if (poll(&pfd, 1, CONNECT_MS) > 0)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (!error)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

static int connect_to(const char *text, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct addrinfo *list = NULL;
	struct address address;
	char port[16];
	int fd = -1, rc;

	if (!address_parse(text, &address))
		return err_set(err, ERR_FORBIDDEN, "'%s' is no address", text);
	snprintf(port, sizeof(port), "%u", address.port);
	rc = getaddrinfo(address.host, port, &hints, &list);
	if (rc)
		return err_set(err, ERR_UNAVAILABLE, "cannot look up '%s': %s", address.host,
			gai_strerror(rc));
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
		fd = connect_within(a);
	rc = errno;
	freeaddrinfo(list);
	return fd >= 0
		? fd
		: err_set(err, ERR_UNAVAILABLE, "cannot connect to '%s': %s", text, strerror(rc));
}

/* ---- who it is ------------------------------------------------------------------------------- */

static int handshake(const struct relay *relay, struct link *link, struct err *err)
{
	unsigned end = relay->config.source ? GNUTLS_CLIENT : GNUTLS_SERVER;
	int rc = gnutls_init(&link->session, end | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS);

	if (rc == 0)
		rc = gnutls_priority_set_direct(link->session, PEER_PRIORITIES, NULL);
	if (rc == 0)
		rc = gnutls_credentials_set(link->session, GNUTLS_CRD_CERTIFICATE,
			relay->credentials);
	if (rc < 0)
		return err_set(err, ERR_INTERNAL, "TLS cannot begin: %s", gnutls_strerror(rc));
	gnutls_certificate_server_set_request(link->session, GNUTLS_CERT_REQUIRE);
	gnutls_certificate_send_x509_rdn_sequence(link->session, 1);
	gnutls_transport_set_int(link->session, link->fd);
	gnutls_handshake_set_timeout(link->session, GREETING_MS);
	do
		rc = gnutls_handshake(link->session);
	while (rc == GNUTLS_E_INTERRUPTED);
	if (rc < 0)
		return err_set(err, ERR_UNAVAILABLE, "TLS failed: %s", gnutls_strerror(rc));
	return 0;
}

static int check_peer(const struct relay *relay, struct link *link, struct err *err)
{
	struct peer_cert cert;
	int rc = peer_cert_take(link->session, relay->config.source, &cert, err);

	if (rc < 0)
		return rc;
	if (!peer_cert_is_for(cert.crt, relay->config.peer))
		rc = err_set(err, ERR_FORBIDDEN,
			"the certificate is for %.150s; this migration is with '%.150s'", cert.who,
			relay->config.peer);
	peer_cert_done(&cert);
	return rc;
}

static int authenticate(const struct relay *relay, struct link *link, struct err *err)
{
	int rc;

	if (relay->config.plain)
		return 0;
	rc = handshake(relay, link, err);
	return rc < 0 ? rc : check_peer(relay, link, err);
}

/* As long for a wrong token as for the right one. */
static int check_token(const struct relay *relay, struct link *link, struct err *err)
{
	uint8_t token[RELAY_TOKEN_SIZE], wrong = 0;
	int rc = read_all(link, token, sizeof(token), err);

	for (size_t i = 0; rc == 0 && i < sizeof(token); i++)
		wrong |= token[i] ^ relay->config.token[i];
	if (rc == 0 && wrong)
		rc = err_set(err, ERR_FORBIDDEN, "it does not know this migration's token");
	return rc;
}

static void say_no(struct link *link, const char *why)
{
	uint8_t len = (uint8_t)MIN(strlen(why), (size_t)WORDS_MAX);

	if (write_all(link, &len, 1, NULL) == 0 && write_all(link, why, len, NULL) == 0)
		link_bye(link, true);
}

/* ---- both ends ------------------------------------------------------------------------------- */

static int greet(struct relay *relay, enum relay_channel channel, struct link *link,
	struct err *err)
{
	uint8_t preface[PEER_STREAM_PREFACE_SIZE], answer;
	char words[WORDS_MAX + 1] = "";
	struct link plain = { .fd = link->fd };
	int rc;

	peer_stream_preface_write(relay_channel_kind(channel), relay->config.id, preface);
	rc = write_all(&plain, preface, sizeof(preface), err);
	if (rc == 0)
		rc = authenticate(relay, link, err);
	if (rc == 0)
		rc = write_all(link, relay->config.token, RELAY_TOKEN_SIZE, err);
	if (rc == 0)
		rc = read_all(link, &answer, 1, err);
	if (rc < 0 || answer == GO_ON)
		return rc;
	read_all(link, words, answer, NULL);
	copy_printable(words, sizeof(words), words);
	return err_set(err, ERR_FORBIDDEN, "the other side refuses: %s", words);
}

int link_dial(struct stream *s, struct err *err)
{
	struct link *link = &s->remote;
	int fd = connect_to(s->relay->config.address, err), rc;

	if (fd < 0)
		return fd;
	*link = (struct link){ .fd = fd };
	set_blocking(fd, true);
	tune(fd);
	stream_greets(s, fd);
	rc = greet(s->relay, s->channel, link, err);
	stream_greeted(s);
	if (rc < 0)
		link_close(link);
	else
		set_blocking(fd, false);
	return rc;
}

static int accept_known(struct stream *s, const char *path, struct err *err)
{
	static const uint8_t go_on = GO_ON;
	int rc = authenticate(s->relay, &s->remote, err);

	if (rc == 0)
		rc = check_token(s->relay, &s->remote, err);
	if (rc == 0)
		rc = stream_let_in(s, err);
	if (rc == 0)
		rc = link_local(path, &s->local, err);
	if (rc == 0)
		return write_all(&s->remote, &go_on, 1, err);
	if (s->relay->config.plain || s->remote.session)
		say_no(&s->remote, err->msg);
	return rc;
}

int link_accept(struct stream *s, const char *path, struct err *err)
{
	int rc;

	set_blocking(s->remote.fd, true);
	tune(s->remote.fd);
	stream_greets(s, s->remote.fd);
	rc = accept_known(s, path, err);
	stream_greeted(s);
	set_blocking(s->remote.fd, false);
	return rc;
}
