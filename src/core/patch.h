/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes to an object as kubectl sends them: a JSON merge patch (RFC 7386), a JSON patch (RFC
 * 6902), or, of Kubernetes' own kinds, a strategic merge patch. That one is a merge patch
 * here: of the kinds that are kept no list is merged by a key. Its directives ("$patch" and
 * the like) are refused. Pure.
 */
#ifndef VMAGENT_CORE_PATCH_H
#define VMAGENT_CORE_PATCH_H

#include "core/node.h"

#define PATCH_OPERATIONS_MAX 10000 /* of a JSON patch; Kubernetes' own bound */
#define PATCH_POINTER_MAX    4096  /* bytes of a JSON pointer */

/* X(constant, media type) */
#define PATCHES(X)                               \
	X(MERGE, "application/merge-patch+json") \
	X(JSON, "application/json-patch+json")   \
	X(STRATEGIC, "application/strategic-merge-patch+json")

enum patch_kind {
#define X(c, type) PATCH_##c,
	PATCHES(X)
#undef X
		PATCH_KIND_MAX
};

/*
 * Applies patch to *target, which may become another node; on failure *target is unharmed. Errors:
 * ERR_BAD_REQUEST when patch is none of that kind; ERR_INVALID when it does not fit the object (a
 * path that is not there, a test that fails, an object that would grow beyond NODE_COUNT_MAX).
 */
int patch_apply(enum patch_kind kind, const struct node *patch, struct node **target,
	struct err *err);

#endif
