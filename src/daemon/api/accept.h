/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Accept header, range by range, in the client's order: quality values are not looked at, as
 * Kubernetes' own clients give none. Pure.
 */
#ifndef VMAGENT_DAEMON_API_ACCEPT_H
#define VMAGENT_DAEMON_API_ACCEPT_H

#include <stdbool.h>
#include <stddef.h>

struct media { /* one media range, borrowed */
	const char *at;
	size_t len;
};

/* Takes the next range off *rest; false at its end. */
bool media_next(const char **rest, struct media *ret);

/* Whether it is that type, whatever its parameters. */
bool media_is(struct media m, const char *type);

/* Whether it is JSON as that kind of that group and version:
 * "application/json;as=Table;g=meta.k8s.io;v=v1". */
bool media_is_as(struct media m, const char *kind, const char *group, const char *version);

/* Whether it asks for a form other than the object itself. */
bool media_has_form(struct media m);

#endif
