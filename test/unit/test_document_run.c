/* SPDX-License-Identifier: Apache-2.0 */
/* What a run's status says of its machine, field by field (semantics §1.4), and
 * the times of conditions. */
#include <cjson/cJSON.h>
#include <check.h>
#include <string.h>

#include "core/codec.h"
#include "core/migration.h"
#include "core/status.h"

Suite *test_document_run_suite(void);

#define SPEC                                                                                         \
	"{\"template\":{\"spec\":{\"domain\":{\"machine\":{\"type\":\"pc\"},"                        \
	"\"cpu\":{\"cores\":2,\"sockets\":3},\"memory\":{\"guest\":\"1536Mi\"},"                     \
	"\"firmware\":{\"uuid\":\"11111111-1111-4111-8111-111111111111\"},"                          \
	"\"devices\":{\"disks\":[{\"name\":\"root\",\"disk\":{\"bus\":\"virtio\"}},"                 \
	"{\"name\":\"old\",\"disk\":{\"bus\":\"sata\"}},{\"name\":\"scratch\",\"disk\":{\"bus\":"    \
	"\"virtio\"}}],\"interfaces\":[{\"name\":\"default\",\"masquerade\":{},\"macAddress\":"      \
	"\"02:00:00:AA:bb:01\"},{\"name\":\"second\",\"masquerade\":{}}]}},"                         \
	"\"networks\":[{\"name\":\"default\",\"pod\":{}},{\"name\":\"second\",\"pod\":{}}],"         \
	"\"volumes\":[{\"name\":\"root\",\"containerDisk\":{\"image\":\"file:///i.img\"}},"          \
	"{\"name\":\"old\",\"hostDisk\":{\"path\":\"/disks/a\",\"type\":\"Disk\",\"shared\":true}}," \
	"{\"name\":\"scratch\",\"emptyDisk\":{\"capacity\":\"1536Ki\"}}]}}}"

static struct machine m;

static void setup(void)
{
	struct step_env env = { .uid = "run-uid", .now = { 1000, 1000 } };
	struct vm *vm = xcalloc(1, sizeof(*vm));
	struct err err;

	m = (struct machine){ .vm = vm };
	vm->meta.name = xstrdup("web");
	vm->meta.ns = xstrdup("default");
	copy_str(vm->meta.uid, UID_SIZE, "vm-uid");
	vm->spec = xstrdup(SPEC);
	m.vmi = vmi_of_vm(vm, &env, &err);
	ck_assert_msg(m.vmi, "%s", err.msg);
}

static void teardown(void)
{
	vm_free(m.vm);
	vmi_free(m.vmi);
}

/* "status.memory.guestAtBoot", "status.volumeStatus.0.name": its JSON text, or "-". */
static char *at(const char *path)
{
	autofree char *document = vmi_document(&m, "node1"), *copy = xstrdup(path);
	cJSON *root = cJSON_Parse(document);
	const cJSON *json = root;
	char *rest = copy, *key, *text;

	while (json && (key = strsep(&rest, ".")))
		json = cJSON_IsArray(json) ? cJSON_GetArrayItem(json, atoi(key))
					   : cJSON_GetObjectItemCaseSensitive(json, key);
	text = json ? cJSON_PrintUnformatted(json) : xstrdup("-");
	cJSON_Delete(root);
	return text;
}

static void expect(const char *path, const char *want)
{
	char *got = at(path);

	ck_assert_msg(streq(got, want), "%s is %s, not %s", path, got, want);
	free(got);
}

/* clang-format off */
static const struct { const char *path, *pending, *running; } fields[] = {
	{ "machine",            "{\"type\":\"pc\"}", "{\"type\":\"pc\"}" },
	{ "currentCPUTopology", "{\"cores\":2,\"sockets\":3,\"threads\":1}",
	                        "{\"cores\":2,\"sockets\":3,\"threads\":1}" },
	{ "memory",             "{\"guestAtBoot\":\"1536Mi\",\"guestCurrent\":\"1536Mi\",\"guestRequested\":\"1536Mi\"}",
	                        "{\"guestAtBoot\":\"1536Mi\",\"guestCurrent\":\"1536Mi\",\"guestRequested\":\"1536Mi\"}" },
	{ "volumeStatus.0",     "{\"name\":\"root\",\"target\":\"vda\",\"phase\":\"Pending\"}",
	                        "{\"name\":\"root\",\"target\":\"vda\",\"phase\":\"Ready\"}" },
	{ "volumeStatus.1",     "{\"name\":\"old\",\"target\":\"sda\",\"phase\":\"Pending\"}",
	                        "{\"name\":\"old\",\"target\":\"sda\",\"phase\":\"Ready\"}" },
	{ "volumeStatus.2",     "{\"name\":\"scratch\",\"target\":\"vdb\",\"phase\":\"Pending\",\"size\":1048576}",
	                        "{\"name\":\"scratch\",\"target\":\"vdb\",\"phase\":\"Ready\",\"size\":1048576}" },
	{ "volumeStatus.3",     "-", "-" },
	{ "interfaces.0",       "-", "{\"name\":\"default\",\"mac\":\"02:00:00:aa:bb:01\",\"infoSource\":\"domain\",\"linkState\":\"up\",\"queueCount\":1}" },
	{ "interfaces.1.name",  "-", "\"second\"" },
	{ "migrationMethod",    "-", "\"BlockMigration\"" },
	{ "nodeName",           "-", "\"node1\"" },
};
/* clang-format on */

