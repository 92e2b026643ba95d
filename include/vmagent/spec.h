/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The typed spec of a VirtualMachineInstance: what the agent understands of spec (of a VMI) or
 * spec.template.spec (of a VM), after defaulting. Built from a manifest tree by spec_parse(); the
 * domain XML and the volume work are derived from it. Field names are KubeVirt's.
 */
#ifndef VMAGENT_SPEC_H
#define VMAGENT_SPEC_H

#include <vmagent/base.h>
#include <vmagent/err.h>
#include <vmagent/placement.h>

/* One X-macro list gives an enum, its texts and its parser: X(constant, "text in manifests"). */
#define ENUM_DECLARE(type, prefix, LIST)          \
	const char *type##_name(enum type value); \
	bool type##_parse(const char *text, enum type *ret_value);

#define DISK_DEVICES(X) X(DISK, "disk") X(CDROM, "cdrom") X(LUN, "lun")
#define DISK_BUSES(X)   X(UNSET, "") X(VIRTIO, "virtio") X(SATA, "sata") X(SCSI, "scsi") X(USB, "usb")
#define DISK_CACHES(X) \
	X(UNSET, "") X(NONE, "none") X(WRITETHROUGH, "writethrough") X(WRITEBACK, "writeback")
/* clang-format off */
#define VOLUME_KINDS(X) \
	X(HOST_DISK,      "hostDisk") \
	X(CONTAINER_DISK, "containerDisk") \
	X(EMPTY_DISK,     "emptyDisk") \
	X(NO_CLOUD,       "cloudInitNoCloud") \
	X(CONFIG_DRIVE,   "cloudInitConfigDrive") \
	X(CONFIG_MAP,     "configMap") \
	X(SECRET,         "secret") \
	X(DOWNWARD_API,   "downwardAPI") \
	X(SYSPREP,        "sysprep") \
	X(CLAIM,          "persistentVolumeClaim") \
	X(EPHEMERAL,      "ephemeral")
/* clang-format on */
#define BOOTLOADERS(X)  X(BIOS, "bios") X(EFI, "efi") X(EFI_SECURE, "efi-secure")
#define PANIC_MODELS(X) X(ISA, "isa") X(HYPERV, "hyperv") X(PVPANIC, "pvpanic")

/* X(constant, KubeVirt's name, libvirt's) */
/* clang-format off */
#define HYPERV_FEATURES(X) \
	X(RELAXED,         "relaxed",         "relaxed") \
	X(VAPIC,           "vapic",           "vapic") \
	X(SPINLOCKS,       "spinlocks",       "spinlocks") \
	X(VPINDEX,         "vpindex",         "vpindex") \
	X(RUNTIME,         "runtime",         "runtime") \
	X(SYNIC,           "synic",           "synic") \
	X(STIMER,          "synictimer",      "stimer") \
	X(RESET,           "reset",           "reset") \
	X(VENDOR_ID,       "vendorid",        "vendor_id") \
	X(FREQUENCIES,     "frequencies",     "frequencies") \
	X(REENLIGHTENMENT, "reenlightenment", "reenlightenment") \
	X(TLBFLUSH,        "tlbflush",        "tlbflush") \
	X(IPI,             "ipi",             "ipi") \
	X(EVMCS,           "evmcs",           "evmcs")
#define TIMERS(X) \
	X(RTC,    "rtc",    "rtc") \
	X(PIT,    "pit",    "pit") \
	X(HPET,   "hpet",   "hpet") \
	X(HYPERV, "hyperv", "hypervclock") \
	X(KVM,    "kvm",    "kvmclock")
/* clang-format on */

enum hyperv_feature {
#define X(c, t, l) HYPERV_##c,
	HYPERV_FEATURES(X)
#undef X
		HYPERV_MAX
};
enum timer_kind {
#define X(c, t, l) TIMER_##c,
	TIMERS(X)
#undef X
		TIMER_MAX
};
enum toggle { TOGGLE_UNSET, TOGGLE_ON, TOGGLE_OFF };

enum disk_device {
#define X(c, t) DISK_DEVICE_##c,
	DISK_DEVICES(X)
#undef X
		DISK_DEVICE_MAX
};
enum disk_bus {
#define X(c, t) DISK_BUS_##c,
	DISK_BUSES(X)
#undef X
		DISK_BUS_MAX
};
enum disk_cache {
#define X(c, t) DISK_CACHE_##c,
	DISK_CACHES(X)
#undef X
		DISK_CACHE_MAX
};
enum volume_kind {
#define X(c, t) VOLUME_##c,
	VOLUME_KINDS(X)
#undef X
		VOLUME_KIND_MAX
};
enum bootloader {
#define X(c, t) BOOTLOADER_##c,
	BOOTLOADERS(X)
#undef X
		BOOTLOADER_MAX
};
enum panic_model {
#define X(c, t) PANIC_MODEL_##c,
	PANIC_MODELS(X)
#undef X
		PANIC_MODEL_MAX
};

