/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent knows and what it keeps until the commit: struct agent, and the parts of it. Each
 * part is written by the file that is named with it, and all of it by the loop's thread alone.
 * Lists are owned by what holds them.
 */
#ifndef VMAGENT_DAEMON_AGENT_STATE_H
#define VMAGENT_DAEMON_AGENT_STATE_H

#include "core/attach.h"
#include "core/codec.h"
#include "core/migration.h"
#include "core/steps.h"
#include "daemon/agent.h"
#include "daemon/machines.h"
#include "daemon/peers.h"
#include "daemon/records.h"
#include "daemon/slots.h"

struct inflight { /* an op that left, by rising id */
	uint64_t id;
	enum op_kind kind;
	char *ns, *name; /* owned; NULL for LIST, DESCRIBE, DROP and COMPARE */
	char vmi_uid[UID_SIZE];
	uint64_t facts; /* the machine's fact counter when it left */
};

struct note { /* a happening that leaves with the commit: an event and a log line */
	struct object_meta object; /* owned copies of ns, name, uid */
	struct happening what;
	char *file;   /* owned; what.actor.file */
	char *output; /* owned; what.output */
};

struct pending_reply { /* an answer that leaves with the commit */
	struct reply reply;
	struct err err;
	char *note;                /* owned or NULL */
	char *object;              /* owned or NULL: instead of what is stored */
	struct findings *findings; /* owned or NULL */
	enum object_kind kind;
	char *ns, *name; /* owned */
};

struct asked_adoption { /* its domain is being looked at */
	uint64_t op;
	msec until; /* boot time after which nothing is done any more */
	struct reply reply;
	struct actor actor;
	char *ns, *name; /* owned; of the VM, "" for the domain's name */
	char *digest;    /* owned or NULL: of what was shown */
	bool dry_run;
};

struct errand_under_way {
	uint64_t op;
	msec until;           /* boot time after which its client is told that nothing came */
	struct errand errand; /* its strings are owned */
};

struct origin {         /* a provenance row */
	char *file;     /* owned */
	char *file_was; /* owned or NULL: what the stored row still says */
	enum object_kind kind;
	char *ns, *name; /* owned */
	char uid[UID_SIZE];
	char *base; /* owned: the document as last applied */
	int64_t epoch;
	enum provenance state;
	bool gone;    /* its file no longer has it */
	bool removed; /* the row goes with the next commit */
	bool changed; /* … is to be saved with it */
};

struct origins {
	struct origin **list; /* owned */
	size_t n, cap;
	bool held; /* most of them went at once: nothing is deleted until all are back */
	bool changed;
};

struct disks {                   /* files of the host that runs hold, by path */
	struct disk_claim *list; /* owned */
	size_t n, cap;
};

struct namesakes { /* what templates of VMs name that one guest at a time may have, sorted */
	struct namesake *list; /* owned */
	size_t n, cap;
};

struct capacity { /* capacity.c */
	struct resources taken;
	struct machine_list holders; /* in no order */
	size_t with_terms;           /* … of which so many say who may be with them */
	bool company;                /* one waits until others run here */
	struct machine_list waiting; /* for room, in the order in which they are let in */
};

struct claims {               /* claims.c */
	unsigned terminating; /* so many are to go */
	msec wake_at;         /* boot time at which the removal of one is tried again */
};

struct fills {                   /* data_volumes.c */
	struct machine_list vms; /* whose VM names DataVolumes, by name */
	bool dirty;              /* one may have something to do */
	msec wake_at;            /* boot time at which one is tried again */
};

struct macs {                   /* MAC addresses of runs, sorted */
	struct mac_claim *list; /* owned */
	size_t n, cap;
};

struct host_port_claims {             /* host_ports.c: in no order */
	struct host_port_claim *list; /* owned */
	size_t n, cap;
};

struct shares {                   /* what of the host runs have to themselves, sorted */
	struct share_claim *list; /* owned */
	size_t n, cap;
};

struct hostdown { /* the host goes down: hostdown.c */
	bool active;
	bool changed;                /* … is to be saved */
	msec begun, deadline;        /* boot time */
	struct machine_list members; /* what runs still, or may */
	unsigned group;              /* the lowest order that was told to stop … */
	msec group_deadline;         /* … and until when; 0: none was yet */
	struct actor actor;          /* who asked for it; no file */
};

struct target { /* a user's object in the model; all borrowed */
	enum object_kind kind;
	struct machine *m;        /* … of VM and VMI */
	struct migration *g;      /* … of a migration */
	struct record *record;    /* … of all others */
	struct object_meta *meta; /* NULL: there is no such object */
};

