/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pause, unpause, softreboot and reset against semantics §5.4 and §15: every verb under every
 * phase, pause, domain state, ACPI and guest agent, with the words of each refusal.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/vmi_verbs.h"

Suite *test_vmi_verbs_suite(void);

struct cell {
	enum phase phase;
	bool deleted;
	enum pause pause;
	enum domain_state state;
	bool acpi;
	bool agent;
};

static int check(enum vmi_verb verb, const struct cell *cell, bool dry_run,
	struct vmi_verb_effect *effect, struct err *err)
{
	struct vmi vmi = { .meta = { .ns = "default", .name = "web", .deleted = cell->deleted },
		.phase = cell->phase,
		.pause = cell->pause,
		.typed = { .acpi = cell->acpi } };
	const struct vmi_verb_target target = { &vmi, cell->state, cell->agent };

	return vmi_verb_check(verb, &target, dry_run, effect, err);
}

/* "Held", "Released", "Reboot", "Reset", or the HTTP status of a refusal. */
static const char *text_of(int rc, const struct vmi_verb_effect *effect)
{
	static char status[8];

	if (rc) {
		snprintf(status, sizeof(status), "%d", err_status((enum err_code) - rc));
		return status;
	}
	ck_assert(effect->set_pause != (effect->act != ACT_NONE));
	return effect->set_pause ? pause_name(effect->pause) : act_name(effect->act);
}

/* ---- every cell ------------------------------------------------------------------------------ */

enum column { OTHER, SCHEDULED, SCHEDULED_UNSEEN, DELETED, GOING, GOING_UNSEEN, STILL, COLUMNS };

/* clang-format off */
static const char *const table[VMI_VERB_MAX][COLUMNS] = {
	/*                        other  Scheduled  … unseen  deleted  Running     … unseen    paused */
	[VMI_VERB_PAUSE]      = { "409", "409",     "409",    "409",   "Held",     "Held",     "409" },
	[VMI_VERB_UNPAUSE]    = { "409", "409",     "409",    "409",   "409",      "409",      "Released" },
	[VMI_VERB_SOFTREBOOT] = { "409", "409",     "409",    "409",   "Reboot",   "503",      "409" },
	[VMI_VERB_RESET]      = { "400", "Reset",   "503",    "409",   "Reset",    "503",      "Reset" },
};
/* clang-format on */

static enum column column_of(const struct cell *cell)
{
	bool unseen = cell->state == DOMAIN_UNKNOWN;
	bool still = cell->pause == PAUSE_HELD ||
		(cell->pause == PAUSE_AS_IS && cell->state == DOMAIN_PAUSED);

	if (cell->phase != PHASE_SCHEDULED && cell->phase != PHASE_RUNNING)
		return OTHER;
	if (cell->deleted)
		return DELETED;
	if (cell->phase == PHASE_SCHEDULED)
		return unseen ? SCHEDULED_UNSEEN : SCHEDULED;
	if (still)
		return STILL;
	return unseen ? GOING_UNSEEN : GOING;
}

static const char *wanted(enum vmi_verb verb, const struct cell *cell)
{
	enum column column = column_of(cell);

	if (verb == VMI_VERB_SOFTREBOOT && column == GOING && !cell->acpi && !cell->agent)
		return "409";
	if (verb == VMI_VERB_RESET && column == STILL && cell->state == DOMAIN_UNKNOWN)
		return "503";
	return table[verb][column];
}

static void expect(enum vmi_verb verb, const struct cell *cell)
{
	struct vmi_verb_effect effect, before;
	struct err err = { 0 };
	const char *got, *want = wanted(verb, cell);
	int rc;

	memset(&effect, 0xa5, sizeof(effect));
	memcpy(&before, &effect, sizeof(before));
	rc = check(verb, cell, false, &effect, &err);
	got = text_of(rc, &effect);
	ck_assert_msg(streq(got, want), "%s, phase '%s'%s, domain %s, pause '%s': %s, not %s",
		vmi_verb_name(verb), phase_name(cell->phase), cell->deleted ? ", deleted" : "",
		domain_state_name(cell->state), pause_name(cell->pause), got, want);
	if (rc) {
		ck_assert_mem_eq(&effect, &before, sizeof(effect));
		ck_assert_int_eq(err.code, -rc);
	}
	ck_assert_int_eq(check(verb, cell, true, &effect, &err), rc);
	ck_assert(rc || (!effect.set_pause && !effect.act));
}

