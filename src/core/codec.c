/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private state of objects, as JSON text: one table of fields per type, read and written by the
 * same generic code, so that adding a field is adding a row. Unknown fields of a newer version are
 * ignored; absent ones are zero.
 */
#include "core/codec.h"

#include "core/codec_private.h"
#include "core/edit.h"
#include "core/json.h"
#include "core/migration.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct field meta_fields[] = {
	F(TEXT,   object_meta, "namespace",  ns),
	F(TEXT,   object_meta, "name",       name),
	F(UID,    object_meta, "uid",        uid),
	F(NUMBER, object_meta, "generation", generation),
	F(NUMBER, object_meta, "rv",         rv),
	F(NUMBER, object_meta, "created",    created),
	F(NUMBER, object_meta, "deleted",    deleted),
};

static const struct field vm_fields[] = {
	F(ENUM,     vm, "strategy",      strategy),
	F(BOOL,     vm, "usesRunning",   uses_running),
	F(ENUM,     vm, "recorded",      recorded),
	F(UNSIGNED, vm, "failures",      failure.count),
	F(UID,      vm, "failedUID",     failure.last_uid),
	F(DEADLINE, vm, "retryAt",       failure.retry_at),
	F(NUMBER,   vm, "retryWall",     failure.retry_wall),
	F(UNSIGNED, vm, "crashes",       crash.count),
	F(UID,      vm, "crashedUID",    crash.last_uid),
	F(DEADLINE, vm, "crashRetryAt",  crash.retry_at),
	F(NUMBER,   vm, "crashRetryWall", crash.retry_wall),
	F(UNSIGNED, vm, "crashWindow",   crash.window_s),
	F(TEXT,     vm, "crashCause",    crash.cause),
	F(BOOL,     vm, "ranOnce",       ran_once),
	F(BOOL,     vm, "keeps",         keeps),
	F(BOOL,     vm, "lost",          lost),
	F(TEXT,     vm, "adopts",        adopts),
	F(BOOL,     vm, "restore",       restore),
	F(TEXT,     vm, "typeKind",      pins[VM_INSTANCETYPE].kind),
	F(TEXT,     vm, "typeName",      pins[VM_INSTANCETYPE].name),
	F(TEXT,     vm, "typeVolume",    pins[VM_INSTANCETYPE].from_volume),
	F(TEXT,     vm, "typeRevision",  pins[VM_INSTANCETYPE].revision),
	F(TEXT,     vm, "typeObject",    pins[VM_INSTANCETYPE].object),
	F(BOOL,     vm, "typeGiven",     pins[VM_INSTANCETYPE].given),
	F(BOOL,     vm, "typeOptional",  pins[VM_INSTANCETYPE].optional),
	F(TEXT,     vm, "prefKind",      pins[VM_PREFERENCE].kind),
	F(TEXT,     vm, "prefName",      pins[VM_PREFERENCE].name),
	F(TEXT,     vm, "prefVolume",    pins[VM_PREFERENCE].from_volume),
	F(TEXT,     vm, "prefRevision",  pins[VM_PREFERENCE].revision),
	F(TEXT,     vm, "prefObject",    pins[VM_PREFERENCE].object),
	F(BOOL,     vm, "prefGiven",     pins[VM_PREFERENCE].given),
	F(BOOL,     vm, "prefOptional",  pins[VM_PREFERENCE].optional),
	F(ENUM,     vm, "typeTrouble",   type_trouble),
	F(TEXT,     vm, "typeWords",     type_words),
	F(NUMBER,   vm, "epoch",         epoch),
	F(TEXT,     vm, "contested",     contested),
	F(TEXT,     vm, "manifestFile",  manifest_file),
	F(TEXT,     vm, "manifestError", manifest_error),
};

static const struct field request_fields[] = {
	F(ENUM, state_request, "action", action),
	F(UID,  state_request, "uid",    uid),
	F(BOOL, state_request, "paused", paused),
};

