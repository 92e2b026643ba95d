/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instancetype and a preference make of a template, cell by cell (semantics §10.4), what
 * conflicts and what is required; and KubeVirt's published ones, which are taken as they are.
 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "core/edit.h"
#include "core/instancetype.h"
#include "test/lib/files.h"

Suite *test_instancetype_suite(void);

static char *type_text(const char *kind, const char *spec)
{
	return xasprintf("{apiVersion: instancetype.kubevirt.io/v1beta1, kind: %s, metadata: {name: t, "
			 "uid: u-1, generation: 3, labels: {a: b}}, spec: %s}",
		kind, spec);
}

/* The VM's spec with both worked in; a NULL is none. Owned. */
static struct node *applied(const char *type, const char *preference, const char *template,
	struct findings *f)
{
	struct pin pins[VM_TYPES] = { 0 };
	autofree char *text = xasprintf("{template: {spec: %s}}", template);
	struct node *spec = text_tree(text);

	ck_assert_msg(spec != NULL, "%s", text);
	if (type)
		pins[VM_INSTANCETYPE].object = type_text("VirtualMachineInstancetype", type);
	if (preference)
		pins[VM_PREFERENCE].object = type_text("VirtualMachinePreference", preference);
	types_apply(pins, spec, f);
	for (int which = 0; which < VM_TYPES; which++)
		pin_done(&pins[which]);
	return spec;
}

static void same(const struct node *is, const char *should)
{
	struct node *tree = text_tree(should);
	autofree char *shown = is ? node_json(is) : xstrdup("nothing");

	if (!*should)
		ck_assert_msg(!is, "%s", shown);
	else
		ck_assert_msg(is && node_equal(is, tree), "%s, not %s", shown, should);
	node_free(tree);
}

/* ---- an instancetype's gifts ----------------------------------------------------------------- */

#define TYPE(more)     "{cpu: {guest: 4}, memory: {guest: 2Gi}" more "}"
#define CPU_TYPE(more) "{cpu: {guest: 4" more "}, memory: {guest: 2Gi}}"
#define MEM_TYPE(more) "{cpu: {guest: 4}, memory: {guest: 2Gi" more "}}"
#define DOMAIN(inner)  "{domain: {" inner "}}"

/* Each field that it gives: what an empty template gets, and one that conflicts. */
static const struct {
	const char *type, *path, *is, *conflicting;
} gifts[] = {
	{ TYPE(""), "domain.cpu.sockets", "4", DOMAIN("cpu: {sockets: 1}") },
	{ TYPE(""), "domain.cpu.cores", "1", DOMAIN("cpu: {cores: 2}") },
	{ TYPE(""), "domain.cpu.threads", "1", DOMAIN("cpu: {threads: 2}") },
	{ TYPE(""), "domain.resources.requests.cpu", "",
		DOMAIN("resources: {requests: {cpu: 1}}") },
	{ TYPE(""), "domain.resources.limits.cpu", "", DOMAIN("resources: {limits: {cpu: 1}}") },
	{ CPU_TYPE(", model: Haswell"), "domain.cpu.model", "Haswell",
		DOMAIN("cpu: {model: host-model}") },
	{ CPU_TYPE(", dedicatedCPUPlacement: true"), "domain.cpu.dedicatedCpuPlacement", "true",
		DOMAIN("cpu: {dedicatedCpuPlacement: true}") },
	{ CPU_TYPE(", isolateEmulatorThread: true"), "domain.cpu.isolateEmulatorThread", "true",
		DOMAIN("cpu: {isolateEmulatorThread: true}") },
	{ CPU_TYPE(", numa: {guestMappingPassthrough: {}}"), "domain.cpu.numa",
		"{guestMappingPassthrough: {}}", DOMAIN("cpu: {numa: {}}") },
	{ CPU_TYPE(", realtime: {mask: 0-1}"), "domain.cpu.realtime", "{mask: 0-1}",
		DOMAIN("cpu: {realtime: {}}") },
	{ CPU_TYPE(", maxSockets: 8"), "domain.cpu.maxSockets", "8",
		DOMAIN("cpu: {maxSockets: 4}") },
	{ TYPE(""), "domain.memory.guest", "2Gi", DOMAIN("memory: {guest: 2Gi}") },
	{ TYPE(""), "domain.resources.requests.memory", "",
		DOMAIN("resources: {requests: {memory: 1Gi}}") },
	{ TYPE(""), "domain.resources.limits.memory", "",
		DOMAIN("resources: {limits: {memory: 3Gi}}") },
	{ MEM_TYPE(", hugepages: {pageSize: 2Mi}"), "domain.memory.hugepages.pageSize", "2Mi",
		DOMAIN("memory: {hugepages: {pageSize: 1Gi}}") },
	{ MEM_TYPE(", maxGuest: 4Gi"), "domain.memory.maxGuest", "4Gi",
		DOMAIN("memory: {maxGuest: 3Gi}") },
	{ TYPE(", ioThreadsPolicy: auto"), "domain.ioThreadsPolicy", "auto",
		DOMAIN("ioThreadsPolicy: shared") },
	{ TYPE(", ioThreads: {supplementalPoolThreadCount: 2}"),
		"domain.ioThreads.supplementalPoolThreadCount", "2",
		DOMAIN("ioThreads: {supplementalPoolThreadCount: 1}") },
	{ TYPE(", launchSecurity: {sev: {}}"), "domain.launchSecurity", "{sev: {}}",
		DOMAIN("launchSecurity: {snp: {}}") },
	{ TYPE(", gpus: [{name: g, deviceName: x/y}]"), "domain.devices.gpus",
		"[{name: g, deviceName: x/y}]", DOMAIN("devices: {gpus: [{name: h}]}") },
	{ TYPE(", hostDevices: [{name: d, deviceName: x/y}]"), "domain.devices.hostDevices",
		"[{name: d, deviceName: x/y}]", DOMAIN("devices: {hostDevices: [{name: h}]}") },
	{ TYPE(", nodeSelector: {a: b}"), "nodeSelector", "{a: b}",
		"{nodeSelector: {c: d}, domain: {}}" },
	{ TYPE(", schedulerName: s"), "schedulerName", "s", "{schedulerName: t, domain: {}}" },
};

