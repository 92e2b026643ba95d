/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which objects a list or a watch is about: kind, namespace, selectors, and in which version of the
 * group they are wanted.
 */
#ifndef VMAGENT_DAEMON_API_SELECTION_H
#define VMAGENT_DAEMON_API_SELECTION_H

#include "daemon/api/api_private.h"
#include "daemon/api/selector.h"

struct selection {
	struct route_path path;
	struct selector fields, labels; /* owned */
};

/* From path and query of a request. Errors: ERR_BAD_REQUEST. */
int selection_of(const struct call *call, struct selection *ret, struct err *err);
void selection_done(struct selection *s);

const char *selection_ns(const struct selection *s); /* NULL: all */
/* NULL: all; narrows, beside the selectors. */
const char *selection_name(const struct selection *s);

bool selection_has(const struct selection *s, const struct object_row *row);

/* What a stored object of the selection's source is in it: object itself, or a text made of it,
 * which *ret_owned keeps for the caller to free. */
const char *selection_view(const struct selection *s, const char *object, char **ret_owned);

/* Calls back for each selected object. Errors: the store's, or what cb returned. */
int selection_each(struct api *api, const struct selection *s, object_cb *cb, void *ctx,
	struct err *err);

/* A query parameter as Kubernetes reads booleans: present and neither "false" nor "0". */
bool query_bool(const struct call *call, const char *name);

/* A decimal parameter; *ret stays when it is absent. Errors: ERR_BAD_REQUEST. */
int query_int(const struct call *call, const char *name, int64_t *ret, struct err *err);

/* dryRun=All, the only value that there is. Errors: ERR_BAD_REQUEST. */
int query_dry_run(const struct call *call, bool *ret, struct err *err);

#endif
