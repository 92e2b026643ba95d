/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real host behind the hypervisor port: libvirt for domains, the image adapter for volumes. It only
 * routes each op to the one that knows it. Loop thread only.
 */
#ifndef VMAGENT_DAEMON_HOST_H
#define VMAGENT_DAEMON_HOST_H

#include <uv.h>

#include "daemon/config.h"
#include "io/image.h"
#include "io/virt.h"

struct host {
	struct hypervisor port; /* what the agent sees */
	struct virt *virt;      /* owned */
	struct image *image;    /* owned */
};

/* The port's sink may be set until hv_start(); config is borrowed. */
void host_init(struct host *host, uv_loop_t *loop, const struct config *config);

#endif
