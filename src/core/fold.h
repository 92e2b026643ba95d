/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding: an edge becomes a fact on the machine it concerns (design §2, §4). Of events only what
 * libvirt cannot tell again later is kept; for everything else they mean "look again". Pure.
 */
#ifndef VMAGENT_CORE_FOLD_H
#define VMAGENT_CORE_FOLD_H

#include "core/machine.h"

/* A domain event of this machine's domain. */
void fold_event(struct machine *m, const struct domain_event *event);

/* What one read saw; info NULL: no such domain. `fresh` is whether the connection has settled, so
 * that one read is enough; a list soon after a connect is counted until READS_TO_AGREE agree. */
void fold_seen(struct machine *m, const struct domain_info *info, bool fresh);

/* What is known of the domain may be older than what was just learnt elsewhere: only a read
 * that leaves from now on is believed. */
void fold_look_again(struct machine *m);

/* The connection is lost: facts become unknown, and nothing is decided from them. */
void fold_disconnected(struct machine *m);

/* A result of the op in `lane` came; frees the lane and dates all reads that left before. */
#define PURGE_TRIES_MAX 4 /* to remove what a VM kept, before it goes without */

void fold_result(struct machine *m, const struct op_result *result, enum op_lane lane,
	struct now now);

#endif
