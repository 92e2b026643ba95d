/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests that are to come: of what libvirt and the files of this host say (inquiries.c) all that
 * stands in their way is told at once; or this host gets ready, and a run waits for what will be
 * sent. Until then nothing is made.
 */
#include <string.h>

#include "core/edit.h"
#include "core/host_report.h"
#include "core/json.h"
#include "core/migration_check.h"
#include "core/domxml.h"
#include "daemon/arrivals_private.h"
#include "daemon/migration_objects.h"
#include "daemon/obstacles.h"

struct arrival { /* a guest that is to come */
	struct agent *agent;
	const struct inquiry *inquiry;
	const cJSON *json;
	const char *ns, *name;
	struct now now;
	/* What it is, as far as that can be read: */
	struct records objects;
	struct vmi *vmi;  /* owned or NULL */
	struct op *needs; /* borrowed: of which the work is wanted, or NULL */
};

/* ---- facts ----------------------------------------------------------------------------------- */

static bool is_stale(const struct arrival *a)
{
	const struct machine *m = machines_find(&a->agent->machines, a->ns, a->name);
	const char *owner = a->vmi ? luggage_owner(a->vmi) : "";
	int64_t epoch = a->inquiry->handover.epoch;

	for (size_t i = 0; i < a->agent->migrations.n; i++) {
		const struct migration *g = a->agent->migrations.list[i];

		if (g->moved && streq(g->meta.ns, a->ns) && streq(g->vmi, a->name) &&
			past_is_of(g->owner, owner) && g->epoch >= epoch)
			return true;
	}
	return past_epoch(a->agent, a->ns, a->name, owner) >= epoch ||
		(m && m->vm && past_is_of(m->vm->meta.uid, owner) && m->vm->epoch >= epoch);
}

static bool has_name(const struct arrival *a)
{
	const struct machine *m = machines_find(&a->agent->machines, a->ns, a->name);

	return m && ((m->vm && !m->vm->meta.deleted) || (m->vmi && !m->vmi->meta.deleted));
}

static long number_of(const struct arrival *a, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(a->json, key);

	return cJSON_IsNumber(item) && item->valuedouble > 0 && item->valuedouble < 1e15
		? (long)item->valuedouble
		: 0;
}

static bool has_machine(const struct arrival *a, const struct host_report *here)
{
	const char *type = cargo_text(a->json, "machine");
	autofree char *found = host_report_machine(here, type);

	return !here->machines || streq(found, type);
}

static bool has_class(const struct storage *storage, const char *name)
{
	for (size_t i = 0; i < storage->n_classes; i++)
		if (streq(storage->classes[i].name, name))
			return true;
	return !storage->n_classes;
}

/* Claims of a class that is not here would lie elsewhere. */
static char *classes_words(const struct arrival *a)
{
	const struct storage *storage = a->agent->options->storage;
	char *words = NULL;

	for (size_t i = 0; storage && i < a->objects.n && !words; i++) {
		const struct record *r = a->objects.list[i];
		struct claim claim = { 0 };

		if (r->kind == KIND_PVC)
			claim_read(r->content, &claim);
		if (claim.class_name && !has_class(storage, claim.class_name))
			words = xasprintf("it has no storage class '%s', of PersistentVolumeClaim '%s'",
				claim.class_name, r->meta.name);
		claim_done(&claim);
	}
	return words;
}

