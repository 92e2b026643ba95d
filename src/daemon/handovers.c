/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said about migrations: what a peer says is folded, and what it is told leaves with the commit of
 * the turn that decided it. Nothing of it is sure to arrive.
 */
#include <string.h>

#include "core/json.h"
#include "core/manifest.h"
#include "daemon/obstacles.h"
#include "daemon/migrations.h"

/* name, of the configuration: it outlives the event. */
static const char *peer_of(const struct agent *agent, const char *name)
{
	for (size_t i = 0; i < agent->options->n_peers; i++) {
		if (streq(agent->options->peer_list[i].name, name))
			return agent->options->peer_list[i].name;
	}
	return NULL;
}

static struct handover *letter(struct agent *agent, const char *peer, enum handover_kind kind)
{
	struct letter *l = LIST_ADD(agent->letters, agent->n_letters, agent->cap_letters);

	l->peer = peer_of(agent, peer);
	l->handover.kind = kind;
	return &l->handover;
}

/* Says that to whoever said `to`. */
static struct handover *answer(struct agent *agent, const struct peer_event *to,
	enum handover_kind kind)
{
	struct handover *h = letter(agent, to->name, kind);

	*h = *to->handover;
	h->kind = kind;
	h->document = NULL;
	h->why[0] = '\0';
	return h;
}

/* ---- what travels ------------------------------------------------------------------------------------- */

static void add_text(cJSON *json, const char *key, char *text)
{
	cJSON_AddStringToObject(json, key, text);
	free(text);
}

static char *cargo_of(const struct agent *agent, const struct machine *m, bool whole)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "hostUUID",
		agent->options->host_uuid ? agent->options->host_uuid : "");
	cJSON_AddStringToObject(json, "namespace", m->ns);
	cJSON_AddStringToObject(json, "name", m->name);
	if (m->vm && whole) {
		add_text(json, "vm", vm_document(m));
		add_text(json, "vmState", vm_state(m->vm));
	}
	add_text(json, "vmi", vmi_document(m, agent->options->node_name));
	add_text(json, "vmiState", vmi_state(m->vmi));
	return json_take_text(json);
}

static const char *text_at(const cJSON *json, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
}

static int check_tree(const struct agent *agent, const struct node *root, bool is_new,
	struct err *err)
{
	struct manifest manifest;
	struct findings findings = { 0 };
	autofree char *words = NULL;
	int ret = manifest_check(root, &agent->options->policy, &manifest, &findings);

	words = findings_words(&findings);
	findings_done(&findings);
	if (ret < 0)
		return err_set(err, ERR_INVALID,
			"the target would not take it from a file, either: %s",
			words ? words : "it is not valid");
	if (is_new)
		ret = agent_check_create(agent, &manifest, err);
	manifest_done(&manifest);
	return ret;
}

/* A peer's word is worth no more than a file's: what this node would not take from one it does not take. */
static int check_document(const struct agent *agent, const char *text, bool is_new, struct err *err)
{
	struct documents docs = { 0 };
	struct place at = { 0 };
	struct err why;
	int ret;

	if (nodes_parse(text, strlen(text), &docs, &at, &why) < 0)
		return err_set(err, ERR_BAD_REQUEST, "what should be an object is none: %s",
			why.msg);
	if (docs.n == 1)
		ret = check_tree(agent, docs.roots[0], is_new, err);
	else
		ret = err_set(err, ERR_BAD_REQUEST, "what should be an object is none");
	documents_done(&docs);
	return ret;
}

static int load_run(const struct agent *agent, const cJSON *json, bool is_new, struct vmi **ret,
	struct err *err)
{
	const char *document = text_at(json, "vmi"), *state = text_at(json, "vmiState");

	if (!document || !state)
		return err_set(err, ERR_BAD_REQUEST, "it holds no run");
	if (check_document(agent, document, is_new, err) < 0)
		return -(int)err->code;
	return vmi_load(document, state, false, ret, err);
}

/* What the other host saw of its domain is not so of ours. */
static void take_seen(struct vmi *vmi, const struct vmi *here)
{
	static const struct vmi unseen = { .paused = false };

	here = here ? here : &unseen;
	vmi->paused = here->paused;
	vmi->paused_by = here->paused_by;
	vmi->agent = here->agent;
	vmi->rebooted = here->rebooted;
	vmi->end = here->end;
}