ENUM_DECLARE(disk_device, DISK_DEVICE, DISK_DEVICES)
ENUM_DECLARE(disk_bus, DISK_BUS, DISK_BUSES)
ENUM_DECLARE(disk_cache, DISK_CACHE, DISK_CACHES)
ENUM_DECLARE(volume_kind, VOLUME, VOLUME_KINDS)
ENUM_DECLARE(bootloader, BOOTLOADER, BOOTLOADERS)
ENUM_DECLARE(panic_model, PANIC_MODEL, PANIC_MODELS)

#define SPEC_LIST_MAX     256 /* disks, volumes, interfaces, networks: KubeVirt's own bound */
#define PANIC_DEVICES_MAX 8
#define SLIC_FILE         "slic.bin" /* KubeVirt's name for it */

struct disk {
	char *name; /* owned; the volume's name */
	enum disk_device device;
	enum disk_bus bus; /* never UNSET after defaulting */
	enum disk_cache cache;
	bool readonly;
	unsigned boot_order;                    /* 0: none */
	char *serial;                           /* owned or NULL */
	char *tag;                              /* owned or NULL: what a config drive says of it */
	char *io;                               /* owned or NULL: left to QEMU */
	char *error_policy;                     /* owned or NULL: stop */
	char *pci_address;                      /* owned or NULL: left to libvirt */
	unsigned logical_block, physical_block; /* bytes; 0: left to QEMU */
	unsigned discard_granularity;           /* bytes; 0: left to QEMU */
	bool match_block;                       /* … they are those of the volume's file */
	bool dedicated_io_thread;
	bool shareable;   /* others may write to its volume at the same time */
	bool reservation; /* lun: persistent reservations of SCSI reach the device */
};

struct seed_text { /* one of cloud-init's; all NULL: not given. Owned, each */
	char *plain, *base64;
	char *secret; /* the Secret that holds it */
};

struct media_item { /* of downwardAPI: a file, and what it says. Owned, each */
	char *path;
	char *field;              /* metadata.name, or NULL */
	char *resource, *divisor; /* limits.cpu, 1; NULL: none */
	unsigned mode;            /* of the file in a folder; 0: as all */
};

struct media_source {  /* what a medium is made of */
	char *label;   /* owned */
	char *object;  /* owned or NULL: whose keys are its files, … */
	bool secret;   /* … a Secret's, or else a ConfigMap's */
	bool optional; /* … which may be missing */
	struct seed_text user, network;
	struct media_item *items; /* owned */
	size_t n_items;
};

struct volume {
	char *name; /* owned */
	enum volume_kind kind;
	char *path;       /* owned; hostDisk: the file; containerDisk: the image, without file:// */
	char *inner;      /* owned or NULL; containerDisk.path: the file within a folder's image */
	int64_t capacity; /* bytes; emptyDisk, and hostDisk with create */
	bool create;      /* hostDisk type DiskOrCreate */
	bool shared;      /* hostDisk shared: true; a claim that is ReadWriteMany */
	bool data_volume; /* it is named as the DataVolume that fills it */
	/* Owned or NULL: its PersistentVolumeClaim; path and the rest are the agent's to fill. */
	char *claim;
	struct media_source *media; /* owned or NULL: it is made for the guest */
	bool slic;                  /* its key SLIC_FILE is the guest's ACPI table SLIC */
	bool as_folder;             /* the guest has it as a folder (filesystems), not as a disk */
};

/* How far the DataVolumes of a VM are: that of the worst one. */
enum volumes_state { VOLUMES_READY, VOLUMES_UNBOUND, VOLUMES_FILLING, VOLUMES_FAILED };

struct vm_volume {  /* a DataVolume that its spec names, or makes */
	char *name; /* owned */
	bool template;
};

enum credential_way {
	CREDENTIAL_NO_CLOUD,
	CREDENTIAL_CONFIG_DRIVE,
	CREDENTIAL_AGENT_KEYS,
	CREDENTIAL_AGENT_PASSWORDS
};

struct credential {
	char *secret; /* owned: each of its values is a public key for ssh, or a user's password */
	enum credential_way way;
	char **users; /* owned; AGENT_KEYS: whose keys they are */
	size_t n_users;
};

struct probe_state { /* of one probe, in this life of the agent */
	/* Boot time before which the guest is not asked again; 0: it was not asked yet. */
	msec next_at;
	unsigned good, bad; /* answers in a row */
	char why[160];      /* what the last bad one was */
};

