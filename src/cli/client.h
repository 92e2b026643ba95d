/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's API from the caller's side: a request, its answer as a tree, a refusal as a fault in
 * kubectl's words, warnings on standard error; and watches that outlive an agent's restart.
 */
#ifndef VMAGENT_CLI_CLIENT_H
#define VMAGENT_CLI_CLIENT_H

#include "cli/http.h"
#include "cli/resource.h"

/* Where the agent listens: --socket, $VMAGENT_SOCKET, or the default. */
const char *client_socket(const struct cli *cli);

/* line: "GET /version"; body: JSON text or NULL. *ret_answer (may be NULL) is owned by the caller,
 * NULL for an empty answer. */
int client_call(const struct cli *cli, const char *line, const char *body, struct node **ret_answer,
	struct fault *fault);

/* GET of a collection or an object. */
int client_get(const struct cli *cli, const char *path, struct node **ret_answer,
	struct fault *fault);

/* GET of anything; the answer's bytes are appended to *to. */
int client_fetch(const struct cli *cli, const char *path, struct buf *to, struct fault *fault);

/* Opens a connection and sends a request whose answer the caller reads itself: a watch, a
 * websocket. A refusal is a fault. The caller closes *h in any case. */
int client_begin(const struct cli *cli, const struct http_call *call, struct http *h,
	struct fault *fault);

/* Turns an error of the connection into a fault. */
int client_fault(struct fault *fault, const struct err *err);

/*
 * Follows a collection: lists it, then watches it, each from where the other left off. It goes on
 * when the agent ends the watch or restarts, and lists again when the change log does not reach
 * back. A callback returns 1 to stop, 0 to go on, -1 with a fault.
 */
struct follow {
	const struct cli *cli;
	const struct resource *resource;
	const char *ns;     /* NULL: all */
	const char *name;   /* NULL: all; else only this object is shown to the callbacks */
	const char *labels; /* a selector, or NULL */
	msec deadline;      /* http_clock(); NEVER */
	void *ctx;
	/* The whole collection; items are the list's children. */
	int (*listed)(void *ctx, const struct node *items, struct fault *fault);
	/* type: ADDED, MODIFIED or DELETED. */
	int (*changed)(void *ctx, const char *type, const struct node *object, struct fault *fault);
};

/* Returns 1 when a callback stopped it, 0 when the deadline came, -1 with a fault. */
int follow_run(const struct follow *follow, struct fault *fault);

#endif
