/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phase calculator, the cause of an end, the allowed transitions (semantics §1.2, §2.1, §3).
 *
 * Owns three tables of constants. It must not know the clock, what the domain will be told next, or
 * whether a state that it is shown has settled: the caller asks once reads agree. KubeVirt's rows
 * for the ends of a migration are not here: while one holds the machine, its own steps say what
 * becomes of the run (migration.h).
 */
#include "core/phase.h"

#define STATE(s)  (1u << DOMAIN_##s)
#define REASON(r) (1u << REASON_##r)
#define ANY       (~0u)
#define KEEP      PHASE_UNSET /* "unchanged" */

#define ENDED (STATE(SHUTOFF) | STATE(CRASHED))
#define GONE  (STATE(NONE) | ENDED)
#define DECISIVE                                                                     \
	(REASON(CRASHED) | REASON(PANICKED) | REASON(DESTROYED) | REASON(SHUTDOWN) | \
		REASON(SAVED) | REASON(FROM_SNAPSHOT) | REASON(MIGRATED))

typedef bool phase_predicate(const struct phase_facts *f);

static bool always(const struct phase_facts *f)
{
	(void)f;
	return true;
}

static bool was_final(const struct phase_facts *f)
{
	return phase_is_final(f->prior);
}

static bool was_scheduled(const struct phase_facts *f)
{
	return f->prior == PHASE_SCHEDULED;
}

static bool was_earlier(const struct phase_facts *f)
{
	return f->prior != PHASE_SCHEDULED && f->prior != PHASE_RUNNING;
}

static bool acpi(const struct phase_facts *f)
{
	return f->grace != 0 && f->acpi_feature;
}

/* Nobody watches QEMU's pid in our place, so a run that is over for no known cause has failed. */
static bool vanished(const struct phase_facts *f)
{
	return f->prior == PHASE_RUNNING;
}

/* clang-format off */
static const struct {
	unsigned states, reasons;
	phase_predicate *when;
	enum phase result;
} rules[] = { /* the first match holds; from the third on, NONE means a run that was Running */
	/* domain state       reason                                 when                phase */
	{ ANY,                ANY,                                   was_final,          KEEP },
	{ STATE(NONE),        ANY,                                   was_scheduled,      KEEP },
	{ STATE(NONE),        ANY,                                   was_earlier,        PHASE_SCHEDULED },
	{ GONE,               REASON(CRASHED) | REASON(PANICKED),    always,             PHASE_FAILED },
	{ GONE,               REASON(DESTROYED),                     acpi,               PHASE_FAILED },
	{ GONE,               REASON(DESTROYED),                     always,             PHASE_SUCCEEDED },
	{ GONE,               REASON(SHUTDOWN) | REASON(SAVED),      always,             PHASE_SUCCEEDED },
	{ GONE,               REASON(FROM_SNAPSHOT),                 always,             PHASE_SUCCEEDED },
	{ GONE,               REASON(MIGRATED),                      always,             KEEP },
	{ GONE,               ANY,                                   vanished,           PHASE_FAILED },
	{ GONE,               ANY,                                   always,             KEEP },
	{ STATE(PAUSED),      REASON(POSTCOPY_FAILED),               always,             PHASE_FAILED },
	{ STATE(PAUSED),      ANY,                                   always,             PHASE_RUNNING },
	{ STATE(RUNNING) | STATE(BLOCKED) | STATE(PMSUSPENDED), ANY, always,             PHASE_RUNNING },
	{ STATE(NOSTATE) | STATE(SHUTTING_DOWN) | STATE(UNKNOWN), ANY, always,           KEEP },
};
/* clang-format on */

enum phase phase_of(const struct phase_facts *facts)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (!(rules[i].states & (1u << facts->state)))
			continue;
		if (!(rules[i].reasons & (1u << facts->reason)) || !rules[i].when(facts))
			continue;
		return rules[i].result == KEEP ? facts->prior : rules[i].result;
	}
	return facts->prior;
}

static bool is_decisive(enum domain_reason reason)
{
	return DECISIVE & (1u << reason);
}

enum domain_reason domain_end_reason(const struct end_evidence *end, enum domain_state state,
	enum domain_reason reason)
{
	if (!(GONE & (1u << state)))
		return reason;
	if (end->killed)
		return REASON_DESTROYED;
	if (end->discarded)
		return REASON_UNKNOWN; /* a failure, whatever its grace */
	if (state != DOMAIN_NONE && is_decisive(reason))
		return reason;
	if (is_decisive(end->stopped))
		return end->stopped;
	if (end->guest_shutdown)
		return REASON_SHUTDOWN;
	return end->panicked ? REASON_PANICKED : REASON_UNKNOWN;
}

bool domain_is_alive(enum domain_state state)
{
	return !(GONE & (1u << state));
}

bool phase_is_final(enum phase phase)
{
	return phase == PHASE_SUCCEEDED || phase == PHASE_FAILED;
}

bool phase_is_unprocessed(enum phase phase)
{
	return phase == PHASE_UNSET || phase == PHASE_PENDING;
}

/* clang-format off */
static const bool transitions[PHASE_MAX][PHASE_MAX] = {
	/* from \ to              ""  Pend  Scheduling Scheduled Running Succeeded Failed WaitingForSync Unknown */
	[PHASE_UNSET]            = { 0, 1,   1,         1,        1,      1,        1,     1,             0 },
	[PHASE_PENDING]          = { 0, 0,   1,         1,        1,      1,        1,     1,             0 },
	[PHASE_SCHEDULING]       = { 0, 0,   0,         1,        1,      1,        1,     1,             0 },
	[PHASE_SCHEDULED]        = { 0, 0,   0,         0,        1,      1,        1,     1,             0 },
	[PHASE_RUNNING]          = { 0, 0,   0,         0,        0,      1,        1,     1,             0 },
	[PHASE_SUCCEEDED]        = { 0, 0,   0,         0,        0,      0,        0,     0,             0 },
	[PHASE_FAILED]           = { 0, 0,   0,         0,        0,      0,        0,     0,             0 },
	[PHASE_WAITING_FOR_SYNC] = { 0, 0,   1,         1,        1,      1,        1,     0,             0 },
	[PHASE_UNKNOWN]          = { 0, 0,   0,         1,        1,      1,        1,     0,             0 },
};
/* clang-format on */
_Static_assert(PHASE_UNKNOWN == 8 && PHASE_MAX == 9, "the columns are in the order of PHASES");

bool phase_may_become(enum phase from, enum phase to)
{
	return from < PHASE_MAX && to < PHASE_MAX && transitions[from][to];
}