/* What belonged to the other host is left there. */
static void unpack(struct agent *agent, struct machine *m, struct vm *vm, struct vmi *vmi)
{
	take_seen(vmi, m->vmi);
	vmi_free(m->vmi);
	vm_free(m->vm);
	m->vm = vm;
	m->vmi = vmi;
	vmi->prepared = true;
	vmi->tries = 0;
	free(take(&vmi->console));
	free(take(&vmi->graphics));
	m->vmi_changed = true;
	m->vm_changed = vm != NULL;
	if (vm) {
		free(take(&vm->manifest_file));
		free(take(&vm->manifest_error));
	}
	agent_mark(agent, m);
}

/* Not one that names another domain of this host, either. */
static bool is_same_run(const struct vmi *vmi, const struct vmi *before)
{
	return streq(vmi->meta.uid, before->meta.uid) && !vmi->domain &&
		streq(vmi->typed.uuid, before->typed.uuid);
}

static int unpack_text(struct agent *agent, struct machine *m, const cJSON *json, struct err *err)
{
	const char *document = text_at(json, "vm"), *state = text_at(json, "vmState");
	struct vm *vm = NULL;
	struct vmi *vmi;
	int ret = load_run(agent, json, false, &vmi, err);

	if (ret < 0)
		return ret;
	if (!streq(vmi->meta.ns, m->ns) || !streq(vmi->meta.name, m->name) ||
		(m->vmi && !is_same_run(vmi, m->vmi)))
		ret = err_set(err, ERR_BAD_REQUEST, "it is another run");
	if (ret == 0 && document && state)
		ret = check_document(agent, document, false, err);
	if (ret == 0 && document && state)
		ret = vm_load(document, state, false, &vm, err);
	if (ret < 0)
		vmi_free(vmi);
	else
		unpack(agent, m, vm, vmi);
	return ret;
}

int cargo_take(struct agent *agent, struct machine *m, const char *document, struct err *err)
{
	cJSON *json = cJSON_Parse(document ? document : "");
	int ret = unpack_text(agent, m, json, err);

	cJSON_Delete(json);
	return ret;
}

/* ---- saying --------------------------------------------------------------------------------------------- */

void handover_say(struct agent *agent, struct migration *g, enum handover_kind kind)
{
	const struct machine *m = machines_find(&agent->machines, g->meta.ns, g->vmi);
	struct handover *h = letter(agent, g->peer, kind);

	copy_str(h->migration, UID_SIZE, g->meta.uid);
	copy_str(h->database, UID_SIZE, g->database);
	h->epoch = g->epoch;
	h->succeeded = g->succeeded;
	copy_str(h->why, sizeof(h->why), g->reason ? g->reason : "");
	if ((kind == HANDOVER_PREPARE || kind == HANDOVER_COMMIT) && m && m->vmi)
		h->document = agent->letters[agent->n_letters - 1].document =
			cargo_of(agent, m, true);
	if (kind == HANDOVER_PREPARED)
		h->document = agent->letters[agent->n_letters - 1].document = xstrdup(g->offer);
}

void handovers_send(struct agent *agent)
{
	for (size_t i = 0; i < agent->n_letters; i++) {
		struct letter *l = &agent->letters[i];

		if (agent->options->peers && l->peer)
			peer_send(agent->options->peers, l->peer, &l->handover);
		free(l->document);
	}
	agent->n_letters = 0;
}

void handovers_done(struct agent *agent)
{
	for (size_t i = 0; i < agent->n_letters; i++)
		free(agent->letters[i].document);
	free(agent->letters);
}

/* ---- who has what ------------------------------------------------------------------------------------------ */

void handover_ask(struct agent *agent, const char *peer)
{
	copy_str(letter(agent, peer, HANDOVER_WHOSE)->database, UID_SIZE, agent->database_id);
}

static bool is_running(const struct machine *m)
{
	return m->vmi && m->vmi->phase == PHASE_RUNNING;
}

/* All that it has, and what it may have to have yet. One that has lost its own database only knows of what
 * runs. */
