/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges into facts. A read is believed only when nothing was folded since it left: the fact counter
 * dates it, and whoever calls fold_seen() has compared it.
 */
#include "core/fold.h"

#include <string.h>

#include "core/agent_info.h"
#include "core/decide.h"
#include "core/ioretry.h"
#include "core/nics.h"
#include "core/phase.h"
#include "core/probe.h"
#include "core/steps.h"

/* Until an agent that did not answer is asked again what it can do, … */
#define AGENT_RETRY_FIRST_S 5
#define AGENT_RETRY_MAX_S   300 /* … doubled up to this */

void fold_look_again(struct machine *m)
{
	m->dom.facts++;
	m->dom.look_again = true;
}

static void forget_agent(struct domain *dom)
{
	dom->told.retry_at = 0;
	dom->agent_asked = false;
	dom->agent_tries = 0;
	dom->agent_retry_at = 0;
	dom->time_retry_at = 0;
}

/* A run starts once: what was seen before came late, and is of the run before it. */
static bool forget_evidence(struct vmi *vmi)
{
	struct end_evidence none = { .killed = vmi->end.killed, .discarded = vmi->end.discarded };
	bool any = vmi->end.guest_shutdown || vmi->end.panicked || vmi->end.stopped;

	vmi->end = none;
	return any;
}

/* Evidence counts only for a run that may still end; it is durable, so the VMI is to be saved. */
void fold_event(struct machine *m, const struct domain_event *event)
{
	struct vmi *vmi = m->vmi;

	fold_look_again(m);
	if (event->kind == DOMAIN_EVENT_AGENT)
		forget_agent(&m->dom); /* it may be another one */
	if (!vmi || phase_is_final(vmi->phase))
		return;
	if (event->kind == DOMAIN_EVENT_IO_ERROR) {
		m->vmi_changed |= io_error_add(&vmi->io, event->disk, event->io_reason);
		return;
	}
	if (event->kind == DOMAIN_EVENT_SHUTDOWN && event->guest)
		vmi->end.guest_shutdown = true;
	else if (event->kind == DOMAIN_EVENT_PANICKED)
		vmi->end.panicked = true;
	else if (event->kind == DOMAIN_EVENT_STOPPED)
		vmi->end.stopped = event->reason;
	else if (event->kind != DOMAIN_EVENT_STARTED || !forget_evidence(vmi))
		return;
	m->vmi_changed = true;
}

static bool seen_is_same(const struct domain *dom, const struct domain_info *info)
{
	if (!info)
		return dom->state == DOMAIN_NONE;
	return dom->state == info->state && dom->reason == info->reason &&
		dom->active == info->active && dom->migrating == info->migrating &&
		streq(dom->owner, info->owner);
}

/* A condition of it, which must not go stale while nobody looked. */
static void take_pause(struct machine *m)
{
	bool paused = machine_domain_state(m) == DOMAIN_PAUSED;
	enum domain_reason by = paused ? m->dom.reason : REASON_UNKNOWN;

	if (!m->vmi || (m->vmi->paused == paused && m->vmi->paused_by == by))
		return;
	m->vmi->paused = paused;
	m->vmi->paused_by = by;
	m->vmi_changed = true;
}

/* Likewise: an agent that is not seen in a run's own domain is none. */
static void take_agent(struct machine *m, const struct domain_info *info)
{
	m->dom.agent = info && info->agent && machine_owns_domain(m);
	if (!m->dom.agent)
		forget_agent(&m->dom);
	if (!m->vmi || m->vmi->agent == m->dom.agent)
		return;
	m->vmi->agent = m->dom.agent;
	if (!m->dom.agent)
		replace_str(&m->vmi->agent_problem, NULL);
	m->vmi_changed = true;
}

/* Of a socket, or what else stays known when the domain has ended. */
static void take_path(struct machine *m, char **path, const char *seen)
{
	if (!seen || streq(*path, seen))
		return;
	replace_str(path, seen);
	m->vmi_changed = true;
}

/* A list of domains does not tell of them. */
static void take_nics(struct machine *m, const struct domain_info *info)
{
	autofree char *seen = info->n_nics ? nics_text(info->nics, info->n_nics) : NULL;

	take_path(m, &m->vmi->nics, seen);
}

