/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that go along with a machine: what it names in its namespace. At their new host they
 * say with which machine they came, and go on with it; what was there before stays as it is.
 */
#include <string.h>

#include "core/belongings.h"
#include "core/edit.h"
#include "core/names.h"
#include "daemon/arrivals.h"
#include "daemon/obstacles.h"

#define OBJECTS_MAX (2 * BELONGINGS_MAX) /* of one cargo: each may be a claim with its DataVolume */

/* What it names in its namespace, as it is now. */
static void belongings_of(const struct machine *m, struct belongings *ret)
{
	const char *const specs[] = { m->vm ? m->vm->spec : NULL, m->vmi ? m->vmi->spec : NULL };

	*ret = (struct belongings){ .n = 0 };
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		struct node *spec = specs[i] ? text_tree(specs[i]) : NULL;

		belongings_add(ret, spec);
		node_free(spec);
	}
}

/* The DataVolume that made a claim goes wherever that goes. NULL: none did. */
static struct record *maker_of(const struct agent *agent, const struct record *r)
{
	return r && r->kind == KIND_PVC ? data_volume_of(agent, r) : NULL;
}

static void add(cJSON *list, const struct record *r)
{
	autofree char *document = r ? record_document(r) : NULL;

	if (document)
		cJSON_AddItemToArray(list, cJSON_CreateString(document));
}

void luggage_add(cJSON *json, const struct agent *agent, const struct machine *m)
{
	cJSON *list = cJSON_AddArrayToObject(json, "objects");
	struct belongings b;

	belongings_of(m, &b);
	for (size_t i = 0; i < b.n; i++) {
		const struct record *r =
			records_find(&agent->records, b.list[i].kind, m->ns, b.list[i].name);

		add(list, r);
		add(list, maker_of(agent, r));
	}
	belongings_done(&b);
}

const char *luggage_owner(const struct vmi *vmi)
{
	return *vmi->owner ? vmi->owner : vmi->meta.uid;
}

static bool may_come(enum object_kind kind)
{
	return kind == KIND_SECRET || kind == KIND_CONFIG_MAP || kind == KIND_PVC ||
		kind == KIND_DATA_VOLUME;
}

static void mark(struct record *r, const char *owner)
{
	struct node *annotations = r->meta.annotations ? text_tree(r->meta.annotations) : NULL;

	if (!annotations)
		annotations = node_new(NODE_MAP, NULL);
	node_set(annotations, CAME_WITH, node_new(NODE_STRING, owner));
	free(r->meta.annotations);
	r->meta.annotations = node_json(annotations);
	node_free(annotations);
}

static bool came_with(const struct record *r, const char *owner)
{
	struct node *annotations = r->meta.annotations ? text_tree(r->meta.annotations) : NULL;
	const struct node *with = node_get(annotations, CAME_WITH);
	bool is = with && streq(with->text, owner);

	node_free(annotations);
	return is;
}

/* Held to what a file of this host may say; its identity stays. */
static int read_object(const struct agent *agent, const char *text, const char *ns,
	struct record **ret, struct err *err)
{
	struct node *root = text_tree(text);
	struct findings findings = { 0 };
	struct manifest manifest;
	autofree char *words = NULL;
	int rc;

	if (!root)
		return err_set(err, ERR_BAD_REQUEST, "an object that came with it is none");
	rc = manifest_check(root, &agent->options->policy, &manifest, &findings);
	words = findings_words(&findings);
	findings_done(&findings);
	if (rc < 0) {
		node_free(root);
		return err_set(err, ERR_INVALID, "an object that came with it: %s", words);
	}
	if (may_come(manifest.kind) && streq(manifest.ns, ns)) {
		const char *uid = node_text(root, "metadata.uid"); /* or NULL: it gets one here */

		*ret = record_new(&manifest);
		if (uid && is_uuid(uid))
			copy_str((*ret)->meta.uid, UID_SIZE, uid);
		record_load_state(*ret, root);
	} else {
		rc = err_set(err, ERR_INVALID, "a %s does not come with a virtual machine",
			object_kind_name(manifest.kind));
	}
	manifest_done(&manifest);
	node_free(root);
	return rc;
}

int luggage_read(const struct agent *agent, const cJSON *json, const char *ns, struct records *ret,
	struct err *err)
{
	const cJSON *item;
	int rc = 0;

