/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libvirt's part of a live migration. At the target: the domain as libvirt will have it, without
 * its being there. At the source: the peer-to-peer migration through the relay's sockets, on a
 * connection of its own and with somebody who watches it. The guest always arrives paused: who
 * resumes it is the agent that owns it. Workers.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/migration_monitor.h"
#include "core/migration_xml.h"
#include "core/relay_control.h"
#include "io/virt_firmware.h"
#include "io/virt_private.h"
#include "io/virt_xml.h"

#define POLL_MS      400 /* as KubeVirt's own monitor */
#define PARALLEL_MAX 4   /* connections for memory */
#define MIB          (1 << 20)

/* ---- the target ------------------------------------------------------------------------------ */

/* What is defined is only asked for and forgotten: the migration brings the definition. */
static void describe(virDomainPtr dom, struct op_result *result)
{
	const char *name = virDomainGetName(dom);

	result->text =
		virDomainGetXMLDesc(dom, VIR_DOMAIN_XML_INACTIVE | VIR_DOMAIN_XML_MIGRATABLE);
	if (!result->text)
		virt_error(&result->err, "read the XML of domain '%s'", name);
	if (virDomainUndefineFlags(dom, VIR_DOMAIN_UNDEFINE_KEEP_NVRAM) < 0 &&
		virDomainUndefine(dom) < 0)
		virt_error(&result->err, "undefine domain '%s'", name);
}

static bool is_there(virConnectPtr conn, const struct op *op, struct err *err)
{
	virDomainPtr dom;
	enum found found = virt_find(conn, op->uuid, &dom, err);

	if (found != FOUND_ONE)
		return found == FOUND_ERROR;
	if (virDomainIsActive(dom) == 0 && !virt_check_owner(dom, op, err)) {
		virDomainFree(dom);
		return false; /* left by an agent that ended in between */
	}
	if (!err->code)
		err_set(err, ERR_CONFLICT, "domain '%s' is here already", op->domain);
	virDomainFree(dom);
	return true;
}

void virt_do_migrate_prepare(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	autofree char *xml = NULL, *kept = NULL, *firmwares = virt_firmwares();
	struct err *err = &result->err;
	virDomainPtr dom;

	if (is_there(conn, op, err) || virt_firmware_check(op->xml, firmwares, err) < 0 ||
		virt_networks_prepare(conn, op, &xml, &result->fallback, err) < 0)
		return;
	dom = virt_define(conn, op, xml, &kept, err);
	if (!dom)
		return;
	describe(dom, result);
	virDomainFree(dom);
}

/* ---- the source: what it asks for ------------------------------------------------------------ */

struct params {
	virTypedParameterPtr list;
	int n, max;
	bool failed;
};

static void add_text(struct params *p, const char *key, const char *text)
{
	p->failed |= virTypedParamsAddString(&p->list, &p->n, &p->max, key, text) < 0;
}

static void add_int(struct params *p, const char *key, int n)
{
	p->failed |= virTypedParamsAddInt(&p->list, &p->n, &p->max, key, n) < 0;
}

static void add_rate(struct params *p, const char *key, int64_t mib)
{
	p->failed |=
		virTypedParamsAddULLong(&p->list, &p->n, &p->max, key, (unsigned long long)mib) < 0;
}

static void add_path(struct params *p, const char *key, const struct op *op,
	enum relay_channel channel)
{
	autofree char *uri = xasprintf("unix://%s/%s", op->relay, relay_channel_path(channel));

	add_text(p, key, uri);
}

static void add_disks(struct params *p, const struct op *op)
{
	autofree char *list = xstrdup(op->copies);
	char *rest = NULL;

	for (char *disk = strtok_r(list, ",", &rest); disk; disk = strtok_r(NULL, ",", &rest))
		add_text(p, VIR_MIGRATE_PARAM_MIGRATE_DISKS, disk);
	add_path(p, VIR_MIGRATE_PARAM_DISKS_URI, op, RELAY_DISKS);
}