static const struct field vmi_fields[] = {
	F(UID,      vmi, "owner",         owner),
	F(NUMBER,   vmi, "epoch",         epoch),
	F(TEXT,     vmi, "contested",     contested),
	F(ENUM,     vmi, "phase",         phase),
	F(TEXT,     vmi, "reason",        reason),
	F(TEXT,     vmi, "syncError",     sync_error),
	F(ENUM,     vmi, "obstacle",      obstacle),
	F(BOOL,     vmi, "killed",        end.killed),
	F(BOOL,     vmi, "discarded",     end.discarded),
	F(BOOL,     vmi, "guestShutdown", end.guest_shutdown),
	F(BOOL,     vmi, "panicked",      end.panicked),
	F(ENUM,     vmi, "stopped",       end.stopped),
	F(TEXT,     vmi, "endWhy",        end_why),
	F(DEADLINE, vmi, "scheduledAt",   scheduled_at),
	F(DEADLINE, vmi, "runningAt",     running_at),
	F(DEADLINE, vmi, "endedAt",       ended_at),
	F(DEADLINE, vmi, "retryAt",       retry_at),
	F(UNSIGNED, vmi, "tries",         tries),
	F(BOOL,     vmi, "hopeless",      hopeless),
	F(ENUM,     vmi, "pause",         pause),
	F(BOOL,     vmi, "paused",        paused),
	F(ENUM,     vmi, "pausedBy",      paused_by),
	F(BOOL,     vmi, "agent",         agent),
	F(TEXT,     vmi, "ioErrors",      io.errors),
	F(DEADLINE, vmi, "ioLast",        io.last),
	F(DEADLINE, vmi, "ioNext",        io.next),
	F(NUMBER,   vmi, "ioWait",        io.wait),
	F(BOOL,     vmi, "ioFailed",      io.failed),
	F(BOOL,     vmi, "unhealthy",     unhealthy),
	F(BOOL,     vmi, "ready",         ready),
	F(TEXT,     vmi, "probeWords",    probe_words),
	F(TEXT,     vmi, "agentProblem",  agent_problem),
	F(NUMBER,   vmi, "credentials",   credentials),
	F(TEXT,     vmi, "credentialsWords", credentials_words),
	F(DEADLINE, vmi, "setTimeUntil",  set_time_until),
	F(ENUM,     vmi, "act",           act),
	F(BOOL,     vmi, "queued",        queued),
	F(BOOL,     vmi, "hostShutdown",  host_shutdown),
	F(DEADLINE, vmi, "killAt",        kill_at),
	F(DEADLINE, vmi, "signalFirst",   signal_first),
	F(DEADLINE, vmi, "signalLast",    signal_last),
	F(DEADLINE, vmi, "askedLast",     asked_last),
	F(BOOL,     vmi, "rebooted",      rebooted),
	F(BOOL,     vmi, "prepared",      prepared),
	F(BOOL,     vmi, "claim",         claim),
	F(TEXT,     vmi, "domain",        domain),
	F(NUMBER,   vmi, "vmGeneration",  vm_generation),
	F(BOOL,     vmi, "cleaned",       cleaned),
	F(BOOL,     vmi, "lost",          lost),
	F(BOOL,     vmi, "emulated",      emulated),
	F(TEXT,     vmi, "console",       console),
	F(TEXT,     vmi, "nics",          nics),
	F(TEXT,     vmi, "fallback",      fallback),
	F(TEXT,     vmi, "graphics",      graphics),
	F(TEXT,     vmi, "firmware",      firmware),
	F(TEXT,     vmi, "held",          held),
	F(TEXT,     vmi, "media",         media),
	F(ENUM,     vmi, "words",         words),
};