START_TEST(each_gift)
{
	struct findings f = { 0 };
	struct node *spec = applied(gifts[_i].type, NULL, "{domain: {}}", &f);
	autofree char *path = xasprintf("template.spec.%s", gifts[_i].path);
	autofree char *field = xasprintf("spec.%s", path);

	ck_assert_uint_eq(f.n, 0);
	same(node_at(spec, path), gifts[_i].is);
	node_free(spec);

	spec = applied(gifts[_i].type, NULL, gifts[_i].conflicting, &f);
	ck_assert_uint_eq(f.n, 1);
	ck_assert_msg(starts_with(field, f.list[0].field), "%s", f.list[0].field);
	ck_assert_msg(strstr(f.list[0].message,
			      "conflicts with selected instance type, which gives "
			      "spec."),
		"%s", f.list[0].message);
	if (!strstr(gifts[_i].conflicting, "memory: {guest"))
		ck_assert_ptr_eq(node_at(spec, "template.spec.domain.memory.guest"), NULL);
	node_free(spec);
	findings_done(&f);
}
END_TEST

/* ---- a preference's wishes ------------------------------------------------------------------- */

#define DEVICES(inner) DOMAIN("devices: {" inner "}")
#define DISK(inner)    DEVICES("disks: [{name: d" inner "}]")
#define NIC(inner) \
	"{networks: [{name: n, pod: {}}], domain: {devices: {interfaces: [{name: n" inner "}]}}}"

