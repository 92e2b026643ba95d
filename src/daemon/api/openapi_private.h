/* SPDX-License-Identifier: Apache-2.0 */
/* What both versions of the OpenAPI document are made of. */
#ifndef VMAGENT_DAEMON_API_OPENAPI_PRIVATE_H
#define VMAGENT_DAEMON_API_OPENAPI_PRIVATE_H

#include <vmagent/model.h>

#include "daemon/api/openapi.h"
#include "daemon/api/resources.h"

struct openapi_verb {
	const char *name;              /* of the HTTP method, in lower case */
	const char *action;            /* x-kubernetes-action */
	const char *const *parameters; /* of the query, NULL-terminated */
	unsigned v2;                   /* the field's number in a version 2 PathItem */
	enum resource_verb verb;       /* that the resource must allow */
};
extern const struct openapi_verb openapi_verbs[]; /* ends without a name */

/* The resources of the group, one after the other; NULL before the first and after the last. */
const struct resource *openapi_next(const struct api_group *group, const struct resource *r);

/* "/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}"; owned by the caller. */
char *openapi_path(const struct resource *r, const char *version);
/* "io.kubevirt.v1.VirtualMachine"; owned by the caller. */
char *openapi_schema_name(const struct resource *r, const char *version);

#endif
