/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent: input → fold → decide → commit → act. It owns the model and is the only one that
 * changes it. Loop thread only; it reads no clock and touches no library but through the store and
 * the hypervisor port, so that the simulation runs the very same code in virtual time.
 */
#ifndef VMAGENT_DAEMON_AGENT_H
#define VMAGENT_DAEMON_AGENT_H

#include <vmagent/log.h>

#include "core/claim.h"
#include "core/holding.h"
#include "core/input.h"
#include "core/netconfig.h"
#include "core/tuning.h"
#include "io/store.h"

struct agent;

struct agent_options { /* borrowed for the agent's life */
	struct store *store;
	struct hypervisor *hv;
	struct policy policy;
	const char *state_dir;         /* runs' folders are <state_dir>/vmi/<uid> */
	const struct storage *storage; /* NULL: claims lie in <state_dir>/pvc */
	const char *node_name;         /* this host's name: status.nodeName */
	const char *boot_id; /* the kernel's; another one than stored means: every deadline is over */
	bool kvm;            /* domains of type kvm, else qemu */
	bool kvm_is_missing; /* it is required and does not work: nothing starts */
	struct host_place place;
	bool pvpanic; /* libvirt knows the PCI panic device */
	/* NULL: the pod network is QEMU's own, and no others. */
	const struct network_config *networks;
	const struct host_shares *shares; /* NULL: no CPUs and devices for guests alone */
	struct tuning tuning;
	const struct peer_config *peer_list; /* without this node itself */
	size_t n_peers;
	struct peer_port *peers;     /* NULL: nobody is told anything */
	const char *peer_listen;     /* where this node listens for them */
	struct peer_status capacity; /* of this host; no guests */
	struct resources host;       /* what there is for all guests together; 0: without a bound */
	bool migrations;             /* guests may be moved */
	/* The relay of that migration, if there is one, is to end. NULL: there never is one. */
	void (*relay_end)(void *ctx, const char *migration);
	void *relay_ctx;
	bool disable_tls; /* … and their streams are not encrypted; only if the other host wants that, too */
	const char *host_uuid; /* as libvirt has it, or NULL */
	bool rebuilt;          /* the database was lost just now and is empty */
	void (*entropy)(void *ctx, void *bytes, size_t n); /* UUIDs and jitter */
	void *entropy_ctx;
};

/* Loads everything from the store. Errors: ERR_IO. */
int agent_new(const struct agent_options *options, struct now now, struct agent **ret_agent,
	struct err *err);
void agent_free(struct agent *agent);

/* Lets something in: an edge becomes a fact on the object that it concerns. */
void agent_input(struct agent *agent, const struct input *input, struct now now);

/* One turn: decides for each dirty machine, commits, acts, answers. Returns whether something is
 * still dirty, i.e. the loop must not block. */
bool agent_turn(struct agent *agent, struct now now);

/* Boot time at which a turn is needed even if nothing comes in; NEVER: none. */
msec agent_wake_at(const struct agent *agent);

/* Called after each commit with the newest resourceVersion: watches look at the change log then. */
void agent_on_commit(struct agent *agent, void (*hook)(void *ctx, int64_t rv), void *ctx);

/* reach.c. The sockets of a running VMI: their paths, valid until the next turn.
 * ERR_NOT_FOUND, or ERR_BAD_REQUEST/ERR_CONFLICT by §5.4 "console", "vnc", in KubeVirt's
 * words, with what we know behind them. */
int reach_console(const struct agent *agent, const char *ns, const char *name,
	const char **ret_path, struct err *err);
int reach_display(const struct agent *agent, const char *ns, const char *name,
	const char **ret_path, struct err *err);

/* errands.c. Forgets every errand: nobody is called any more. For a client that
 * goes before the agent. */
void agent_drop_errands(struct agent *agent);

/* The domains of the connection that are not runs of the agent's, as last seen: a DomainList as
 * JSON, or the one of that name, NULL if there is none. Owned by the caller. */
char *agent_domains(struct agent *agent, const char *name);

/* This node and its peers, as a PeerList in JSON, or the one of that name; NULL if there is none.
 * Without peers the list is empty. Owned by the caller. */
char *agent_peers(struct agent *agent, const char *name);

/* metrics.c. The agent's figures as a page in Prometheus' text format; owned by the caller. */
char *agent_metrics(const struct agent *agent, struct now now);

/* types.c. Works the instancetype and the preference of a VM of that namespace into it, in place.
 * ERR_NOT_FOUND, ERR_INVALID: they do not go with it. */
int agent_expand(const struct agent *agent, const char *ns, struct node *vm, struct err *err);

/* migration_limits.c. What migrations may take here; NULL: there are none, they are not enabled. */
const struct migration_config *agent_migrations(const struct agent *agent);

/* Whether a migration of that UID is known that needs its relay. */
bool agent_needs_relay(const struct agent *agent, const char *migration);

/* What this agent's database is called, in each of its lives; a lost one's
 * successor has another name. */
const char *agent_database_id(const struct agent *agent);

/* Says that there is no such object, and where it is if it has moved: -ERR_NOT_FOUND. */
int agent_not_found(const struct agent *agent, enum object_kind kind, const char *ns,
	const char *name, struct err *err);

/* How the host's going down stands, as the API's document; owned by the caller. */
char *agent_host_shutdown(const struct agent *agent, struct now now);

/* Health, for /healthz and the watchdog: false with words while the store or libvirt fails. */
bool agent_is_healthy(const struct agent *agent, struct err *ret_why);

#endif
