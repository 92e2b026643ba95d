/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulation: the real agent and the real store in virtual time, with a fake hypervisor, a fake
 * manifest folder and a client. One struct world is one run of one scenario. Everything is
 * deterministic: the same scenario with the same crash or fault does the same again.
 *
 *   world.c       the clock and what is due; life.c: the agent's life and death
 *   fake_hv.c     the hypervisor port: operations and their answers; fake_domain.c: their effects
 *   fake_migrate.c  libvirt's part of a migration
 *   fake_host.c   what happens on the host: guests, libvirtd, virsh
 *   client.c      requests and their retries; folder.c: the manifest folder
 *   watch*.c      the invariants of design §6, asserted at each commit and each action
 *   look.c        what the API would show: predicates for `expect` and `wait until`
 *   census.c      how many there are of everything
 *   endstate.c    what must be the same at the end of every run of a scenario
 *   verdicts.c    … and on both hosts of a migration
 *   scenario.c    scenario files; commands*.c: what their lines do; transcript.c: the expected log
 *   lab.c         several hosts, each a world of its own, with one clock and a network between their agents
 *   walks.c       each scenario again with a crash or a fault at every point
 *   random.c      scenarios drawn at random
 */
#ifndef VMAGENT_TEST_SIM_H
#define VMAGENT_TEST_SIM_H

#include <cjson/cJSON.h>

#include "core/migration_monitor.h"
#include "daemon/agent.h"

#define DOMAINS_MAX     24
#define FILES_MAX       16
#define HOSTS_MAX       3
#define MARKS_MAX       16
#define CLAIM_PATH_SIZE 128
#define TRACKED_MAX     256
#define WALL_START      INT64_C(1795910400000) /* 2026-11-29T00:00:00Z */
#define BOOT_START      SECONDS(1000)
#define AFTERLIFE       SECONDS(600) /* virtual time after a scenario's last line */
#define WAIT_LIMIT_S    400          /* of `wait until` */

struct world;

/* ---- the crash or fault of this run --------------------------------------------------------- */

enum trouble {
	TROUBLE_NONE,
	CRASH_BEFORE_COMMIT, /* the n-th */
	CRASH_AFTER_COMMIT,  /* the n-th, before anything leaves */
	CRASH_AFTER_ACTION,  /* the n-th op or answer that leaves */
	FAULT_STORE,         /* the n-th write fails, once */
	FAULT_OP,            /* the n-th op fails, once, and has done nothing */
	FAULT_ANSWER         /* the n-th op does its work and still answers with an error */
};

/* What becomes of the ops that a killed agent had sent. */
enum fate { FATE_FINISH, FATE_VANISH, FATE_FINISHED, FATE_MAX };

struct mishap {
	enum trouble trouble;
	unsigned n;
	enum fate fate;
	unsigned host; /* of several: whose agent or libvirt it meets */
};

/* ---- things to come ------------------------------------------------------------------------- */

struct pending {
	msec at;
	uint64_t seq; /* order among those of the same time */
	void (*fire)(struct world *w, struct pending *p);
	uint64_t life; /* of the agent and its connection that wait for it; 0: nobody's */
	uint64_t link;
	struct op op;            /* owned */
	struct op_result result; /* owned */
	struct domain_event event;
	int domain;            /* index */
	uint64_t boot;         /* of that domain */
	bool works_unanswered; /* FAULT_ANSWER */
	unsigned peer;         /* index of another host */
	struct peer_status status;
	struct handover handover; /* its document is the one below */
	char *document;           /* owned or NULL */
};

/* ---- the host ------------------------------------------------------------------------------- */

enum unseen { UNSEEN_NOTHING, UNSEEN_POWEROFF, UNSEEN_CRASH, UNSEEN_PANIC };

#define NVRAMS_MAX 16
#define FAKE_FIRMWARE \
	"{\"loader\":\"/fw/CODE\",\"variables\":\"/fw/VARS\",\"format\":\"raw\",\"secure\":true}"

struct fake_nvram { /* what a VM's firmware keeps */
	char vm[UID_SIZE];
	unsigned number; /* of the last that was written */
};

