/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From text to an object that may be applied: one validator for files, API and CLI (users.md 47).
 * Findings are collected, all at once, each with line, column and field path. Pure.
 */
#ifndef VMAGENT_CORE_MANIFEST_H
#define VMAGENT_CORE_MANIFEST_H

#include <vmagent/model.h>

#include "core/node.h"

#define FINDINGS_MAX 100

struct finding {
	int line, column; /* 0: no source place */
	char *field;      /* owned; "spec.template.spec.domain.cpu.cores" */
	char *message;    /* owned; what was expected and what to do */
};
struct findings {
	struct finding list[FINDINGS_MAX];
	size_t n;
	bool more; /* some were left off */
};
void findings_add(struct findings *f, const struct node *at, const char *field, const char *fmt,
	...) PRINTF(4, 5);
void findings_done(struct findings *f);
/* "<source>:<line>:<column>: <field>: <message>" a line each; owned by the caller. */
char *findings_text(const struct findings *f, const char *source);
/* The same on one line and without places: "<field>: <message>; …". NULL for NULL or none. */
char *findings_words(const struct findings *f);

struct policy {                             /* what the node allows; borrowed strings */
	const char *const *host_disk_roots; /* NULL-terminated; hostDisk only below these */
	const char *const *image_roots;     /* the same for containerDisk and kernelBoot images;
					     * NULL: anywhere */
	const char *default_namespace;      /* "default" */
};

/* One object of a manifest, checked and defaulted. */
struct manifest {
	enum object_kind kind;     /* of a machine or a record */
	char *ns, *name;           /* owned; ns is "" where the kind lies in none */
	struct node *root;         /* owned; as given */
	struct findings *warnings; /* owned or NULL: what is accepted without effect */
};
void manifest_done(struct manifest *m);

/*
 * Checks one document: kind and apiVersion (kubevirt.io/v1, v1alpha3), metadata, every field
 * against the schema table (fields that this version does not implement are refused by name), the
 * rules of semantics §9 that concern them. Server-set metadata (uid, resourceVersion, generation,
 * creationTimestamp, managedFields, selfLink) and status are accepted and dropped; what has no
 * effect on one host is accepted and named in ret->warnings. Returns 0, or -ERR_INVALID with at
 * least one finding; *ret is filled only on success. Keeps a copy of doc.
 */
int manifest_check(const struct node *doc, const struct policy *policy, struct manifest *ret,
	struct findings *findings);

/*
 * Fills the defaults of semantics §9.5 that are written into the object at creation. VM: machine
 * type unless a preference may have one, and uuid as firmware.uuid and firmware.serial where these
 * are absent. Bare VMI: machine type, firmware.uuid, and all of vmi_spec_default(). root is a whole
 * object (with metadata and spec).
 */
void manifest_default(enum object_kind kind, struct node *root, const char *uuid);

/* The VMI's spec tree, made of a VM's spec tree (spec.template.spec, defaulted further, §9.5 rows
 * for VMI: memory.guest, topology, disks for volumes, disk bus, network and interface …). Owned. */
struct node *vmi_spec_tree(const struct node *vm_spec);

/* The first part of that: what has no name of its own yet gets one, so that a preference can fill
 * it: disks for volumes, the pod network's interface, an input device. */
void vmi_spec_default_lists(struct node *vmi_spec);

/* The same further defaulting for a bare VMI's spec, in place. */
void vmi_spec_default(struct node *vmi_spec);

/* Typed spec of a defaulted, checked VMI spec tree. Errors: ERR_INVALID. */
int spec_parse(const struct node *vmi_spec, struct vmi_spec *ret_spec, struct err *err);

/* Effective strategy of a VM's spec tree; *ret_running: it says `running:`. */
enum run_strategy spec_run_strategy(const struct node *vm_spec, bool *ret_running);

/* Writes a strategy back in the form that the spec uses (running: true/false or runStrategy). */
void spec_set_run_strategy(struct node *vm_spec, enum run_strategy strategy);

/*
 * Three-way merge (design §5): base is the file's content when it was last applied, theirs the
 * file now, ours the stored object. Only what changed from base to theirs is written into a copy
 * of ours; removed fields are removed. Lists whose elements have a `name` merge by it, others
 * are replaced whole. Owned.
 */
struct node *merge_three(const struct node *base, const struct node *theirs,
	const struct node *ours);

#endif