START_TEST(field)
{
	autofree char *path = xasprintf("status.%s", fields[_i].path);

	expect(path, fields[_i].pending);
	m.vmi->phase = PHASE_RUNNING;
	m.vmi->prepared = true;
	expect(path, fields[_i].running);
}
END_TEST

struct journey { /* of the run, whose own labels these are */
	const char *own;
	enum phase phase;
	bool moves;
	enum migration_role role;
	enum migration_phase reached;
	const char *want;
};

#define HERE  "\"kubevirt.io/nodeName\":\"node1\""
#define GOING ",\"kubevirt.io/migrationTargetNodeName\":"

/* clang-format off */
static const struct journey journeys[] = {
	{ NULL, PHASE_PENDING, .want = "-" },
	{ "{\"a\":\"b\"}", PHASE_PENDING, .want = "{\"a\":\"b\"}" },
	{ NULL, PHASE_RUNNING, .want = "{" HERE "}" },
	{ "{\"a\":\"b\"}", PHASE_SUCCEEDED, .want = "{\"a\":\"b\"," HERE "}" },
	{ NULL, PHASE_RUNNING, true, MIGRATION_SOURCE, MIGRATION_PHASE_SCHEDULED,        "{" HERE "}" },
	{ NULL, PHASE_RUNNING, true, MIGRATION_SOURCE, MIGRATION_PHASE_PREPARING_TARGET, "{" HERE GOING "\"node2\"}" },
	{ NULL, PHASE_RUNNING, true, MIGRATION_SOURCE, MIGRATION_PHASE_RUNNING,          "{" HERE GOING "\"node2\"}" },
	{ NULL, PHASE_RUNNING, true, MIGRATION_TARGET, MIGRATION_PHASE_RUNNING,          "{" HERE GOING "\"node1\"}" },
	{ NULL, PHASE_RUNNING, true, MIGRATION_TARGET, MIGRATION_PHASE_SUCCEEDED,        "{" HERE "}" },
	{ NULL, PHASE_RUNNING, true, MIGRATION_SOURCE, MIGRATION_PHASE_FAILED,           "{" HERE "}" },
};
/* clang-format on */

/* KubeVirt's, by which runs are selected: they are shown, and no part of what is stored. */
START_TEST(labels_of_the_way)
{
	const struct journey *j = &journeys[_i];
	struct migration g = { .role = j->role, .peer = "node2" };
	autofree char *document = NULL, *state = NULL;
	struct vmi *again = NULL;
	struct err err;

	m.vmi->meta.labels = xstrdup(j->own);
	m.vmi->phase = j->phase;
	copy_str(g.vmi_uid, UID_SIZE, m.vmi->meta.uid);
	for (unsigned phase = 0; phase <= j->reached; phase++)
		g.phase_wall[phase] = 1000;
	m.migration = j->moves ? &g : NULL;
	expect("metadata.labels", j->want);
	document = vmi_document(&m, "node1");
	state = vmi_state(m.vmi);
	ck_assert_int_eq(vmi_load(document, state, false, &again, &err), 0);
	ck_assert_pstr_eq(again->meta.labels, j->own);
	vmi_free(again);
	m.migration = NULL;
}
END_TEST

/* null until they are noted; nothing is probed here */
START_TEST(times_of_conditions)
{
	expect("status.conditions.0.lastTransitionTime", "null");
	conditions_note(&m, (struct now){ .wall = SECONDS(3600) });
	expect("status.conditions.0.lastTransitionTime", "\"1970-01-01T01:00:00Z\"");
	expect("status.conditions.0.lastProbeTime", "null");
}
END_TEST

/* They, and that it is emulated, outlive the agent. */
START_TEST(times_are_stored)
{
	autofree char *document = NULL, *state = NULL;
	struct vmi *again = NULL;
	struct err err;

	conditions_note(&m, (struct now){ .wall = 7000 });
	m.vmi->emulated = true;
	document = vmi_document(&m, "node1");
	state = vmi_state(m.vmi);
	ck_assert_int_eq(vmi_load(document, state, false, &again, &err), 0);
	ck_assert(again->emulated);
	ck_assert_uint_eq(again->times.n, 1);
	ck_assert_str_eq(again->times.list[0].type, "Ready");
	ck_assert_str_eq(again->times.list[0].state, "False GuestNotRunning");
	ck_assert_int_eq(again->times.list[0].since, 7000);
	vmi_free(again);
}
END_TEST

Suite *test_document_run_suite(void)
{
	Suite *s = suite_create("a run's status");
	TCase *run = tcase_create("§1.3, §1.4");

	tcase_add_checked_fixture(run, setup, teardown);
	tcase_add_loop_test(run, field, 0, ARRAY_SIZE(fields));
	tcase_add_loop_test(run, labels_of_the_way, 0, ARRAY_SIZE(journeys));
	tcase_add_test(run, times_of_conditions);
	tcase_add_test(run, times_are_stored);
	suite_add_tcase(s, run);
	return s;
}
