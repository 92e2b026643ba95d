/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of validation, row by row as semantics §9.1, §9.2, §9.3 and §9.4 have them: what is set
 * in a manifest that is good, and what is said then; nothing where it is allowed. And §9.5: what
 * stands in a run's spec that nobody wrote.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/manifest.h"

Suite *test_rules_suite(void);

#define UUID "5d307ca9-b3ef-428c-8861-06e72d69f223"

static const char *const roots[] = { "/srv", NULL };
static const struct policy policy = { .host_disk_roots = roots, .default_namespace = "default" };

/* A VM with one disk of each target and one interface. */
static const char base[] = "apiVersion: kubevirt.io/v1\n"
			   "kind: VirtualMachine\n"
			   "metadata: {name: web}\n"
			   "spec:\n"
			   "  runStrategy: Always\n"
			   "  template:\n"
			   "    spec:\n"
			   "      domain:\n"
			   "        memory: {guest: 1Gi}\n"
			   "        devices:\n"
			   "          disks:\n"
			   "          - {name: root, disk: {bus: virtio}}\n"
			   "          - {name: cd, cdrom: {bus: sata}}\n"
			   "          interfaces: [{name: net, masquerade: {}}]\n"
			   "      networks: [{name: net, pod: {}}]\n"
			   "      volumes:\n"
			   "      - {name: root, hostDisk: {path: /srv/a.img, type: Disk}}\n"
			   "      - {name: cd, emptyDisk: {capacity: 1Mi}}\n";