static const struct field migration_fields[] = {
	F(ENUM,     migration, "role",       role),
	F(ENUM,     migration, "state",      state),
	F(TEXT,     migration, "vmi",        vmi),
	F(TEXT,     migration, "peer",       peer),
	F(UID,      migration, "vmiUID",     vmi_uid),
	F(UID,      migration, "owner",      owner),
	F(UID,      migration, "database",   database),
	F(NUMBER,   migration, "epoch",      epoch),
	F(BOOL,     migration, "performing", performing),
	F(BOOL,     migration, "restored",   restored),
	F(BOOL,     migration, "cancelled",  cancelled),
	F(BOOL,     migration, "succeeded",  succeeded),
	F(BOOL,     migration, "acked",      acked),
	F(BOOL,     migration, "second",     post_copy),
	F(BOOL,     migration, "moved",      moved),
	F(BOOL,     migration, "discard",    discard),
	F(BOOL,     migration, "asks",       asks),
	F(BOOL,     migration, "taken",      taken),
	F(BOOL,     migration, "reclaimed",  reclaimed),
	F(BOOL,     migration, "lost",       lost),
	F(TEXT,     migration, "reason",     reason),
	F(TEXT,     migration, "document",   document),
	F(TEXT,     migration, "offer",      offer),
	F(UNSIGNED, migration, "recovery",   recovery),
	F(DEADLINE, migration, "broke",      broke_at),
	F(DEADLINE, migration, "began",      began),
	F(NUMBER,   migration, "inDoubt",    doubt_wall),
	F(TEXT,     migration, "policy",     policy),
	F(TEXT,     migration, "address",    address),
	F(BOOL,     migration, "frozen",     frozen),
	F(NUMBER,   migration, "size",       size),
	F(NUMBER,   migration, "bandwidth",  limits.bandwidth),
	F(UNSIGNED, migration, "secondsPerGiB", limits.completion_s_per_gib),
	F(UNSIGNED, migration, "secondsStuck", limits.progress_s),
	F(UNSIGNED, migration, "downtime",   limits.max_downtime_ms),
	F(BOOL,     migration, "autoConverge", limits.auto_converge),
	F(BOOL,     migration, "postCopy",   limits.post_copy),
	F(BOOL,     migration, "disrupt",    limits.disrupt),
	F(NUMBER,   migration, "number",     number),
	F(TEXT,     migration, "spec",       spec),
	F(TEXT,     migration, "labels",     meta.labels),
	F(TEXT,     migration, "annotations", meta.annotations),
	F(NUMBER,   migration, "ready",      ready_wall),
	F(BOOL,     migration, "stands",     stands),
	F(ENUM,     migration, "mode",       mode),
};
/* clang-format on */

void vmi_shift(struct vmi *vmi, msec by)
{
	for (size_t i = 0; i < ARRAY_SIZE(vmi_fields); i++) {
		msec *at = (msec *)((char *)vmi + vmi_fields[i].offset);

		if (vmi_fields[i].type == FIELD_DEADLINE && *at && *at != NEVER)
			*at = MAX(*at + by, 1);
	}
}

static void write_times(cJSON *json, const struct condition_times *times)
{
	cJSON *object = cJSON_AddObjectToObject(json, "conditions");

	for (unsigned i = 0; i < times->n; i++) {
		cJSON *time = cJSON_AddObjectToObject(object, times->list[i].type);

		cJSON_AddStringToObject(time, "state", times->list[i].state);
		cJSON_AddNumberToObject(time, "since", (double)times->list[i].since);
	}
}

char *vm_state(const struct vm *vm)
{
	cJSON *json = cJSON_CreateObject();
	cJSON *requests = cJSON_AddArrayToObject(json, "requests");

	write_fields(json, meta_fields, ARRAY_SIZE(meta_fields), &vm->meta);
	write_fields(json, vm_fields, ARRAY_SIZE(vm_fields), vm);
	write_times(json, &vm->times);
	for (unsigned i = 0; i < vm->n_requests; i++) {
		cJSON *request = cJSON_CreateObject();

		write_fields(request, request_fields, ARRAY_SIZE(request_fields), &vm->requests[i]);
		cJSON_AddItemToArray(requests, request);
	}
	return json_take_text(json);
}

