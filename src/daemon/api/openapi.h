/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAPI: how clients learn of schemas (kubectl explain) and of what a request may say
 * (kubectl asks whether PATCH takes dryRun and fieldValidation before it applies anything).
 * Version 3 is JSON, version 2 is the protobuf that older clients insist on; both are made
 * of one description. Pure.
 */
#ifndef VMAGENT_DAEMON_API_OPENAPI_H
#define VMAGENT_DAEMON_API_OPENAPI_H

#include "core/node.h"
#include "daemon/api/resources.h"

#define OPENAPI_V2_TYPE "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

/* The document of a group in one of its versions, as JSON; owned by the caller. */
char *openapi_v3(const struct api_group *group, const char *version);

/* Which documents there are, as JSON; owned by the caller. */
char *openapi_v3_index(void);

/* The document of everything, as a protobuf of gnostic's openapi.v2.Document; out
 * is empty at first. */
void openapi_v2(struct buf *out);

#endif
