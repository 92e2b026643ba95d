/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a PersistentVolumeClaim is on one host: a raw file in a folder of its own, below the storage
 * folder or that of its class. Pure.
 */
#ifndef VMAGENT_CORE_CLAIM_H
#define VMAGENT_CORE_CLAIM_H

#include "core/check.h"

#define CLAIM_FILE          "disk.img" /* in the claim's folder; KubeVirt's name */
#define CLAIM_FOLDER        "files"    /* … or the folder that guests share; both may be there */
#define CLAIM_SIZE_MIN      1048576    /* bytes */
#define CLAIM_RESERVE       131072     /* bytes that a file system keeps; KubeVirt's least */
#define CLAIM_PROTECTION    "kubernetes.io/pvc-protection" /* finalizer: no run uses it */
#define CLAIM_DATA          "vmagent.io/claim-data" /* finalizer: its file is to go before it does */
#define STORAGE_CLASSES_MAX 64

struct storage_class {
	char *name, *directory; /* owned */
};

struct storage {
	char *directory; /* owned; of claims whose class has none of its own */
	struct storage_class classes[STORAGE_CLASSES_MAX];
	size_t n_classes;
};
void storage_done(struct storage *storage);
/* Whether there is such a class: NULL, "" and what the configuration names; storage may be NULL. */
bool storage_has_class(const struct storage *storage, const char *class_name);
/* Where claims of that class lie; class_name may be NULL. */
const char *storage_directory(const struct storage *storage, const char *class_name);

struct claim {
	int64_t size;     /* bytes that its file is to have */
	bool shared;      /* several hosts may write to it */
	char *class_name; /* owned or NULL */
};

/* Of a claim's content, as JSON; to be released with claim_done(). */
void claim_read(const char *content, struct claim *ret);
void claim_done(struct claim *claim);

/* What Kubernetes checks of a claim beyond its fields. The path at hand is the object's. */
void claim_rules(struct check *c, const struct node *root);
/* … of what it asks for: spec is a claim's, or that of a DataVolume's storage, in the
 * field of that name. */
void claim_limit_rules(struct check *c, const struct node *spec, const char *name);

/* Whether it may be changed like this: its size can grow. ERR_INVALID. */
int claim_check_change(const struct node *before, const struct node *after, struct err *err);

/* The size that it asks for, as it is written; NULL: none. */
const char *claim_request(const struct node *content);

/* Its status: bound from when its file was made, of that capacity; NULL: not yet. Owned. */
struct node *claim_status(const struct node *content, const char *capacity);

/* accessModes as Kubernetes lists them: "RWO,RWX"; NULL: there are none. Owned. */
char *claim_modes_text(const struct node *modes);

#endif