/* clang-format off */
static const struct {
	const char *section;
	const char *set; /* a map of paths below the template's spec, or with a slash in front of the whole object's */
	const char *said;
} rules[] = {
	{ "9.1", "{/spec.template: null}", "field 'template' is required" },
	{ "9.1", "{/spec.running: true}", "give runStrategy or running, not both" },
	{ "9.1", "{/spec.runStrategy: null}", "field 'runStrategy' is required" },
	{ "9.1", "{/spec.runStrategy: null, /spec.running: yes}", NULL },
	{ "9.1", "{/spec.runStrategy: Sometimes}", "spec.runStrategy: 'Sometimes' is not supported" },
	{ "9.1", "{/spec.runStrategy: Halted}", NULL },
	{ "9.1", "{/spec.runStrategy: Manual}", NULL },
	{ "9.1", "{/spec.runStrategy: RerunOnFailure}", NULL },
	{ "9.1", "{/spec.runStrategy: Once}", NULL },
	{ "9.1", "{domain.cpu: {sockets: 4, maxSockets: 2}}", "at least as many as sockets" },
	{ "9.1", "{/spec.template.metadata: {labels: {kubevirt.io/nodeName: a}}}", "set by the agent only" },

	{ "9.2", "{architecture: sparc}", "architecture: 'sparc' is not supported" },
	{ "9.2", "{architecture: amd64}", NULL },
	{ "9.2", "{domain.memory: null}", "no memory is given" },
	{ "9.2", "{domain.memory: null, domain.resources: {requests: {memory: 64Mi}}}", NULL },
	{ "9.2", "{domain.resources: {requests: {memory: 999k}}}", "0 or at least 1M" },
	{ "9.2", "{domain.resources: {requests: {memory: 0}}}", NULL },
	{ "9.2", "{domain.resources: {requests: {memory: -1}}}", "the negative '-1'" },
	{ "9.2", "{domain.resources: {requests: {memory: 2Gi}, limits: {memory: 1Gi}}}", "more than the limit 1Gi" },
	{ "9.2", "{domain.resources: {limits: {memory: 512Mi}}}", "guest: 1Gi is more than the limit 512Mi" },
	{ "9.2", "{domain.memory: {guest: 1Gi, hugepages: {pageSize: x}}}", "pageSize: expected a quantity" },
	{ "9.2", "{domain.memory: {guest: 1025Mi, hugepages: {pageSize: 2Mi}}}", "no multiple of pages of 2Mi" },
	{ "9.2", "{domain.memory: {guest: 1Gi, hugepages: {pageSize: 2Gi}}}", "no multiple of pages of 2Gi" },
	{ "9.2", "{domain.resources: {requests: {cpu: 2}, limits: {cpu: 1}}}", "more than the limit 1" },
	{ "9.2", "{domain.resources: {limits: {cpu: -1}}}", "the negative '-1'" },
	{ "9.2", "{domain.cpu: {features: [{name: vmx, policy: maybe}]}}", "policy: 'maybe' is not" },
	{ "9.2", "{domain.cpu: {features: [{name: vmx, policy: forbid}, {name: aes}]}}", NULL },
	{ "9.2", "{domain.cpu: {features: [{name: vmx}, {name: vmx}]}}", "feature 'vmx' is there twice" },
	{ "9.2", "{domain.cpu: {model: Some-Model-2}}", NULL },
	{ "9.2", "{domain.machine: {type: pc}}", "machine.type: expected q35" },
	{ "9.2", "{domain.machine: {type: pc-q35-7.2}}", NULL },
	{ "9.2", "{domain.firmware: {bootloader: {bios: {}, efi: {secureBoot: false}}}}", "bios or efi, not both" },
	{ "9.2", "{domain.firmware: {bootloader: {efi: {}}}}", "secureBoot, which is the default, needs features.smm" },
	{ "9.2", "{domain.firmware: {bootloader: {efi: {}}}, domain.features: {smm: {}}}", NULL },
	{ "9.2", "{domain.firmware: {kernelBoot: {kernelArgs: a}}}", "kernelBoot needs a container" },
	{ "9.2", "{domain.firmware: {kernelBoot: {container: {image: /srv/k}}}}", "kernelPath, initrdPath or both" },
	{ "9.2", "{domain.features: {hyperv: {synic: {}, vpindex: {enabled: false}}}}", "synic needs vpindex, which is turned off" },
	{ "9.2", "{domain.features: {hyperv: {tlbflush: {}}}}", NULL },
	{ "9.2", "{domain.features: {hyperv: {relaxed: {}}, hypervPassthrough: {enabled: true}}}", "hyperv or hypervPassthrough, not both" },
	{ "9.2", "{subdomain: ..}", "subdomain: expected lower case letters" },
	{ "9.2", "{subdomain: a.b}", NULL },
	{ "9.2", "{startStrategy: Later}", "startStrategy: 'Later'" },
	{ "9.2", "{evictionStrategy: Never}", "evictionStrategy: 'Never'" },
	{ "9.2", "{evictionStrategy: LiveMigrateIfPossible}", NULL },
	{ "9.2", "{domain.ioThreadsPolicy: many}", "ioThreadsPolicy: 'many'" },
	{ "9.2", "{domain.ioThreadsPolicy: supplementalPool, domain.ioThreads: {supplementalPoolThreadCount: 0}}", "expected a number from 1" },
	{ "9.2", "{domain.devices.inputs: [{name: a, type: mouse, bus: usb}]}", "type: 'mouse'" },
	{ "9.2", "{domain.devices.inputs: [{name: a, type: tablet, bus: ps2}]}", "bus: 'ps2'" },
	{ "9.2", "{domain.devices.watchdog: {name: w, i6300esb: {action: inject-nmi}}}", "action: 'inject-nmi'" },
	{ "9.2", "{domain.devices.watchdog: {name: w, diag288: {}}}", "field 'diag288' is not supported" },
	{ "9.2", "{domain.devices.video: {type: qxl}}", "video.type: 'qxl'" },
	{ "9.2", "{domain.devices.video: {type: virtio}, domain.devices.autoattachGraphicsDevice: false}", "autoattachGraphicsDevice is false" },
	{ "9.2", "{domain.devices.sound: {model: ac97}}", "field 'name' is required" },
	{ "9.2", "{domain.devices.sound: {name: s, model: sb16}}", "sound.model: 'sb16'" },
	{ "9.2", "{domain.devices.panicDevices: [{model: pseries}]}", "model: 'pseries'" },
	{ "9.2", "{domain.cpu: {dedicatedCpuPlacement: true}}", "dedicatedCpuPlacement: give domain.cpu.cores, or resources.requests.cpu, or limits.cpu" },
	{ "9.2", "{domain.cpu: {dedicatedCpuPlacement: true, cores: 2}}", NULL },
	{ "9.2", "{domain.cpu: {dedicatedCpuPlacement: true, cores: 2, threads: 4}}", "threads: with dedicatedCpuPlacement expected at most 2" },
	{ "9.2", "{domain.cpu: {dedicatedCpuPlacement: true}, domain.resources: {limits: {cpu: 2}}}", NULL },
	{ "9.2", "{domain.cpu: {dedicatedCpuPlacement: true}, domain.resources: {requests: {cpu: 1500m}}}", "requests.cpu: with dedicatedCpuPlacement expected whole CPUs, not 1500m" },
	{ "9.2", "{domain.cpu: {dedicatedCpuPlacement: true}, domain.resources: {requests: {cpu: 1}, limits: {cpu: 2}}}", "requests.cpu: with dedicatedCpuPlacement it is the same as limits.cpu, which is 2" },
	{ "9.2", "{domain.cpu: {dedicatedCpuPlacement: true, cores: 2}, domain.resources: {limits: {cpu: 3}}}", "limits.cpu: with dedicatedCpuPlacement expected as many as vCPUs, which are 2" },
	{ "9.2", "{domain.cpu: {dedicatedCpuPlacement: true, cores: 2}, domain.resources: {requests: {memory: 1Gi}, limits: {memory: 2Gi}}}", "requests.memory: with dedicatedCpuPlacement it is the same as limits.memory" },
	{ "9.2", "{domain.cpu: {isolateEmulatorThread: true}}", "isolateEmulatorThread: it needs dedicatedCpuPlacement: true" },
	{ "9.2", "{domain.cpu: {isolateEmulatorThread: false}}", NULL },
	{ "9.2", "{domain.cpu: {numa: {guestMappingPassthrough: {}}}, domain.memory: {guest: 1Gi, hugepages: {pageSize: 2Mi}}}", "guestMappingPassthrough: it needs dedicatedCpuPlacement: true" },
	{ "9.2", "{domain.cpu: {cores: 1, dedicatedCpuPlacement: true, numa: {guestMappingPassthrough: {}}}}", "guestMappingPassthrough: it needs memory.hugepages" },
	{ "9.2", "{domain.cpu: {cores: 1, dedicatedCpuPlacement: true, realtime: {}}}", "realtime: it needs numa.guestMappingPassthrough" },
	{ "9.2", "{domain.cpu: {realtime: {}}}", "realtime: it needs dedicatedCpuPlacement: true" },
	{ "9.2", "{domain.cpu: {realtime: {mask: 0-}}}", "mask: expected a set of CPUs" },
	{ "9.2", "{domain.cpu: {cores: 2, realtime: {mask: 0-2}}}", "mask: there is no vCPU 2: expected numbers below 2" },
	{ "9.2", "{domain.cpu: {cores: 1, dedicatedCpuPlacement: true, numa: {guestMappingPassthrough: {}}, realtime: {}}, domain.memory: {guest: 1Gi, hugepages: {pageSize: 2Mi}}}", NULL },
	{ "9.2", "{domain.cpu: {cores: 1, dedicatedCpuPlacement: true, numa: {guestMappingPassthrough: {}}}, domain.memory: {guest: 1Gi, maxGuest: 2Gi, hugepages: {pageSize: 2Mi}}}", "maxGuest: it goes neither with numa.guestMappingPassthrough" },
	{ "9.2", "{domain.devices.autoattachVSOCK: true}", NULL },
	{ "9.2", "{domain.devices.gpus: [{name: g}]}", "field 'deviceName' is required" },
	{ "9.2", "{domain.devices.gpus: [{name: g, deviceName: x.org/gpu, virtualGPUOptions: {display: {enabled: false, ramFB: {enabled: false}}}}]}", NULL },
	{ "9.2", "{domain.devices.hostDevices: [{name: d, deviceName: x/y/z}]}", "deviceName: expected a resource's name" },
	{ "9.2", "{domain.devices.hostDevices: [{name: d, deviceName: x, claimName: c}]}", "field 'claimName' is not supported" },
	{ "9.2", "{domain.devices.hostDevices: [{name: d, deviceName: x}, {name: d, deviceName: x}]}", "device 'd' is there twice" },

	{ "9.3", "{volumes: [{name: root, emptyDisk: {capacity: 1}}]}", "no volume is named 'cd'" },
	{ "9.3", "{volumes: [{name: root, emptyDisk: {capacity: 1}}, {name: root, emptyDisk: {capacity: 1}}, {name: cd, emptyDisk: {capacity: 1}}]}", "volumes[1].name: name 'root' is there twice" },
	{ "9.3", "{domain.devices.disks: [{name: root}, {name: root}]}", "disks[1].name: name 'root' is there twice" },
	{ "9.3", "{domain.devices.disks: [{name: Root}]}", "disks[0].name: expected lower case letters" },
	{ "9.3", "{volumes: [{name: root}, {name: cd, emptyDisk: {capacity: 1}}]}", "volumes[0]" },
	{ "9.3", "{volumes: [{name: root, emptyDisk: {capacity: 1}, hostDisk: {path: /srv/a, type: Disk}}, {name: cd, emptyDisk: {capacity: 1}}]}", "volumes[0]" },
	{ "9.3", "{domain.devices.disks: [{name: root, disk: {}, cdrom: {}}]}", "disks[0].cdrom" },
	{ "9.3", "{domain.devices.disks: [{name: root, disk: {bus: ide}}]}", "bus: 'ide' is not" },
	{ "9.3", "{domain.devices.disks: [{name: root, cdrom: {bus: virtio}}]}", "a cdrom cannot be on virtio" },
	{ "9.3", "{domain.devices.disks: [{name: root, disk: {bus: sata, readonly: true}}]}", "cannot be read-only" },
	{ "9.3", "{domain.devices.disks: [{name: root, disk: {bus: scsi, readonly: true}}]}", NULL },
	{ "9.3", "{domain.devices.disks: [{name: root, bootOrder: 0}]}", "bootOrder: expected a number from 1" },
	{ "9.3", "{domain.devices.disks: [{name: root, bootOrder: 1}, {name: cd, bootOrder: 1}]}", "bootOrder 1 is there twice" },
	{ "9.3", "{domain.devices.disks: [{name: root, bootOrder: 1}], domain.devices.interfaces: [{name: net, masquerade: {}, bootOrder: 1}]}", "bootOrder 1 is there twice" },
	{ "9.3", "{domain.devices.disks: [{name: root, serial: 'a b'}]}", "serial: expected letters, digits and" },
	{ "9.3", "{domain.devices.disks: [{name: root, serial: A_.+-9}]}", NULL },
	{ "9.3", "{domain.devices.disks: [{name: root, cache: unsafe}]}", "cache: 'unsafe'" },
	{ "9.3", "{domain.devices.disks: [{name: root, io: uring}]}", "io: 'uring'" },
	{ "9.3", "{domain.devices.disks: [{name: root, errorPolicy: retry}]}", "errorPolicy: 'retry'" },
	{ "9.3", "{domain.devices.disks: [{name: root, disk: {bus: sata}, dedicatedIOThread: true}]}", "only a disk on virtio" },
	{ "9.3", "{domain.devices.disks: [{name: root, disk: {bus: sata, pciAddress: '0000:81:01.0'}}]}", "only a disk on virtio" },
	{ "9.3", "{domain.devices.disks: [{name: root, disk: {bus: virtio, pciAddress: 81:01.0}}]}", "expected a PCI address" },
	{ "9.3", "{domain.devices.disks: [{name: root, shareable: true, cache: writeback}]}", "cache: none" },
	{ "9.3", "{domain.devices.disks: [{name: root, disk: {bus: virtio}, blockSize: {custom: {logical: 4096, physical: 512}}}]}", "expected at most physical" },
	{ "9.3", "{domain.devices.disks: [{name: root, disk: {bus: virtio}, blockSize: {custom: {logical: 1000, physical: 4096}}}]}", "powers of two" },
	{ "9.3", "{domain.devices.disks: [{name: root, disk: {bus: virtio}, blockSize: {custom: {logical: 256, physical: 4096}}}]}", "expected a number from 512" },
	{ "9.3", "{domain.devices.disks: [{name: root, disk: {bus: sata}, blockSize: {custom: {logical: 4096, physical: 4096}}}]}", "blocks of 512 bytes" },
	{ "9.3", "{volumes: [{name: root, hostDisk: {type: Disk}}, {name: cd, emptyDisk: {capacity: 1}}]}", "field 'path' is required" },
	{ "9.3", "{volumes: [{name: root, hostDisk: {path: /srv/a, type: File}}, {name: cd, emptyDisk: {capacity: 1}}]}", "type: 'File'" },
	{ "9.3", "{volumes: [{name: root, hostDisk: {path: /srv/a, type: Disk, capacity: 1Gi}}, {name: cd, emptyDisk: {capacity: 1}}]}", "capacity is only for type DiskOrCreate" },
	{ "9.3", "{volumes: [{name: root, containerDisk: {}}, {name: cd, emptyDisk: {capacity: 1}}]}", "field 'image' is required" },
	{ "9.3", "{volumes: [{name: root, emptyDisk: {}}, {name: cd, emptyDisk: {capacity: 0}}]}", "capacity: expected at least 1" },

	{ "9.4", "{networks: [{name: net, pod: {}}, {name: net, pod: {}}]}", "networks[1].name: name 'net' is there twice" },
	{ "9.4", "{networks: []}", "no network is named 'net'" },
	{ "9.4", "{domain.devices.interfaces: []}", "network 'net' is not used" },
	{ "9.4", "{domain.devices.interfaces: [{name: a.b, masquerade: {}}]}", "interfaces[0].name: expected letters" },
	{ "9.4", "{domain.devices.interfaces: [{name: net}]}", "interfaces[0]" },
	{ "9.4", "{domain.devices.interfaces: [{name: net, masquerade: {}, bridge: {}}]}", "interfaces[0]" },
	{ "9.4", "{networks: [{name: net}]}", "spec.networks[0]" },
	{ "9.4", "{networks: [{name: net, pod: {}}, {name: b, pod: {}}], domain.devices.interfaces: [{name: net, masquerade: {}}, {name: b, masquerade: {}}]}", "networks[1]" },
	{ "9.4", "{domain.devices.interfaces: [{name: net, masquerade: {}, macAddress: '02:00:00:00:00'}]}", "expected a unicast MAC address" },
	{ "9.4", "{domain.devices.interfaces: [{name: net, masquerade: {}, macAddress: '02:00:00:00:00:00'}]}", "cannot be used with masquerade" },
	{ "9.4", "{domain.devices.interfaces: [{name: net, masquerade: {}, model: tulip}]}", "model: 'tulip'" },
	{ "9.4", "{domain.devices.interfaces: [{name: net, masquerade: {}, model: pcnet}]}", NULL },
	{ "9.4", "{domain.devices.interfaces: [{name: net, masquerade: {}, pciAddress: x}]}", "expected a PCI address" },
	{ "9.4", "{domain.devices.interfaces: [{name: net, masquerade: {}, state: sideways}]}", "state: 'sideways'" },
};
/* clang-format on */

