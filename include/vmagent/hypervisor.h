/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port to the hypervisor: operations go out, results and events come back as inputs.
 *
 * An op is self-contained: strings and numbers, never a pointer into the model. hv_submit() returns
 * at once; the result reaches the sink later, on the loop's thread. One vtable, because the
 * simulation has a fake behind it; the real one is libvirt on workers plus qemu-img for volumes.
 */
#ifndef VMAGENT_HYPERVISOR_H
#define VMAGENT_HYPERVISOR_H

#include <vmagent/migration_limits.h>
#include <vmagent/model.h>

/*
 * X(constant, name, lane, deadline s). One op per machine and lane at a time; URGENT travels on the
 * connection and workers of its own, so that five hung calls cannot hold it up (design §4).
 */
#define OPS(X)                                                    \
	X(NONE, "", LANE_MAIN, 0)                                 \
	X(LIST, "list", LANE_URGENT, 30)                          \
	X(READ, "read", LANE_READ, 30)                            \
	X(DESCRIBE, "describe", LANE_READ, 30)                    \
	X(PREPARE, "prepare", LANE_MAIN, 300)                     \
	X(START, "start", LANE_MAIN, 120)                         \
	X(CLAIM, "claim", LANE_MAIN, 30)                          \
	X(SHUTDOWN, "shutdown", LANE_SIGNAL, 5)                   \
	X(AGENT_SHUTDOWN, "agent-shutdown", LANE_AGENT, 60)       \
	X(AGENT_REBOOT, "agent-reboot", LANE_AGENT, 60)           \
	X(AGENT_TIME, "agent-time", LANE_AGENT, 60)               \
	X(AGENT_INFO, "agent-info", LANE_AGENT, 60)               \
	X(AGENT_CREDENTIALS, "agent-credentials", LANE_AGENT, 60) \
	X(AGENT_LOOK, "agent-look", LANE_AGENT, 60)               \
	X(DESTROY, "destroy", LANE_URGENT, 30)                    \
	X(SUSPEND, "suspend", LANE_GUEST, 30)                     \
	X(RESUME, "resume", LANE_GUEST, 30)                       \
	X(REBOOT, "reboot", LANE_GUEST, 30)                       \
	X(RESET, "reset", LANE_GUEST, 30)                         \
	X(UNDEFINE, "undefine", LANE_MAIN, 30)                    \
	X(CLEAN, "clean", LANE_MAIN, 300)                         \
	X(DROP, "drop", LANE_MAIN, 300)                           \
	X(FILL, "fill", LANE_MAIN, 86400)                         \
	X(PURGE, "purge", LANE_MAIN, 60)                          \
	X(WORDS, "read-output", LANE_WORDS, 5)                    \
	X(MIGRATE_PREPARE, "migrate-prepare", LANE_MAIN, 120)     \
	X(MIGRATE, "migrate", LANE_MIGRATE, 86400)                \
	X(MIGRATE_WATCH, "migrate-watch", LANE_MIGRATE, 86400)    \
	X(MIGRATE_PASS, "migrate-pass", LANE_GUEST, 30)           \
	X(MIGRATE_RELAY, "migrate-relay", LANE_GUEST, 60)         \
	X(MIGRATE_SEAL, "migrate-seal", LANE_GUEST, 30)           \
	X(MIGRATE_ABORT, "migrate-abort", LANE_URGENT, 30)        \
	X(MIGRATE_ANNOUNCE, "migrate-announce", LANE_GUEST, 30)   \
	X(MIGRATE_READ_NVRAM, "read-nvram", LANE_MAIN, 30)        \
	X(MIGRATE_WRITE_NVRAM, "write-nvram", LANE_MAIN, 30)      \
	X(MIGRATE_RESUME, "migrate-resume", LANE_GUEST, 30)       \
	X(PROBE, "probe", LANE_PROBE, 90)                         \
	X(SCREENSHOT, "screenshot", LANE_ERRAND, 15)              \
	X(FORWARD, "port-forward", LANE_ERRAND, 15)               \
	X(COMPARE, "compare-host", LANE_READ, 30)                 \
	X(LOOK, "look-for-files", LANE_READ, 5)

/*
 * GUEST is for what a user does to a run that lives; hung there, it is in the way of no stop. AGENT
 * is for what the guest's agent is asked: it may answer late or never, so it has few workers of its
 * own, and each call ends by itself within some 5 s. Its deadlines leave room for the wait behind
 * other guests' agents. WORDS is for what QEMU wrote itself: of no weight but to those who ask why,
 * so nothing waits long for it. ERRAND is for what a client fetches from a guest: it changes
 * nothing, and who hangs there is in no one's way but theirs. PROBE asks whether a guest is well:
 * one that hangs may keep its asker for as long as its timeout says. MIGRATE lasts as long as the
 * copying of a guest's memory; the op is not bound to the agent's life: it goes on in libvirt
 * without it, and the next life has it watched.
 */
