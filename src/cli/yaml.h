/* SPDX-License-Identifier: Apache-2.0 */
/* A tree as YAML, in the form that kubectl prints: block style, lists not indented. Pure. */
#ifndef VMAGENT_CLI_YAML_H
#define VMAGENT_CLI_YAML_H

#include "core/node.h"

void yaml_print(const struct node *node, struct buf *out);

#endif
