/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which VMs name the same disk to write to, or the same MAC address: an index of what the templates
 * name, so that whoever applies the second one is told of the first at once, before either runs.
 *
 * It warns and refuses nothing: files come in any order, a VM may take another one's place, and of
 * two only one need ever run. That no two run at a time is the business of disks.c and macs.c.
 */
#include <string.h>

#include "core/edit.h"
#include "core/exclusive.h"
#include "core/manifest.h"
#include "daemon/migrations.h"

struct namesake {
	char *what; /* owned */
	const struct machine *m;
};

/* The first entry of that, or where it would be. */
static size_t place_of(const struct namesakes *names, const char *what)
{
	size_t low = 0, high = names->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(names->list[middle].what, what) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of those of one thing in the order of their names, so that who is told of first does not depend
 * on who came first. */
static void add(struct namesakes *names, const struct machine *m, char **what)
{
	size_t at = place_of(names, *what);

	while (at < names->n && streq(names->list[at].what, *what) &&
		machine_compare(names->list[at].m, m->ns, m->name) < 0)
		at++;
	(void)LIST_ADD(names->list, names->n, names->cap);
	memmove(&names->list[at + 1], &names->list[at], (names->n - 1 - at) * sizeof(*names->list));
	names->list[at] = (struct namesake){ .what = take(what), .m = m };
}

static void drop(struct namesakes *names, const struct machine *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < names->n; i++) {
		if (names->list[i].m == m)
			free(names->list[i].what);
		else
			names->list[kept++] = names->list[i];
	}
	names->n = kept;
}

void namesakes_update(struct agent *agent, struct machine *m)
{
	int64_t generation = m->vm ? m->vm->meta.generation : 0;
	struct node *spec;
	struct exclusives e;

	if (m->named_generation == generation)
		return;
	if (m->names)
		drop(&agent->namesakes, m);
	m->named_generation = generation;
	m->names = 0;
	spec = m->vm ? text_tree(m->vm->spec) : NULL;
	if (!spec)
		return;
	exclusives_of(node_at(spec, "template.spec"), m->ns, &e);
	for (size_t i = 0; i < e.n; i++)
		add(&agent->namesakes, m, &e.list[i].what);
	m->names = e.n;
	exclusives_done(&e);
	node_free(spec);
}

/* ---- what is said of it ---------------------------------------------------------------------- */

/* Another VM that is to run. */
static const struct machine *rival(const struct agent *agent, const struct manifest *manifest,
	const char *what)
{
	const struct namesakes *names = &agent->namesakes;

	for (size_t at = place_of(names, what); at < names->n && streq(names->list[at].what, what);
		at++) {
		const struct machine *m = names->list[at].m;

		if (machine_compare(m, manifest->ns, manifest->name) && m->vm &&
			!m->vm->meta.deleted && m->vm->strategy != STRATEGY_HALTED)
			return m;
	}
	return NULL;
}

static bool is_to_run(const struct manifest *manifest)
{
	const struct node *spec = node_get(manifest->root, "spec");
	bool running;

	return manifest->kind == KIND_VMI ||
		(manifest->kind == KIND_VM && spec_run_strategy(spec, &running) != STRATEGY_HALTED);
}

/* Who gives an order where the machine was before gets another one: only a file of the folder is
 * known to mean the old. */
static void warn_of_moved(const struct agent *agent, const struct manifest *manifest,
	struct buf *out)
{
	bool moves = manifest->kind == KIND_VM || manifest->kind == KIND_VMI;
	const char *peer = moves && !machines_find(&agent->machines, manifest->ns, manifest->name)
		? migrations_moved_to(agent, manifest->ns, manifest->name)
		: NULL;

	if (peer)
		buf_printf(out, "%s'%s' has moved to '%s': this is another one of that name, %s",
			out->len ? "; " : "", manifest->name, peer,
			contested_by(agent, manifest->ns, manifest->name)
				? "which does not start before it is gone there"
				: "and what both write to is destroyed");
}

char *agent_warnings(const struct agent *agent, const struct manifest *manifest)
{
	const char *at = manifest->kind == KIND_VM ? "spec.template.spec" : "spec";
	autofree char *words = findings_words(manifest->warnings);
	struct exclusives e = { 0 };
	struct buf out = { 0 };

	if (words)
		buf_puts(&out, words);
	warn_of_moved(agent, manifest, &out);
	if (is_to_run(manifest))
		exclusives_of(node_at(manifest->root, at), manifest->ns, &e);
	for (size_t i = 0; i < e.n; i++) {
		const struct machine *m = rival(agent, manifest, e.list[i].what);

		if (m)
			buf_printf(&out,
				"%s%s.%s: %s is that of VM '%s/%s' as well: only one of them runs at a time",
				out.len ? "; " : "", at, e.list[i].field, e.list[i].what, m->ns,
				m->name);
	}
	exclusives_done(&e);
	return out.data;
}

void namesakes_done(struct namesakes *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->list[i].what);
	free(names->list);
}
