/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What two hosts say about a migration that both know, or that one of them does not: what
 * each message means in each state. A fact is noted for the decider; an answer only repeats
 * what is stored already.
 */
#include "core/migration_check.h"
#include "core/migration_private.h"
#include "core/migration_told.h"

#include "core/json.h"

struct call {
	struct migration *g;
	const struct handover *h;
	struct now now;
};

typedef struct migration_answer hear_fn(const struct call *c);

static const struct migration_answer nothing = { .any = false };

static struct migration_answer say(enum handover_kind kind)
{
	return (struct migration_answer){ .any = true, .say = kind };
}

static struct migration_answer lose(void)
{
	return (struct migration_answer){ .lost = true };
}

/* The decider says what it has to say at once. */
static struct migration_answer hurry(const struct call *c)
{
	c->g->say_at = 0;
	return nothing;
}

/* ---- at the source --------------------------------------------------------------------------- */

static bool is_asking(const struct migration *g)
{
	return g->state == MIGRATION_OUT && !g->performing;
}

unsigned migration_recovery_of(const char *document)
{
	cJSON *json = cJSON_Parse(document ? document : "{}");
	const cJSON *n = cJSON_GetObjectItemCaseSensitive(json, "recovery");
	double number = cJSON_IsNumber(n) ? n->valuedouble : 0;

	cJSON_Delete(json);
	return number > 0 && number <= INT32_MAX ? (unsigned)number : 0;
}

/* What is said of the first attempt means nothing for the second. */
static bool is_of_attempt(const struct call *c)
{
	cJSON *json = cJSON_Parse(c->h->document ? c->h->document : "{}");
	bool post_copy = json_is_true(json, "postCopy");

	cJSON_Delete(json);
	return post_copy == c->g->post_copy;
}

/* A new way for the rest of it. */
static struct migration_answer hear_mended(const struct call *c)
{
	if (!c->g->broke_at || c->g->prepared ||
		migration_recovery_of(c->h->document) != c->g->recovery)
		return nothing;
	c->g->prepared = c->g->changed = true;
	replace_str(&c->g->offer, c->h->document);
	return nothing;
}

static struct migration_answer hear_prepared(const struct call *c)
{
	if (c->g->state == MIGRATION_RELEASED)
		return hear_mended(c);
	if (!is_asking(c->g) || c->g->prepared || !is_of_attempt(c))
		return nothing;
	c->g->prepared = c->g->changed = true;
	c->g->waits = MIGRATION_WAITS_FOR_NOTHING;
	migration_note_trouble(c->g, NULL);
	replace_str(&c->g->offer, c->h->document);
	return nothing;
}

static struct migration_answer hear_busy(const struct call *c)
{
	if (!is_asking(c->g) || c->g->said != HANDOVER_PREPARE)
		return nothing;
	c->g->say_at = c->now.boot + SECONDS(MIGRATION_BUSY_S);
	c->g->changed |= c->g->waits != MIGRATION_WAITS_FOR_ROOM;
	c->g->waits = MIGRATION_WAITS_FOR_ROOM;
	migration_note_trouble(c->g, c->h->why);
	return nothing;
}

static struct migration_answer hear_declined(const struct call *c)
{
	struct findings findings = { 0 };
	autofree char *words = NULL;

	if (!is_asking(c->g))
		return nothing;
	migration_findings_read(c->h->document, &findings);
	words = migration_findings_words(&findings);
	replace_str(&c->g->refusal, words ? words : c->h->why);
	findings_done(&findings);
	return nothing;
}

/* Whoever asks what has become of it has taken it on. */
static struct migration_answer hear_query(const struct call *c)
{
	if (is_asking(c->g) && !c->g->admitted)
		c->g->admitted = c->g->changed = true;
	if (is_asking(c->g) || c->g->state == MIGRATION_RELEASED)
		migration_note_trouble(c->g, c->h->why);
	switch (c->g->state) {
	case MIGRATION_PENDING:
	case MIGRATION_OUT:
		return say(HANDOVER_OUT);
	case MIGRATION_RELEASED:
	case MIGRATION_ABORTED:
		return hurry(c);
	case MIGRATION_DONE:
		return c->g->moved ? nothing : say(HANDOVER_ABORT);
	case MIGRATION_IN:
	case MIGRATION_COMPLETE:
	case MIGRATION_OWNER:
	case MIGRATION_STATE_MAX:
		break;
	}
	return nothing;
}

