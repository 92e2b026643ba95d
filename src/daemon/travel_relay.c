/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay of a migration, a process of its own: it is started for an op, asked, watched, and
 * ended; and what earlier lives of the agent have left of relays is swept away.
 */
#include "daemon/travel_private.h"

#include <dirent.h>
#include <string.h>

#include "io/peer_relay_spawn.h"

#define END_POLL_MS 50
#define END_POLLS   40

char *travel_relay_folder(const struct host *host, const char *migration)
{
	return xasprintf("%s/%s", host->migrations, migration);
}

/* ---- its end --------------------------------------------------------------------------------- */

struct ending { /* of a relay */
	uv_work_t work;
	char *folder; /* owned */
	struct host *host;
	struct travel *travel; /* or NULL; goes on when none is there any more */
};

/* One that does not answer is there, too. */
static bool is_there(const struct ending *e, enum relay_verb verb)
{
	struct relay_request request = { .verb = verb };
	struct relay_status status;
	struct err ignored;

	return relay_ask(e->folder, &request, &status, &ignored) != -ERR_NOT_FOUND;
}

/* Where nobody waits, it is only told; there may be none, and it ends by itself. */
static void end_it(uv_work_t *work)
{
	const struct ending *e = work->data;
	bool lives = is_there(e, RELAY_END);

	for (unsigned i = 0; lives && e->travel && i < END_POLLS; i++) {
		uv_sleep(END_POLL_MS);
		lives = is_there(e, RELAY_STATUS);
	}
	if (!lives)
		relay_remove(e->folder); /* of one that was killed */
}

static void has_ended(uv_work_t *work, int status)
{
	struct ending *e = work->data;
	struct travel *t = e->travel;

	(void)status;
	e->host->endings--;
	free(e->folder);
	free(e);
	if (t)
		travel_go_on(t);
}

static void end_relay(struct host *host, const char *migration, struct travel *t)
{
	struct ending *e = xcalloc(1, sizeof(*e));

	*e = (struct ending){ .folder = travel_relay_folder(host, migration),
		.host = host,
		.travel = t };
	e->work.data = e;
	host->endings++;
	uv_queue_work(host->loop, &e->work, end_it, has_ended);
}

void travel_end_relay(struct host *host, const char *migration)
{
	if (migration && host->migrations)
		end_relay(host, migration, NULL);
}

void travel_sweep_relays(struct host *host, bool (*wanted)(const void *ctx, const char *migration),
	const void *ctx)
{
	DIR *folder = host->migrations ? opendir(host->migrations) : NULL;
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] != '.' && !wanted(ctx, entry->d_name))
			end_relay(host, entry->d_name, NULL);
	}
	if (folder)
		closedir(folder);
}

void travel_relay_end_old(struct travel *t)
{
	end_relay(t->host, t->op.migration, t);
}

/* ---- its beginning --------------------------------------------------------------------------- */

static const struct peer_config *peer_of(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->n_peers; i++)
		if (streq(config->peers[i].name, name))
			return &config->peers[i];
	return NULL;
}

static void on_relay(void *ctx, const struct err *err)
{
	struct travel *t = ctx;

	if (err->code)
		t->result.err = *err;
	travel_go_on(t);
}

/* Borrows all of it. */
static struct relay_config relay_of(const struct travel *t, const struct peer_config *peer)
{
	const struct config *c = t->host->config;
	const char *user = virt_identity(t->host->virt)->user;
	struct relay_config r = { .id = t->op.migration,
		.source = t->op.kind == OP_MIGRATE,
		.peer = peer->name,
		.ca = c->tls_ca,
		.cert = c->tls_cert,
		.key = c->tls_key,
		.user = *user ? (char *)(uintptr_t)user : NULL,
		.plain = t->offer.plain,
		.disks = t->op.copies != NULL,
		.postcopy = t->op.post_copy };

	memcpy(r.token, t->offer.token, sizeof(r.token));
	if (r.source) {
		r.address = peer->address;
		r.hold = t->op.post_copy ? RELAY_HOLD_NOTHING : RELAY_HOLD_REPLY;
	} else {
		r.xml = t->offer.xml;
		r.libvirt = t->host->libvirt_socket;
		r.hold = t->op.post_copy && !t->op.recovery ? RELAY_HOLD_CALL : RELAY_HOLD_NOTHING;
	}
	return r;
}

void travel_relay_start(struct travel *t)
{
	const struct peer_config *peer = peer_of(t->host->config, t->op.peer);
	struct relay_config config;
	struct relay_start start = { t->host->loop, "/proc/self/exe", t->offer.folder, &config };

	if (!peer || !t->op.migration || !t->host->migrations) {
		err_set(&t->result.err, ERR_INTERNAL, "'%s' is no peer any more",
			t->op.peer ? t->op.peer : "?");
		travel_go_on(t);
		return;
	}
	config = relay_of(t, peer);
	relay_spawn(&start, on_relay, t);
}

/* ---- what it does ---------------------------------------------------------------------------- */

int travel_relay_ask(const struct travel *t, enum relay_verb verb, struct relay_status *ret,
	struct err *err)
{
	autofree char *folder = travel_relay_folder(t->host, t->op.migration);
	struct relay_request request = { .verb = verb };

	return relay_ask(folder, &request, ret, err);
}

static void tell_held(struct travel *t, bool held)
{
	struct domain_event event = { .kind = DOMAIN_EVENT_ANSWERED, .held = held };

	if (t->held == held)
		return;
	t->held = held;
	copy_str(event.uuid, UID_SIZE, t->op.uuid);
	copy_str(event.name, sizeof(event.name), t->op.domain);
	t->host->sink.event(t->host->sink.ctx, &event);
}

static void on_relay_changed(void *ctx, const struct relay_status *status)
{
	tell_held(ctx, status && status->finish == RELAY_FINISH_REPLY_HELD);
}

/* What it is just now is known before libvirt is asked: it may have ended its part already,
 * but for that answer. */
static void look_at_relay(uv_work_t *work)
{
	struct travel *t = work->data;
	struct relay_status status = { .finish = RELAY_FINISH_NONE };
	struct err ignored;

	travel_relay_ask(t, RELAY_STATUS, &status, &ignored);
	t->finish = status.finish;
}

static void after_look(uv_work_t *work, int status)
{
	struct travel *t = work->data;
	autofree char *folder = travel_relay_folder(t->host, t->op.migration);

	(void)status;
	tell_held(t, t->finish == RELAY_FINISH_REPLY_HELD);
	if (!t->op.post_copy)
		t->watch = relay_watch(t->host->loop, folder, on_relay_changed, t);
	travel_go_on(t);
}

void travel_relay_watch(struct travel *t)
{
	uv_queue_work(t->host->loop, &t->work, look_at_relay, after_look);
}