/* What a run of its own would wait for here. */
static void obstacle_words(const struct arrival *a, const struct machine *m,
	struct migration_facts *f)
{
	static const struct {
		enum migration_check check;
		enum obstacle (*find)(const struct agent *agent, const struct machine *m,
			char **ret_words);
	} rules[] = {
		{ MIGRATION_CHECK_KVM, kvm_obstacle },
		{ MIGRATION_CHECK_PLACE, placing_obstacle },
		{ MIGRATION_CHECK_CLAIMS, claims_obstacle },
		{ MIGRATION_CHECK_VOLUMES, disks_obstacle },
		{ MIGRATION_CHECK_MEDIA, media_obstacle },
		{ MIGRATION_CHECK_NETWORKS, networks_obstacle },
		{ MIGRATION_CHECK_MACS, macs_obstacle },
		{ MIGRATION_CHECK_ROOM, capacity_obstacle },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		rules[i].find(a->agent, m, &f->words[rules[i].check]);
}

static char *words_of(const struct err *err)
{
	return xstrdup(err->msg);
}

/* The guest has read them, and may read on: they must be the same ones. */
static char *media_words(const struct arrival *a, const struct machine *m)
{
	autofree char *now = media_digest(a->agent, m);

	if (!m->vmi->media || streq(now, m->vmi->media))
		return NULL;
	return xstrdup(
		"what its media are made of was changed since it began, so that they would not be the "
		"same there: restart it first");
}

/* All that PREPARE would have to do for it. */
static void list_needs(const struct arrival *a, const struct machine *m)
{
	const struct vmi_spec *spec = &m->vmi->typed;
	autofree char *directory = agent_run_directory(a->agent, m->vmi);

	a->needs->ns = xstrdup(a->ns);
	a->needs->name = xstrdup(a->name);
	volume_works(spec, directory, &a->needs->work, &a->needs->n_work);
	ops_expect_shared(spec, a->needs);
	networks_fill_prepare(a->agent, m, a->needs);
}

/* As a run that finds here what comes with it. */
static void run_facts(const struct arrival *a, struct migration_facts *f)
{
	autofree char *ns = xstrdup(a->ns), *name = xstrdup(a->name);
	struct machine m = { .ns = ns, .name = name, .vmi = a->vmi };
	struct err err;

	a->agent->beside = &a->objects;
	claims_bind(a->agent, &m);
	if (migrations_check_run(a->vmi, &err) < 0)
		f->words[MIGRATION_CHECK_LIVE] = words_of(&err);
	if (!f->has_name)
		obstacle_words(a, &m, f);
	if (!f->words[MIGRATION_CHECK_MEDIA])
		f->words[MIGRATION_CHECK_MEDIA] = media_words(a, &m);
	if (a->needs)
		list_needs(a, &m);
	a->agent->beside = NULL;
}

/* Its VM is checked as well, so that what comes with COMMIT is no surprise. */
static int read_guest(struct arrival *a, bool is_new, struct err *err)
{
	struct vm *vm;

	if (cargo_vm(a->agent, a->json, is_new, &vm, err) < 0)
		return -(int)err->code;
	vm_free(vm);
	if (cargo_run(a->agent, a->json, is_new, &a->vmi, err) < 0)
		return -(int)err->code;
	if (a->vmi->phase == PHASE_RUNNING)
		return 0;
	vmi_free(take(&a->vmi));
	return err_set(err, ERR_BAD_REQUEST, "it is another run");
}

static void guest_facts(struct arrival *a, struct migration_facts *f)
{
	struct err err;

	if (luggage_read(a->agent, a->json, a->ns, &a->objects, &err) < 0)
		f->words[MIGRATION_CHECK_OBJECTS] = words_of(&err);
	if (read_guest(a, !f->has_name, &err) < 0)
		f->words[MIGRATION_CHECK_VALID] = words_of(&err);
	if (!a->vmi)
		return;
	f->adopted = a->vmi->domain;
	f->firmware = a->vmi->typed.bootloader == BOOTLOADER_BIOS ? NULL : a->vmi->firmware;
	if (!f->words[MIGRATION_CHECK_OBJECTS])
		f->words[MIGRATION_CHECK_OBJECTS] =
			luggage_conflicts(a->agent, &a->objects, luggage_owner(a->vmi));
	f->words[MIGRATION_CHECK_CLASSES] = classes_words(a);
	run_facts(a, f);
}

static void find_out(struct arrival *a, const struct host_report *here, struct findings *ret)
{
	const struct agent_options *o = a->agent->options;
	bool emulated = json_is_true(a->json, "emulated"),
	     told = cJSON_HasObjectItem(a->json, "emulated");
	struct migration_facts f = {
		.enabled = o->migrations,
		.going_down = a->agent->hostdown.active,
		.connected = a->agent->connected,
		.has_name = has_name(a),
		.they_disable_tls = json_is_true(a->json, "disableTLS"),
		.we_disable_tls = o->disable_tls,
		.their_host = cargo_text(a->json, "hostUUID"),
		.our_host = o->host_uuid,
		.needs_kvm = told && !emulated,
		.needs_tcg = told && emulated,
		.has_kvm = o->kvm,
		.their_qemu = number_of(a, "qemu"),
		.our_qemu = here->qemu,
		.machine = cargo_text(a->json, "machine"),
		.has_machine = has_machine(a, here),
		.firmwares = here->firmwares,
		.cpu = here->misfit,
		.copies = number_of(a, "copies"),
		.space = here->space,
		.folder = o->state_dir,
	};

	guest_facts(a, &f);
	f.stale = is_stale(a);
	migration_check(&f, ret);
	migration_facts_done(&f);
}

/* ---- admitting ------------------------------------------------------------------------------- */

/* Why it is not taken on now, but may be later; NULL: it may be now. */
static const char *busy_words(const struct arrival *a)
{
	const struct agent *agent = a->agent;

	if (agent->rebuilding)
		return "its database is new, and its peers are asked first what they have";
	if (machines_find(&agent->machines, a->ns, a->name))
		return "what it had of that name is not gone yet";
	if (migrations_unfinished(agent, a->ns, a->name))
		return "an earlier migration of it has not ended there";
	if (migrations_under_way(agent, MIGRATION_TARGET) >=
		agent->options->tuning.migrations.inbound)
		return "as many as may come to it at once are on their way";
	return NULL;
}

static struct migration *arrive(const struct arrival *a)
{
	const struct handover *h = &a->inquiry->handover;
	struct migration *g = xcalloc(1, sizeof(*g));