static struct migration_answer hear_complete(const struct call *c)
{
	if (c->g->state == MIGRATION_OUT)
		c->g->complete_at = c->now.boot;
	return hear_query(c);
}

/* Once lost it does not come back. */
static struct migration_answer hear_no_image(const struct call *c)
{
	if (c->g->state == MIGRATION_OUT)
		c->g->no_image = true;
	return hear_query(c);
}

static struct migration_answer hear_aborted(const struct call *c)
{
	if (c->g->state == MIGRATION_ABORTED && !c->g->acked)
		c->g->acked = c->g->changed = true;
	return nothing;
}

/* Acknowledged when it is stored, which it is when the target says it once more. One that was
 * never given the guest has taken it, when this host was declared dead; one that was may have
 * been declared so itself. */
static struct migration_answer hear_finalized(const struct call *c)
{
	if (c->g->reclaimed)
		return say(HANDOVER_RECLAIMED);
	if (c->g->state == MIGRATION_DONE && c->g->moved)
		return say(HANDOVER_ACK);
	if (c->g->state == MIGRATION_ABORTED || c->g->state == MIGRATION_DONE)
		return lose();
	if (c->g->state != MIGRATION_RELEASED)
		return nothing;
	c->g->ended = true;
	c->g->ended_well = c->h->succeeded;
	migration_note_trouble(c->g, c->h->succeeded ? NULL : c->h->why);
	c->g->told_wall[c->h->succeeded ? MIGRATION_PHASE_SUCCEEDED : MIGRATION_PHASE_FAILED] =
		c->h->ended;
	return nothing;
}

/* Post-copy takes its time: whose it is is known meanwhile. */
static struct migration_answer hear_owned(const struct call *c)
{
	if (c->g->state != MIGRATION_RELEASED)
		return nothing;
	c->g->owned_at = c->now.boot;
	migration_note_trouble(c->g, NULL);
	c->g->changed |= c->g->doubt_wall != 0;
	return nothing;
}

/* ---- at the target --------------------------------------------------------------------------- */

static bool is_waiting(const struct migration *g)
{
	return g->state == MIGRATION_IN || g->state == MIGRATION_COMPLETE;
}

/* The first attempt was called off, and the source wants another one. */
static void prepare_again(struct migration *g)
{
	g->post_copy = g->changed = true;
	g->prepared = false;
	free(take(&g->offer));
	g->progress = (struct migration_progress){ .total = 0 };
	g->mode = MIGRATION_MODE_PRE_COPY;
}

static struct migration_answer hear_prepare(const struct call *c)
{
	if (c->g->state != MIGRATION_IN)
		return nothing;
	if (!is_of_attempt(c) && c->g->post_copy)
		return nothing;
	if (!is_of_attempt(c))
		prepare_again(c->g);
	return say(c->g->prepared ? HANDOVER_PREPARED : HANDOVER_QUERY);
}

/* Each attempt has a relay of its own, made when the way is seen to have broken down here, too. */
static struct migration_answer hear_recover(const struct call *c)
{
	unsigned recovery = migration_recovery_of(c->h->document);

	if (c->g->state != MIGRATION_OWNER || !c->g->post_copy)
		return nothing;
	if (recovery > c->g->recovery) {
		c->g->recovery = recovery;
		c->g->prepared = false;
		c->g->changed = true;
	}
	return say(
		recovery == c->g->recovery && c->g->prepared ? HANDOVER_PREPARED : HANDOVER_OWNED);
}

/* How far it is, for who looks. */
static void follow(const struct call *c)
{
	cJSON *json = cJSON_Parse(c->h->document ? c->h->document : "{}");

	c->g->changed |= migration_follow(c->g, json);
	cJSON_Delete(json);
}

static struct migration_answer hear_out(const struct call *c)
{
	if (is_waiting(c->g)) {
		follow(c);
		c->g->changed |= c->h->cancelled && !c->g->cancelled;
		c->g->cancelled |= c->h->cancelled;
	}
	if (is_waiting(c->g) && c->g->doubt) {
		c->g->doubt = false;
		c->g->changed = true;
	}
	return nothing;
}

static struct migration_answer hear_unknown(const struct call *c)
{
	if (is_waiting(c->g) && !c->g->doubt)
		c->g->doubt = c->g->changed = true;
	return nothing;
}

