/* SPDX-License-Identifier: Apache-2.0 */
/*
 * List, then watch: the one loop behind get -w, events -w, wait and delete. It owns the place in
 * the agent's change log (a resourceVersion) and keeps it over lost connections, so that whoever
 * waits neither misses a change nor fails because the agent was restarted.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/client.h"
#include "cli/json.h"

#define RETRY_MS         500
#define WATCH_MIN_MS     SECONDS(1)  /* a watch that ends sooner is not begun again at once */
#define AGENT_RESTART_MS SECONDS(20) /* how long a lost agent may stay away */
#define LINE_MAX_BYTES   (16 * 1024 * 1024)

struct cursor {
	char *rv;     /* owned; NULL: list first */
	msec lost_at; /* when the agent was lost; 0: it is there */
};

static bool concerns(const struct follow *f, const struct node *object)
{
	return !f->name || streq(node_text(object, "metadata.name"), f->name);
}

/* A list of what is followed: all items, or those that bear the name. */
static int show_list(const struct follow *f, const struct node *list, struct fault *fault)
{
	const struct node *items = node_get(list, "items");
	struct node *shown = node_new(NODE_LIST, NULL);
	int ret;

	for (size_t i = 0; items && i < items->n_children; i++)
		if (concerns(f, items->children[i]))
			node_append(shown, node_copy(items->children[i]));
	ret = f->listed(f->ctx, shown, fault);
	node_free(shown);
	return ret;
}

static int list(const struct follow *f, struct cursor *cursor, struct fault *fault)
{
	struct narrowing narrowing = { .name = f->name, .labels = f->labels };
	autofree char *path = resource_query(f->resource, f->ns, &narrowing);
	struct node *answer = NULL;
	int ret = client_get(f->cli, path, &answer, fault);

	if (!ret) {
		const char *rv = node_text(answer, "metadata.resourceVersion");

		replace_str(&cursor->rv, rv ? rv : "0");
		ret = show_list(f, answer, fault);
	}
	node_free(answer);
	return ret;
}

static int gone(const struct node *status, struct fault *fault)
{
	const char *message = node_text(status, "message");
	const char *code = node_text(status, "code");

	fault_set(fault, EXIT_ERROR, "the watch ended: %s", message ? message : "no reason given");
	fault->expired = streq(code, "410");
	return -1;
}

static int show_event(const struct follow *f, struct cursor *cursor, const struct node *event,
	struct fault *fault)
{
	const char *type = node_text(event, "type");
	const struct node *object = node_get(event, "object");
	const char *rv = node_text(object, "metadata.resourceVersion");

	if (!type || !object)
		return fault_set(fault, EXIT_ERROR, "the agent sent what is no watch event");
	if (streq(type, "ERROR"))
		return gone(object, fault);
	if (rv)
		replace_str(&cursor->rv, rv);
	if (streq(type, "BOOKMARK") || !concerns(f, object))
		return 0;
	return f->changed(f->ctx, type, object, fault);
}

static int show_line(const struct follow *f, struct cursor *cursor, const char *line, size_t len,
	struct fault *fault)
{
	struct node *event = NULL;
	struct err err = { 0 };
	int ret;

	if (!len)
		return 0;
	if (json_parse(line, len, &event, &err))
		return fault_set(fault, EXIT_ERROR, "a watch event cannot be read: %s", err.msg);
	ret = show_event(f, cursor, event, fault);
	node_free(event);
	return ret;
}

/* Shows every whole line of what has come, and keeps the rest. */
static int show_lines(const struct follow *f, struct cursor *cursor, struct buf *text,
	struct fault *fault)
{
	size_t at = 0;
	int ret = 0;
	const char *end;

	while (!ret && (end = memchr(text->data + at, '\n', text->len - at))) {
		size_t len = (size_t)(end - text->data) - at;

		ret = show_line(f, cursor, text->data + at, len, fault);
		at += len + 1;
	}
	memmove(text->data, text->data + at, text->len - at + 1);
	text->len -= at;
	if (!ret && text->len > LINE_MAX_BYTES)
		return fault_set(fault, EXIT_ERROR, "a watch event is too long");
	return ret;
}

static int read_watch(const struct follow *f, struct cursor *cursor, struct http *h,
	struct fault *fault)
{
	struct buf text = { 0 };
	struct err err = { 0 };
	int ret = 0, got;

	while (!ret && (got = http_read(h, f->deadline, &text, &err)))
		ret = got < 0 ? client_fault(fault, &err) : show_lines(f, cursor, &text, fault);
	buf_done(&text);
	return ret;
}

static void pause_ms(msec ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static int watch(const struct follow *f, struct cursor *cursor, struct fault *fault)
{
	struct narrowing narrowing = { .name = f->name, .labels = f->labels, .watch = cursor->rv };
	autofree char *path = resource_query(f->resource, f->ns, &narrowing);
	autofree char *line = xasprintf("GET %s", path);
	struct http h = { .fd = -1 };
	msec begun = http_clock();
	int ret = client_begin(f->cli, &(struct http_call){ .line = line }, &h, fault);

	if (ret && fault->status == 410)
		fault->expired = true;
	if (!ret) {
		cursor->lost_at = 0;
		ret = read_watch(f, cursor, &h, fault);
	}
	http_close(&h);
	if (!ret && http_clock() - begun < WATCH_MIN_MS)
		pause_ms(RETRY_MS);
	return ret;
}

/* Whether to go on after a fault: when the change log was too short, or the agent may come back. */
static bool recovers(struct cursor *cursor, struct fault *fault)
{
	if (fault->expired) {
		fault_done(fault);
		replace_str(&cursor->rv, NULL);
		return true;
	}
	if (fault->exit != EXIT_UNREACHABLE || !cursor->rv)
		return false;
	if (!cursor->lost_at) {
		fprintf(stderr, "Warning: lost the agent, trying to reach it again\n");
		cursor->lost_at = http_clock();
	}
	if (http_clock() - cursor->lost_at > AGENT_RESTART_MS)
		return false;
	fault_done(fault);
	pause_ms(RETRY_MS);
	return true;
}

int follow_run(const struct follow *follow, struct fault *fault)
{
	struct cursor cursor = { 0 };
	int ret = 0;

	while (!ret && http_clock() < follow->deadline) {
		ret = cursor.rv ? 0 : list(follow, &cursor, fault);
		if (!ret)
			ret = watch(follow, &cursor, fault);
		if (ret < 0 && http_clock() >= follow->deadline)
			ret = 0;
		else if (ret < 0 && recovers(&cursor, fault))
			ret = 0;
	}
	if (!ret)
		fault_done(fault);
	free(cursor.rv);
	return ret;
}
