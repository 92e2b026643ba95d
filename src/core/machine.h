/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine: one namespace/name with its VM, its VMI and what is known of its domain. It exists as
 * long as one of VM and VMI does. The agent owns it; the deciders see it as const.
 */
#ifndef VMAGENT_CORE_MACHINE_H
#define VMAGENT_CORE_MACHINE_H

#include <vmagent/hypervisor.h>

struct running_op { /* one lane of a machine */
	uint64_t id;
	enum op_kind kind; /* NONE: the lane is free */
	msec deadline;     /* boot time after which it is reported as hung */
	bool overdue;      /* it was */
};

/* Its place among the starts under way, of which there are only so many at a time. */
enum slot { SLOT_NONE, SLOT_WAITING, SLOT_HELD };

/* Its share of the host's memory and CPUs. */
enum room_state { ROOM_NONE, ROOM_WAITING, ROOM_HELD };

struct start_order {      /* by its annotations (start_order.h) */
	unsigned order;   /* lower ones start first and stop last */
	unsigned delay_s; /* after it runs, before higher orders start */
};

struct machine {
	char *ns, *name; /* owned */
	struct vm *vm;   /* owned or NULL */
	struct vmi *vmi; /* owned or NULL */
	struct domain dom;
	struct migration *migration; /* borrowed: the latest one of it here, or NULL */
	uint64_t list_facts;         /* dom.facts when the list in flight left */
	struct running_op ops[LANE_MAX];
	struct vm *gone_vm;   /* owned or NULL: forgotten, its row goes with the next commit */
	struct vmi *gone_vmi; /* owned or NULL: likewise */
	uint64_t vm_hash; /* of the VM's document as last saved: an equal one is not saved again */
	bool vm_changed;  /* to be saved by this turn's commit */
	bool vmi_changed;
	bool purged;              /* what its VM kept is gone, or cannot be removed */
	unsigned purges;          /* … failed tries of that */
	msec purge_at;            /* … boot time before which there is no other */
	int64_t named_generation; /* of the VM, whose names are in the agent's index; 0: none … */
	size_t names;             /* … and how many they are */
	bool has_volumes; /* it is in the agent's list of those whose VM names DataVolumes */
	bool contested;   /* it is in the agent's list of those whose name may be a peer's */
	bool unprepared;  /* it is in the agent's list of those who may wait for something */
	/* The agent's to tell; no run is created until they are ready. */
	enum volumes_state volumes;
	bool holds_disks; /* its run's files are in the agent's index */
	bool holds_share; /* … and what it has of the host to itself */
	enum room_state room;
	struct resources asks;  /* … what it holds, or waits for */
	int64_t priority;       /* … of its class, while it waits */
	msec waits_since;       /* wall time */
	size_t holder_at;       /* its place among those that hold some */
	bool has_terms;         /* … and it says who may be on its host with it */
	bool counted;           /* … and it is among the guests that peers are told of, … */
	int64_t counted_memory; /* … with so many bytes */
	bool dirty;             /* waits in the agent's queue */
	unsigned passes;        /* turns in a row that changed it although nothing new came in */
	msec wake_at;           /* boot time; NEVER: none */
	size_t wake_slot;       /* its place in the heap of wake-ups, plus one; 0: not in it */
	enum slot slot;         /* the agent's to give */
	bool in_round; /* higher orders wait for it, and it for lower ones: the host was booted */
	bool in_shutdown; /* it runs, or may, while the host goes down */
	msec stop_by;     /* boot time by which the host wants it to have ended; 0: it may run on */
	unsigned n_lists; /* by order in which it is: slots, boot round, shutdown */
	struct start_order start; /* by which they are sorted */
	char uuids[2][UID_SIZE];  /* of its run and of its VM, as they stand in the index */
};

/* Only its migration does anything to it: it is on its way, or not ours to run. */
bool machine_is_held(const struct machine *m);

struct machine *machine_new(const char *ns, const char *name);
void machine_free(struct machine *m);

void vm_free(struct vm *vm);
void vmi_free(struct vmi *vmi);
void object_meta_done(struct object_meta *meta);

/* Compares by namespace, then name. */
int machine_compare(const struct machine *m, const char *ns, const char *name);

/* <namespace>_<name> back into its parts; neither can contain '_'. False if it is
 * not ours in form. */
bool domain_name_split(const char *domain, char ret_ns[LABEL_MAX_LEN + 1],
	char ret_name[NAME_MAX_LEN + 1]);

/* Whether the domain that was seen is this run's own; a foreign one counts as absent. */
bool machine_owns_domain(const struct machine *m);

/* The domain's state as this run's: NONE when there is none or it is foreign, UNKNOWN until
 * settled. */
enum domain_state machine_domain_state(const struct machine *m);

/* A run that belongs to nobody and is not to go, so that a VM of its name adopts it;
 * vmi may be NULL. */
bool vmi_is_orphan(const struct vmi *vmi);

/* A run that is to end takes no more orders: it was deleted, goes down with the host,
 * or is not well. */
bool vmi_is_stopping(const struct vmi *vmi);

/* … and nobody but the host asked for it. */
bool vmi_ends_with_host(const struct vmi *vmi);

/* A run that was created just now was never started, so that nothing needs to be read about it; it
 * begins as its startStrategy says. Not for a run that was found. */
void vmi_begin(struct machine *m);

/* The one setter of a phase: asserts the table of allowed transitions, stamps the time. */
void vmi_set_phase(struct vmi *vmi, enum phase phase, struct now now);

/* The one setter of what is in a run's way. NULL: nothing is any more. */
void vmi_set_error(struct vmi *vmi, enum obstacle obstacle, const char *words);

/* The one setter of a strategy: also forgets that Once had its run when it is left, what
 * RerunOnFailure queued when the new one starts nothing by itself, and what a boot was to restore
 * when it is Halted. */
void vm_set_strategy(struct vm *vm, enum run_strategy strategy);

#endif
