/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A domain's memory and CPUs: how many there are and may be, of which model, in which order.
 */
#include "core/domxml_write.h"

#include <inttypes.h>

unsigned domain_max_sockets(const struct vmi_spec *spec)
{
	return MAX(spec->max_sockets, spec->sockets);
}

static void huge_pages(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	xml_open(w, "hugepages");
	xml_open(w, "page");
	xml_attr_int(w, "size", spec->huge_pages);
	xml_attr(w, "unit", "b");
	xml_close(w);
	xml_close(w);
	if (spec->realtime)
		xml_empty(w, "nosharepages", NULL);
}

static void memory_backing(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	bool shared = domain_has_folders(spec);

	if (!spec->huge_pages && !shared)
		return;
	xml_open(w, "memoryBacking");
	if (spec->huge_pages)
		huge_pages(w, spec);
	if (shared) {
		xml_empty(w, "source", "type", "memfd", NULL);
		xml_empty(w, "access", "mode", "shared", NULL);
	}
	xml_close(w);
}

/* What it has from the start is the current number; the rest could be plugged in. */
static void vcpu(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	unsigned per_socket = spec->cores * spec->threads;
	autofree char *cpus = domain_cpus(spec, context);
	autofree char *vcpus = xasprintf("%u", domain_max_sockets(spec) * per_socket);

	xml_open(w, "vcpu");
	xml_attr(w, "placement", cpus ? "static" : NULL);
	xml_attr(w, "cpuset", cpus);
	if (domain_max_sockets(spec) > spec->sockets)
		xml_attr_int(w, "current", spec->sockets * per_socket);
	xml_put(w, vcpus);
	xml_close(w);
}

void domain_size(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	unsigned io_threads = domain_io_threads(spec);
	autofree char *threads = xasprintf("%u", io_threads);

	if (spec->max_memory) {
		autofree char *most = xasprintf("%" PRId64, spec->max_memory);

		xml_open(w, "maxMemory");
		xml_attr(w, "slots", "1");
		xml_attr(w, "unit", "b");
		xml_put(w, most);
		xml_close(w);
	}
	xml_bytes(w, "memory", MAX(spec->max_memory, spec->memory));
	if (spec->max_memory)
		xml_bytes(w, "currentMemory", spec->memory);
	memory_backing(w, spec);
	vcpu(w, spec, context);
	if (io_threads)
		xml_leaf(w, "iothreads", threads);
}

static void topology(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	xml_open(w, "topology");
	xml_attr_int(w, "sockets", domain_max_sockets(spec));
	xml_attr_int(w, "cores", spec->cores);
	xml_attr_int(w, "threads", spec->threads);
	xml_close(w);
}

/* Memory can only be plugged into a node, and only a node's is of one of the host's. */
static void numa(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	unsigned vcpus = domain_max_sockets(spec) * spec->cores * spec->threads;
	autofree char *all = vcpus > 1 ? xasprintf("0-%u", vcpus - 1) : xstrdup("0");
	autofree char *memory = xasprintf("%" PRId64, spec->memory);

	if (!spec->max_memory && !spec->numa_passthrough)
		return;
	xml_open(w, "numa");
	xml_empty(w, "cell", "id", "0", "cpus", all, "memory", memory, "unit", "b", NULL);
	xml_close(w);
}

/*
 * Without KVM there is no host CPU to pass through: `maximum` is what is nearest. A named model is
 * not compared with what TCG can do, so that a manifest made for KVM still runs; QEMU leaves out
 * what it lacks, and says so in the domain's log.
 */
void domain_cpu(xmlTextWriterPtr w, const struct vmi_spec *spec, bool kvm)
{
	const char *model = spec->cpu_model ? spec->cpu_model : "host-model";

	xml_open(w, "cpu");
	if (streq(model, "host-model")) {
		xml_attr(w, "mode", "host-model");
	} else if (streq(model, "host-passthrough")) {
		xml_attr(w, "mode", kvm ? "host-passthrough" : "maximum");
	} else {
		xml_attr(w, "mode", "custom");
		xml_attr(w, "match", "exact");
		xml_attr(w, "check", kvm ? NULL : "none");
		xml_leaf(w, "model", model);
	}
	topology(w, spec);
	for (size_t i = 0; i < spec->n_cpu_features; i++)
		xml_empty(w, "feature", "policy", spec->cpu_features[i].policy, "name",
			spec->cpu_features[i].name, NULL);
	numa(w, spec);
	xml_close(w);
}
