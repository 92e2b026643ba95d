/* SPDX-License-Identifier: Apache-2.0 */
/* What both versions of the OpenAPI document are made of. */
#ifndef VMAGENT_DAEMON_API_OPENAPI_PRIVATE_H
#define VMAGENT_DAEMON_API_OPENAPI_PRIVATE_H

#include <vmagent/model.h>

#include "daemon/api/openapi.h"

/* The versions of kubevirt.io that are served, and the kinds in it; NULL- and KIND_MAX-terminated. */
extern const char *const openapi_versions[];
extern const enum object_kind openapi_kinds[];

struct openapi_verb {
	const char *name;              /* of the HTTP method, in lower case */
	const char *action;            /* x-kubernetes-action */
	const char *const *parameters; /* of the query, NULL-terminated */
	unsigned v2;                   /* the field's number in a version 2 PathItem */
};
extern const struct openapi_verb openapi_verbs[]; /* ends without a name */

/* "/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}"; owned by the caller. */
char *openapi_path(enum object_kind kind, const char *version);
/* "io.kubevirt.v1.VirtualMachine"; owned by the caller. */
char *openapi_schema_name(enum object_kind kind, const char *version);

#endif