struct credentials_told { /* of those of a run's guest agent, in this life of ours */
	int64_t version;  /* which it is being told, or was, … */
	bool answered;    /* … and has answered to, … */
	char why[160];    /* … "": well */
	msec retry_at;    /* boot time before which it is not told again */
	unsigned tries;
};

#define BINDINGS(X)                 \
	X(MASQUERADE, "masquerade") \
	X(BRIDGE, "bridge")         \
	X(PASST, "passt")           \
	X(SRIOV, "sriov")           \
	X(MACVTAP, "macvtap")       \
	X(SLIRP, "slirp")
enum binding {
#define X(c, t) BINDING_##c,
	BINDINGS(X)
#undef X
		BINDING_MAX
};
ENUM_DECLARE(binding, BINDING, BINDINGS)

#define PORTS_MAX 256 /* of one interface's list: ours */

struct port_range {
	unsigned first, last; /* both included */
	bool udp;
};

struct interface {
	char *name; /* owned; the network's name */
	enum binding binding;
	/* Owned or NULL: the pod network; else the NetworkAttachmentDefinition that multus
	 * names. */
	char *network;
	char *cidr;               /* owned or NULL: pod.vmNetworkCIDR */
	char *cidr6;              /* owned or NULL: pod.vmIPv6NetworkCIDR */
	struct port_range *ports; /* owned; what of it may be reached; none: all */
	size_t n_ports;
	char *model;         /* owned; virtio unless given */
	char *mac;           /* owned or NULL */
	char *pci_address;   /* owned or NULL: left to libvirt */
	char *tag;           /* owned or NULL: what a config drive says of it */
	unsigned acpi_index; /* 0: none */
	bool down;           /* the link */
	bool absent;         /* it is to be taken away */
	unsigned boot_order;
};

struct kernel_boot {
	char *image;  /* owned; container.image, without file://: a folder */
	char *kernel; /* owned or NULL; path within the folder */
	char *initrd; /* owned or NULL */
	char *args;   /* owned or NULL */
};

struct cpu_feature {
	char *name;   /* owned */
	char *policy; /* owned; require unless given */
};

struct hyperv {
	enum toggle features[HYPERV_MAX];
	bool passthrough;
	unsigned spinlocks; /* retries */
	char *vendor_id;    /* owned or NULL */
	enum toggle direct; /* synictimer.direct */
	enum toggle flush_direct, flush_extended;
};

struct features {
	bool no_apic;
	enum toggle apic_eoi, kvm_hidden, pvspinlock;
	struct hyperv hyperv;
};

struct timer {
	enum toggle present; /* UNSET: libvirt's default */
	char *tick_policy;   /* owned or NULL */
	char *track;         /* owned or NULL */
};

struct clock {
	char *timezone;   /* owned or NULL: in UTC */
	bool has_offset;  /* from UTC */
	int64_t offset_s; /* may be negative */
	struct timer timers[TIMER_MAX];
};

struct chassis { /* owned or NULL, all */
	char *manufacturer, *version, *serial, *asset, *sku;
};

#define IO_THREADS_POLICIES(X) \
	X(UNSET, "") X(SHARED, "shared") X(AUTO, "auto") X(POOL, "supplementalPool")
enum io_threads_policy {
#define X(c, t) IO_THREADS_##c,
	IO_THREADS_POLICIES(X)
#undef X
		IO_THREADS_MAX
};
ENUM_DECLARE(io_threads_policy, IO_THREADS, IO_THREADS_POLICIES)

/* X(constant, KubeVirt's name, libvirt's type, libvirt's policy: no debugger) */
#define LAUNCH_SECURITIES(X)              \
	X(SEV, "sev", "sev", 0x1)         \
	X(SNP, "snp", "sev-snp", 0x30000) \
	X(TDX, "tdx", "tdx", 0x10000000)
enum launch_security_kind {
	LAUNCH_NONE,
#define X(c, t, l, p) LAUNCH_##c,
	LAUNCH_SECURITIES(X)
#undef X
		LAUNCH_MAX
};

struct launch_security { /* the guest's memory is encrypted */
	enum launch_security_kind kind;
	bool encrypted_state;    /* sev: its registers, too */
	char *dh_cert, *session; /* owned or NULL; sev: the owner's, in base64 */
};

#define TPMS(X) X(NONE, "") X(OF_RUN, "run") X(PERSISTENT, "persistent")
enum tpm {
#define X(c, t) TPM_##c,
	TPMS(X)
#undef X
		TPM_MAX
};

struct input_device {
	bool virtio; /* else on USB */
};

struct device_ask {     /* of hostDevices and gpus */
	char *name;     /* owned */
	char *resource; /* owned: deviceName, by which the host's configuration has it */
	bool gpu;
	enum toggle display, ramfb; /* virtualGPUOptions */
};

