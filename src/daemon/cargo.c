/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What travels: what a host says of a machine so that another one can have it, and what comes of it
 * there. A peer's word is worth no more than a file's.
 */
#include <string.h>

#include "core/host_report.h"
#include "core/json.h"
#include "core/manifest.h"
#include "core/migration_offer.h"
#include "core/names.h"
#include "daemon/arrivals.h"
#include "daemon/migration_objects.h"

static void add_text(cJSON *json, const char *key, char *text)
{
	cJSON_AddStringToObject(json, key, text);
	free(text);
}

/* A named model is emulated by QEMU as well as it can, wherever that is. */
static char *cpu_of(const struct vmi *vmi, const struct host_report *host)
{
	const char *model = vmi->typed.cpu_model ? vmi->typed.cpu_model : "host-model";

	if (starts_with(model, "host-"))
		return xstrdup(host->cpu);
	if (vmi->emulated)
		return NULL;
	return xasprintf("<cpu mode='custom' match='exact'><model>%s</model></cpu>", model);
}

/* What of this host the guest is bound to. */
static void add_host(cJSON *json, const struct agent *agent, const struct vmi *vmi)
{
	const char *type = vmi->typed.machine_type ? vmi->typed.machine_type : "q35";
	struct host_report host;
	autofree char *cpu = NULL, *machine = NULL;

	host_report_read(agent->report.text, &host);
	cpu = cpu_of(vmi, &host);
	machine = host_report_machine(&host, type);
	cJSON_AddNumberToObject(json, "qemu", (double)host.qemu);
	cJSON_AddNumberToObject(json, "copies", (double)migration_copies_size(&vmi->typed));
	cJSON_AddBoolToObject(json, "emulated", vmi->emulated);
	if (cpu)
		cJSON_AddStringToObject(json, "cpu", cpu);
	if (machine)
		cJSON_AddStringToObject(json, "machine", machine);
	host_report_done(&host);
}

char *cargo_of(const struct agent *agent, const struct machine *m, const struct migration *g,
	struct now now)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "hostUUID",
		agent->options->host_uuid ? agent->options->host_uuid : "");
	cJSON_AddBoolToObject(json, "disableTLS", agent->options->disable_tls);
	cJSON_AddStringToObject(json, "namespace", m->ns);
	cJSON_AddStringToObject(json, "name", m->name);
	cJSON_AddNumberToObject(json, "clock", (double)now.boot);
	if (m->vm) {
		add_text(json, "vm", vm_document(m));
		add_text(json, "vmState", vm_state(m->vm));
	}
	if (g && g->post_copy)
		cJSON_AddTrueToObject(json, "postCopy");
	if (g && g->recovery)
		cJSON_AddNumberToObject(json, "recovery", g->recovery);
	if (g && migration_is_spent(g, m, now))
		cJSON_AddTrueToObject(json, "gone");
	add_text(json, "vmi", vmi_document(m, agent->options->node_name));
	add_text(json, "vmiState", vmi_state(m->vmi));
	luggage_add(json, agent, m);
	variables_add(json, g);
	migration_object_pack(json, g);
	add_host(json, agent, m->vmi);
	return json_take_text(json);
}

/* One that does not tell it has no deadlines that mean anything here: they are all over. */
msec cargo_ahead(const cJSON *json, struct now now)
{
	const cJSON *clock = cJSON_GetObjectItemCaseSensitive(json, "clock");
	double theirs = cJSON_IsNumber(clock) ? clock->valuedouble : 0;

	return theirs > 0 && theirs < 1e15 ? now.boot - (msec)theirs : -NEVER / 2;
}

const char *cargo_text(const cJSON *json, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
}

static bool is_of(const cJSON *json, const char *ns, const char *name)
{
	return streq(cargo_text(json, "namespace"), ns) && streq(cargo_text(json, "name"), name);
}

struct judgement { /* of an object of a cargo */
	const struct agent *agent;
	const cJSON *json; /* the cargo */
	enum object_kind kind;
	bool is_new;
};

static int check_tree(const struct judgement *c, const struct node *root, struct err *err)
{
	const struct agent *agent = c->agent;
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
	if (manifest.kind != c->kind || !is_of(c->json, manifest.ns, manifest.name))
		ret = err_set(err, ERR_BAD_REQUEST, "it holds another object than it says");
	else if (c->is_new)
		ret = agent_check_create(agent, &manifest, err);
	manifest_done(&manifest);
	return ret;
}

/* A peer's word is worth no more than a file's: what this node would not take from one
 * it does not take. */
static int check_text(const struct judgement *c, const char *text, struct err *err)
{
	struct documents docs = { 0 };
	struct place at = { 0 };
	struct err why;
	int ret;

	if (nodes_parse(text, strlen(text), &docs, &at, &why) < 0)
		return err_set(err, ERR_BAD_REQUEST, "what should be an object is none: %s",
			why.msg);
	if (docs.n == 1) {
		vmi_labels_strip(docs.roots[0], NULL);
		ret = check_tree(c, docs.roots[0], err);
	} else {
		ret = err_set(err, ERR_BAD_REQUEST, "what should be an object is none");
	}
	documents_done(&docs);
	return ret;
}

static bool has_uid(const struct machine *m, const char *uid)
{
	return (m->vm && streq(m->vm->meta.uid, uid)) ||
		(m->vmi && (streq(m->vmi->meta.uid, uid) || streq(m->vmi->owner, uid)));
}

/* A UID names files of this host, and whose its Secrets are: it is one, and of no other machine
 * here. */
