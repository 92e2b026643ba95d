/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a guest is: what changes in its machine when it becomes this host's, or another's.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/fold.h"
#include "core/migration.h"
#include "core/phase.h"
#include "daemon/agent_private.h"
#include "daemon/arrivals.h"
#include "daemon/migration_objects.h"
#include "daemon/migrations_private.h"

/* ---- words ----------------------------------------------------------------------------------- */

void migration_note(struct migration_call *c, bool warning, const char *reason, const char *text)
{
	struct happening what = { .warning = warning };

	if (!c->m || !c->m->vmi)
		return;
	happen(&what, KIND_VMI, reason, "%s", text);
	agent_note(c->agent, &c->m->vmi->meta, &what);
}

void migration_note_peer(struct migration_call *c, const char *reason, const char *before,
	const char *after)
{
	autofree char *text = xasprintf("%s '%s'%s", before, c->g->peer, after);

	migration_note(c, false, reason, text);
}

void migration_note_failed(struct migration_call *c)
{
	autofree char *text = xasprintf("migration %s '%s' failed: %s",
		c->g->role == MIGRATION_SOURCE ? "to" : "from", c->g->peer,
		c->g->reason ? c->g->reason : "the other host gave no reason");

	migration_note(c, true, "FailedMigration", text);
}

/* ---- the machine ----------------------------------------------------------------------------- */

void migration_changed(struct migration_call *c)
{
	migration_touch(c->agent, c->g);
	if (!c->m)
		return;
	c->m->vmi_changed |= c->m->vmi != NULL;
	c->m->vm_changed |= c->m->vm != NULL;
	agent_mark(c->agent, c->m);
}

/* Its guest went over, or is nothing any more, without anybody's having stopped it. */
void migration_end_run(struct migration_call *c, enum phase phase)
{
	struct vmi *vmi = c->m->vmi;

	if (!phase_is_final(vmi->phase))
		vmi_set_phase(vmi, phase, c->now);
	c->m->vmi_changed = true;
	c->m->vm_changed = c->m->vm != NULL;
}

/* What a file declares of it is the target's from now on. */
static void move_origin(struct migration_call *c, enum object_kind kind, const char *uid)
{
	struct origin *o = origins_find(c->agent, kind, c->m->ns, c->m->name);

	if (!o || o->removed || !streq(o->uid, uid))
		return;
	o->state = PROVENANCE_MOVED;
	o->changed = c->agent->origins.changed = true;
}

/* … and its file is heeded again. */
static void return_origin(struct migration_call *c, enum object_kind kind,
	const struct object_meta *meta)
{
	struct origin *o = origins_find(c->agent, kind, c->m->ns, c->m->name);

	if (!o || o->removed || o->state != PROVENANCE_MOVED)
		return;
	o->state = PROVENANCE_LIVE;
	copy_str(o->uid, UID_SIZE, meta->uid);
	o->changed = c->agent->origins.changed = true;
}

/* Nothing of it stays here but what others name. */
void migration_leave(struct migration_call *c, bool moved)
{
	struct machine *m = c->m;

	luggage_leave(c->agent, m, moved, c->now);
	if (m->vm)
		vm_delete(m, c->now);
}

void migration_move_away(struct migration_call *c)
{
	struct machine *m = c->m;

	if (!m || !m->vmi || !streq(m->vmi->meta.uid, c->g->vmi_uid))
		return;
	move_origin(c, KIND_VMI, m->vmi->meta.uid);
	migration_end_run(c, PHASE_SUCCEEDED);
	vmi_delete(m, c->now);
	if (m->vm)
		move_origin(c, KIND_VM, m->vm->meta.uid);
	migration_leave(c, true);
}

/* A row that never was begun here stands for the one that was lost. */
void migration_settle_away(struct agent *agent, struct machine *m, const char *peer, struct now now)
{
	struct migration *g = xcalloc(1, sizeof(*g));
	struct migration_call c = { .agent = agent, .g = g, .m = m, .now = now };

	agent_uuid(agent, g->meta.uid);
	g->meta.ns = xstrdup(m->ns);
	g->meta.name = xasprintf("%.200s-%.8s", m->name, g->meta.uid);
	g->meta.created = now.wall;
	g->state = MIGRATION_DONE;
	g->vmi = xstrdup(m->name);
	g->peer = xstrdup(peer);
	copy_str(g->owner, UID_SIZE, m->vm->meta.uid);
	g->moved = g->acked = g->succeeded = true;
	migrations_add(agent, g);
	m->migration = g;
	move_origin(&c, KIND_VM, m->vm->meta.uid);
	vm_delete(m, now);
	migration_changed(&c);
	log_text(LOG_LEVEL_NOTICE, "%s/%s: peer '%s' has it", m->ns, m->name, peer);
}

/* What this host would not take any more leaves what it has taken with PREPARE: its guest
 * is here, and whole. */
