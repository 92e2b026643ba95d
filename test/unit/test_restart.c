/* SPDX-License-Identifier: Apache-2.0 */
/* RestartRequired and the generation that a run counts as being of, against semantics §11.1,
 * §11.3. */
#include <check.h>

#include "core/restart.h"
#include "core/steps.h"

Suite *test_restart_suite(void);

#define UUID                 "\"firmware\":{\"uuid\":\"11111111-1111-4111-8111-111111111111\"}"
#define DOMAIN(memory, rest) "\"domain\":{\"memory\":{\"guest\":\"" memory "\"}," UUID rest "}"

/* clang-format off */
static const struct {
	const char *is, *wanted; /* the template when it was started, and now */
	const char *path; /* NULL: no restart is required */
} rows[] = {
	{ DOMAIN("64Mi", ""), DOMAIN("64Mi", ""), NULL },
	{ DOMAIN("64Mi", ""), DOMAIN("128Mi", ""), "domain.memory.guest" },
	{ DOMAIN("64Mi", ""), DOMAIN("64Mi", ",\"cpu\":{\"model\":\"max\"}"), "domain.cpu.model" },
	{ DOMAIN("64Mi", ",\"cpu\":{\"model\":\"max\"}"), DOMAIN("64Mi", ""), "domain.cpu.model" },
	{ DOMAIN("64Mi", ""), DOMAIN("64Mi", "") ",\"terminationGracePeriodSeconds\":7",
	  "terminationGracePeriodSeconds" },
	{ DOMAIN("64Mi", ",\"devices\":{\"panicDevices\":[{\"model\":\"isa\"}]}"),
	  DOMAIN("64Mi", ",\"devices\":{\"panicDevices\":[{\"model\":\"hyperv\"}]}"),
	  "domain.devices.panicDevices[0].model" },
	{ DOMAIN("64Mi", ",\"devices\":{\"panicDevices\":[{\"model\":\"isa\"}]}"),
	  DOMAIN("64Mi", ",\"devices\":{\"panicDevices\":[{\"model\":\"isa\"},{\"model\":\"hyperv\"}]}"),
	  "domain.devices.panicDevices" },
};
/* clang-format on */

static void machine_init(struct machine *m, const char *is, const char *wanted)
{
	struct step_env env = { .uid = "run" };
	struct vm *vm = xcalloc(1, sizeof(*vm));
	struct err err;

	*m = (struct machine){ .vm = vm };
	vm->meta.name = xstrdup("web");
	vm->meta.ns = xstrdup("default");
	vm->meta.generation = 1;
	copy_str(vm->meta.uid, UID_SIZE, "vm");
	vm->spec = xasprintf("{\"template\":{\"spec\":{%s}}}", is);
	m->vmi = vmi_of_vm(vm, &env, &err);
	ck_assert_ptr_nonnull(m->vmi);
	free(vm->spec);
	vm->spec = xasprintf("{\"template\":{\"spec\":{%s}}}", wanted);
	vm->meta.generation = 2;
}

static void machine_end(struct machine *m)
{
	vm_free(m->vm);
	vmi_free(m->vmi);
}

START_TEST(row)
{
	struct machine m;

	machine_init(&m, rows[_i].is, rows[_i].wanted);
	restart_compare(&m);
	ck_assert_pstr_eq(m.vm->restart, rows[_i].path);
	ck_assert_int_eq(m.vmi->vm_generation, rows[_i].path ? 1 : 2);
	ck_assert_int_eq(m.vmi_changed, !rows[_i].path);
	machine_end(&m);
}
END_TEST

/* A paused start is of one run; an edit that is taken back, a stop and an end clear it. */
START_TEST(it_goes_again)
{
	struct machine m;

	machine_init(&m, DOMAIN("64Mi", ""), DOMAIN("128Mi", ""));
	restart_compare(&m);
	ck_assert_ptr_nonnull(m.vm->restart);
	m.vmi->meta.deleted = 1;
	restart_compare(&m);
	ck_assert_ptr_null(m.vm->restart);
	m.vmi->meta.deleted = 0;
	restart_compare(&m);
	ck_assert_ptr_nonnull(m.vm->restart);
	m.vmi->phase = PHASE_SUCCEEDED;
	restart_compare(&m);
	ck_assert_ptr_null(m.vm->restart);
	m.vmi->phase = PHASE_RUNNING;
	replace_str(&m.vm->spec, "{\"template\":{\"spec\":{" DOMAIN("64Mi", "") "}}}");
	m.vm->meta.generation = 3;
	restart_compare(&m);
	ck_assert_ptr_null(m.vm->restart);
	ck_assert_int_eq(m.vmi->vm_generation, 3);
	machine_end(&m);
}
END_TEST

START_TEST(a_paused_start_is_no_difference)
{
	struct machine m;

	machine_init(&m, DOMAIN("64Mi", "") ",\"startStrategy\":\"Paused\"", DOMAIN("64Mi", ""));
	restart_compare(&m);
	ck_assert_ptr_null(m.vm->restart);
	machine_end(&m);
}
END_TEST

Suite *test_restart_suite(void)
{
	Suite *s = suite_create("restart");
	TCase *table = tcase_create("§11.1, §11.3 RestartRequired");

	tcase_add_loop_test(table, row, 0, ARRAY_SIZE(rows));
	tcase_add_test(table, it_goes_again);
	tcase_add_test(table, a_paused_start_is_no_difference);
	suite_add_tcase(s, table);
	return s;
}
