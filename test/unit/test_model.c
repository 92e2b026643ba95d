/* SPDX-License-Identifier: Apache-2.0 */
/* Every enum's names and parser, the kinds of object, the table of operations, copies and ends. */
#include <check.h>
#include <string.h>

#include <vmagent/hypervisor.h>

#include "core/strategy.h"

Suite *test_model_suite(void);

/* One enum with its names as the reference spells them, in order, '|' between. */
struct names {
	const char *type;
	int max;
	const char *want;
	const char *(*name)(int value);
	bool (*parse)(const char *text, int *ret_value);
};

/* The typed functions behind one signature. */
#define ADAPT(type)                                                   \
	static const char *type##_name_of(int value)                  \
	{                                                             \
		return type##_name((enum type)value);                 \
	}                                                             \
	static bool type##_parse_to(const char *text, int *ret_value) \
	{                                                             \
		enum type value = (enum type) * ret_value;            \
		bool known = type##_parse(text, &value);              \
                                                                      \
		*ret_value = (int)value;                              \
		return known;                                         \
	}
ADAPT(phase)
ADAPT(run_strategy)
ADAPT(domain_state)
ADAPT(domain_reason)
ADAPT(printable)
ADAPT(request_action)
ADAPT(verb)
ADAPT(vmi_verb)
ADAPT(guest_look)
ADAPT(pause)
ADAPT(act)
ADAPT(intent)
ADAPT(disk_device)
ADAPT(disk_bus)
ADAPT(disk_cache)
ADAPT(volume_kind)
ADAPT(bootloader)
ADAPT(panic_model)

#define ROW(type, max, want)                                      \
	{                                                         \
#type, max, want, type##_name_of, type##_parse_to \
	}
/* clang-format off */
static const struct names tables[] = {
	ROW(phase, PHASE_MAX, /* §1.1 */
		"|Pending|Scheduling|Scheduled|Running|Succeeded|Failed|WaitingForSync|Unknown"),
	ROW(run_strategy, STRATEGY_MAX, /* §4.3 */
		"|Always|RerunOnFailure|Manual|Halted|Once|WaitAsReceiver"),
	ROW(domain_state, DOMAIN_STATE_MAX, /* §3 */
		"Unknown|NonExistent|NoState|Running|Blocked|Paused|ShuttingDown|Shutoff|Crashed|PMSuspended"),
	ROW(domain_reason, DOMAIN_REASON_MAX, /* §3 */
		"Unknown|User|Migration|Save|Dump|IOError|Watchdog|FromSnapshot|ShuttingDown|Snapshot|Crashed|"
		"StartingUp|Postcopy|PostcopyFailed|Shutdown|Destroyed|Migrated|Saved|Failed|Panicked|Daemon|APIError"),
	ROW(printable, PRINTABLE_MAX, /* §6 */
		"Unknown|Stopped|Provisioning|Starting|Running|Paused|Stopping|Terminating|CrashLoopBackOff|Migrating|"
		"ErrorUnschedulable|ErrImagePull|ImagePullBackOff|ErrorPvcNotFound|DataVolumeError|"
		"WaitingForVolumeBinding|WaitingForReceiver"),
	ROW(request_action, REQUEST_ACTION_MAX, "|Start|Stop"),
	ROW(verb, VERB_MAX, "start|stop|restart"),
	ROW(vmi_verb, VMI_VERB_MAX, "pause|unpause|softreboot|reset"), /* §5.4 */
	ROW(guest_look, GUEST_LOOK_MAX, "guestosinfo|userlist|filesystemlist"), /* §5.4 */
	ROW(pause, PAUSE_MAX, "|Held|Released"),
	ROW(act, ACT_MAX, "|Reboot|Reset"),
	ROW(intent, INTENT_MAX, "none|create|wait|delete|rerun|become-always|error"),
	ROW(disk_device, DISK_DEVICE_MAX, "disk|cdrom|lun"),
	ROW(disk_bus, DISK_BUS_MAX, "|virtio|sata|scsi|usb"),
	ROW(disk_cache, DISK_CACHE_MAX, "|none|writethrough|writeback"),
	ROW(volume_kind, VOLUME_KIND_MAX, "hostDisk|containerDisk|emptyDisk|cloudInitNoCloud|cloudInitConfigDrive|"
		"configMap|secret|downwardAPI|sysprep|"
		"persistentVolumeClaim|ephemeral"),
	ROW(bootloader, BOOTLOADER_MAX, "bios|efi|efi-secure"),
	ROW(panic_model, PANIC_MODEL_MAX, "isa|hyperv|pvpanic"),
};
/* clang-format on */

