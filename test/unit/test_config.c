/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration: defaults, then the file, then the command line; refusals say where. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config.h"

Suite *test_config_suite(void);

static struct config config;
static enum config_action action;
static struct err err;
static char path[64];

static int load(int argc, const char *const *argv)
{
	memset(&err, 0, sizeof(err));
	return config_load(argc, (char **)argv, &config, &action, &err);
}
#define LOAD(...)                                                           \
	load((int)ARRAY_SIZE(((const char *[]){ "vmagent", __VA_ARGS__ })), \
		(const char *const[]){ "vmagent", __VA_ARGS__, NULL })

static void write_file(const char *text)
{
	FILE *file;
	int fd;

	strcpy(path, "/tmp/vmagent-config.XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	file = fdopen(fd, "w");
	fputs(text, file);
	fclose(file);
}

static void tear_down(void)
{
	config_done(&config);
	if (path[0])
		unlink(path);
	path[0] = '\0';
}

START_TEST(test_defaults)
{
	ck_assert_int_eq(LOAD("--socket", "/s"), 0);
	ck_assert_int_eq(action, CONFIG_RUN);
	ck_assert_str_eq(config.manifests, "/etc/vmagent");
	ck_assert_str_eq(config.state, "/var/lib/vmagent");
	ck_assert_str_eq(config.socket, "/s");
	ck_assert_str_eq(config.libvirt, "qemu:///system");
	ck_assert_str_eq(config.ro_socket, "/s-ro");
	ck_assert_uint_eq(config.ro_mode, 0660);
	ck_assert_ptr_null(config.ro_group);
	ck_assert_str_eq(config.host_disk_roots[0], "/var/lib/vmagent/disks");
	ck_assert_str_eq(config.image_roots[0], "/var/lib/vmagent/images");
	ck_assert_ptr_null(config.image_roots[1]);
	ck_assert_str_eq(config.images.directory, "/var/lib/vmagent/images");
	ck_assert_uint_eq(config.images.n_rules, 0);
	ck_assert_int_eq(config.emulation, EMULATION_AUTO);
	ck_assert_uint_eq(config.n_peers, 0);
	ck_assert(!config.migrations);
	ck_assert_uint_eq(config.tuning.migrations.outbound, 2);
	ck_assert_uint_eq(config.tuning.migrations.inbound, 2);
	ck_assert_int_eq(config.tuning.migrations.limits.bandwidth, 0);
	ck_assert_uint_eq(config.tuning.migrations.limits.completion_s_per_gib, 150);
	ck_assert_uint_eq(config.tuning.migrations.limits.progress_s, 150);
	ck_assert_uint_eq(config.tuning.migrations.limits.max_downtime_ms, 900);
	ck_assert(!config.tuning.migrations.limits.auto_converge);
	ck_assert(!config.tuning.migrations.limits.post_copy);
	ck_assert(!config.tuning.migrations.limits.disrupt);
	ck_assert_ptr_null(config.node_name);
	ck_assert_str_eq(config.tls_ca, "/etc/vmagent/pki/cacert.pem");
}
END_TEST

START_TEST(test_file_then_command_line)
{
	write_file(
		"apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n"
		"  manifests: /m\n  state: /st\n  libvirt: test:///default\n"
		"  hostDiskRoots: [/a, /b]\n  emulation: tcg\n"
		"  crashLoop: {guard: false, freeRestarts: 7}\n"
		"  hostBoot: {policy: restore-running}\n"
		"  hostShutdown: {timeoutSeconds: 60}\n  migrations: {enabled: true, disableTLS: true}\n"
		"  overcommit: {memory: 150, cpu: 4}\n  reserved: {memory: 1Gi, cpu: 0.5}\n");
	ck_assert_int_eq(LOAD("--config", path, "--libvirt", "qemu:///session"), 0);
	ck_assert_str_eq(config.manifests, "/m");
	ck_assert_str_eq(config.libvirt, "qemu:///session");
	ck_assert_str_eq(config.host_disk_roots[1], "/b");
	ck_assert_ptr_null(config.host_disk_roots[2]);
	ck_assert_str_eq(config.image_roots[0], "/st/images");
	ck_assert_int_eq(config.emulation, EMULATION_TCG);
	ck_assert(!config.tuning.crash_guard);
	ck_assert(config.migrations);
	ck_assert(config.disable_tls);
	ck_assert_uint_eq(config.tuning.crash_free, 7);
	ck_assert_uint_eq(config.tuning.crash_stable_s, TUNING_DEFAULT.crash_stable_s);
	ck_assert_int_eq(config.tuning.boot_policy, BOOT_RESTORE_RUNNING);
	ck_assert_uint_eq(config.tuning.shutdown_s, 60);
	ck_assert_uint_eq(config.tuning.memory_percent, 150);
	ck_assert_uint_eq(config.tuning.cpu_ratio, 4);
	ck_assert_int_eq(config.tuning.reserved.memory, 1 << 30);
	ck_assert_int_eq(config.tuning.reserved.cpu, 500);
}
END_TEST

START_TEST(test_storage)
{
	write_file("apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n"
		   "  state: /st\n  storage: {classes: {ssd: /mnt/ssd, slow.local: /mnt/hdd}}\n");
	ck_assert_msg(LOAD("--config", path) == 0, "%s", err.msg);
	ck_assert_str_eq(config.storage.directory, "/st/pvc");
	ck_assert_uint_eq(config.storage.n_classes, 2);
	ck_assert_str_eq(config.storage.classes[1].name, "slow.local");
	ck_assert_str_eq(config.storage.classes[1].directory, "/mnt/hdd");
	config_done(&config);
	write_file("apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n"
		   "  storage: {directory: /data/claims}\n");
	ck_assert_msg(LOAD("--config", path) == 0, "%s", err.msg);
	ck_assert_str_eq(config.storage.directory, "/data/claims");
	ck_assert_uint_eq(config.storage.n_classes, 0);
}
END_TEST

START_TEST(test_place)
{
	write_file("apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n"
		   "  labels: {disk: ssd, example.org/rack: \"7\"}\n"
		   "  taints:\n  - {key: gpu, value: \"yes\", effect: NoSchedule}\n"
		   "  - {key: old, effect: PreferNoSchedule}\n");
	ck_assert_msg(LOAD("--config", path) == 0, "%s", err.msg);
	ck_assert_uint_eq(config.place.n_labels, 2);
	ck_assert_str_eq(config.place.labels[1].key, "example.org/rack");
	ck_assert_str_eq(config.place.labels[1].value, "7");
	ck_assert_uint_eq(config.place.n_taints, 2);
	ck_assert_str_eq(config.place.taints[0].key, "gpu");
	ck_assert_str_eq(config.place.taints[0].value, "yes");
	ck_assert_str_eq(config.place.taints[1].value, "");
	ck_assert_str_eq(config.place.taints[1].effect, "PreferNoSchedule");
}
END_TEST

START_TEST(test_networks)
{
	write_file("apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n"
		   "  podNetwork: {type: nat, cidr: 10.9.0.0/16}\n"
		   "  networks:\n"
		   "    lan: {type: bridge, bridge: br0}\n"
		   "    other/dmz: {type: ovs, bridge: ovs0, vlan: 7}\n"
		   "  sriovPools:\n"
		   "  - {name: intel.com/fast, pf: eth2}\n"
		   "  - {name: slow, vfs: [\"0000:81:01.0\", \"0000:81:01.1\"]}\n");
	ck_assert_msg(LOAD("--config", path) == 0, "%s", err.msg);
	ck_assert_int_eq(config.networks.pod, POD_NAT);
	ck_assert_str_eq(config.networks.cidr, "10.9.0.0/16");
	ck_assert_str_eq(network_find(&config.networks, "lan")->how.source, "br0");
	ck_assert_uint_eq(network_find(&config.networks, "other/dmz")->how.vlan, 7);
	ck_assert_ptr_null(network_find(&config.networks, "dmz"));
	ck_assert_str_eq(pool_find(&config.networks, "intel.com/fast")->pf, "eth2");
	ck_assert_uint_eq(pool_find(&config.networks, "intel.com/slow")->n_vfs, 2);
	ck_assert_ptr_null(pool_find(&config.networks, "intel.com/none"));
	config_done(&config);
	ck_assert_int_eq(LOAD("--socket", "/s"), 0);
	ck_assert_int_eq(config.networks.pod, POD_AUTO);
}
END_TEST

START_TEST(test_shares)
{
	write_file("apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n"
		   "  dedicatedCPUs: 2-3,6\n"
		   "  hostDevices:\n"
		   "  - {name: example.com/gpu, pci: \"0000:65:00.0\"}\n"
		   "  - {name: key, usb: \"1234:5678\"}\n"
		   "  - {name: example.com/gpu, mdev: 5d307ca9-b3ef-428c-8861-06e72d69f223}\n");
	ck_assert_msg(LOAD("--config", path) == 0, "%s", err.msg);
	ck_assert_uint_eq(cpu_set_count(&config.shares.dedicated), 3);
	ck_assert_uint_eq(config.shares.n_devices, 3);
	ck_assert_str_eq(config.shares.devices[1].name, "key");
	ck_assert_str_eq(config.shares.devices[1].key, "usb:1234:5678");
	ck_assert_str_eq(config.shares.devices[2].key, "mdev:5d307ca9-b3ef-428c-8861-06e72d69f223");
	config_done(&config);
	unlink(path);
	write_file("apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n"
		   "  dedicatedCPUs: 3\n");
	ck_assert_msg(LOAD("--config", path) == 0, "%s", err.msg);
	ck_assert(cpu_set_has(&config.shares.dedicated, 3));
}
END_TEST

START_TEST(test_read_only_socket)
{
	ck_assert_int_eq(LOAD("--socket", "/run/a.b/x.sock"), 0);
	ck_assert_str_eq(config.ro_socket, "/run/a.b/x-ro.sock");
	config_done(&config);
	ck_assert_int_eq(LOAD("--read-only-socket", "none"), 0);
	ck_assert_str_eq(config.ro_socket, "");
	config_done(&config);
	write_file("apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n"
		   "  readOnlySocket: {path: /r, mode: \"0666\", group: adm}\n");
	ck_assert_int_eq(LOAD("--config", path), 0);
	ck_assert_str_eq(config.ro_socket, "/r");
	ck_assert_uint_eq(config.ro_mode, 0666);
	ck_assert_str_eq(config.ro_group, "adm");
	config_done(&config);
	ck_assert_int_eq(LOAD("--config", path, "--read-only-socket", "/q"), 0);
	ck_assert_str_eq(config.ro_socket, "/q");
}
END_TEST

#define SPEC "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n"

START_TEST(test_peers)
{
	write_file(SPEC "  nodeName: a\n  peerListen: 192.0.2.1:99\n  tls: {ca: /ca, key: /key}\n"
			"  peers:\n  - name: b\n    address: host-b.example.org\n"
			"  - {name: c, address: '[2001:db8::1]:7'}\n");
	ck_assert_msg(LOAD("--config", path) == 0, "%s", err.msg);
	ck_assert_str_eq(config.node_name, "a");
	ck_assert_str_eq(config.peer_listen, "192.0.2.1:99");
	ck_assert_str_eq(config.tls_ca, "/ca");
	ck_assert_str_eq(config.tls_cert, "/etc/vmagent/pki/nodecert.pem");
	ck_assert_str_eq(config.tls_key, "/key");
	ck_assert_uint_eq(config.n_peers, 2);
	ck_assert_str_eq(config.peers[0].name, "b");
	ck_assert_str_eq(config.peers[0].address, "host-b.example.org");
	ck_assert_str_eq(config.peers[1].name, "c");
}
END_TEST

START_TEST(test_migrations)
{
	const struct migration_config *m = &config.tuning.migrations;

	write_file(SPEC
		"  migrations:\n    parallelOutboundMigrationsPerNode: 3\n"
		"    parallelInboundMigrationsPerNode: 4\n    bandwidthPerMigration: 64Mi\n"
		"    completionTimeoutPerGiB: 20\n    progressTimeout: 0\n    maxDowntimeMs: 700\n"
		"    allowAutoConverge: true\n    allowPostCopy: true\n"
		"    parallelMigrationsPerCluster: 5\n    nodeDrainTaintKey: kubevirt.io/drain\n"
		"    matchSELinuxLevelOnMigration: true\n    unsafeMigrationOverride: false\n"
		"    utilityVolumesTimeout: 150\n");
	ck_assert_msg(LOAD("--config", path) == 0, "%s", err.msg);
	ck_assert_uint_eq(m->outbound, 3);
	ck_assert_uint_eq(m->inbound, 4);
	ck_assert_int_eq(m->limits.bandwidth, 64 << 20);
	ck_assert_uint_eq(m->limits.completion_s_per_gib, 20);
	ck_assert_uint_eq(m->limits.progress_s, 0);
	ck_assert_uint_eq(m->limits.max_downtime_ms, 700);
	ck_assert(m->limits.auto_converge);
	ck_assert(m->limits.post_copy);
	ck_assert(m->limits.disrupt); /* who says nothing of it has it as allowPostCopy */
	config_done(&config);
	write_file(SPEC "  migrations: {allowWorkloadDisruption: false, allowPostCopy: true}\n");
	ck_assert_msg(LOAD("--config", path) == 0, "%s", err.msg);
	ck_assert(!m->limits.disrupt);
	config_done(&config);
	write_file(SPEC "  migrations: {allowWorkloadDisruption: true}\n");
	ck_assert_msg(LOAD("--config", path) == 0, "%s", err.msg);
	ck_assert(m->limits.disrupt && !m->limits.post_copy);
}
END_TEST

START_TEST(test_images)
{
	write_file(SPEC
		"  imageDir: /srv/images\n  images:\n  - {match: 'quay.io/a:*', path: /a.img}\n"
		"  - match: b\n    path: /b\n");
	ck_assert_msg(LOAD("--config", path) == 0, "%s", err.msg);
	ck_assert_str_eq(config.images.directory, "/srv/images");
	ck_assert_uint_eq(config.images.n_rules, 2);
	ck_assert_str_eq(config.images.rules[0].match, "quay.io/a:*");
	ck_assert_str_eq(config.images.rules[1].path, "/b");
}
END_TEST

static const struct {
	const char *text, *words;
} bad_files[] = {
	{ "kind: [", ":1:" },
	{ "apiVersion: vmagent.io/v1\nkind: Other\n", "expected apiVersion vmagent.io/v1" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  sockets: /s\n",
		":4:3: spec.sockets: no such field" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  socket: [1]\n",
		":4:3: spec.socket: expected text" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  hostDiskRoots: [x]\n",
		"expected an absolute path" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  imageRoots: []\n",
		"expected a list of 1 to 64 folders" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  emulation: fast\n",
		"spec.emulation: expected one of auto, kvm, tcg" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  crashLoop: {guard: 1}\n",
		":4:15: spec.crashLoop.guard: expected true or false" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  crashLoop:\n    stableSeconds: 0\n",
		":5:5: spec.crashLoop.stableSeconds: expected a whole number from 1 to 86400" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  hostBoot: {parallelStarts: 1.5}\n",
		"spec.hostBoot.parallelStarts: expected a whole number from 1 to 1000" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  hostBoot: {policy: restore}\n",
		"spec.hostBoot.policy: expected one of kubevirt, restore-running" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  readOnlySocket: {mode: 0660}\n",
		"spec.readOnlySocket.mode: expected an octal mode in quotes" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  readOnlySocket: {mode: \"9660\"}\n",
		"expected an octal mode in quotes" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  readOnlySocket: {path: 1}\n",
		"spec.readOnlySocket.path: expected text" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  readOnlySocket: {x: 1}\n",
		"spec.readOnlySocket.x: no such field" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  hostBoot: {sloth: 1}\n",
		"spec.hostBoot.sloth: no such field" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec:\n  hostBoot: 4\n",
		"expected fields" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspecs:\n  socket: /s\n",
		":3:1: specs: no such field" },
	{ "apiVersion: vmagent.io/v1\nkind: AgentConfiguration\nspec: [manifests]\n",
		":3:1: spec: expected fields" },
	{ SPEC "  labels: [a]\n", ":4:3: spec.labels: expected a map of labels" },
	{ SPEC "  labels: {-a: b}\n", ":4:12: spec.labels: expected a label's name" },
	{ SPEC "  labels: {a: true}\n", ":4:12: spec.labels: expected a text of letters" },
	{ SPEC "  taints: {a: b}\n", ":4:3: spec.taints: expected a list of taints" },
	{ SPEC "  taints: [a]\n", ":4:12: spec.taints: expected key, value and effect" },
	{ SPEC "  taints: [{key: a}]\n", ":4:12: spec.taints: expected a key and an effect" },
	{ SPEC "  taints: [{key: a, effect: Never}]\n",
		":4:21: spec.taints: expected one of NoSchedule" },
	{ SPEC "  taints: [{key: a, effects: Never}]\n",
		"expected key, value and effect, and nothing else" },
	{ SPEC "  overcommit: {memory: 5}\n",
		":4:16: spec.overcommit.memory: expected a whole number from 10 to 10000" },
	{ SPEC "  migrations: {parallelOutboundMigrationsPerNode: 17}\n",
		":4:16: spec.migrations.parallelOutboundMigrationsPerNode: expected a whole number from 1 to 16" },
	{ SPEC "  migrations:\n    maxDowntimeMs: 2000001\n",
		":5:5: spec.migrations.maxDowntimeMs: expected a whole number from 0 to 2000000" },
	{ SPEC "  migrations: {bandwidthPerMigration: fast}\n",
		":4:16: spec.migrations.bandwidthPerMigration: " },
	{ SPEC "  migrations: {nodeDrainTaintKey: []}\n", ":4:16: expected a value" },
	{ SPEC "  migrations: {allowPostcopy: true}\n",
		":4:16: spec.migrations.allowPostcopy: no such field" },
	{ SPEC "  reserved: {memory: lots}\n", ":4:14: spec.reserved.memory: expected a quantity" },
	{ SPEC "  reserved: {cpu: [1]}\n", ":4:14: spec.reserved.cpu: expected a quantity" },
	{ SPEC "  reserved: {memory: 1e99}\n",
		"spec.reserved.memory: quantity '1e99' is too large" },
	{ SPEC "  nodeName: Host_A\n", ":4:3: spec.nodeName: expected a name in lower case" },
	{ SPEC "  peerListen: host-a\n", ":4:3: spec.peerListen: expected a numeric address" },
	{ SPEC "  tls: {ca: cacert.pem}\n", ":4:9: spec.tls.ca: expected an absolute path" },
	{ SPEC "  tls: {crl: /x}\n", "spec.tls.crl: no such field" },
	{ SPEC "  peers: {b: host-b}\n", ":4:3: peers: expected a list of at most 64 peers" },
	{ SPEC "  peers: [b]\n", ":4:11: expected a peer: {name: NAME, address: HOST}" },
	{ SPEC "  peers: [{name: b}]\n", ":4:11: a peer has a name and an address" },
	{ SPEC "  peers: [{name: B, address: x}]\n", ":4:12: name: expected a name in lower case" },
	{ SPEC "  peers: [{name: b, address: 'x:'}]\n",
		":4:21: address: expected HOST, or HOST:PORT" },
	{ SPEC "  peers: [{name: b, address: 'x:0'}]\n", "address: expected HOST, or HOST:PORT" },
	{ SPEC "  peers: [{name: b, port: 1}]\n", ":4:21: no such field: a peer has" },
	{ SPEC "  peers:\n  - {name: b, address: x}\n  - {name: b, address: y}\n",
		":6:6: name: a peer of that name is there already" },
	{ SPEC "  imageDir: images\n", ":4:3: spec.imageDir: expected an absolute path" },
	{ SPEC "  images: {a: /a}\n", ":4:3: images: expected a list of at most 256" },
	{ SPEC "  images: [a]\n", ":4:12: expected {match: NAME, path: FILE}" },
	{ SPEC "  images: [{match: a}]\n", ":4:12: an image has match and path" },
	{ SPEC "  images: [{match: '', path: /a}]\n", ":4:13: match: expected an image's name" },
	{ SPEC "  images: [{match: a, path: /a/../b}]\n",
		":4:23: path: expected an absolute path" },
	{ SPEC "  images: [{match: a, file: /a}]\n", ":4:23: no such field: an image has" },
	{ SPEC "  storage: /data\n", ":4:3: storage: expected {directory: PATH" },
	{ SPEC "  storage: {directory: data}\n", ":4:13: storage.directory: expected an absolute" },
	{ SPEC "  storage: {directory: /a/../b}\n",
		"storage.directory: expected an absolute path" },
	{ SPEC "  storage: {folder: /a}\n", ":4:13: storage: expected {directory: PATH" },
	{ SPEC "  storage: {classes: [ssd]}\n", "storage: expected {directory: PATH" },
	{ SPEC "  storage: {classes: {ssd: 1}}\n", "storage.classes: expected an absolute path" },
	{ SPEC "  storage: {classes: {S_D: /a}}\n", "storage.classes: expected the name" },
	{ SPEC "  podNetwork: nat\n", ":4:3: spec.podNetwork: expected fields" },
	{ SPEC "  podNetwork: {type: slirp}\n",
		":4:16: spec.podNetwork: expected one of auto, nat, user, bridge, libvirt-network" },
	{ SPEC "  podNetwork: {type: bridge}\n", "spec.podNetwork: type bridge needs a bridge" },
	{ SPEC "  podNetwork: {bridge: a/b}\n", "spec.podNetwork: expected the name of a bridge" },
	{ SPEC "  podNetwork: {cidr: 10.0.0.1}\n", "spec.podNetwork: expected a network such as" },
	{ SPEC "  podNetwork: {mtu: 9}\n", "its fields are type, bridge, network, cidr" },
	{ SPEC "  podNetwork: {type: libvirt-network}\n",
		"spec.podNetwork: type libvirt-network needs a network" },
	{ SPEC "  networks: {lan: br0}\n", ":4:14: spec.networks: expected a network: {type" },
	{ SPEC "  networks: {Lan: {type: user}}\n", "spec.networks: expected a name as multus" },
	{ SPEC "  networks: {lan: {type: ovs}}\n",
		":4:14: spec.networks: bridge: field is required for type 'ovs'" },
	{ SPEC "  dedicatedCPUs: [2, 3]\n",
		":4:3: spec.dedicatedCPUs: expected CPUs of the host such as" },
	{ SPEC "  dedicatedCPUs: 3-2\n", "spec.dedicatedCPUs: expected CPUs of the host such as" },
	{ SPEC "  hostDevices: {}\n", "spec.hostDevices: expected a list of at most 256 devices" },
	{ SPEC "  hostDevices: [{name: a}]\n",
		"a device has a name, as deviceName has it, and one of pci" },
	{ SPEC "  hostDevices: [{name: a, usb: \"1234:5678\", pci: \"0000:65:00.0\"}]\n",
		"and one of pci" },
	{ SPEC "  hostDevices: [{name: /a, usb: \"1234:5678\"}]\n", "and one of pci" },
	{ SPEC "  hostDevices: [{name: a, pci: 1234:5678}]\n",
		"spec.hostDevices: expected pci: \"0000:65:00.0\"" },
	{ SPEC "  hostDevices: [{name: a, usb: \"1234:5678\"}, {name: b, usb: \"1234:5678\"}]\n",
		"this device is there already" },
	{ SPEC "  sriovPools: {}\n", "spec.sriovPools: expected a list of at most 64 pools" },
	{ SPEC "  sriovPools: [{name: a}]\n", "spec.sriovPools: a pool has a name, and either" },
	{ SPEC "  sriovPools: [{name: a, pf: e0, vfs: []}]\n", "a pool has a name, and either" },
	{ SPEC "  sriovPools: [{name: a, vfs: [1]}]\n", "vfs: expected a PCI address such as" },
	{ SPEC "  sriovPools: [{name: a, pf: e0}, {name: a, pf: e1}]\n",
		":4:35: spec.sriovPools: a pool has a name of its own" },
	{ "[1]", "expected apiVersion vmagent.io/v1" },
};

START_TEST(test_bad_files)
{
	write_file(bad_files[_i].text);
	ck_assert_int_lt(LOAD("--config", path), 0);
	ck_assert_int_eq(err.code, ERR_INVALID);
	ck_assert_msg(strstr(err.msg, bad_files[_i].words) != NULL, "'%s'", err.msg);
	ck_assert_msg(strstr(err.msg, path) == err.msg, "'%s'", err.msg);
}
END_TEST

START_TEST(test_a_named_file_must_be_there)
{
	ck_assert_int_lt(LOAD("--config", "/nonexistent/x.yaml"), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "/nonexistent/x.yaml"));
}
END_TEST

START_TEST(test_arguments)
{
	ck_assert_int_eq(LOAD("--help"), 0);
	ck_assert_int_eq(action, CONFIG_HELP);
	config_done(&config);
	ck_assert_int_eq(LOAD("--version"), 0);
	ck_assert_int_eq(action, CONFIG_VERSION);
	config_done(&config);
	ck_assert_int_lt(LOAD("--sock", "/s", "extra"), 0);
	ck_assert_int_eq(err.code, ERR_BAD_REQUEST);
	config_done(&config);
	ck_assert_int_lt(LOAD("--state"), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "an argument is missing"));
	config_done(&config);
	ck_assert_int_lt(LOAD("--nonsense"), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "'--nonsense': no such option"));
}
END_TEST

