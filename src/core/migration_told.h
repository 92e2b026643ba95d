/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the source tells the target of the object, so that both show one and the same: its
 * terms once, with PREPARE, and its course again and again, also with the answer to whoever
 * asks how it stands. Pure.
 */
#ifndef VMAGENT_CORE_MIGRATION_TOLD_H
#define VMAGENT_CORE_MIGRATION_TOLD_H

#include "core/migration.h"

#define MIGRATION_COURSE_MAX 600 /* bytes of JSON: it is text within the 1024 of OUT … */
#define MIGRATION_WORD_MAX   140 /* … and this within those of ABORT, beside the reason */

struct cJSON;

/* Where to and what it may take: configuration, policy, address. */
void migration_tell_terms(struct cJSON *json, const struct migration *g);
void migration_take_terms(struct migration *g, const struct cJSON *json);

/* Its phases, and how far it is. Owned by the caller, at most so many bytes. */
void migration_tell_course(struct cJSON *json, const struct migration *g);
char *migration_course(const struct migration *g);

/* Of one that was aborted: what of its course its object shows. Owned by the caller, at most so many
 * bytes. */
char *migration_last_word(const struct migration *g);

/* A time or a number that could not be one is left out. That it runs is a fact of its own: when, is
 * taken over when that is noted. Whether anything is new. */
bool migration_follow(struct migration *g, const struct cJSON *json);
/* … and of the last word all: it came no further than that. */
void migration_follow_end(struct migration *g, const struct cJSON *json);

#endif