	*ret = (struct records){ .n = 0 };
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "objects"))
	{
		struct record *r = NULL;

		if (rc == 0 && ret->n < OBJECTS_MAX)
			rc = read_object(agent, cJSON_GetStringValue(item), ns, &r, err);
		if (r && records_find(ret, r->kind, r->meta.ns, r->meta.name))
			record_free(r);
		else if (r)
			records_add(ret, r, true);
	}
	return rc;
}

static bool is_same(const struct record *a, const struct record *b)
{
	struct node *one = text_tree(a->content), *other = text_tree(b->content);
	bool same = node_equal(one, other);

	node_free(one);
	node_free(other);
	return same;
}

static char *conflict_of(const struct record *came, const struct record *here, const char *owner)
{
	if (!here || (here->meta.deleted == 0 && (is_same(came, here) || came_with(here, owner))))
		return NULL;
	return xasprintf("%s '%s' in namespace '%s' %s", object_kind_name(came->kind),
		came->meta.name, came->meta.ns,
		here->meta.deleted ? "is being deleted there"
				   : "is there already, with other content: make them the same");
}

char *luggage_conflicts(const struct agent *agent, const struct records *came, const char *owner)
{
	struct buf words = { 0 };

	for (size_t i = 0; i < came->n; i++) {
		const struct record *r = came->list[i];
		autofree char *one = conflict_of(r,
			records_find(&agent->records, r->kind, r->meta.ns, r->meta.name), owner);

		if (one)
			buf_printf(&words, "%s%s", words.len ? "; " : "", one);
	}
	return words.data;
}

static void return_origin(struct agent *agent, const struct record *r)
{
	struct origin *o = origins_find(agent, r->kind, r->meta.ns, r->meta.name);

	if (!o || o->removed || o->state != PROVENANCE_MOVED)
		return;
	o->state = PROVENANCE_LIVE;
	copy_str(o->uid, UID_SIZE, r->meta.uid);
	o->changed = agent->origins.changed = true;
}

static void keep(struct agent *agent, const struct record *came, const char *owner, struct now now)
{
	struct record *here =
		records_find(&agent->records, came->kind, came->meta.ns, came->meta.name);
	struct record *r;

	if (here && is_same(came, here))
		return;
	if (here)
		records_remove(&agent->records, here);
	r = record_copy(came);
	r->meta.created = now.wall;
	if (!*r->meta.uid)
		agent_uuid(agent, r->meta.uid);
	mark(r, owner);
	records_add(&agent->records, r, false);
	return_origin(agent, r);
}

void luggage_keep(struct agent *agent, const struct records *came, const char *owner,
	struct now now)
{
	for (size_t i = 0; i < came->n; i++)
		keep(agent, came->list[i], owner, now);
}

static bool is_named_by_others(const struct agent *agent, const struct record *r,
	const struct machine *but)
{
	bool named = false;

	for (size_t i = 0; i < agent->machines.n && !named; i++) {
		const struct machine *m = agent->machines.list[i];
		struct belongings b;

		if (m == but || !streq(m->ns, r->meta.ns))
			continue;
		belongings_of(m, &b);
		named = belongings_have(&b, r->kind, r->meta.name);
		belongings_done(&b);
	}
	return named;
}

/* What a file declares of it is the other host's from now on. */
static void move_origin(struct agent *agent, const struct record *r)
{
	struct origin *o = origins_find(agent, r->kind, r->meta.ns, r->meta.name);

	if (!o || o->removed || !streq(o->uid, r->meta.uid))
		return;
	o->state = PROVENANCE_MOVED;
	o->changed = agent->origins.changed = true;
}

/* A claim's file is where both hosts reach it, and in use by the other one: it stays, and
 * whoever deletes the claim has to do so there. Its DataVolume would have it filled again,
 * and goes as well. */
static void leave(struct agent *agent, struct record *r, bool came, bool moved, struct now now)
{
	struct record *maker = maker_of(agent, r);

	if (r->kind == KIND_PVC && (came || moved)) {
		if (maker) {
			move_origin(agent, maker);
			records_remove(&agent->records, maker);
		}
		move_origin(agent, r);
		claims_delete(agent, r, true, now);
	} else if (came) {
		records_remove(&agent->records, r);
	}
}

void luggage_leave(struct agent *agent, const struct machine *m, bool moved, struct now now)
{
	struct belongings b;

	belongings_of(m, &b);
	for (size_t i = 0; i < b.n; i++) {
		struct record *r =
			records_find(&agent->records, b.list[i].kind, m->ns, b.list[i].name);

		if (r && !is_named_by_others(agent, r, m))
			leave(agent, r, came_with(r, luggage_owner(m->vmi)), moved, now);
	}
	belongings_done(&b);
}