/* What README and examples show of two hosts. */
START_TEST(test_two_hosts)
{
	ck_assert_msg(LOAD("--config", "examples/two-hosts/vmagent.yaml") == 0, "%s", err.msg);
	ck_assert_str_eq(config.node_name, "host-a");
	ck_assert(config.migrations);
	ck_assert_uint_eq(config.tuning.migrations.inbound, 2);
	ck_assert_uint_eq(config.tuning.migrations.limits.max_downtime_ms, 900);
	ck_assert_str_eq(config.host_disk_roots[1], "/srv/disks");
}
END_TEST

Suite *test_config_suite(void)
{
	Suite *suite = suite_create("config");
	TCase *tcase = tcase_create("configuration");

	tcase_add_checked_fixture(tcase, NULL, tear_down);
	tcase_add_test(tcase, test_defaults);
	tcase_add_test(tcase, test_file_then_command_line);
	tcase_add_test(tcase, test_networks);
	tcase_add_test(tcase, test_shares);
	tcase_add_test(tcase, test_read_only_socket);
	tcase_add_test(tcase, test_storage);
	tcase_add_test(tcase, test_place);
	tcase_add_test(tcase, test_peers);
	tcase_add_test(tcase, test_migrations);
	tcase_add_test(tcase, test_images);
	tcase_add_loop_test(tcase, test_bad_files, 0, (int)ARRAY_SIZE(bad_files));
	tcase_add_test(tcase, test_a_named_file_must_be_there);
	tcase_add_test(tcase, test_arguments);
	tcase_add_test(tcase, test_two_hosts);
	suite_add_tcase(suite, tcase);
	return suite;
}