/* X(constant, KubeVirt's name) */
#define PROBE_KINDS(X) \
	X(NONE, "") X(PING, "guestAgentPing") X(EXEC, "exec") X(HTTP, "httpGet") X(TCP, "tcpSocket")
enum probe_kind {
#define X(c, t) PROBE_##c,
	PROBE_KINDS(X)
#undef X
		PROBE_KIND_MAX
};
ENUM_DECLARE(probe_kind, PROBE, PROBE_KINDS)

enum probe_of { PROBE_OF_LIVENESS, PROBE_OF_READINESS, PROBE_OF_MAX };

struct probe {
	enum probe_kind kind; /* NONE: there is no probe */
	unsigned delay_s, period_s, timeout_s;
	unsigned successes, failures; /* in a row, until it counts */
	unsigned port;                /* HTTP, TCP */
	char *host;     /* owned or NULL; HTTP, TCP: who is asked instead of the guest */
	char *question; /* owned or NULL; HTTP: the request; EXEC: the agent's arguments as JSON */
};

struct vmi_spec {
	unsigned cores, sockets, threads; /* at least 1 each */
	unsigned max_sockets;             /* at least sockets: room for more of them */
	char *cpu_model;                  /* owned; host-model unless given */
	struct cpu_feature *cpu_features; /* owned */
	size_t n_cpu_features;
	bool dedicated;        /* each vCPU has a CPU of the host for itself, … */
	bool isolate_emulator; /* … and QEMU's own threads have another */
	bool numa_passthrough; /* all of them, and its memory, are of one NUMA node */
	bool realtime;
	char *realtime_mask; /* owned or NULL: all vCPUs */
	int64_t memory;      /* bytes: memory.guest */
	int64_t max_memory;  /* bytes: memory.maxGuest; 0: no room for more */
	int64_t huge_pages;  /* bytes of one; 0: of the usual size */
	struct demands demands;
	struct placement placement;
	char *machine_type;  /* owned; q35 unless given */
	char uuid[UID_SIZE]; /* firmware.uuid */
	char *serial;        /* owned or NULL: firmware.serial */
	struct chassis chassis;
	enum bootloader bootloader;
	bool efi_persistent; /* its variables outlive the run */
	enum tpm tpm;        /* … and what this holds may, too */
	struct launch_security launch;
	bool bios_serial;               /* the BIOS talks to the serial console */
	struct kernel_boot kernel_boot; /* all NULL: none */
	struct disk *disks;             /* owned */
	size_t n_disks;
	struct volume *volumes; /* owned */
	size_t n_volumes;
	struct credential *credentials; /* owned */
	size_t n_credentials;
	char *hostname;               /* owned or NULL: the name of the object */
	struct interface *interfaces; /* owned */
	size_t n_interfaces;
	enum panic_model panic_devices[PANIC_DEVICES_MAX];
	size_t n_panic_devices;
	struct input_device *inputs; /* owned; tablets */
	size_t n_inputs;
	struct device_ask *devices; /* owned: gpus, then hostDevices */
	size_t n_devices;
	bool vsock;     /* autoattachVSOCK */
	char *sound;    /* owned or NULL: the model */
	char *watchdog; /* owned or NULL: the i6300esb's action */
	bool no_balloon;
	bool multi_queue; /* a queue per CPU for each virtio disk */
	bool nic_queues;  /* … and for each virtio interface */
	enum io_threads_policy io_threads;
	unsigned io_pool;     /* threads of POOL */
	bool transitional;    /* virtio devices of before 1.0 */
	char *video;          /* owned or NULL: by the firmware */
	bool serial_console;  /* autoattachSerialConsole, default true */
	bool serial_unlogged; /* logSerialConsole: false */
	bool graphics;        /* autoattachGraphicsDevice, default true */
	bool acpi;            /* features.acpi.enabled, default true */
	bool rng;             /* devices.rng: a virtio random number generator */
	struct features features;
	struct clock clock;
	bool ends_at_reboot; /* rebootPolicy: Terminate */
	bool start_paused;   /* startStrategy: Paused */
	struct probe probes[PROBE_OF_MAX];
	int64_t grace; /* seconds: terminationGracePeriodSeconds; GRACE_UNSET when absent */
};

#define GRACE_UNSET     (-1)      /* the field is absent */
#define GRACE_DEFAULT_S 30        /* in force then (semantics §7.1) */
#define GRACE_FOREVER_S INT32_MAX /* the most there is: the guest is never killed */

void media_source_free(struct media_source *media); /* NULL is fine */
void credentials_free(struct credential *credentials, size_t n);

void vmi_spec_done(struct vmi_spec *spec); /* frees what it owns, leaves it zero */

#endif
