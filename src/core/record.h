/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record: an object that a user gave and that is kept as given, because others name it: a Secret,
 * a ConfigMap, an instancetype, a namespace. Nothing is done about it but what stands here. Pure.
 */
#ifndef VMAGENT_CORE_RECORD_H
#define VMAGENT_CORE_RECORD_H

#include "core/data_volume.h"

#define NAMESPACE_DEFAULT "default" /* there is always one of that name */

/* What each namespace has, as in Kubernetes. */
#define NAMESPACE_LABEL "kubernetes.io/metadata.name"
#define NAMESPACE_SPEC  "{\"finalizers\":[\"kubernetes\"]}"

struct record {
	enum object_kind kind;
	struct object_meta meta; /* ns is "" where the kind lies in no namespace */
	char *content; /* owned: JSON object of all but apiVersion, kind, metadata and status */
	char *owners;  /* owned or NULL: JSON list of the owners that its user gave */
	size_t size;   /* bytes of content, owners, labels and annotations */
	bool changed;  /* to be saved by this turn's commit */
	/* Of what another object made, and takes along when it is deleted: */
	enum object_kind owner_kind;
	char *owner_name;      /* owned or NULL: there is none */
	char owner[UID_SIZE];  /* its UID */
	struct data_volume dv; /* of a DataVolume */
	/* Of a PersistentVolumeClaim: */
	char *capacity;  /* owned or NULL: the quantity that its file has, once it was made */
	bool drops_data; /* its file goes with it */
	uint64_t drop;   /* the op that removes it; 0: none under way */
	/* Boot time before which that is not tried again, or its DataVolume filled. */
	msec retry_at;
	uint64_t fill;   /* the op that fills it; 0: none under way */
	char *fill_from; /* owned or NULL: … by copying that file of another claim */
};

/* Of a checked manifest; uid, created and rv are the caller's to set. */
struct record *record_new(const struct manifest *manifest);
/* The size that a record of such an object has. */
size_t record_size_of(const struct node *root);
struct record *record_copy(const struct record *r);
void record_free(struct record *r); /* NULL is fine */

void record_set_owner(struct record *r, enum object_kind kind, const struct object_meta *owner);
bool record_is_of(const struct record *r, enum object_kind kind, const struct object_meta *owner);

/*
 * Takes labels, annotations and content of a checked object; generation rises with its spec. What
 * Kubernetes calls immutable stays so: ERR_INVALID.
 */
int record_replace(struct record *r, const struct node *root, struct err *err);

/* The object as a tree: without status and what the server sets, for merging; or
 * all of it. Owned. */
struct node *record_tree(const struct record *r);
char *record_document(const struct record *r);

/* From a stored document. Errors: ERR_INTERNAL. */
int record_load(enum object_kind kind, const char *document, struct record **ret, struct err *err);

/* Whose a new record is and its status, from a document. */
void record_load_state(struct record *r, const struct node *root);

/* What manifest_check() does for these kinds, after metadata: which members there may be,
 * and what Kubernetes itself checks of them. A Secret's stringData becomes data, as the
 * API server does it. */
void record_check(struct check *c, struct node *root, enum object_kind kind);

#endif