/* Each wish: what a template that says nothing gets, and that one that says something keeps it. */
static const struct {
	const char *preference, *unset, *path, *is, *set, *stays;
} wishes[] = {
	{ "{devices: {preferredAutoattachGraphicsDevice: false}}", "{domain: {}}",
		"domain.devices.autoattachGraphicsDevice", "false",
		DEVICES("autoattachGraphicsDevice: true"), "true" },
	{ "{devices: {preferredAutoattachMemBalloon: false}}", "{domain: {}}",
		"domain.devices.autoattachMemBalloon", "false",
		DEVICES("autoattachMemBalloon: true"), "true" },
	{ "{devices: {preferredAutoattachPodInterface: false}}", "{domain: {}}",
		"domain.devices.autoattachPodInterface", "false",
		DEVICES("autoattachPodInterface: true"), "true" },
	{ "{devices: {preferredAutoattachPodInterface: false}}", "{domain: {}}",
		"domain.devices.interfaces", "", DEVICES("interfaces: [{name: x, bridge: {}}]"),
		"[{name: x, bridge: {}}]" },
	{ "{devices: {preferredAutoattachSerialConsole: false}}", "{domain: {}}",
		"domain.devices.autoattachSerialConsole", "false",
		DEVICES("autoattachSerialConsole: true"), "true" },
	{ "{devices: {preferredAutoattachInputDevice: true, preferredInputBus: virtio, "
	  "preferredInputType: tablet}}",
		"{domain: {}}", "domain.devices.inputs",
		"[{name: default-0, bus: virtio, type: tablet}]",
		DEVICES("inputs: [{name: i, bus: usb, type: tablet}]"),
		"[{name: i, bus: usb, type: tablet}]" },
	{ "{devices: {preferredBlockMultiQueue: true}}", "{domain: {}}",
		"domain.devices.blockMultiQueue", "true", DEVICES("blockMultiQueue: false"),
		"false" },
	{ "{devices: {preferredNetworkInterfaceMultiQueue: true}}", "{domain: {}}",
		"domain.devices.networkInterfaceMultiqueue", "true",
		DEVICES("networkInterfaceMultiqueue: false"), "false" },
	{ "{devices: {preferredUseVirtioTransitional: true}}", "{domain: {}}",
		"domain.devices.useVirtioTransitional", "true",
		DEVICES("useVirtioTransitional: false"), "false" },
	{ "{devices: {preferredDisableHotplug: true}}", "{domain: {}}",
		"domain.devices.disableHotplug", "true", DEVICES("disableHotplug: false"),
		"false" },
	{ "{devices: {preferredRng: {}}}", "{domain: {}}", "domain.devices.rng", "{}",
		DEVICES("rng: {}"), "{}" },
	{ "{devices: {preferredTPM: {persistent: true}}}", "{domain: {}}", "domain.devices.tpm",
		"{persistent: true}", DEVICES("tpm: {}"), "{}" },
	{ "{devices: {preferredVideoType: virtio}}", "{domain: {}}", "domain.devices.video.type",
		"virtio", DEVICES("video: {type: vga}"), "vga" },
	{ "{devices: {preferredSoundModel: ac97}}", DEVICES("sound: {name: s}"),
		"domain.devices.sound.model", "ac97", DEVICES("sound: {name: s, model: ich9}"),
		"ich9" },
	{ "{devices: {preferredSoundModel: ac97}}", "{domain: {}}", "domain.devices.sound", "",
		"{domain: {}}", "" },
	{ "{devices: {preferredDiskBus: virtio}}", "{domain: {}, volumes: [{name: v}]}",
		"domain.devices.disks", "[{name: v, disk: {bus: virtio}}]",
		DISK(", disk: {bus: scsi}"), "[{name: d, disk: {bus: scsi}}]" },
	{ "{devices: {preferredDiskBlockSize: {custom: {logical: 4096, physical: 4096}}}}",
		DISK(""), "domain.devices.disks",
		"[{name: d, blockSize: {custom: {logical: 4096, physical: 4096}}}]",
		DISK(", blockSize: {custom: {logical: 512, physical: 512}}"),
		"[{name: d, blockSize: {custom: {logical: 512, physical: 512}}}]" },
	{ "{devices: {preferredDiskCache: none, preferredDiskIO: native}}", DISK(""),
		"domain.devices.disks", "[{name: d, cache: none, io: native}]",
		DISK(", cache: writeback, io: threads"),
		"[{name: d, cache: writeback, io: threads}]" },
	{ "{devices: {preferredDiskBus: virtio, preferredDiskDedicatedIoThread: true}}", DISK(""),
		"domain.devices.disks", "[{name: d, disk: {bus: virtio}, dedicatedIOThread: true}]",
		DISK(", disk: {bus: sata}"), "[{name: d, disk: {bus: sata}}]" },
	{ "{devices: {preferredCdromBus: scsi, preferredDiskBus: virtio}}", DISK(", cdrom: {}"),
		"domain.devices.disks", "[{name: d, cdrom: {bus: scsi}}]",
		DISK(", cdrom: {bus: sata}"), "[{name: d, cdrom: {bus: sata}}]" },
	{ "{devices: {preferredLunBus: scsi, preferredDiskBus: virtio}}", DISK(", lun: {}"),
		"domain.devices.disks", "[{name: d, lun: {bus: scsi}}]", DISK(", lun: {bus: sata}"),
		"[{name: d, lun: {bus: sata}}]" },
	{ "{devices: {preferredInterfaceModel: e1000}}", NIC(", bridge: {}"),
		"domain.devices.interfaces", "[{name: n, bridge: {}, model: e1000}]",
		NIC(", bridge: {}, model: virtio"), "[{name: n, bridge: {}, model: virtio}]" },
	{ "{devices: {preferredInterfaceMasquerade: {}}}", NIC(""), "domain.devices.interfaces",
		"[{name: n, masquerade: {}}]", NIC(", bridge: {}"), "[{name: n, bridge: {}}]" },
	{ "{devices: {preferredInterfaceMasquerade: {}}}",
		"{networks: [{name: n, multus: {networkName: m}}], domain: {devices: {interfaces: "
		"[{name: n}]}}}",
		"domain.devices.interfaces", "[{name: n}]", NIC(", bridge: {}"),
		"[{name: n, bridge: {}}]" },
	{ "{devices: {preferredPanicDeviceModel: hyperv}}", "{domain: {}}",
		"domain.devices.panicDevices", "[{model: hyperv}]",
		DEVICES("panicDevices: [{model: isa}, {}]"), "[{model: isa}, {model: hyperv}]" },
	{ "{devices: {preferredVirtualGPUOptions: {display: {enabled: false}}}}",
		DEVICES("gpus: [{name: g}]"), "domain.devices.gpus",
		"[{name: g, virtualGPUOptions: {display: {enabled: false}}}]",
		DEVICES("gpus: [{name: g, virtualGPUOptions: {}}]"),
		"[{name: g, virtualGPUOptions: {}}]" },
	{ "{features: {preferredAcpi: {enabled: false}}}", "{domain: {}}", "domain.features.acpi",
		"{enabled: false}", DOMAIN("features: {acpi: {}}"), "{}" },
	{ "{features: {preferredApic: {endOfInterrupt: true}}}", "{domain: {}}",
		"domain.features.apic", "{endOfInterrupt: true}", DOMAIN("features: {apic: {}}"),
		"{}" },
	{ "{features: {preferredKvm: {hidden: true}}}", "{domain: {}}", "domain.features.kvm",
		"{hidden: true}", DOMAIN("features: {kvm: {}}"), "{}" },
	{ "{features: {preferredPvspinlock: {}}}", "{domain: {}}", "domain.features.pvspinlock",
		"{}", DOMAIN("features: {pvspinlock: {enabled: false}}"), "{enabled: false}" },
	{ "{features: {preferredSmm: {}}}", "{domain: {}}", "domain.features.smm", "{}",
		DOMAIN("features: {smm: {enabled: false}}"), "{enabled: false}" },
	{ "{features: {preferredHyperv: {relaxed: {}, vapic: {}}}}", "{domain: {}}",
		"domain.features.hyperv", "{relaxed: {}, vapic: {}}",
		DOMAIN("features: {hyperv: {vapic: {enabled: false}}}"),
		"{vapic: {enabled: false}, relaxed: {}}" },
	{ "{firmware: {preferredEfi: {secureBoot: false}}}", "{domain: {}}",
		"domain.firmware.bootloader", "{efi: {secureBoot: false}}",
		DOMAIN("firmware: {bootloader: {bios: {}}}"), "{bios: {}}" },
	{ "{firmware: {preferredUseEfi: true, preferredUseSecureBoot: false}}", "{domain: {}}",
		"domain.firmware.bootloader", "{efi: {secureBoot: false}}",
		DOMAIN("firmware: {bootloader: {efi: {secureBoot: true}}}"),
		"{efi: {secureBoot: true}}" },
	{ "{firmware: {preferredEfi: {persistent: true}, preferredUseSecureBoot: false}}",
		"{domain: {}}", "domain.firmware.bootloader", "{efi: {persistent: true}}",
		DOMAIN("firmware: {bootloader: {efi: {}}}"), "{efi: {secureBoot: false}}" },
	{ "{firmware: {preferredUseBios: true, preferredUseBiosSerial: true}}", "{domain: {}}",
		"domain.firmware.bootloader", "{bios: {useSerial: true}}",
		DOMAIN("firmware: {bootloader: {efi: {}}}"), "{efi: {}}" },
	{ "{firmware: {preferredUseBios: false}}", "{domain: {}}", "domain.firmware.bootloader", "",
		DOMAIN("firmware: {bootloader: {bios: {}}}"), "{bios: {}}" },
	{ "{machine: {preferredMachineType: pc-q35-7.2}}", "{domain: {}}", "domain.machine.type",
		"pc-q35-7.2", DOMAIN("machine: {type: q35}"), "q35" },
	{ "{clock: {preferredClockOffset: {timezone: Europe/Rome}}}", "{domain: {}}",
		"domain.clock", "{timezone: Europe/Rome}", DOMAIN("clock: {utc: {}}"),
		"{utc: {}}" },
	{ "{clock: {preferredTimer: {hpet: {present: false}}}}", "{domain: {}}",
		"domain.clock.timer", "{hpet: {present: false}}",
		DOMAIN("clock: {timer: {rtc: {}}}"), "{rtc: {}}" },
	{ "{cpu: {preferredCPUFeatures: [{name: vmx}, {name: svm, policy: disable}]}}",
		"{domain: {}}", "domain.cpu.features",
		"[{name: vmx}, {name: svm, policy: disable}]",
		DOMAIN("cpu: {features: [{name: vmx, policy: forbid}]}"),
		"[{name: vmx, policy: forbid}, {name: svm, policy: disable}]" },
	{ "{preferredSubdomain: s}", "{domain: {}}", "subdomain", "s", "{subdomain: t, domain: {}}",
		"t" },
	{ "{preferredTerminationGracePeriodSeconds: 5}", "{domain: {}}",
		"terminationGracePeriodSeconds", "5",
		"{terminationGracePeriodSeconds: 0, domain: {}}", "0" },
	{ "{preferredArchitecture: amd64}", "{domain: {}}", "architecture", "amd64",
		"{architecture: arm64, domain: {}}", "arm64" },
	{ "{preferredLaunchSecurity: {sev: {}}}", "{domain: {}}", "domain.launchSecurity",
		"{sev: {}}", DOMAIN("launchSecurity: {snp: {}}"), "{snp: {}}" },
};