	g->role = MIGRATION_TARGET;
	g->state = MIGRATION_IN;
	copy_str(g->meta.uid, UID_SIZE, h->migration);
	g->meta.ns = xstrdup(a->ns);
	g->meta.name = xasprintf("%.200s-%.8s", a->name, h->migration);
	g->meta.created = a->now.wall;
	g->vmi = xstrdup(a->name);
	g->peer = xstrdup(a->inquiry->peer);
	g->epoch = h->epoch;
	g->document = xstrdup(a->inquiry->document);
	copy_str(g->database, UID_SIZE, h->database);
	return g;
}

/* Its VM waits for it: who looks sees which is to come. */
static struct vm *receiver(const struct arrival *a)
{
	struct vm *vm;
	struct err ignored;

	return cargo_vm(a->agent, a->json, false, &vm, &ignored) == 0 ? vm : NULL;
}

/* The run waits for what will be sent: nobody but the migration does anything to it. */
static void admit(struct arrival *a)
{
	struct agent *agent = a->agent;
	struct vmi *vmi = take(&a->vmi);
	struct machine *m;
	struct migration *g;

	namespace_use(agent, a->ns, a->now);
	luggage_keep(agent, &a->objects, luggage_owner(vmi), a->now);
	vmi_shift(vmi, cargo_ahead(a->json, a->now));
	m = machines_get(&agent->machines, a->ns, a->name);
	cargo_unpack(agent, m, receiver(a), vmi);
	if (m->vm)
		vm_change_strategy(m, STRATEGY_WAIT_AS_RECEIVER);
	claims_bind(agent, m);
	vmi_set_phase(vmi, PHASE_WAITING_FOR_SYNC, a->now);
	memset(&m->dom, 0, sizeof(m->dom));
	g = arrive(a);
	copy_str(g->vmi_uid, UID_SIZE, vmi->meta.uid);
	copy_str(g->owner, UID_SIZE, luggage_owner(vmi));
	migration_object_arrives(agent, g, cJSON_GetObjectItemCaseSensitive(a->json, "migration"));
	migrations_add(agent, g);
	m->migration = g;
	migration_touch(agent, g);
}

/* ---- answering ------------------------------------------------------------------------------- */

static struct handover *tell(const struct arrival *a, enum handover_kind kind, char *document)
{
	struct handover *h =
		handover_answer(a->agent, a->inquiry->peer, &a->inquiry->handover, kind);