/* As many as there are CPUs to fill them; one is none, and QEMU has no more with post-copy. */
static int parallel(const struct op *op)
{
	return op->post_copy ? 1 : (int)MIN(sysconf(_SC_NPROCESSORS_ONLN) / 2, PARALLEL_MAX);
}

static void fill_params(struct params *p, const struct op *op, const char *xml)
{
	int64_t mib = (op->limits.bandwidth + MIB - 1) / MIB;

	add_text(p, VIR_MIGRATE_PARAM_DEST_XML, xml);
	add_text(p, VIR_MIGRATE_PARAM_PERSIST_XML, xml);
	add_path(p, VIR_MIGRATE_PARAM_URI, op, RELAY_DATA);
	if (op->copies)
		add_disks(p, op);
	if (parallel(op) > 1)
		add_int(p, VIR_MIGRATE_PARAM_PARALLEL_CONNECTIONS, parallel(op));
	if (mib)
		add_rate(p, VIR_MIGRATE_PARAM_BANDWIDTH, mib);
	if (mib && op->post_copy)
		add_rate(p, VIR_MIGRATE_PARAM_BANDWIDTH_POSTCOPY, mib);
}

/* UNSAFE: every disk that is written to is copied, or declared to be shared, which libvirt cannot
 * see of a folder. */
static unsigned flags_of(const struct op *op)
{
	unsigned flags = VIR_MIGRATE_LIVE | VIR_MIGRATE_PEER2PEER | VIR_MIGRATE_PERSIST_DEST |
		VIR_MIGRATE_UNSAFE;

	flags |= op->paused ? VIR_MIGRATE_PAUSED : 0;
	flags |= op->post_copy ? VIR_MIGRATE_POSTCOPY : 0;
	flags |= op->recovery ? VIR_MIGRATE_POSTCOPY_RESUME : 0;
	flags |= op->copies ? VIR_MIGRATE_NON_SHARED_DISK : 0;
	flags |= op->limits.auto_converge ? VIR_MIGRATE_AUTO_CONVERGE : 0;
	flags |= parallel(op) > 1 ? VIR_MIGRATE_PARALLEL : 0;
	return flags;
}

/* ---- the source: who watches ----------------------------------------------------------------- */

struct migrating {
	virDomainPtr dom; /* borrowed */
	const struct op *op;
	const char *session; /* which of libvirt's drivers: system, session */
	const char *xml;     /* borrowed */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool ended;     /* under the lock, as … */
	struct err err; /* … how */
	struct migration_watch watch;
	struct virt_events *events; /* borrowed */
	unsigned looks;
	bool again;    /* it was called off for another attempt */
	bool switched; /* the guest goes over, or has */
	enum migration_mode mode;
	unsigned downtime_ms; /* that it was allowed; 0: QEMU's own */
	const char *given_up; /* a constant or NULL: why the monitor called it off */
};

#define LOOKS_TOLD 3 /* every so many are told */

static bool obey(void *ctx, const struct migration_order *order)
{
	struct migrating *m = ctx;

	switch (order->action) {
	case MIGRATION_GO_ON:
		break;
	case MIGRATION_DOWNTIME:
		if (virDomainMigrateSetMaxDowntime(m->dom, order->downtime_ms, 0) < 0)
			return false;
		m->downtime_ms = order->downtime_ms;
		break;
	case MIGRATION_PAUSE:
		if (virDomainSuspend(m->dom) < 0)
			return false;
		m->mode = MIGRATION_MODE_PAUSED;
		break;
	case MIGRATION_POST_COPY: /* never allowed beside PAUSED: it is a second attempt's */
	case MIGRATION_ABORT:
		if (virDomainAbortJob(m->dom) < 0)
			return false;
		m->again = order->action == MIGRATION_POST_COPY;
		m->given_up = order->why;
		break;
	}
	return true;
}

/* Of one that something else has stopped libvirt would not say that it has gone over. */
static bool is_running(virDomainPtr dom)
{
	int state = VIR_DOMAIN_NOSTATE;

	return virDomainGetState(dom, &state, NULL, 0) == 0 && state == VIR_DOMAIN_RUNNING;
}