char *vmi_state(const struct vmi *vmi)
{
	cJSON *json = cJSON_CreateObject();
	cJSON *entered = cJSON_AddObjectToObject(json, "entered");

	write_fields(json, meta_fields, ARRAY_SIZE(meta_fields), &vmi->meta);
	write_fields(json, vmi_fields, ARRAY_SIZE(vmi_fields), vmi);
	write_times(json, &vmi->times);
	for (unsigned phase = 0; phase < PHASE_MAX; phase++) {
		if (vmi->phase_wall[phase])
			cJSON_AddNumberToObject(entered, phase_name(phase),
				(double)vmi->phase_wall[phase]);
	}
	return json_take_text(json);
}

char *migration_text(const struct migration *g)
{
	cJSON *json = cJSON_CreateObject();
	cJSON *entered = cJSON_AddObjectToObject(json, "entered");

	write_fields(json, meta_fields, ARRAY_SIZE(meta_fields), &g->meta);
	write_fields(json, migration_fields, ARRAY_SIZE(migration_fields), g);
	for (unsigned phase = 0; phase < MIGRATION_PHASE_MAX; phase++) {
		if (g->phase_wall[phase])
			cJSON_AddNumberToObject(entered, migration_phase_name(phase),
				(double)g->phase_wall[phase]);
	}
	return json_take_text(json);
}

/* ---- loading --------------------------------------------------------------------------------- */

static void read_times(const struct reader *r, struct condition_times *times)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(r->json, "conditions"))
	{
		struct condition_time *time = &times->list[times->n];
		const cJSON *since = cJSON_GetObjectItemCaseSensitive(item, "since");
		const char *state =
			cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "state"));

		if (times->n == CONDITIONS_MAX || !since || !state)
			continue;
		copy_str(time->type, sizeof(time->type), item->string);
		copy_str(time->state, sizeof(time->state), state);
		time->since = stored_number(since);
		times->n++;
	}
}

static void read_requests(const struct reader *r, struct vm *vm)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(r->json, "requests"))
	{
		struct reader one = { item, r->same_boot };

		if (vm->n_requests < REQUESTS_MAX)
			read_fields(&one, request_fields, ARRAY_SIZE(request_fields),
				&vm->requests[vm->n_requests++]);
	}
}

static void read_entered(const struct reader *r, struct vmi *vmi)
{
	const cJSON *entered = cJSON_GetObjectItemCaseSensitive(r->json, "entered");

	for (unsigned phase = 0; phase < PHASE_MAX; phase++) {
		const cJSON *at = cJSON_GetObjectItemCaseSensitive(entered, phase_name(phase));

		vmi->phase_wall[phase] = stored_number(at);
	}
}

static char *node_json_at(const struct node *root, const char *path)
{
	const struct node *node = node_at(root, path);

	return node ? node_json(node) : NULL;
}

static void read_texts(const struct node *root, struct object_meta *meta, char **spec)
{
	meta->labels = node_json_at(root, "metadata.labels");
	meta->annotations = node_json_at(root, "metadata.annotations");
	*spec = node_json_at(root, "spec");
}

static int parse_document(const char *document, struct documents *ret, struct err *err)
{
	struct place place;

	if (nodes_parse(document, strlen(document), ret, &place, err) < 0 || ret->n != 1)
		return err_set(err, ERR_INTERNAL, "a stored object cannot be read");
	return 0;
}

static bool enums_are_valid(const struct vm *vm)
{
	for (unsigned i = 0; i < vm->n_requests; i++)
		if (vm->requests[i].action >= REQUEST_ACTION_MAX)
			return false;
	return vm->strategy < STRATEGY_MAX && vm->recorded < STRATEGY_MAX &&
		vm->type_trouble < TYPE_TROUBLE_MAX;
}

static bool vmi_enums_are_valid(const struct vmi *vmi)
{
	return vmi->phase < PHASE_MAX && vmi->pause < PAUSE_MAX &&
		vmi->paused_by < DOMAIN_REASON_MAX && vmi->act < ACT_MAX &&
		vmi->words < WORDS_STATE_MAX && vmi->obstacle < OBSTACLE_MAX &&
		vmi->end.stopped < DOMAIN_REASON_MAX;
}

