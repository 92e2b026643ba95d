/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label selectors, node affinity, taints, and affinity between runs. Owns the words, which are
 * those of Kubernetes' scheduler with what is known here behind them. It must not know who else
 * waits, or what a host has room for.
 */
#include "core/placement.h"

#include <string.h>

#include "core/enum.h"
#include "core/json.h"

ENUM_DEFINE(label_operator, LABEL, LABEL_OPERATORS)

#define NOT_AVAILABLE "0/1 nodes are available: 1 node(s) "
#define NODE_NAME     "metadata.name" /* the one field of a node that can be selected */

static char *words(const char *what, const char *fmt, ...) PRINTF(2, 3);

static char *words(const char *what, const char *fmt, ...)
{
	autofree char *why = NULL;
	va_list ap;

	va_start(ap, fmt);
	why = xvasprintf(fmt, ap);
	va_end(ap);
	return xasprintf(NOT_AVAILABLE "%s: %s", what, why);
}

/* ---- single requirements --------------------------------------------------------------------- */

static bool is_among(const struct text_list *texts, const char *value)
{
	for (size_t i = 0; i < texts->n; i++) {
		if (streq(texts->list[i], value))
			return true;
	}
	return false;
}

/* Whole numbers on both sides, or it does not match. */
static int number_order(const char *value, const struct text_list *values, bool *ret_both)
{
	char *end = NULL, *bound_end = NULL;
	long long number = strtoll(value, &end, 10);
	long long bound = values->n ? strtoll(values->list[0], &bound_end, 10) : 0;

	*ret_both = values->n && *value && !*end && *values->list[0] && !*bound_end;
	return (number > bound) - (number < bound);
}

/* value NULL: there is no such label. */
static bool holds(const struct requirement *r, const char *value)
{
	bool both = false;
	int order = value ? number_order(value, &r->values, &both) : 0;

	switch (r->op) {
	case LABEL_IN:
		return value && is_among(&r->values, value);
	case LABEL_NOT_IN:
		return !value || !is_among(&r->values, value);
	case LABEL_EXISTS:
		return value;
	case LABEL_NOT_EXISTS:
		return !value;
	case LABEL_GREATER:
		return both && order > 0;
	case LABEL_LESS:
		return both && order < 0;
	case LABEL_OPERATOR_MAX:
		break;
	}
	return false;
}

/* ---- the host -------------------------------------------------------------------------------- */

static const char *host_label(const struct host_place *host, const char *key)
{
	for (size_t i = 0; i < host->n_labels; i++) {
		if (streq(host->labels[i].key, key))
			return host->labels[i].value;
	}
	return NULL;
}

/* The first that the host does not hold, or NULL. */
static const struct requirement *host_lacks(const struct requirements *all,
	const struct host_place *host)
{
	for (size_t i = 0; i < all->n; i++) {
		if (!holds(&all->list[i], host_label(host, all->list[i].key)))
			return &all->list[i];
	}
	return NULL;
}

static bool fields_hold(const struct requirements *all, const struct host_place *host)
{
	for (size_t i = 0; i < all->n; i++) {
		const char *value = streq(all->list[i].key, NODE_NAME) ? host->name : NULL;

		if (!holds(&all->list[i], value))
			return false;
	}
	return true;
}

static bool node_term_matches(const struct node_term *term, const struct host_place *host)
{
	return (term->labels.n || term->fields.n) && !host_lacks(&term->labels, host) &&
		fields_hold(&term->fields, host);
}

static bool suits_a_term(const struct placement *p, const struct host_place *host)
{
	for (size_t i = 0; i < p->n_node_terms; i++) {
		if (node_term_matches(&p->node_terms[i], host))
			return true;
	}
	return !p->needs_node_term;
}

static bool tolerates(const struct toleration *t, const struct host_taint *taint)
{
	if (t->effect && *t->effect && !streq(t->effect, taint->effect))
		return false;
	if (t->key && *t->key && !streq(t->key, taint->key))
		return false;
	if (t->exists)
		return true;
	return t->key && *t->key && streq(t->value ? t->value : "", taint->value);
}

/* A run that is here already stays: NoExecute keeps others out like NoSchedule. */
static const struct host_taint *untolerated(const struct placement *p,
	const struct host_place *host)
{
	for (size_t i = 0; i < host->n_taints; i++) {
		const struct host_taint *taint = &host->taints[i];
		size_t t = 0;

		while (t < p->n_tolerations && !tolerates(&p->tolerations[t], taint))
			t++;
		if (t == p->n_tolerations && !streq(taint->effect, "PreferNoSchedule"))
			return taint;
	}
	return NULL;
}

char *placement_host_words(const struct placement *p, const struct host_place *host)
{
	const struct requirement *lack = host_lacks(&p->node_selector, host);
	const struct host_taint *taint;

	if (lack)
		return words("didn't match Pod's node affinity/selector",
			"host '%s' has no label %s=%s", host->name, lack->key,
			lack->values.list[0]);
	if (!suits_a_term(p, host))
		return words("didn't match Pod's node affinity/selector",
			"none of the nodeSelectorTerms matches host '%s'", host->name);
	taint = untolerated(p, host);
	if (taint)
		return xasprintf(NOT_AVAILABLE "had untolerated taint {%s: %s}", taint->key,
			taint->value);
	return NULL;
}

