/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model: a machine is one namespace/name with its VM, its VMI (one run) and what is known of
 * its libvirt domain. The loop's thread owns all of it. Vocabulary and values are KubeVirt's
 * (reference: kubevirt-semantics §1-§7); enums come from one list each, 0 is the harmless value.
 */
#ifndef VMAGENT_MODEL_H
#define VMAGENT_MODEL_H

#include <vmagent/kinds.h>
#include <vmagent/spec.h>

/* ---- enums ----------------------------------------------------------------------------------- */

#define PHASES(X)                             \
	X(UNSET, "")                          \
	X(PENDING, "Pending")                 \
	X(SCHEDULING, "Scheduling")           \
	X(SCHEDULED, "Scheduled")             \
	X(RUNNING, "Running")                 \
	X(SUCCEEDED, "Succeeded")             \
	X(FAILED, "Failed")                   \
	X(WAITING_FOR_SYNC, "WaitingForSync") \
	X(UNKNOWN, "Unknown")

#define RUN_STRATEGIES(X)                     \
	X(UNSET, "")                          \
	X(ALWAYS, "Always")                   \
	X(RERUN_ON_FAILURE, "RerunOnFailure") \
	X(MANUAL, "Manual")                   \
	X(HALTED, "Halted")                   \
	X(ONCE, "Once")                       \
	X(WAIT_AS_RECEIVER, "WaitAsReceiver")

/* Domain life cycle (§3). NONE is "no such domain", UNKNOWN "libvirt cannot be asked". */
#define DOMAIN_STATES(X)                 \
	X(UNKNOWN, "Unknown")            \
	X(NONE, "NonExistent")           \
	X(NOSTATE, "NoState")            \
	X(RUNNING, "Running")            \
	X(BLOCKED, "Blocked")            \
	X(PAUSED, "Paused")              \
	X(SHUTTING_DOWN, "ShuttingDown") \
	X(SHUTOFF, "Shutoff")            \
	X(CRASHED, "Crashed")            \
	X(PMSUSPENDED, "PMSuspended")

/* State change reasons (§3). DAEMON and API_ERROR are unmapped upstream; ours, see §3 [P]. */
#define DOMAIN_REASONS(X)                    \
	X(UNKNOWN, "Unknown")                \
	X(USER, "User")                      \
	X(MIGRATION, "Migration")            \
	X(SAVE, "Save")                      \
	X(DUMP, "Dump")                      \
	X(IOERROR, "IOError")                \
	X(WATCHDOG, "Watchdog")              \
	X(FROM_SNAPSHOT, "FromSnapshot")     \
	X(SHUTTING_DOWN, "ShuttingDown")     \
	X(SNAPSHOT, "Snapshot")              \
	X(CRASHED, "Crashed")                \
	X(STARTING_UP, "StartingUp")         \
	X(POSTCOPY, "Postcopy")              \
	X(POSTCOPY_FAILED, "PostcopyFailed") \
	X(SHUTDOWN, "Shutdown")              \
	X(DESTROYED, "Destroyed")            \
	X(MIGRATED, "Migrated")              \
	X(SAVED, "Saved")                    \
	X(FAILED, "Failed")                  \
	X(PANICKED, "Panicked")              \
	X(DAEMON, "Daemon")                  \
	X(API_ERROR, "APIError")

/* status.printableStatus (§6), without an order: status.c's table holds that. */
#define PRINTABLES(X)                                            \
	X(UNKNOWN, "Unknown")                                    \
	X(STOPPED, "Stopped")                                    \
	X(PROVISIONING, "Provisioning")                          \
	X(STARTING, "Starting")                                  \
	X(RUNNING, "Running")                                    \
	X(PAUSED, "Paused")                                      \
	X(STOPPING, "Stopping")                                  \
	X(TERMINATING, "Terminating")                            \
	X(CRASH_LOOP_BACK_OFF, "CrashLoopBackOff")               \
	X(MIGRATING, "Migrating")                                \
	X(ERROR_UNSCHEDULABLE, "ErrorUnschedulable")             \
	X(ERR_IMAGE_PULL, "ErrImagePull")                        \
	X(IMAGE_PULL_BACK_OFF, "ImagePullBackOff")               \
	X(ERROR_PVC_NOT_FOUND, "ErrorPvcNotFound")               \
	X(DATA_VOLUME_ERROR, "DataVolumeError")                  \
	X(WAITING_FOR_VOLUME_BINDING, "WaitingForVolumeBinding") \
	X(WAITING_FOR_RECEIVER, "WaitingForReceiver")

