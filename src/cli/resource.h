/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of object that vmactl knows: their names and aliases, where the API has them, and the
 * columns in which they are listed. Pure.
 */
#ifndef VMAGENT_CLI_RESOURCE_H
#define VMAGENT_CLI_RESOURCE_H

#include "cli/cli.h"

enum cell {
	CELL_TEXT,
	CELL_AGE,
	CELL_OBJECT,   /* "virtualmachine/web" of a reference */
	CELL_READY,    /* "1/1" of containers */
	CELL_COUNT,    /* how many members a map has */
	CELL_PROGRESS, /* "45%" of what a migration copies */
	CELL_WELL,     /* Ready or NotReady of a condition's status */
	CELL_PHASE,    /* … or Terminating, while it is being deleted */
	CELL_MODES,    /* "RWO,RWX" of a claim */
	CELL_LABELS,   /* "a=b,c=d" */
	CELL_WHY,      /* of a migration's status: why it failed, or what it waits for */
};

struct column {
	const char *title;
	const char *path; /* jsonpath, without its braces */
	enum cell cell;
	bool wide; /* only with -o wide */
};

struct resource {
	const char *kind;    /* "VirtualMachine" */
	const char *plural;  /* "virtualmachines" */
	const char *full;    /* as kubectl names it in messages: "virtualmachine.kubevirt.io" */
	const char *api;     /* "/apis/kubevirt.io/v1" */
	const char *version; /* "kubevirt.io/v1" */
	const char *names;   /* what a user may call it, separated by spaces */
	const struct column *columns; /* the first is NAME of nothing; ends without a title */
	bool of_the_host;             /* its objects lie in no namespace */
};

const struct resource *resource_find(const char *name); /* NULL: no such type */
const struct resource *resource_of_kind(const char *kind);

/* What a command is about: objects by name, or all of a type. */
struct target {
	const struct resource *resource;
	char *name; /* owned; NULL: all */
};
struct targets {
	struct target *list; /* owned */
	size_t n;
};
void targets_done(struct targets *targets);

/* "vm", "vm web db", "vm,vmi", "all", "vm/web vmi/web"; files give none. Returns 0 or -1. */
int targets_parse(const struct cli *cli, struct targets *ret, struct fault *fault);

/* For commands that know their type: "web db", "vm/web". At least one; owned by the caller. */
int targets_of(const struct cli *cli, const struct resource *resource, struct targets *ret,
	struct fault *fault);

/* The path of a collection (name NULL) or an object; ns NULL: of all namespaces. Owned. */
char *resource_path(const struct resource *resource, const char *ns, const char *name);

struct narrowing { /* borrowed; each NULL: no such bound */
	const char *name;
	const char *labels; /* a selector */
	const char *watch;  /* the resourceVersion to watch from */
};

/* A collection's path with the query that says so. Owned. */
char *resource_query(const struct resource *resource, const char *ns,
	const struct narrowing *narrowing);

extern const struct resource *const resource_vm,
	*const resource_vmi, *const resource_event, *const resource_domain,
							    *const resource_namespace;

#endif
