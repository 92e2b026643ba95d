/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order to move a guest, as a VirtualMachineInstanceMigration gives it: what may stand in one
 * beyond the types of its fields, and where it says the guest is to go. Pure.
 */
#ifndef VMAGENT_CORE_MIGRATION_ORDER_H
#define VMAGENT_CORE_MIGRATION_ORDER_H

#include "core/check.h"

#define HOSTNAME_LABEL      "kubernetes.io/hostname"
#define PEER_ANNOTATION     "vmagent.io/peer"
#define MIGRATION_VMI_LABEL "kubevirt.io/vmi-name"             /* set by the agent, as upstream */
#define MIGRATION_FINALIZER "kubevirt.io/migrationJobFinalize" /* until it has ended */

/* The path at hand is the object's. */
void migration_order_rules(struct check *c, const struct node *root);
/* Fills in what the server sets, of an order without findings. */
void migration_order_fill(struct node *root);

/* The peer that is named, or NULL: the best of them. Borrowed from root. */
const char *migration_order_peer(const struct node *root);

/* The same of KubeVirt's MigrateOptions, which may be NULL: their selector is held to the same
 * rules, else ERR_BAD_REQUEST. *ret_peer is borrowed from options. */
int migration_order_of_options(const struct node *options, const char **ret_peer, struct err *err);

/* How urgent its priority is; more is sooner. */
int migration_order_urgency(const struct node *root);

#endif
