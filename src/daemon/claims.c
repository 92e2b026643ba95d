/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims of storage: a PersistentVolumeClaim is a file of its own, which is made when it is first
 * used. It goes when the claim is deleted by command, and stays when only the claim's manifest
 * vanished (design §5). A claim that a run uses goes after the run.
 */
#include "core/claim.h"

#include "core/edit.h"
#include "daemon/obstacles.h"

#define DROP_RETRY_S 30

static struct record *find(const struct agent *agent, const char *ns, const char *claim)
{
	return records_look(agent, KIND_PVC, ns, claim);
}

static char *folder_of(const struct agent *agent, const char *ns, const char *name,
	const char *class_name)
{
	const struct storage *storage = agent->options->storage;

	if (!storage)
		return xasprintf("%s/pvc/%s/%s", agent->options->state_dir, ns, name);
	return xasprintf("%s/%s/%s", storage_directory(storage, class_name), ns, name);
}

static char *folder_of_record(const struct agent *agent, const struct record *r)
{
	struct claim claim;
	char *folder;

	claim_read(r->content, &claim);
	folder = folder_of(agent, r->meta.ns, r->meta.name, claim.class_name);
	claim_done(&claim);
	return folder;
}

char *claims_file(const struct agent *agent, const struct record *claim)
{
	autofree char *folder = folder_of_record(agent, claim);

	return xasprintf("%s/" CLAIM_FILE, folder);
}

char *claims_class_words(const struct agent *agent, const struct record *claim)
{
	const struct storage *storage = agent->options->storage;
	struct claim read;
	char *words = NULL;

	claim_read(claim->content, &read);
	if (!storage_has_class(storage, read.class_name))
		words = xasprintf("storageclass.storage.k8s.io \"%s\" not found: `storage.classes` in "
				  "the configuration can give it a folder",
			read.class_name);
	claim_done(&read);
	return words;
}

void claims_created(struct agent *agent, const struct record *claim)
{
	autofree char *words = claims_class_words(agent, claim);
	struct happening what = { .warning = true };

	if (!words)
		return;
	happen(&what, KIND_PVC, "ProvisioningFailed", "%s", words);
	agent_note(agent, &claim->meta, &what);
}

static void bind(const struct agent *agent, const char *ns, struct volume *volume)
{
	const struct record *r = find(agent, ns, volume->claim);
	autofree char *folder = NULL;
	struct claim claim = { 0 };

	if (r)
		claim_read(r->content, &claim);
	folder = folder_of(agent, ns, volume->claim, claim.class_name);
	free(volume->path);
	volume->path = xasprintf("%s/%s", folder, volume->as_folder ? CLAIM_FOLDER : CLAIM_FILE);
	volume->capacity = claim.size;
	volume->shared = claim.shared;
	claim_done(&claim);
}

void claims_bind(const struct agent *agent, struct machine *m)
{
	for (size_t i = 0; m->vmi && i < m->vmi->typed.n_volumes; i++)
		if (m->vmi->typed.volumes[i].claim)
			bind(agent, m->ns, &m->vmi->typed.volumes[i]);
}

static char *missing_words(const struct volume *volume, const char *ns, const struct record *r)
{
	if (r)
		return xasprintf("volume '%s': PersistentVolumeClaim '%s' is being deleted; create "
				 "it anew when it is gone",
			volume->name, volume->claim);
	return xasprintf("volume '%s': there is no %s '%s' in namespace '%s': apply it",
		volume->name, object_kind_name(volume->data_volume ? KIND_DATA_VOLUME : KIND_PVC),
		volume->claim, ns);
}

/* The one that fills its claim, or is to make it. */
static const struct record *data_volume_behind(const struct agent *agent, const char *ns,
	const struct volume *volume, const struct record *claim)
{
	if (claim)
		return data_volume_of(agent, claim);
	return volume->data_volume
		? records_find(&agent->records, KIND_DATA_VOLUME, ns, volume->claim)
		: NULL;
}

static enum obstacle volume_obstacle(const struct agent *agent, const char *ns,
	const struct volume *volume, char **ret_words)
{
	const struct record *r = find(agent, ns, volume->claim);
	const struct record *dv = data_volume_behind(agent, ns, volume, r);
	autofree char *words = NULL;

	if (dv && dv->dv.phase != DATA_VOLUME_SUCCEEDED) {
		words = data_volume_words(dv);
		*ret_words = xasprintf("volume '%s': %s", volume->name, words);
		return OBSTACLE_DATA_VOLUME;
	}
	if (!r || r->meta.deleted) {
		*ret_words = missing_words(volume, ns, r);
		return OBSTACLE_NO_CLAIM;
	}
	words = claims_class_words(agent, r);
	if (!words)
		return OBSTACLE_NONE;
	*ret_words = xasprintf("volume '%s': PersistentVolumeClaim '%s' is not bound: %s",
		volume->name, volume->claim, words);
	return OBSTACLE_UNBOUND;
}

enum obstacle claims_obstacle(const struct agent *agent, const struct machine *m, char **ret_words)
{
	enum obstacle found = OBSTACLE_NONE;