#define REQUEST_ACTIONS(X) X(NONE, "") X(START, "Start") X(STOP, "Stop")
#define VERBS(X)           X(START, "start") X(STOP, "stop") X(RESTART, "restart")
#define VMI_VERBS(X) \
	X(PAUSE, "pause") X(UNPAUSE, "unpause") X(SOFTREBOOT, "softreboot") X(RESET, "reset")

/* What a guest's agent can be asked about its guest (§5.4), by the subresource that it is. */
#define GUEST_LOOKS(X) X(OS, "guestosinfo") X(USERS, "userlist") X(FILESYSTEMS, "filesystemlist")

/* What becomes of a deleted VM's run: it ends with it, or goes on and belongs to nobody (§7.3). */
#define PROPAGATIONS(X) X(BACKGROUND, "Background") X(FOREGROUND, "Foreground") X(ORPHAN, "Orphan")

/* What a user wants of a run's clock. AS_IS: nobody asked, whoever else paused it may resume it. */
#define PAUSES(X) X(AS_IS, "") X(HELD, "Held") X(RELEASED, "Released")

/* What is to be done once to a run: it is forgotten in the commit after which it leaves. */
#define ACTS(X) X(NONE, "") X(REBOOT, "Reboot") X(RESET, "Reset")

/* QEMU's own output. WANTED: something ended for a reason that it may tell. READ: that is done. */
#define WORDS_STATES(X) X(NONE, "") X(WANTED, "Wanted") X(READ, "Read")

/*
 * What keeps a run from being started, or its domain from being as its spec says, and how that is
 * shown: X(constant, condition, its reason, event). Stored by number: append only.
 */
/* clang-format off */
#define OBSTACLES(X) \
	X(NONE,           NULL,           NULL,                                   NULL) \
	X(SYNC,           "Synchronized", "Synchronizing with the Domain failed.", "SyncFailed") /* an op failed */ \
	X(IN_USE,         "Synchronized", "Synchronizing with the Domain failed.", "SyncFailed") /* another run has it */ \
	X(UNSCHEDULABLE,  "PodScheduled", "Unschedulable",                        "FailedScheduling") \
	X(NO_CLAIM,       "Synchronized", "FailedPvcNotFound",                    "FailedPvcNotFound") \
	X(IMAGE,          "Synchronized", "ErrImagePull",                         "Failed") \
	X(IMAGE_BACK_OFF, "Synchronized", "ImagePullBackOff",                     "BackOff") \
	X(MISSING,        "Synchronized", "FailedCreate",                         "FailedCreate") /* an object that it names */ \
	X(NO_ROOM,        "PodScheduled", "Unschedulable",                        "FailedScheduling") /* until others end */ \
	X(DATA_VOLUME,    "DataVolumesReady", "NotAllDVsReady",                   "DataVolumesNotReady") \
	X(UNBOUND,        "PodScheduled", "Unschedulable",                        "FailedScheduling") /* a claim of no class */ \
	X(CONTESTED,      "Synchronized", "MovedAway",                            "MovedAway") /* one of its name is at a peer */
/* clang-format on */

enum obstacle {
#define X(c, condition, reason, event) OBSTACLE_##c,
	OBSTACLES(X)
#undef X
		OBSTACLE_MAX
};

