/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libvirt and QEMU do of a migration, by the stages of its peer-to-peer protocol, and what is
 * left of it on both hosts when one of them, or what lies between them, fails (as it was measured:
 * a source that misses the target's last answer resumes its guest). It goes on without the agent
 * that asked for it.
 */
#include <string.h>

#include "sim.h"

#define COPY_TIME    600
#define LOOK_TIME    400         /* … at what is copied */
#define HELD_TIME    20          /* until what is held back is looked at again */
#define CONVERGES    SECONDS(60) /* a busy guest that is slowed down, or paused */
#define SWITCH_TIME  20
#define FINISH_TIME  20
#define CONFIRM_TIME 200         /* libvirt polls for its QEMU's end */
#define HELD_MAX     SECONDS(20) /* that its relay keeps an answer from it */
#define KEEPALIVE    SECONDS(8)  /* until libvirt gives up on the other host, … */
#define PING         SECONDS(1)  /* … and its relay no longer vouches for its waiting */

static const char *const stage_names[] = { FAKE_STAGES(ENUM_TEXT_) };

static struct fake_job *job_of(struct world *w, const char *uuid)
{
	for (size_t i = 0; i < ARRAY_SIZE(w->fake.jobs); i++) {
		if (w->fake.jobs[i].active && streq(w->fake.jobs[i].uuid, uuid))
			return &w->fake.jobs[i];
	}
	return NULL;
}

bool fake_is_migrating(struct world *w, const char *uuid)
{
	return job_of(w, uuid) != NULL;
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

/* The target's libvirt removes what is not complete when its connection closes. */
static void drop_incoming(struct world *to, const char *uuid)
{
	struct fake_domain *dom = fake_find_uuid(to, uuid);

	if (dom && dom->incoming)
		dom->exists = dom->active = false;
}

static void look_again(struct world *w, struct fake_domain *dom)
{
	struct domain_event event = { .kind = DOMAIN_EVENT_LOOK_AGAIN };

	fake_emit(w, dom, &event);
}

static void leave_held(struct world *w, const struct fake_job *job)
{
	if (job->stage == STAGE_HELD)
		fake_tell_held(w, job, false);
}

/* The source's end of it; NULL when that QEMU has ended and another run has its UUID. */
static struct fake_domain *moved(struct world *w, const struct fake_job *job)
{
	struct fake_domain *dom = fake_find_uuid(w, job->uuid);

	return dom && dom->boot == job->boot ? dom : NULL;
}

static void end_job(struct world *w, struct fake_job *job, const char *why)
{
	struct err err = { .code = ERR_OK };

	leave_held(w, job);
	if (why)
		err_set(&err, ERR_HYPERVISOR, "%s", why);
	job->active = false;
	fake_answer_job(w, job, &err);
}

/* With post-copy neither end is whole: the one has no guest any more, and the other not
 * all of its memory. */
static void break_down(struct world *w, struct fake_job *job)
{
	struct world *to = w->lab->hosts[job->to];
	struct fake_domain *ends[] = { moved(w, job), fake_find_uuid(to, job->uuid) };

	for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
		if (!ends[i] || !ends[i]->active || ends[i]->reason != REASON_POSTCOPY)
			continue;
		ends[i]->reason = REASON_POSTCOPY_FAILED;
		look_again(i ? to : w, ends[i]);
	}
}

/* Also when the target has it already, and its answer was lost. */
static void fail(struct world *w, struct fake_job *job, const char *why)
{
	struct fake_domain *dom = moved(w, job);

	drop_incoming(w->lab->hosts[job->to], job->uuid);
	break_down(w, job);
	if (dom && dom->active && dom->state == DOMAIN_PAUSED && dom->reason == REASON_MIGRATION)
		domain_pause(w, dom, job->was_paused);
	end_job(w, job, why);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static bool is_cut(const struct world *w, const struct fake_job *job)
{
	const struct world *to = w->lab->hosts[job->to];
	bool direct = job->post_copy && job->stage == STAGE_FINISH; /* from QEMU to QEMU */

	return (!direct && (to->fake.down || to->fake.libvirts != job->libvirts)) ||
		w->lab->cut[w->host][job->to];
}

static bool has_incoming(struct world *w, const struct fake_job *job)
{
	const struct fake_domain *dom = fake_find_uuid(w->lab->hosts[job->to], job->uuid);

	return dom && dom->active && dom->incoming;
}

static const char *copied(struct world *w, struct fake_job *job, struct fake_domain *dom)
{
	if (!dom || !dom->active)
		return "the guest ended";
	if (is_cut(w, job) || !has_incoming(w, job))
		return "the connection to the target was lost";
	job->was_paused = dom->state == DOMAIN_PAUSED && dom->reason != REASON_MIGRATION;
	if (job->post_copy && job->was_paused)
		return NULL; /* its watcher does not send it over, and its reason stays */
	dom->state = DOMAIN_PAUSED;
	dom->reason = job->post_copy ? REASON_POSTCOPY : REASON_MIGRATION;
	look_again(w, dom);
	return NULL;
}

/* libvirt's last call, by the target's relay. */
static bool is_held(const struct fake_job *job)
{
	return job->post_copy && !job->passed;
}

static const char *switched(struct world *w, struct fake_job *job, struct fake_domain *dom)
{
	struct world *to = w->lab->hosts[job->to];
	struct fake_domain *image = fake_find_uuid(to, job->uuid);

	if (is_cut(w, job) || !has_incoming(w, job) || is_held(job))
		return "the target did not finish";
	if (dom)
		dom->unheard = true;
	image->incoming = false;
	image->arrived = !job->post_copy;
	image->stale = image->unheard = false;
	image->reason = REASON_USER;
	look_again(to, image);
	if (job->post_copy)
		watch_goes_over(to, image);
	if (!job->paused) {
		image->state = DOMAIN_RUNNING;
		image->reason = job->post_copy ? REASON_POSTCOPY : REASON_UNKNOWN;
		fake_runs(to, image);
	}
	return NULL;
}

/* Of post-copy: the rest of the memory. */
static const char *sent(struct world *w, struct fake_job *job, struct fake_domain *dom)
{
	struct world *to = w->lab->hosts[job->to];
	struct fake_domain *image = fake_find_uuid(to, job->uuid);

	if (is_cut(w, job) || !dom || !dom->active || !image || !image->active)
		return "the way broke down in post-copy";
	image->reason = REASON_UNKNOWN;
	look_again(to, image);
	return NULL;
}

static const char *finished(struct world *w, struct fake_job *job, struct fake_domain *dom)
{
	if (job->post_copy)
		return sent(w, job, dom);
	return is_cut(w, job) ? "the target's answer was lost" : NULL;
}

/* Its relay has it, or has given it up. */
static const char *given(struct world *w, struct fake_job *job, struct fake_domain *dom)
{
	bool lost = !job->let_go && w->t - job->heard >= KEEPALIVE;

	(void)dom;
	if (!lost)
		leave_held(w, job);
	return lost ? "the target's answer was lost" : NULL;
}

static const char *confirmed(struct world *w, struct fake_job *job, struct fake_domain *dom)
{
	(void)job;
	if (dom && dom->active)
		domain_end(w, dom, REASON_MIGRATED);
	return NULL;
}

static void next_stage(struct world *w, struct pending *p);

/* clang-format off */
static const struct {
	msec lasts;
	const char *(*end)(struct world *w, struct fake_job *job, struct fake_domain *dom);
} stages[] = {
	[STAGE_COPY]    = { COPY_TIME,    copied },
	[STAGE_SWITCH]  = { SWITCH_TIME,  switched },
	[STAGE_FINISH]  = { FINISH_TIME,  finished },
	[STAGE_HELD]    = { HELD_TIME,    given },
	[STAGE_CONFIRM] = { CONFIRM_TIME, confirmed },
};
/* clang-format on */

static void later(struct world *w, struct fake_job *job, msec lasts)
{
	struct pending *p = world_later(w, lasts, next_stage);

	p->domain = (int)(job - w->fake.jobs);
	p->boot = job->serial;
}

static void tell(struct world *w, struct fake_domain *dom, const struct migration_seen *seen)
{
	struct domain_event event = { .kind = DOMAIN_EVENT_PROGRESS };

	event.progress = (struct migration_progress){ .elapsed = seen->elapsed,
		.total = seen->total,
		.processed = seen->total - seen->remaining,
		.remaining = seen->remaining,
		.rate = 100 << 20,
		.iteration = seen->iteration };
	fake_emit(w, dom, &event);
}

/* "open": nothing has begun, as the target's libvirt does not answer. */
static bool is_unanswered(const struct world *w, const struct fake_job *job)
{
	return job->stage == STAGE_COPY && streq(w->fake.stop_at, "open");
}

static void go_on(struct world *w, struct fake_job *job)
{
	static const struct migration_seen begun = { .elapsed = 1000, .total = 2, .remaining = 1 };
	struct fake_domain *dom = moved(w, job);
	bool gone = job->stage == STAGE_CONFIRM && (!dom || !dom->active);

	job->waits = streq(w->fake.stop_at, stage_names[job->stage]) || is_unanswered(w, job);
	if (!job->waits)
		later(w, job, gone ? 1 : stages[job->stage].lasts);
	if (job->stage == STAGE_COPY && dom && !is_unanswered(w, job))
		tell(w, dom, &begun);
}

/* ---- who watches ----------------------------------------------------------------------------- */

static void give_up(struct world *w, struct fake_job *job, const struct migration_order *order)
{
	autofree char *why = xasprintf("it was called off: %s", order->why);

	job->again = order->action == MIGRATION_POST_COPY;
	fail(w, job, why);
}

struct copying {
	struct world *w;
	struct fake_job *job;
	struct fake_domain *dom;
};

static bool obey(void *ctx, const struct migration_order *order)
{
	struct world *w = ((struct copying *)ctx)->w;
	struct fake_job *job = ((struct copying *)ctx)->job;
	struct fake_domain *dom = ((struct copying *)ctx)->dom;

	if (order->action == MIGRATION_ABORT || order->action == MIGRATION_POST_COPY) {
		give_up(w, job, order);
	} else if (order->action == MIGRATION_PAUSE) {
		dom->state = DOMAIN_PAUSED;
		dom->reason = REASON_MIGRATION;
		look_again(w, dom);
	}
	return true;
}

/* Of 1 GiB; what remains is as much at each look, until the guest is held up. */
static bool is_copied_by(struct world *w, struct fake_job *job, struct fake_domain *dom)
{
	struct migration_seen seen = { .elapsed = w->t - job->begun,
		.total = INT64_C(1) << 30,
		.remaining = INT64_C(1) << 20,
		.iteration = 2 };
	bool held = dom->state == DOMAIN_PAUSED, slowed = job->limits.auto_converge;
	struct copying copying = { w, job, dom };

	if (!w->fake.busy || job->post_copy || held || (slowed && seen.elapsed > CONVERGES))
		return true;
	tell(w, dom, &seen);
	migration_monitor_look(&job->watch, &job->limits, &seen, obey, &copying);
	return false;
}

static bool is_kept(struct world *w, struct fake_job *job)
{
	if (!is_cut(w, job))
		job->heard = w->t;
	if (job->let_go || w->t - job->held >= HELD_MAX || w->t - job->heard >= KEEPALIVE)
		return false;
	later(w, job, HELD_TIME);
	return true;
}

/* Whether the stage has not come to its end yet, and nothing is wrong with it. */
static bool lasts(struct world *w, struct fake_job *job)
{
	struct fake_domain *dom = moved(w, job);

	if (job->stage == STAGE_HELD)
		return is_kept(w, job);
	if (!dom || !dom->active || is_cut(w, job) || !has_incoming(w, job))
		return false;
	if (job->stage == STAGE_COPY && !is_copied_by(w, job, dom)) {
		if (job->active)
			later(w, job, LOOK_TIME);
		return true;
	}
	if (job->stage != STAGE_SWITCH || !is_held(job))
		return false;
	later(w, job, HELD_TIME);
	return true;
}

/* The target's agent lets it go on: libvirt's call comes through. */
void fake_pass(struct world *w, const struct op *op)
{
	struct fake_job *own = job_of(w, op->uuid);
	struct world *from;

	if (own)
		own->let_go = true; /* the source's relay */
	for (unsigned i = 0; w->lab && (from = world_host(w, i)); i++) {
		struct fake_job *job = job_of(from, op->uuid);

		if (job && from->lab->hosts[job->to] == w)
			job->passed = true;
	}
}

/* QEMU is killed; that is good only while libvirt waits for the answer. */
void fake_seal(struct world *w, const struct op *op, struct err *err)
{
	struct fake_domain *dom = fake_find_uuid(w, op->uuid);
	struct fake_job *job = job_of(w, op->uuid);
	bool waits = job && job->stage == STAGE_HELD && w->t - job->heard < PING;

	if (op->vouched && !waits) {
		err_set(err, ERR_CONFLICT, "the relay: no answer is held");
		return;
	}
	if (!op->ended && (!dom || !dom->active))
		err_set(err, ERR_NOT_FOUND, "no QEMU is found");
	else if (!op->ended)
		domain_end(w, dom, REASON_CRASHED);
}

/* Of the source's: libvirt misses the answer that was held. The target's may end once that is
 * held at the source. */
static bool breaks(const struct world *w, const struct world *source, const struct fake_job *job)
{
	if (w == source)
		return job->stage != STAGE_CONFIRM;
	return job->to == w->host && job->stage < STAGE_HELD;
}

void fake_end_relay(void *ctx, const char *migration)
{
	struct world *w = ctx, *source;

	for (unsigned host = 0; (source = world_host(w, host)); host++) {
		for (size_t i = 0; i < ARRAY_SIZE(source->fake.jobs); i++) {
			struct fake_job *job = &source->fake.jobs[i];

			if (job->active && streq(job->migration, migration) &&
				breaks(w, source, job))
				fail(source, job, "the relay has ended");
		}
	}
}

/* ---- the way --------------------------------------------------------------------------------- */

/* The answer of post-copy is held by nobody. */
static void enter(struct world *w, struct fake_job *job, enum fake_stage stage)
{
	job->stage = stage == STAGE_HELD && job->post_copy ? STAGE_CONFIRM : stage;
	if (job->stage != STAGE_HELD)
		return;
	job->held = job->heard = w->t;
	fake_tell_held(w, job, true);
}

static void next_stage(struct world *w, struct pending *p)
{
	struct fake_job *job = &w->fake.jobs[p->domain];
	const char *why;

	if (!job->active || job->serial != p->boot || lasts(w, job))
		return;
	why = stages[job->stage].end(w, job, moved(w, job));
	if (why) {
		fail(w, job, why);
	} else if (job->stage == STAGE_CONFIRM) {
		end_job(w, job, NULL);
	} else {
		enter(w, job, job->stage + 1);
		go_on(w, job);
	}
}

/* libvirt stop-at STAGE: those that come there wait; libvirt go-on: no more. */
void fake_stop_at(struct world *w, const char *stage)
{
	copy_str(w->fake.stop_at, sizeof(w->fake.stop_at), stage);
	for (size_t i = 0; i < ARRAY_SIZE(w->fake.jobs); i++) {
		if (w->fake.jobs[i].active && w->fake.jobs[i].waits)
			go_on(w, &w->fake.jobs[i]);
	}
}

/* ---- its beginning --------------------------------------------------------------------------- */

/* The target lets in only what its agent has made ready for. */
static bool is_let_in(struct world *to, const struct op *op)
{
	for (size_t i = 0; i < to->fake.n_dirs; i++) {
		if (streq(to->fake.dirs[i], op->vmi_uid))
			return !to->fake.down && to->agent && !fake_find_uuid(to, op->uuid);
	}
	return false;
}

static void let_in(struct world *to, const struct fake_domain *dom)
{
	struct fake_domain *image = fake_add(to, dom->name);
	uint64_t boot = image->boot;

	*image = *dom;
	image->boot = boot + 1;
	image->incoming = true;
	image->arrived = image->stale = false;
	image->state = DOMAIN_PAUSED;
	image->reason = REASON_MIGRATION;
	look_again(to, image);
}

static struct fake_job *new_job(struct world *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(w->fake.jobs); i++) {
		if (!w->fake.jobs[i].active)
			return &w->fake.jobs[i];
	}
	world_fail(w, "the simulation has no room for another migration");
	return &w->fake.jobs[0];
}

static bool is_broken(const struct fake_domain *dom, enum domain_state state)
{
	return dom && dom->active && dom->state == state && dom->reason == REASON_POSTCOPY_FAILED;
}

/* Both wait for each other, and a relay that was made for this attempt is there. */
static bool is_resumed(struct world *w, struct world *to, const struct op *op)
{
	struct fake_domain *dom = fake_find_uuid(w, op->uuid);
	struct fake_domain *image = fake_find_uuid(to, op->uuid);

	if (!is_broken(dom, DOMAIN_PAUSED) || !is_broken(image, DOMAIN_RUNNING) || to->fake.down ||
		!to->agent || image->relay != op->recovery)
		return false;
	dom->reason = image->reason = REASON_POSTCOPY;
	image->relay = 0;
	look_again(w, dom);
	look_again(to, image);
	return true;
}

static bool may_begin(struct world *w, struct world *to, const struct op *op)
{
	struct fake_domain *dom = fake_find_uuid(w, op->uuid);

	if (op->recovery)
		return is_resumed(w, to, op);
	if (!is_let_in(to, op))
		return false;
	let_in(to, dom);
	return true;
}

bool fake_migrate(struct world *w, const struct op *op, uint64_t life, struct err *err)
{
	struct fake_domain *dom = fake_find_uuid(w, op->uuid);
	struct world *to = world_named(w, op->peer);
	struct fake_job *job = new_job(w);
	uint64_t serial = job->serial + 1;

	if (!dom || !dom->active || job_of(w, op->uuid) || !to || w->lab->cut[w->host][to->host] ||
		!may_begin(w, to, op)) {
		err_set(err, ERR_HYPERVISOR, "the target does not let it in");
		return false;
	}
	*job = (struct fake_job){ .active = true,
		.serial = serial,
		.to = to->host,
		.op = op->id,
		.life = life,
		.kind = op->kind,
		.paused = op->paused,
		.post_copy = op->post_copy,
		.stage = op->recovery ? STAGE_FINISH : STAGE_COPY,
		.passed = op->recovery,
		.begun = w->t,
		.boot = dom->boot,
		.limits = op->limits,
		.libvirts = to->fake.libvirts };
	copy_str(job->uuid, UID_SIZE, op->uuid);
	copy_str(job->migration, UID_SIZE, op->migration);
	go_on(w, job);
	return true;
}

bool fake_migrate_watch(struct world *w, const struct op *op, uint64_t life)
{
	const struct fake_domain *dom = fake_find_uuid(w, op->uuid);
	struct fake_job *job = job_of(w, op->uuid);

	if (!job)
		return false;
	job->life = life;
	if (job->stage == STAGE_HELD)
		fake_tell_held(w, job, true);
	if (!dom || !dom->active) {
		job->life = 0; /* its relay is watched no longer */
		return false;
	}
	job->op = op->id;
	job->kind = op->kind;
	return true;
}

/* Too early or too late it is ignored. */
void fake_migrate_abort(struct world *w, const struct op *op)
{
	struct fake_job *job = job_of(w, op->uuid);

	if (job && job->stage == STAGE_COPY && !(job->waits && is_unanswered(w, job)))
		fail(w, job, "operation aborted: migration job: canceled by client");
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* Once the target has answered it needs no way any more. */
void fake_break_way(struct world *w, const struct world *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(w->fake.jobs); i++) {
		struct fake_job *job = &w->fake.jobs[i];

		if (job->active && job->to == to->host && job->stage != STAGE_CONFIRM)
			fail(w, job, "the relay has ended");
	}
}

/* The source's libvirtd is gone: nobody resumes what it had stopped. */
static void lose_job(struct world *w, struct fake_job *job)
{
	struct fake_domain *dom = moved(w, job);

	leave_held(w, job);
	job->active = false;
	if (job->post_copy && job->stage == STAGE_FINISH && !sent(w, job, dom))
		job->stage = STAGE_CONFIRM; /* the rest of the memory needs none */
	drop_incoming(w->lab->hosts[job->to], job->uuid);
	break_down(w, job);
	if (job->stage != STAGE_CONFIRM || !dom || !dom->active)
		return;
	dom->active = false;
	dom->state = DOMAIN_SHUTOFF;
	dom->reason = REASON_UNKNOWN;
}

void fake_lose_jobs(struct world *w)
{
	w->fake.libvirts++;
	for (size_t i = 0; i < ARRAY_SIZE(w->fake.jobs); i++) {
		if (w->fake.jobs[i].active)
			lose_job(w, &w->fake.jobs[i]);
	}
	for (size_t i = 0; i < DOMAINS_MAX; i++) {
		if (w->fake.domains[i].exists && w->fake.domains[i].incoming)
			w->fake.domains[i].exists = w->fake.domains[i].active = false;
	}
}

/* ---- what must never be ---------------------------------------------------------------------- */

static void check_other(struct world *w, const struct fake_domain *dom, struct world *other)
{
	struct fake_domain *twin = fake_find_uuid(other, dom->uuid);

	if (other == w || !twin || !twin->active)
		return;
	if (twin->state == DOMAIN_RUNNING)
		world_fail(w, "%s runs here and on %s", dom->name, other->node);
	twin->stale |= twin->arrived;
}

/* Its guest executes from now on: nowhere else may it, and what others have of it
 * is out of date. */
void fake_runs(struct world *w, struct fake_domain *dom)
{
	struct world *host;

	if (dom->stale)
		world_fail(w, "%s runs from an image that is out of date", dom->name);
	for (unsigned i = 0; w->lab && (host = world_host(w, i)); i++)
		check_other(w, dom, host);
	dom->arrived = false;
	fake_nvram_write(w, dom);
}
