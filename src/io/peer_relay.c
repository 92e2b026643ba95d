/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay's life: its folder and sockets, the main thread that accepts and answers, and its end,
 * which comes when the agent says so, or when nobody has needed it for a long time.
 */
#include "io/peer_relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <vmagent/log.h>

#include "core/printable.h"
#include "io/peer_cert.h"
#include "io/peer_relay_private.h"

#define BACKLOG     64
#define FOLDER_MODE 0711 /* QEMU must get to its own folder in it */
#define QEMU_FOLDER "qemu"
/* systemd and ps say it: else it had the name of the link that was executed. */
#define SHOWN_AS    "vmagent-relay"
#define HURRY_MS    1000 /* between looks at whoever has not said who it is */
#define PING_MS     1000 /* libvirtd gives a keepalive more than that */

/* ---- what streams tell ----------------------------------------------------------------------- */

void relay_changed(struct relay *relay)
{
	uint64_t one = 1;

	while (write(relay->changed, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* What was held is not any more. */
void relay_set_finish(struct relay *relay, enum relay_finish finish)
{
	pthread_mutex_lock(&relay->lock);
	relay->finish = finish;
	relay->waiter = -1;
	pthread_mutex_unlock(&relay->lock);
	relay_changed(relay);
}

msec relay_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (msec)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* libvirtd gives up on the other host, and resumes its guest, when its keepalives are not answered
 * for some seconds; only after that it closes the connection. */
static const char *doubt(const struct relay *relay)
{
	struct pollfd pfd = { .fd = relay->waiter, .events = POLLIN | POLLRDHUP };

	if (relay->finish != RELAY_FINISH_REPLY_HELD || relay->waiter < 0)
		return "no answer is held";
	if (poll(&pfd, 1, 0) != 0) /* what it has just said may be such a keepalive */
		return "libvirtd has closed its connection, or says something";
	if (relay->pinged && relay_now() - relay->pinged >= PING_MS)
		return "the other host does not answer libvirtd's keepalives";
	return NULL;
}

int relay_vouch(struct relay *relay, struct err *err)
{
	const char *why;

	pthread_mutex_lock(&relay->lock);
	why = doubt(relay);
	pthread_mutex_unlock(&relay->lock);
	return why ? err_set(err, ERR_CONFLICT, "%s", why) : 0;
}

/* What the other side has sent may stand in the words. */
void relay_complain(struct relay *relay, const struct stream *s, bool refused, const char *words)
{
	char why[RELAY_WHY_SIZE];

	copy_printable(why, sizeof(why), words);
	log_text(refused ? LOG_LEVEL_WARNING : LOG_LEVEL_NOTICE, "migration %s, %s stream%s: %s",
		relay->config.id, relay_channel_name(s->channel), refused ? " refused" : "", why);
	pthread_mutex_lock(&relay->lock);
	relay->refused += refused;
	copy_str(relay->why, sizeof(relay->why), why);
	pthread_mutex_unlock(&relay->lock);
}

/* ---- folder and sockets ---------------------------------------------------------------------- */

static int make_folder(const char *path, mode_t mode, struct err *err)
{
	if (mkdir(path, mode) == 0 || errno == EEXIST)
		if (chmod(path, mode) == 0)
			return 0;
	return err_set(err, ERR_IO, "cannot make the folder '%s': %s", path, strerror(errno));
}

static int give(const struct relay *relay, const char *path, mode_t mode, struct err *err)
{
	const struct passwd *user = relay->config.user ? getpwnam(relay->config.user) : NULL;

	if (relay->config.user && !user)
		return err_set(err, ERR_INVALID, "there is no user '%s'", relay->config.user);
	if (chmod(path, mode) < 0 || (user && chown(path, user->pw_uid, user->pw_gid) < 0))
		return err_set(err, ERR_IO, "cannot give '%s' to QEMU: %s", path, strerror(errno));
	return 0;
}

static int listen_at(const struct relay *relay, const char *name, int type, struct err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	autofree char *path = xasprintf("%s/%s", relay->folder, name);
	int fd;

	if (strlen(path) >= sizeof(at.sun_path))
		return err_set(err, ERR_INVALID, "'%s' is too long for a socket", path);
	copy_str(at.sun_path, sizeof(at.sun_path), path);
	unlink(path);
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
		chmod(path, S_IRUSR | S_IWUSR) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	err_set(err, ERR_IO, "cannot listen at '%s': %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -ERR_IO;
}

static int listen_for(struct relay *relay, enum relay_channel channel, struct err *err)
{
	autofree char *path = xasprintf("%s/%s", relay->folder, relay_channel_path(channel));
	int fd;

	if (!relay->config.source || (channel == RELAY_DISKS && !relay->config.disks))
		return 0;
	fd = listen_at(relay, relay_channel_path(channel), SOCK_STREAM, err);
	if (fd < 0)
		return fd;
	relay->listeners[channel] = fd;
	return channel == RELAY_RPC ? 0 : give(relay, path, S_IRUSR | S_IWUSR, err);
}

static int open_sockets(struct relay *relay, struct err *err)
{
	autofree char *qemu = xasprintf("%s/%s", relay->folder, QEMU_FOLDER);
	struct relay_request status = { .verb = RELAY_STATUS };
	struct relay_status other;
	int rc;

	if (relay_ask(relay->folder, &status, &other, err) == 0)
		return err_set(err, ERR_EXISTS, "a relay is at '%s' already", relay->folder);
	rc = make_folder(relay->folder, FOLDER_MODE, err);
	if (rc == 0)
		rc = make_folder(qemu, S_IRWXU, err);
	if (rc == 0)
		rc = give(relay, qemu, S_IRWXU, err);
	for (unsigned i = 0; rc == 0 && i < RELAY_CHANNEL_MAX; i++)
		rc = listen_for(relay, i, err);
	if (rc == 0) /* last: from now on it is found */
		rc = relay->control_fd = listen_at(relay, RELAY_SOCKET, SOCK_SEQPACKET, err);
	return rc < 0 ? rc : 0;
}

void relay_remove(const char *folder)
{
	static const char *const names[] = { RELAY_SOCKET, "rpc", QEMU_FOLDER "/data",
		QEMU_FOLDER "/disks", QEMU_FOLDER, "" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		autofree char *path = xasprintf("%s/%s", folder, names[i]);

		remove(path);
	}
}

/* ---- begin ----------------------------------------------------------------------------------- */

static int set_rules(struct relay *relay, struct err *err)
{
	int rc;

	relay->data_uri = xasprintf("unix://%s/%s", relay->folder, relay_channel_path(RELAY_DATA));
	if (relay->config.source)
		return 0;
	rc = xml_facts_new(relay->config.xml, &relay->facts, err);
	if (rc < 0)
		return rc;
	relay->disks_uri =
		xasprintf("unix://%s/%s", relay->folder, relay_channel_path(RELAY_DISKS));
	relay->rules = (struct relay_rules){ .facts = relay->facts,
		.data_uri = relay->data_uri,
		.disks_uri = relay->config.disks ? relay->disks_uri : NULL,
		.postcopy = relay->config.postcopy };
	return 0;
}

static int set_credentials(struct relay *relay, struct err *err)
{
	const struct relay_config *c = &relay->config;

	if (c->plain) {
		log_text(LOG_LEVEL_WARNING,
			"migration %s is NOT ENCRYPTED, and the other host not authenticated: whoever can "
			"read the network between here and '%s' reads the guest's memory and disks",
			c->id, c->peer);
		return 0;
	}
	if (gnutls_certificate_allocate_credentials(&relay->credentials) < 0)
		abort();
	return peer_cert_load(relay->credentials, c->ca, c->cert, c->key, err);
}

static int read_config(struct relay *relay, struct err *err)
{
	struct buf json = { 0 };
	char part[4096];
	size_t n;
	int rc;

	while (json.len < RELAY_CONFIG_MAX && (n = fread(part, 1, sizeof(part), stdin)))
		buf_add(&json, part, n);
	rc = relay_config_read(json.data ? json.data : "", &relay->config, err);
	buf_done(&json);
	return rc < 0 ? err_wrap(err, "the relay's configuration") : 0;
}

/* The agent that started it may end; nothing of it is needed from now on. */
static void come_loose(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	puts("ready");
	fflush(stdout);
	setsid(); /* fails where it is done already */
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	close(null);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
}

static void init(struct relay *relay, const char *folder)
{
	relay->folder = folder;
	relay->control_fd = relay->waiter = -1;
	relay->changed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->next, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(relay->listeners); i++)
		relay->listeners[i] = -1;
	for (size_t i = 0; i < ARRAY_SIZE(relay->controls); i++)
		relay->controls[i] = -1;
}

/* ---- the main thread ------------------------------------------------------------------------- */

static void accept_local(struct relay *relay, enum relay_channel channel)
{
	int fd = accept4(relay->listeners[channel], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct err err;

	if (fd >= 0 && stream_start(relay, channel, fd, &err) < 0)
		log_text(LOG_LEVEL_WARNING, "migration %s, %s stream refused: %s", relay->config.id,
			relay_channel_name(channel), err.msg);
}

static void accept_control(struct relay *relay)
{
	int fd = accept4(relay->control_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	for (unsigned i = 0; fd >= 0 && i < RELAY_CONTROLS_MAX; i++) {
		if (relay->controls[i] >= 0)
			continue;
		relay->controls[i] = fd;
		relay->watches[i] = false;
		return;
	}
	if (fd >= 0)
		close(fd);
}

static void on_changed(struct relay *relay)
{
	uint64_t n;

	(void)!read(relay->changed, &n, sizeof(n));
	streams_sweep(relay, false);
	control_tell(relay);
}

/* One round: waits, then serves what is ready. False: nothing happened for too long. */
static bool serve(struct relay *relay)
{
	struct pollfd pfds[2 + RELAY_CHANNEL_MAX + RELAY_CONTROLS_MAX];
	struct pollfd *locals = pfds + 2, *controls = locals + RELAY_CHANNEL_MAX;
	int ready;

	pfds[0] = (struct pollfd){ .fd = relay->changed, .events = POLLIN };
	pfds[1] = (struct pollfd){ .fd = relay->control_fd, .events = POLLIN };
	for (unsigned i = 0; i < RELAY_CHANNEL_MAX; i++)
		locals[i] = (struct pollfd){ .fd = relay->listeners[i], .events = POLLIN };
	for (unsigned i = 0; i < RELAY_CONTROLS_MAX; i++)
		controls[i] = (struct pollfd){ .fd = relay->controls[i], .events = POLLIN };
	ready = poll(pfds, ARRAY_SIZE(pfds),
		streams_hurry(relay) ? HURRY_MS : (int)SECONDS(relay->config.idle_s));
	if (ready <= 0)
		return ready < 0 || relay->streams;
	for (unsigned i = 0; i < RELAY_CONTROLS_MAX; i++)
		if (controls[i].revents)
			control_hear(relay, i);
	for (unsigned i = 0; i < RELAY_CHANNEL_MAX; i++)
		if (locals[i].revents)
			accept_local(relay, i);
	if (pfds[1].revents)
		accept_control(relay);
	if (pfds[0].revents)
		on_changed(relay);
	return true;
}

static void end(struct relay *relay)
{
	relay_remove(relay->folder);
	for (struct stream *s = relay->streams; s; s = s->next)
		stream_cut(s);
	streams_sweep(relay, true);
	log_text(LOG_LEVEL_NOTICE, "the relay of migration %s ends", relay->config.id);
	if (relay->credentials)
		gnutls_certificate_free_credentials(relay->credentials);
	xml_facts_free(relay->facts);
	free(relay->data_uri);
	free(relay->disks_uri);
	relay_config_done(&relay->config);
}

static int run(const char *folder, struct err *err)
{
	struct relay relay = { 0 };
	int rc;

	prctl(PR_SET_NAME, SHOWN_AS);
	init(&relay, folder);
	rc = read_config(&relay, err);
	relay.hold = relay.config.hold;
	if (rc == 0)
		rc = set_rules(&relay, err);
	if (rc == 0)
		rc = set_credentials(&relay, err);
	if (rc == 0)
		rc = open_sockets(&relay, err);
	if (rc < 0)
		return rc;
	come_loose();
	log_text(LOG_LEVEL_NOTICE, "the relay of migration %s with '%s' runs in %s",
		relay.config.id, relay.config.peer, folder);
	while (!relay.ending && serve(&relay))
		;
	end(&relay);
	return 0;
}

/* ---- the command line ------------------------------------------------------------------------ */

static int ask(int argc, char **argv, struct err *err)
{
	autofree char *words =
		xasprintf("1 %s%s%s", argv[2], argc > 3 ? " " : "", argc > 3 ? argv[3] : "");
	struct relay_request request;
	struct relay_status status;
	struct buf out = { 0 };

	if (relay_request_read(words, &request, err) < 0 ||
		relay_ask(argv[1], &request, &status, err) < 0)
		return -(int)err->code;
	relay_answer_write(&status, &out);
	fputs(out.data, stdout);
	buf_done(&out);
	return 0;
}

int relay_main(int argc, char **argv)
{
	struct err err = { 0 };
	int rc;

	if (argc < 2 || argc > 4 || argv[1][0] != '/')
		rc = err_set(&err, ERR_BAD_REQUEST,
			"it takes the absolute path of a folder, and perhaps what to ask");
	else
		rc = argc == 2 ? run(argv[1], &err) : ask(argc, argv, &err);
	if (rc == 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "vmagent migrate-relay: %s\n", err.msg);
	return EXIT_FAILURE;
}
