/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks into JSON text without making a tree of it: objects are served as they are stored, and most
 * requests need one word of them. Pure; never reads beyond the text, well-formed or not.
 */
#ifndef VMAGENT_DAEMON_API_JSONSPAN_H
#define VMAGENT_DAEMON_API_JSONSPAN_H

#include <vmagent/base.h>

struct jsonspan { /* borrowed: one JSON value within a text */
	const char *at;
	size_t len;
};

struct jsonspan jsonspan_of(const char *json); /* NULL gives an empty one */

/* The value of an object's member; false if value is no object or has no such member. Keys are
 * compared as written, escapes unread. */
bool jsonspan_member(struct jsonspan value, const char *key, struct jsonspan *ret);

/* The value at "a.b.c"; a number picks an element of a list. False if it is not there. */
bool jsonspan_path(struct jsonspan value, const char *path, struct jsonspan *ret);

/* The next element of a list: *rest is the list at first, and what is left of it afterwards. */
bool jsonspan_next(struct jsonspan *rest, struct jsonspan *ret);

/* The next member of an object, in the same way; the key with its quotes. */
bool jsonspan_next_member(struct jsonspan *rest, struct jsonspan *ret_key, struct jsonspan *ret);

/* The status of an object's condition of that type ("True", with its quotes). */
bool jsonspan_condition(struct jsonspan object, const char *type, struct jsonspan *ret);

/* value is a string of exactly this text (compared as written, escapes unread). */
bool jsonspan_is(struct jsonspan value, const char *text);

#endif