START_TEST(each_wish)
{
	autofree char *path = xasprintf("template.spec.%s", wishes[_i].path);
	struct findings f = { 0 };
	struct node *spec = applied(NULL, wishes[_i].preference, wishes[_i].unset, &f);

	same(node_at(spec, path), wishes[_i].is);
	node_free(spec);
	spec = applied(NULL, wishes[_i].preference, wishes[_i].set, &f);
	same(node_at(spec, path), wishes[_i].stays);
	node_free(spec);
	ck_assert_uint_eq(f.n, 0);
}
END_TEST

/* ---- annotations ----------------------------------------------------------------------------- */

START_TEST(annotations)
{
	struct pin pins[VM_TYPES] = { { .object = type_text("VirtualMachineInstancetype",
						"{annotations: {a: t, b: t}}") },
		{ .object = type_text("VirtualMachinePreference",
			  "{annotations: {b: p, c: p}}") } };
	struct node *spec =
		text_tree("{template: {metadata: {annotations: {a: t, c: v}}, spec: {}}}");
	struct node *other = text_tree("{template: {metadata: {annotations: {a: v}}, spec: {}}}");
	struct findings f = { 0 };

	types_apply(pins, spec, &f);
	ck_assert_uint_eq(f.n, 0);
	same(node_at(spec, "template.metadata.annotations"), "{a: t, c: v, b: t}");
	types_apply(pins, other, &f);
	ck_assert_uint_eq(f.n, 1);
	ck_assert_str_eq(f.list[0].field, "spec.template.metadata.annotations.a");
	findings_done(&f);
	for (int which = 0; which < VM_TYPES; which++)
		pin_done(&pins[which]);
	node_free(spec);
	node_free(other);
}
END_TEST

