/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects in Kubernetes' protobuf encoding, which newer kubectls send of the kinds that they know
 * themselves: "k8s", NUL, and a runtime.Unknown around the object. The kinds are those that kubectl
 * creates without a file. Pure.
 */
#ifndef VMAGENT_CORE_PROTOBUF_H
#define VMAGENT_CORE_PROTOBUF_H

#include "core/node.h"

#define PROTOBUF_TYPE "application/vnd.kubernetes.protobuf"

/* The tree that the object's JSON would have, owned by the caller; what only the server sets is
 * left out. Errors: ERR_MEDIA_TYPE for a kind or a field that is not known here, ERR_BAD_REQUEST
 * for bytes that are none. */
int protobuf_parse(const void *data, size_t len, struct node **ret, struct err *err);

#endif
