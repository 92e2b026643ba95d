/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end state of a run: what must be the same however often the agent was killed on the way.
 * Times and UIDs are left out; that a QEMU was started once more than needed is not.
 */
#include <string.h>

#include "sim.h"

struct ending {
	struct world *w;
	struct buf text;
};

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

static int add_vm(void *ctx, const struct object_row *row)
{
	struct ending *e = ctx;
	cJSON *root = cJSON_Parse(row->object), *state = cJSON_Parse(row->state);

	buf_printf(&e->text,
		"vm %s strategy %s printable %s deleted %s memory %s failures %s loop %s",
		row->name, or_none(look_text(root, "spec.runStrategy")),
		or_none(look_text(root, "status.printableStatus")),
		look_text(root, "metadata.deletionTimestamp") ? "yes" : "no",
		or_none(look_text(root, "spec.template.spec.domain.memory.guest")),
		or_none(look_text(root, "status.startFailure.consecutiveFailCount")),
		or_none(look_text(root, "status.conditions.CrashLoop.reason")));
	buf_printf(&e->text, " crashes %s\n", or_none(look_text(state, "crashes")));
	cJSON_Delete(root);
	cJSON_Delete(state);
	return 0;
}

static int add_vmi(void *ctx, const struct object_row *row)
{
	struct ending *e = ctx;
	cJSON *root = cJSON_Parse(row->object);

	buf_printf(&e->text, "vmi %s phase %s reason %s start %s owner %s\n", row->name,
		or_none(look_text(root, "status.phase")), or_none(look_text(root, "status.reason")),
		or_none(look_text(root, "spec.startStrategy")), look_owner(e->w, row->name, root));
	cJSON_Delete(root);
	return 0;
}

static int add_record(void *ctx, const struct object_row *row)
{
	struct ending *e = ctx;
	cJSON *root = cJSON_Parse(row->object);

	buf_printf(&e->text, "%s %s/%s %s\n", object_kind_name(row->kind), row->ns, row->name,
		or_none(look_text(root, "status.phase")));
	cJSON_Delete(root);
	return 0;
}

static int add_migration(void *ctx, const struct object_row *row)
{
	struct ending *e = ctx;
	cJSON *root = cJSON_Parse(row->object), *state = cJSON_Parse(row->state);

	buf_printf(&e->text, "migration of %s to %s %s%s\n", look_text(root, "spec.vmiName"),
		look_text(root, "status.migrationState.targetNode"),
		look_text(root, "status.phase"),
		cJSON_GetObjectItemCaseSensitive(state, "acked") ? "" : ", not over");
	cJSON_Delete(root);
	cJSON_Delete(state);
	return 0;
}

static void add_records(struct ending *e)
{
	for (int kind = 0; kind < KIND_MAX; kind++) {
		struct object_query query = { .kind = kind };

		if (object_kind_home(kind) == HOME_RECORD)
			store_each(e->w->store, &query, add_record, e, NULL);
	}
}

static int note_uid(void *ctx, const struct object_row *row)
{
	buf_printf(ctx, "%s ", row->uid);
	return 0;
}

static int compare_domains(const void *a, const void *b)
{
	return strcmp(((const struct fake_domain *)a)->name, ((const struct fake_domain *)b)->name);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void add_host(struct ending *e)
{
	struct fake *f = &e->w->fake;
	struct object_query query = { .kind = KIND_VMI }, vms = { .kind = KIND_VM };
	struct buf uids = { 0 };

	buf_puts(&uids, "");
	store_each(e->w->store, &query, note_uid, &uids, NULL);
	qsort(f->domains, DOMAINS_MAX, sizeof(f->domains[0]), compare_domains);
	for (size_t i = 0; i < DOMAINS_MAX; i++) {
		const struct fake_domain *dom = &f->domains[i];

		if (!dom->exists)
			continue;
		buf_printf(&e->text, "domain %s %s%s\n", dom->name, domain_state_name(dom->state),
			dom->foreign || strstr(uids.data, dom->owner) ? "" : " LEFT OVER");
	}
	store_each(e->w->store, &vms, note_uid, &uids, NULL);
	for (size_t i = 0; i < f->n_dirs; i++) {
		if (!strstr(uids.data, f->dirs[i]))
			buf_puts(&e->text, "folder of a run or a VM LEFT OVER\n");
	}
	qsort(f->claims, f->n_claims, sizeof(f->claims[0]), compare_texts);
	for (size_t i = 0; i < f->n_claims; i++)
		buf_printf(&e->text, "file of the claim %s\n", f->claims[i]);
	buf_done(&uids);
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct fake_guest *)a)->name, ((const struct fake_guest *)b)->name);
}

static void add_boots(struct ending *e)
{
	struct fake *f = &e->w->fake;

	qsort(f->guests, f->n_guests, sizeof(f->guests[0]), compare);
	for (size_t i = 0; i < f->n_guests; i++) {
		if (f->guests[i].boots)
			buf_printf(&e->text, "guest %s booted %u\n", f->guests[i].name,
				f->guests[i].boots);
	}
}

