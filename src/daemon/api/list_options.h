/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request to list or watch says beside its selectors: Kubernetes' ListOptions, with its
 * rules of what goes together.
 */
#ifndef VMAGENT_DAEMON_API_LIST_OPTIONS_H
#define VMAGENT_DAEMON_API_LIST_OPTIONS_H

#include "daemon/api/reply.h"

enum rv_match { RV_MATCH_UNSET, RV_MATCH_EXACT, RV_MATCH_NOT_OLDER_THAN, RV_MATCH_UNKNOWN };

struct list_options {
	bool watch;
	bool has_rv;
	int64_t rv;          /* 0: any will do */
	enum rv_match match; /* what rv means to a list, or to a watch's initial events */
	bool has_continue;
	bool has_initial, initial; /* sendInitialEvents */
	bool bookmarks;
	int64_t timeout_s; /* of a watch; 0: none */
};

/* The options of a request to list, or to watch; limit is no more than read, for a list may be
 * longer. Answers the client itself, with 400 or 422, when they are not well-formed or do not go
 * together, and returns false. */
bool list_options_of(const struct call *call, bool watch, struct list_options *ret);

/* Whether a list can be served from what is stored now. Else answers the client: 504 when the
 * version is yet to come, 410 when it is exactly one that is over. */
bool list_options_served(const struct call *call, const struct list_options *o);

#endif
