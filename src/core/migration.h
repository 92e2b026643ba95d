/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A migration: how a running guest changes its host, as one object on each of two hosts, the
 * source's and the target's. Only the source decides. Its stored RELEASED is the one moment at
 * which the guest changes hands; an id that the source does not know was aborted; silence means
 * nothing, and the target waits.
 *
 *   source:  PENDING -> OUT -> RELEASED -> DONE        target:  IN -> COMPLETE -> OWNER -> DONE
 *                         `--> ABORTED --> DONE                  `---------`--> ABORTED -> DONE
 *
 * The source owns the guest until RELEASED, the target from OWNER on, between them nobody runs it.
 * A state is stored before the message or the call that it permits leaves. Pure: no clock, no I/O.
 */
#ifndef VMAGENT_CORE_MIGRATION_H
#define VMAGENT_CORE_MIGRATION_H

#include <vmagent/migration_limits.h>
#include <vmagent/peer.h>

#include "core/machine.h"
#include "core/tuning.h"

#define MIGRATION_ROLES(X) X(SOURCE, "source") X(TARGET, "target")

/* Stored by number: new ones go to the end. */
#define MIGRATION_STATES(X)     \
	X(PENDING, "Pending")   \
	X(OUT, "Out")           \
	X(RELEASED, "Released") \
	X(IN, "In")             \
	X(COMPLETE, "Complete") \
	X(OWNER, "Owner")       \
	X(ABORTED, "Aborted")   \
	X(DONE, "Done")

/* KubeVirt's phases of the object (semantics §12.1). */
#define MIGRATION_PHASES(X)                    \
	X(PENDING, "Pending")                  \
	X(SCHEDULING, "Scheduling")            \
	X(SCHEDULED, "Scheduled")              \
	X(PREPARING_TARGET, "PreparingTarget") \
	X(TARGET_READY, "TargetReady")         \
	X(RUNNING, "Running")                  \
	X(SUCCEEDED, "Succeeded")              \
	X(FAILED, "Failed")

/* Why it has not begun yet, X(constant, reason, words). */
#define MIGRATION_WAITS(X)                                                                  \
	X(NOTHING, "", "")                                                                  \
	X(TURN, "OutboundLimit", "as many as may leave this host at once are on their way") \
	X(PEER, "PeerUnreachable", "the target cannot be reached")                          \
	X(ROOM, "TargetBusy", "the target takes no more now")                               \
	X(WORD, "EarlierUnsettled",                                                         \
		"the other host of an earlier migration has not heard yet how that one ended")

enum migration_wait {
#define X(c, reason, words) MIGRATION_WAITS_FOR_##c,
	MIGRATION_WAITS(X)
#undef X
		MIGRATION_WAIT_MAX
};
enum migration_role {
#define X(c, t) MIGRATION_##c,
	MIGRATION_ROLES(X)
#undef X
		MIGRATION_ROLE_MAX
};
enum migration_state {
#define X(c, t) MIGRATION_##c,
	MIGRATION_STATES(X)
#undef X
		MIGRATION_STATE_MAX
};
enum migration_phase {
#define X(c, t) MIGRATION_PHASE_##c,
	MIGRATION_PHASES(X)
#undef X
		MIGRATION_PHASE_MAX
};
ENUM_DECLARE(migration_role, MIGRATION, MIGRATION_ROLES)
ENUM_DECLARE(migration_state, MIGRATION, MIGRATION_STATES)
ENUM_DECLARE(migration_phase, MIGRATION_PHASE, MIGRATION_PHASES)

#define MIGRATION_PENDING_S 900 /* until one that may not begin has failed */
#define MIGRATION_PREPARE_S 120 /* … one whose target does not get ready */
#define MIGRATION_GRACE_S   30 /* for the target to show up once the source's guest has gone over */
#define MIGRATION_RECOVER_S 600  /* for a way that broke down in post-copy to be mended */
#define MIGRATION_SWITCH_S  10   /* for a guest that stands still to go over with post-copy */
#define MIGRATION_BEGIN_S   120  /* for libvirt to send anything of it */
#define MIGRATION_FRESH_MS  2000 /* a COMPLETE is believed for so long */
/* QEMU announces itself for a second once all of the guest is there. */
#define MIGRATION_HEARD_MS  2000
/* What is not answered is said again, what is not seen is read again. */
#define MIGRATION_REPEAT_S  1
#define MIGRATION_BUSY_S    5    /* until a busy target is asked again */
#define MIGRATION_DOUBT_S   10   /* until one that is in doubt is an event */
#define NVRAM_TRIES_MAX     3    /* to read what the firmware keeps, while the guest waits for it */
#define MIGRATIONS_KEPT     5    /* of one machine, that have ended */
#define MIGRATIONS_KEPT_ALL 1000 /* … of all that there ever were */

struct migration {
	struct object_meta meta; /* its UID names it on both hosts */
	enum migration_role role;
	enum migration_state state;
	int64_t number; /* of its arrival here: the latest has the highest */
	char *spec;     /* owned or NULL, JSON: as it was given */
	char *vmi;      /* owned: spec.vmiName */
	char *peer;     /* owned: the other host */
	char vmi_uid[UID_SIZE];
	char owner[UID_SIZE];    /* whose epochs these are: the VM, or the run that has none */
	char database[UID_SIZE]; /* the source's, in which it began */
	int64_t epoch;           /* of the ownership that it is to bring about */
	bool performing;         /* source: libvirt was told to begin, or is about to be */
	bool stands; /* source: others than users of this agent had paused the guest when libvirt was told */
	bool restored;  /* source, ABORTED: its guest is as if nothing had been */
	bool cancelled; /* somebody wants it aborted; target: … or wanted it, as it was told */
	bool succeeded; /* DONE: the guest goes on at the target */
	bool acked;     /* DONE: the other host needs nothing of it any more */
	bool moved;     /* DONE: the guest has changed hands, whatever became of it */
	bool post_copy; /* the second attempt: the guest goes over before its memory does */
	enum migration_mode mode; /* how it is copied, or was at the end */
	unsigned recovery; /* … which attempt to mend its way; source: the last, target: that it was asked for */
	msec broke_at; /* … boot time at which its way was seen to have broken down; 0: it has not */
	bool discard; /* target, OWNER: the image is not to be used */
	bool asks; /* the host was booted meanwhile: first the peer says that it has not taken the guest */
	bool taken;     /* target: the source was declared dead, and is not asked any more */
	bool reclaimed; /* source: the target was declared dead after it had been given the guest */
	bool lost; /* DONE: the peer has the guest by right, because this host was declared dead */
	char *reason;   /* owned or NULL: why it failed */
	char *document; /* owned or NULL; target: what PREPARE brought */
	char *offer;    /* owned or NULL; what PREPARED says: the target's, or to the source */
	char *address;  /* owned or NULL: of the target, as the source has it configured */
	char *policy;   /* owned or NULL: the MigrationPolicy that … */
	struct migration_limits limits; /* … these come from, or from the source's configuration … */
	bool frozen;     /* … which is so since it began; target: it was told them */
	int64_t size;    /* bytes that are to be sent, the most that was seen; 0: not known */
	msec began;      /* boot time: OUT was entered; 0: at another boot */
	msec ready_wall; /* when all of it was seen to be at the target; 0: never */
	msec phase_wall[MIGRATION_PHASE_MAX]; /* when each phase was entered; 0: never */
	msec doubt_wall;                      /* since when it has been in doubt; 0: it is not */
	msec doubt_at;                        /* … in boot time; not stored */
	bool doubt_told;                      /* … and that was said; not stored */

	/* What is known only in this life of the agent. */
	bool admitted;   /* source: the target has taken it on, and gets ready */
	bool prepared;   /* source: the target has said so; target: it is so */
	bool performed;  /* source: libvirt says that it has done it */
	bool watched;    /* source: … and somebody waits, or has waited, for its saying so */
	bool no_image;   /* source: the target has lost it */
	bool ended;      /* source: the target has finished: … */
	bool ended_well; /* … and the guest goes on there */
	bool copying;    /* target: the source has said that it runs */
	msec told_wall[MIGRATION_PHASE_MAX]; /* when, as the other host says; 0: it has not said so */
	bool called_off;                     /* target: the source has aborted */
	char *commit; /* owned or NULL; target: what COMMIT brought, until it is the owner */
	char *nvram; /* owned or NULL; what the guest's firmware keeps; source: as it was read; target: to be written */
	bool nvram_known;     /* source: that was read, or cannot be, … */
	unsigned nvram_tries; /* … after so many tries */
	bool doubt;           /* target: the database that would know is lost */
	msec performing_at; /* source: boot time at which libvirt was told to begin, or was found to have */
	msec calling_off_at; /* source: … since which it is told to stop; 0: it is not, … */
	msec call_off_at;    /* … and before which it is not told so again */
	char *refusal;       /* owned or NULL; source: the target's words */
	char *trouble; /* owned or NULL: what keeps the target from getting ready, in its words */
	bool wants_post_copy; /* source: the first attempt was called off for it */
	bool cut;             /* source: its relay was told to end */
	bool held;            /* source: its relay keeps the target's answer from libvirt */
	bool sealed;          /* source: … and did so until its QEMU had ended */
	bool unsealed;        /* source: … that was tried, and is not certain */
	bool let_go;          /* source: its relay was told to pass it on */
	bool forsaken;        /* target: there is nothing left at the source that could be sent */
	bool announced;       /* the network was told that the guest is here */
	bool passed;          /* target: what holds the guest back was told to let it go */
	enum migration_wait waits;          /* source: for what, before libvirt is told */
	struct migration_progress progress; /* what was last seen of it; target: told */
	msec complete_at; /* boot time; source: of the last COMPLETE; target: it was so; 0: never */
	msec owned_at;    /* source: when the target last said that it has it */
	msec evidence_at; /* source: boot time since which its guest is known to have gone over */
	enum handover_kind said; /* last, … */
	msec say_at;  /* … and the boot time before which it is not said again; 0: nothing was */
	msec look_at; /* boot time before which the domain is not looked at again */
	bool changed; /* to be saved by this turn's commit */
	bool removed; /* … to be forgotten */
};
void migration_free(struct migration *g);

/* The one setter of a state: asserts that it may follow. */
void migration_set_state(struct migration *g, enum migration_state state);
bool migration_state_may_become(enum migration_state from, enum migration_state to);

enum migration_phase migration_phase_of(const struct migration *g);
/* Notes the time at which a phase was entered: as the other host told it, if it did, and else now,
 * but not before what came earlier, which another clock may have told. Whether it is another one
 * than before. */
bool migration_note_phase(struct migration *g, struct now now);
/* When it has ended, wall time; 0: it has not. */
msec migration_end_of(const struct migration *g);

/* Nothing is to be done for it any more, whoever asks. */
bool migration_is_over(const struct migration *g);
/* It takes one of the places that there are for its direction. */
bool migration_is_under_way(const struct migration *g);
/* Nothing but its own steps is done to the machine. */
bool migration_holds(const struct migration *g);
/* Its streams' relay on this host is of use, or may be yet. */
bool migration_needs_relay(const struct migration *g);
/* Why no order is taken for the machine at this moment, in words: true, else false. */
bool migration_refuses(const struct migration *g, struct err *err);
/* A peer that declared this host dead may have taken the guest: after a boot it is
 * asked before anything runs. */
bool migration_may_be_lost(const struct migration *g);
/* The target's trouble, NULL or "": it has none. Bounded and printable, so that both hosts show the
 * same. Whether it is another one. */
bool migration_note_trouble(struct migration *g, const char *words);
/* Who runs the guest is not known here, and only the peer can tell: shown as a condition. */
bool migration_in_doubt(const struct migration *g);
/* What of it is not known, and what can be done; owned by the caller. */
char *migration_doubt_words(const struct migration *g);
/* Notes since when, or that it is not. */
void migration_note_doubt(struct migration *g, struct now now);

/* ---- the deciders ---------------------------------------------------------------------------- */

/* X(constant, name, op): as in decide.h */
#define MIGRATION_STEPS(X)                                               \
	X(NONE, "none", NONE)                                            \
	X(SAY, "say", NONE)   /* nothing else changes */                 \
	X(LOOK, "look", NONE) /* … the domain is read again */         \
	X(BEGIN, "begin", NONE)                                          \
	X(WAIT, "wait", NONE) /* and why is noted */                     \
	X(FAIL, "fail", NONE)                                            \
	X(PERFORM, "perform", MIGRATE)                                   \
	X(WATCH, "watch", MIGRATE_WATCH)                                 \
	X(CUT, "cut", NONE)     /* the streams to the target end */      \
	X(AGAIN, "again", NONE) /* with post-copy */                     \
	X(CANCEL, "cancel", MIGRATE_ABORT)                               \
	X(NOTE_EVIDENCE, "note-evidence", NONE)                          \
	X(RELEASE, "release", NONE)                                      \
	X(ABORT, "abort", NONE)                                          \
	X(RESUME, "resume", MIGRATE_RESUME)                              \
	X(ANNOUNCE, "announce", MIGRATE_ANNOUNCE)                        \
	X(RESTORE, "restore", NONE)                                      \
	X(PREPARE, "prepare", MIGRATE_PREPARE)                           \
	X(COMPLETE, "complete", NONE)                                    \
	X(TAKE_OVER, "take-over", NONE)                                  \
	X(PASS_ON, "pass-on", MIGRATE_PASS)                              \
	X(SEAL, "seal", MIGRATE_SEAL)                                    \
	X(LET_GO, "let-go", MIGRATE_PASS)                                \
	X(READ_NVRAM, "read-nvram", MIGRATE_READ_NVRAM)                  \
	X(WRITE_NVRAM, "write-nvram", MIGRATE_WRITE_NVRAM)               \
	X(OWN, "own", NONE)                                              \
	X(BREAK, "break", NONE)   /* its way broke down, in post-copy */ \
	X(MENDED, "mended", NONE) /* … and the rest of it follows */   \
	X(RELAY, "relay", MIGRATE_RELAY)                                 \
	X(RECOVER, "recover", MIGRATE)                                   \
	X(DISCARD, "discard", DESTROY)                                   \
	X(FINISH, "finish", NONE)                                        \
	X(CLEAN, "clean", NONE)                                          \
	X(TELL_DOUBT, "tell-doubt", NONE)

enum migration_step {
#define X(c, name, op) MIGRATION_STEP_##c,
	MIGRATION_STEPS(X)
#undef X
		MIGRATION_STEP_MAX
};
const char *migration_step_name(enum migration_step step);
enum op_kind migration_step_op(enum migration_step step);

struct migration_view { /* what the deciders look at; borrowed */
	const struct migration *g;
	const struct machine *m; /* or NULL: it is gone */
	const struct handover_rules *rules;
	struct now now;
	bool connected; /* to libvirt */
	bool peer_up;
	bool may_begin; /* it is its turn: fewer than may leave the host are under way */
	bool unsettled; /* the other host of an earlier one would take the guest if this one were declared dead */
};

struct migration_plan {
	enum migration_step step;
	enum handover_kind say;    /* SAY */
	bool succeeded;            /* FINISH */
	enum migration_wait waits; /* WAIT */
	/* FAIL, ABORT, FINISH, CUT: why, or NULL; a constant, or the migration's. */
	const char *reason;
	const char *because; /* ABORT: … and why that, or NULL; the migration's */
	msec wake_at;        /* boot time at which to decide again; NEVER: only on news */
};

/* At most one step; with no new fact a second call plans nothing new. */
struct migration_plan migration_decide(const struct migration_view *v);

/* ---- what is said ---------------------------------------------------------------------------- */

/*
 * What a host answers to a message about a migration that it knows, and what it notes for its
 * decider; a COMMIT, and a PREPARE of one that is not known yet, are the caller's.
 */
struct migration_answer {
	bool any;
	bool lost; /* the peer has the guest by right: what is of it here goes */
	enum handover_kind say;
};
struct migration_answer migration_hear(struct migration *g, const struct handover *h,
	struct now now);
/* Which attempt to mend a way what was said, or offered, is about; 0: none. */
unsigned migration_recovery_of(const char *document);
/* At the source: nothing of the guest is left here that could be sent, or nobody has mended
 * its way in time. */
bool migration_is_spent(const struct migration *g, const struct machine *m, struct now now);
/* … that it does not know; database: its own. */
struct migration_answer migration_unknown(const struct handover *h, const char *database,
	const struct handover_rules *rules);

/* ---- stored and shown ------------------------------------------------------------------------ */

char *migration_text(const struct migration *g); /* the private state; owned by the caller */
int migration_load(const char *state, bool same_boot, struct migration **ret, struct err *err);
/* The VirtualMachineInstanceMigration; owned by the caller. node: this host. */
char *migration_document(const struct migration *g, const char *node);

#endif
