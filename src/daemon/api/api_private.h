/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the API share: the API itself, one request under way (call), and what stays
 * with a request that lives longer than its handler (session: a watch, a bridge).
 */
#ifndef VMAGENT_DAEMON_API_PRIVATE_H
#define VMAGENT_DAEMON_API_PRIVATE_H

#include "daemon/api/api.h"
#include "daemon/api/route.h"

struct api {
	struct api_options options;
	struct http *http;       /* owned */
	struct pending *pending; /* owned: answers that the agent owes */
	struct watch *watches;   /* owned by their requests */
	int64_t watched;         /* those that sleep have been told up to this resourceVersion */
	struct bridge *bridges;  /* the same */
	char os[128];            /* the host's system, by name */
	msec started;            /* wall time */
	uv_timer_t timer;        /* watches' bookmarks and ends */
	unsigned open_handles;
	bool closing;
};

struct call { /* on the stack of the dispatcher */
	struct api *api;
	uint64_t id;
	const struct http_request *request;
	struct route_path path;
};

/* A route's handler. It answers by reply.h, or keeps the id and answers later. */
typedef void call_fn(const struct call *call);

/* about.c */
void about_health(const struct call *call);
void about_live(const struct call *call);
void about_version(const struct call *call);
void about_metrics(const struct call *call);
void about_openapi_v2(const struct call *call);
void about_openapi_index(const struct call *call);
void about_openapi_v3(const struct call *call);

/* discovery.c */
void discovery_paths(const struct call *call);
void discovery_core(const struct call *call);
void discovery_groups(const struct call *call);
void discovery_group(const struct call *call);
void discovery_resources(const struct call *call);

/* read.c, change.c, lifecycle.c, console.c */
void object_list(const struct call *call);
void object_get(const struct call *call);
void status_get(const struct call *call);
void status_refuse(const struct call *call);
void object_create(const struct call *call);
void object_replace(const struct call *call);
void object_patch(const struct call *call);
void object_delete(const struct call *call);
void object_delete_all(const struct call *call); /* collection.c */
void lifecycle_verb(const struct call *call);
void lifecycle_vmi_verb(const struct call *call);
void lifecycle_migrate(const struct call *call);
void guest_look_get(const struct call *call);
void console_open(const struct call *call);
void vnc_open(const struct call *call);
void screenshot_get(const struct call *call);
void portforward_open(const struct call *call);

/* expand.c */
void expand_stored(const struct call *call);
void expand_sent(const struct call *call);

/* domains.c */
void domain_get(const struct call *call);
void domain_adopt(const struct call *call);

/* peers.c */
void peer_get(const struct call *call);
void peer_declare_dead(const struct call *call);
void database_accept(const struct call *call);

/* hostdown.c */
void hostdown_get(const struct call *call);
void hostdown_begin(const struct call *call);
void hostdown_cancel(const struct call *call);

/* Attached to a request that goes on; fill, upgraded and gone are http_handler's. */
struct session {
	void (*fill)(struct session *s);
	void (*upgraded)(struct session *s, int fd, const void *extra, size_t len);
	void (*gone)(struct session *s); /* frees it */
};

/* watch.c */
void watch_open(const struct call *call);
void watches_wake(struct api *api);
void watches_tick(uv_timer_t *timer);

/* pending.c */
/* A request to the agent by call's client, about what its path names. */
struct request request_of(const struct call *call);
/* Hands it to the agent, whose answer goes to the client: with this status, and
 * the object, on success. */
void request_submit(const struct call *call, enum input_kind kind, struct request *request,
	unsigned status);
/* The same for one of several that make one answer: then gets the agent's, or NULL when the API
 * is gone by then. */
void request_submit_part(const struct call *call, enum input_kind kind, struct request *request,
	const struct reply *then);
void pendings_drop(struct api *api);

/* bridge.c. They end first: they hold their connections. */
void bridges_close(struct api *api);

#endif
