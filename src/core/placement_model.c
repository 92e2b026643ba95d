/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of what says where a run may be, and of what a host says of itself.
 * Nothing here decides anything.
 */
#include <vmagent/placement.h>

static void text_list_done(struct text_list *texts)
{
	for (size_t i = 0; i < texts->n; i++)
		free(texts->list[i]);
	free(texts->list);
}

static void requirements_done(struct requirements *all)
{
	for (size_t i = 0; i < all->n; i++) {
		free(all->list[i].key);
		text_list_done(&all->list[i].values);
	}
	free(all->list);
}

static void pod_term_done(struct pod_term *term)
{
	requirements_done(&term->runs);
	requirements_done(&term->namespace_labels);
	text_list_done(&term->namespaces);
	text_list_done(&term->same_keys);
	text_list_done(&term->other_keys);
	free(term->topology_key);
}

void placement_done(struct placement *p)
{
	free(p->priority_class);
	requirements_done(&p->node_selector);
	for (size_t i = 0; i < p->n_node_terms; i++) {
		requirements_done(&p->node_terms[i].labels);
		requirements_done(&p->node_terms[i].fields);
	}
	free(p->node_terms);
	for (size_t i = 0; i < p->n_pod_terms; i++)
		pod_term_done(&p->pod_terms[i]);
	free(p->pod_terms);
	for (size_t i = 0; i < p->n_tolerations; i++) {
		free(p->tolerations[i].key);
		free(p->tolerations[i].value);
		free(p->tolerations[i].effect);
	}
	free(p->tolerations);
	*p = (struct placement){ 0 };
}

bool host_place_label(struct host_place *host, const char *key, const char *value)
{
	for (size_t i = 0; i < host->n_labels; i++) {
		if (streq(host->labels[i].key, key)) {
			replace_str(&host->labels[i].value, value);
			return true;
		}
	}
	if (host->n_labels == HOST_LABELS_MAX)
		return false;
	host->labels[host->n_labels++] = (struct host_label){ xstrdup(key), xstrdup(value) };
	return true;
}

void host_place_done(struct host_place *host)
{
	for (size_t i = 0; i < host->n_labels; i++) {
		free(host->labels[i].key);
		free(host->labels[i].value);
	}
	for (size_t i = 0; i < host->n_taints; i++) {
		free(host->taints[i].key);
		free(host->taints[i].value);
		free(host->taints[i].effect);
	}
	*host = (struct host_place){ 0 };
}
