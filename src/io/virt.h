/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hypervisor port on libvirt: qemu:///system, qemu:///session, qemu:///embed?root=DIR and
 * test:///default. It handles all ops but OP_PREPARE and OP_CLEAN, which are
 * another adapter's, and answers those with ERR_INTERNAL.
 *
 * Three kinds of thread (design §4): the loop, workers that make the calls, and one that runs
 * libvirt's own event loop. It keeps two connections, so that hung calls never hold up a destroy or
 * a list, and it opens both again, with back-off, whenever either is lost.
 */
#ifndef VMAGENT_IO_VIRT_H
#define VMAGENT_IO_VIRT_H

#include <vmagent/hypervisor.h>

#include <uv.h>

#define VIRT_RETRY_MIN    250 /* ms from a lost connection or failed try to the next try … */
#define VIRT_RETRY_MAX    SECONDS(10) /* … doubled up to this */
#define VIRT_KEEPALIVE_S  60          /* a silent libvirtd is asked whether it lives … */
#define VIRT_KEEPALIVE_N  2           /* … and given up after so many unanswered */
#define VIRT_CONNECT_SLOW SECONDS(15) /* a connect that takes longer is reported */
#define VIRT_NOTES_MAX    8192 /* events that wait for the loop; beyond: connect and list anew */

struct virt;

/*
 * loop and what the sink points to must outlive it. Registers libvirt's default event loop, which
 * is one per process, and makes libvirt say nothing on stderr: so call it before anything else
 * calls libvirt, and only once at a time. Opens nothing yet: hv_start() does.
 */
struct virt *virt_new(uv_loop_t *loop, const char *uri, struct hv_sink sink);

/* The port; borrowed, as long as the virt. Its functions are for the loop's thread. */
struct hypervisor *virt_hypervisor(struct virt *virt);

/* Calls into libvirt that run now. While there are any, the program can only end by _exit(). */
size_t virt_busy(const struct virt *virt);

/*
 * Closes the connections and ends the threads; the memory goes when the loop has run its close
 * callbacks. Nothing reaches the sink any more. Must not be called while virt_busy().
 */
void virt_free(struct virt *virt);

struct virt_identity { /* what the host's libvirt says of itself; all "" before the first connection */
	char host_uuid[UID_SIZE];
	char user[33]; /* that QEMU runs as; "": as libvirt itself */
};
/* Loop thread; borrowed. It is filled in when sink.connection() says that the connection is up. */
const struct virt_identity *virt_identity(const struct virt *virt);

/* Whether this libvirt knows the PCI panic device (9.1), for struct domain_context. */
bool virt_has_pvpanic(void);

#endif
