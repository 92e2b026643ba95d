/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libvirt's event thread: it runs libvirt's own event loop, and its callbacks do nothing but
 * put a small struct into a queue and wake the loop. Details that cannot be read again later
 * (who shut down, why it stopped, panic, which disk failed) are kept; everything else means
 * "look again" (semantics §3.1).
 */
#include <signal.h>
#include <string.h>

#include "core/domxml.h"

#include "io/virt_private.h"

static void put(struct virt_events *events, struct note *note)
{
	note->next = NULL;
	pthread_mutex_lock(&events->lock);
	if (events->n == VIRT_NOTES_MAX) {
		events->overflow = true;
		free(note);
	} else {
		*events->last = note;
		events->last = &note->next;
		events->n++;
	}
	pthread_mutex_unlock(&events->lock);
	uv_async_send(events->async);
}

void virt_events_tell(struct virt_events *events, const struct domain_event *event)
{
	struct note *note = xcalloc(1, sizeof(*note));

	note->event = *event;
	put(events, note);
}

struct note *virt_events_take(struct virt_events *events, bool *ret_overflow)
{
	struct note *first;

	pthread_mutex_lock(&events->lock);
	first = events->first;
	*ret_overflow = events->overflow;
	events->first = NULL;
	events->last = &events->first;
	events->n = 0;
	events->overflow = false;
	pthread_mutex_unlock(&events->lock);
	return first;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static void shutdown_detail(struct domain_event *event, int detail)
{
	event->kind = DOMAIN_EVENT_SHUTDOWN;
	event->guest = detail == VIR_DOMAIN_EVENT_SHUTDOWN_GUEST;
}

static void stopped_detail(struct domain_event *event, int detail)
{
	event->kind = DOMAIN_EVENT_STOPPED;
	event->reason = virt_stopped_reason(detail);
}

/* A crash kernel that was loaded (CRASHLOADED) leaves the guest running: only a look again. */
static void crashed_detail(struct domain_event *event, int detail)
{
	if (detail == VIR_DOMAIN_EVENT_CRASHED_PANICKED)
		event->kind = DOMAIN_EVENT_PANICKED;
}

static void started_detail(struct domain_event *event, int detail)
{
	(void)detail;
	event->kind = DOMAIN_EVENT_STARTED;
}

static void undefined_detail(struct domain_event *event, int detail)
{
	(void)detail;
	event->kind = DOMAIN_EVENT_UNDEFINED;
}

/* clang-format off */
static void (*const details[VIR_DOMAIN_EVENT_CRASHED + 1])(struct domain_event *event, int detail) = {
	[VIR_DOMAIN_EVENT_UNDEFINED] = undefined_detail,
	[VIR_DOMAIN_EVENT_STARTED]   = started_detail,
	[VIR_DOMAIN_EVENT_STOPPED]   = stopped_detail,
	[VIR_DOMAIN_EVENT_SHUTDOWN]  = shutdown_detail,
	[VIR_DOMAIN_EVENT_CRASHED]   = crashed_detail,
};
/* clang-format on */

static struct note *note_of(virDomainPtr dom)
{
	struct note *note = xcalloc(1, sizeof(*note));

