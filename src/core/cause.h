/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a run ended: one table that names each cause, says whose doing it was, and has the words for
 * it (semantics §2.2 read backwards). Pure.
 */
#ifndef VMAGENT_CORE_CAUSE_H
#define VMAGENT_CORE_CAUSE_H

#include "core/decide.h"
#include "core/input.h"

/* clang-format off */
/*
 * X(constant, name, actor, whether QEMU's own output may tell more, words). The name is the
 * annotation vmagent.io/cause of the event: never changed, for others rely on it.
 */
#define CAUSES(X)                                                                                         \
	X(NONE,              "",                  AGENT,   false, "")                                     \
	X(GUEST_POWEROFF,    "GuestPoweroff",     GUEST,   false, "the guest powered itself off")         \
	X(GUEST_SHUTDOWN,    "GuestShutdown",     GUEST,   false, "the guest shut down when asked to")    \
	X(GUEST_PANIC,       "GuestPanic",        GUEST,   false, "the guest panicked")                   \
	X(QEMU_CRASHED,      "QEMUCrashed",       HOST,    true,  "QEMU ended without a shutdown")        \
	X(KILLED_LATE,       "KilledAfterGrace",  AGENT,   false, "killed when its grace period was over")\
	X(KILLED_AT_ONCE,    "KilledAtOnce",      AGENT,   false, "killed at once")                       \
	X(KILLED_FOR_HOST,   "KilledForHost",     HOST,    false,                                         \
		"killed when the host could wait no longer")                                              \
	X(DISCARDED,         "ImageDiscarded",    AGENT,   false,                                         \
		"what a migration left of it was of no use")                                             \
	X(DESTROYED,         "DestroyedOutside",  LIBVIRT, false, "destroyed from outside vmagent")       \
	X(SAVED,             "SavedOutside",      LIBVIRT, false, "saved from outside vmagent")           \
	X(REVERTED,          "RevertedOutside",   LIBVIRT, false, "reverted from outside vmagent")        \
	X(VANISHED,          "DomainVanished",    LIBVIRT, true,                                          \
		"the domain vanished, and nothing tells why")                                             \
	X(UNKNOWN,           "DomainEndUnknown",  LIBVIRT, true,                                          \
		"the domain is off, and libvirt does not know why")                                       \
	X(HOST_REBOOTED,     "HostRebooted",      HOST,    false, "the host was restarted")               \
	X(HOST_UNSEEN,       "HostShutdownUnseen", HOST,   false,                                         \
		"the host was restarted before it was seen to end")                                       \
	X(START_FAILED,      "StartFailed",       AGENT,   true,  "it cannot be started")                 \
	X(START_TIMEOUT,     "StartTimeout",      AGENT,   true,  "it could not be started in time")      \
	X(HOST_TOO_EARLY,    "HostShutdownBeforeStart", HOST, false, "it had not started")                \
	X(NEVER_RAN,         "DeletedBeforeRunning", AGENT, false, "deleted before it ran")
/* clang-format on */

enum cause {
#define X(c, name, actor, output, words) CAUSE_##c,
	CAUSES(X)
#undef X
		CAUSE_MAX
};

const char *cause_name(enum cause cause);
const char *cause_words(enum cause cause);
enum actor_kind cause_actor(enum cause cause);
bool cause_wants_output(enum cause cause);
bool cause_is_of_domain(enum cause cause); /* it ran, so that libvirt has something to say */

/* Of the run that plan, a SET_PHASE, ends; NONE if that is no end. */
enum cause cause_of(const struct vmi *vmi, const struct plan *plan);

#endif
