/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The XML that goes to libvirt and comes from it, as far as core/domxml.h does not know it.
 * Documents are read with no network and no entities. Workers; stat() and open() may block.
 */
#ifndef VMAGENT_IO_VIRT_XML_H
#define VMAGENT_IO_VIRT_XML_H

#include "io/virt.h"

/* Of an active domain's XML: the paths of the first serial port's pty or socket and of a VNC
 * server's socket, whether a guest agent has opened its channel, the EFI firmware, and the
 * interfaces. Sets these of *info, whose memory is the caller's then. */
void virt_xml_live(const char *xml, struct domain_info *info);

/* The user that QEMU runs as, from the capabilities; false where libvirt does not switch users. */
bool virt_xml_qemu_uid(const char *capabilities, unsigned *ret_uid);

/* The host's UUID and QEMU's user, from the capabilities. */
void virt_xml_identity(const char *capabilities, struct virt_identity *ret);

struct virt_host {          /* what the host adds to a domain */
	bool switches_user; /* libvirt hands the disks over to QEMU's user (DAC labels) */
	unsigned qemu_uid;
	bool unified_cgroups; /* the second version of control groups */
};

/*
 * Completes a domain's disks with what only the host can know:
 * - a disk on a block device gets the type "block";
 * - a backing image gets its format, from its first bytes (it is never written to by a guest);
 * - a file that belongs to an ordinary user, and every backing image, keeps its owner: libvirt is told
 *   not to hand it over to QEMU's user. It would give a disk back only at a clean end, and a backing
 *   image never.
 * CPU shares become weights where control groups have those.
 * *ret_xml is owned by the caller. *ret_kept, owned or NULL, names a disk that QEMU's user can only
 * open if its permissions let it. Errors: ERR_INVALID (no XML), ERR_IO.
 */
int virt_xml_complete(const char *xml, const struct virt_host *host, char **ret_xml,
	char **ret_kept, struct err *err);

/* virt_limits.c. Whether libvirt refused a start, in these words, because the host has no
 * control groups to offer. */
bool virt_limits_are_refused(const char *message);
/* The same without what needs control groups (<memtune>; shares and quotas); owned by the
 * caller. NULL: nothing does. */
char *virt_xml_without_limits(const char *xml);
/* The domain with QEMU's own network stack in place of that network; owned by the caller, NULL:
 * it is no XML. */
char *virt_xml_without_network(const char *xml, const char *network);

struct virt_reservation { /* DHCP gives it that address */
	char mac[MAC_SIZE];
	char address[IP_SIZE];
};
struct virt_reservations {
	char *cidr;                    /* owned; the gateway's address, and the prefix */
	struct virt_reservation *list; /* owned */
	size_t n;
};
/* Of a network's XML; false if it has no DHCP. */
bool virt_xml_reservations(const char *xml, struct virt_reservations *ret);
void virt_reservations_done(struct virt_reservations *r);

#endif