/* The manifest with what a row sets in it; owned. */
static struct node *changed(const char *set)
{
	struct documents docs = { 0 }, changes = { 0 };
	struct place place;
	struct node *root;

	ck_assert_int_eq(nodes_parse(base, strlen(base), &docs, &place, NULL), 0);
	ck_assert_msg(!nodes_parse(set, strlen(set), &changes, &place, NULL), "%s", set);
	root = node_copy(docs.roots[0]);
	for (size_t i = 0; i < changes.roots[0]->n_children; i++) {
		const struct node *one = changes.roots[0]->children[i];
		autofree char *path = *one->key == '/'
			? xstrdup(one->key + 1)
			: xasprintf("spec.template.spec.%s", one->key);

		node_set_path(root, path, node_copy(one));
	}
	documents_done(&changes);
	documents_done(&docs);
	return root;
}

START_TEST(rule)
{
	struct node *root = changed(rules[_i].set);
	struct findings findings = { 0 };
	struct manifest m = { 0 };
	autofree char *words = NULL;
	bool accepted = manifest_check(root, &policy, &m, &findings) == 0;

	words = findings_text(&findings, "m");
	ck_assert_msg(accepted == !rules[_i].said, "§%s %s: %s", rules[_i].section, rules[_i].set,
		words);
	ck_assert_msg(accepted || strstr(words, rules[_i].said), "§%s %s: %s", rules[_i].section,
		rules[_i].set, words);
	manifest_done(&m);
	findings_done(&findings);
	node_free(root);
}
END_TEST

