/* SPDX-License-Identifier: Apache-2.0 */
/* What objects show of themselves beside conditions: VMI status (§1.4), generations
 * (§11.3), VM status (§11.4). */
#include <check.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "core/codec.h"

Suite *test_document_suite(void);

#define VMI_UID "66666666-7777-8888-9999-000000000000"

/* v: a run, Running. f: a run that failed, for a reason. p: one that is only accepted. r: a restart
 * is queued. s: a paused start is. b: starts fail. n: nothing is recorded. */
struct row {
	const char *facts, *path, *json; /* json NULL: not there */
};

/* clang-format off */
static const struct row vmi_rows[] = {
	{ "v", "phase",    "\"Running\"" },
	{ "v", "nodeName", "\"node1\"" },
	{ "v", "reason",   NULL },
	{ "v", "phaseTransitionTimestamps",
	  "[{\"phase\":\"Pending\",\"phaseTransitionTimestamp\":\"1970-01-01T00:00:01Z\"},"
	  "{\"phase\":\"Running\",\"phaseTransitionTimestamp\":\"1970-01-01T00:00:09Z\"}]" },
	{ "f", "phase",    "\"Failed\"" },
	{ "f", "reason",   "\"DomainVanished\"" },
	{ "f", "nodeName", "\"node1\"" },
	{ "p", "phase",    "\"Pending\"" },
	{ "p", "nodeName", NULL },
};

static const struct row vm_rows[] = {
	{ "v", "created",            "true" },
	{ "f", "created",            "true" },
	{ "",  "created",            NULL },
	{ "v", "ready",              "true" },
	{ "f", "ready",              NULL },
	{ "",  "ready",              NULL },
	{ "v", "desiredGeneration",  "3" },
	{ "v", "observedGeneration", "2" },
	{ "",  "desiredGeneration",  "3" },
	{ "",  "observedGeneration", NULL },
	{ "v", "runStrategy",        "\"Manual\"" },
	{ "n", "runStrategy",        NULL },
	{ "v", "stateChangeRequests", NULL },
	{ "vr", "stateChangeRequests",
	  "[{\"action\":\"Stop\",\"uid\":\"" VMI_UID "\"},{\"action\":\"Start\"}]" },
	{ "s", "stateChangeRequests", "[{\"action\":\"Start\",\"data\":{\"paused\":\"true\"}}]" },
	{ "v", "startFailure",       NULL },
	{ "b", "startFailure.consecutiveFailCount", "4" },
	{ "b", "startFailure.lastFailedVMIUID", "\"" VMI_UID "\"" },
};
/* clang-format on */

static bool has(const struct row *row, char letter)
{
	return strchr(row->facts, letter) != NULL;
}

static void fill_vm(struct vm *vm, const struct row *row)
{
	vm->meta.name = "web";
	vm->meta.ns = "default";
	vm->meta.generation = 3;
	vm->spec = "{}";
	vm->strategy = STRATEGY_MANUAL;
	vm->recorded = has(row, 'n') ? STRATEGY_UNSET : STRATEGY_MANUAL;
	if (has(row, 'r')) {
		vm->requests[vm->n_requests].action = REQUEST_STOP;
		copy_str(vm->requests[vm->n_requests++].uid, UID_SIZE, VMI_UID);
	}
	if (has(row, 'r') || has(row, 's'))
		vm->requests[vm->n_requests++] =
			(struct state_request){ .action = REQUEST_START, .paused = has(row, 's') };
	if (has(row, 'b')) {
		vm->failure.count = 4;
		copy_str(vm->failure.last_uid, UID_SIZE, VMI_UID);
	}
}

static void fill_vmi(struct vmi *vmi, const struct row *row)
{
	vmi->meta.name = "web";
	vmi->meta.ns = "default";
	copy_str(vmi->meta.uid, UID_SIZE, VMI_UID);
	vmi->spec = "{}";
	vmi->vm_generation = 2;
	vmi->phase = has(row, 'v') ? PHASE_RUNNING : has(row, 'f') ? PHASE_FAILED : PHASE_PENDING;
	vmi->phase_wall[PHASE_PENDING] = SECONDS(1);
	vmi->phase_wall[vmi->phase] = vmi->phase == PHASE_PENDING ? SECONDS(1) : SECONDS(9);
	vmi->reason = has(row, 'f') ? "DomainVanished" : NULL;
}

static const cJSON *at(const cJSON *json, const char *path)
{
	autofree char *copy = xstrdup(path);
	char *rest = copy, *key;

	while (json && (key = strsep(&rest, ".")))
		json = cJSON_GetObjectItemCaseSensitive(json, key);
	return json;
}

static void check(const struct row *row, bool of_vm)
{
	struct vm vm = { 0 };
	struct vmi vmi = { 0 };
	struct machine m = { .ns = "default",
		.name = "web",
		.vm = &vm,
		.dom.state = DOMAIN_RUNNING };

	fill_vm(&vm, row);
	fill_vmi(&vmi, row);
	copy_str(m.dom.owner, UID_SIZE, VMI_UID);
	if (has(row, 'v') || has(row, 'f') || has(row, 'p'))
		m.vmi = &vmi;
	autofree char *text = of_vm ? vm_document(&m) : vmi_document(&m, "node1");
	cJSON *json = cJSON_Parse(text);
	const cJSON *value = at(cJSON_GetObjectItemCaseSensitive(json, "status"), row->path);
	autofree char *said = value ? cJSON_PrintUnformatted(value) : NULL;

	ck_assert_msg(row->json ? streq(said, row->json) : !said, "'%s', %s: %s, not %s",
		row->facts, row->path, said ? said : "nothing", row->json ? row->json : "nothing");
	cJSON_Delete(json);
}

START_TEST(test_vmi)
{
	check(&vmi_rows[_i], false);
}
END_TEST

START_TEST(test_vm)
{
	check(&vm_rows[_i], true);
}
END_TEST

Suite *test_document_suite(void)
{
	Suite *s = suite_create("document");
	TCase *vmi = tcase_create("§1.4 VMI status");
	TCase *vm = tcase_create("§11.3, §11.4 VM status");

	tcase_add_loop_test(vmi, test_vmi, 0, (int)ARRAY_SIZE(vmi_rows));
	tcase_add_loop_test(vm, test_vm, 0, (int)ARRAY_SIZE(vm_rows));
	suite_add_tcase(s, vmi);
	suite_add_tcase(s, vm);
	return s;
}