struct fake_domain {
	bool exists;
	bool foreign; /* not made by the agent */
	char name[128];
	char uuid[UID_SIZE];
	char owner[UID_SIZE];
	enum domain_state state;
	enum domain_reason reason;
	bool active;
	bool autostart;
	bool acpi, panic_device;
	bool efi;
	char variables[UID_SIZE]; /* the VM with which those of its firmware are kept; "": none */
	bool going;               /* it is shutting down */
	char disk[64];            /* the first file of the host that it writes to; "": none */
	bool shares;              /* … together with others that say so, too */
	struct cpu_set cpus;      /* of the host that are its own … */
	char held[256];           /* … as its metadata says it */
	char cid[64];             /* … "": none */
	char device[64];          /* … "": none */
	char sick[64];            /* the disk that fails; "": none */
	char sick_reason[IO_REASON_SIZE];
	enum unseen unseen; /* what happened while no libvirtd looked */
	uint64_t boot;      /* counts the QEMUs */
	bool incoming;      /* it is still being copied to here */
	bool arrived;       /* it was, and has not run here yet */
	unsigned relay; /* by which the rest of it can come, after its way broke down; 0: none */
	bool stale;     /* … and has run elsewhere since */
	bool unheard;   /* another host's QEMU was the last that told the network where it is */
};

/* X(constant, word): a job's, in order. A guest stands still from SWITCH on. */
#define FAKE_STAGES(X)      \
	X(COPY, "copy")     \
	X(SWITCH, "switch") \
	X(FINISH, "finish") \
	X(HELD, "held")     \
	X(CONFIRM, "confirm")
enum fake_stage {
#define X(c, t) STAGE_##c,
	FAKE_STAGES(X)
#undef X
};

struct fake_job { /* libvirt moves a domain */
	bool active;
	bool waits;       /* asked for by the scenario */
	bool paused;      /* the target leaves it standing */
	bool was_paused;  /* before it was stopped for this */
	bool post_copy;   /* the guest goes over before its memory does */
	bool passed;      /* … when the target's agent lets it */
	bool again;       /* it was called off for that */
	bool let_go;      /* HELD: libvirt may have the target's answer */
	msec held, heard; /* HELD: since when; when the target was last heard of */
	char migration[UID_SIZE];
	msec begun;
	struct migration_limits limits;
	struct migration_watch watch;
	enum fake_stage stage;
	uint64_t serial;
	uint64_t boot; /* of the QEMU that it moves */
	char uuid[UID_SIZE];
	unsigned to;       /* index of the target */
	uint64_t libvirts; /* which libvirtd it talks to there */
	uint64_t op, life; /* who waits for its end … */
	enum op_kind kind; /* … by which op */
};

/* X(constant, word): of a guest while it runs. A hung one answers nothing; a deaf one does as if it
 * shut down; an old one lacks commands. */
#define FAKE_AGENTS(X) X(OFF, "off") X(ON, "on") X(HUNG, "hung") X(DEAF, "deaf") X(OLD, "old")
enum fake_agent {
#define X(c, t) FAKE_AGENT_##c,
	FAKE_AGENTS(X)
#undef X
		FAKE_AGENT_MAX
};

struct fake_guest { /* of a domain's name, over all its domains */
	char name[128];
	bool deaf;
	bool ill; /* its probes say so */
	enum fake_agent agent;
	unsigned agent_reboots, clocks, infos, credentials, unanswered;
	unsigned boots, signals, asked, kills, suspends, resumes, reboots, resets;
	msec first_signal, killed_at;
	const char *words; /* what its last QEMU wrote; a constant, or NULL */
};

struct op_script { /* per kind of op */
	bool hangs;
	unsigned fails;
	enum err_code code;
	char text[128];
	char only[64]; /* of this machine; "": of any */
};

struct fake {
	struct fake_domain domains[DOMAINS_MAX];
	struct fake_guest guests[DOMAINS_MAX];
	size_t n_guests;
	struct op_script scripts[OP_KIND_MAX];
	bool down;      /* libvirtd */
	bool odd;       /* events come in odd orders */
	bool silent;    /* … or never */
	msec late;      /* … or later than they should */
	unsigned lists; /* asked for */
	struct fake_job jobs[DOMAINS_MAX];
	char stop_at[16];  /* a stage, or "" */
	bool busy;         /* guests change their memory faster than it can be sent */
	uint64_t libvirts; /* counts libvirtd's lives */
	bool linked;       /* the agent has a connection */
	uint64_t link;
	char dirs[TRACKED_MAX][UID_SIZE]; /* folders of runs */
	size_t n_dirs;
	char claims[TRACKED_MAX][CLAIM_PATH_SIZE]; /* folders of claims, with their files */
	size_t n_claims;
	struct fake_nvram nvram[NVRAMS_MAX];        /* this host's files */
	struct fake_nvram nvram_latest[NVRAMS_MAX]; /* the first host's: of all hosts */
	struct op lanes[DOMAINS_MAX * LANE_MAX];    /* owned copies: under way for this agent */
	msec since[DOMAINS_MAX * LANE_MAX];         /* they are */
	size_t n_lanes;
	/* What COMPARE tells of the host: */
	long qemu;        /* its version; 0: a usual one */
	bool no_machine;  /* it does not have the guests' machine type */
	bool read_only;   /* what EFI firmware keeps cannot be written to the host's disk */
	bool no_firmware; /* it does not have the guests' EFI firmware */
	bool full;        /* no space is left */
	char missing[64]; /* a file that PREPARE and LOOK do not find; "": none */
	char misfit[64];  /* why guests' CPUs cannot be had; "": they can */
};