/* ---- both at once ---------------------------------------------------------------------------- */

#define CPUS(n) "{cpu: {guest: " n "}, memory: {guest: 1Gi}}"

/* clang-format off */
static const struct {
	const char *type, *preference, *template;
	const char *path, *is; /* what is there then, "" nothing; NULL: it is not looked at */
	const char *words;     /* NULL: nothing is wrong */
} cases[] = {
	/* what says nothing is not in conflict */
	{ CPU_TYPE(", dedicatedCPUPlacement: true"), NULL, "{schedulerName: '', domain: {cpu: {sockets: 0, dedicatedCpuPlacement: false}}}", "domain.cpu.sockets", "4", NULL },
	/* topologies */
	{ CPUS("4"), "{}", "{domain: {}}", "domain.cpu", "{sockets: 4, cores: 1, threads: 1}", NULL },
	{ CPUS("4"), "{cpu: {preferredCPUTopology: cores}}", "{domain: {}}", "domain.cpu", "{sockets: 1, cores: 4, threads: 1}", NULL },
	{ CPUS("4"), "{cpu: {preferredCPUTopology: preferCores}}", "{domain: {}}", "domain.cpu", "{sockets: 1, cores: 4, threads: 1}", NULL },
	{ CPUS("4"), "{cpu: {preferredCPUTopology: threads}}", "{domain: {}}", "domain.cpu", "{sockets: 1, cores: 1, threads: 4}", NULL },
	{ CPUS("4"), "{cpu: {preferredCPUTopology: any}}", "{domain: {}}", "domain.cpu", "{sockets: 4, cores: 1, threads: 1}", NULL },
	{ CPUS("4"), "{cpu: {preferredCPUTopology: spread}}", "{domain: {}}", "domain.cpu", "{sockets: 2, cores: 2, threads: 1}", NULL },
	{ CPUS("8"), "{cpu: {preferredCPUTopology: preferSpread}, preferSpreadSocketToCoreRatio: 4}", "{domain: {}}", "domain.cpu", "{sockets: 2, cores: 4, threads: 1}", NULL },
	{ CPUS("6"), "{cpu: {preferredCPUTopology: spread, spreadOptions: {ratio: 3}}, preferSpreadSocketToCoreRatio: 4}", "{domain: {}}", "domain.cpu", "{sockets: 2, cores: 3, threads: 1}", NULL },
	{ CPUS("6"), "{cpu: {preferredCPUTopology: spread, spreadOptions: {across: CoresThreads}}}", "{domain: {}}", "domain.cpu", "{sockets: 1, cores: 3, threads: 2}", NULL },
	{ CPUS("8"), "{cpu: {preferredCPUTopology: spread, spreadOptions: {across: SocketsCoresThreads}}}", "{domain: {}}", "domain.cpu", "{sockets: 2, cores: 2, threads: 2}", NULL },
	{ CPUS("1"), "{cpu: {preferredCPUTopology: spread}}", "{domain: {}}", "domain.cpu", "{sockets: 1, cores: 1, threads: 1}", NULL },
	{ CPUS("3"), "{cpu: {preferredCPUTopology: spread}}", "{domain: {}}", "domain.cpu", "", "are not divisible by the ratio of 2" },
	{ CPUS("6"), "{cpu: {preferredCPUTopology: spread, spreadOptions: {across: SocketsCoresThreads}}}", "{domain: {}}", "domain.cpu", "", "are not divisible by the ratio of 2" },
	/* overcommitment */
	{ "{cpu: {guest: 1}, memory: {guest: 1000M, overcommitPercent: 15}}", NULL, "{domain: {}}", "domain.resources.requests.memory", "850000000", NULL },
	{ "{cpu: {guest: 1}, memory: {guest: 1000M, overcommitPercent: 15}}", NULL, "{domain: {}}", "domain.memory.guest", "1000M", NULL },
	/* requirements */
	{ TYPE(""), "{requirements: {cpu: {guest: 4}, memory: {guest: 2Gi}}}", "{domain: {}}", NULL, NULL, NULL },
	{ TYPE(""), "{requirements: {cpu: {guest: 5}}}", "{domain: {}}", NULL, NULL, "insufficient CPU resources of 4 vCPU provided by instance type, preference requires 5 vCPU" },
	{ TYPE(""), "{requirements: {memory: {guest: 3Gi}}}", "{domain: {}}", NULL, NULL, "insufficient Memory resources of 2Gi provided by instance type, preference requires 3Gi" },
	{ NULL, "{requirements: {cpu: {guest: 2}}}", "{domain: {}}", NULL, NULL, "no CPU resources provided by VirtualMachine, preference requires 2 vCPU" },
	{ NULL, "{requirements: {cpu: {guest: 2}}}", DOMAIN("cpu: {sockets: 2}"), NULL, NULL, NULL },
	{ NULL, "{requirements: {cpu: {guest: 2}}}", DOMAIN("cpu: {cores: 2}"), NULL, NULL, "insufficient CPU resources of 0 vCPU provided by VirtualMachine, preference requires 2 vCPU provided as sockets" },
	{ NULL, "{cpu: {preferredCPUTopology: cores}, requirements: {cpu: {guest: 2}}}", DOMAIN("cpu: {cores: 2}"), NULL, NULL, NULL },
	{ NULL, "{cpu: {preferredCPUTopology: threads}, requirements: {cpu: {guest: 3}}}", DOMAIN("cpu: {threads: 2}"), NULL, NULL, "insufficient CPU resources of 2 vCPU provided by VirtualMachine, preference requires 3 vCPU provided as threads" },
	{ NULL, "{cpu: {preferredCPUTopology: spread}, requirements: {cpu: {guest: 5}}}", DOMAIN("cpu: {sockets: 2, cores: 2}"), NULL, NULL, "insufficient CPU resources of 4 vCPU provided by VirtualMachine, preference requires 5 vCPU provided as SocketsCores" },
	{ NULL, "{cpu: {preferredCPUTopology: any}, requirements: {cpu: {guest: 8}}}", DOMAIN("cpu: {sockets: 2, cores: 2, threads: 2}"), NULL, NULL, NULL },
	{ NULL, "{requirements: {memory: {guest: 1Gi}}}", DOMAIN("memory: {guest: 1Gi}"), NULL, NULL, NULL },
	{ NULL, "{requirements: {memory: {guest: 1Gi}}}", "{domain: {}}", NULL, NULL, "insufficient Memory resources of 0 provided by VirtualMachine, preference requires 1Gi" },
	{ NULL, "{requirements: {architecture: amd64}}", "{domain: {}}", NULL, NULL, NULL },
	{ NULL, "{requirements: {architecture: arm64}}", "{domain: {}}", NULL, NULL, "preference requires architecture arm64 but amd64 is being requested" },
	{ NULL, "{preferredArchitecture: arm64, requirements: {architecture: arm64}}", "{domain: {}}", NULL, NULL, NULL },
};
/* clang-format on */

