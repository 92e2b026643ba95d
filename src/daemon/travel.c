/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A travel is an op and the stage that it has come to. Stages are a table: each begins something of
 * which a result comes, and the last one's is the op's. What fails on the way is the op's failure.
 */
#include "daemon/travel.h"

#include <dirent.h>
#include <string.h>
#include <sys/random.h>

#include "core/migration_offer.h"
#include "daemon/host.h"
#include "io/peer_relay.h"
#include "io/peer_relay_spawn.h"
#include "io/qemu_end.h"

#define END_POLL_MS 50
#define END_POLLS   40
#define QEMU_END_MS 5000 /* that a QEMU may take for its end once it was killed */

struct travel {
	struct travel *next;
	struct host *host;
	struct op op;
	unsigned stage;
	struct migration_offer offer; /* the target's: made here, or heard */
	struct op_result result;
	uv_work_t work;
	struct relay_watch *watch; /* owned or NULL; the source's: of its relay */
	enum relay_finish finish;  /* … when it was looked at first */
	bool held;                 /* … which keeps the target's answer from libvirt */
};

typedef void stage_fn(struct travel *t);

static void next_stage(struct travel *t);

/* ---- relays ---------------------------------------------------------------------------------- */

static char *folder_of(const struct host *host, const char *migration)
{
	return xasprintf("%s/%s", host->migrations, migration);
}

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
		next_stage(t);
}