/* ---- the invariants' memory ------------------------------------------------------------------ */

struct tracked { /* a VMI that was ever stored */
	char uid[UID_SIZE];
	enum phase phase;
	bool started; /* its domain has run */
	bool ended;   /* it is stored that its domain has ended */
};

struct watch {
	struct tracked vmis[TRACKED_MAX];
	size_t n_vmis;
	char stopped[MARKS_MAX][64]; /* VMs that an admin stopped */
	size_t n_stopped;
	int64_t rv, seq; /* the newest change that was looked at, and event */
	bool recount;    /* the database was lost: the next event's number need only be higher */
};

struct mark {
	char name[64];
	char vm_uid[UID_SIZE], vmi_uid[UID_SIZE];
	char firmware[UID_SIZE]; /* the run's UUID to its guest */
};

/* ---- several hosts --------------------------------------------------------------------------- */

struct net_script { /* what becomes of the next messages of a kind */
	unsigned lost, doubled, late;
	msec delay; /* of those that are late */
	/* Owned: what is another in all documents of the kind; NULL: nothing is. */
	char *path, *value;
};

/* The document with another value at that path, which leads through texts that are JSON;
 * owned by the caller. */
char *forge(const char *document, const char *path, const char *value);

struct lab {
	struct world *hosts[HOSTS_MAX]; /* the first borrowed, the others owned */
	unsigned n;
	struct mishap mishap;           /* of this run: its host has it as well */
	bool cut[HOSTS_MAX][HOSTS_MAX]; /* nothing passes between the two */
	char aborted[MARKS_MAX]
		    [UID_SIZE]; /* runs of which a database that is lost knew that they were */
	size_t n_aborted;
	bool lost;   /* some database was: who is to tell the network is not known */
	bool remade; /* machines may be at no host, or at several under one name */
	struct net_script scripts[HANDOVER_MAX];
};

/* ---- the world ------------------------------------------------------------------------------- */

struct manifest_file {
	char name[64];
	char *content; /* owned */
};

enum wish { WISH_ACCEPTED, WISH_REFUSED, WISH_EITHER }; /* what is to come of a request */

struct client_request { /* one at a time: the client waits for its answer */
	struct request request;
	struct manifest manifest; /* owned */
	enum input_kind kind;
	bool waiting, answered;
	enum wish wish;
	bool was_stopped; /* the VM, by an admin, before it was sent */
	bool sent;        /* an agent has it */
	bool lost;        /* an earlier try got no answer */
	msec retry_at;
	struct err err;
	char *note; /* owned */
};

struct world {
	struct lab *lab; /* NULL: alone. Owned by the first host */
	unsigned host;   /* its index in there */
	char node[16];
	const char *without; /* borrowed or NULL: a rule of the hand-over that is left out */
	struct peer_config peer_list[HOSTS_MAX];
	struct peer_port peers;
	unsigned certificate_days;   /* from the beginning of the scenario until its own expires */
	uint64_t told_up[HOSTS_MAX]; /* the agent was told that it can reach that life of one there */
	msec t;                      /* since the beginning of the scenario */
	msec boot_base;              /* t of this boot's clock 0 */
	msec set;                    /* by how much its wall clock is ahead */
	char boot_id[16];
	uint64_t seed;
	struct pending *queue; /* owned, unsorted */
	size_t n_queue, cap_queue;
	uint64_t seq;

	struct store *store; /* owned */
	bool store_down;     /* every commit fails */
	bool lost;           /* the database is a new one, and nothing was committed to it yet */
	struct agent *agent; /* owned; NULL: not running */
	struct agent_options options;
	struct host_shares shares;
	struct hypervisor hv;
	struct fake fake;
	bool wanted;     /* the agent is to run */
	bool going_down; /* the host is, and the agent has said that it knows */
	uint64_t life;
	unsigned spins; /* steps in a row without time passing */
	bool dead;      /* killed in the middle of this turn: nothing leaves any more */

