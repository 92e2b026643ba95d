/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A manifest as a tree that remembers where everything stood. Made from YAML or JSON (JSON is read
 * by the same parser) through libyaml's events; scalars keep their source text, so that a number
 * goes through unharmed. Pure.
 */
#ifndef VMAGENT_CORE_NODE_H
#define VMAGENT_CORE_NODE_H

#include <vmagent/err.h>

#define NODE_DEPTH_MAX     64     /* nesting */
#define NODE_COUNT_MAX     100000 /* nodes of one source, aliases expanded (the alias budget) */
#define NODE_KEYS_MAX      1024   /* entries of one map */
/* Bytes of a key: a label's has up to 317. libyaml gives back no longer ones than 1024 characters,
 * escapes included. */
#define NODE_KEY_MAX       320
#define NODE_TEXT_MAX      (1024 * 1024) /* bytes of a source; scalars with aliases expanded: 4 of it */
#define NODE_DOCUMENTS_MAX 1000          /* documents of one source */
#define NODE_ANCHORS_MAX   1000          /* anchors of one document */

enum node_kind { NODE_NULL, NODE_BOOL, NODE_NUMBER, NODE_STRING, NODE_MAP, NODE_LIST };

struct node {
	enum node_kind kind;
	char *key;    /* owned; name within a map, else NULL */
	int key_line; /* where that name stood; 0 if made by us */
	int key_column;
	/* Owned; BOOL "true"/"false", NUMBER its source text as JSON allows it, STRING. */
	char *text;
	int line;               /* 1-based; 0: not from a source */
	int column;             /* 1-based */
	struct node **children; /* owned; MAP and LIST */
	size_t n_children;
	size_t cap_children;
};

struct place { /* in a source, 1-based; 0: none */
	int line, column;
};

struct documents {
	struct node **roots; /* owned */
	size_t n;
};
void documents_done(struct documents *docs);

/*
 * Every document of a source. Scalars resolve as in the Kubernetes YAML library (YAML 1.1 booleans,
 * octal, null, merge keys, below which explicit keys always win); duplicate keys, unknown tags,
 * control characters in strings, and anything beyond the bounds above are refused. Empty documents
 * are skipped. Errors: ERR_BAD_REQUEST with *ret_place (else, or when there is none, 0:0); the
 * words are without it.
 */
int nodes_parse(const char *text, size_t len, struct documents *ret_docs, struct place *ret_place,
	struct err *err);

void node_free(struct node *node); /* NULL is fine */
struct node *node_copy(const struct node *node);
bool node_equal(const struct node *a, const struct node *b); /* by value; key order is ignored */

struct node *node_new(enum node_kind kind, const char *text);
struct node *node_new_int(int64_t value);

/* A map's child, or NULL; node may be NULL. path is "a.b.c", maps only. */
struct node *node_get(const struct node *node, const char *key);
struct node *node_at(const struct node *node, const char *path);
const char *node_text(const struct node *node, const char *path); /* STRING or NUMBER; else NULL */

/* Sets (replaces) a map's entry and owns value; node_set_path makes the maps between. */
void node_set(struct node *map, const char *key, struct node *value);
void node_set_path(struct node *map, const char *path, struct node *value);
void node_remove(struct node *map, const char *key);
void node_append(struct node *list, struct node *value);
/* Puts value before the list's element i, which is at most n_children; owns it. */
void node_insert(struct node *list, size_t i, struct node *value);
/* Takes the i-th child out; owned by the caller. */
struct node *node_take(struct node *parent, size_t i);
size_t node_index(const struct node *map, const char *key); /* of the entry; n_children: none */
size_t node_count(const struct node *node);                 /* itself and all below */

/* Compact JSON text, owned by the caller; maps keep their order. */
char *node_json(const struct node *node);

#endif
