/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests and room. Owns the figures of QEMU's overhead: KubeVirt's, without those of the
 * processes that a launcher pod has beside QEMU and a host has not. It must not know who runs.
 */
#include "core/capacity.h"

#include <stdio.h>

#define MIB INT64_C(1048576)
#define GIB (1024 * MIB)

#define QEMU_MIB        30 /* whatever it runs */
#define VCPU_MIB        8  /* … and for each CPU and I/O thread */
#define GRAPHICS_MIB    32
#define VFIO_MIB        1024 /* for the windows of the host's devices, however many */
#define CEILING_MIB     128  /* beyond what it asks for it may not be killed for, either … */
#define TRANSLATION_MIB 1024 /* … nor for what it translates without KVM */
/* Bytes: beyond it nothing is told apart, so that sums stay sums. */
#define MEMORY_MAX      (INT64_C(1) << 50)
#define PAGE_TABLE_PER  512 /* a byte for so many of the guest's */

static unsigned vcpus_of(const struct vmi_spec *spec)
{
	return spec->sockets * spec->cores * spec->threads;
}

static bool has_host_device(const struct vmi_spec *spec)
{
	bool has = spec->n_devices;

	for (size_t i = 0; i < spec->n_interfaces; i++)
		has |= spec->interfaces[i].binding == BINDING_SRIOV;
	return has;
}

int64_t qemu_overhead(const struct vmi_spec *spec)
{
	int64_t mib = QEMU_MIB + VCPU_MIB * ((int64_t)vcpus_of(spec) + 1);

	if (spec->graphics)
		mib += GRAPHICS_MIB;
	if (has_host_device(spec))
		mib += VFIO_MIB;
	return mib * MIB + spec->memory / PAGE_TABLE_PER;
}

int64_t memory_ceiling(const struct vmi_spec *spec, bool kvm)
{
	int64_t mib = CEILING_MIB + (kvm ? 0 : TRANSLATION_MIB);

	return MIN(MAX(spec->demands.limit.memory, spec->memory), MEMORY_MAX) +
		qemu_overhead(spec) + spec->demands.added_overhead + mib * MIB;
}

/* A CPU limit alone is a request, too (semantics §9.5). Dedicated CPUs are none of
 * those that are shared. */
static int64_t cpu_request(const struct vmi_spec *spec, const struct tuning *tuning)
{
	if (spec->dedicated)
		return 0;
	if (spec->demands.request.cpu)
		return spec->demands.request.cpu;
	if (spec->demands.limit.cpu)
		return spec->demands.limit.cpu;
	return INT64_C(1000) * vcpus_of(spec) / tuning->cpu_ratio;
}

/* In two steps, because a guest's memory times a hundred may be more than fits. */
static int64_t memory_request(const struct vmi_spec *spec, const struct tuning *tuning)
{
	int64_t percent = tuning->memory_percent;

	if (spec->demands.request.memory)
		return spec->demands.request.memory;
	return spec->memory / percent * 100 + spec->memory % percent * 100 / percent;
}

struct resources requests_of(const struct vmi_spec *spec, const struct tuning *tuning)
{
	int64_t memory = MIN(memory_request(spec, tuning), MEMORY_MAX);

	if (!spec->demands.overcommit_overhead)
		memory += qemu_overhead(spec) + spec->demands.added_overhead;
	return (struct resources){ .memory = memory, .cpu = cpu_request(spec, tuning) };
}

static int64_t less(int64_t total, int64_t reserved)
{
	return total ? MAX(total - reserved, 1) : 0;
}

struct resources allocatable_of(const struct resources *total, const struct tuning *tuning)
{
	return (struct resources){
		.memory = less(total->memory, tuning->reserved.memory),
		.cpu = less(total->cpu, tuning->reserved.cpu),
	};
}

/* ---- room ------------------------------------------------------------------------------------ */

static bool has_memory(const struct room *room, const struct resources *need)
{
	return !room->allocatable.memory || need->memory <= room->free.memory;
}

/* Who asks for none, because it has its own, does not care how many are left. */
static bool has_cpu(const struct room *room, const struct resources *need)
{
	return !need->cpu || !room->allocatable.cpu || need->cpu <= room->free.cpu;
}

bool room_fits(const struct room *room, const struct resources *need)
{
	return has_memory(room, need) && has_cpu(room, need);
}

/* One decimal, and none where it is 0. */
static void decimal_text(int64_t value, int64_t unit, const char *name, char ret[AMOUNT_SIZE])
{
	int64_t tenths = value / unit * 10 + value % unit * 10 / unit;

	if (tenths % 10)
		snprintf(ret, AMOUNT_SIZE, "%lld.%lld%s", (long long)(tenths / 10),
			(long long)(tenths % 10), name);
	else
		snprintf(ret, AMOUNT_SIZE, "%lld%s", (long long)(tenths / 10), name);
}

/* Rounded down. */
void memory_text(int64_t bytes, char ret[AMOUNT_SIZE])
{
	if (bytes >= GIB)
		decimal_text(bytes, GIB, "Gi", ret);
	else
		snprintf(ret, AMOUNT_SIZE, "%lldMi", (long long)(MAX(bytes, 0) / MIB));
}

void cpu_text(int64_t thousandths, char ret[AMOUNT_SIZE])
{
	if (thousandths >= 1000 && thousandths % 100 == 0)
		decimal_text(thousandths, 1000, "", ret);
	else
		snprintf(ret, AMOUNT_SIZE, "%lldm", (long long)MAX(thousandths, 0));
}

/* "needs 4Gi of memory, 1.5Gi of 8Gi is free" */
static void add_lack(struct buf *out, const char *what, const char *of,
	const char *const amounts[3])
{
	buf_printf(out, "%s1 Insufficient %s: needs %s%s, %s of %s is free", out->len ? "; " : "",
		what, amounts[0], of, amounts[1], amounts[2]);
}

/* So that what is needed does not read as what is free. */
static int64_t rounded_up(int64_t bytes)
{
	return bytes + (bytes >= GIB ? GIB / 10 : MIB - 1);
}

static void add_lack_of_memory(struct buf *out, const struct room *room,
	const struct resources *need)
{
	char needed[AMOUNT_SIZE], left[AMOUNT_SIZE], all[AMOUNT_SIZE];
	const char *const amounts[] = { needed, left, all };

	memory_text(rounded_up(need->memory), needed);
	memory_text(room->free.memory, left);
	memory_text(room->allocatable.memory, all);
	add_lack(out, "memory", " of memory", amounts);
}

static void add_lack_of_cpu(struct buf *out, const struct room *room, const struct resources *need)
{
	char needed[AMOUNT_SIZE], left[AMOUNT_SIZE], all[AMOUNT_SIZE];
	const char *const amounts[] = { needed, left, all };

	cpu_text(need->cpu, needed);
	cpu_text(room->free.cpu, left);
	cpu_text(room->allocatable.cpu, all);
	add_lack(out, "cpu", " CPUs", amounts);
}

char *room_words(const struct room *room, const struct resources *need, const char *holder)
{
	struct room empty = { room->allocatable, room->allocatable };
	struct buf out = { 0 };

	if (!has_memory(room, need))
		add_lack_of_memory(&out, room, need);
	if (!has_cpu(room, need))
		add_lack_of_cpu(&out, room, need);
	if (!room_fits(&empty, need))
		buf_puts(&out, ", which is never enough: lower the VM's requests");
	else if (holder)
		buf_printf(&out, "; stop '%s' or lower requests", holder);
	return out.data;
}