struct letter {           /* a handover that leaves with the commit */
	const char *peer; /* borrowed from the configuration */
	struct handover handover;
	char *document; /* owned or NULL: the handover's */
};

struct report {      /* what libvirt says of this host, asked for at each connect: arrivals.c */
	char *text;  /* owned or NULL: core/host_report.h */
	bool asked;  /* since the connection came up */
	uint64_t op; /* 0: none under way */
};

#define LOOKS_MAX 2 /* at a time: what hangs takes no more of libuv's pool */

struct look {             /* for files that a guest of that peer would need: inquiries.c */
	uint64_t op;      /* 0: none under way */
	const char *peer; /* borrowed from the configuration */
};

struct past {                   /* where a machine went, or that it came here */
	char *ns, *name, *peer; /* owned */
	char owner[UID_SIZE];
	int64_t epoch, number; /* of the latest that is forgotten */
	bool away;
	/* One that a declared death has settled stands for itself: its other host has still to
	 * hear of it. */
	char migration[UID_SIZE]; /* its UID; "": any of that guest's */
	bool taken, reclaimed, succeeded;
};

struct migrations {
	struct migration **list; /* owned */
	size_t n, cap;
	struct past *past; /* owned */
	size_t n_past, cap_past;
	bool past_changed; /* is to be saved by this turn's commit */
	bool changed;      /* some are to be saved by this turn's commit */
	bool dirty;        /* something was done: there may be more */
	msec wake_at;
};

struct agent {
	const struct agent_options *options;
	struct store *store;
	struct hypervisor *hv;
	struct machines machines;
	struct records records;
	struct origins origins;
	struct slots slots;
	struct hostdown hostdown;
	bool round_changed;             /* whether there is a boot round is to be saved */
	struct machine_list contested;  /* contested.c: whose name may be a peer's, by name */
	struct machine_list unprepared; /* obstacles.c: who may wait for something, by name */
	struct disks disks;
	struct capacity capacity;
	struct macs macs;
	struct host_port_claims host_ports;
	struct namesakes namesakes;
	struct claims claims;
	struct fills fills;
	struct shares shares;
	bool freed; /* a run gave back what others may wait for */
	struct peers peers;
	struct migrations migrations;
	void (*commit_hook)(void *ctx, int64_t rv);
	void *commit_ctx;

	bool connected;
	unsigned lists;   /* answered since the connection came up */
	msec list_at;     /* boot time of the next one */
	uint64_t list_id; /* of the one in flight; 0: none */
	msec list_deadline;
	bool list_overdue;    /* … and reported */
	bool list_wanted;     /* something happened to a domain that is not ours */
	msec list_sent;       /* boot time at which the last one left */
	char *connection_why; /* owned or NULL: why it is down */

	struct domain_info *foreign; /* owned: the domains that are not ours, by the last list */
	size_t n_foreign, cap_foreign;
	msec foreign_seen;        /* wall time of that list */
	char (*strays)[UID_SIZE]; /* owned: runs whose domain is nobody's, as reported */
	size_t n_strays, cap_strays;

	uint64_t next_op;
	struct inflight *inflight; /* owned, sorted by id */
	size_t n_inflight, cap_inflight;
	struct op *outbox; /* owned: leave after the commit */
	size_t n_outbox, cap_outbox;
	struct note *notes; /* owned */
	size_t n_notes, cap_notes;
	struct pending_reply *replies; /* owned */
	size_t n_replies, cap_replies;
	struct asked_adoption *adoptions; /* owned */
	size_t n_adoptions, cap_adoptions;
	struct errand_under_way *errands; /* owned */
	size_t n_errands, cap_errands;
	int64_t event_seq;

	bool uncommitted; /* a commit failed: nothing is decided until it succeeds */
	unsigned commit_failures;
	msec commit_retry_at;
	struct err commit_err;
	bool rebuilding;      /* the database was lost: runs start only when libvirt was asked */
	bool rebuild_changed; /* … is to be saved */
	bool rebuild_listed;  /* libvirt was; the peers are to be asked still */
	msec rebuild_ask_at;
	bool folder_seen;  /* a complete look at the manifests came in */
	char *folder_hold; /* owned or NULL: why removals are held */
	bool has_boot_id;  /* stored */
	char database_id[UID_SIZE];
	bool has_database_id;   /* stored */
	struct letter *letters; /* owned */
	size_t n_letters, cap_letters;
	struct report report;
	struct inquiry *inquiries; /* owned: inquiries.c */
	size_t n_inquiries, cap_inquiries;
	struct look looks[LOOKS_MAX];
	struct asked_check **checks; /* owned: checks.c */
	size_t n_checks, cap_checks;
	/* Borrowed: what comes with the guest that is looked at just now, or NULL. */
	const struct records *beside;
};

#endif
