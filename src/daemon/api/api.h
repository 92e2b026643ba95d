/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Kubernetes-shaped API on the unix socket: the same paths, objects, lists, watches, Status
 * errors and subresources that KubeVirt's API server serves. It reads the store and asks the agent;
 * it changes nothing itself. Loop thread only.
 */
#ifndef VMAGENT_DAEMON_API_API_H
#define VMAGENT_DAEMON_API_API_H

#include "daemon/agent.h"
#include "io/http.h"

#define API_BOOKMARK_MS 25000 /* "at least each 30 s" */

struct api;

struct api_options { /* copied; what it points at is borrowed for the API's life */
	uv_loop_t *loop;
	struct agent *agent;
	struct store *store;
	const struct policy *policy;
	struct now (*clock)(void);
	const char *socket_path;
	struct http_socket read_only;   /* path NULL: there is none */
	const char *node_name;          /* of this host */
	const struct host_place *place; /* … what it says of itself; NULL: nothing */
	struct resources allocatable;   /* … what there is for all guests; 0: what the host has */
	const struct host_shares *shares; /* … and what devices, by name; NULL: none */
	struct http_options limits;       /* zero: the defaults of io/http.h */
	unsigned bookmark_ms;             /* between a watch's bookmarks; 0: API_BOOKMARK_MS */
};

/* Listens at once, and registers itself by agent_on_commit(). Errors: ERR_CONFLICT when another
 * agent listens there, ERR_IO, ERR_INTERNAL. */
int api_new(const struct api_options *options, struct api **ret_api, struct err *err);

/* Ends all requests, watches and streams. Afterwards agent and store may go, in any order, and the
 * loop must run once more for the close callbacks. Answers that the agent still owes are dropped
 * when they come; those that never come are freed too. NULL is fine. */
void api_free(struct api *api);

#endif
