/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which run has which port of the host, so that no two want the same. A run holds its ports as it
 * holds its disks. What other programs have is found when it is prepared.
 */
#include <string.h>

#include "core/host_ports.h"
#include "daemon/obstacles.h"

struct host_port_claim {
	struct host_port port;
	const struct machine *m;
};

void host_ports_hold(struct agent *agent, const struct machine *m, bool holds)
{
	struct host_port_claims *claims = &agent->host_ports;
	struct host_ports ports;
	size_t kept = 0;

	if (!holds) {
		for (size_t i = 0; i < claims->n; i++)
			if (claims->list[i].m != m)
				claims->list[kept++] = claims->list[i];
		claims->n = kept;
		return;
	}
	host_ports_of(m->vmi, &ports);
	for (size_t i = 0; i < ports.n; i++) {
		struct host_port_claim *claim = LIST_ADD(claims->list, claims->n, claims->cap);

		*claim = (struct host_port_claim){ ports.list[i], m };
	}
}

static const struct machine *holder_of(const struct host_port_claims *claims,
	const struct host_port *port)
{
	for (size_t i = 0; i < claims->n; i++)
		if (claims->list[i].port.host == port->host &&
			claims->list[i].port.udp == port->udp)
			return claims->list[i].m;
	return NULL;
}

static bool has_user_network(const struct agent *agent, const struct machine *m)
{
	struct attachment *list = networks_attach(agent, m);
	bool has = false;

	for (size_t i = 0; i < m->vmi->typed.n_interfaces; i++)
		has |= list[i].kind == ATTACH_USER;
	networks_free(list, m->vmi->typed.n_interfaces);
	return has;
}

enum obstacle host_ports_obstacle(const struct agent *agent, const struct machine *m,
	char **ret_words)
{
	struct host_ports ports;

	host_ports_of(m->vmi, &ports);
	if (ports.n && !has_user_network(agent, m)) {
		*ret_words = xstrdup(
			"annotation " HOST_PORTS_ANNOTATION ": none of its networks is "
			"user-mode, so its address is reached as it is; remove the "
			"annotation, or set the node's podNetwork to user");
		return OBSTACLE_MISSING;
	}
	for (size_t i = 0; i < ports.n; i++) {
		const struct machine *other = holder_of(&agent->host_ports, &ports.list[i]);

		if (!other)
			continue;
		*ret_words = xasprintf("port %u/%s of the host is that of '%s/%s', which must stop "
				       "first; give one of them another",
			ports.list[i].host, host_port_protocol(&ports.list[i]), other->ns,
			other->name);
		return OBSTACLE_IN_USE;
	}
	return OBSTACLE_NONE;
}

void host_ports_fill_prepare(const struct machine *m, struct op *op)
{
	struct host_ports ports;

	host_ports_of(m->vmi, &ports);
	for (size_t i = 0; i < ports.n; i++) {
		op->work = xrealloc_array(op->work, op->n_work + 1, sizeof(*op->work));
		op->work[op->n_work++] = (struct volume_work){ .kind = VOLUME_WORK_PORT,
			.volume = xstrdup(HOST_PORTS_ANNOTATION),
			.target = xasprintf("%s:%u", host_port_protocol(&ports.list[i]),
				ports.list[i].host) };
	}
}

void host_ports_done(struct host_port_claims *claims)
{
	free(claims->list);
}
