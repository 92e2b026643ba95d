/* SPDX-License-Identifier: Apache-2.0 */
/* The first line of a machine that is between two hosts: where it goes, and what that waits for. */
#include "cli/explain_private.h"

#include <string.h>

#define DOUBTS "MigrationInDoubt MigrationInterrupted"
#define PROGRESS \
	"MigrationResumed PreparingTarget Migrating Released Complete Migrated FailedMigration Started Stopped"

static bool is_source(const struct node *state, const struct story *s)
{
	return streq(node_text(state, "sourceNode"), node_text(s->vmi, "status.nodeName"));
}

static bool is_true(const struct node *state, const char *key)
{
	const struct node *value = node_get(state, key);

	return value && streq(value->text, "true");
}

/* Nothing has happened since that ends it. */
static const char *doubt(const struct story *s)
{
	const struct node *event = event_newest(s, DOUBTS);

	if (!event || !event_is_newer(event, event_newest(s, PROGRESS)))
		return NULL;
	return node_text(event, "message");
}

static char *under_way(const struct node *state, const struct story *s)
{
	if (!is_source(state, s))
		return xasprintf("its guest is on its way here from '%s'",
			node_text(state, "sourceNode"));
	return xasprintf(
		"its guest is on its way to '%s': 'vmactl get vmim -o wide' shows how far it is",
		node_text(state, "targetNode"));
}

static bool has_moved(const struct node *state, const struct story *s)
{
	return is_source(state, s) && is_true(state, "completed") && !is_true(state, "failed") &&
		node_text(s->vmi, "metadata.deletionTimestamp");
}

char *explain_move(const struct story *s)
{
	const struct node *state = node_at(s->vmi, "status.migrationState");

	if (!state)
		return NULL;
	if (doubt(s))
		return xstrdup(doubt(s));
	if (has_moved(state, s))
		return xasprintf("it has moved to '%s': ask there", node_text(state, "targetNode"));
	if (streq(story_status(s), "Migrating") ||
		streq(node_text(s->vmi, "status.phase"), "WaitingForSync"))
		return under_way(state, s);
	return NULL;
}