START_TEST(each_case)
{
	struct findings f = { 0 };
	struct node *spec = applied(cases[_i].type, cases[_i].preference, cases[_i].template, &f);
	const struct node *made = node_at(spec, "template.spec");

	ck_assert_uint_eq(f.n, cases[_i].words ? 1 : 0);
	if (f.n)
		ck_assert_msg(strstr(f.list[0].message, cases[_i].words), "%s", f.list[0].message);
	if (cases[_i].path)
		same(node_at(made, cases[_i].path), cases[_i].is);
	node_free(spec);
	findings_done(&f);
}
END_TEST

/* ---- what a VM names ------------------------------------------------------------------------- */

#define VM_HEAD \
	"{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: web}, spec: {runStrategy: Always, "
#define VM_TAIL ", template: {spec: {domain: {devices: {}}}}}}"

static const struct {
	const char *named, *field, *words; /* NULL: accepted */
} matchers[] = {
	{ "instancetype: {name: u1.small}", NULL, NULL },
	{ "instancetype: {name: a, kind: virtualmachineinstancetypes}", NULL, NULL },
	{ "instancetype: {name: a, kind: VirtualMachineClusterInstancetype, revisionName: r}", NULL,
		NULL },
	{ "preference: {inferFromVolume: v, inferFromVolumeFailurePolicy: Ignore}", NULL, NULL },
	{ "instancetype: {}", "spec.instancetype", "either name or inferFromVolume" },
	{ "preference: {kind: VirtualMachinePreference}", "spec.preference",
		"either name or inferFromVolume" },
	{ "instancetype: {name: a, kind: VirtualMachinePreference}", "spec.instancetype.kind",
		"got unexpected kind 'VirtualMachinePreference': it is VirtualMachineClusterInstancetype "
		"or VirtualMachineInstancetype" },
	{ "instancetype: {name: a, inferFromVolume: v}", "spec.instancetype.name",
		"name already set, should be cleared" },
	{ "preference: {kind: VirtualMachinePreference, inferFromVolume: v}",
		"spec.preference.kind", "kind already set, should be cleared" },
	{ "preference: {inferFromVolume: v, inferFromVolumeFailurePolicy: Drop}",
		"spec.preference.inferFromVolumeFailurePolicy", "known: Ignore, Reject" },
	{ "instancetype: {name: u1.small, size: 2}", "spec.instancetype.size", "not supported" },
	/* without either, what is missing is missing */
	{ "updateVolumesStrategy: Replacement", "spec.template.spec.domain.memory.guest",
		"no memory is given" },
};

