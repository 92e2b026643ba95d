/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which run has which of the host's things to itself: dedicated CPUs, devices, CIDs. One index by
 * their keys. What a run has is chosen when it is prepared, saved with it in the same commit, and
 * its own until it is cleaned away, also while a failed preparation is tried again, and whatever
 * the configuration says meanwhile.
 */
#include <string.h>

#include "daemon/obstacles.h"

struct share_claim {
	char *key; /* owned */
	const struct machine *m;
};

/* For callers without a configuration: there is nothing to allocate but CIDs. */
static const struct host_shares nothing;

static const struct host_shares *host_of(const struct agent *agent)
{
	return agent->options->shares ? agent->options->shares : &nothing;
}

/* The claim on that key, or the place of one. */
static size_t place_of(const struct shares *shares, const char *key)
{
	size_t low = 0, high = shares->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(shares->list[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct machine *holder_of(const void *ctx, const char *key)
{
	const struct shares *shares = ctx;
	size_t at = place_of(shares, key);

	return at < shares->n && streq(shares->list[at].key, key) ? shares->list[at].m : NULL;
}

/* Takes the key. */
static void claim(struct shares *shares, const struct machine *m, char *key)
{
	size_t at = place_of(shares, key);

	(void)LIST_ADD(shares->list, shares->n, shares->cap);
	memmove(&shares->list[at + 1], &shares->list[at],
		(shares->n - 1 - at) * sizeof(*shares->list));
	shares->list[at] = (struct share_claim){ key, m };
}

static void release(struct shares *shares, const struct machine *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < shares->n; i++) {
		if (shares->list[i].m == m)
			free(shares->list[i].key);
		else
			shares->list[kept++] = shares->list[i];
	}
	shares->n = kept;
}

void shares_update(struct agent *agent, struct machine *m)
{
	const char *at = m->vmi ? m->vmi->held : NULL;
	bool holds = at != NULL;

	if (holds == m->holds_share)
		return;
	m->holds_share = holds;
	if (!holds) {
		release(&agent->shares, m);
		agent->freed = true;
		return;
	}
	for (char *word; (word = holding_word(&at));) {
		if (starts_with(word, "node:"))
			free(word);
		else
			claim(&agent->shares, m, word);
	}
}

static char *choose(const struct agent *agent, const struct machine *m, char **ret_words)
{
	struct shares_view view = { host_of(agent), holder_of, &agent->shares };

	return holding_choose(&view, &m->vmi->typed, ret_words);
}

enum obstacle shares_obstacle(const struct agent *agent, const struct machine *m, char **ret_words)
{
	autofree char *chosen = NULL;

	if (m->vmi->held || !spec_shares(&m->vmi->typed))
		return OBSTACLE_NONE;
	chosen = choose(agent, m, ret_words);
	return chosen ? OBSTACLE_NONE : OBSTACLE_UNSCHEDULABLE;
}

/* Nothing has changed since shares_obstacle() found none. */
void shares_take(struct agent *agent, struct machine *m)
{
	autofree char *words = NULL;

	if (m->vmi->held || !spec_shares(&m->vmi->typed))
		return;
	m->vmi->held = choose(agent, m, &words);
	m->vmi_changed = true;
	shares_update(agent, m);
}

static void add_check(struct op *op, const char *who, char *path)
{
	op->work = xrealloc_array(op->work, op->n_work + 1, sizeof(*op->work));
	op->work[op->n_work++] = (struct volume_work){ .kind = VOLUME_WORK_PATH,
		.volume = xstrdup(who),
		.target = path };
}

/* libvirt finds those on USB by itself. */
static char *path_of(const char *key)
{
	enum host_device_kind kind;
	const char *address = device_address(key, &kind);

	if (!address || kind == HOST_DEVICE_USB)
		return NULL;
	return xasprintf("/sys/bus/%s/devices/%s", host_device_kind_name(kind), address);
}

void shares_fill_prepare(const struct machine *m, struct op *op)
{
	const struct vmi_spec *spec = &m->vmi->typed;
	struct holding holding;

	holding_parse(m->vmi->held, &holding);
	for (size_t i = 0; i < MIN(holding.n_devices, spec->n_devices); i++) {
		char *path = path_of(holding.devices[i]);

		if (path)
			add_check(op, spec->devices[i].name, path);
	}
	if (spec->vsock)
		add_check(op, "autoattachVSOCK", xstrdup(VSOCK_DEVICE));
	holding_done(&holding);
}

char *shares_left(const struct agent *agent)
{
	return shared_cpus(host_of(agent));
}

int64_t shares_dedicated(const struct agent *agent)
{
	return INT64_C(1000) * cpu_set_count(&host_of(agent)->dedicated);
}

void shares_done(struct shares *shares)
{
	for (size_t i = 0; i < shares->n; i++)
		free(shares->list[i].key);
	free(shares->list);
}