static void end_relay(struct host *host, const char *migration, struct travel *t)
{
	struct ending *e = xcalloc(1, sizeof(*e));

	*e = (struct ending){ .folder = folder_of(host, migration), .host = host, .travel = t };
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
	next_stage(t);
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

static void start_relay(struct travel *t)
{
	const struct peer_config *peer = peer_of(t->host->config, t->op.peer);
	struct relay_config config;
	struct relay_start start = { t->host->loop, "/proc/self/exe", t->offer.folder, &config };

	if (!peer || !t->op.migration || !t->host->migrations) {
		err_set(&t->result.err, ERR_INTERNAL, "'%s' is no peer any more",
			t->op.peer ? t->op.peer : "?");
		next_stage(t);
		return;
	}
	config = relay_of(t, peer);
	relay_spawn(&start, on_relay, t);
}

/* ---- adapters -------------------------------------------------------------------------------- */

static void make_volumes(struct travel *t)
{
	enum op_kind kind = t->op.kind;

	t->op.kind = OP_PREPARE;
	image_submit(t->host->image, &t->op);
	t->op.kind = kind;
}

static void ask_libvirt(struct travel *t)
{
	hv_submit(virt_hypervisor(t->host->virt), &t->op);
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* One that an earlier life of the agent has left, of which nobody was told. */
static void end_old_relay(struct travel *t)
{
	end_relay(t->host, t->op.migration, t);
}

/* The domain as libvirt has it is the last stage's text. */
static void make_offer(struct travel *t)
{
	t->offer.folder = folder_of(t->host, t->op.migration);
	t->offer.xml = take(&t->result.text);
	t->offer.post_copy = t->op.post_copy;
	t->offer.plain = t->host->config->disable_tls;
	if (getrandom(t->offer.token, sizeof(t->offer.token), 0) != sizeof(t->offer.token))
		abort();
	start_relay(t);
}

/* The same as before, by a new way. */
static void renew_offer(struct travel *t)
{
	struct err *err = &t->result.err;

	if (!t->op.offer)
		err_set(err, ERR_INTERNAL, "what was offered before is not known");
	else if (migration_offer_read(t->op.offer, &t->offer, err) == 0 &&
		getrandom(t->offer.token, sizeof(t->offer.token), 0) != sizeof(t->offer.token))
		abort();
	t->offer.recovery = t->op.recovery;
	if (err->code)
		next_stage(t);
	else
		start_relay(t);
}

static void tell_offer(struct travel *t)
{
	t->result.text = migration_offer_write(&t->offer);
	if (strlen(t->result.text) > HANDOVER_OFFER_MAX / 2)
		err_set(&t->result.err, ERR_TOO_LARGE, "its domain is too large to be told of");
	next_stage(t);
}

static int ask(const struct travel *t, enum relay_verb verb, struct err *err)
{
	autofree char *folder = folder_of(t->host, t->op.migration);
	struct relay_request request = { .verb = verb };
	struct relay_status status;

	return relay_ask(folder, &request, &status, err);
}

/* On a worker: the relay is another process. */
static void ask_relay(uv_work_t *work)
{
	struct travel *t = work->data;

	ask(t, RELAY_RELEASE, &t->result.err);
}

static int end_qemu(const struct travel *t, struct err *err)
{
	autofree char *pid_file = qemu_pid_file(t->op.domain);

	return t->op.ended ? 0 : qemu_end(pid_file, t->op.uuid, QEMU_END_MS, err);
}

/* On a worker. Asked before, for what libvirt has resumed is not to be killed, and after: that it
 * was not resumed. Who is not certain lets libvirt have its answer, and then its word. */
static void seal_on_worker(uv_work_t *work)
{
	struct travel *t = work->data;
	struct err *err = &t->result.err, ignored;
	int rc = t->op.vouched ? ask(t, RELAY_VOUCH, err) : 0;

	if (rc == 0)
		rc = end_qemu(t, err);
	if (rc == 0 && t->op.vouched)
		rc = ask(t, RELAY_VOUCH, err);
	if (rc < 0)
		ask(t, RELAY_RELEASE, &ignored);
}

static void after_relay(uv_work_t *work, int status)
{
	(void)status;
	next_stage(work->data);
}

/* What the target's relay holds back is passed on. */
static void let_go(struct travel *t)
{
	uv_queue_work(t->host->loop, &t->work, ask_relay, after_relay);
}

static void seal(struct travel *t)
{
	uv_queue_work(t->host->loop, &t->work, seal_on_worker, after_relay);
}

/* ---- the source's relay is watched ----------------------------------------------------------- */

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
	autofree char *folder = folder_of(t->host, t->op.migration);
	struct relay_request request = { .verb = RELAY_STATUS };
	struct relay_status status = { .finish = RELAY_FINISH_NONE };
	struct err ignored;

	relay_ask(folder, &request, &status, &ignored);
	t->finish = status.finish;
}

static void after_look(uv_work_t *work, int status)
{
	struct travel *t = work->data;
	autofree char *folder = folder_of(t->host, t->op.migration);

	(void)status;
	tell_held(t, t->finish == RELAY_FINISH_REPLY_HELD);
	if (!t->op.post_copy)
		t->watch = relay_watch(t->host->loop, folder, on_relay_changed, t);
	next_stage(t);
}

static void watch_relay(struct travel *t)
{
	uv_queue_work(t->host->loop, &t->work, look_at_relay, after_look);
}

static int take_offer(struct travel *t, struct err *err)
{
	autofree char *folder = folder_of(t->host, t->op.migration);

	if (!t->op.offer)
		return err_set(err, ERR_BAD_REQUEST, "'%s' has not said how it is reached",
			t->op.peer);
	if (migration_offer_read(t->op.offer, &t->offer, err) < 0)
		return -(int)err->code;
	if (t->offer.plain != t->host->config->disable_tls)
		return err_set(err, ERR_FORBIDDEN,
			"'%s' and this host do not agree whether guests are encrypted: "
			"'migrations.disableTLS' is for both or none",
			t->op.peer);
	if (!streq(folder, t->offer.folder))
		return err_set(err, ERR_CONFLICT,
			"relays lie in '%s' here, and in '%.200s' at '%s': both agents need the same "
			"'socket' in their configuration",
			folder, t->offer.folder, t->op.peer);
	return 0;
}

static void use_offer(struct travel *t)
{
	if (take_offer(t, &t->result.err) < 0) {
		next_stage(t);
		return;
	}
	replace_str(&t->op.xml, t->offer.xml);
	replace_str(&t->op.relay, t->offer.folder);
	start_relay(t);
}

/* clang-format off */
static stage_fn *const target_stages[] = { end_old_relay, make_volumes, ask_libvirt, make_offer, tell_offer, NULL };
static stage_fn *const source_stages[] = { end_old_relay, use_offer, watch_relay, ask_libvirt, NULL };
static stage_fn *const relay_stages[] = { end_old_relay, renew_offer, tell_offer, NULL };
static stage_fn *const pass_stages[] = { let_go, NULL };
static stage_fn *const seal_stages[] = { seal, NULL };
static stage_fn *const watch_stages[] = { watch_relay, ask_libvirt, NULL };
/* clang-format on */

static void forget(struct travel *t)
{
	struct travel **at = &t->host->travels;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	relay_unwatch(t->watch);
	op_done(&t->op);
	migration_offer_done(&t->offer);
	op_result_done(&t->result);
	free(t);
}

static void answer(struct travel *t)
{
	struct host *host = t->host;

	/* libvirt needs it no more, whatever came of it, unless it waits for the answer that is
	 * held; but with post-copy QEMU may go on sending when libvirt does not. */
	if (op_kind_lane(t->op.kind) == LANE_MIGRATE && !t->op.post_copy && !t->held)
		travel_end_relay(host, t->op.migration);
	host->sink.result(host->sink.ctx, &t->result);
	forget(t);
}

static stage_fn *const *stages_of(enum op_kind kind)
{
	if (kind == OP_MIGRATE_WATCH)
		return watch_stages;
	if (kind == OP_MIGRATE_PASS)
		return pass_stages;
	if (kind == OP_MIGRATE_RELAY)
		return relay_stages;
	if (kind == OP_MIGRATE_SEAL)
		return seal_stages;
	return kind == OP_MIGRATE ? source_stages : target_stages;
}

static void next_stage(struct travel *t)
{
	stage_fn *const *stages = stages_of(t->op.kind);

	if (t->result.err.code || !stages[t->stage])
		answer(t);
	else
		stages[t->stage++](t);
}

static void do_nothing(uv_work_t *work)
{
	(void)work;
}

static void after_nothing(uv_work_t *work, int status)
{
	(void)status;
	next_stage(work->data);
}

bool travel_is_op(enum op_kind kind)
{
	return kind == OP_MIGRATE_PREPARE || kind == OP_MIGRATE_PASS || kind == OP_MIGRATE_RELAY ||
		kind == OP_MIGRATE_SEAL || op_kind_lane(kind) == LANE_MIGRATE;
}

void travel_submit(struct host *host, const struct op *op)
{
	struct travel *t = xcalloc(1, sizeof(*t));

	t->host = host;
	op_copy(&t->op, op);
	t->result = (struct op_result){ .id = op->id, .kind = op->kind };
	t->work.data = t;
	t->next = host->travels;
	host->travels = t;
	if (!host->migrations || !op->migration || !host->libvirt_socket)
		err_set(&t->result.err, ERR_UNAVAILABLE,
			"live migration is not enabled here, or libvirt is not one of the system");
	/* The result never comes from within. */
	uv_queue_work(host->loop, &t->work, do_nothing, after_nothing);
}

bool travel_took(struct host *host, const struct op_result *result)
{
	struct travel *t = host->travels;

	while (t && t->op.id != result->id)
		t = t->next;
	if (!t)
		return false;
	t->result.err = result->err;
	t->result.post_copy = result->post_copy;
	replace_str(&t->result.text, result->text);
	replace_str(&t->result.fallback, result->fallback);
	next_stage(t);
	return true;
}