	struct mishap mishap;
	unsigned commits, actions, ops;
	bool happened; /* the mishap */

	struct manifest_file files[FILES_MAX];
	size_t n_files;
	bool folder_missing;
	struct client_request client;
	struct watch watch;
	struct mark marks[MARKS_MAX];
	size_t n_marks;

	char *counted;                    /* owned or NULL: what there was at the last "count" */
	struct buf log;                   /* since it was last taken */
	bool any_end;                     /* what is waited for need not come */
	bool quiet;                       /* the log is not compared */
	char uids[TRACKED_MAX][UID_SIZE]; /* as they first appeared in the log */
	size_t n_uids;
	char failure[1024]; /* "": all is well */
};

/* world.c */
void world_init(struct world *w, const struct mishap *mishap);
void world_done(struct world *w);
void world_fail(struct world *w, const char *fmt, ...) PRINTF(2, 3); /* the first one counts */
struct now world_now(const struct world *w);
struct pending *world_later(struct world *w, msec delay,
	void (*fire)(struct world *w, struct pending *p));
void world_settle(struct world *w);           /* turns until nothing is dirty */
void world_run(struct world *w, msec until);  /* lets time pass */
bool world_step(struct world *w, msec until); /* one jump; false: nothing is due before */

/* lab.c */
struct world *world_main(struct world *w);         /* the first host */
enum trouble world_trouble(const struct world *w); /* in this run, wherever */
bool world_happened(const struct world *w);        /* … the mishap */
/* Host i, or NULL. A world that is alone is host 0. */
struct world *world_host(struct world *w, unsigned i);
struct world *world_named(struct world *w, const char *node);
void lab_open(struct world *w, unsigned n, const struct mishap *mishap);
void lab_close(struct world *w);
void lab_leave_out(struct world *w, const char *rule); /* "tune without RULE", on every host */
void lab_prepare(struct world *w);                     /* an agent's options */
void lab_changed(struct world *w); /* an agent has come or gone, a link was cut or healed */
bool lab_command(struct world *w, char *const *words, size_t n); /* "net …" */

/* life.c */
void world_input(struct world *w, const struct input *input);
void agent_prepare(struct world *w);
void agent_up(struct world *w);
void agent_down(struct world *w);   /* kill -9 */
void agent_end(struct world *w);    /* the same, and what becomes of its ops is not decided yet */
void agent_crash(struct world *w);  /* as the mishap has it; another one comes soon */
bool world_action(struct world *w); /* something leaves; false: the agent is dead already */

/* fake_domain.c */
void fake_effect(struct world *w, const struct op *op, struct op_result *result);
bool fake_agent_hangs(struct world *w, const struct op *op);
struct fake_domain *fake_find(struct world *w, const char *name);
struct fake_domain *fake_find_uuid(struct world *w, const char *uuid);
/* fake_share.c: takes what the XML says, and fails the world if another guest has it. */
void fake_take_share(struct world *w, struct fake_domain *dom, const char *xml);
struct fake_domain *fake_find_any(struct world *w, const char *name); /* ours first */
struct fake_domain *fake_add(struct world *w, const char *name);
struct fake_guest *fake_guest(struct world *w, const char *name);

/* fake_nvram.c */
void fake_nvram_take(struct fake_domain *dom, const struct op *op);
void fake_nvram_boot(struct world *w, const struct fake_domain *dom); /* it is to run here … */
/* … and executes here from now on. */
void fake_nvram_write(struct world *w, const struct fake_domain *dom);
void fake_nvram_purge(struct world *w, const char *vm);
void fake_nvram_read(struct world *w, const struct op *op, struct op_result *result);
void fake_nvram_keep(struct world *w, const struct op *op, struct op_result *result);

/* fake_migrate.c */
bool fake_migrate(struct world *w, const struct op *op, uint64_t life, struct err *err);
/* Whether there is a job, whose end is waited for from now on. */
bool fake_migrate_watch(struct world *w, const struct op *op, uint64_t life);
void fake_migrate_abort(struct world *w, const struct op *op);
bool fake_is_migrating(struct world *w, const char *uuid);
void fake_stop_at(struct world *w, const char *stage);
void fake_lose_jobs(struct world *w);                /* libvirtd, or its host, is gone */
void fake_end_relay(void *w, const char *migration); /* agent_options.relay_end */
void fake_seal(struct world *w, const struct op *op, struct err *err);
void fake_break_way(struct world *w, const struct world *to);
void fake_runs(struct world *w, struct fake_domain *dom);

