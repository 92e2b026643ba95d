/* SPDX-License-Identifier: Apache-2.0 */
/* What node_source.c (text, documents) and node_parse.c (values) share. */
#ifndef VMAGENT_CORE_NODE_PARSE_H
#define VMAGENT_CORE_NODE_PARSE_H

#include <yaml.h>

#include "core/node.h"

#define SCALARS_MAX (4 * NODE_TEXT_MAX) /* bytes of all scalars, aliases expanded */

/* A surrogate pair in JSON is 12 characters, libyaml's own escape 10: two of these keep the columns
 * (U+FDD0 is no character; they are taken out again right after the scanner). */
#define FILLER "\xEF\xB7\x90\xEF\xB7\x90"

struct anchor {
	char *name;              /* owned */
	const struct node *node; /* borrowed: in the tree at hand, or in the attic */
};

struct parse {
	yaml_parser_t yaml;
	yaml_event_t event; /* the one at hand */
	const char *text;   /* borrowed source */
	size_t len;
	bool filled;            /* surrogate pairs were rewritten */
	struct anchor *anchors; /* owned; of the document at hand */
	size_t n_anchors;
	struct node *attic; /* owned list: nodes that anchors may name though no tree holds them */
	size_t n_nodes;
	size_t n_bytes;
	struct place place; /* of the error */
	struct err *err;
};

/* Remember where, set the words, and are -ERR_BAD_REQUEST. */
#define fail_at(p, at_line, at_column, ...)                               \
	((p)->place = (struct place){ (int)(at_line), (int)(at_column) }, \
		err_set((p)->err, ERR_BAD_REQUEST, __VA_ARGS__))
#define fail(p, ...) \
	fail_at(p, (p)->event.start_mark.line + 1, (p)->event.start_mark.column + 1, __VA_ARGS__)

/* Puts the next event at hand. */
int parse_next(struct parse *p);

/* The value that begins with the event at hand; afterwards its last event is at hand. *ret is owned
 * by the caller. */
int parse_value(struct parse *p, int depth, struct node **ret);

/* Forgets the anchors, between documents and at the end. */
void parse_forget(struct parse *p);

#endif