/* ---- defaults -------------------------------------------------------------------------------- */

/* clang-format off */
static const struct { const char *set, *path, *json; } defaults[] = {
	{ "{}", "domain.machine.type", "\"q35\"" },
	{ "{}", "domain.firmware.uuid", "\"" UUID "\"" },
	{ "{}", "domain.firmware.serial", "\"" UUID "\"" },
	{ "{}", "domain.cpu.sockets", "1" },
	{ "{}", "domain.cpu.model", "\"host-model\"" },
	{ "{domain.resources: {limits: {cpu: 2500m}}}", "domain.cpu.sockets", "3" },
	{ "{domain.resources: {requests: {cpu: 2}}}", "domain.cpu.sockets", "2" },
	{ "{domain.cpu: {cores: 2}}", "domain.cpu.sockets", NULL },
	{ "{domain.memory: null, domain.resources: {requests: {memory: 64Mi}}}", "domain.memory.guest", "\"64Mi\"" },
	{ "{domain.memory: null, domain.resources: {limits: {memory: 65Mi}}}", "domain.memory.guest", "\"65Mi\"" },
	{ "{networks: [], domain.devices.interfaces: []}", "networks", "[{\"name\":\"default\",\"pod\":{}}]" },
	{ "{networks: [], domain.devices.interfaces: [], domain.devices.autoattachPodInterface: false}", "networks", "[]" },
	{ "{domain.features: {hyperv: {tlbflush: {}}}}", "domain.features.hyperv.vpindex.enabled", "true" },
	{ "{domain.features: {acpi: {}}}", "domain.features.acpi.enabled", "true" },
	{ "{domain.devices.watchdog: {name: w, i6300esb: {}}}", "domain.devices.watchdog.i6300esb.action", "\"reset\"" },
};
/* clang-format on */

/* §9.5 */
START_TEST(fallback)
{
	struct node *root = changed(defaults[_i].set), *spec;
	struct findings findings = { 0 };
	struct manifest m = { 0 };
	autofree char *json = NULL;

	ck_assert_int_eq(manifest_check(root, &policy, &m, &findings), 0);
	manifest_default(m.kind, m.root, UUID);
	spec = vmi_spec_tree(node_get(m.root, "spec"));
	if (node_at(spec, defaults[_i].path))
		json = node_json(node_at(spec, defaults[_i].path));
	ck_assert_msg(streq(json, defaults[_i].json), "%s: %s is %s", defaults[_i].set,
		defaults[_i].path, json ? json : "absent");
	node_free(spec);
	manifest_done(&m);
	node_free(root);
}
END_TEST

Suite *test_rules_suite(void)
{
	Suite *suite = suite_create("rules (§9)");
	TCase *tcase = tcase_create("rules");

	tcase_add_loop_test(tcase, rule, 0, ARRAY_SIZE(rules));
	tcase_add_loop_test(tcase, fallback, 0, ARRAY_SIZE(defaults));
	suite_add_tcase(suite, tcase);
	return suite;
}
