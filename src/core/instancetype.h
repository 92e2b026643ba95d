/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instancetypes and preferences (semantics §10.4): which a VM names, what is pinned of them, and
 * what its template is with them worked in. A VM's own spec is never changed by that. Pure.
 */
#ifndef VMAGENT_CORE_INSTANCETYPE_H
#define VMAGENT_CORE_INSTANCETYPE_H

#include "core/machine.h"
#include "core/manifest.h"

#define INSTANCETYPE_GROUP "instancetype.kubevirt.io"

/* What a VM's spec says under instancetype or preference; borrowed of the spec. */
struct type_ref {
	enum object_kind kind; /* KIND_MAX: of a kind that there is not */
	const char *kind_text; /* as it stands there, or the default */
	const char *name;      /* or NULL */
	const char *revision;  /* or NULL: whatever is current when it is first looked at */
	/* Or NULL: it is named by a label of what that volume is made of. */
	const char *from_volume;
	bool optional; /* … and if there is no such label, nothing is named */
};

const char *type_field(enum vm_type which); /* "instancetype", "preference" */
/* False: the spec names none. */
bool type_ref_read(const struct node *vm_spec, enum vm_type which, struct type_ref *ret);
/* Whether any is named. */
bool types_are_named(const struct node *vm_spec);
/* A kind as KubeVirt takes it: in any case, singular or plural, "" the one of the whole
 * host; KIND_MAX if none. */
enum object_kind type_kind_parse(const char *text, enum vm_type which);

/* Whether what is pinned is what the spec names. */
bool pin_holds(const struct pin *pin, const struct type_ref *ref);
void pin_done(struct pin *pin);
void pin_copy(struct pin *ret, const struct pin *pin);
/* Pins the object, a document of the API, to the VM: the revision's name and its content are
 * KubeVirt's. */
void pin_take(struct pin *ret, const struct type_ref *ref, const char *vm,
	const struct node *object);

/* An empty revisionName is an order, not a wish that lasts: the pin is to be taken anew. It is
 * removed from the spec; true if there was one. */
bool type_take_order(struct node *vm_spec, enum vm_type which);

/* KubeVirt's rule: a revision that is named does not stay with another name. ERR_INVALID. */
int types_check_change(const struct node *old_spec, const struct node *new_spec, struct err *err);

/* Takes over from a VM's spec whether all that it names is pinned; what it does not
 * name is let go. */
void vm_take_types(struct vm *vm, const struct node *vm_spec);

/* The VM's spec with what is pinned worked into its template, and noted in the
 * template's annotations; the two fields themselves stay. Owned by the caller; NULL if
 * the spec cannot be read. */
struct node *vm_spec_expanded(const struct vm *vm);

/*
 * The same for a spec that is to be judged: in place, and without the notes. Adds to f each field
 * of the template that the instancetype gives as well, else what the preference requires and the
 * machine has not; then the template is as it was in part.
 */
void types_apply(const struct pin pins[VM_TYPES], struct node *vm_spec, struct findings *f);

/* ---- parts of types_apply() ------------------------------------------------------------------ */

/* A template, and where it stands. Types are their objects' specs, or NULL. */
struct expansion {
	struct node *vm_spec;                         /* borrowed, changed */
	struct node *spec;                            /* … its template.spec */
	const struct node *instancetype, *preference; /* borrowed */
	bool optional_memory;                         /* the template's memory gives way */
	struct findings *findings;                    /* borrowed */
};

/* Whether the node is there and says something: an empty text, a zero and false are
 * as if left away. */
bool is_said(const struct node *node);
/* Writes a copy to path, below map, unless something is there; without a value an empty map. */
void fill_from(struct node *map, const char *path, const struct node *value);
/* The map at path, or NULL. */
const struct node *map_at(const struct node *root, const char *path);
/* The template's annotations, which are made if they are not there. */
struct node *template_annotations(struct node *vm_spec);

bool instancetype_apply(struct expansion *e); /* false: there were findings */
void preference_attach(struct expansion *e);  /* autoattach…, before lists are filled */
void preference_apply(struct expansion *e);
void preference_require(struct expansion *e);

enum topology_kind {
	TOPOLOGY_SOCKETS,
	TOPOLOGY_CORES,
	TOPOLOGY_THREADS,
	TOPOLOGY_SPREAD,
	TOPOLOGY_ANY
};
enum across { ACROSS_SOCKETS_CORES, ACROSS_CORES_THREADS, ACROSS_SOCKETS_CORES_THREADS };

#define THREADS_PER_CORE 2 /* when vCPUs are spread over all three */

struct preferred_topology {
	enum topology_kind kind;
	enum across across;
	int64_t ratio; /* at least 1 */
};
struct preferred_topology preferred_topology_of(const struct node *preference); /* or NULL */

#endif
