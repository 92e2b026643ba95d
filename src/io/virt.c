/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port's two functions, start and submit, and the way back: results from the workers, events
 * and lost connections from libvirt's thread. All of it on the loop's thread; what a worker sees is
 * a copy of the op and a reference to a connection, so that it never waits for us nor we for it.
 */
#include <unistd.h>

#include "io/virt_private.h"

struct op_job {
	struct job job;
	struct virt *virt; /* borrowed */
	unsigned generation;
	virConnectPtr conn; /* a reference of its own; NULL: there is no connection */
	char *own;          /* owned or NULL: the URI, when it opens a connection for itself */
	bool lost;          /* the connection had gone when the op was done */
	struct op op;
	struct op_result result;
};

typedef void do_op(virConnectPtr conn, const struct op *op, struct op_result *result);
/* One that lasts, and tells how far it is. */
typedef void do_lasting_op(virConnectPtr conn, const struct op *op, struct op_result *result,
	struct virt_events *events);

/* clang-format off */
static do_op *const handlers[OP_KIND_MAX] = {
	[OP_LIST]     = virt_do_list,
	[OP_READ]     = virt_do_read,
	[OP_DESCRIBE] = virt_do_describe,
	[OP_CLAIM]    = virt_do_claim,
	[OP_START]    = virt_do_start,
	[OP_SHUTDOWN] = virt_do_shutdown,
	[OP_AGENT_SHUTDOWN] = virt_do_agent_shutdown,
	[OP_AGENT_REBOOT] = virt_do_agent_reboot,
	[OP_AGENT_TIME] = virt_do_agent_time,
	[OP_AGENT_INFO] = virt_do_agent_info,
	[OP_AGENT_CREDENTIALS] = virt_do_agent_credentials,
	[OP_AGENT_LOOK] = virt_do_agent_look,
	[OP_PROBE]    = virt_do_probe,
	[OP_SUSPEND]  = virt_do_suspend,
	[OP_RESUME]   = virt_do_resume,
	[OP_REBOOT]   = virt_do_reboot,
	[OP_RESET]    = virt_do_reset,
	[OP_DESTROY]  = virt_do_destroy,
	[OP_UNDEFINE] = virt_do_undefine,
	[OP_PURGE]    = virt_do_purge,
	[OP_MIGRATE_PREPARE] = virt_do_migrate_prepare,
	[OP_MIGRATE_ABORT] = virt_do_migrate_abort,
	[OP_MIGRATE_ANNOUNCE] = virt_do_migrate_announce,
	[OP_MIGRATE_RESUME] = virt_do_migrate_resume,
	[OP_SCREENSHOT] = virt_do_screenshot,
	[OP_FORWARD]  = virt_do_forward,
	[OP_COMPARE]  = virt_do_compare,
};
static do_lasting_op *const lasting[OP_KIND_MAX] = {
	[OP_MIGRATE]  = virt_do_migrate,
	[OP_MIGRATE_WATCH] = virt_do_migrate_watch,
};
/* clang-format on */

/* ---- ops ------------------------------------------------------------------------------------- */

/* One that lasts for long has a connection of its own, so that it holds up nobody else's calls. */
static void open_own(struct op_job *j)
{
	if (!j->own)
		return;
	virConnectClose(j->conn);
	j->conn = virConnectOpen(j->own);
	if (!j->conn)
		virt_error(&j->result.err, "connect to libvirt at '%s'", j->own);
}

/* A call that failed because the connection is gone says nothing about the domain. */
static void run_op(struct job *job)
{
	struct op_job *j = (struct op_job *)job;

	open_own(j);
	if (!j->conn)
		return;
	if (lasting[j->op.kind])
		lasting[j->op.kind](j->conn, &j->op, &j->result, &j->virt->events);
	else
		handlers[j->op.kind](j->conn, &j->op, &j->result);
	if (j->result.err.code && virConnectIsAlive(j->conn) != 1) {
		j->lost = true;
		j->result.err.code = ERR_UNAVAILABLE;
	}
	virConnectClose(take(&j->conn));
}

static void op_is_done(struct job *job)
{
	struct op_job *j = (struct op_job *)job;
	struct virt *virt = j->virt;

	if (!virt->closing) {
		virt->hv.sink.result(virt->hv.sink.ctx, &j->result);
		if (j->lost && j->generation == virt->generation)
			virt_lost(virt, "the connection to libvirt failed");
	}
	if (j->result.fd)
		close(j->result.fd);
	if (j->conn) /* it was dropped unrun, at the end */
		virConnectClose(j->conn);
	op_result_done(&j->result);
	op_done(&j->op);
	free(j->own);
	free(j);
}

static struct op_job *op_job_new(struct virt *virt, const struct op *op)
{
	struct op_job *j = xcalloc(1, sizeof(*j));