START_TEST(names_are_the_references)
{
	const struct names *t = &tables[_i];
	struct buf got = { 0 };

	for (int i = 0; i < t->max; i++)
		buf_printf(&got, "%s%s", i ? "|" : "", t->name(i));
	ck_assert_str_eq(got.data, t->want);
	ck_assert_str_eq(t->name(t->max), "?");
	ck_assert_str_eq(t->name(-1), "?");
	buf_done(&got);
}
END_TEST

START_TEST(names_parse_back)
{
	const struct names *t = &tables[_i];
	int value;

	for (int i = 0; i < t->max; i++) {
		value = -1;
		ck_assert_msg(t->parse(t->name(i), &value), "%s %d", t->type, i);
		ck_assert_int_eq(value, i);
	}
}
END_TEST

START_TEST(other_names_are_refused)
{
	static const char *const bad[] = { NULL, "?", "no such", " ", "always", "RUNNING",
		"Start " };
	const struct names *t = &tables[_i];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		int value = 0;

		ck_assert_msg(!t->parse(bad[i], &value), "%s takes '%s'", t->type, bad[i]);
		ck_assert_int_eq(value, 0);
	}
}
END_TEST

START_TEST(kinds_of_object)
{
	static const struct {
		enum object_kind kind;
		const char *name, *plural, *api;
		bool namespaced;
		enum object_home home;
	} want[] = {
		/* clang-format off */
		{ KIND_VM, "VirtualMachine", "virtualmachines", "kubevirt.io/v1", true, HOME_MACHINE },
		{ KIND_VMI, "VirtualMachineInstance", "virtualmachineinstances", "kubevirt.io/v1", true,
			HOME_MACHINE },
		{ KIND_MIGRATION, "VirtualMachineInstanceMigration",
			"virtualmachineinstancemigrations", "kubevirt.io/v1", true, HOME_ORDER },
		{ KIND_EVENT, "Event", "events", "v1", true, HOME_AGENT },
		{ KIND_FILE, "ManifestFile", "manifestfiles", "vmagent.io/v1", true, HOME_AGENT },
		{ KIND_POD, "Pod", "pods", "v1", true, HOME_MADE },
		{ KIND_NODE, "Node", "nodes", "v1", false, HOME_MADE },
		{ KIND_KUBEVIRT, "KubeVirt", "kubevirts", "kubevirt.io/v1", true, HOME_MADE },
		{ KIND_HOST_SHUTDOWN, "HostShutdown", "hostshutdown", "vmagent.io/v1", false, HOME_AGENT },
		{ KIND_NAMESPACE, "Namespace", "namespaces", "v1", false, HOME_RECORD },
		{ KIND_SECRET, "Secret", "secrets", "v1", true, HOME_RECORD },
		{ KIND_CONFIG_MAP, "ConfigMap", "configmaps", "v1", true, HOME_RECORD },
		{ KIND_PVC, "PersistentVolumeClaim", "persistentvolumeclaims", "v1", true, HOME_RECORD },
		{ KIND_DATA_VOLUME, "DataVolume", "datavolumes", "cdi.kubevirt.io/v1beta1", true, HOME_RECORD },
		{ KIND_NETWORK, "NetworkAttachmentDefinition", "network-attachment-definitions",
			"k8s.cni.cncf.io/v1", true, HOME_RECORD },
		{ KIND_INSTANCETYPE, "VirtualMachineInstancetype", "virtualmachineinstancetypes",
			"instancetype.kubevirt.io/v1beta1", true, HOME_RECORD },
		{ KIND_CLUSTER_INSTANCETYPE, "VirtualMachineClusterInstancetype",
			"virtualmachineclusterinstancetypes", "instancetype.kubevirt.io/v1beta1", false,
			HOME_RECORD },
		{ KIND_PREFERENCE, "VirtualMachinePreference", "virtualmachinepreferences",
			"instancetype.kubevirt.io/v1beta1", true, HOME_RECORD },
		{ KIND_CLUSTER_PREFERENCE, "VirtualMachineClusterPreference",
			"virtualmachineclusterpreferences", "instancetype.kubevirt.io/v1beta1", false,
			HOME_RECORD },
		{ KIND_NEW_EVENT, "Event", "events", "events.k8s.io/v1", true, HOME_MADE },
		{ KIND_PRIORITY_CLASS, "PriorityClass", "priorityclasses", "scheduling.k8s.io/v1", false,
			HOME_RECORD },
		{ KIND_MIGRATION_POLICY, "MigrationPolicy", "migrationpolicies",
			"migrations.kubevirt.io/v1alpha1", false, HOME_RECORD },
		{ KIND_MAX, "?", "?", "?", false, HOME_AGENT },
		/* clang-format on */
	};
	enum object_kind kind = KIND_MAX;

	ck_assert_uint_eq(ARRAY_SIZE(want), KIND_MAX + 1);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		ck_assert_str_eq(object_kind_name(want[i].kind), want[i].name);
		ck_assert_str_eq(object_kind_plural(want[i].kind), want[i].plural);
		ck_assert_str_eq(object_kind_api_version(want[i].kind), want[i].api);
		ck_assert_int_eq(object_kind_is_namespaced(want[i].kind), want[i].namespaced);
		ck_assert_int_eq(object_kind_home(want[i].kind), want[i].home);
		ck_assert_int_eq(object_kind_parse(want[i].name, &kind), i < KIND_MAX);
		if (i < KIND_MAX)
			ck_assert_int_eq(kind,
				want[i].kind == KIND_NEW_EVENT ? KIND_EVENT : want[i].kind);
	}
	ck_assert(!object_kind_parse("virtualmachine", &kind));
	ck_assert(!object_kind_parse(NULL, &kind));
}
END_TEST

