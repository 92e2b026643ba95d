/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults of semantics §9.5, row by row: what is written, and what is left alone. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/defaults.h"
#include "core/manifest.h"

Suite *test_defaults_suite(void);

#define UUID "5d307ca9-b3ef-428c-8861-06e72d69f223"

static struct node *parsed(const char *text)
{
	struct documents docs = { 0 };
	struct place place;
	struct err err;
	struct node *root;

	ck_assert_msg(!nodes_parse(text, strlen(text), &docs, &place, &err), "%s: %s", text,
		err.msg);
	root = take(&docs.roots[0]);
	documents_done(&docs);
	return root;
}

/* What stands at a path of the tree, as JSON; "" when absent. */
static void expect_at(const struct node *root, const char *path, const char *json)
{
	const struct node *at = node_at(root, path);
	autofree char *said = at ? node_json(at) : xstrdup("");

	ck_assert_msg(streq(said, json), "%s: %s, expected %s", path, said, json);
}

#define CPU        "domain.cpu"
#define GUEST      "domain.memory.guest"
#define DISKS      "domain.devices.disks"
#define NICS       "domain.devices.interfaces"
#define POD        "[{\"name\":\"default\",\"pod\":{}}]"
#define MASQUERADE "[{\"name\":\"default\",\"masquerade\":{}}]"
#define ONE_CPU    "{\"sockets\":1,\"cores\":1,\"threads\":1,\"model\":\"host-model\"}"

static const struct {
	const char *spec, *path, *json;
} rows[] = {
	/* 1 */
	{ "{}", "domain.machine.type", "\"q35\"" },
	{ "{domain: {machine: {type: pc-q35-7.2}}}", "domain.machine.type", "\"pc-q35-7.2\"" },
	/* 2 */
	{ "{domain: {resources: {limits: {cpu: 2}}}}", "domain.resources.requests.cpu", "2" },
	{ "{domain: {resources: {limits: {cpu: 2}, requests: {cpu: 500m}}}}",
		"domain.resources.requests.cpu", "\"500m\"" },
	{ "{domain: {resources: {requests: {cpu: 2}}}}", "domain.resources.limits", "" },
	/* 3 */
	{ "{domain: {memory: {guest: 1Gi}, resources: {requests: {memory: 2Gi}}}}", GUEST,
		"\"1Gi\"" },
	{ "{domain: {resources: {requests: {memory: 2Gi}, limits: {memory: 3Gi}}}}", GUEST,
		"\"2Gi\"" },
	{ "{domain: {resources: {limits: {memory: 3e9}}}}", GUEST, "3e9" },
	{ "{}", GUEST, "" },
	/* 4 */
	{ "{}", CPU, ONE_CPU },
	{ "{domain: {cpu: {cores: 0, sockets: 0, threads: 0}}}", CPU,
		"{\"cores\":1,\"sockets\":1,\"threads\":1,\"model\":\"host-model\"}" },
	{ "{domain: {cpu: {cores: 2}}}", CPU, "{\"cores\":2,\"model\":\"host-model\"}" },
	{ "{domain: {cpu: {cores: 2}, resources: {limits: {cpu: 8}}}}", "domain.cpu.sockets", "" },
	{ "{domain: {resources: {limits: {cpu: 1500m}}}}", "domain.cpu.sockets", "2" },
	{ "{domain: {resources: {limits: {cpu: 3}, requests: {cpu: 2}}}}", "domain.cpu.sockets",
		"3" },
	{ "{domain: {resources: {requests: {cpu: '2.1'}}}}", "domain.cpu.sockets", "3" },
	{ "{domain: {resources: {requests: {cpu: 0}}}}", "domain.cpu.sockets", "1" },
	/* 7 */
	{ "{}", "networks", POD },
	{ "{}", NICS, MASQUERADE },
	{ "{networks: [], domain: {devices: {interfaces: []}}}", NICS, MASQUERADE },
	{ "{networks: [], domain: {devices: {interfaces: []}}}", "networks", POD },
	{ "{domain: {devices: {autoattachPodInterface: true}}}", NICS, MASQUERADE },
	{ "{domain: {devices: {autoattachPodInterface: false}}}", NICS, "" },
	{ "{domain: {devices: {autoattachPodInterface: false}}}", "networks", "" },
	{ "{networks: [{name: a, pod: {}}], domain: {devices: {interfaces: [{name: a, bridge: {}}]}}}",
		NICS, "[{\"name\":\"a\",\"bridge\":{}}]" },
	{ "{networks: [{name: a, pod: {}}]}", NICS, "" },
	/* 8, 9, 11 */
	{ "{volumes: [{name: a}]}", DISKS, "[{\"name\":\"a\",\"disk\":{\"bus\":\"sata\"}}]" },
	{ "{volumes: [{name: a}, {name: b}], domain: {devices: {disks: [{name: b, disk: {bus: virtio}}]}}}",
		DISKS,
		"[{\"name\":\"b\",\"disk\":{\"bus\":\"virtio\"}},{\"name\":\"a\",\"disk\":{\"bus\":\"sata\"}}]" },
	{ "{domain: {devices: {disks: [{name: b, cdrom: {}}]}}}", DISKS,
		"[{\"name\":\"b\",\"cdrom\":{\"bus\":\"sata\",\"readonly\":true,\"tray\":\"closed\"}}]" },
	{ "{domain: {devices: {disks: [{name: b, cdrom: {bus: scsi, readonly: false}}]}}}", DISKS,
		"[{\"name\":\"b\",\"cdrom\":{\"bus\":\"scsi\",\"readonly\":false,\"tray\":\"closed\"}}]" },
	{ "{domain: {features: {acpi: {}, smm: {}}}}", "domain.features",
		"{\"acpi\":{\"enabled\":true},\"smm\":{\"enabled\":true}}" },
	{ "{domain: {features: {acpi: {enabled: false}}}}", "domain.features",
		"{\"acpi\":{\"enabled\":false}}" },
	{ "{}", "domain.features", "" },
	/* 12 */
	{ "{domain: {cpu: {model: Haswell}}}", "domain.cpu.model", "\"Haswell\"" },
	/* never */
	{ "{}", "terminationGracePeriodSeconds", "" },
	{ "{}", "startStrategy", "" },
	{ "{}", "domain.firmware", "" },
};

