/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request bodies: one YAML or JSON document, and what options objects in them say.
 */
#ifndef VMAGENT_DAEMON_API_BODY_H
#define VMAGENT_DAEMON_API_BODY_H

#include "core/node.h"
#include "daemon/api/api_private.h"

/* The body's one document; *ret is NULL when the body is empty. Owned by the caller. Errors:
 * ERR_MEDIA_TYPE, ERR_BAD_REQUEST with the place in the text. */
int body_parse(const struct call *call, struct node **ret, struct err *err);

/* The same of a patch, whose media type says its kind. ERR_MEDIA_TYPE names those that are
 * served. */
int body_parse_patch(const struct call *call, enum patch_kind *ret_kind, struct node **ret,
	struct err *err);

/* Members of an options object; *ret stays when absent. options may be NULL. ERR_BAD_REQUEST if of
 * another type. */
int option_bool(const struct node *options, const char *key, bool *ret, struct err *err);
int option_int(const struct node *options, const char *key, bool *ret_has, int64_t *ret,
	struct err *err);
int option_dry_run(const struct node *options, bool *ret, struct err *err); /* dryRun: [All] */

/* DeleteOptions stand in the body or, some of them, in the query; *request borrows from options,
 * which may be NULL. ERR_BAD_REQUEST. */
int delete_options_read(const struct call *call, const struct node *options,
	struct request *request, struct err *err);

#endif