START_TEST(a_spec_ends_empty)
{
	static const struct vmi_spec zero;
	struct vmi_spec spec = { .cores = 2, .n_disks = 2, .n_volumes = 1, .n_interfaces = 1 };

	spec.cpu_model = xstrdup("host-model");
	spec.machine_type = xstrdup("q35");
	spec.serial = xstrdup("s");
	spec.kernel_boot.image = xstrdup("/boot");
	spec.kernel_boot.kernel = xstrdup("vmlinuz");
	spec.kernel_boot.initrd = xstrdup("initrd");
	spec.kernel_boot.args = xstrdup("quiet");
	spec.disks = xcalloc(2, sizeof(*spec.disks));
	spec.disks[1].name = xstrdup("root");
	spec.disks[1].serial = xstrdup("1");
	spec.volumes = xcalloc(1, sizeof(*spec.volumes));
	spec.volumes[0].name = xstrdup("root");
	spec.volumes[0].path = xstrdup("/img");
	spec.probes[PROBE_OF_READINESS].question = xstrdup("GET");
	spec.interfaces = xcalloc(1, sizeof(*spec.interfaces));
	spec.interfaces[0].name = xstrdup("default");
	spec.interfaces[0].model = xstrdup("virtio");
	spec.interfaces[0].mac = xstrdup("02:00:00:00:00:01");
	vmi_spec_done(&spec); /* leaks are the sanitizer's to find */
	ck_assert_mem_eq(&spec, &zero, sizeof(spec));
}
END_TEST