enum op_lane {
	LANE_MAIN,
	LANE_READ,
	LANE_SIGNAL,
	LANE_GUEST,
	LANE_AGENT,
	LANE_URGENT,
	LANE_WORDS,
	LANE_ERRAND,
	LANE_PROBE,
	LANE_MIGRATE,
	LANE_MAX
};

enum op_kind {
#define X(c, name, lane, deadline) OP_##c,
	OPS(X)
#undef X
		OP_KIND_MAX
};
const char *op_kind_name(enum op_kind kind);
enum op_lane op_kind_lane(enum op_kind kind);
msec op_kind_deadline(enum op_kind kind); /* how long it may take before it is reported as hung */

/* How a volume's file comes to be (PREPARE), X(constant, name). */
#define VOLUME_WORKS(X)                                                                            \
	X(CHECK, "check") /* target must exist and be a regular file or block device */            \
	X(CREATE_RAW,                                                                              \
		"raw") /* sparse raw file of `capacity` if target is absent (DiskOrCreate) */      \
	X(OVERLAY, "overlay") /* qcow2 over the image `base`, anew; `link` leads to it */          \
	X(LINK, "link")       /* target leads to the file `inner` of the image `base` */           \
	X(EMPTY, "empty")     /* qcow2 of `capacity`, anew */                                      \
	X(MEDIUM, "medium")   /* ISO 9660 with `files`, anew */                                    \
	X(FOLDER, "folder")   /* a folder with `files`, anew */                                    \
	X(CLAIM, "claim")     /* a raw file of `capacity` in a claim's folder, made or grown */    \
	X(CLAIM_FOLDER, "claim-folder") /* a folder in a claim's */                                \
	X(FILL, "fill")       /* a claim's file of `capacity`, with what the image `base` holds */ \
	X(BRIDGE, "bridge")   /* no volume: the host must have a bridge `target` … */            \
	X(DEVICE, "device")   /* … or a network device … */                                    \
	X(PROGRAM, "program") /* … or a program of that name … */                              \
	X(PATH, "path")       /* … or whatever lies at `target` */                               \
	X(TABLE, "table")     /* `inner` of `files` alone, anew: an ACPI table */                  \
	X(PORT, "port")       /* nobody has the host's port `target`, tcp:8080 */

enum volume_work_kind {
#define X(c, t) VOLUME_WORK_##c,
	VOLUME_WORKS(X)
#undef X
		VOLUME_WORK_MAX
};

struct media_file {
	char *path;    /* owned; within the medium */
	char *data;    /* owned */
	size_t len;    /* bytes */
	unsigned mode; /* in a FOLDER; 0: that of all files there */
};

struct volume_work {
	enum volume_work_kind kind;
	char *volume;     /* owned; the volume's name, for messages */
	char *target;     /* owned; absolute path */
	char *base;       /* owned or NULL; an image: its absolute path, or a reference */
	char *inner;      /* owned or NULL; which file, where the image is a folder */
	char *link;       /* owned or NULL; absolute path, in the run's folder */
	int64_t capacity; /* bytes */
	bool claimed; /* OVERLAY: base is a claim's file, made if it is not there; FILL: base is one; CHECK: target is one */
	bool preallocate;         /* FILL */
	char *label;              /* owned or NULL; MEDIUM */
	struct media_file *files; /* owned; MEDIUM, FOLDER, TABLE: a Secret may be among them */
	size_t n_files;
};
/* Whether it is of what must be there before a run: that alone is what LOOK looks for, and it
 * makes nothing. */
bool volume_work_is_expected(const struct volume_work *work);

struct op_network {   /* a libvirt network that is to be there before the domain starts */
	char *name;   /* owned */
	char *xml;    /* owned; by which it is made if there is none */
	bool or_user; /* if it cannot be made, QEMU's own network stack takes its place */
};

