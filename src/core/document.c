/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public documents: what the API serves. metadata and status are made anew from the model each
 * time; spec, labels and annotations go through as the text that was given, so that numbers and
 * permitted fields which the agent ignores survive.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/codec.h"
#include "core/document_private.h"
#include "core/json.h"
#include "core/migration.h"
#include "core/phase.h"
#include "core/status.h"

void format_time(msec wall, char ret[TIME_SIZE])
{
	time_t seconds = (time_t)(wall / 1000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(ret, TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

void actor_text(const struct actor *actor, char *ret, size_t size)
{
	static const char *const names[] = {
#define X(c, t) [ACTOR_##c] = t,
		ACTORS(X)
#undef X
	};

	if (actor->kind == ACTOR_USER && actor->uid >= 0)
		snprintf(ret, size, "user %lld", (long long)actor->uid);
	else if (actor->kind == ACTOR_FILE && actor->file)
		snprintf(ret, size, "file %s", actor->file);
	else
		snprintf(ret, size, "%s", names[actor->kind]);
}

static void add_time(cJSON *json, const char *key, msec wall)
{
	char text[TIME_SIZE];

	format_time(wall, text);
	cJSON_AddStringToObject(json, key, text);
}

static void add_decimal(cJSON *json, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	cJSON_AddStringToObject(json, key, text);
}

static cJSON *document_new(enum object_kind kind)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "apiVersion", object_kind_api_version(kind));
	cJSON_AddStringToObject(json, "kind", object_kind_name(kind));
	return json;
}

static cJSON *add_labelled(cJSON *json, const struct object_meta *meta, const char *labels)
{
	cJSON *out = cJSON_AddObjectToObject(json, "metadata");

	cJSON_AddStringToObject(out, "name", meta->name);
	cJSON_AddStringToObject(out, "namespace", meta->ns);
	cJSON_AddStringToObject(out, "uid", meta->uid);
	add_decimal(out, "resourceVersion", meta->rv);
	cJSON_AddNumberToObject(out, "generation", (double)meta->generation);
	add_time(out, "creationTimestamp", meta->created);
	if (meta->deleted)
		add_time(out, "deletionTimestamp", meta->deleted);
	if (labels)
		cJSON_AddRawToObject(out, "labels", labels);
	if (meta->annotations)
		cJSON_AddRawToObject(out, "annotations", meta->annotations);
	return out;
}

static cJSON *add_metadata(cJSON *json, const struct object_meta *meta)
{
	return add_labelled(json, meta, meta->labels);
}

static void add_conditions(cJSON *status, const struct conditions *conditions)
{
	cJSON *list = cJSON_AddArrayToObject(status, "conditions");

	for (size_t i = 0; i < conditions->n; i++) {
		const struct condition *c = &conditions->list[i];
		cJSON *json = cJSON_CreateObject();

		cJSON_AddStringToObject(json, "type", c->type);
		cJSON_AddStringToObject(json, "status", c->status ? "True" : "False");
		cJSON_AddNullToObject(json, "lastProbeTime"); /* nothing is probed */
		if (c->since)
			add_time(json, "lastTransitionTime", c->since);
		else
			cJSON_AddNullToObject(json, "lastTransitionTime");
		if (c->reason)
			cJSON_AddStringToObject(json, "reason", c->reason);
		if (c->message)
			cJSON_AddStringToObject(json, "message", c->message);
		cJSON_AddItemToArray(list, json);
	}
}

static bool is_ready(const struct conditions *conditions)
{
	for (size_t i = 0; i < conditions->n; i++) {
		if (streq(conditions->list[i].type, "Ready"))
			return conditions->list[i].status;
	}
	return false;
}

static void add_requests(cJSON *status, const struct vm *vm)
{
	cJSON *list = vm->n_requests ? cJSON_AddArrayToObject(status, "stateChangeRequests") : NULL;

	for (unsigned i = 0; i < vm->n_requests; i++) {
		cJSON *json = cJSON_CreateObject();

		cJSON_AddStringToObject(json, "action",
			request_action_name(vm->requests[i].action));
		if (vm->requests[i].uid[0])
			cJSON_AddStringToObject(json, "uid", vm->requests[i].uid);
		if (vm->requests[i].paused)
			cJSON_AddStringToObject(cJSON_AddObjectToObject(json, "data"), "paused",
				"true");
		cJSON_AddItemToArray(list, json);
	}
}

static void add_start_failure(cJSON *status, const struct start_failure *failure)
{
	if (!failure->count)
		return;

	cJSON *json = cJSON_AddObjectToObject(status, "startFailure");

	cJSON_AddNumberToObject(json, "consecutiveFailCount", failure->count);
	cJSON_AddStringToObject(json, "lastFailedVMIUID", failure->last_uid);
	add_time(json, "retryAfterTimestamp", failure->retry_wall);
}

static void add_type_refs(cJSON *status, const struct vm *vm)
{
	static const char *const fields[VM_TYPES] = { "instancetypeRef", "preferenceRef" };

	for (int which = 0; which < VM_TYPES; which++) {
		const struct pin *pin = &vm->pins[which];
		cJSON *ref;

		if (!pin->revision)
			continue;
		ref = cJSON_AddObjectToObject(status, fields[which]);
		cJSON_AddStringToObject(ref, "name", pin->name);
		cJSON_AddStringToObject(ref, "kind", pin->kind);
		if (pin->from_volume)
			cJSON_AddStringToObject(ref, "inferFromVolume", pin->from_volume);
		cJSON_AddStringToObject(cJSON_AddObjectToObject(ref, "controllerRevisionRef"),
			"name", pin->revision);
	}
}

static void add_vm_status(cJSON *json, const struct machine *m, const struct conditions *conditions)
{
	cJSON *status = cJSON_AddObjectToObject(json, "status");
	struct status_facts facts = { .vm = m->vm, .vmi = m->vmi };

	facts.migrating = machine_is_held(m) &&
		migration_phase_of(m->migration) >= MIGRATION_PHASE_RUNNING;
	facts.volumes = m->volumes;
	facts.paused = m->vmi && vmi_is_paused(m->vmi, &m->dom);
	if (m->vmi)
		cJSON_AddBoolToObject(status, "created", true);
	if (is_ready(conditions))
		cJSON_AddBoolToObject(status, "ready", true);
	cJSON_AddStringToObject(status, "printableStatus", printable_name(printable_of(&facts)));
	if (m->vm->recorded)
		cJSON_AddStringToObject(status, "runStrategy", run_strategy_name(m->vm->recorded));
	cJSON_AddNumberToObject(status, "desiredGeneration", (double)m->vm->meta.generation);
	if (m->vmi)
		cJSON_AddNumberToObject(status, "observedGeneration",
			(double)m->vmi->vm_generation);
	add_type_refs(status, m->vm);
	add_requests(status, m->vm);
	add_start_failure(status, &m->vm->failure);
	add_conditions(status, conditions);
}

char *vm_document(const struct machine *m)
{
	cJSON *json = document_new(KIND_VM);
	cJSON *meta = add_metadata(json, &m->vm->meta);
	struct conditions conditions = { 0 };
	const char *finalizer = "kubevirt.io/virtualMachineControllerFinalize";

	cJSON_AddItemToObject(meta, "finalizers", cJSON_CreateStringArray(&finalizer, 1));
	cJSON_AddRawToObject(json, "spec", m->vm->spec);
	vm_conditions(m->vm, m->vmi, &m->dom, &conditions);
	add_vm_status(json, m, &conditions);
	conditions_done(&conditions);
	return json_take_text(json);
}

static void add_owner(cJSON *meta, const struct vmi *vmi)
{
	if (!vmi->owner[0])
		return;

	cJSON *list = cJSON_AddArrayToObject(meta, "ownerReferences");
	cJSON *owner = cJSON_CreateObject();

	cJSON_AddStringToObject(owner, "apiVersion", object_kind_api_version(KIND_VM));
	cJSON_AddStringToObject(owner, "kind", object_kind_name(KIND_VM));
	cJSON_AddStringToObject(owner, "name", vmi->meta.name);
	cJSON_AddStringToObject(owner, "uid", vmi->owner);
	cJSON_AddTrueToObject(owner, "controller");
	cJSON_AddTrueToObject(owner, "blockOwnerDeletion");
	cJSON_AddItemToArray(list, owner);
}

/* In order of time, as they were entered. */
static void add_transitions(cJSON *status, const struct vmi *vmi)
{
	static const enum phase order[] = { PHASE_PENDING, PHASE_SCHEDULING, PHASE_SCHEDULED,
		PHASE_RUNNING, PHASE_SUCCEEDED, PHASE_FAILED };
	cJSON *list = cJSON_AddArrayToObject(status, "phaseTransitionTimestamps");

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		if (!vmi->phase_wall[order[i]])
			continue;
		cJSON *json = cJSON_CreateObject();

		cJSON_AddStringToObject(json, "phase", phase_name(order[i]));
		add_time(json, "phaseTransitionTimestamp", vmi->phase_wall[order[i]]);
		cJSON_AddItemToArray(list, json);
	}
}

