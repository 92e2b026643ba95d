/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VirtualMachineInstanceMigrations as objects that users make, read and delete. The object is
 * the migration itself, of which this host has its own end: there is nothing beside it that
 * could say something else.
 */
#ifndef VMAGENT_DAEMON_MIGRATION_OBJECTS_H
#define VMAGENT_DAEMON_MIGRATION_OBJECTS_H

#include <cjson/cJSON.h>

#include "daemon/migrations.h"

/* Of that name, or NULL. */
struct migration *migration_object_find(const struct agent *agent, const char *ns,
	const char *name);

/* Whether what the manifest orders can begin; nothing of that name is there. Errors: as a request's
 * to migrate, and ERR_INVALID: there is no such run. */
int migration_object_check(const struct agent *agent, const struct manifest *manifest,
	struct err *err);
/* … and begins it. */
int migration_object_create(struct agent *agent, const struct manifest *manifest, struct now now,
	struct err *err);

/* Without what the server sets. Owned by the caller. */
struct node *migration_object_tree(const struct migration *g);

/* Its labels and annotations can be changed, its spec cannot: ERR_INVALID. */
int migration_object_replace(struct agent *agent, struct migration *g, const struct node *root,
	struct err *err);
/* The document that it would have then; NULL with words. Owned by the caller. */
char *migration_object_preview(const struct agent *agent, const struct migration *g,
	const struct node *root, struct err *err);

/* It is over, and root is another order. */
bool migration_object_is_spent(const struct migration *g, const struct node *root);

/* One that is not over is called off, if it can be: ERR_CONFLICT. */
int migration_object_check_delete(const struct migration *g, struct err *err);
/* … and is gone once it is over. */
void migration_object_delete(struct agent *agent, struct migration *g, struct now now);

/* Takes labels, annotations and spec of a checked order. */
void migration_object_take(struct migration *g, const struct node *root);

/* migration_cargo.c: what the other host is told of g, if it is on its way there; g may be NULL. */
void migration_object_pack(cJSON *cargo, const struct migration *g);
/* … and what it makes of it: when it first hears of it, and when the guest changes hands. */
void migration_object_arrives(struct agent *agent, struct migration *g, const cJSON *json);
void migration_object_commits(struct agent *agent, struct migration *g, const char *document);

/* Forgets those that are to go and are over. Every turn. */
void migration_objects_turn(struct agent *agent);
/* How urgent it was ordered; more is sooner. */
int migration_object_urgency(const struct migration *g);
/* Gives it the name, labels and spec of an order by request. */
void migration_object_name(struct agent *agent, struct migration *g, const char *to);
/* g has entered a phase: an event of the object says so. */
void migration_object_note(struct agent *agent, const struct migration *g);

/* All of a namespace that is to go. */
void migration_objects_delete_all(struct agent *agent, const char *ns, struct now now);
bool migration_objects_are_in(const struct agent *agent, const char *ns);

#endif
