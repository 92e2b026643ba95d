/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port to other agents: what is known of each configured peer comes back as events, and what
 * this node tells of itself is published to all of them; about a migration two agents send each
 * other messages. One vtable, beside the hypervisor's, because between agents lies a network that a
 * test must be able to cut; the real one is mutual TLS over TCP.
 *
 * A peer is known by the name that its certificate carries. Nothing here is durable: after a
 * restart every peer is unreachable until it has answered.
 */
#ifndef VMAGENT_PEER_H
#define VMAGENT_PEER_H

#include <vmagent/base.h>

#define PEERS_MAX         64
#define PEER_WHY_SIZE     320
#define PEER_VERSION_SIZE 32

/* Of a certificate: whose, that it expires or has done so, and when. */
#define PEER_EXPIRY_WORDS "the certificate of %.150s %s at %s: make another with 'vmactl peer cert'"

/* What a node can do beyond the protocol's version, X(constant, text). A text that is
 * not here is ignored. */
#define PEER_CAPABILITIES(X)                                                        \
	X(KVM, "kvm")               /* its guests run on hardware virtualization */ \
	X(CHECK, "migration-check") /* it answers CHECK */

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
	char database[UID_SIZE];  /* names its database; "": not told */
	char host_uuid[UID_SIZE]; /* … its host, as libvirt does; "": not told */
	msec wall;                /* its wall clock */
	unsigned capabilities;    /* bit 1 << enum peer_capability */
	struct peer_status status;
};

/*
 * What two agents say to each other about one migration. X(constant, name, number on the wire,
 * largest payload). Every one can be repeated: what it asks for is done once. The source says those
 * below 32, the target those below 48; the last two are about no migration.
 */
/* clang-format off */
#define HANDOVERS(X)                                                                                          \
	X(PREPARE,    "PREPARE",    16, HANDOVER_DOCUMENT_MAX) /* make ready for this guest */                \
	X(OUT,        "OUT",        17, 1024)                  /* it is not decided yet: wait */              \
	X(COMMIT,     "COMMIT",     18, HANDOVER_DOCUMENT_MAX) /* it is yours */                              \
	X(ABORT,      "ABORT",      19, 1024)                  /* it is ours: remove what you made ready */   \
	X(UNKNOWN_DB, "UNKNOWN-DB", 20, 1024)                  /* the database that would know is lost */     \
	X(ACK,        "ACK",        21, 1024)                  /* FINALIZED is stored: forget it */           \
	X(CHECK,      "CHECK",      22, HANDOVER_DOCUMENT_MAX) /* could this guest come? Nothing is made */   \
	X(RECLAIMED,  "RECLAIMED",  23, 1024)                  /* you were declared dead: it is ours again */ \
	X(RECOVER,    "RECOVER",    24, HANDOVER_DOCUMENT_MAX) /* it is yours; make a new way for the rest */ \
	X(PREPARED,   "PREPARED",   32, HANDOVER_OFFER_MAX)    /* begin; this is the way */                   \
	X(BUSY,       "BUSY",       33, 1024)                  /* ask again later */                          \
	X(DECLINED,   "DECLINED",   34, HANDOVER_FINDINGS_MAX) /* never */                                    \
	X(QUERY,      "QUERY",      35, 1024)                  /* what has become of it? */                   \
	X(COMPLETE,   "COMPLETE",   36, 1024)                  /* all of it is here, and stands still */      \
	X(NOIMAGE,    "NOIMAGE",    37, 1024)                  /* it was, and is not any more */              \
	X(ABORTED,    "ABORTED",    38, 1024)                  /* nothing of it is here any more */           \
	X(FINALIZED,  "FINALIZED",  39, 1024)                  /* it has ended; this is how */                \
	X(CHECKED,    "CHECKED",    40, HANDOVER_FINDINGS_MAX) /* what stands in its way */                   \
	X(OWNED,      "OWNED",      41, 1024)                  /* it runs here; the rest is to come */        \
	X(WHOSE,      "WHOSE",      48, 1024)                  /* what have you, of these names or of all? */ \
	X(MINE,       "MINE",       49, HANDOVER_DOCUMENT_MAX) /* these machines */
/* clang-format on */

/* The most that a domain as its target has it can come to, as text within text. */
#define HANDOVER_OFFER_MAX (1 << 20)

/* The most that the names of WHOSE can come to, as text within text: one has always room. */
#define HANDOVER_NAMES_MAX 700

/* The most that what stands in a guest's way can come to, as text within text. */
#define HANDOVER_FINDINGS_MAX (1 << 17)

/* The most that a VM and its run can come to as text, within text. */
#define HANDOVER_DOCUMENT_MAX (4 << 20)

enum handover_kind {
#define X(c, name, number, max) HANDOVER_##c,
	HANDOVERS(X)
#undef X
		HANDOVER_MAX
};
const char *handover_name(enum handover_kind kind);

struct handover {
	enum handover_kind kind;
	char migration[UID_SIZE]; /* its UID; WHOSE of names, and its MINE: the question's */
	char database[UID_SIZE];  /* the source's, in which it began */
	int64_t epoch;            /* of the ownership that it is about */
	unsigned succeeded;       /* FINALIZED: 1: the guest goes on at the target */
	char why[PEER_WHY_SIZE];  /* printable ASCII, or "" */
	int64_t ended;            /* ABORT, FINALIZED: wall time of the end, in ms; 0: not said */
	int64_t room;             /* CHECKED: bytes of memory that are free for guests */
	int64_t cancelled;        /* of the source: 1: somebody wanted it aborted */
	/* Borrowed JSON, or NULL. PREPARE, COMMIT, RECOVER, CHECK: what travels; MINE, WHOSE:
	 * names; PREPARED: an offer (core/migration_offer.h); DECLINED, CHECKED: findings
	 * (core/migration_check.h); OUT: how far it is, ABORT: how far it was
	 * (core/migration_told.h). */
	const char *document;
};

struct peer_config {   /* one entry of the configuration */
	char *name;    /* owned; a DNS-1123 subdomain, which its certificate must carry */
	char *address; /* owned; as configured: HOST or HOST:PORT */
};

enum peer_event_kind {
	PEER_UP,       /* hello, expires */
	PEER_DOWN,     /* why */
	PEER_ONE_WAY,  /* why: it reaches us, and we do not reach it; NULL: we do by now */
	PEER_CLOCK,    /* ahead, round_trip */
	PEER_STATUS,   /* status */
	PEER_HANDOVER, /* handover */
	PEER_STRANGER, /* why: where from, and what is wrong with it; name is NULL */
	PEER_SELF /* of this node's own certificate: expires, or why it cannot be used; name is NULL */
};

struct peer_event { /* all borrowed for the call */
	enum peer_event_kind kind;
	const char *name;
	const char *why; /* SELF: or NULL */
	const struct peer_hello *hello;
	const struct peer_status *status;
	const struct handover *handover;
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
	/* Says it to the peer of that name, if that can be done now; takes a copy. It may be lost,
	 * and come late, or twice: only the peer's own word shows that it has arrived. */
	void (*send)(struct peer_port *port, const char *peer, const struct handover *handover);
};

static inline void peer_publish(struct peer_port *port, const struct peer_status *status)
{
	port->ops->publish(port, status);
}

static inline void peer_send(struct peer_port *port, const char *peer,
	const struct handover *handover)
{
	port->ops->send(port, peer, handover);
}

#endif