static void add_vmi_status(cJSON *json, const struct machine *m, const char *node_name)
{
	const struct vmi *vmi = m->vmi;
	cJSON *status = cJSON_AddObjectToObject(json, "status");
	struct conditions conditions = { 0 };

	cJSON_AddStringToObject(status, "phase", phase_name(vmi->phase));
	if (!phase_is_unprocessed(vmi->phase))
		cJSON_AddStringToObject(status, "nodeName", node_name);
	if (vmi->reason)
		cJSON_AddStringToObject(status, "reason", vmi->reason);
	add_transitions(status, vmi);
	document_add_run(status, vmi);
	if (m->migration && streq(m->migration->vmi_uid, vmi->meta.uid))
		document_add_migration(status, m->migration, node_name);
	vmi_conditions(vmi, &m->dom, &conditions);
	add_conditions(status, &conditions);
	conditions_done(&conditions);
}

char *vmi_document(const struct machine *m, const char *node_name)
{
	cJSON *json = document_new(KIND_VMI);
	autofree char *labels = vmi_labels(m, node_name);

	add_owner(add_labelled(json, &m->vmi->meta, labels), m->vmi);
	cJSON_AddRawToObject(json, "spec", m->vmi->spec);
	add_vmi_status(json, m, node_name);
	return json_take_text(json);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void add_involved(cJSON *json, const struct event_facts *facts)
{
	cJSON *object = cJSON_AddObjectToObject(json, "involvedObject");

	cJSON_AddStringToObject(object, "apiVersion", object_kind_api_version(facts->what->kind));
	cJSON_AddStringToObject(object, "kind", object_kind_name(facts->what->kind));
	if (*facts->object->ns)
		cJSON_AddStringToObject(object, "namespace", facts->object->ns);
	cJSON_AddStringToObject(object, "name", facts->object->name);
	cJSON_AddStringToObject(object, "uid", facts->object->uid);
}

/* What messages say in words, for programs. */
static void add_event_annotations(cJSON *metadata, const struct event_facts *facts)
{
	cJSON *annotations = cJSON_AddObjectToObject(metadata, "annotations");
	char actor[300], view[LIBVIRT_VIEW_SIZE];

	add_decimal(annotations, "vmagent.io/seq", facts->seq);
	actor_text(&facts->what->actor, actor, sizeof(actor));
	cJSON_AddStringToObject(annotations, "vmagent.io/actor", actor);
	libvirt_view_text(&facts->what->libvirt, view);
	if (facts->what->cause)
		cJSON_AddStringToObject(annotations, "vmagent.io/cause",
			cause_name(facts->what->cause));
	if (view[0])
		cJSON_AddStringToObject(annotations, "vmagent.io/libvirt", view);
}

/* As kubectl shows it: "From: vmagent, HOST". */
static void add_source(cJSON *json, const char *node_name)
{
	cJSON *source = cJSON_AddObjectToObject(json, "source");

	cJSON_AddStringToObject(source, "component", "vmagent");
	cJSON_AddStringToObject(source, "host", node_name);
	cJSON_AddStringToObject(json, "reportingComponent", "vmagent");
	cJSON_AddStringToObject(json, "reportingInstance", node_name);
}

char *event_document(const struct event_facts *facts)
{
	cJSON *json = document_new(KIND_EVENT);
	const struct happening *what = facts->what;
	struct object_meta meta = { .ns = (char *)facts->ns,
		.name = (char *)facts->name,
		.rv = facts->rv,
		.created = facts->wall };
	autofree char *message = xasprintf("%s%s%s", what->text, what->output ? "\n" : "",
		what->output ? what->output : "");

	copy_str(meta.uid, UID_SIZE, facts->uid);
	add_event_annotations(add_metadata(json, &meta), facts);
	add_involved(json, facts);
	cJSON_AddStringToObject(json, "reason", what->reason);
	cJSON_AddStringToObject(json, "message", message);
	cJSON_AddStringToObject(json, "type", what->warning ? "Warning" : "Normal");
	add_source(json, facts->node_name);
	add_time(json, "firstTimestamp", facts->wall);
	add_time(json, "lastTimestamp", facts->wall);
	cJSON_AddNumberToObject(json, "count", 1);
	return json_take_text(json);
}