static char *names(const struct agent *agent)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < agent->machines.n; i++) {
		const struct machine *m = agent->machines.list[i];
		cJSON *item;

		if ((!m->vm && !m->vmi) || (agent->rebuilding && !is_running(m)))
			continue;
		item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "namespace", m->ns);
		cJSON_AddStringToObject(item, "name", m->name);
		cJSON_AddItemToArray(list, item);
	}
	return json_take_text(list);
}

/* Who is asking itself does not know. */
static void hear_whose(struct agent *agent, const struct peer_event *event)
{
	struct handover *h;

	if (agent->rebuilding && !agent->rebuild_listed)
		return;
	h = answer(agent, event, HANDOVER_MINE);
	h->document = agent->letters[agent->n_letters - 1].document = names(agent);
}

/* ---- PREPARE ---------------------------------------------------------------------------------------------- */

struct arrival { /* a guest that is to come */
	struct agent *agent;
	const struct peer_event *event;
	const cJSON *json;
	const char *ns, *name;
	struct now now;
};

static bool is_same_host(const struct arrival *a)
{
	const char *theirs = text_at(a->json, "hostUUID"), *ours = a->agent->options->host_uuid;

	return ours && ours[0] && streq(ours, theirs);
}

static bool is_stale(const struct arrival *a)
{
	const struct machine *m = machines_find(&a->agent->machines, a->ns, a->name);

	for (size_t i = 0; i < a->agent->migrations.n; i++) {
		const struct migration *g = a->agent->migrations.list[i];

		if (g->moved && streq(g->meta.ns, a->ns) && streq(g->vmi, a->name) &&
			g->epoch >= a->event->handover->epoch)
			return true;
	}
	return m && m->vm && m->vm->epoch >= a->event->handover->epoch;
}

/* Why it cannot come at all, or NULL. */
static const char *objection(const struct arrival *a)
{
	const struct machine *m = machines_find(&a->agent->machines, a->ns, a->name);

	if (!a->agent->options->migrations)
		return "it takes no guests from other hosts";
	if (!a->ns || !a->name)
		return "it does not say which guest it is about";
	if (is_same_host(a))
		return "it is the same host, by its UUID: give each a 'host_uuid' of its own in "
		       "libvirtd.conf";
	if (is_stale(a))
		return "it had that guest later than the one who wants to send it";
	if (m && ((m->vm && !m->vm->meta.deleted) || (m->vmi && !m->vmi->meta.deleted)))
		return "it has a virtual machine of that name";
	return NULL;
}

static bool is_busy(const struct arrival *a)
{
	const struct agent *agent = a->agent;

	return agent->rebuilding || agent->hostdown.active ||
		machines_find(&agent->machines, a->ns, a->name) ||
		migrations_unfinished(agent, a->ns, a->name) ||
		migrations_under_way(agent, MIGRATION_TARGET) >= MIGRATIONS_AT_ONCE;
}

static struct migration *arrive(const struct arrival *a)
{
	const struct handover *h = a->event->handover;
	struct migration *g = xcalloc(1, sizeof(*g));

	g->role = MIGRATION_TARGET;
	g->state = MIGRATION_IN;
	copy_str(g->meta.uid, UID_SIZE, h->migration);
	g->meta.ns = xstrdup(a->ns);
	g->meta.name = xasprintf("%.200s-%.8s", a->name, h->migration);
	g->meta.created = a->now.wall;
	g->vmi = xstrdup(a->name);
	g->peer = xstrdup(a->event->name);
	g->epoch = h->epoch;
	g->document = xstrdup(h->document);
	copy_str(g->database, UID_SIZE, h->database);
	return g;
}

/* What this host does not have for it, as for a run of its own; or whose definition is not ours to make. */
static int check_here(const struct arrival *a, struct vmi *vmi, struct err *err)
{
	static enum obstacle (*const checks[])(const struct agent *agent, const struct machine *m,
		char **ret_words) = { kvm_obstacle, media_obstacle, networks_obstacle };
	autofree char *ns = xstrdup(a->ns), *name = xstrdup(a->name), *words = NULL;
	struct machine m = { .ns = ns, .name = name, .vmi = vmi };

	if (vmi->domain)
		return err_set(err, ERR_INVALID,
			"its domain was made by somebody else and adopted: restart it first");
	if (migrations_check_run(vmi, err) < 0)
		return -(int)err->code;
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if (checks[i](a->agent, &m, &words))
			return err_set(err, ERR_INVALID, "%s", words);
	return 0;
}

