/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of libvirt's RPC a relay lets through. A peer's libvirtd is root's on its own host; on ours
 * it may prepare and finish the one migration that was agreed upon, and ask what it must know for
 * that: the table in relay_rules.c. Pure.
 */
#ifndef VMAGENT_CORE_RELAY_RULES_H
#define VMAGENT_CORE_RELAY_RULES_H

#include "core/libvirt_rpc.h"
#include "core/relay_xml.h"

#define RELAY_CALLS_MAX 16 /* that wait for their answer: libvirtd itself serves five */

struct relay_rules {                   /* all borrowed */
	const struct xml_facts *facts; /* of the domain */
	const char *data_uri;          /* where its QEMU shall listen */
	const char *disks_uri;         /* … for copies of disks; NULL: none are copied */
	bool postcopy; /* an attempt with POSTCOPY; else the guest arrives paused, always */
};

struct relay_talk {           /* one connection */
	const char *data_uri; /* borrowed: where the guest's memory goes */
	struct {
		uint32_t serial, procedure;
	} calls[RELAY_CALLS_MAX];
	unsigned n;
};

/* A frame of the source's libvirtd, at the target: ERR_FORBIDDEN with words for what is no
 * part of this migration. */
int relay_rules_call(const struct relay_rules *rules, const struct rpc_frame *frame,
	struct err *err);

/* The same frame at the source: one of those procedures, to which an answer is to come. */
int relay_talk_call(struct relay_talk *talk, const struct rpc_frame *frame, struct err *err);

/* A frame of the target's libvirtd, at the source: an answer to a call that waits for it, which
 * does not send the guest elsewhere; the word that the connection ends; a keepalive.
 * ERR_FORBIDDEN for all else. */
int relay_talk_answer(struct relay_talk *talk, const struct rpc_frame *frame, struct err *err);

bool relay_is_keepalive(const struct rpc_frame *frame);

/* The call that switches over; not one that tells the target to give up. */
bool relay_is_finish_call(const struct rpc_frame *frame);

/* The answer to it, good or bad. */
bool relay_is_finish_reply(const struct rpc_frame *frame);

#endif