int vm_load(const char *document, const char *state, bool same_boot, struct vm **ret_vm,
	struct err *err)
{
	struct documents docs = { 0 };
	cJSON *json = json_read(state);
	struct reader r = { json, same_boot };
	struct vm *vm = xcalloc(1, sizeof(*vm));
	int ret = parse_document(document, &docs, err);

	if (ret == 0) {
		read_fields(&r, meta_fields, ARRAY_SIZE(meta_fields), &vm->meta);
		read_fields(&r, vm_fields, ARRAY_SIZE(vm_fields), vm);
		read_requests(&r, vm);
		read_times(&r, &vm->times);
		read_texts(docs.roots[0], &vm->meta, &vm->spec);
		vm_read_spec(vm, node_get(docs.roots[0], "spec"));
		if (!vm->meta.ns || !vm->meta.name || !vm->spec || !enums_are_valid(vm))
			ret = err_set(err, ERR_INTERNAL, "a stored virtual machine is not whole");
	}
	documents_done(&docs);
	cJSON_Delete(json);
	if (ret < 0)
		vm_free(take(&vm));
	else
		*ret_vm = vm;
	return ret;
}

int vmi_load(const char *document, const char *state, bool same_boot, struct vmi **ret_vmi,
	struct err *err)
{
	struct documents docs = { 0 };
	cJSON *json = json_read(state);
	struct reader r = { json, same_boot };
	struct vmi *vmi = xcalloc(1, sizeof(*vmi));
	int ret = parse_document(document, &docs, err);

	if (ret == 0) {
		read_fields(&r, meta_fields, ARRAY_SIZE(meta_fields), &vmi->meta);
		read_fields(&r, vmi_fields, ARRAY_SIZE(vmi_fields), vmi);
		read_entered(&r, vmi);
		read_times(&r, &vmi->times);
		vmi_labels_strip(docs.roots[0], NULL);
		read_texts(docs.roots[0], &vmi->meta, &vmi->spec);
		if (!vmi->meta.ns || !vmi->meta.name || !vmi->spec || !vmi_enums_are_valid(vmi))
			ret = err_set(err, ERR_INTERNAL, "a stored instance is not whole");
		else
			ret = spec_parse(node_get(docs.roots[0], "spec"), &vmi->typed, err);
	}
	documents_done(&docs);
	cJSON_Delete(json);
	if (ret < 0)
		vmi_free(take(&vmi));
	else
		*ret_vmi = vmi;
	return ret;
}

int migration_load(const char *state, bool same_boot, struct migration **ret, struct err *err)
{
	cJSON *json = json_read(state);
	const cJSON *entered = cJSON_GetObjectItemCaseSensitive(json, "entered");
	struct reader r = { json, same_boot };
	struct migration *g = xcalloc(1, sizeof(*g));

	read_fields(&r, meta_fields, ARRAY_SIZE(meta_fields), &g->meta);
	read_fields(&r, migration_fields, ARRAY_SIZE(migration_fields), g);
	for (unsigned phase = 0; phase < MIGRATION_PHASE_MAX; phase++) {
		const cJSON *at =
			cJSON_GetObjectItemCaseSensitive(entered, migration_phase_name(phase));

		g->phase_wall[phase] = stored_number(at);
	}
	cJSON_Delete(json);
	g->prepared = g->role == MIGRATION_TARGET && g->offer; /* it has been told so */
	g->asks |= !same_boot && migration_may_be_lost(g);
	if (!g->meta.ns || !g->meta.name || !g->vmi || !g->peer || g->role >= MIGRATION_ROLE_MAX ||
		g->state >= MIGRATION_STATE_MAX || g->mode > MIGRATION_MODE_PAUSED) {
		migration_free(g);
		return err_set(err, ERR_INTERNAL, "a stored migration is not whole");
	}
	*ret = g;
	return 0;
}
