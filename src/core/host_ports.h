/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports of the host that lead to a guest with user-mode networking: an annotation of a
 * run, "8080:80/tcp, 5353:53/udp". Pure.
 */
#ifndef VMAGENT_CORE_HOST_PORTS_H
#define VMAGENT_CORE_HOST_PORTS_H

#include <vmagent/model.h>

#define HOST_PORTS_ANNOTATION "vmagent.io/host-ports"
#define HOST_PORTS_MAX        64
#define HOST_PORT_FIRST       1024 /* QEMU is no privileged program */

struct host_port {
	unsigned host, guest;
	bool udp;
};

struct host_ports {
	struct host_port list[HOST_PORTS_MAX];
	size_t n;
};

/* Errors: ERR_INVALID, in words for whoever wrote it; then *ret is empty. */
int host_ports_parse(const char *text, struct host_ports *ret, struct err *err);

/* Those of a run; none where the annotation is absent or cannot be read (apply refuses it). */
void host_ports_of(const struct vmi *vmi, struct host_ports *ret);

/* As QEMU's monitor has them, a line for each: tcp::8080-:80. Owned by the caller; NULL: none. */
char *host_ports_rules(const struct host_ports *ports);

const char *host_port_protocol(const struct host_port *port);

#endif