static int take_cargo(struct migration_call *c, const char *document)
{
	struct migration *g = c->g;
	struct err err;
	int ret = cargo_take(c->agent, c->m, document, c->now, &err);

	if (ret < 0)
		log_text(LOG_LEVEL_ERROR, "%s/%s: what '%s' sent of it is not taken: %s",
			g->meta.ns, g->vmi, g->peer, err.msg);
	if (ret < 0 && g->document && document != g->document)
		ret = cargo_take(c->agent, c->m, g->document, c->now, &err);
	return ret;
}

void migration_own(struct agent *agent, struct migration *g, const char *document, struct now now)
{
	struct migration_call c = { .agent = agent, .g = g, .now = now };

	c.m = machines_get(&agent->machines, g->meta.ns, g->vmi);
	if (take_cargo(&c, document) < 0)
		return;
	migration_object_commits(agent, g, document);
	c.m->migration = g;
	c.m->vmi->epoch = g->epoch;
	return_origin(&c, KIND_VMI, &c.m->vmi->meta);
	if (c.m->vm) {
		c.m->vm->epoch = g->epoch;
		return_origin(&c, KIND_VM, &c.m->vm->meta);
	}
	g->moved = true;
	migration_note_trouble(g, NULL);
	free(take(&g->document));
	migration_set_state(g, MIGRATION_OWNER);
	/* With post-copy nothing of it need have been seen: an event may be lost. */
	if (g->post_copy && !domain_is_alive(machine_domain_state(c.m)))
		fold_look_again(c.m);
	migration_note_peer(&c, "Migrated", "taken over from", "");
	migration_changed(&c);
}

/* The target was declared dead: the next epoch is ours again, and what may come back
 * of it is stale. */
void migration_reclaim(struct agent *agent, struct migration *g, struct now now)
{
	struct migration_call c = { .agent = agent, .g = g, .now = now };

	c.m = machines_find(&agent->machines, g->meta.ns, g->vmi);
	migration_set_state(g, MIGRATION_ABORTED);
	replace_str(&g->reason, "its target was declared dead");
	g->acked = g->reclaimed = true;
	if (c.m && c.m->vmi)
		c.m->vmi->epoch = g->epoch + 1;
	if (c.m && c.m->vm)
		c.m->vm->epoch = g->epoch + 1;
	migration_note_failed(&c);
	migration_changed(&c);
}

static void tell_kept(struct migration_call *c, const char *reason, const char *words)
{
	autofree char *before = c->g->reason;

	migration_note(c, true, reason, words);
	c->g->reason = xasprintf("%s; %s", before, words);
}

/* Those that both hosts reach, and what a user has named, stay where they are. The others were a
 * copy each, of which this one may hold what the guest did last here: nobody but a person can tell
 * whether it is of use. */
static void keep_disks(struct migration_call *c)
{
	autofree char *path = agent_aside_directory(c->agent, &c->m->vmi->meta), *words = NULL;

	c->m->vmi->lost = true;
	if (!agent_keeps_disks(c->m->vmi))
		return;
	words = xasprintf("its disks here are kept in '%s': remove them when nobody needs them any more",
		path);
	tell_kept(c, "DisksKept", words);
}

/* As old as the disks: the other host has those of its own time. */
static void keep_state(struct migration_call *c)
{
	autofree char *path = agent_aside_directory(c->agent, &c->m->vm->meta), *words = NULL;

	c->m->vm->lost = true;
	if (!c->m->vm->keeps)
		return;
	words = xasprintf(
		"what it kept here from run to run stays: any EFI variables in '%s', any TPM's state with libvirt",
		path);
	tell_kept(c, "StateKept", words);
}

/* This host was declared dead, and the peer is the guest's home: what is left of it here ends, but
 * for its disks and what it kept. */
void migration_lose(struct agent *agent, struct migration *g, struct now now)
{
	struct migration_call c = { .agent = agent, .g = g, .now = now };

	c.m = machines_find(&agent->machines, g->meta.ns, g->vmi);
	if (c.m && c.m->migration != g)
		c.m = NULL; /* another one of that name */
	replace_str(&g->reason, "this host was declared dead, and the other one has it");
	if (g->state != MIGRATION_DONE)
		migration_set_state(g, MIGRATION_DONE);
	g->lost = g->moved = g->acked = true;
	g->succeeded = false;
	log_text(LOG_LEVEL_WARNING,
		"%s/%s: peer '%s' has it since this host was declared dead: what runs of it here ends, "
		"its disks are kept",
		g->meta.ns, g->vmi, g->peer);
	if (c.m && c.m->vmi)
		keep_disks(&c);
	if (c.m && c.m->vm)
		keep_state(&c);
	if (c.m && c.m->vmi) {
		move_origin(&c, KIND_VMI, c.m->vmi->meta.uid);
		migration_note_failed(&c);
		migration_end_run(&c, PHASE_FAILED);
		vmi_delete(c.m, now);
	}
	if (c.m && c.m->vm) {
		move_origin(&c, KIND_VM, c.m->vm->meta.uid);
		vm_delete(c.m, now);
	}
	migration_changed(&c);
}
