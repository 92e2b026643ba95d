/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a domain has beside disks and interfaces, and the threads that serve its disks. Those
 * are KubeVirt's: one for each disk that wants its own, and for all others one (shared), or
 * as many as there are such disks but at most two per CPU in all (auto), or as many as asked
 * for, in turn (supplementalPool).
 */
#include "core/domxml_write.h"

#define THREADS_PER_CPU 2

/* Only virtio can be served outside of QEMU's main thread. */
static bool has_thread(const struct disk *disk)
{
	return disk->bus == DISK_BUS_VIRTIO;
}

static unsigned count_disks(const struct vmi_spec *spec, bool dedicated)
{
	unsigned n = 0;

	for (size_t i = 0; i < spec->n_disks; i++)
		n += has_thread(&spec->disks[i]) && spec->disks[i].dedicated_io_thread == dedicated;
	return n;
}

/* How many threads the disks without one of their own share. */
static unsigned pool(const struct vmi_spec *spec)
{
	unsigned own = count_disks(spec, true), others = count_disks(spec, false);
	unsigned limit = spec->sockets * spec->cores * spec->threads * THREADS_PER_CPU;

	if (!others || spec->io_threads == IO_THREADS_UNSET)
		return 0;
	if (spec->io_threads == IO_THREADS_SHARED)
		return 1;
	if (spec->io_threads == IO_THREADS_POOL)
		return MAX(spec->io_pool, 1);
	return own + others <= limit ? others : own < limit ? limit - own : 1;
}

unsigned domain_io_threads(const struct vmi_spec *spec)
{
	return pool(spec) + count_disks(spec, true);
}

unsigned disk_io_thread(const struct vmi_spec *spec, const struct disk *disk)
{
	unsigned before = 0, n = pool(spec);

	if (!has_thread(disk) || (!disk->dedicated_io_thread && !n))
		return 0;
	for (const struct disk *d = spec->disks; d < disk; d++)
		before += has_thread(d) && d->dedicated_io_thread == disk->dedicated_io_thread;
	return disk->dedicated_io_thread ? n + before + 1 : before % n + 1;
}

static void input(xmlTextWriterPtr w, const struct input_device *input)
{
	xml_empty(w, "input", "type", "tablet", "bus", input->virtio ? "virtio" : "usb", NULL);
}

static void watchdog(xmlTextWriterPtr w, const char *action)
{
	xml_empty(w, "watchdog", "model", "i6300esb", "action", action, NULL);
}

static void balloon(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	xml_open(w, "memballoon");
	xml_attr(w, "model", spec->no_balloon ? "none" : xml_virtio(spec));
	if (!spec->no_balloon)
		xml_empty(w, "stats", "period", "10", NULL);
	xml_close(w);
}

static void rng(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	xml_open(w, "rng");
	xml_attr(w, "model", xml_virtio(spec));
	xml_open(w, "backend");
	xml_attr(w, "model", "random");
	xmlTextWriterWriteString(w, BAD_CAST "/dev/urandom");
	xml_close(w);
	xml_close(w);
}

#define MEMORY_BLOCK (INT64_C(2) << 20)

/* Room for memory, none of which is plugged in yet. */
static void memory(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	xml_open(w, "memory");
	xml_attr(w, "model", "virtio-mem");
	xml_open(w, "target");
	xml_bytes(w, "size", spec->max_memory - spec->memory);
	xml_leaf(w, "node", "0");
	xml_bytes(w, "block", MAX(spec->huge_pages, MEMORY_BLOCK));
	xml_bytes(w, "requested", 0);
	xml_close(w);
	xml_close(w);
}

void domain_peripherals(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	if (spec->max_memory)
		memory(w, spec);
	for (size_t i = 0; i < spec->n_inputs; i++)
		input(w, &spec->inputs[i]);
	if (spec->sound)
		xml_empty(w, "sound", "model", spec->sound, NULL);
	if (spec->watchdog)
		watchdog(w, spec->watchdog);
	balloon(w, spec);
	if (spec->rng)
		rng(w, spec);
}