static void take_seen(struct machine *m, const struct domain_info *info)
{
	struct domain *dom = &m->dom;

	dom->state = info ? info->state : DOMAIN_NONE;
	dom->reason = info ? info->reason : REASON_UNKNOWN;
	dom->active = info && info->active;
	dom->migrating = info && info->migrating;
	copy_str(dom->owner, UID_SIZE, info ? info->owner : "");
	take_pause(m);
	take_agent(m, info);
	if (!info || !machine_owns_domain(m))
		return;
	take_path(m, &m->vmi->console, info->console);
	take_path(m, &m->vmi->graphics, info->graphics);
	take_path(m, &m->vmi->firmware, info->firmware);
	take_nics(m, info);
}

void fold_seen(struct machine *m, const struct domain_info *info, bool fresh)
{
	if (fresh)
		m->dom.agreed = READS_TO_AGREE;
	else
		m->dom.agreed = seen_is_same(&m->dom, info) ? m->dom.agreed + 1 : 1;
	take_seen(m, info);
	m->dom.look_again = false;
}

void fold_disconnected(struct machine *m)
{
	m->dom.state = DOMAIN_UNKNOWN;
	m->dom.reason = REASON_UNKNOWN;
	m->dom.agreed = 0;
	forget_agent(&m->dom);
	m->dom.look_again = true;
	m->dom.facts++;
}

/* Errors that no second try can cure: a missing image, XML that libvirt refuses (§2.3 [P]). */
static bool is_hopeless(const struct op_result *result)
{
	enum err_code code = result->err.code;

	if (result->kind == OP_CLAIM)
		return code == ERR_CONFLICT; /* it is somebody else's by now */
	return (result->kind == OP_PREPARE || result->kind == OP_START) &&
		(code == ERR_INVALID || code == ERR_NOT_FOUND || code == ERR_FORBIDDEN);
}

/* Nothing pulls an image: it is looked for again, less and less often, until it is there. */
static enum obstacle obstacle_of(const struct vmi *vmi, const struct op_result *result)
{
	if (result->err.code != ERR_NO_IMAGE)
		return OBSTACLE_SYNC;
	return vmi->tries > 1 ? OBSTACLE_IMAGE_BACK_OFF : OBSTACLE_IMAGE;
}

static void fold_failure(struct machine *m, const struct op_result *result, struct now now)
{
	struct vmi *vmi = m->vmi;

	vmi->retry_at = now.boot + retry_delay(++vmi->tries);
	vmi->hopeless |= is_hopeless(result);
	if (result->err.code == ERR_UNAVAILABLE)
		return; /* said once by the connection itself */
	if (result->kind == OP_START && vmi->words == WORDS_NONE)
		vmi->words = WORDS_WANTED;
	vmi_set_error(vmi, obstacle_of(vmi, result), result->err.msg);
	m->vmi_changed = true;
	m->vm_changed = m->vm != NULL;
}

static void fold_success(struct machine *m, enum op_kind kind)
{
	struct vmi *vmi = m->vmi;

	if (kind == OP_PREPARE)
		vmi->prepared = true;
	else if (kind == OP_CLEAN)
		vmi->cleaned = true;
	else if (op_kind_lane(kind) != LANE_GUEST)
		return;
	if (vmi->cleaned)
		replace_str(&vmi->held, NULL);
	vmi->tries = 0;
	vmi->retry_at = 0;
	m->vmi_changed = true;
}

/* Of the start that made its domain; a look at one that runs already has nothing to say of it. */
static void take_fallback(struct machine *m, const struct op_result *result)
{
	if (result->kind != OP_START || !result->fallback)
		return;
	replace_str(&m->vmi->fallback, result->fallback);
	m->vmi_changed = true;
}

/* A signal is repeated anyway, as a peer's word is, and what is done once is not tried again. An
 * agent's silence is no failure of the run. */
static bool is_retried(enum op_kind kind)
{
	return kind != OP_SHUTDOWN && kind != OP_REBOOT && kind != OP_RESET && kind != OP_PROBE &&
		kind != OP_MIGRATE_ABORT && kind != OP_MIGRATE_SEAL &&
		kind != OP_MIGRATE_READ_NVRAM && kind != OP_MIGRATE_WRITE_NVRAM &&
		op_kind_lane(kind) != LANE_MIGRATE && op_kind_lane(kind) != LANE_AGENT;
}

/* 0, or -code when it is no answer. */
static int take_agent_info(struct machine *m, const char *answer)
{
	char *problem = NULL;
	struct err err = { 0 };

	if (agent_info_check(answer, &m->vmi->typed, &problem, &err) < 0)
		return -(int)err.code;
	m->dom.agent_asked = true;
	if (!streq(problem, m->vmi->agent_problem)) {
		replace_str(&m->vmi->agent_problem, problem);
		m->vmi_changed = true;
	}
	free(problem);
	return 0;
}

