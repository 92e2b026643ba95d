/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libvirt tells of a host that decides whether a guest of another one can go on there: as text
 * between the adapter and the agent. Pure.
 */
#ifndef VMAGENT_CORE_HOST_REPORT_H
#define VMAGENT_CORE_HOST_REPORT_H

#include <vmagent/base.h>

struct host_report {
	long libvirt, qemu; /* versions as libvirt counts them; 0: not known */
	char *cpu;          /* owned or NULL: a guest's CPU that is this host's model, as XML */
	/* Owned or NULL: "q35=pc-q35-7.2,pc-q35-7.2=pc-q35-7.2,": names and what they stand for. */
	char *machines;
	char *firmwares; /* owned or NULL: the EFI firmware it has, a line each (core/firmware.h) */
	char *misfit;    /* owned or NULL: why the CPU that was asked about cannot be had here */
	/* Bytes that are free in the folder that was asked about; below 0: not known. */
	int64_t space;
};

char *host_report_write(const struct host_report *facts); /* owned by the caller */
/* What is missing is not known; text may be NULL. To be released with host_report_done(). */
void host_report_read(const char *text, struct host_report *ret);
void host_report_done(struct host_report *facts);

/* What a machine type's name stands for; owned by the caller, NULL: it is not there. */
char *host_report_machine(const struct host_report *facts, const char *name);

#endif