enum phase {
#define X(c, t) PHASE_##c,
	PHASES(X)
#undef X
		PHASE_MAX
};
enum run_strategy {
#define X(c, t) STRATEGY_##c,
	RUN_STRATEGIES(X)
#undef X
		STRATEGY_MAX
};
enum domain_state {
#define X(c, t) DOMAIN_##c,
	DOMAIN_STATES(X)
#undef X
		DOMAIN_STATE_MAX
};
enum domain_reason {
#define X(c, t) REASON_##c,
	DOMAIN_REASONS(X)
#undef X
		DOMAIN_REASON_MAX
};
enum printable {
#define X(c, t) PRINTABLE_##c,
	PRINTABLES(X)
#undef X
		PRINTABLE_MAX
};
enum request_action {
#define X(c, t) REQUEST_##c,
	REQUEST_ACTIONS(X)
#undef X
		REQUEST_ACTION_MAX
};
enum verb {
#define X(c, t) VERB_##c,
	VERBS(X)
#undef X
		VERB_MAX
};
enum vmi_verb {
#define X(c, t) VMI_VERB_##c,
	VMI_VERBS(X)
#undef X
		VMI_VERB_MAX
};
enum guest_look {
#define X(c, t) GUEST_LOOK_##c,
	GUEST_LOOKS(X)
#undef X
		GUEST_LOOK_MAX
};
enum propagation {
#define X(c, t) PROPAGATION_##c,
	PROPAGATIONS(X)
#undef X
		PROPAGATION_MAX
};
enum pause {
#define X(c, t) PAUSE_##c,
	PAUSES(X)
#undef X
		PAUSE_MAX
};
enum act {
#define X(c, t) ACT_##c,
	ACTS(X)
#undef X
		ACT_MAX
};

enum words {
#define X(c, t) WORDS_##c,
	WORDS_STATES(X)
#undef X
		WORDS_STATE_MAX
};

ENUM_DECLARE(phase, PHASE, PHASES)
ENUM_DECLARE(run_strategy, STRATEGY, RUN_STRATEGIES)
ENUM_DECLARE(domain_state, DOMAIN, DOMAIN_STATES)
ENUM_DECLARE(domain_reason, REASON, DOMAIN_REASONS)
ENUM_DECLARE(printable, PRINTABLE, PRINTABLES)
ENUM_DECLARE(request_action, REQUEST, REQUEST_ACTIONS)
ENUM_DECLARE(verb, VERB, VERBS)
ENUM_DECLARE(vmi_verb, VMI_VERB, VMI_VERBS)
ENUM_DECLARE(guest_look, GUEST_LOOK, GUEST_LOOKS)
ENUM_DECLARE(propagation, PROPAGATION, PROPAGATIONS)
ENUM_DECLARE(pause, PAUSE, PAUSES)
ENUM_DECLARE(act, ACT, ACTS)

/* ---- objects --------------------------------------------------------------------------------- */

struct object_meta {
	char *ns;   /* owned */
	char *name; /* owned */
	char uid[UID_SIZE];
	int64_t generation;
	int64_t rv;        /* resourceVersion: the change counter at its last commit */
	msec created;      /* wall */
	msec deleted;      /* wall time of the deletion request; 0: none */
	char *labels;      /* owned JSON object text, or NULL */
	char *annotations; /* owned JSON object text, or NULL */
};

struct state_request { /* status.stateChangeRequests[] */
	enum request_action action;
	char uid[UID_SIZE]; /* Stop: the VMI that it means; "" none */
	bool paused;        /* Start with data paused=true */
};

#define REQUESTS_MAX 2 /* [Stop, Start] is the longest queue that a verb makes */

/* Since when a condition is as it is; durable. */
struct condition_time {
	char type[32];
	char state[64]; /* status and reason */
	msec since;     /* wall */
};

#define CONDITIONS_MAX 24

struct condition_times {
	struct condition_time list[CONDITIONS_MAX];
	unsigned n;
};

struct start_failure {  /* status.startFailure, §4.5 */
	unsigned count; /* consecutiveFailCount; 0: no failure */
	char last_uid[UID_SIZE];
	msec retry_at;   /* boot time */
	msec retry_wall; /* the same for display */
};

/* The guard beside it (§4.5 [P]): runs in a row that reached Running and ended soon after. */
struct crash_loop {
	unsigned count; /* 0: none */
	char last_uid[UID_SIZE];
	msec retry_at;     /* boot time; 0: the last one was not held back */
	msec retry_wall;   /* the same for display; 0: no loop yet */
	unsigned window_s; /* within which they ended */
	char *cause;       /* owned or NULL: why the last one did */
};

/* Of which the VM names one each, if it likes. */
enum vm_type { VM_INSTANCETYPE, VM_PREFERENCE, VM_TYPES };

/* What a VM has of one: the object as it was when the VM first found it (§10.4); durable. */
struct pin {
	/* Owned or NULL: as status shows it; no name: it was inferred that there is none. */
	char *kind, *name;
	char *from_volume; /* owned or NULL: which told the name */
	char *revision;    /* owned or NULL: the ControllerRevision's name */
	char *object;      /* owned or NULL: its data; NULL: nothing is pinned */
	bool given;        /* the spec names the revision itself */
	bool optional;     /* inferred, and what the template says of memory gives way */
};