static msec agent_retry_delay(unsigned tries)
{
	return MIN(SECONDS(AGENT_RETRY_FIRST_S) << MIN(tries, 6), SECONDS(AGENT_RETRY_MAX_S));
}

static void agent_failed(struct machine *m, struct now now)
{
	m->dom.agent_retry_at = now.boot + agent_retry_delay(m->dom.agent_tries++);
	m->dom.time_retry_at = now.boot + SECONDS(SET_TIME_RETRY_S);
}

/* One that refuses may do as it is told later: when its guest has that user, for instance. */
static void fold_credentials(struct machine *m, const struct op_result *result, struct now now)
{
	struct domain *dom = &m->dom;

	dom->told.answered = true;
	copy_str(dom->told.why, sizeof(dom->told.why), result->err.code ? result->err.msg : "");
	if (!result->err.code)
		dom->told.tries = 0;
	else
		dom->told.retry_at = now.boot + agent_retry_delay(dom->told.tries++);
}

static void fold_agent(struct machine *m, const struct op_result *result, struct now now)
{
	if (result->err.code == ERR_UNAVAILABLE)
		return;
	if (result->kind == OP_AGENT_CREDENTIALS) {
		fold_credentials(m, result, now);
		return;
	}
	if (result->err.code != ERR_OK ||
		(result->kind == OP_AGENT_INFO && take_agent_info(m, result->text) < 0)) {
		agent_failed(m, now);
		return;
	}
	m->dom.agent_tries = 0;
	if (result->kind == OP_AGENT_TIME) {
		m->vmi->set_time_until = 0;
		m->vmi_changed = true;
	}
}

/* While libvirt cannot be asked, nothing is known; what was under way when the guest was
 * paused counts for nothing. */
static void fold_probe(struct machine *m, const struct op_result *result, struct now now)
{
	enum probe_of of = m->dom.probing;

	if (result->err.code == ERR_UNAVAILABLE || m->dom.state != DOMAIN_RUNNING)
		return;
	probe_note(&m->dom.probes[of], &m->vmi->typed.probes[of],
		result->err.code ? result->err.msg : NULL, now.boot);
}

/* What does nothing to the domain: no read is older for it. */
static bool is_harmless(enum op_kind kind)
{
	return op_kind_lane(kind) == LANE_READ || kind == OP_PREPARE || kind == OP_CLEAN ||
		kind == OP_MIGRATE_PREPARE || kind == OP_MIGRATE_RELAY ||
		kind == OP_MIGRATE_READ_NVRAM || kind == OP_MIGRATE_WRITE_NVRAM ||
		kind == OP_AGENT_INFO || kind == OP_AGENT_TIME || kind == OP_AGENT_CREDENTIALS ||
		kind == OP_PROBE;
}

/* One try: a log that cannot be read is no news. */
static void fold_words(struct machine *m)
{
	if (!m->vmi || m->vmi->words != WORDS_WANTED)
		return;
	m->vmi->words = WORDS_READ;
	m->vmi_changed = true;
}

/* Without libvirt it is tried again once that is back; else the VM does not stay for ever. */
static void fold_purge(struct machine *m, const struct op_result *result, struct now now)
{
	m->purged = result->err.code == ERR_OK;
	if (m->purged || result->err.code == ERR_UNAVAILABLE)
		return;
	m->purge_at = now.boot + retry_delay(++m->purges);
	m->purged = m->purges == PURGE_TRIES_MAX;
}

void fold_result(struct machine *m, const struct op_result *result, enum op_lane lane,
	struct now now)
{
	memset(&m->ops[lane], 0, sizeof(m->ops[lane]));
	if (lane == LANE_WORDS) {
		fold_words(m);
		return;
	}
	if (result->kind == OP_PURGE)
		fold_purge(m, result, now);
	else if (!is_harmless(result->kind))
		fold_look_again(m);
	if (!m->vmi)
		return;
	if (lane == LANE_AGENT)
		fold_agent(m, result, now);
	take_fallback(m, result);
	if (lane == LANE_PROBE)
		fold_probe(m, result, now);
	if (result->err.code == ERR_OK)
		fold_success(m, result->kind);
	else if (is_retried(result->kind))
		fold_failure(m, result, now);
}