START_TEST(what_a_vm_names)
{
	static const struct policy policy = { .default_namespace = "default" };
	autofree char *text = xasprintf(VM_HEAD "%s" VM_TAIL, matchers[_i].named);
	struct node *root = text_tree(text);
	struct findings f = { 0 };
	struct manifest m = { 0 };
	int ret = manifest_check(root, &policy, &m, &f);

	ck_assert_int_eq(ret, matchers[_i].words ? -ERR_INVALID : 0);
	ck_assert_uint_eq(f.n, matchers[_i].words ? 1 : 0);
	if (f.n) {
		ck_assert_str_eq(f.list[0].field, matchers[_i].field);
		ck_assert_msg(strstr(f.list[0].message, matchers[_i].words), "%s",
			f.list[0].message);
	}
	manifest_done(&m);
	findings_done(&f);
	node_free(root);
}
END_TEST

/* ---- pins ------------------------------------------------------------------------------------ */

#define NAMED(more) "{instancetype: {name: t" more "}, template: {spec: {domain: {}}}}"

/* Whether the pin that the first spec got is what the second one names. */
static const struct {
	const char *first, *second;
	bool holds;
} pinned[] = {
	{ NAMED(""), NAMED(""), true },
	{ NAMED(", kind: VirtualMachineInstancetype"), NAMED(", kind: VirtualMachineInstancetype"),
		true },
	{ NAMED(""), NAMED(", kind: VirtualMachineInstancetype"), false },
	{ NAMED(""), "{instancetype: {name: other}}", false },
	{ NAMED(""), NAMED(", revisionName: r"), false },
	{ NAMED(", revisionName: r"), NAMED(", revisionName: r"), true },
	{ NAMED(", revisionName: r"), NAMED(", revisionName: s"), false },
	{ NAMED(", revisionName: r"), NAMED(""), false },
	{ NAMED(""), "{instancetype: {inferFromVolume: v}}", false },
	{ "{instancetype: {inferFromVolume: v}}", "{instancetype: {inferFromVolume: v}}", true },
	{ "{instancetype: {inferFromVolume: v}}", "{instancetype: {inferFromVolume: w}}", false },
};

