/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a running guest can come to this host: a table of checks over what is known of both hosts
 * and of the guest. All that is wrong is found at once, in words for who wants to send it. Pure.
 */
#ifndef VMAGENT_CORE_MIGRATION_CHECK_H
#define VMAGENT_CORE_MIGRATION_CHECK_H

#include "core/manifest.h"

/* X(constant, name, as the field of a finding) in the order in which they are told. Those of the
 * second part are what a start here would wait for, in that one's words; the last is of a host that
 * has not found out yet. */
#define MIGRATION_CHECKS(X)               \
	X(ENABLED, "migrations")          \
	X(HOST, "host")                   \
	X(GOING_DOWN, "hostShutdown")     \
	X(LIBVIRT, "libvirt")             \
	X(EPOCH, "epoch")                 \
	X(NAME, "name")                   \
	X(ADOPTED, "domain")              \
	X(ENCRYPTION, "encryption")       \
	X(ACCELERATION, "virtualization") \
	X(QEMU, "qemu")                   \
	X(MACHINE, "machine")             \
	X(CPU, "cpu")                     \
	X(FIRMWARE, "firmware")           \
	X(SPACE, "disk")                  \
	X(LIVE, "liveMigratable")         \
	X(VALID, "spec")                  \
	X(OBJECTS, "objects")             \
	X(CLASSES, "storageClasses")      \
	X(KVM, "kvm")                     \
	X(PLACE, "placement")             \
	X(CLAIMS, "claims")               \
	X(VOLUMES, "volumes")             \
	X(MEDIA, "media")                 \
	X(NETWORKS, "networks")           \
	X(MACS, "macAddresses")           \
	X(ROOM, "capacity")               \
	X(LATE, "peer")

enum migration_check {
#define X(c, t) MIGRATION_CHECK_##c,
	MIGRATION_CHECKS(X)
#undef X
		MIGRATION_CHECK_MAX
};

/* Text as in findings; what is not known on one side is not compared. */
struct migration_facts {
	bool enabled;    /* guests may be moved to this host */
	bool going_down; /* this host is told to shut down */
	bool connected;  /* this host's libvirt is */
	bool stale;      /* this host had the guest later than the one that sends it */
	bool has_name;   /* it has a virtual machine of that name */
	bool adopted;    /* its domain was made by somebody else */
	/* Its streams are not to be encrypted: both want that, or none. */
	bool they_disable_tls, we_disable_tls;
	const char *their_host; /* UUIDs, as libvirt has them; "" or NULL: not known */
	const char *our_host;
	bool needs_kvm, has_kvm; /* the guest runs on hardware virtualization; guests do so here */
	bool needs_tcg;          /* … it is emulated */
	long their_qemu, our_qemu; /* as libvirt counts versions: 7002005; 0: not known */
	const char *machine;       /* the guest's machine type, canonical; NULL: not known */
	bool has_machine;          /* QEMU has it here */
	/* The EFI firmware that the guest has, as firmware_write() has it; NULL: none. */
	const char *firmware;
	const char *firmwares; /* … and those that are here; NULL: not known */
	const char *cpu;       /* why the guest's CPU cannot be had here; NULL: it can */
	int64_t copies;        /* bytes that copies of its disks may take … */
	int64_t space;         /* … and those that are free for them; below 0: not known */
	const char *folder;    /* … where */
	char *words[MIGRATION_CHECK_MAX]; /* owned or NULL: what other rules found */
};
void migration_facts_done(struct migration_facts *facts);

/* As the field of a finding. */
const char *migration_check_name(enum migration_check check);
/* Whether there is one that another time may not be found. */
bool migration_findings_are_late(const struct findings *findings);

/* Adds a finding for each check that fails. */
void migration_check(const struct migration_facts *facts, struct findings *ret);

/* Findings as JSON, to be told to another host, and back. Text that comes from outside is printable
 * ASCII afterwards. Owned by the caller. */
#define MIGRATION_FINDINGS_MAX (1 << 16) /* bytes of that */
char *migration_findings_write(const struct findings *findings);
void migration_findings_read(const char *json, struct findings *ret);

/* All of it on one line: "<message>; <message>"; owned by the caller, NULL for none. */
char *migration_findings_words(const struct findings *findings);

#endif