/* The second attempt: as soon as all of the memory was sent once, or its time is up once more. From
 * then on nothing can be called off; and it must not come to its end before, for the target would
 * be let run by nobody. */
static void go_over(struct migrating *m, const struct migration_progress *p)
{
	bool late = p->elapsed > migration_time_limit(&m->op->limits, p->total);

	if (!m->looks && !m->switched)
		virDomainMigrateSetMaxDowntime(m->dom, 1, 0);
	if (!m->switched && (p->iteration > 1 || late) && is_running(m->dom))
		m->switched = virDomainMigrateStartPostCopy(m->dom, 0) == 0;
	if (m->switched)
		m->mode = MIGRATION_MODE_POST_COPY;
}

static void watch(struct migrating *m)
{
	struct migration_progress p;
	struct migration_seen seen;
	struct migration_limits limits = m->op->limits;

	if (!virt_progress(m->dom, &p))
		return;
	if (m->op->post_copy) {
		go_over(m, &p);
		limits.max_downtime_ms = limits.completion_s_per_gib = 0;
		limits.post_copy = limits.disrupt = false; /* that is what is being done */
	}
	seen = (struct migration_seen){ p.elapsed, p.total, p.remaining, p.iteration, m->switched,
		false };
	migration_monitor_look(&m->watch, &limits, &seen, obey, m);
	p.mode = m->mode;
	p.downtime_ms = m->downtime_ms;
	p.given_up = m->given_up;
	if (m->looks++ % LOOKS_TOLD == 0)
		virt_progress_tell(m->events, m->op, &p);
}

static void wait_a_while(struct migrating *m)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += POLL_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_cond_timedwait(&m->wake, &m->lock, &until);
}

static void watch_until_end(struct migrating *m)
{
	pthread_mutex_lock(&m->lock);
	while (!m->ended) {
		wait_a_while(m);
		if (m->ended)
			break;
		pthread_mutex_unlock(&m->lock);
		watch(m);
		pthread_mutex_lock(&m->lock);
	}
	pthread_mutex_unlock(&m->lock);
}

/* ---- the source: the call -------------------------------------------------------------------- */

static void perform(struct migrating *m, struct err *err)
{
	autofree char *to = xasprintf("qemu+unix:///%s?socket=%s/%s", m->session, m->op->relay,
		relay_channel_path(RELAY_RPC));
	const char *name = virDomainGetName(m->dom);
	struct params p = { .list = NULL };

	fill_params(&p, m->op, m->xml);
	if (p.failed ||
		virDomainMigrateToURI3(m->dom, to, p.list, (unsigned)p.n, flags_of(m->op)) < 0)
		virt_error(err, "migrate domain '%s'", name);
	virTypedParamsFree(p.list, p.n);
}

static void *on_thread(void *arg)
{
	struct migrating *m = arg;
	struct err err = { 0 };

	perform(m, &err);
	pthread_mutex_lock(&m->lock);
	m->err = err;
	m->ended = true;
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

static void say_given_up(const struct migrating *m, struct err *err)
{
	if (m->given_up)
		err_set(err, ERR_TIMEOUT, "it was called off: %s", m->given_up);
}

/* In QEMU's own words nobody finds what is to be done. */
static void say_what_post_copy_needs(const struct op *op, struct err *err)
{
	if (op->post_copy && strstr(err->msg, "Postcopy is not supported"))
		err_set(err, err->code,
			"post-copy needs userfaultfd, which QEMU may not use on '%s': set "
			"vm.unprivileged_userfaultfd=1 there",
			op->peer);
}

static void migrate(struct migrating *m, struct err *err)
{
	pthread_t thread;
	pthread_condattr_t attr;

	pthread_mutex_init(&m->lock, NULL);
	pthread_condattr_init(&attr);
	/* One that is set back would end the watch. */
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&m->wake, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&thread, NULL, on_thread, m)) { /* signals are blocked here already */
		perform(m, &m->err);
	} else {
		watch_until_end(m);
		pthread_join(thread, NULL);
	}
	pthread_cond_destroy(&m->wake);
	pthread_mutex_destroy(&m->lock);
	*err = m->err;
	if (!err->code)
		return;
	say_given_up(m, err);
	say_what_post_copy_needs(m->op, err);
}