	h->document = a->agent->letters[a->agent->n_letters - 1].document = document;
	return h;
}

static void decline(const struct arrival *a, const struct findings *findings)
{
	autofree char *words = migration_findings_words(findings);

	copy_str(tell(a, HANDOVER_DECLINED, migration_findings_write(findings))->why, PEER_WHY_SIZE,
		words);
}

static void put_off(struct handover *busy, const char *words)
{
	copy_str(busy->why, PEER_WHY_SIZE, words);
}

static void settle(struct arrival *a, const struct findings *findings)
{
	const char *busy = busy_words(a);

	if (a->inquiry->handover.kind == HANDOVER_CHECK)
		tell(a, HANDOVER_CHECKED, migration_findings_write(findings))->room =
			capacity_free(a->agent);
	else if (busy && !has_name(a) && a->agent->options->migrations)
		put_off(tell(a, HANDOVER_BUSY, NULL), busy);
	else if (findings->n)
		decline(a, findings);
	else
		admit(a);
}

static void arrival_begin(struct arrival *a, struct agent *agent, const struct inquiry *inquiry,
	cJSON *json, struct now now)
{
	*a = (struct arrival){ .agent = agent,
		.inquiry = inquiry,
		.json = json,
		.ns = cargo_text(json, "namespace"),
		.name = cargo_text(json, "name"),
		.now = now };
}

static void arrival_done(struct arrival *a)
{
	records_done(&a->objects);
	vmi_free(a->vmi);
}

/* What is not there keeps a start waiting, which is what PREPARE is: it may come yet. */
static void add_missing(const char *missing, struct findings *ret)
{
	struct findings found = { 0 };

	migration_findings_read(missing, &found);
	for (size_t i = 0; i < found.n; i++) {
		const struct finding *f = &found.list[i];

		if (migration_findings_are_late(&found))
			findings_add(ret, NULL, f->field, "%s", f->message);
		else
			findings_add(ret, NULL, f->field,
				"%s; an order that names its target waits %d s for that",
				f->message, MIGRATION_PREPARE_S);
	}
	findings_done(&found);
}

void arrival_judge(struct agent *agent, const struct inquiry *inquiry, const char *missing,
	struct now now)
{
	cJSON *json = json_read(inquiry->document);
	struct findings findings = { 0 };
	struct host_report here;
	struct arrival a;

	arrival_begin(&a, agent, inquiry, json, now);
	host_report_read(inquiry->report, &here);
	if (a.ns && a.name)
		find_out(&a, &here, &findings);
	else
		findings_add(&findings, NULL, "name", "it does not say which guest it is about");
	add_missing(missing, &findings);
	settle(&a, &findings);
	findings_done(&findings);
	host_report_done(&here);
	arrival_done(&a);
	cJSON_Delete(json);
}

void arrival_needs(struct agent *agent, const struct inquiry *inquiry, struct op *ret,
	struct now now)
{
	cJSON *json = json_read(inquiry->document);
	struct migration_facts ignored = { 0 };
	struct arrival a;

	arrival_begin(&a, agent, inquiry, json, now);
	a.needs = ret;
	ignored.has_name = a.ns && a.name && has_name(&a);
	if (a.ns && a.name)
		guest_facts(&a, &ignored);
	migration_facts_done(&ignored);
	arrival_done(&a);
	cJSON_Delete(json);
}
