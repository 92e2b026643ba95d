/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run's libvirt domain, as XML made by libxml2's writer (which escapes everything), and the work
 * its volumes need. Both use the same paths, so both live here. Pure.
 */
#ifndef VMAGENT_CORE_DOMXML_H
#define VMAGENT_CORE_DOMXML_H

#include <vmagent/hypervisor.h>

#include "core/attach.h"
#include "core/firmware.h"

/* Devices are named by what the spec calls them, behind libvirt's own mark of
 * aliases that users give. */
#define ALIAS_PREFIX "ua-"

/* An interface's alias begins so: a disk may have the same name, but no disk's has an
 * underscore. */
#define INTERFACE_ALIAS "net_"

/* … and so do those of the host's devices. */
#define GPU_ALIAS         "gpu_"
#define HOST_DEVICE_ALIAS "hostdevice_"

/* … and of folders, which are volumes as disks are. */
#define FOLDER_ALIAS "fs_"

#define DOMAIN_METADATA_URI "https://vmagent.io/domain/1"
#define DOMAIN_METADATA_KEY "vmagent" /* the prefix of its namespace */

/* In the run's folder: the serial console's unix socket, on which QEMU listens, and its output. */
#define DOMAIN_CONSOLE_FILE     "serial0"
#define DOMAIN_CONSOLE_LOG_FILE "serial0.log"

/* … and the folder with those that the guest has as filesystems, each by its volume's name. */
#define DOMAIN_FOLDERS "folders"

/* The guest agent's virtio channel, and its socket in the run's folder. */
#define DOMAIN_AGENT_CHANNEL "org.qemu.guest_agent.0"
#define DOMAIN_AGENT_FILE    "agent0"

/* In the VM's folder, or in that of a run which came from another host: the firmware's
 * variables. */
#define DOMAIN_NVRAM_FILE "nvram"

/* The video device, by firmware, and its memory in KiB. */
#define DOMAIN_VIDEO_BIOS "vga"
#define DOMAIN_VIDEO_EFI  "bochs"
#define DOMAIN_VIDEO_KIB  "16384"

/* How long the path of a run's folder may be, so that the socket's fits a sockaddr_un (107
 * characters). */
#define DOMAIN_DIRECTORY_MAX (107 - sizeof(DOMAIN_CONSOLE_FILE))
_Static_assert(sizeof(DOMAIN_AGENT_FILE) <= sizeof(DOMAIN_CONSOLE_FILE), "it fits there as well");

struct domain_context { /* borrowed strings */
	const char *ns, *name;
	const char *vmi_uid;
	const char *vm_uid;    /* "" for a bare VMI */
	int64_t epoch;         /* ownership epoch; 1 */
	const char *held;      /* what of the host it has to itself, as text; NULL: nothing */
	const char *directory; /* the run's own folder: overlays, console log */
	const char *kept;      /* the VM's own folder, which outlives its runs; NULL: it has none */
	bool kvm;              /* domain type kvm, else qemu (TCG) */
	/* Of each interface; NULL: user-mode networking for all. */
	const struct attachment *attachments;
	const struct holding *holding; /* … parsed; NULL: nothing */
	const char *shared_cpus;       /* those for guests without any of their own; NULL: all */
	/* The one it has, of a guest that comes from another host; NULL: libvirt chooses. */
	const struct firmware *firmware;
	bool pvpanic; /* libvirt knows the PCI panic device (9.1); else the ISA one stands in */
};

/* <namespace>_<name>; owned by the caller. */
char *domain_name(const char *ns, const char *name);

/*
 * The domain XML; owned by the caller. Backing images stand in it without their format, disks with
 * the type "file": what only the host can know is completed by the adapter that starts the domain.
 */
char *domain_xml(const struct vmi_spec *spec, const struct domain_context *context);

/* The metadata element alone, as virDomainSetMetadata() takes it (libvirt adds the namespace by
 * DOMAIN_METADATA_KEY and _URI); owned by the caller. */
char *domain_metadata_xml(const struct domain_context *context);

/* Where the firmware's variables lie, or NULL: where libvirt puts them; owned by the caller. */
char *domain_nvram(const struct vmi_spec *spec, const struct domain_context *context);

/* Whether a VM with this spec keeps something from run to run that libvirt has to be asked for. */
bool domain_is_kept(const struct vmi_spec *spec);

/* A domain that is only defined to be undefined along with the TPM that libvirt keeps. vmi_uid in
 * the context is whoever removes it. Owned by the caller. */
char *domain_purge_xml(const char *uuid, const struct domain_context *context);

/* What PREPARE has to do, in order; owned by the caller (op_done() frees it with the op). */
void volume_works(const struct vmi_spec *spec, const char *directory, struct volume_work **ret_work,
	size_t *ret_n);

/* Where the file of the volume of that name lies; NULL if there is no such volume.
 * Owned by the caller. */
char *volume_path(const struct vmi_spec *spec, const char *name, const char *directory);

const struct volume *volume_of(const struct vmi_spec *spec, const char *name); /* or NULL */

/* In bytes, of one that is made; else 0. */
int64_t volume_size(const struct volume *volume);

/* The disk's device name as the guest counts: vda, sdb. */
#define TARGET_SIZE 16
void disk_target(const struct vmi_spec *spec, const struct disk *disk, char ret[TARGET_SIZE]);

/* The NIC's address; vm_uid is "" for a bare VMI. Owned by the caller. */
char *interface_mac(const struct interface *nic, const char *vm_uid, const char *vmi_uid);

/* Over how many queues it is served, attached so. */
unsigned interface_queues(const struct vmi_spec *spec, const struct interface *nic,
	enum attach_kind kind);

/* The libvirt network that stands for a pool of SR-IOV devices; owned by the caller. */
char *pool_network_name(const char *pool);

/* The metadata element's VMI UID in a domain's XML or in the element itself; false if absent. Reads
 * with no network and no entity expansion. ret_epoch may be NULL. */
bool domain_metadata_parse(const char *xml, char ret_vmi_uid[UID_SIZE], int64_t *ret_epoch);

/* What of the host the run has to itself, as it says; owned by the caller, or NULL. */
char *domain_metadata_held(const char *xml);

#endif