static bool is_free(const struct judgement *c, const char *uid)
{
	const struct machines *ms = &c->agent->machines;

	for (size_t i = 0; i < ms->n; i++)
		if (has_uid(ms->list[i], uid) &&
			!is_of(c->json, ms->list[i]->ns, ms->list[i]->name))
			return false;
	return is_uuid(uid);
}

/* The state says again what the document is, whose word was checked. */
static int check_meta(const struct judgement *c, const struct object_meta *meta, struct err *err)
{
	if (!is_of(c->json, meta->ns, meta->name))
		return err_set(err, ERR_BAD_REQUEST, "it holds another object than it says");
	if (!is_free(c, meta->uid))
		return err_set(err, ERR_CONFLICT, "its UID is none, or another machine's");
	return 0;
}

int cargo_run(const struct agent *agent, const cJSON *json, bool is_new, struct vmi **ret,
	struct err *err)
{
	const char *document = cargo_text(json, "vmi"), *state = cargo_text(json, "vmiState");
	struct judgement c = { agent, json, KIND_VMI, is_new };
	struct vmi *vmi;
	int rc;

	if (!document || !state)
		return err_set(err, ERR_BAD_REQUEST, "it holds no run");
	if (check_text(&c, document, err) < 0 || vmi_load(document, state, true, &vmi, err) < 0)
		return -(int)err->code;
	free(take(&vmi->held)); /* it is the other host's */
	rc = check_meta(&c, &vmi->meta, err);
	if (rc == 0 && *vmi->owner && !is_free(&c, vmi->owner))
		rc = err_set(err, ERR_CONFLICT, "its owner is none, or another machine");
	if (rc < 0)
		vmi_free(vmi);
	else
		*ret = vmi;
	return rc;
}

int cargo_vm(const struct agent *agent, const cJSON *json, bool is_new, struct vm **ret,
	struct err *err)
{
	const char *document = cargo_text(json, "vm"), *state = cargo_text(json, "vmState");
	struct judgement c = { agent, json, KIND_VM, is_new };
	struct vm *vm;
	int rc;

	*ret = NULL;
	if (!document || !state)
		return 0;
	if (check_text(&c, document, err) < 0 || vm_load(document, state, false, &vm, err) < 0)
		return -(int)err->code;
	free(take(&vm->adopts)); /* a domain of the other host */
	vm->lost = false;
	rc = check_meta(&c, &vm->meta, err);
	if (rc == 0)
		rc = agent_check_uuid(agent, vm->uuid,
			machines_find(&agent->machines, vm->meta.ns, vm->meta.name), err);
	if (rc < 0)
		vm_free(vm);
	else
		*ret = vm;
	return rc;
}

/* What the other host saw of its domain is not so of ours. */
static void take_seen(struct vmi *vmi, struct vmi *here)
{
	struct vmi unseen = { .paused = false };

	if (here) { /* what came first was checked, and is what it has */
		free(vmi->firmware);
		vmi->firmware = take(&here->firmware);
	}
	here = here ? here : &unseen;
	free(vmi->console);
	free(vmi->graphics);
	vmi->console = take(&here->console);
	vmi->graphics = take(&here->graphics);
	vmi->paused = here->paused;
	vmi->paused_by = here->paused_by;
	vmi->agent = here->agent;
	vmi->rebooted = here->rebooted;
	vmi->end = here->end;
}

/* What belonged to the other host is left there. */
void cargo_unpack(struct agent *agent, struct machine *m, struct vm *vm, struct vmi *vmi)
{
	take_seen(vmi, m->vmi);
	vmi_free(m->vmi);
	vm_free(m->vm);
	m->vm = vm;
	m->vmi = vmi;
	vmi->prepared = true;
	vmi->lost = false;
	vmi->tries = 0;
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
	return !vmi->domain &&
		(!before ||
			(streq(vmi->meta.uid, before->meta.uid) &&
				streq(vmi->typed.uuid, before->typed.uuid)));
}

static int unpack_text(struct agent *agent, struct machine *m, const cJSON *json, struct now now,
	struct err *err)
{
	struct vm *vm = NULL;
	struct vmi *vmi;
	int ret = cargo_run(agent, json, false, &vmi, err);

	if (ret < 0)
		return ret;
	if (!streq(vmi->meta.ns, m->ns) || !streq(vmi->meta.name, m->name) ||
		!is_same_run(vmi, m->vmi))
		ret = err_set(err, ERR_BAD_REQUEST, "it is another run");
	if (ret == 0)
		ret = cargo_vm(agent, json, false, &vm, err);
	if (ret < 0) {
		vmi_free(vmi);
		return ret;
	}
	vmi_shift(vmi, cargo_ahead(json, now));
	cargo_unpack(agent, m, vm, vmi);
	return 0;
}

/* What was changed on the way; what would be in the way of others is left out. */
static void take_objects(struct agent *agent, const struct machine *m, const cJSON *json,
	struct now now)
{
	const char *owner = luggage_owner(m->vmi);
	struct records came;
	struct err ignored;
	autofree char *conflicts = NULL;

	if (luggage_read(agent, json, m->ns, &came, &ignored) == 0)
		conflicts = luggage_conflicts(agent, &came, owner);
	if (!conflicts)
		luggage_keep(agent, &came, owner, now);
	records_done(&came);
}

int cargo_take(struct agent *agent, struct machine *m, const char *document, struct now now,
	struct err *err)
{
	cJSON *json = json_read(document);
	int ret = unpack_text(agent, m, json, now, err);

	if (ret == 0)
		take_objects(agent, m, json, now);
	cJSON_Delete(json);
	return ret;
}
