/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in the way of a run that is to be prepared, and what a run has of the host until it
 * ends: one file a resource, asked in the order of obstacles.c.
 */
#ifndef VMAGENT_DAEMON_OBSTACLES_H
#define VMAGENT_DAEMON_OBSTACLES_H

#include "core/media.h"
#include "daemon/agent_private.h"

/* disks.c: takes or gives up the files of m's run, as it needs them now. */
void disks_update(struct agent *agent, struct machine *m);
/* The run that writes to that file, or may; or NULL. */
const struct machine *disks_writer(const struct disks *disks, const char *file);
enum obstacle disks_obstacle(const struct agent *agent, const struct machine *m, char **ret_words);
void disks_done(struct disks *disks);

/* macs.c: takes or gives up the MAC addresses of m's run, with its disks. */
void macs_hold(struct agent *agent, const struct machine *m, bool holds);
enum obstacle macs_obstacle(const struct agent *agent, const struct machine *m, char **ret_words);
void macs_done(struct macs *macs);

/* host_ports.c: the same of ports of the host. */
void host_ports_hold(struct agent *agent, const struct machine *m, bool holds);
enum obstacle host_ports_obstacle(const struct agent *agent, const struct machine *m,
	char **ret_words);
void host_ports_fill_prepare(const struct machine *m, struct op *op);
void host_ports_done(struct host_port_claims *claims);

/* shares.c: dedicated CPUs, devices of the host, CIDs. */
#define VSOCK_DEVICE "/dev/vhost-vsock"
void shares_update(struct agent *agent, struct machine *m); /* puts them into the index, or out */
enum obstacle shares_obstacle(const struct agent *agent, const struct machine *m, char **ret_words);
/* Gives m's run what it needs, if it has not got it: it is about to be prepared. */
void shares_take(struct agent *agent, struct machine *m);
/* What the host must have for that. */
void shares_fill_prepare(const struct machine *m, struct op *op);
/* The CPUs of guests that share, as domain_context.shared_cpus; owned by the caller. */
char *shares_left(const struct agent *agent);
/* Thousandths of a CPU that are none of those. */
int64_t shares_dedicated(const struct agent *agent);
void shares_done(struct shares *shares);

/* networks.c: a network that m's run names is not there, or cannot be used. */
enum obstacle networks_obstacle(const struct agent *agent, const struct machine *m,
	char **ret_words);
/* Of each of its interfaces; owned by the caller, for networks_free(). */
struct attachment *networks_attach(const struct agent *agent, const struct machine *m);
void networks_free(struct attachment *list, size_t n);
/* Which of libvirt's networks are to be there, and what the host must have. */
void networks_fill_start(const struct agent *agent, struct op *op, const struct attachment *list,
	size_t n);
void networks_fill_prepare(const struct agent *agent, const struct machine *m, struct op *op);

/* claims.c: fills in where the files of m's claims lie, and how big they are to be. */
void claims_bind(const struct agent *agent, struct machine *m);
enum obstacle claims_obstacle(const struct agent *agent, const struct machine *m, char **ret_words);
/* The file of that claim, owned. */
char *claims_file(const struct agent *agent, const struct record *claim);
/* Why it stays unbound: its class is not known; owned, or NULL. */
char *claims_class_words(const struct agent *agent, const struct record *claim);
void claims_created(struct agent *agent, const struct record *claim);
/* Its file is there, as it is asked for now. */
void claims_bound(struct agent *agent, struct record *claim);
/* m's run was prepared: the files of its claims are there. */
void claims_made(struct agent *agent, const struct machine *m);
/* r is to go when no run uses it; its file with it, unless only its manifest went. */
void claims_delete(struct agent *agent, struct record *r, bool by_file, struct now now);
void claims_load(struct agent *agent);
void claims_turn(struct agent *agent, struct now now); /* those that are to go, and can */
void claims_dropped(struct agent *agent, const struct op_result *result, struct now now);

/* data_volumes.c: the one by which that claim was made, or NULL. */
struct record *data_volume_of(const struct agent *agent, const struct record *claim);
char *data_volume_words(const struct record *dv); /* why it is not ready; owned */
/* Whether that file of a claim is being copied. */
bool data_volumes_copy(const struct agent *agent, const char *file);
/* m has changed: whether its VM names any, which the turn goes by. */
void data_volumes_follow(struct agent *agent, struct machine *m);
void data_volumes_done(struct fills *fills);
void data_volumes_turn(struct agent *agent, struct now now); /* makes and fills claims */
void data_volumes_filled(struct agent *agent, const struct op_result *result, struct now now);
/* Its claim goes with it. */
void data_volumes_delete(struct agent *agent, struct record *dv, bool by_file, struct now now);
/* m's VM is being deleted: so are those of its templates, or they are nobody's from now on. */
void data_volumes_leave(struct agent *agent, const struct machine *m, bool orphan, bool by_file,
	struct now now);

/* media.c: what its media are made of is there, and goes into its op. */
enum obstacle media_obstacle(const struct agent *agent, const struct machine *m, char **ret_words);
void media_fill(const struct agent *agent, const struct machine *m, struct op *op);
/* By which it is known again what they are made of; owned by the caller, NULL: it has none. */
char *media_digest(const struct agent *agent, const struct machine *m);

/* … as the makers of media in core look for it; finder is to last as long. */
struct media_finder {
	const struct agent *agent; /* borrowed */
	const char *ns;            /* borrowed */
};
struct media_world media_world_of(const struct agent *agent, const struct machine *m,
	struct media_finder *finder);

/* credentials.c: what the guest's agent is to be told is there, which it is (0: nothing), and
 * goes into its op. */
enum obstacle credentials_obstacle(const struct agent *agent, const struct machine *m,
	char **ret_words);
int64_t credentials_wanted(const struct agent *agent, const struct machine *m);
void credentials_fill(const struct agent *agent, const struct machine *m, struct op *op);
/* Whether it is to look again when Secrets change: it runs. */
bool credentials_may_change(const struct machine *m);

/* capacity.c: takes or gives up room for m's run, after disks_update(). */
void capacity_update(struct agent *agent, struct machine *m);
enum obstacle capacity_obstacle(const struct agent *agent, const struct machine *m,
	char **ret_words);
/* Priority classes may have changed. */
void capacity_reorder(struct agent *agent);
/* Room may have come: those that fit look again. */
void capacity_call(struct agent *agent);
/* Bytes of memory that guests may still have. */
int64_t capacity_free(const struct agent *agent);
void capacity_done(struct capacity *capacity);

/* priority.c */
int64_t priority_of(const struct agent *agent, const struct vmi_spec *spec);

/* contested.c: notes whether m's name may be a peer's, which is over when it has run here. */
void contested_update(struct agent *agent, struct machine *m);
enum obstacle contested_obstacle(const struct agent *agent, const struct machine *m,
	char **ret_words);

/* placing.c */
enum obstacle kvm_obstacle(const struct agent *agent, const struct machine *m, char **ret_words);
enum obstacle placing_obstacle(const struct agent *agent, const struct machine *m,
	char **ret_words);

/* obstacles.c: notes what m's run holds now; asked whenever m has changed. */
void obstacles_update(struct agent *agent, struct machine *m);
/* What keeps m's run from being prepared now; its words are owned by the caller. */
enum obstacle obstacles_find(const struct agent *agent, const struct machine *m, char **ret_words);
/* What runs may wait for has changed: an object, or what another run had. Those
 * that wait look again. */
void obstacles_turn(struct agent *agent);
void obstacles_done(struct agent *agent);

#endif