	virDomainGetUUIDString(dom, note->event.uuid);
	copy_str(note->event.name, sizeof(note->event.name), virDomainGetName(dom));
	return note;
}

static int on_lifecycle(virConnectPtr conn, virDomainPtr dom, int event, int detail, void *opaque)
{
	struct note *note = note_of(dom);

	(void)conn;
	if (event >= 0 && event < (int)ARRAY_SIZE(details) && details[event])
		details[event](&note->event, detail);
	put(opaque, note);
	return 0;
}

/* Which way it went is read afterwards; that there was a change cannot be. */
static int on_agent(virConnectPtr conn, virDomainPtr dom, int state, int reason, void *opaque)
{
	struct note *note = note_of(dom);

	(void)conn;
	(void)state;
	(void)reason;
	note->event.kind = DOMAIN_EVENT_AGENT;
	put(opaque, note);
	return 0;
}

/* The alias of a disk of ours is ALIAS_PREFIX and the volume's name. Other actions
 * leave the guest running. */
static void on_io_error(virConnectPtr conn, virDomainPtr dom, const char *path, const char *alias,
	int action, const char *reason, void *opaque)
{
	struct note *note;

	(void)conn;
	(void)path;
	if (action != VIR_DOMAIN_EVENT_IO_ERROR_PAUSE)
		return;
	note = note_of(dom);
	note->event.kind = DOMAIN_EVENT_IO_ERROR;
	if (starts_with(alias, ALIAS_PREFIX))
		alias += strlen(ALIAS_PREFIX);
	copy_str(note->event.disk, sizeof(note->event.disk), alias);
	if (streq(reason, "enospc"))
		copy_str(note->event.io_reason, sizeof(note->event.io_reason), reason);
	put(opaque, note);
}

static const char *close_reason(int reason)
{
	switch (reason) {
	case VIR_CONNECT_CLOSE_REASON_EOF:
		return "libvirt closed the connection";
	case VIR_CONNECT_CLOSE_REASON_KEEPALIVE:
		return "libvirt no longer answers";
	case VIR_CONNECT_CLOSE_REASON_CLIENT:
		return NULL; /* we did */
	default:
		return "the connection to libvirt failed";
	}
}

static void on_close(virConnectPtr conn, int reason, void *opaque)
{
	const char *why = close_reason(reason);
	struct note *note;

	if (!why)
		return;
	note = xcalloc(1, sizeof(*note));
	note->closed = conn;
	note->why = why;
	put(opaque, note);
}

int virt_events_register(struct virt_events *events, struct virt_conns *conns, struct err *err)
{
	const struct {
		int event;
		virConnectDomainEventGenericCallback on;
	} wanted[VIRT_CALLBACKS] = {
		{ VIR_DOMAIN_EVENT_ID_LIFECYCLE, VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle) },
		{ VIR_DOMAIN_EVENT_ID_AGENT_LIFECYCLE, VIR_DOMAIN_EVENT_CALLBACK(on_agent) },
		{ VIR_DOMAIN_EVENT_ID_IO_ERROR_REASON, VIR_DOMAIN_EVENT_CALLBACK(on_io_error) },
	};

	for (size_t i = 0; i < VIRT_CALLBACKS; i++) {
		int id = virConnectDomainEventRegisterAny(conns->conn[WORKERS_URGENT], NULL,
			wanted[i].event, wanted[i].on, events, NULL);

		if (id < 0)
			return virt_error(err, "register for events");
		conns->callbacks[conns->n_callbacks++] = id;
	}
	return 0;
}

void virt_events_unregister(struct virt_conns *conns)
{
	while (conns->n_callbacks)
		virConnectDomainEventDeregisterAny(conns->conn[WORKERS_URGENT],
			conns->callbacks[--conns->n_callbacks]);
}

/* A driver within this process has no connection that could be lost, and refuses: so be it. */
void virt_events_watch(struct virt_events *events, virConnectPtr conn)
{
	virConnectRegisterCloseCallback(conn, on_close, events, NULL);
}

void virt_events_unwatch(virConnectPtr conn)
{
	virConnectUnregisterCloseCallback(conn, on_close);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void *run(void *arg)
{
	struct virt_events *events = arg;

	while (!__atomic_load_n(&events->stop, __ATOMIC_ACQUIRE))
		virEventRunDefaultImpl();
	return NULL;
}

void virt_events_start(struct virt_events *events, uv_async_t *async)
{
	sigset_t all, before;

	pthread_mutex_init(&events->lock, NULL);
	events->last = &events->first;
	events->async = async;
	if (virEventRegisterDefaultImpl() < 0)
		abort();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&events->thread, NULL, run, events))
		abort();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void wake_up(int timer, void *opaque)
{
	(void)opaque;
	virEventRemoveTimeout(timer);
}

void virt_events_stop(struct virt_events *events)
{
	struct note *note, *next;
	bool overflow;

	__atomic_store_n(&events->stop, 1, __ATOMIC_RELEASE);
	virEventAddTimeout(0, wake_up, NULL, NULL);
	pthread_join(events->thread, NULL);
	for (note = virt_events_take(events, &overflow); note; note = next) {
		next = note->next;
		free(note);
	}
	pthread_mutex_destroy(&events->lock);
}