START_TEST(vmi_rows)
{
	struct node *spec = parsed(rows[_i].spec);
	struct node *once;

	vmi_spec_default(spec);
	expect_at(spec, rows[_i].path, rows[_i].json);
	once = node_copy(spec);
	vmi_spec_default(spec); /* a second time changes nothing */
	ck_assert(node_equal(spec, once));
	node_free(once);
	node_free(spec);
}
END_TEST

START_TEST(vm_gets_machine_and_identity)
{
	struct node *root = parsed("{metadata: {name: a}, spec: {template: {spec: {domain: {}}}}}");
	static const char json[] = "{\"machine\":{\"type\":\"q35\"},\"firmware\":{\"uuid\":\"" UUID
				   "\",\"serial\":\"" UUID "\"}}";

	manifest_default(KIND_VM, root, UUID);
	expect_at(root, "spec.template.spec.domain", json);
	manifest_default(KIND_VM, root, "another");
	expect_at(root, "spec.template.spec.domain", json);
	expect_at(root, "spec.template.spec.networks", "");
	node_free(root);
}
END_TEST

START_TEST(given_identity_stays)
{
	struct node *root =
		parsed("{spec: {template: {spec: {domain: {firmware: {uuid: x, serial: z}}}}}}");

	manifest_default(KIND_VM, root, UUID);
	expect_at(root, "spec.template.spec.domain.firmware", "{\"uuid\":\"x\",\"serial\":\"z\"}");
	node_free(root);
}
END_TEST

START_TEST(bare_vmi_gets_all)
{
	struct node *root = parsed("{spec: {domain: {}}}");

	manifest_default(KIND_VMI, root, UUID);
	expect_at(root, "spec.domain.firmware", "{\"uuid\":\"" UUID "\"}");
	expect_at(root, "spec.domain.cpu", ONE_CPU);
	expect_at(root, "spec.networks", POD);
	node_free(root);
}
END_TEST

START_TEST(vmi_of_a_vm)
{
	struct node *spec = parsed("{running: true, template: {metadata: {}, spec: {domain: {}}}}");
	struct node *vmi = vmi_spec_tree(spec);

	expect_at(vmi, "domain.cpu", ONE_CPU);
	expect_at(vmi, "networks", POD);
	expect_at(spec, "template.spec", "{\"domain\":{}}"); /* the VM stays as it is */
	ck_assert_ptr_null(vmi->key);
	node_free(vmi);
	node_free(spec);
}
END_TEST

/* Trees that no check has seen must not crash it. */
START_TEST(wrong_kinds_are_left_alone)
{
	static const char *const texts[] = { "[]", "5", "{domain: 5}", "{domain: []}",
		"{domain: {cpu: 5, memory: [], devices: x, machine: [1], features: 3}, volumes: {a: b}}",
		"{volumes: [1, {name: 2}, []], networks: 5, domain: {devices: {disks: [1, []]}}}" };
	static const char *const vms[] = { "{}", "{template: 5}", "{template: {spec: []}}" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct node *spec = parsed(texts[i]);
		struct vmi_spec typed;
		struct err err;

		vmi_spec_default(spec);
		ck_assert_int_eq(spec_parse(spec, &typed, &err), -ERR_INVALID);
		ck_assert(err.msg[0]);
		node_free(spec);
	}
	for (size_t i = 0; i < ARRAY_SIZE(vms); i++) {
		struct node *vm = parsed(vms[i]);

		node_free(vmi_spec_tree(vm));
		node_free(vm);
	}
}
END_TEST

Suite *test_defaults_suite(void)
{
	Suite *suite = suite_create("defaults");
	TCase *tc = tcase_create("defaults");

	tcase_add_loop_test(tc, vmi_rows, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, vm_gets_machine_and_identity);
	tcase_add_test(tc, given_identity_stays);
	tcase_add_test(tc, bare_vmi_gets_all);
	tcase_add_test(tc, vmi_of_a_vm);
	tcase_add_test(tc, wrong_kinds_are_left_alone);
	suite_add_tcase(suite, tc);
	return suite;
}
