/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few words in which domxml*.c says XML, over libxml2's writer, which escapes all that
 * it is given. The writer works in memory, so that it can only fail for want of memory:
 * then the program ends.
 */
#ifndef VMAGENT_CORE_DOMXML_WRITE_H
#define VMAGENT_CORE_DOMXML_WRITE_H

#include <libxml/xmlwriter.h>

#include "core/domxml.h"

struct xml_text { /* a document that is being written; owned */
	xmlBufferPtr buffer;
	xmlTextWriterPtr w;
};
struct xml_text xml_begin(void);
char *xml_end(struct xml_text *text); /* the document, owned by the caller; text is gone */

void xml_open(xmlTextWriterPtr w, const char *element);
void xml_close(xmlTextWriterPtr w);
void xml_attr(xmlTextWriterPtr w, const char *name, const char *value); /* no value: no attribute */
void xml_attr_int(xmlTextWriterPtr w, const char *name, int64_t value);
void xml_leaf(xmlTextWriterPtr w, const char *element, const char *text); /* no text: no element */

void xml_put(xmlTextWriterPtr w, const char *text);
/* <memory unit="b">N</memory> */
void xml_bytes(xmlTextWriterPtr w, const char *element, int64_t value);

/* An element that is nothing but attributes: name, value, …, NULL. */
void xml_empty(xmlTextWriterPtr w, const char *element, ...) __attribute__((sentinel));

/* Parts of many devices: each writes nothing for 0 or NULL. */
void xml_boot_order(xmlTextWriterPtr w, unsigned order);
void xml_pci_address(xmlTextWriterPtr w, const char *text); /* dddd:bb:ss.f */
void xml_pci_source(xmlTextWriterPtr w, const char *text);  /* the host's */
void xml_alias(xmlTextWriterPtr w, const char *name);       /* never NULL */

/* domxml_disks.c */
bool domain_has_bus(const struct vmi_spec *spec, enum disk_bus bus);
void domain_disks(xmlTextWriterPtr w, const struct vmi_spec *spec, const char *directory);

/* domxml_folders.c; the guest's memory is shared with who serves them. */
bool domain_has_folders(const struct vmi_spec *spec);
void domain_folders(xmlTextWriterPtr w, const struct vmi_spec *spec, const char *directory);

/* domxml_interfaces.c */
void domain_interfaces(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context);

/* Virtio devices of both of its generations: of before 1.0, and since. */
#define VIRTIO_TRANSITIONAL "virtio-transitional"
const char *xml_virtio(const struct vmi_spec *spec); /* the model of a virtio device; a constant */

/* domxml.c: whose domain it is. */
void domain_metadata(xmlTextWriterPtr w, const struct domain_context *context);

/* domxml_kept.c; kept: what it holds is, from run to run. */
void domain_tpm(xmlTextWriterPtr w, enum tpm tpm, bool kept);

/* domxml_cpu.c: <memory>, <vcpu> and what belongs to them; <cpu>. */
void domain_size(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context);
void domain_cpu(xmlTextWriterPtr w, const struct vmi_spec *spec, bool kvm);
unsigned domain_max_sockets(const struct vmi_spec *spec);

/* domxml_limits.c: <memtune>, <cputune> and <numatune>. */
void domain_limits(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context);

/* domxml_hostdev.c. The CPUs of the host that its threads may use, as a set; NULL: all.
 * Owned by the caller. */
char *domain_cpus(const struct vmi_spec *spec, const struct domain_context *context);
/* Each vCPU has one of them; within <cputune>. */
bool domain_has_pins(const struct vmi_spec *spec, const struct domain_context *context);
void domain_pins(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context);
void domain_numatune(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context);
/* Devices of the host, and <vsock>. */
bool domain_has_usb_device(const struct vmi_spec *spec, const struct domain_context *context);
void domain_host_devices(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context);

/* domxml_qemu.c: what libvirt has no words for is said to QEMU itself. */
#define DOMAIN_QEMU_URI "http://libvirt.org/schemas/domain/qemu/1.0"
bool domain_has_qemu(const struct vmi_spec *spec, bool kvm);
void domain_qemu(xmlTextWriterPtr w, const struct vmi_spec *spec, bool kvm);

/* domxml_devices.c: the whole <devices> element. */
void domain_devices(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context);

/* domxml_features.c: the elements <features> and <clock>. */
void domain_features(xmlTextWriterPtr w, const struct vmi_spec *spec, bool with_kvm);
void domain_clock(xmlTextWriterPtr w, const struct clock *clock, bool with_kvm);

/* domxml_peripherals.c: inputs, sound, watchdog, balloon, random numbers; and the threads of
 * disks. */
void domain_peripherals(xmlTextWriterPtr w, const struct vmi_spec *spec);
unsigned domain_io_threads(const struct vmi_spec *spec);
unsigned disk_io_thread(const struct vmi_spec *spec, const struct disk *disk); /* 0: none */

/* domxml_volumes.c. The file that a volume's disk reads and writes; owned by the caller. */
char *volume_target(const struct volume *volume, const char *directory);
/* The link that leads to the image behind it, or NULL; owned by the caller. */
char *volume_base(const struct volume *volume, const char *directory);
/* The links that lead to the files of kernelBoot; owned by the caller. */
char *slic_path(const char *directory);
/* … of whose files it is; NULL: none. */
const struct volume *spec_slic(const struct vmi_spec *spec);
char *kernel_path(const char *directory);
char *initrd_path(const char *directory);

#endif