static int add_origin(void *ctx, const struct provenance_row *row)
{
	struct ending *e = ctx;

	buf_printf(&e->text, "file %s declares %s: %s\n", row->file, row->name,
		provenance_name(row->state));
	return 0;
}

char *look_end(struct world *w)
{
	struct object_query vms = { .kind = KIND_VM }, vmis = { .kind = KIND_VMI };
	struct object_query migrations = { .kind = KIND_MIGRATION };
	struct ending e = { .w = w };

	buf_puts(&e.text, "");
	store_each(w->store, &vms, add_vm, &e, NULL);
	store_each(w->store, &vmis, add_vmi, &e, NULL);
	store_each(w->store, &migrations, add_migration, &e, NULL);
	add_records(&e);
	add_host(&e);
	store_each_provenance(w->store, add_origin, &e, NULL);
	buf_puts(&e.text, "\f\n");
	add_boots(&e);
	return e.text.data;
}

/* ---- rest ------------------------------------------------------------------------------------ */

static int count_row(void *ctx, const struct object_row *row)
{
	(void)row;
	++*(unsigned *)ctx;
	return 0;
}

/* It waits for another one of its name, which is there. */
static bool is_contested(struct world *w, const char *name, const cJSON *vm)
{
	struct object_query vms = { .kind = KIND_VM, .name = name };
	struct object_query vmis = { .kind = KIND_VMI, .name = name };
	unsigned others = 0;
	struct world *host;

	if (!streq(look_text(vm, "status.conditions.Synchronized.reason"), "MovedAway"))
		return false;
	for (unsigned i = 0; (host = world_host(w, i)); i++) {
		if (host == w)
			continue;
		store_each(host->store, &vms, count_row, &others, NULL);
		store_each(host->store, &vmis, count_row, &others, NULL);
	}
	return others;
}

/* What is wrong with a VM that nothing troubles any more, or NULL. */
static const char *unrest(const cJSON *vm, const cJSON *vmi, bool runs)
{
	const char *strategy = look_text(vm, "spec.runStrategy");
	const char *phase = look_text(vmi, "status.phase");
	bool running = streq(phase, "Running");

	if (look_text(vm, "metadata.deletionTimestamp"))
		return "is still being deleted";
	if (vmi && look_text(vmi, "metadata.deletionTimestamp"))
		return "has a run that is still being stopped";
	if (vmi && !running && !streq(phase, "Succeeded") && !streq(phase, "Failed"))
		return "has a run that gets nowhere";
	if (running != runs)
		return running ? "is Running without a QEMU" : "has a QEMU and is not Running";
	if (streq(strategy, "Always") && !running)
		return "is not started";
	return streq(strategy, "Halted") && vmi ? "is not stopped" : NULL;
}

static int check_vm(void *ctx, const struct object_row *row)
{
	struct world *w = ctx;
	autofree char *domain = xasprintf("default_%s", row->name);
	autofree char *object = look_object(w, KIND_VMI, row->name);
	cJSON *vm = cJSON_Parse(row->object), *vmi = object ? cJSON_Parse(object) : NULL;
	const struct fake_domain *dom = fake_find(w, domain);
	const char *why = unrest(vm, vmi, dom && dom->active);

	if (why && !is_contested(w, row->name, vm))
		world_fail(w, "all is well, and %s %s", row->name, why);
	cJSON_Delete(vm);
	cJSON_Delete(vmi);
	return 0;
}

/* Each machine is at one host, be it where it was or where it was moved; another one of its
 * name is another machine. */
static void check_homes(struct world *w)
{
	struct object_query vms = { .kind = KIND_VM, .name = "web" };
	struct buf uids = { 0 };
	unsigned homes;
	struct world *host;

	buf_puts(&uids, "");
	for (unsigned i = 0; (host = world_host(w, i)); i++)
		store_each(host->store, &vms, note_uid, &uids, NULL);
	homes = (unsigned)(uids.len / UID_SIZE); /* each with its blank */
	for (const char *uid = uids.data; *uid; uid += UID_SIZE) {
		autofree char *one = xstrndup(uid, UID_SIZE);

		if (strstr(uid + 1, one))
			world_fail(w, "all is well, and web is at two hosts");
	}
	if (homes != 1 && !w->lab->remade)
		world_fail(w, "all is well, and web is at %u hosts", homes);
	buf_done(&uids);
}

void look_rest(struct world *w)
{
	struct object_query vms = { .kind = KIND_VM };
	autofree char *end = look_end(w);

	store_each(w->store, &vms, check_vm, w, NULL);
	if (w->lab && !w->host)
		check_homes(w);
	if (strstr(end, "not over"))
		world_fail(w, "all is well, and a migration does not end:\n%s", end);
	if (strstr(end, "LEFT OVER"))
		world_fail(w, "all is well, and something is left over:\n%s", end);
}
