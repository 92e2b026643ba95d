/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a migration's target tells its source with PREPARED, as JSON: how its relay is reached, and
 * the domain as it is to be there. Pure.
 */
#ifndef VMAGENT_CORE_MIGRATION_OFFER_H
#define VMAGENT_CORE_MIGRATION_OFFER_H

#include <vmagent/model.h>

#include "core/relay_config.h"

struct migration_offer {
	uint8_t token[RELAY_TOKEN_SIZE]; /* that its relay wants to hear */
	char *folder;                    /* owned; of its relay: it must be the source's, too */
	bool post_copy;                  /* of the second attempt */
	unsigned recovery;               /* which attempt to mend it; 0: none */
	bool plain;                      /* its streams are not encrypted */
	char *xml;                       /* owned; the domain, as libvirt has it there */
};

/* ERR_BAD_REQUEST names the field. HANDOVER_OFFER_MAX bytes at most. */
int migration_offer_read(const char *json, struct migration_offer *ret, struct err *err);
char *migration_offer_write(const struct migration_offer *offer); /* owned by the caller */
void migration_offer_done(struct migration_offer *offer);

/* The disks whose content has to go along, as the guest counts them ("vda,vdb"); owned by
 * the caller, NULL: none. What both hosts reach stays where it is, and what nobody writes
 * to is made anew. */
char *migration_copies(const struct vmi_spec *spec);
/* The most that those copies come to in bytes, as far as the spec tells. */
int64_t migration_copies_size(const struct vmi_spec *spec);
/* Whether that is all that it writes to: then image and disks at the target are of one instant. */
bool migration_copies_all(const struct vmi_spec *spec);

#endif
