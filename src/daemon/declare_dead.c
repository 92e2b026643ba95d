/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that will not come back: whoever says so vouches that it is without power, and what waits
 * for its word is settled without it, each migration by how far it had come. Who said it, and when,
 * is stored with the same commit. Nothing here looks whether it is true: that a host does not
 * answer is no proof.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/codec.h"
#include "core/migration_offer.h"
#include "core/nvram.h"
#include "daemon/agent_private.h"
#include "daemon/migrations.h"

#define VALUE_NAME "dead_peers" /* lines of NAME, wall time and user */

/* ---- stored ---------------------------------------------------------------------------------- */

void dead_load(struct agent *agent)
{
	autofree char *stored = store_get_value(agent->store, VALUE_NAME);
	char *rest = stored, *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		char name[NAME_MAX_LEN + 1];
		struct peer_facts *peer;
		int64_t wall, uid;

		if (sscanf(line, "%253s %" SCNd64 " %" SCNd64, name, &wall, &uid) != 3)
			continue;
		peer = peers_find(agent, name);
		if (peer)
			peer->dead = (struct peer_death){ wall, uid };
	}
}

int dead_save(struct agent *agent, struct err *err)
{
	struct buf text = { 0 };
	int ret;

	buf_puts(&text, "");
	for (size_t i = 0; i < agent->options->n_peers; i++) {
		const struct peer_facts *peer = &agent->peers.list[i];

		if (peer->dead.wall)
			buf_printf(&text, "%s %" PRId64 " %" PRId64 "\n", peer->config->name,
				peer->dead.wall, peer->dead.uid);
	}
	ret = store_put_value(agent->store, VALUE_NAME, text.data, err);
	buf_done(&text);
	return ret;
}

void dead_is_back(struct agent *agent, struct peer_facts *peer)
{
	log_text(LOG_LEVEL_WARNING,
		"peer '%s', which was declared dead, is back: what it still has of guests that were "
		"settled without it ends there",
		peer->config->name);
	peer->dead = (struct peer_death){ 0 };
	agent->peers.dead_changed = true;
}

/* ---- what becomes of each -------------------------------------------------------------------- */

/* They come with the image, or with the source's last word. */
static bool loses_variables(const struct migration *g, const struct machine *m)
{
	return g->discard && m && m->vm && m->vmi && nvram_is_kept(m->vmi);
}

static void tell_variables(struct agent *agent, const struct migration *g, const struct machine *m)
{
	struct happening what = { .warning = true };

	happen(&what, KIND_VM, "StateLost",
		"it boots here with new EFI variables: those that it had are at '%s', and in its "
		"'lost' folder if that host comes back; vmagent(8) tells how to bring them here",
		g->peer);
	agent_note(agent, &m->vm->meta, &what);
}

static const char *take_over(struct agent *agent, struct migration *g, struct now now)
{
	const struct machine *m = machines_find(&agent->machines, g->meta.ns, g->vmi);

	/* The source may have gone on, and written to what both use, after the image was made. */
	g->discard = !m || !m->vmi || !migration_copies_all(&m->vmi->typed);
	g->taken = true;
	migration_own(agent, g, g->document, now);
	if (loses_variables(g, m)) {
		tell_variables(agent, g, m);
		return "it boots here, with new EFI variables: its image may be older than its "
		       "disks, and is not used";
	}
	return g->discard
		? "it boots here: its image may be older than its disks, and is not used"
		: "it goes on here, image and copied disks are of one instant: what it did at the "
		  "source after that is lost";
}

/* In words for whoever declared it. */
static const char *settle(struct agent *agent, struct migration *g, struct now now)
{
	g->asks = false;
	switch (g->state) {
	case MIGRATION_OUT:
		g->cancelled = true;
		return "it is not moved";
	case MIGRATION_RELEASED:
		migration_reclaim(agent, g, now);
		return "it is this host's again, and boots here";
	case MIGRATION_IN:
		g->called_off = true;
		replace_str(&g->refusal, "its source was declared dead");
		return "not all of it had come: what had is removed. Where its disks are shared, its "
		       "manifest can be applied here";
	case MIGRATION_COMPLETE:
		return take_over(agent, g, now);
	case MIGRATION_OWNER:
		g->taken = true;
		return g->post_copy ? "it is this host's, but boots here if some of its memory had "
				      "not come yet"
				    : "it is this host's";
	case MIGRATION_ABORTED:
	case MIGRATION_DONE: /* a target that has it says so again to who comes back */
		g->taken |= g->role == MIGRATION_TARGET && g->moved;
		g->acked = true;
		return "it is not asked about it any more";
	case MIGRATION_PENDING:
	case MIGRATION_STATE_MAX:
		break;
	}
	return NULL;
}

/* One that answers can be asked; but one that has lost its database does not know
 * what it is asked. */
static bool is_settled_by(const struct migration *g, const struct peer_facts *peer)
{
	return streq(g->peer, peer->config->name) && !migration_is_over(g) && !g->removed &&
		(!peer->up || g->doubt);
}

static size_t count(const struct agent *agent, const struct peer_facts *peer)
{
	size_t n = 0;

	for (size_t i = 0; i < agent->migrations.n; i++)
		n += is_settled_by(agent->migrations.list[i], peer);
	return n;
}

static unsigned settle_all(struct agent *agent, const struct peer_facts *peer, struct buf *words,
	struct now now)
{
	unsigned n = 0;

	for (size_t i = 0; i < agent->migrations.n; i++) {
		struct migration *g = agent->migrations.list[i];
		struct machine *m = machines_find(&agent->machines, g->meta.ns, g->vmi);
		const char *what;

		if (!is_settled_by(g, peer))
			continue;
		what = settle(agent, g, now);
		migration_touch(agent, g);
		if (m)
			agent_mark(agent, m);
		n++;
		if (what)
			buf_printf(words, "%s%s/%s: %s", words->len ? "; " : "", g->meta.ns, g->vmi,
				what);
	}
	return n;
}

static int declare(struct agent *agent, const struct request *request, struct buf *words,
	struct now now, struct err *err)
{
	struct peer_facts *peer = peers_find(agent, request->name);

	if (!peer)
		return err_set(err, ERR_NOT_FOUND,
			"'%s' is no peer in the configuration; 'vmactl peer ls' lists them",
			request->name);
	if (!past_has_room(agent, count(agent, peer)))
		return err_set(err, ERR_TOO_MANY,
			"there is no room for more that hosts declared dead have still to hear of: those "
			"that are gone for good make room when they are no peers in the configuration any "
			"more");
	if (!settle_all(agent, peer, words, now) && peer->up)
		return err_set(err, ERR_CONFLICT, "'%s' can be reached: it is not dead",
			request->name);
	if (!peer->up) {
		peer->dead = (struct peer_death){ now.wall, request->actor.uid };
		agent->peers.dead_changed = true;
	}
	rebuild_answered(agent, request->name);
	contested_forfeit(agent, request->name);
	log_text(LOG_LEVEL_WARNING, "peer '%s' was declared dead by user %lld", request->name,
		(long long)request->actor.uid);
	return 0;
}

void input_declare_dead(struct agent *agent, const struct input *input, struct now now)
{
	const struct request *request = &input->request;
	struct buf words = { 0 };
	struct err err = { 0 };

	if (request_is_unsaved(agent, request))
		return;
	declare(agent, request, &words, now, &err);
	agent_answer(agent, request, &err, words.data);
	buf_done(&words);
}