static const struct {
	enum op_kind kind;
	const char *name;
	enum op_lane lane;
	msec deadline;
} ops[] = {
	{ OP_NONE, "", LANE_MAIN, 0 },
	{ OP_LIST, "list", LANE_URGENT, 30000 },
	{ OP_READ, "read", LANE_READ, 30000 },
	{ OP_DESCRIBE, "describe", LANE_READ, 30000 },
	{ OP_PREPARE, "prepare", LANE_MAIN, 300000 },
	{ OP_START, "start", LANE_MAIN, 120000 },
	{ OP_CLAIM, "claim", LANE_MAIN, 30000 },
	{ OP_SHUTDOWN, "shutdown", LANE_SIGNAL, 5000 }, /* §7.2 [P]: 5 s a call */
	{ OP_AGENT_SHUTDOWN, "agent-shutdown", LANE_AGENT, 60000 },
	{ OP_AGENT_REBOOT, "agent-reboot", LANE_AGENT, 60000 },
	{ OP_AGENT_TIME, "agent-time", LANE_AGENT, 60000 },
	{ OP_AGENT_INFO, "agent-info", LANE_AGENT, 60000 },
	{ OP_AGENT_CREDENTIALS, "agent-credentials", LANE_AGENT, 60000 },
	{ OP_AGENT_LOOK, "agent-look", LANE_AGENT, 60000 },
	{ OP_DESTROY, "destroy", LANE_URGENT, 30000 },
	{ OP_SUSPEND, "suspend", LANE_GUEST, 30000 },
	{ OP_RESUME, "resume", LANE_GUEST, 30000 },
	{ OP_REBOOT, "reboot", LANE_GUEST, 30000 },
	{ OP_RESET, "reset", LANE_GUEST, 30000 },
	{ OP_UNDEFINE, "undefine", LANE_MAIN, 30000 },
	{ OP_CLEAN, "clean", LANE_MAIN, 300000 },
	{ OP_DROP, "drop", LANE_MAIN, 300000 },
	{ OP_FILL, "fill", LANE_MAIN, 86400000 },
	{ OP_PURGE, "purge", LANE_MAIN, 60000 },
	{ OP_WORDS, "read-output", LANE_WORDS, 5000 },
	{ OP_MIGRATE_PREPARE, "migrate-prepare", LANE_MAIN, 120000 },
	{ OP_MIGRATE, "migrate", LANE_MIGRATE, 86400000 },
	{ OP_MIGRATE_WATCH, "migrate-watch", LANE_MIGRATE, 86400000 },
	{ OP_MIGRATE_PASS, "migrate-pass", LANE_GUEST, 30000 },
	{ OP_MIGRATE_RELAY, "migrate-relay", LANE_GUEST, 60000 },
	{ OP_MIGRATE_SEAL, "migrate-seal", LANE_GUEST, 30000 },
	{ OP_MIGRATE_ABORT, "migrate-abort", LANE_URGENT, 30000 },
	{ OP_MIGRATE_ANNOUNCE, "migrate-announce", LANE_GUEST, 30000 },
	{ OP_MIGRATE_READ_NVRAM, "read-nvram", LANE_MAIN, 30000 },
	{ OP_MIGRATE_WRITE_NVRAM, "write-nvram", LANE_MAIN, 30000 },
	{ OP_MIGRATE_RESUME, "migrate-resume", LANE_GUEST, 30000 },
	{ OP_PROBE, "probe", LANE_PROBE, 90000 },
	{ OP_SCREENSHOT, "screenshot", LANE_ERRAND, 15000 },
	{ OP_FORWARD, "port-forward", LANE_ERRAND, 15000 },
	{ OP_COMPARE, "compare-host", LANE_READ, 30000 },
	{ OP_LOOK, "look-for-files", LANE_READ, 5000 },
};
_Static_assert(ARRAY_SIZE(ops) == OP_KIND_MAX, "a row for each op");

START_TEST(the_table_of_operations)
{
	ck_assert_int_eq(ops[_i].kind, _i);
	ck_assert_str_eq(op_kind_name(ops[_i].kind), ops[_i].name);
	ck_assert_int_eq(op_kind_lane(ops[_i].kind), ops[_i].lane);
	ck_assert_int_eq(op_kind_deadline(ops[_i].kind), ops[_i].deadline);
}
END_TEST