/* fake_hv.c */
void fake_pass(struct world *w, const struct op *op);
void fake_tell_held(struct world *w, const struct fake_job *job, bool held);
void fake_answer_job(struct world *w, const struct fake_job *job, const struct err *err);
void fake_start(struct world *w);
void fake_emit(struct world *w, const struct fake_domain *dom, const struct domain_event *event);
void fake_drop_ops(struct world *w, enum fate fate); /* the agent that sent them is gone */
void fake_lose_ops(struct world *w);                 /* libvirtd is gone */
void fake_release_ops(struct world *w);              /* what hung goes on */
void fake_forget_lanes(struct world *w);

/* fake_host.c */
void domain_boot(struct world *w, struct fake_domain *dom);
void domain_end(struct world *w, struct fake_domain *dom, enum domain_reason reason);
void domain_press(struct world *w, struct fake_domain *dom); /* ACPI power button */
void domain_ask(struct world *w, struct fake_domain *dom);   /* the same by the guest agent */
void domain_press_reboot(struct world *w, struct fake_domain *dom);
void domain_ask_reboot(struct world *w, struct fake_domain *dom);
void domain_pause(struct world *w, struct fake_domain *dom, bool paused);
void host_libvirt_down(struct world *w);
void host_libvirt_up(struct world *w);
void host_off(struct world *w);
void host_boot(struct world *w);
void host_add_foreign(struct world *w, const char *name, bool runs, bool stray);
bool host_guest_act(struct world *w, const char *name, const char *act);
bool host_guest_agent(struct world *w, const char *name, const char *word);
void host_guest_sick(struct world *w, const char *name, const char *disk, const char *reason);

/* client.c */
void client_submit(struct world *w);
void client_done(struct client_request *c);
/* Sends it and lets time pass until it is answered; fails the world unless it is as wished. */
void client_do(struct world *w, enum wish wish);
void client_create(struct world *w, const char *text);

/* folder.c */
void folder_put(struct world *w, const char *name, const char *content);
void folder_remove(struct world *w, char *const *names, size_t n);
void folder_rename(struct world *w, const char *from, const char *to);
void folder_scan(struct world *w); /* all of it */

/* watch*.c */
void watch_commit(struct world *w, int64_t rv);
void watch_database_goes(struct world *w);             /* it is about to be lost … */
void watch_database_lost(struct world *w, int64_t rv); /* … and its counter goes on at rv */
void watch_submit(struct world *w, const struct op *op);
void watch_goes_over(struct world *w, const struct fake_domain *dom);
void watch_boot(struct world *w, const struct fake_domain *dom, const char *vmi_uid);
void watch_discard(struct world *w, const struct fake_domain *dom); /* its image is destroyed */
/* That VM is here since its source was declared dead, and what had come of it is not used. */
bool watch_took_without_image(struct world *w, const char *vm);
void watch_quiet(struct world *w);
void watch_end(struct world *w);
void watch_stop(struct world *w, const char *name, bool stopped);
bool watch_is_stopped(const struct world *w, const char *name);

/* look.c */
/* A number's text: until the next call. */
const char *look_text(const cJSON *json, const char *path);
/* Whose a run is: "none", "vm" (of its name, as it is stored), "another". */
const char *look_owner(struct world *w, const char *name, const cJSON *vmi);
char *look_object(struct world *w, enum object_kind kind, const char *name); /* owned or NULL */
char *look_all(struct world *w); /* VMs and VMIs with all that is stored; owned */
/* Whether words ("vm web printable=Running", "no vmi web", …) hold; *ret_why says how it is. */
bool look_kind(const char *word, enum object_kind *ret); /* "vm" */
bool look_holds(struct world *w, char *const *words, size_t n, struct buf *ret_why);
void look_mark(struct world *w, const char *name);

/* census.c: how many there are of everything, on all hosts; owned by the caller. */
char *census(struct world *w);

/* endstate.c */
char *look_end(struct world *w); /* the end state; owned */
/* Fails the world unless each machine is at rest as it should be. */
void look_rest(struct world *w);

/* verdicts.c: fails the world unless whoever knows of a migration shows the same of it. */
void look_verdicts(struct world *w);

/* commands.c */
bool command_run(struct world *w, char *const *words, size_t n, const char *block);

/* transcript.c */
void transcript_log(void *ctx, const struct log_line *line);

#endif