struct op {
	uint64_t id; /* unique for this process's life */
	enum op_kind kind;
	char *ns, *name;        /* owned; of the machine (NULL for LIST) */
	char vmi_uid[UID_SIZE]; /* the run that it is for; START's and DESTROY's domain must carry it */
	char uuid[UID_SIZE]; /* the domain's UUID */
	char *domain;        /* owned; the domain's name; DESCRIBE: or its UUID */
	char *xml; /* owned; START: the domain's; CLAIM: the metadata element; COMPARE: of a CPU, or NULL; PURGE: of a domain
			      * that is undefined along with all that the VM kept */
	char *replaces; /* owned or NULL; START: the shut-off domain of the same UUID, and without our
			 * metadata, whose definition this one replaces */
	bool keep_nvram; /* UNDEFINE: the EFI variables are not ours to remove */
	bool paused; /* START: the guest's clock stands still until RESUME; MIGRATE: until MIGRATE_RESUME */
	char *peer; /* owned or NULL; MIGRATE: the node to which the guest goes; MIGRATE_PREPARE: … from which it comes */
	char *migration; /* owned or NULL; MIGRATE…, CLEAN: the UID of the one that this run is, or was, part of */
	char *offer; /* owned or NULL; MIGRATE, MIGRATE_RELAY: the target's (core/migration_offer.h); then xml is the target's domain */
	char *relay; /* owned or NULL; MIGRATE: where the relay's sockets lie; filled in on the way to libvirt */
	bool post_copy; /* MIGRATE…: the attempt in which the guest goes over before its memory */
	unsigned recovery; /* MIGRATE, MIGRATE_RELAY: which attempt to mend a way that broke down in post-copy; 0: none */
	bool ended; /* MIGRATE_SEAL: its QEMU has, as libvirt says */
	bool vouched; /* MIGRATE_SEAL: the relay is asked whether libvirtd still waits, before and after */
	struct migration_limits limits; /* MIGRATE */
	char *copies; /* owned or NULL; MIGRATE, MIGRATE_PREPARE: disks that are copied: "vda,vdb" */
	char *jobs; /* owned or NULL; LIST, READ: UUIDs of domains of which is asked whether they are being copied */
	char *directory; /* owned; PREPARE, CLEAN: the run's own folder; DROP, FILL: a claim's; PURGE: kept, if it is to have another name; COMPARE: whose free space is asked for */
	char *aside; /* owned or NULL; CLEAN, PURGE: under which name that folder is kept instead; its parent is made */
	char *kept; /* owned or NULL; PREPARE: the VM's own folder, which it is to have; PURGE: which goes; MIGRATE_…_NVRAM: where the file is */
	char *nvram; /* owned or NULL; MIGRATE_WRITE_NVRAM: what that is to hold (core/nvram.h) */
	struct volume_work *work; /* owned; PREPARE, FILL, LOOK */
	size_t n_work;
	struct op_network *networks; /* owned; START */
	size_t n_networks;
	char *forwards;        /* owned or NULL; START: as host_ports_rules() has them */
	uint64_t facts;        /* READ: the domain's fact counter when it left */
	enum guest_look look;  /* AGENT_LOOK */
	unsigned port;         /* FORWARD, PROBE: the guest's, TCP */
	enum probe_kind probe; /* PROBE: what is asked; err says why it failed */
	char *host;            /* owned or NULL; PROBE: who is asked instead of the guest */
	unsigned timeout_s;    /* PROBE: for the whole of it */
	char *question; /* owned or NULL; PROBE: as in struct probe; AGENT_CREDENTIALS: the commands, a JSON list; COMPARE: libvirt's name of what runs guests here: kvm, qemu */
	bool wake;      /* SCREENSHOT: the pointer is moved before, to end a screen saver */
	msec since;     /* WORDS: wall time before which no QEMU of this run was started */
};
void op_done(struct op *op);
void op_copy(struct op *dst, const struct op *src);

#define OUTPUT_MAX       2048
#define OUTPUT_LINES_MAX 10
#define SCREENSHOT_MAX   (32 << 20) /* bytes: twice a display of 16 MiB */

#define MAC_SIZE        18 /* with its NUL */
#define IP_SIZE         46
#define NIC_TARGET_SIZE 16
#define NIC_TEXT_SIZE   80

struct nic_info {                     /* an interface of an active domain */
	char name[LABEL_MAX_LEN + 1]; /* the spec's; "" for one that has none of ours */
	char mac[MAC_SIZE];
	char address[IP_SIZE];        /* "": not known */
	char type[NIC_TARGET_SIZE];   /* libvirt's: user, network, bridge, direct, hostdev */
	char source[NIC_TEXT_SIZE];   /* network, bridge or device; "": none */
	char target[NIC_TARGET_SIZE]; /* the host's side, e.g. vnet0; "": none */
	bool down;                    /* the link */
};

struct domain_info { /* one domain as libvirt shows it */
	char *name;  /* owned */
	char uuid[UID_SIZE];
	char owner[UID_SIZE]; /* VMI UID in our metadata element; "" when it has none */
	enum domain_state state;
	enum domain_reason reason;
	bool active;
	char *held; /* owned or NULL: of an active one: what it has of the host, by that element */
	char *console;  /* owned or NULL: path of the serial console's pty or socket */
	char *graphics; /* owned or NULL: path of the VNC server's socket */
	char *firmware; /* owned or NULL: of an active one: the EFI firmware it has (core/firmware.h) */
	bool agent;     /* a guest agent has opened its channel */
	struct nic_info *nics; /* owned or NULL; READ and START, of an active one */
	size_t n_nics;
	bool migrating; /* libvirt copies it to another host */
};

