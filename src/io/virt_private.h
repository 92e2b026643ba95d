/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the libvirt adapter share. On which thread a function runs is said with it. */
#ifndef VMAGENT_IO_VIRT_PRIVATE_H
#define VMAGENT_IO_VIRT_PRIVATE_H

#include "io/virt.h"
#include "io/virt_workers.h"

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <pthread.h>

/* ---- virt_error.c: any thread ---------------------------------------------------------------- */

/* Of the last libvirt error of this thread. Every other call of libvirt, even for a domain's name,
 * takes it away: so names are fetched before the call that may fail. */
int virt_error_last(void); /* VIR_ERR_… */

/* Puts libvirt's own words (their first line) behind ours; the code is derived from libvirt's. */
int virt_error(struct err *err, const char *fmt, ...) PRINTF(2, 3);

/* The path of the image that QEMU, by these words of libvirt's, could not lock; owned, or NULL if
 * it is something else. */
char *virt_locked_image(const char *words);

/* libvirt keeps still on stderr; errors are taken from the thread that made the call. */
void virt_error_silence(void);

/* ---- virt_events.c --------------------------------------------------------------------------- */

struct note { /* from libvirt's event thread to the loop */
	struct note *next;
	virConnectPtr closed; /* this one was lost: to be compared, not used; NULL: event */
	const char *why;      /* static text, when closed */
	struct domain_event event;
};

struct virt_events {
	pthread_mutex_t lock; /* guards the four below */
	struct note *first, **last;
	size_t n;
	bool overflow; /* notes were dropped */
	uv_async_t *async;
	pthread_t thread;
	int stop; /* atomic */
};

/* Registers libvirt's event loop and runs it on a thread of its own. */
void virt_events_start(struct virt_events *events, uv_async_t *async);
void virt_events_stop(struct virt_events *events);
/* Any thread: as if libvirt had told it. */
void virt_events_tell(struct virt_events *events, const struct domain_event *event);
/* Loop: everything that came, in order; owned by the caller. *ret_overflow: some were lost. */
struct note *virt_events_take(struct virt_events *events, bool *ret_overflow);

#define VIRT_CONNS     2 /* by pool: WORKERS_NORMAL's and WORKERS_URGENT's */
#define VIRT_CALLBACKS 3 /* of domains' lifecycle, of their guest agents', of I/O errors */

struct virt_conns {
	virConnectPtr conn[VIRT_CONNS]; /* owned; NULL: not open */
	int callbacks[VIRT_CALLBACKS];  /* libvirt's ids, on the urgent one … */
	size_t n_callbacks;             /* … of so many of them */
};

/* Worker: registers for domain events. They keep the connection alive until they are given back. */
int virt_events_register(struct virt_events *events, struct virt_conns *conns, struct err *err);
void virt_events_unregister(struct virt_conns *conns);

/* Worker: asks to be told of the connection's end, where it can have one. */
void virt_events_watch(struct virt_events *events, virConnectPtr conn);
void virt_events_unwatch(virConnectPtr conn);

/* ---- virt_read.c: workers -------------------------------------------------------------------- */

enum found { FOUND_ERROR, FOUND_NONE, FOUND_ONE };

/* "No such domain" is a state, not an error. *ret is freed by virDomainFree(). */
enum found virt_find(virConnectPtr conn, const char *uuid, virDomainPtr *ret, struct err *err);

/* dom must come from a look-up just made, for its id tells whether it is active. */
enum found virt_info(virDomainPtr dom, struct domain_info *ret, struct err *err);
enum found virt_owner(virDomainPtr dom, char ret_owner[UID_SIZE], struct err *err);