/* Nothing of it is the target's to tell: it shows what the source does. */
static void follow_end(const struct call *c)
{
	cJSON *json = cJSON_Parse(c->h->document ? c->h->document : "{}");

	migration_follow_end(c->g, json);
	cJSON_Delete(json);
}

/* One that has moved all the same was taken, when the source was declared dead. */
static struct migration_answer hear_abort(const struct call *c)
{
	if (is_waiting(c->g)) {
		c->g->called_off = true;
		follow_end(c);
		c->g->told_wall[MIGRATION_PHASE_FAILED] = c->h->ended;
		c->g->cancelled |= c->h->cancelled;
		replace_str(&c->g->refusal, c->h->why);
	}
	if (c->g->state != MIGRATION_DONE || c->g->lost)
		return nothing;
	return say(c->g->moved ? HANDOVER_FINALIZED : HANDOVER_ABORTED);
}

static struct migration_answer hear_reclaimed(const struct call *c)
{
	bool has = c->g->state == MIGRATION_OWNER || (c->g->state == MIGRATION_DONE && c->g->moved);

	return has && !c->g->lost ? lose() : nothing;
}

static struct migration_answer hear_ack(const struct call *c)
{
	if (c->g->state == MIGRATION_DONE && !c->g->acked)
		c->g->acked = c->g->changed = true;
	return nothing;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* clang-format off */
static const struct {
	enum migration_role role; /* of who hears it */
	hear_fn *hear;            /* NULL: the caller's */
} hears[HANDOVER_MAX] = {
	[HANDOVER_PREPARE]    = { MIGRATION_TARGET, hear_prepare },
	[HANDOVER_OUT]        = { MIGRATION_TARGET, hear_out },
	[HANDOVER_COMMIT]     = { MIGRATION_TARGET, NULL },
	[HANDOVER_RECOVER]    = { MIGRATION_TARGET, hear_recover },
	[HANDOVER_ABORT]      = { MIGRATION_TARGET, hear_abort },
	[HANDOVER_UNKNOWN_DB] = { MIGRATION_TARGET, hear_unknown },
	[HANDOVER_ACK]        = { MIGRATION_TARGET, hear_ack },
	[HANDOVER_RECLAIMED]  = { MIGRATION_TARGET, hear_reclaimed },
	[HANDOVER_PREPARED]   = { MIGRATION_SOURCE, hear_prepared },
	[HANDOVER_BUSY]       = { MIGRATION_SOURCE, hear_busy },
	[HANDOVER_DECLINED]   = { MIGRATION_SOURCE, hear_declined },
	[HANDOVER_QUERY]      = { MIGRATION_SOURCE, hear_query },
	[HANDOVER_COMPLETE]   = { MIGRATION_SOURCE, hear_complete },
	[HANDOVER_NOIMAGE]    = { MIGRATION_SOURCE, hear_no_image },
	[HANDOVER_ABORTED]    = { MIGRATION_SOURCE, hear_aborted },
	[HANDOVER_FINALIZED]  = { MIGRATION_SOURCE, hear_finalized },
	[HANDOVER_OWNED]      = { MIGRATION_SOURCE, hear_owned },
};
/* clang-format on */

struct migration_answer migration_hear(struct migration *g, const struct handover *h,
	struct now now)
{
	struct call call = { .g = g, .h = h, .now = now };

	if (h->kind >= HANDOVER_MAX || !hears[h->kind].hear || hears[h->kind].role != g->role ||
		h->epoch != g->epoch)
		return nothing;
	return hears[h->kind].hear(&call);
}

/* The source forgets nothing that has not ended on both sides; so what it does not know was
 * aborted, unless it is another database than the one that was told. */
struct migration_answer migration_unknown(const struct handover *h, const char *database,
	const struct handover_rules *rules)
{
	bool knows = streq(h->database, database) || !rules->suspicion;

	if (h->kind == HANDOVER_QUERY || h->kind == HANDOVER_COMPLETE ||
		h->kind == HANDOVER_NOIMAGE)
		return say(knows ? HANDOVER_ABORT : HANDOVER_UNKNOWN_DB);
	if (h->kind == HANDOVER_FINALIZED)
		return say(HANDOVER_ACK);
	return h->kind == HANDOVER_ABORT ? say(HANDOVER_ABORTED) : nothing;
}