START_TEST(a_pin_holds)
{
	struct node *first = text_tree(pinned[_i].first), *second = text_tree(pinned[_i].second);
	autofree char *text = type_text("VirtualMachineClusterInstancetype", "{cpu: {guest: 1}}");
	struct node *object = text_tree(text);
	struct pin pin;
	struct type_ref ref;

	ck_assert(type_ref_read(first, VM_INSTANCETYPE, &ref));
	pin_take(&pin, &ref, "web", object);
	ck_assert_str_eq(pin.revision, ref.revision ? ref.revision : "web-t-v1beta1-u-1-3");
	ck_assert_ptr_eq(strstr(pin.object, "labels"), NULL);
	ck_assert(type_ref_read(second, VM_INSTANCETYPE, &ref));
	ck_assert_int_eq(pin_holds(&pin, &ref), pinned[_i].holds);
	pin_done(&pin);
	node_free(first);
	node_free(second);
	node_free(object);
}
END_TEST

START_TEST(the_run_says_what_it_is_made_of)
{
	struct vm vm = { .spec = (char *)"{\"template\":{\"spec\":{\"domain\":{}}}}",
		.pins = { { .kind = (char *)"virtualmachineinstancetype",
				  .name = (char *)"small",
				  .object = (char *)"{\"spec\":{\"cpu\":{\"guest\":2},\"memory\":{"
						    "\"guest\":\"1Gi\"}}}" },
			{ .kind = (char *)"VirtualMachineClusterPreference",
				.name = (char *)"linux",
				.object = (char *)"{}" } } };
	struct node *spec = vm_spec_expanded(&vm), *again;
	const struct node *notes = node_at(spec, "template.metadata.annotations");

	same(notes,
		"{kubevirt.io/instancetype-name: small, kubevirt.io/cluster-preference-name: linux}");
	same(node_at(spec, "template.spec.domain.memory.guest"), "1Gi");
	again = text_tree(vm.spec);
	same(node_at(again, "template.spec.domain"), "{}"); /* the VM's own stays */
	node_free(spec);
	node_free(again);
}
END_TEST

/* ---- KubeVirt's own -------------------------------------------------------------------------- */

#define PUBLISHED "test/fixtures/kubevirt/common-instancetypes/"

static void load_document(const struct node *root)
{
	static const struct policy policy = { .default_namespace = "default" };
	struct findings f = { 0 };
	struct manifest m = { 0 };
	int ret = manifest_check(root, &policy, &m, &f);
	autofree char *warnings = findings_words(m.warnings);

	ck_assert_msg(ret == 0, "%s: %s: %s", node_text(root, "metadata.name"),
		f.n ? f.list[0].field : "", f.n ? f.list[0].message : "");
	ck_assert_msg(!warnings || !strstr(warnings, "without effect"), "%s: %s",
		node_text(root, "metadata.name"), warnings);
	manifest_done(&m);
	findings_done(&f);
}

static const char *const published[] = { "instancetypes.yaml", "preferences.yaml" };

START_TEST(published_ones_are_taken_as_they_are)
{
	autofree char *path = xasprintf(PUBLISHED "%s", published[_i]);
	autofree char *text = slurp(path);
	struct documents docs = { 0 };
	struct place place;
	struct err err;

	ck_assert_msg(!nodes_parse(text, strlen(text), &docs, &place, &err), "%s", err.msg);
	ck_assert_uint_gt(docs.n, 5);
	for (size_t i = 0; i < docs.n; i++)
		load_document(docs.roots[i]);
	documents_done(&docs);
}
END_TEST

Suite *test_instancetype_suite(void)
{
	Suite *suite = suite_create("instancetypes");
	TCase *tc = tcase_create("applied");

	tcase_add_loop_test(tc, each_gift, 0, ARRAY_SIZE(gifts));
	tcase_add_loop_test(tc, each_wish, 0, ARRAY_SIZE(wishes));
	tcase_add_test(tc, annotations);
	tcase_add_loop_test(tc, each_case, 0, ARRAY_SIZE(cases));
	tcase_add_loop_test(tc, what_a_vm_names, 0, ARRAY_SIZE(matchers));
	tcase_add_loop_test(tc, a_pin_holds, 0, ARRAY_SIZE(pinned));
	tcase_add_test(tc, the_run_says_what_it_is_made_of);
	tcase_add_loop_test(tc, published_ones_are_taken_as_they_are, 0, ARRAY_SIZE(published));
	suite_add_tcase(suite, tc);
	return suite;
}