/* ---- other runs ------------------------------------------------------------------------------ */

/* A run and its labels, read once for each question. */
struct labelled {
	const struct placed_run *run;
	cJSON *labels; /* owned or NULL */
};

static struct labelled labels_read(const struct placed_run *run, const char *text)
{
	return (struct labelled){ run, text ? cJSON_Parse(text) : NULL };
}

/* What a launcher pod has of itself counts as well. */
static const char *run_label(const struct labelled *l, const char *key)
{
	const char *given = json_text(l->labels, key);

	if (given || !l->run)
		return given;
	if (streq(key, "kubevirt.io"))
		return "virt-launcher";
	return streq(key, "vm.kubevirt.io/name") ? l->run->name : NULL;
}

static bool labels_hold(const struct requirements *all, const struct labelled *labels)
{
	for (size_t i = 0; i < all->n; i++) {
		if (!holds(&all->list[i], run_label(labels, all->list[i].key)))
			return false;
	}
	return true;
}

static bool in_namespaces(const struct pod_term *term, const struct placed_run *owner,
	const struct placed_run *other)
{
	struct labelled labels;
	bool match;

	if (!term->namespaces.n && !term->selects_namespaces)
		return streq(owner->ns, other->ns);
	if (is_among(&term->namespaces, other->ns))
		return true;
	if (!term->selects_namespaces)
		return false;
	labels = labels_read(NULL, other->namespace_labels);
	match = labels_hold(&term->namespace_labels, &labels);
	cJSON_Delete(labels.labels);
	return match;
}

/* Of keys that the owner has, the other has the same value, or with `differ` another one. */
static bool keys_match(const struct text_list *keys, const struct labelled *owner,
	const struct labelled *other, bool differ)
{
	for (size_t i = 0; i < keys->n; i++) {
		const char *own = run_label(owner, keys->list[i]);

		if (own && streq(own, run_label(other, keys->list[i])) == differ)
			return false;
	}
	return true;
}

/* Whether the term that owner has means other. */
static bool term_means(const struct pod_term *term, const struct placed_run *owner,
	const struct placed_run *other)
{
	struct labelled own, others;
	bool match;

	if (!term->selects || !in_namespaces(term, owner, other))
		return false;
	own = labels_read(owner, owner->labels);
	others = labels_read(other, other->labels);
	match = labels_hold(&term->runs, &others) &&
		keys_match(&term->same_keys, &own, &others, false) &&
		keys_match(&term->other_keys, &own, &others, true);
	cJSON_Delete(own.labels);
	cJSON_Delete(others.labels);
	return match;
}

static const struct placed_run *term_finds(const struct pod_term *term,
	const struct placed_run *owner, const struct placed_run *others, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (term_means(term, owner, &others[i]))
			return &others[i];
	}
	return NULL;
}

/* The first of runs that want each other near would never start: it may, where it means itself. */
static char *affinity_words(const struct placed_run *run, const struct pod_term *term,
	const struct placed_run *others, size_t n, const struct host_place *host)
{
	static const char what[] = "didn't match pod affinity rules";

	if (!host_label(host, term->topology_key))
		return words(what, "host '%s' has no label '%s'", host->name, term->topology_key);
	if (term_finds(term, run, others, n) || term_means(term, run, run))
		return NULL;
	return words(what, "no run that podAffinity names is on host '%s'", host->name);
}

static char *own_terms_words(const struct placed_run *run, const struct placed_run *others,
	size_t n, const struct host_place *host)
{
	for (size_t i = 0; i < run->placement->n_pod_terms; i++) {
		const struct pod_term *term = &run->placement->pod_terms[i];
		const struct placed_run *other;
		char *why;

		if (!term->anti && (why = affinity_words(run, term, others, n, host)))
			return why;
		if (!term->anti || !host_label(host, term->topology_key))
			continue;
		other = term_finds(term, run, others, n);
		if (other)
			return words("didn't match pod anti-affinity rules",
				"'%s/%s' is on host '%s'", other->ns, other->name, host->name);
	}
	return NULL;
}

static bool bears(const struct placed_run *other, const struct placed_run *run,
	const struct host_place *host)
{
	for (size_t i = 0; i < other->placement->n_pod_terms; i++) {
		const struct pod_term *term = &other->placement->pod_terms[i];

		if (term->anti && host_label(host, term->topology_key) &&
			term_means(term, other, run))
			return false;
	}
	return true;
}

char *placement_runs_words(const struct placed_run *run, const struct placed_run *others, size_t n,
	const struct host_place *host)
{
	char *why = own_terms_words(run, others, n, host);

	for (size_t i = 0; !why && i < n; i++) {
		if (!bears(&others[i], run, host))
			why = words("didn't satisfy existing pods anti-affinity rules",
				"'%s/%s' is on host '%s'", others[i].ns, others[i].name,
				host->name);
	}
	return why;
}

bool placement_has_terms(const struct placement *placement)
{
	return placement->n_pod_terms;
}