/* Its VM is checked as well, so that what comes with COMMIT is no surprise. */
static int check_vm(const struct arrival *a, struct err *err)
{
	const char *document = text_at(a->json, "vm");

	return document ? check_document(a->agent, document, true, err) : 0;
}

/* The run waits for what will be sent: nobody but the migration does anything to it. */
static int admit(const struct arrival *a, struct err *err)
{
	struct agent *agent = a->agent;
	struct machine *m;
	struct migration *g;
	struct vmi *vmi;

	if (check_vm(a, err) < 0 || load_run(agent, a->json, true, &vmi, err) < 0)
		return -(int)err->code;
	if (check_here(a, vmi, err) < 0) {
		vmi_free(vmi);
		return -(int)err->code;
	}
	if (!streq(vmi->meta.ns, a->ns) || !streq(vmi->meta.name, a->name) ||
		vmi->phase != PHASE_RUNNING) {
		vmi_free(vmi);
		return err_set(err, ERR_BAD_REQUEST, "it is another run");
	}
	namespace_use(agent, a->ns, a->now);
	m = machines_get(&agent->machines, a->ns, a->name);
	unpack(agent, m, NULL, vmi);
	vmi_set_phase(vmi, PHASE_WAITING_FOR_SYNC, a->now);
	memset(&m->dom, 0, sizeof(m->dom));
	g = arrive(a);
	copy_str(g->vmi_uid, UID_SIZE, vmi->meta.uid);
	migrations_add(agent, g);
	m->migration = g;
	migration_touch(agent, g);
	return 0;
}

static void refuse(const struct arrival *a, const char *why)
{
	struct handover *no = answer(a->agent, a->event, HANDOVER_DECLINED);

	copy_str(no->why, sizeof(no->why), why);
}

static void hear_prepare(struct agent *agent, const struct peer_event *event, struct now now)
{
	cJSON *json = cJSON_Parse(event->handover->document);
	struct arrival a = { agent, event, json, text_at(json, "namespace"), text_at(json, "name"),
		now };
	const char *why = objection(&a);
	struct err err;

	if (why)
		refuse(&a, why);
	else if (is_busy(&a))
		answer(agent, event, HANDOVER_BUSY);
	else if (admit(&a, &err) < 0)
		refuse(&a, err.msg);
	cJSON_Delete(json);
}

/* ---- hearing ------------------------------------------------------------------------------------------------ */

static void hear_commit(struct agent *agent, struct migration *g, const struct handover *h,
	struct now now)
{
	if (g->role == MIGRATION_TARGET && h->epoch == g->epoch &&
		(g->state == MIGRATION_IN || g->state == MIGRATION_COMPLETE))
		migration_own(agent, g, h->document, now);
}

static void hear_known(struct agent *agent, struct migration *g, const struct peer_event *event,
	struct now now)
{
	struct migration_answer say;

	if (!streq(g->peer, event->name))
		return; /* it is none of that peer's */
	if (event->handover->kind == HANDOVER_COMMIT) {
		hear_commit(agent, g, event->handover, now);
		return;
	}
	say = migration_hear(g, event->handover, now);
	agent->migrations.changed |= g->changed;
	if (say.any)
		handover_say(agent, g, say.say);
}

/* What cannot be saved now is not heard: it will be said again. */
void input_handover(struct agent *agent, const struct peer_event *event, struct now now)
{
	struct migration *g = migrations_find(agent, event->handover->migration);
	struct migration_answer say;

	if (agent->uncommitted)
		return;
	if (event->handover->kind == HANDOVER_WHOSE) {
		hear_whose(agent, event);
		return;
	}
	if (event->handover->kind == HANDOVER_MINE) {
		if (streq(event->handover->database, agent->database_id))
			rebuild_heard(agent, event->name, event->handover->document, now);
		return;
	}
	if (g && !g->removed) {
		hear_known(agent, g, event, now);
		return;
	}
	if (event->handover->kind == HANDOVER_PREPARE) {
		hear_prepare(agent, event, now);
		return;
	}
	say = migration_unknown(event->handover, agent->database_id,
		&agent->options->tuning.handover);
	if (say.any)
		answer(agent, event, say.say);
}