	for (size_t i = 0; i < m->vmi->typed.n_volumes && !found; i++)
		if (m->vmi->typed.volumes[i].claim)
			found = volume_obstacle(agent, m->ns, &m->vmi->typed.volumes[i], ret_words);
	return found;
}

/* ---- its file is made ------------------------------------------------------------------------ */

void claims_bound(struct agent *agent, struct record *r)
{
	struct node *content = text_tree(r->content);
	const char *size = claim_request(content);

	if (!streq(size, r->capacity)) {
		replace_str(&r->capacity, size);
		records_touch(&agent->records, r);
	}
	node_free(content);
}

void claims_made(struct agent *agent, const struct machine *m)
{
	for (size_t i = 0; i < m->vmi->typed.n_volumes; i++) {
		const char *claim = m->vmi->typed.volumes[i].claim;
		struct record *r = claim ? find(agent, m->ns, claim) : NULL;

		if (r)
			claims_bound(agent, r);
	}
}

/* ---- the end of one -------------------------------------------------------------------------- */

/* By its name, or as a hostDisk of that path where such may lie there. */
static bool uses(const struct machine *m, const struct record *r, const char *file)
{
	for (size_t i = 0; i < m->vmi->typed.n_volumes; i++) {
		const struct volume *volume = &m->vmi->typed.volumes[i];

		if (streq(volume->path, file) ||
			(streq(volume->claim, r->meta.name) && streq(m->ns, r->meta.ns)))
			return true;
	}
	return false;
}

/* A run holds its claims as it holds its disks: from before they are made until it is cleaned away.
 * What fills one, or copies it, is not disturbed either. */
static bool is_used(const struct agent *agent, const struct record *r)
{
	autofree char *file = claims_file(agent, r);

	if (r->fill || data_volumes_copy(agent, file))
		return true;
	for (size_t i = 0; i < agent->machines.n; i++) {
		const struct machine *m = agent->machines.list[i];

		if (m->vmi && m->holds_disks && uses(m, r, file))
			return true;
	}
	return false;
}

void claims_delete(struct agent *agent, struct record *r, bool by_file, struct now now)
{
	r->drops_data |= !by_file;
	if (!r->meta.deleted) {
		r->meta.deleted = now.wall;
		agent->claims.terminating++;
	}
	records_touch(&agent->records, r);
}

void claims_load(struct agent *agent)
{
	size_t n;
	struct record *const *list = records_of_kind(&agent->records, KIND_PVC, &n);

	agent->claims.wake_at = NEVER;
	for (size_t i = 0; i < n; i++)
		agent->claims.terminating += list[i]->meta.deleted != 0;
}

/* What a file declares of it meanwhile is created now. */
static void forget(struct agent *agent, struct record *r, struct now now)
{
	struct happening what = { 0 };
	struct object_meta meta = { .ns = xstrdup(r->meta.ns), .name = xstrdup(r->meta.name) };

	copy_str(meta.uid, UID_SIZE, r->meta.uid);
	happen(&what, KIND_PVC, NULL, "claim is gone; its file %s",
		r->drops_data ? "was removed" : "stays");
	agent_note(agent, &r->meta, &what);
	records_remove(&agent->records, r);
	agent->claims.terminating--;
	folder_forgotten(agent, KIND_PVC, &meta, now);
	object_meta_done(&meta);
}

static void end(struct agent *agent, struct record *r, struct now now)
{
	if (!r->meta.deleted || r->drop)
		return;
	if (r->retry_at > now.boot)
		agent->claims.wake_at = MIN(agent->claims.wake_at, r->retry_at);
	else if (is_used(agent, r))
		return;
	else if (r->drops_data)
		r->drop = ops_plan_drop(agent, folder_of_record(agent, r));
	else
		forget(agent, r, now);
}

void claims_turn(struct agent *agent, struct now now)
{
	size_t n;

	agent->claims.wake_at = NEVER;
	if (!agent->claims.terminating)
		return;
	(void)records_of_kind(&agent->records, KIND_PVC, &n);
	while (n-- > 0) /* the list moves when one goes */
		end(agent, records_of_kind(&agent->records, KIND_PVC, &(size_t){ 0 })[n], now);
}

static struct record *find_drop(const struct agent *agent, uint64_t op)
{
	size_t n;
	struct record *const *list = records_of_kind(&agent->records, KIND_PVC, &n);

	for (size_t i = 0; i < n; i++)
		if (list[i]->drop == op)
			return list[i];
	return NULL;
}

void claims_dropped(struct agent *agent, const struct op_result *result, struct now now)
{
	struct record *r = find_drop(agent, result->id);
	struct happening what = { .warning = true };

	if (!r)
		return;
	r->drop = 0;
	if (result->err.code == ERR_OK) {
		forget(agent, r, now);
		return;
	}
	r->retry_at = now.boot + SECONDS(DROP_RETRY_S);
	happen(&what, KIND_PVC, "FailedDelete", "%s", result->err.msg);
	agent_note(agent, &r->meta, &what);
}