	j->job.done = op_is_done;
	j->virt = virt;
	j->generation = virt->generation;
	j->result.id = op->id;
	j->result.kind = op->kind;
	op_copy(&j->op, op);
	return j;
}

static enum worker_pool pool_of(enum op_kind kind)
{
	switch (op_kind_lane(kind)) {
	case LANE_URGENT:
		return WORKERS_URGENT;
	case LANE_AGENT:
		return WORKERS_AGENT;
	case LANE_ERRAND:
		return WORKERS_ERRAND;
	case LANE_PROBE:
		return WORKERS_PROBE;
	case LANE_MIGRATE:
		return WORKERS_MIGRATE;
	case LANE_MAIN:
	case LANE_READ:
	case LANE_SIGNAL:
	case LANE_GUEST:
	case LANE_WORDS:
	case LANE_MAX:
		break;
	}
	return WORKERS_NORMAL;
}

/* Agents and errands on the urgent one, which has room for them, so that they take nothing from
 * the normal one's calls. */
static virConnectPtr connection_of(const struct virt *virt, enum worker_pool pool)
{
	return virt->conns.conn[pool == WORKERS_NORMAL ? WORKERS_NORMAL : WORKERS_URGENT];
}

static void submit(struct hypervisor *hv, const struct op *op)
{
	struct virt *virt = (struct virt *)hv;
	struct op_job *j = op_job_new(virt, op);
	enum worker_pool pool = pool_of(op->kind);

	if (!handlers[op->kind] && !lasting[op->kind]) {
		err_set(&j->result.err, ERR_INTERNAL, "libvirt has no part in '%s'",
			op_kind_name(op->kind));
	} else if (virt->link != LINK_UP) {
		err_set(&j->result.err, ERR_UNAVAILABLE, "not connected to libvirt");
	} else {
		j->conn = connection_of(virt, pool);
		virConnectRef(j->conn);
		j->own = pool == WORKERS_MIGRATE ? xstrdup(virt->uri) : NULL;
		j->job.run = run_op;
	}
	workers_submit(virt->workers, pool, &j->job);
}

static void start(struct hypervisor *hv)
{
	virt_connect((struct virt *)hv);
}

/* ---- notes from libvirt's thread ------------------------------------------------------------- */

static void take_note(struct virt *virt, const struct note *note)
{
	if (!note->closed)
		virt->hv.sink.event(virt->hv.sink.ctx, &note->event);
	for (int i = 0; note->closed && i < VIRT_CONNS; i++)
		if (note->closed == virt->conns.conn[i])
			virt_lost(virt, note->why);
}

static void on_notes(uv_async_t *async)
{
	struct virt *virt = async->data;
	bool overflow;
	struct note *note = virt_events_take(&virt->events, &overflow), *next;

	for (; note; note = next) {
		next = note->next;
		take_note(virt, note);
		free(note);
	}
	if (overflow)
		virt_lost(virt, "more events from libvirt than could be taken in");
}

/* ---- lifetime -------------------------------------------------------------------------------- */

static const struct hypervisor_ops ops = { .start = start, .submit = submit };

struct virt *virt_new(uv_loop_t *loop, const char *uri, struct hv_sink sink)
{
	struct virt *virt = xcalloc(1, sizeof(*virt));

	virt->hv.ops = &ops;
	virt->hv.sink = sink;
	virt->loop = loop;
	virt->uri = xstrdup(uri);
	virt->wait = VIRT_RETRY_MIN;
	virt_error_silence();
	virt->workers = workers_new(loop);
	virt->async.data = virt->timer.data = virt;
	if (uv_async_init(loop, &virt->async, on_notes) || uv_timer_init(loop, &virt->timer))
		abort();
	virt->handles = 2;
	virt_events_start(&virt->events, &virt->async);
	return virt;
}

struct hypervisor *virt_hypervisor(struct virt *virt)
{
	return &virt->hv;
}

size_t virt_busy(const struct virt *virt)
{
	return workers_busy(virt->workers);
}

const struct virt_identity *virt_identity(const struct virt *virt)
{
	return &virt->identity;
}

bool virt_has_pvpanic(void)
{
	unsigned long version = 0;

	return !virGetVersion(&version, NULL, NULL) && version >= 9001000;
}

static void on_closed(uv_handle_t *handle)
{
	struct virt *virt = handle->data;

	if (--virt->handles)
		return;
	free(virt->uri);
	free(virt->why);
	free(virt);
}

void virt_free(struct virt *virt)
{
	virt->closing = true;
	virt_conns_close(&virt->conns);
	workers_free(virt->workers);
	virt_events_stop(&virt->events);
	uv_close((uv_handle_t *)&virt->async, on_closed);
	uv_close((uv_handle_t *)&virt->timer, on_closed);
}
