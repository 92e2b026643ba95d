/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A travel is an op and the stage that it has come to. Stages are a table: each begins something of
 * which a result comes, and the last one's is the op's. What fails on the way is the op's failure.
 */
#include "daemon/travel_private.h"

#include <string.h>
#include <sys/random.h>

#include "io/qemu_end.h"

#define QEMU_END_MS 5000 /* that a QEMU may take for its end once it was killed */
#define STAGES_MAX  6    /* with the end of them, NULL */

typedef void stage_fn(struct travel *t);

void travel_after_work(uv_work_t *work, int status)
{
	(void)status;
	travel_go_on(work->data);
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

/* ---- what the target offers ------------------------------------------------------------------ */

/* The domain as libvirt has it is the last stage's text. */
static void make_offer(struct travel *t)
{
	t->offer.folder = travel_relay_folder(t->host, t->op.migration);
	t->offer.xml = take(&t->result.text);
	t->offer.post_copy = t->op.post_copy;
	t->offer.plain = t->host->config->disable_tls;
	if (getrandom(t->offer.token, sizeof(t->offer.token), 0) != sizeof(t->offer.token))
		abort();
	travel_relay_start(t);
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
		travel_go_on(t);
	else
		travel_relay_start(t);
}

static void tell_offer(struct travel *t)
{
	t->result.text = migration_offer_write(&t->offer);
	if (strlen(t->result.text) > HANDOVER_OFFER_MAX / 2)
		err_set(&t->result.err, ERR_TOO_LARGE, "its domain is too large to be told of");
	travel_go_on(t);
}

static int take_offer(struct travel *t, struct err *err)
{
	autofree char *folder = travel_relay_folder(t->host, t->op.migration);

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
		travel_go_on(t);
		return;
	}
	replace_str(&t->op.xml, t->offer.xml);
	replace_str(&t->op.relay, t->offer.folder);
	travel_relay_start(t);
}

/* ---- the end of the source ------------------------------------------------------------------- */

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
	struct relay_status status;
	int rc = t->op.vouched ? travel_relay_ask(t, RELAY_VOUCH, &status, err) : 0;

	if (rc == 0)
		rc = end_qemu(t, err);
	if (rc == 0 && t->op.vouched)
		rc = travel_relay_ask(t, RELAY_VOUCH, &status, err);
	if (rc < 0)
		travel_relay_ask(t, RELAY_RELEASE, &status, &ignored);
}

static void seal(struct travel *t)
{
	uv_queue_work(t->host->loop, &t->work, seal_on_worker, travel_after_work);
}

static void release_on_worker(uv_work_t *work)
{
	struct travel *t = work->data;
	struct relay_status status;

	travel_relay_ask(t, RELAY_RELEASE, &status, &t->result.err);
}

/* What the relay holds back is passed on. */
static void let_go(struct travel *t)
{
	uv_queue_work(t->host->loop, &t->work, release_on_worker, travel_after_work);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static stage_fn *const stages[OP_KIND_MAX][STAGES_MAX] = {
	/* clang-format off */
	[OP_MIGRATE_PREPARE] = { travel_relay_end_old, make_volumes, ask_libvirt, make_offer, tell_offer },
	[OP_MIGRATE]         = { travel_relay_end_old, use_offer, travel_relay_watch, ask_libvirt },
	[OP_MIGRATE_WATCH]   = { travel_relay_watch, ask_libvirt },
	[OP_MIGRATE_RELAY]   = { travel_relay_end_old, renew_offer, tell_offer },
	[OP_MIGRATE_SEAL]    = { seal },
	[OP_MIGRATE_PASS]    = { let_go },
	/* clang-format on */
};

bool travel_is_op(enum op_kind kind)
{
	return stages[kind][0] != NULL;
}

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

void travel_go_on(struct travel *t)
{
	stage_fn *stage = t->result.err.code ? NULL : stages[t->op.kind][t->stage++];

	if (stage)
		stage(t);
	else
		answer(t);
}

/* ---- ops ------------------------------------------------------------------------------------- */

static void do_nothing(uv_work_t *work)
{
	(void)work;
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
	uv_queue_work(host->loop, &t->work, do_nothing, travel_after_work);
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
	travel_go_on(t);
	return true;
}
