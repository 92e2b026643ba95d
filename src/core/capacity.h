/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run asks of its host, derived as KubeVirt derives a launcher pod's requests, and in words
 * what is missing. Pure.
 */
#ifndef VMAGENT_CORE_CAPACITY_H
#define VMAGENT_CORE_CAPACITY_H

#include <vmagent/model.h>

#include "core/tuning.h"

/* What QEMU itself needs beside the guest's memory: bytes. */
int64_t qemu_overhead(const struct vmi_spec *spec);

/* What QEMU may have at most where limits.memory is given: bytes. The limit is the guest's, and
 * what QEMU may need beside it comes on top, so that it is not killed for being what it is. */
int64_t memory_ceiling(const struct vmi_spec *spec, bool kvm);

/* Memory with QEMU's overhead, and CPU. */
struct resources requests_of(const struct vmi_spec *spec, const struct tuning *tuning);

/* total less what is reserved for the host itself; 0 stays 0, which is not known
 * and never too little. */
struct resources allocatable_of(const struct resources *total, const struct tuning *tuning);

struct room { /* of a host */
	struct resources allocatable;
	struct resources free; /* may be below zero */
};

bool room_fits(const struct room *room, const struct resources *need);

/* What of room is not enough for need: "1 Insufficient memory: needs …"; owned by the caller.
 * holder is who could be stopped for it, or NULL. */
char *room_words(const struct room *room, const struct resources *need, const char *holder);

/* "1.5Gi", "128Mi"; "500m", "2". */
#define AMOUNT_SIZE 32
void memory_text(int64_t bytes, char ret[AMOUNT_SIZE]);
void cpu_text(int64_t thousandths, char ret[AMOUNT_SIZE]);

#endif