START_TEST(names_of_events)
{
	static const char *const want[] = { "changed", "started", "shutdown", "stopped", "panicked",
		"agent", "undefined", "io-error", "progress", "answered", "?" };

	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		ck_assert_str_eq(domain_event_kind_name((enum domain_event_kind)i), want[i]);
	ck_assert_uint_eq(ARRAY_SIZE(want), DOMAIN_EVENT_MAX + 1);
}
END_TEST

START_TEST(a_copied_op_shares_nothing)
{
	struct op op = { .id = 7, .kind = OP_START, .n_work = 2, .facts = 3 }, copy;

	op.ns = xstrdup("default");
	op.name = xstrdup("web");
	op.domain = xstrdup("default_web");
	op.xml = xstrdup("<domain/>");
	op.directory = xstrdup("/run");
	op.kept = xstrdup("/vm");
	op.work = xcalloc(2, sizeof(*op.work));
	op.work[1].volume = xstrdup("root");
	op.work[1].target = xstrdup("/run/root");
	op.work[1].base = xstrdup("/img");
	op.work[1].capacity = 5;
	copy_str(op.uuid, sizeof(op.uuid), "u");
	op_copy(&copy, &op);
	op_done(&op);
	ck_assert_uint_eq(op.n_work, 0);
	ck_assert_ptr_null(op.xml);
	ck_assert_uint_eq(copy.id, 7);
	ck_assert_int_eq(copy.kind, OP_START);
	ck_assert_uint_eq(copy.facts, 3);
	ck_assert_str_eq(copy.ns, "default");
	ck_assert_str_eq(copy.name, "web");
	ck_assert_str_eq(copy.domain, "default_web");
	ck_assert_str_eq(copy.xml, "<domain/>");
	ck_assert_str_eq(copy.directory, "/run");
	ck_assert_str_eq(copy.kept, "/vm");
	ck_assert_str_eq(copy.uuid, "u");
	ck_assert_ptr_null(copy.work[0].volume);
	ck_assert_str_eq(copy.work[1].volume, "root");
	ck_assert_str_eq(copy.work[1].target, "/run/root");
	ck_assert_str_eq(copy.work[1].base, "/img");
	ck_assert_int_eq(copy.work[1].capacity, 5);
	op_done(&copy);
}
END_TEST

START_TEST(a_result_ends_empty)
{
	struct op_result result = { .id = 1, .n_domains = 2 };

	result.domains = xcalloc(2, sizeof(*result.domains));
	result.domains[0].name = xstrdup("a");
	result.domains[1].console = xstrdup("/dev/pts/1");
	result.domains[1].graphics = xstrdup("/run/vnc.sock");
	op_result_done(&result);
	ck_assert_uint_eq(result.n_domains, 0);
	ck_assert_ptr_null(result.domains);
}
END_TEST

Suite *test_model_suite(void)
{
	Suite *s = suite_create("model");
	TCase *enums = tcase_create("enums");
	TCase *objects = tcase_create("objects");
	TCase *operations = tcase_create("operations");

	tcase_add_loop_test(enums, names_are_the_references, 0, ARRAY_SIZE(tables));
	tcase_add_loop_test(enums, names_parse_back, 0, ARRAY_SIZE(tables));
	tcase_add_loop_test(enums, other_names_are_refused, 0, ARRAY_SIZE(tables));
	suite_add_tcase(s, enums);
	tcase_add_test(objects, kinds_of_object);
	tcase_add_test(objects, a_spec_ends_empty);
	suite_add_tcase(s, objects);
	tcase_add_loop_test(operations, the_table_of_operations, 0, ARRAY_SIZE(ops));
	tcase_add_test(operations, names_of_events);
	tcase_add_test(operations, a_copied_op_shares_nothing);
	tcase_add_test(operations, a_result_ends_empty);
	suite_add_tcase(s, operations);
	return s;
}
