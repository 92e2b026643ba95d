/* SPDX-License-Identifier: Apache-2.0 */
/* A parsed template: made by jsonpath_parse.c, walked by jsonpath.c, known to nobody else. */
#ifndef VMAGENT_CLI_JSONPATH_TREE_H
#define VMAGENT_CLI_JSONPATH_TREE_H

#include "cli/jsonpath.h"

#define JSONPATH_NESTING_MAX 16 /* range in range, filter in filter */

enum step_kind {
	STEP_FIELD,   /* .name */
	STEP_RECURSE, /* ..name; name NULL: everything below */
	STEP_ALL,     /* [*] .* */
	STEP_SLICE,   /* [from:to:by]; [i] is i:i+1 */
	STEP_UNION,   /* [0,2] ['a','b'] */
	STEP_FILTER   /* [?(…)] */
};

enum compare {
	COMPARE_EXISTS,
	COMPARE_EQ,
	COMPARE_NE,
	COMPARE_LE,
	COMPARE_LT,
	COMPARE_GE,
	COMPARE_GT
};

struct expr {               /* a path, or a constant */
	bool from_root;     /* $ */
	struct step *steps; /* owned */
	size_t n;
	struct node *constant; /* owned; NULL: a path */
};

struct step {
	enum step_kind kind;
	char *name; /* owned */
	int64_t from, to, by;
	bool has_from, has_to, single;
	struct step *either; /* owned; UNION */
	size_t n_either;
	enum compare compare; /* FILTER */
	struct expr left, right;
};

enum part_kind { PART_TEXT, PART_PATH, PART_RANGE, PART_END };

struct part {
	enum part_kind kind;
	char *text;       /* owned; TEXT */
	struct expr expr; /* PATH, RANGE */
};

struct jsonpath {
	struct part *parts; /* owned */
	size_t n;
};

#endif
