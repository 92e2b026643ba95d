/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port to other agents: what is known of each configured peer comes back as events, and what this node
 * tells of itself is published to all of them. One vtable, beside the hypervisor's, because between agents
 * lies a network that a test must be able to cut; the real one is mutual TLS over TCP.
 *
 * A peer is known by the name that its certificate carries. Nothing here is durable: after a restart every
 * peer is unreachable until it has answered.
 */
#ifndef VMAGENT_PEER_H
#define VMAGENT_PEER_H

#include <vmagent/base.h>

#define PEERS_MAX         64
#define PEER_WHY_SIZE     320
#define PEER_VERSION_SIZE 32

/* What a node can do beyond the protocol's version, X(constant, text). A text that is not here is ignored. */
#define PEER_CAPABILITIES(X) X(KVM, "kvm") /* its guests run on hardware virtualization */

enum peer_capability {
#define X(c, t) PEER_CAN_##c,
	PEER_CAPABILITIES(X)
#undef X
		PEER_CAPABILITY_MAX
};
const char *peer_capability_name(enum peer_capability capability);

struct peer_status { /* what a node has, and what of it is in use */
	unsigned cpus;
	int64_t memory; /* bytes, of the host */
	unsigned guests;
	int64_t guest_memory; /* bytes, of those guests together */
};

struct peer_hello {                        /* how a node introduces itself */
	unsigned version_min, version_max; /* of the protocol */
	unsigned version;                  /* the one that was agreed upon */
	char agent[PEER_VERSION_SIZE];     /* vmagent's version */
	char node[NAME_MAX_LEN + 1];
	char boot_id[UID_SIZE];
	msec wall;             /* its wall clock */
	unsigned capabilities; /* bit 1 << enum peer_capability */
	struct peer_status status;
};

struct peer_config {   /* one entry of the configuration */
	char *name;    /* owned; a DNS-1123 subdomain, which its certificate must carry */
	char *address; /* owned; as configured: HOST or HOST:PORT */
};

enum peer_event_kind {
	PEER_UP,       /* hello, expires */
	PEER_DOWN,     /* why */
	PEER_CLOCK,    /* ahead, round_trip */
	PEER_STATUS,   /* status */
	PEER_STRANGER, /* why: where from, and what is wrong with it; name is NULL */
	PEER_SELF /* of this node's own certificate: expires, or why it cannot be used; name is NULL */
};

struct peer_event { /* all borrowed for the call */
	enum peer_event_kind kind;
	const char *name;
	const char *why; /* SELF: or NULL */
	const struct peer_hello *hello;
	const struct peer_status *status;
	msec expires; /* wall time at which its certificate does */
	msec ahead;   /* by how much its wall clock is ahead of ours; below zero: behind */
	msec round_trip;
};

/* Called on the loop's thread only, never from within a call of the port. */
struct peer_sink {
	void *ctx;
	void (*event)(void *ctx, const struct peer_event *event);
};

struct peer_port {
	const struct peer_port_ops *ops;
	struct peer_sink sink;
};

struct peer_port_ops {
	/* From now on every peer is told this, and each time it is another; takes a copy. */
	void (*publish)(struct peer_port *port, const struct peer_status *status);
};

static inline void peer_publish(struct peer_port *port, const struct peer_status *status)
{
	port->ops->publish(port, status);
}

#endif