START_TEST(every_cell)
{
	static const unsigned sizes[] = { PHASE_MAX, 2, PAUSE_MAX, DOMAIN_STATE_MAX, 2, 2 };
	unsigned n = 1, seen[COLUMNS] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		n *= sizes[i];
	for (unsigned i = 0; i < n; i++) {
		unsigned rest = i, at[ARRAY_SIZE(sizes)];

		for (size_t k = 0; k < ARRAY_SIZE(sizes); rest /= sizes[k++])
			at[k] = rest % sizes[k];

		struct cell cell = { at[0], at[1], at[2], at[3], at[4], at[5] };

		expect((enum vmi_verb)_i, &cell);
		seen[column_of(&cell)]++;
	}
	for (int column = 0; column < COLUMNS; column++)
		ck_assert_uint_gt(seen[column], 0);
}
END_TEST

/* ---- words ----------------------------------------------------------------------------------- */

#define VMI "virtual machine instance 'default/web' "

/* clang-format off */
static const struct {
	enum vmi_verb verb;
	struct cell cell;
	const char *want;
} words[] = {
	{ VMI_VERB_PAUSE, { PHASE_SCHEDULED, 0, 0, DOMAIN_NONE, 1, 0 }, VMI "is not running, its phase is Scheduled" },
	{ VMI_VERB_PAUSE, { PHASE_FAILED, 1, 0, DOMAIN_NONE, 1, 0 }, VMI "is not running, its phase is Failed" },
	{ VMI_VERB_PAUSE, { PHASE_RUNNING, 0, 0, DOMAIN_PAUSED, 1, 0 }, VMI "is already paused" },
	{ VMI_VERB_PAUSE, { PHASE_RUNNING, 0, PAUSE_HELD, DOMAIN_RUNNING, 1, 0 }, VMI "is already paused" },
	{ VMI_VERB_PAUSE, { PHASE_RUNNING, 1, 0, DOMAIN_RUNNING, 1, 0 }, VMI "is being stopped" },
	{ VMI_VERB_UNPAUSE, { PHASE_RUNNING, 0, 0, DOMAIN_RUNNING, 1, 0 }, VMI "is not paused" },
	{ VMI_VERB_UNPAUSE, { PHASE_RUNNING, 0, PAUSE_RELEASED, DOMAIN_PAUSED, 1, 0 }, VMI "is not paused" },
	{ VMI_VERB_SOFTREBOOT, { PHASE_RUNNING, 0, PAUSE_HELD, DOMAIN_PAUSED, 1, 0 },
		VMI "is paused and cannot hear; unpause it first" },
	{ VMI_VERB_SOFTREBOOT, { PHASE_RUNNING, 0, 0, DOMAIN_RUNNING, 0, 0 },
		VMI "has neither ACPI nor a guest agent, so that it cannot be asked to reboot; reset it instead" },
	{ VMI_VERB_RESET, { PHASE_PENDING, 0, 0, DOMAIN_NONE, 1, 0 }, VMI "cannot be reset, its phase is Pending" },
	{ VMI_VERB_RESET, { PHASE_RUNNING, 0, 0, DOMAIN_UNKNOWN, 1, 0 },
		"libvirt cannot be reached at the moment; try again" },
};
/* clang-format on */

START_TEST(refusal_says)
{
	struct vmi_verb_effect effect;
	struct err err = { 0 };

	ck_assert_int_lt(check(words[_i].verb, &words[_i].cell, false, &effect, &err), 0);
	ck_assert_str_eq(err.msg, words[_i].want);
}
END_TEST

Suite *test_vmi_verbs_suite(void)
{
	Suite *s = suite_create("VMI verbs (§5.4)");
	TCase *cells = tcase_create("§5.4, §15 cells");
	TCase *texts = tcase_create("words");

	tcase_add_loop_test(cells, every_cell, 0, VMI_VERB_MAX);
	suite_add_tcase(s, cells);
	tcase_add_loop_test(texts, refusal_says, 0, ARRAY_SIZE(words));
	suite_add_tcase(s, texts);
	return s;
}
