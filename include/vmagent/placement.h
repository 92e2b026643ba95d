/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run asks of its host, and which hosts it may be on: the part of a VMI's spec that a
 * scheduler reads in a cluster. Names are Kubernetes'.
 */
#ifndef VMAGENT_PLACEMENT_H
#define VMAGENT_PLACEMENT_H

#include <vmagent/base.h>

struct resources {
	int64_t memory; /* bytes */
	int64_t cpu;    /* thousandths of a CPU */
};

struct demands {                  /* domain.resources; 0: not given */
	struct resources request; /* what must be free, without the overhead of QEMU itself */
	struct resources limit;
	int64_t added_overhead;   /* bytes: memory.reservedOverhead.addedOverhead */
	bool overcommit_overhead; /* that overhead is not asked for */
};

/* X(constant, text in manifests) */
#define LABEL_OPERATORS(X) \
	X(IN, "In")        \
	X(NOT_IN, "NotIn") \
	X(EXISTS, "Exists") X(NOT_EXISTS, "DoesNotExist") X(GREATER, "Gt") X(LESS, "Lt")

enum label_operator {
#define X(c, t) LABEL_##c,
	LABEL_OPERATORS(X)
#undef X
		LABEL_OPERATOR_MAX
};
const char *label_operator_name(enum label_operator value);
bool label_operator_parse(const char *text, enum label_operator *ret_value);

struct text_list {
	char **list; /* owned, as each of them */
	size_t n;
};

struct requirement { /* of a label's value */
	char *key;   /* owned */
	enum label_operator op;
	struct text_list values;
};

struct requirements {             /* all must hold; none: everything matches */
	struct requirement *list; /* owned */
	size_t n;
};

struct node_term { /* of nodeAffinity; both must hold, and a term without any matches no host */
	struct requirements labels, fields;
};

struct pod_term { /* of podAffinity or, with anti, podAntiAffinity */
	bool anti;
	bool selects; /* there is a labelSelector: without one no run matches */
	struct requirements runs;
	struct text_list same_keys, other_keys; /* matchLabelKeys, mismatchLabelKeys */
	bool selects_namespaces;                /* there is a namespaceSelector */
	struct requirements namespace_labels;
	struct text_list namespaces; /* with neither of the two: the run's own */
	char *topology_key;          /* owned */
};

struct toleration {
	char *key, *value, *effect; /* owned or NULL: any */
	bool exists;                /* whatever the taint's value is */
};

struct placement {
	char *priority_class; /* owned or NULL */
	struct requirements node_selector;
	bool needs_node_term;         /* one of the terms must match */
	struct node_term *node_terms; /* owned */
	size_t n_node_terms;
	struct pod_term *pod_terms; /* owned; all must hold */
	size_t n_pod_terms;
	struct toleration *tolerations; /* owned */
	size_t n_tolerations;
};

void placement_done(struct placement *placement);

struct host_label {
	char *key, *value; /* owned */
};
struct host_taint {
	char *key, *value, *effect; /* owned; value "": none */
};

#define HOST_LABELS_MAX 64
#define HOST_TAINTS_MAX 32

struct host_place {       /* what placements are held against */
	const char *name; /* borrowed: of the node */
	struct host_label labels[HOST_LABELS_MAX];
	size_t n_labels;
	struct host_taint taints[HOST_TAINTS_MAX];
	size_t n_taints;
};
/* Sets a label, in place of one of that key; false if there is no room for it. */
bool host_place_label(struct host_place *host, const char *key, const char *value);
void host_place_done(struct host_place *host);

#endif
