/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connections: opened on a worker, both at once, events registered before anybody hears of it;
 * watched from then on, and opened again with back-off when either is lost. A connect cannot be cut
 * short, so one that takes long is reported and waited for.
 */
#include "io/virt_private.h"
#include "io/virt_xml.h"

struct connect_job {
	struct job job;
	struct virt *virt; /* borrowed; `events` and `uri` are used on the worker */
	struct virt_conns conns;
	struct virt_identity identity;
	struct err err;
};

struct close_job {
	struct job job;
	struct virt_conns conns;
};

static void say(struct virt *virt, bool up, const char *why)
{
	if (virt->closing || (!up && streq(virt->why, why)))
		return;
	replace_str(&virt->why, up ? NULL : why);
	virt->hv.sink.connection(virt->hv.sink.ctx, up, why);
}

/* ---- closing --------------------------------------------------------------------------------- */

void virt_conns_close(struct virt_conns *conns)
{
	if (conns->conn[WORKERS_URGENT])
		virt_events_unregister(conns);
	for (int i = 0; i < VIRT_CONNS; i++) {
		if (!conns->conn[i])
			continue;
		virt_events_unwatch(conns->conn[i]);
		virConnectClose(take(&conns->conn[i]));
	}
}

static void run_close(struct job *job)
{
	virt_conns_close(&((struct close_job *)job)->conns);
}

static void close_is_done(struct job *job)
{
	run_close(job); /* what was dropped unrun, at the end */
	free(job);
}

/* On a worker, for it may talk to a libvirt that does not answer. Ops in flight keep a
 * reference. */
static void close_connections(struct virt *virt)
{
	struct close_job *close = xcalloc(1, sizeof(*close));

	close->job.run = run_close;
	close->job.done = close_is_done;
	close->conns = virt->conns;
	virt->conns = (struct virt_conns){ 0 };
	workers_submit(virt->workers, WORKERS_URGENT, &close->job);
}

/* ---- opening --------------------------------------------------------------------------------- */

static int open_one(struct connect_job *connect, enum worker_pool pool)
{
	virConnectPtr conn = virConnectOpen(connect->virt->uri);

	if (!conn)
		return virt_error(&connect->err, "connect to libvirt at '%s'", connect->virt->uri);
	connect->conns.conn[pool] = conn;
	virt_events_watch(&connect->virt->events, conn);
	/* Only where the events come from: a hung call has a deadline of its own, a libvirtd
	 * that died closes its sockets, and each question wakes both of us. Drivers within
	 * this process need none. */
	if (pool == WORKERS_NORMAL)
		virConnectSetKeepAlive(conn, VIRT_KEEPALIVE_S, VIRT_KEEPALIVE_N);
	return 0;
}

/* A libvirt that does not tell has none of it: nothing but migrations needs it. */
static void identify(struct connect_job *connect)
{
	char *capabilities = virConnectGetCapabilities(connect->conns.conn[WORKERS_URGENT]);

	if (capabilities)
		virt_xml_identity(capabilities, &connect->identity);
	free(capabilities);
}

static void run_connect(struct job *job)
{
	struct connect_job *connect = (struct connect_job *)job;

	if (!open_one(connect, WORKERS_URGENT) && !open_one(connect, WORKERS_NORMAL) &&
		!virt_events_register(&connect->virt->events, &connect->conns, &connect->err)) {
		identify(connect);
		return;
	}
	virt_conns_close(&connect->conns);
}

static void on_retry(uv_timer_t *timer)
{
	virt_connect(timer->data);
}

static void try_later(struct virt *virt, const char *why)
{
	virt->link = LINK_DOWN;
	uv_timer_start(&virt->timer, on_retry, (uint64_t)virt->wait, 0);
	virt->wait = MIN(virt->wait * 2, VIRT_RETRY_MAX);
	say(virt, false, why);
}

static void connected(struct virt *virt, struct connect_job *connect)
{
	bool alive = true;

	virt->conns = connect->conns;
	virt->identity = connect->identity;
	for (int i = 0; i < VIRT_CONNS; i++)
		alive = alive && virConnectIsAlive(virt->conns.conn[i]) == 1;
	virt->link = LINK_UP;
	if (!alive) { /* its note came before it counted as up */
		virt_lost(virt, "the connection to libvirt failed at once");
		return;
	}
	virt->wait = VIRT_RETRY_MIN;
	say(virt, true, "");
}

static void connect_is_done(struct job *job)
{
	struct connect_job *connect = (struct connect_job *)job;
	struct virt *virt = connect->virt;

	if (virt->closing) {
		virt_conns_close(&connect->conns);
	} else if (connect->err.code) {
		try_later(virt, connect->err.msg);
	} else {
		uv_timer_stop(&virt->timer);
		connected(virt, connect);
	}
	free(connect);
}

static void on_slow(uv_timer_t *timer)
{
	say(timer->data, false, "libvirt accepts the connection, but does not answer");
}

void virt_connect(struct virt *virt)
{
	struct connect_job *connect = xcalloc(1, sizeof(*connect));

	connect->job.run = run_connect;
	connect->job.done = connect_is_done;
	connect->virt = virt;
	virt->generation++;
	virt->link = LINK_CONNECTING;
	uv_timer_start(&virt->timer, on_slow, VIRT_CONNECT_SLOW, 0);
	workers_submit(virt->workers, WORKERS_URGENT, &connect->job);
}

void virt_lost(struct virt *virt, const char *why)
{
	if (virt->link != LINK_UP)
		return;
	close_connections(virt);
	try_later(virt, why);
}