/* Why a VM cannot have what it names, as the reason of condition Failure. */
#define TYPE_TROUBLES(X)                             \
	X(NONE, "")                                  \
	X(NO_INSTANCETYPE, "FailedFindInstancetype") \
	X(NO_PREFERENCE, "FailedFindPreference")     \
	X(UNFIT, "FailedCreate") /* it is there, and does not go with the VM */
enum type_trouble {
#define X(c, t) TYPE_TROUBLE_##c,
	TYPE_TROUBLES(X)
#undef X
		TYPE_TROUBLE_MAX
};
ENUM_DECLARE(type_trouble, TYPE_TROUBLE, TYPE_TROUBLES)

struct vm {
	struct object_meta meta;
	char *spec;          /* owned JSON text, as given and defaulted */
	char uuid[UID_SIZE]; /* firmware.uuid in it: the next run's domain */
	enum run_strategy strategy;
	bool uses_running;          /* the spec says `running:` instead of `runStrategy:` */
	enum run_strategy recorded; /* status.runStrategy */
	struct state_request requests[REQUESTS_MAX];
	unsigned n_requests;
	struct start_failure failure;
	struct crash_loop crash;
	struct pin pins[VM_TYPES];
	struct vm_volume *volumes; /* owned; not stored: taken from the spec */
	size_t n_volumes;
	bool unpinned; /* the spec names what is not pinned: no run is begun; not stored */
	enum type_trouble type_trouble; /* … why that lasts, and in words */
	char *type_words;               /* owned or NULL */
	int64_t epoch;                  /* of its ownership: it rises with each host; 0: 1 */
	bool restore; /* its run went down with the host, and another is to follow whatever the strategy */
	bool keeps;    /* a run of it had variables of the firmware or a TPM that outlive it */
	bool lost;     /* it is another host's by right: that is kept aside, not removed */
	bool ran_once; /* strategy Once has had its run (§14 no. 8) */
	char *adopts; /* owned or NULL: the shut-off domain whose definition the first start replaces */
	char *contested; /* owned or NULL: the peer to which another one of its name had moved, and may be there still */
	char *manifest_file;  /* owned or NULL: the file that declares it */
	char *manifest_error; /* owned or NULL: why that file's present content is not applied */
	char *restart; /* owned or NULL: the field that takes effect with the next run only; not stored */
	struct condition_times times;
};

/* What was seen of a run's end that libvirt cannot tell again later; durable (design §4). */
struct end_evidence {
	bool killed;         /* a kill of ours was committed before it left */
	bool discarded;      /* … or that of what a migration left, of which nothing can go on */
	bool guest_shutdown; /* SHUTDOWN event: the guest did it */
	bool panicked;       /* CRASHED event, detail PANICKED */
	enum domain_reason stopped; /* detail of the STOPPED event; UNKNOWN: none seen */
};

/* Resuming a guest that an I/O error paused (§8.1), and what is known of the errors; durable. */
struct io_retry {
	char *errors; /* owned or NULL: which disks failed, and why (core/ioretry.h) */
	msec last;    /* boot time of the last resume; 0: none, or it is long ago */
	msec next;    /* … before which there is no other, once that one has failed */
	msec wait;    /* the pause between them */
	bool failed;  /* the last resume did not help */
};

