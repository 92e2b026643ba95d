/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label and field selectors: which objects a list or a watch means. Pure.
 */
#ifndef VMAGENT_DAEMON_API_SELECTOR_H
#define VMAGENT_DAEMON_API_SELECTOR_H

#include <vmagent/err.h>
#include <vmagent/model.h>

#define SELECTOR_TERMS_MAX  32
#define SELECTOR_VALUES_MAX 64 /* of one term */

enum selector_op { SELECTOR_IN, SELECTOR_NOT_IN, SELECTOR_EXISTS, SELECTOR_NOT_EXISTS };

struct selector_term {
	char *key;     /* owned */
	char **values; /* owned, as each of them; of IN and NOT_IN: at least one */
	size_t n_values;
	enum selector_op op;
};

struct selector { /* all terms must hold; none: everything matches */
	struct selector_term terms[SELECTOR_TERMS_MAX];
	size_t n;
};
void selector_done(struct selector *s);

/* "a=b,c==d,e!=f,g,!h,i in (j,k),l notin (m)". Errors: ERR_BAD_REQUEST. text may be NULL. */
int selector_parse_labels(const char *text, struct selector *ret, struct err *err);

/* "metadata.name=a,metadata.namespace!=b"; of Events also involvedObject.* (of events.k8s.io:
 * regarding.*), type and reason, of Pods spec.nodeName and status.phase. */
int selector_parse_fields(const char *text, enum object_kind kind, struct selector *ret,
	struct err *err);

/* labels: a JSON object's text, or NULL. */
bool selector_matches_labels(const struct selector *s, const char *labels);
bool selector_matches_object_labels(const struct selector *s, const char *object);

/* Whether it names a field of an object that may change in its life. */
bool selector_fields_change(const struct selector *s);

/* object: the whole object's JSON. */
bool selector_matches_fields(const struct selector *s, const char *object);

#endif