void virt_do_list(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_read(virConnectPtr conn, const struct op *op, struct op_result *result);

enum domain_state virt_state(int state);
enum domain_reason virt_reason(int state, int reason);
enum domain_reason virt_stopped_reason(int detail);

/* ---- virt_start.c, virt_ops.c: workers ------------------------------------------------------- */

void virt_do_start(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_shutdown(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_suspend(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_migrate_announce(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_migrate_resume(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_resume(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_reboot(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_reset(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_destroy(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_undefine(virConnectPtr conn, const struct op *op, struct op_result *result);

/* virt_purge.c */
void virt_do_purge(virConnectPtr conn, const struct op *op, struct op_result *result);

/* virt_network.c. What has to be there before op's domain starts: *ret_xml is its definition, owned
 * by the caller, and *ret_fallback, owned, says why a network in it has QEMU's own stack in its
 * place, or is left as it is. */
int virt_networks_prepare(virConnectPtr conn, const struct op *op, char **ret_xml,
	char **ret_fallback, struct err *err);
/* A domain came from another host: it has addresses of its own here as if it had started here. */
void virt_network_arrived(virDomainPtr dom);
/* Gives up the addresses of a domain's interfaces. */
void virt_network_release(virConnectPtr conn, const struct domain_info *info);
/* Fills in the addresses of an active domain's interfaces, as far as they are known. */
void virt_network_addresses(virDomainPtr dom, struct domain_info *info);

/* virt_migrate.c */
void virt_do_migrate_prepare(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_migrate(virConnectPtr conn, const struct op *op, struct op_result *result,
	struct virt_events *events);
void virt_do_migrate_watch(virConnectPtr conn, const struct op *op, struct op_result *result,
	struct virt_events *events);
void virt_do_migrate_abort(virConnectPtr conn, const struct op *op, struct op_result *result);
bool virt_is_migrating(virDomainPtr dom);

/* virt_progress.c. false: there is no such job, or it has not begun to send. */
bool virt_progress(virDomainPtr dom, struct migration_progress *ret);
void virt_progress_tell(struct virt_events *events, const struct op *op,
	const struct migration_progress *progress);

/* virt_start.c. Defines op's domain by that XML, as it starts here; *ret_kept as of
 * virt_xml_complete(). NULL with words. */
virDomainPtr virt_define(virConnectPtr conn, const struct op *op, const char *xml, char **ret_kept,
	struct err *err);

/* virt_adopt.c */
void virt_do_describe(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_claim(virConnectPtr conn, const struct op *op, struct op_result *result);
/* START of a run whose VM adopted a shut-off domain: true if dom is that one; it has our name then,
 * or err says why it cannot. */
bool virt_make_room(virDomainPtr dom, const struct op *op, struct err *err);

/* virt_agent.c */
void virt_do_agent_shutdown(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_agent_reboot(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_agent_time(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_agent_info(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_agent_credentials(virConnectPtr conn, const struct op *op, struct op_result *result);
void virt_do_agent_look(virConnectPtr conn, const struct op *op, struct op_result *result);

/* virt_errand.c, virt_forward.c */
void virt_do_screenshot(virConnectPtr conn, const struct op *op, struct op_result *result);
/* virt_forward.c: op's ports of the host lead to its guest, which was started. */
void virt_host_forwards(virConnectPtr conn, const struct op *op, struct err *err);
void virt_do_forward(virConnectPtr conn, const struct op *op, struct op_result *result);
/* virt_host.c */
void virt_do_compare(virConnectPtr conn, const struct op *op, struct op_result *result);
/* virt_probe.c */
void virt_do_probe(virConnectPtr conn, const struct op *op, struct op_result *result);
/* A command of QEMU's monitor for people; its answer is owned by the caller, NULL with words. */
char *virt_monitor(virDomainPtr dom, const char *command, struct err *err);

/* The op's domain, if it is there and ours; else NULL with words. Freed by virDomainFree(). */
virDomainPtr virt_find_ours(virConnectPtr conn, const struct op *op, struct err *err);

/* ERR_CONFLICT in words unless the domain's metadata name op->vmi_uid. */
int virt_check_owner(virDomainPtr dom, const struct op *op, struct err *err);

/* ---- virt.c, virt_connect.c ------------------------------------------------------------------ */

enum link { LINK_DOWN, LINK_CONNECTING, LINK_UP };

struct virt {
	struct hypervisor hv;
	uv_loop_t *loop; /* borrowed */
	char *uri;       /* owned */
	struct workers *workers;
	struct virt_events events;
	uv_async_t async; /* notes have come */
	uv_timer_t timer; /* LINK_DOWN: the next try; LINK_CONNECTING: it takes long */
	enum link link;
	unsigned generation;     /* of the connections: counts tries */
	struct virt_conns conns; /* LINK_UP */
	msec wait;               /* until the next try */
	char *why;               /* owned; what was last said of the connection being down */
	bool closing;
	unsigned handles;              /* still to be closed */
	struct virt_identity identity; /* of the last connection */
};

/* Loop. */
void virt_connect(struct virt *virt);
void virt_lost(struct virt *virt, const char *why);

/* Any thread but libvirt's; may block. Whoever still makes a call keeps a reference of his own. */
void virt_conns_close(struct virt_conns *conns);

#endif
