/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real host behind the hypervisor port: libvirt for domains, the image adapter for volumes,
 * QEMU's log for its words. It only routes each op to the one that knows it. Loop thread only.
 */
#ifndef VMAGENT_DAEMON_HOST_H
#define VMAGENT_DAEMON_HOST_H

#include <uv.h>

#include "daemon/config.h"
#include "io/image.h"
#include "io/qemu_log.h"
#include "io/virt.h"

struct host {
	struct hypervisor port;      /* what the agent sees; first, so that a port is a host */
	struct virt *virt;           /* owned */
	struct image *image;         /* owned */
	struct qemu_log *log;        /* owned */
	struct hv_sink sink;         /* the agent's, behind those of travels */
	uv_loop_t *loop;             /* borrowed, as … */
	const struct config *config; /* … this */
	const char *migrations;      /* borrowed or NULL: where relays have their folders */
	char *libvirt_socket;        /* owned or NULL: where this host's libvirt serves others */
	struct travel *travels;      /* owned: ops that take more than one adapter */
	unsigned endings;            /* relays that are told to end at this moment */
};

/* config and what the sink points to must outlive it. Connects only at hv_start(). Until
 * `migrations` is set there are none. */
void host_init(struct host *host, uv_loop_t *loop, const struct config *config,
	struct hv_sink sink);

/* Whether an op runs now: then the program can only end by _exit(). */
bool host_is_busy(const struct host *host);

/* Not while it is busy; the memory goes when the loop has run its close callbacks. */
void host_close(struct host *host);

#endif