void domain_info_done(struct domain_info *info);

struct domain_detail {    /* what DESCRIBE tells beyond that */
	char *config_xml; /* owned; the persistent definition, or the only one there is */
	char *live_xml;   /* owned or NULL: of an active one */
	bool persistent, autostart;
	bool saved;         /* it has a managed save image */
	unsigned snapshots; /* and checkpoints */
};

struct op_result {
	uint64_t id;
	enum op_kind kind;
	struct err err; /* code OK on success */
	/* LIST: every domain of the connection, ours or not. READ: one, or none if it does
	 * not exist (then err is OK and n_domains 0). START: one, as it runs now. DESCRIBE:
	 * one, with its detail. */
	struct domain_info *domains; /* owned */
	size_t n_domains;
	struct domain_detail *detail; /* owned or NULL */
	char *words; /* owned or NULL; WORDS: the last lines that QEMU wrote, OUTPUT_MAX bytes at most */
	char *text; /* owned or NULL; MIGRATE_PREPARE, MIGRATE_RELAY: the offer; MIGRATE_READ_NVRAM: core/nvram.h; COMPARE: core/host_report.h; LOOK: what is missing (core/migration_check.h); FILL: there was a file, which is kept; START: why its limits are not in force; AGENT_INFO: the agent's answer, as it came from the guest; AGENT_LOOK: a
		     * JSON object of such answers by command, without those that it could not give */
	char *fallback; /* owned or NULL; START: why the guest has QEMU's own network stack */
	char *image;    /* owned or NULL; SCREENSHOT: a PNG, SCREENSHOT_MAX bytes at most */
	size_t image_len;
	bool post_copy; /* MIGRATE…: it was called off to be tried again with post-copy */
	int fd; /* FORWARD: connected to the guest's port; the adapter closes it after the call, so who keeps it
		 * duplicates it. 0: none */
};
void op_result_done(struct op_result *result);

/* libvirt's lifecycle events, X(constant, name). Only details that cannot be read later are
 * kept. */
#define DOMAIN_EVENTS(X)                                                               \
	X(LOOK_AGAIN, "changed") /* whatever it was: read the state again */           \
	X(STARTED, "started")                                                          \
	X(SHUTDOWN, "shutdown") /* detail: guest says whether the guest did it */      \
	X(STOPPED, "stopped")   /* detail: reason */                                   \
	X(PANICKED, "panicked")                                                        \
	X(AGENT, "agent") /* the guest agent has come, gone or come anew */            \
	X(UNDEFINED, "undefined")                                                      \
	X(IO_ERROR, "io-error") /* a disk's error paused the guest: disk and reason */ \
	X(PROGRESS, "progress") /* of its migration to another host */                 \
	X(ANSWERED, "answered") /* … held: the target has it, and libvirt is not told yet */

enum domain_event_kind {
#define X(c, t) DOMAIN_EVENT_##c,
	DOMAIN_EVENTS(X)
#undef X
		DOMAIN_EVENT_MAX
};
const char *domain_event_kind_name(enum domain_event_kind kind);

#define IO_REASON_SIZE 16

struct domain_event {
	enum domain_event_kind kind;
	char uuid[UID_SIZE];
	char name[NAME_MAX_LEN + LABEL_MAX_LEN + 2];
	bool guest;                         /* SHUTDOWN */
	enum domain_reason reason;          /* STOPPED */
	char disk[LABEL_MAX_LEN + 1];       /* IO_ERROR: the volume's name */
	char io_reason[IO_REASON_SIZE];     /* IO_ERROR: "enospc", or "" for any other error */
	struct migration_progress progress; /* PROGRESS */
	bool held;                          /* ANSWERED */
};

/* Where everything from the hypervisor arrives; called on the loop's thread only, never from
 * within hv_submit(). Arguments are borrowed for the call. */
struct hv_sink {
	void *ctx;
	void (*connection)(void *ctx, bool up, const char *why);
	void (*event)(void *ctx, const struct domain_event *event);
	void (*result)(void *ctx, const struct op_result *result);
};

struct hypervisor {
	const struct hypervisor_ops *ops;
	struct hv_sink sink;
};

struct hypervisor_ops {
	/* Begins to connect, and to reconnect whenever the connection is lost (with back-off),
	 * registering the events anew each time. sink.connection(true) comes after registration. */
	void (*start)(struct hypervisor *hv);
	/* Takes a copy of op. Its result always comes, unless the process ends; without a
	 * connection it comes as ERR_UNAVAILABLE. */
	void (*submit)(struct hypervisor *hv, const struct op *op);
};

static inline void hv_start(struct hypervisor *hv)
{
	hv->ops->start(hv);
}

static inline void hv_submit(struct hypervisor *hv, const struct op *op)
{
	hv->ops->submit(hv, op);
}

#endif