static void with_domain(virDomainPtr dom, const struct op *op, struct virt_events *events,
	struct op_result *result)
{
	const char *name = virDomainGetName(dom);
	struct err *err = &result->err;
	struct migrating m = { .dom = dom, .op = op, .events = events, .switched = op->recovery };
	char *uri = virConnectGetURI(virDomainGetConnect(dom));
	char *here = virDomainGetXMLDesc(dom, VIR_DOMAIN_XML_MIGRATABLE);
	autofree char *xml = NULL;

	m.session = uri && strstr(uri, ":///session") ? "session" : "system";
	if (!here)
		virt_error(err, "read the XML of domain '%s'", name);
	else if (migration_xml(here, op->xml, &xml, err) == 0) {
		m.xml = xml;
		migrate(&m, err);
		result->post_copy = m.again && err->code;
	}
	free(here);
	free(uri);
}

void virt_do_migrate(virConnectPtr conn, const struct op *op, struct op_result *result,
	struct virt_events *events)
{
	virDomainPtr dom;

	if (!op->relay || !op->xml) {
		err_set(&result->err, ERR_INTERNAL, "nobody has made the way for it");
		return;
	}
	dom = virt_find_ours(conn, op, &result->err);
	if (!dom)
		return;
	with_domain(dom, op, events, result);
	virDomainFree(dom);
}

/* ---- the source: one that an earlier life of the agent has begun ----------------------------- */

static void watch_job(struct migrating *m, struct err *err)
{
	static const struct timespec a_while = { .tv_nsec = POLL_MS * 1000000L };
	virConnectPtr conn = virDomainGetConnect(m->dom);

	while (virt_is_migrating(m->dom)) {
		if (virConnectIsAlive(conn) != 1) {
			err_set(err, ERR_UNAVAILABLE, "the connection to libvirt is lost");
			return;
		}
		watch(m);
		nanosleep(&a_while, NULL);
	}
	say_given_up(m, err);
}

void virt_do_migrate_watch(virConnectPtr conn, const struct op *op, struct op_result *result,
	struct virt_events *events)
{
	struct migrating m = { .op = op, .events = events };

	m.dom = virt_find_ours(conn, op, &result->err);
	if (!m.dom)
		return;
	watch_job(&m, &result->err);
	result->post_copy = m.again;
	virDomainFree(m.dom);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void abort_job(virDomainPtr dom, struct err *err)
{
	const char *name = virDomainGetName(dom);

	if (virDomainAbortJob(dom) == 0 || virt_error_last() == VIR_ERR_OPERATION_INVALID)
		return; /* or it has ended meanwhile */
	virt_error(err, "call off the migration of domain '%s'", name);
}

void virt_do_migrate_abort(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr dom = virt_find_ours(conn, op, &result->err);

	if (!dom)
		return;
	abort_job(dom, &result->err);
	virDomainFree(dom);
}

/* Whether libvirt copies it to another host. This call waits for QEMU, so it is made for those only
 * of which the agent knows that it may be so; and who does not answer is not done yet. */
bool virt_is_migrating(virDomainPtr dom)
{
	virTypedParameterPtr list = NULL;
	int type, n = 0, operation = VIR_DOMAIN_JOB_OPERATION_UNKNOWN;

	if (virDomainGetJobStats(dom, &type, &list, &n, 0) < 0) {
		int code = virt_error_last();

		return code != VIR_ERR_NO_DOMAIN && code != VIR_ERR_OPERATION_INVALID &&
			code != VIR_ERR_NO_SUPPORT;
	}
	virTypedParamsGetInt(list, n, VIR_DOMAIN_JOB_OPERATION, &operation);
	virTypedParamsFree(list, n);
	return type != VIR_DOMAIN_JOB_NONE && operation == VIR_DOMAIN_JOB_OPERATION_MIGRATION_OUT;
}