struct vmi {
	struct object_meta meta;
	char owner[UID_SIZE]; /* UID of the VM; "" for a bare VMI */
	int64_t epoch;        /* of its ownership: it rises with each host; 0: 1 */
	char *spec;           /* owned JSON text, defaulted */
	struct vmi_spec typed;
	enum phase phase;
	msec phase_wall[PHASE_MAX]; /* when each phase was entered; 0: never */
	char *contested;            /* owned or NULL: as its VM's, or a bare VMI's own */
	char *reason;               /* owned or NULL: status.reason, e.g. DomainVanished */
	char *sync_error; /* owned or NULL: the words of what is in its way (vmi_set_error()) */
	enum obstacle obstacle; /* … and what that is */
	struct end_evidence end;
	char *end_why; /* owned or NULL: why it ended, in words */
	msec scheduled_at; /* boot time at which Scheduled was entered: the start timeout counts from it */
	msec running_at; /* … Running; 0: never, at another boot, or nobody knows */
	msec ended_at;   /* … a final phase, which may be long after its guest was gone */
	msec retry_at;   /* boot time before which no further try of a failed PREPARE or START */
	unsigned tries;  /* failed tries of that */
	bool hopeless;   /* an error that no retry can cure: a missing image, XML that is refused */
	enum pause pause; /* durable: a user's pause outlives agent and libvirt (§14 no. 11) */
	bool host_shutdown; /* the host goes down and took it along: it is to end, without being deleted */
	msec kill_at; /* boot time by which it must have ended for that; 0: by its grace alone */
	bool queued;  /* it waits for a start slot, shown as a condition */
	bool paused;  /* as last seen, for whoever asks while libvirt cannot be asked */
	enum domain_reason paused_by;
	bool agent;        /* the guest agent is connected, as last seen */
	bool unhealthy;    /* its liveness probe failed: it is to end, without being deleted */
	bool ready;        /* its readiness probe passed, as seen last */
	char *probe_words; /* owned or NULL: what the readiness probe found last that it should not */
	char *agent_problem;     /* owned or NULL: what that agent lacks */
	int64_t credentials;     /* which it was told last (core/credentials.h); 0: none */
	char *credentials_words; /* owned or NULL: why it could not be told the latest */
	msec set_time_until;     /* boot time until which its clock is to be set, after a pause */
	struct io_retry io;
	enum act act;      /* waits until its op can leave */
	msec signal_first; /* boot time of the first shutdown signal; 0: none */
	msec signal_last;  /* of the last one by ACPI, or of the last kill */
	msec asked_last;   /* of the last one by the guest agent */
	bool rebooted;     /* the host was restarted since it began: its domain cannot live */
	bool prepared;     /* its volumes' files exist */
	bool claim; /* its domain ran before, and is to be given our metadata; nothing else until then */
	char *domain; /* owned or NULL: an adopted domain's own name; else it is <namespace>_<name> */
	int64_t vm_generation; /* of the VM when it was created (§11.3) */
	enum words words;      /* whether QEMU's output of its last start is to be read */
	bool cleaned;          /* its files and its domain are gone */
	bool lost; /* it is another host's by right: its disks here are kept aside, not removed */
	bool emulated; /* its domain was made for TCG: there was no usable KVM */
	struct condition_times times;
	char *console;  /* owned or NULL: socket path or pty of the serial console */
	char *graphics; /* owned or NULL: socket path of the VNC server */
	char *firmware; /* owned or NULL: the EFI firmware it runs with (core/firmware.h) */
	char *nics;     /* owned or NULL: its interfaces as they were seen (core/nics.h) */
	char *fallback; /* owned or NULL: why it has QEMU's own network stack */
	char *media;    /* owned or NULL: by which is known what its media were made of */
	char *held; /* owned or NULL: what of the host it has to itself, until it is cleaned away (core/holding.h) */
};

/* ---- facts about the domain: never stored, read again after each start ----------------------- */

struct domain {
	enum domain_state state; /* DOMAIN_UNKNOWN until read */
	enum domain_reason reason;
	bool active;          /* libvirt says that a QEMU lives (true for Crashed/preserve too) */
	char owner[UID_SIZE]; /* VMI UID in its metadata; "" none */
	bool agent;           /* a guest agent has opened its channel */
	bool migrating;       /* libvirt copies it to another host */
	bool agent_asked;     /* … which has said what it can do */
	unsigned agent_tries; /* calls in a row that it did not answer */
	msec agent_retry_at;  /* boot time before which it is not asked what it can do again */
	msec time_retry_at;   /* … nor told to set its clock again */
	struct credentials_told told;
	struct probe_state probes[PROBE_OF_MAX];
	enum probe_of probing; /* the one under way, or the last one */
	unsigned agreed;       /* equal reads in a row since the connection came up */
	uint64_t facts;        /* counts every event and op result folded; dates a read */
	bool look_again;       /* an event or result asks for a read */
	bool reading;          /* a read is in flight */
};

#define READS_TO_AGREE 2 /* after a connect, before anything is concluded (design §4) */

#endif
