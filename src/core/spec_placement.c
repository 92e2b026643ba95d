/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of spec_parse() that is about what a run asks of its host, and which hosts it may be on.
 * It must not judge: which values are possible has been checked.
 */
#include "core/spec_private.h"

#include "core/quantity.h"

#define RESOURCES "domain.resources."

static int parse_cpu_amount(const struct node *spec, const char *path, int64_t *ret,
	struct err *err)
{
	const char *text = node_text(spec, path);

	if (!text || !quantity_parse_milli(text, ret, err))
		return 0;
	return err_wrap(err, "'%s'", path);
}

int spec_parse_demands(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	struct demands *d = &s->demands;

	d->overcommit_overhead = spec_bool(spec, RESOURCES "overcommitGuestOverhead", false);
	if (spec_quantity(spec, RESOURCES "requests.memory", &d->request.memory, err) ||
		spec_quantity(spec, "domain.memory.reservedOverhead.addedOverhead",
			&d->added_overhead, err) ||
		spec_quantity(spec, RESOURCES "limits.memory", &d->limit.memory, err) ||
		parse_cpu_amount(spec, RESOURCES "requests.cpu", &d->request.cpu, err) ||
		parse_cpu_amount(spec, RESOURCES "limits.cpu", &d->limit.cpu, err))
		return -ERR_INVALID;
	return 0;
}

/* ---- placement ------------------------------------------------------------------------------- */

static int parse_texts(const struct node *from, const char *path, struct text_list *ret,
	struct err *err)
{
	const struct node *list;
	size_t n;

	if (spec_list(from, path, &list, &n, err))
		return -ERR_INVALID;
	ret->list = n ? xcalloc(n, sizeof(*ret->list)) : NULL;
	for (size_t i = 0; i < n; i++) {
		const char *text = list->children[i]->text;

		if (!text)
			return err_set(err, ERR_INVALID, "'%s' has an element that is no text",
				path);
		ret->list[ret->n++] = xstrdup(text);
	}
	return 0;
}

static struct requirement *requirement_add(struct requirements *all)
{
	all->list = xrealloc_array(all->list, all->n + 1, sizeof(*all->list));
	all->list[all->n] = (struct requirement){ 0 };
	return &all->list[all->n++];
}

/* Each of the map's keys has that value. */
static int parse_values(const struct node *from, const char *path, struct requirements *ret,
	struct err *err)
{
	const struct node *map = node_at(from, path);

	if (map && map->kind != NODE_MAP)
		return err_set(err, ERR_INVALID, "'%s' is no map", path);
	for (size_t i = 0; map && i < map->n_children; i++) {
		const struct node *entry = map->children[i];
		struct requirement *r = requirement_add(ret);

		r->key = xstrdup(entry->key);
		r->values.list = xcalloc(1, sizeof(*r->values.list));
		r->values.list[r->values.n++] = xstrdup(entry->text ? entry->text : "");
	}
	return 0;
}

static int parse_expressions(const struct node *from, const char *path, struct requirements *ret,
	struct err *err)
{
	const struct node *list;
	size_t n;

	if (spec_list(from, path, &list, &n, err))
		return -ERR_INVALID;
	for (size_t i = 0; i < n; i++) {
		const struct node *one = list->children[i];
		struct requirement *r = requirement_add(ret);

		r->key = spec_copy(one, "key");
		if (!r->key || !label_operator_parse(node_text(one, "operator"), &r->op))
			return err_set(err, ERR_INVALID, "'%s' has no key or no operator", path);
		if (parse_texts(one, "values", &r->values, err))
			return -ERR_INVALID;
	}
	return 0;
}

static int parse_selector(const struct node *selector, struct requirements *ret, struct err *err)
{
	int rc = parse_values(selector, "matchLabels", ret, err);

	return rc ? rc : parse_expressions(selector, "matchExpressions", ret, err);
}

#define REQUIRED_TERMS "requiredDuringSchedulingIgnoredDuringExecution"

static int parse_node_terms(const struct node *spec, struct placement *p, struct err *err)
{
	static const char path[] = "affinity.nodeAffinity." REQUIRED_TERMS ".nodeSelectorTerms";
	const struct node *list;
	size_t n;

	if (spec_list(spec, path, &list, &n, err))
		return -ERR_INVALID;
	p->needs_node_term = list;
	p->node_terms = n ? xcalloc(n, sizeof(*p->node_terms)) : NULL;
	for (size_t i = 0; i < n; i++) {
		struct node_term *term = &p->node_terms[p->n_node_terms++];
		const struct node *from = list->children[i];

		if (parse_expressions(from, "matchExpressions", &term->labels, err) ||
			parse_expressions(from, "matchFields", &term->fields, err))
			return -ERR_INVALID;
	}
	return 0;
}

static int parse_pod_term(const struct node *from, struct pod_term *term, struct err *err)
{
	const struct node *runs = node_get(from, "labelSelector");
	const struct node *namespaces = node_get(from, "namespaceSelector");

	term->selects = runs;
	term->selects_namespaces = namespaces;
	term->topology_key = spec_copy(from, "topologyKey");
	if (!term->topology_key)
		return err_set(err, ERR_INVALID, "an affinity term has no topologyKey");
	if (parse_selector(runs, &term->runs, err) ||
		parse_selector(namespaces, &term->namespace_labels, err) ||
		parse_texts(from, "namespaces", &term->namespaces, err) ||
		parse_texts(from, "matchLabelKeys", &term->same_keys, err) ||
		parse_texts(from, "mismatchLabelKeys", &term->other_keys, err))
		return -ERR_INVALID;
	return 0;
}

static int parse_pod_terms(const struct node *spec, const char *path, struct placement *p,
	struct err *err)
{
	const struct node *list;
	size_t n;

	if (spec_list(spec, path, &list, &n, err))
		return -ERR_INVALID;
	for (size_t i = 0; i < n; i++) {
		struct pod_term *term;

		p->pod_terms =
			xrealloc_array(p->pod_terms, p->n_pod_terms + 1, sizeof(*p->pod_terms));
		term = &p->pod_terms[p->n_pod_terms++];
		*term = (struct pod_term){ .anti = starts_with(path, "affinity.podAnti") };
		if (parse_pod_term(list->children[i], term, err))
			return -ERR_INVALID;
	}
	return 0;
}

static int parse_tolerations(const struct node *spec, struct placement *p, struct err *err)
{
	const struct node *list;
	size_t n;

	if (spec_list(spec, "tolerations", &list, &n, err))
		return -ERR_INVALID;
	p->tolerations = n ? xcalloc(n, sizeof(*p->tolerations)) : NULL;
	for (size_t i = 0; i < n; i++) {
		const struct node *from = list->children[i];

		p->tolerations[p->n_tolerations++] = (struct toleration){
			.key = spec_copy(from, "key"),
			.value = spec_copy(from, "value"),
			.effect = spec_copy(from, "effect"),
			.exists = streq(node_text(from, "operator"), "Exists"),
		};
	}
	return 0;
}

int spec_parse_placement(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	struct placement *p = &s->placement;

	p->priority_class = spec_copy(spec, "priorityClassName");
	if (parse_values(spec, "nodeSelector", &p->node_selector, err) ||
		parse_node_terms(spec, p, err) ||
		parse_pod_terms(spec, "affinity.podAffinity." REQUIRED_TERMS, p, err) ||
		parse_pod_terms(spec, "affinity.podAntiAffinity." REQUIRED_TERMS, p, err) ||
		parse_tolerations(spec, p, err))
		return -ERR_INVALID;
	return 0;
}
