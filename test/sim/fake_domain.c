/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake domains and what each op does to them, with the owner checks that the port promises
 * (include/vmagent/hypervisor.h, src/io/virt_*.c). It knows nothing of time or of the agent.
 */
#include <string.h>

#include "core/domxml.h"
#include "core/host_report.h"
#include "core/migration_check.h"
#include "sim.h"

/* ---- domains --------------------------------------------------------------------------------- */

struct fake_domain *fake_find(struct world *w, const char *name)
{
	for (size_t i = 0; i < DOMAINS_MAX; i++) {
		if (w->fake.domains[i].exists && streq(w->fake.domains[i].name, name))
			return &w->fake.domains[i];
	}
	return NULL;
}

struct fake_domain *fake_find_any(struct world *w, const char *name)
{
	autofree char *ours = xasprintf("default_%s", name);
	struct fake_domain *dom = fake_find(w, ours);

	return dom ? dom : fake_find(w, name);
}

struct fake_domain *fake_find_uuid(struct world *w, const char *uuid)
{
	for (size_t i = 0; i < DOMAINS_MAX; i++) {
		if (w->fake.domains[i].exists && streq(w->fake.domains[i].uuid, uuid))
			return &w->fake.domains[i];
	}
	return NULL;
}

struct fake_domain *fake_add(struct world *w, const char *name)
{
	for (size_t i = 0; i < DOMAINS_MAX; i++) {
		struct fake_domain *dom = &w->fake.domains[i];
		uint64_t boot = dom->boot;

		if (dom->exists)
			continue;
		*dom = (struct fake_domain){ .exists = true, .boot = boot };
		dom->state = DOMAIN_SHUTOFF;
		copy_str(dom->name, sizeof(dom->name), name);
		return dom;
	}
	world_fail(w, "the simulation has no room for another domain");
	return &w->fake.domains[0];
}

/* An adopted domain's guest is the same under both of its names. */
struct fake_guest *fake_guest(struct world *w, const char *name)
{
	if (starts_with(name, "default_"))
		name += strlen("default_");
	for (size_t i = 0; i < w->fake.n_guests; i++) {
		if (streq(w->fake.guests[i].name, name))
			return &w->fake.guests[i];
	}
	if (w->fake.n_guests == DOMAINS_MAX) {
		world_fail(w, "the simulation has no room for another guest");
		return &w->fake.guests[0];
	}

	struct fake_guest *guest = &w->fake.guests[w->fake.n_guests++];

	copy_str(guest->name, sizeof(guest->name), name);
	return guest;
}

/* ---- what the ops do ------------------------------------------------------------------------- */

static void add_info(struct world *w, struct op_result *result, const struct fake_domain *dom)
{
	struct domain_info *info;

	result->domains = xrealloc_array(result->domains, result->n_domains + 1, sizeof(*info));
	info = &result->domains[result->n_domains++];
	*info = (struct domain_info){ .name = xstrdup(dom->name),
		.state = dom->state,
		.reason = dom->reason,
		.active = dom->active,
		.held = dom->active && dom->held[0] ? xstrdup(dom->held) : NULL,
		.migrating = dom->active && fake_is_migrating(w, dom->uuid),
		.firmware = dom->active && dom->efi ? xstrdup(FAKE_FIRMWARE) : NULL,
		.agent = dom->active && fake_guest(w, dom->name)->agent != FAKE_AGENT_OFF };
	copy_str(info->uuid, UID_SIZE, dom->uuid);
	copy_str(info->owner, UID_SIZE, dom->owner);
}

static bool is_ours(const struct fake_domain *dom, const struct op *op, struct err *err)
{
	if (streq(dom->owner, op->vmi_uid))
		return true;
	if (dom->owner[0])
		err_set(err, ERR_CONFLICT, "domain '%s' %s another VMI, %s", dom->name,
			dom->active ? "runs for" : "is left from", dom->owner);
	else
		err_set(err, ERR_CONFLICT, "domain '%s' was not made by vmagent", dom->name);
	return false;
}

static void do_list(struct world *w, const struct op *op, struct op_result *result)
{
	(void)op;
	for (size_t i = 0; i < DOMAINS_MAX; i++) {
		if (w->fake.domains[i].exists)
			add_info(w, result, &w->fake.domains[i]);
	}
}

static void do_read(struct world *w, const struct op *op, struct op_result *result)
{
	const struct fake_domain *dom = fake_find_uuid(w, op->uuid);

	if (dom)
		add_info(w, result, dom);
}

/* Files of the host lie in /disks here. */
static void copy_disk(struct fake_domain *dom, const char *xml)
{
	const char *source = strstr(xml, "file=\"/disks/");

	dom->disk[0] = '\0';
	dom->shares = strstr(xml, "<shareable/>");
	if (!source)
		return;
	source += strlen("file=\"");
	copy_str(dom->disk, MIN(sizeof(dom->disk), strcspn(source, "\"") + 1), source);
}

static char *xml_of(const struct fake_domain *dom)
{
	return xasprintf("<domain type='kvm'><name>%s</name><uuid>%s</uuid>"
			 "<memory unit='MiB'>64</memory><vcpu>1</vcpu>"
			 "<os><type arch='x86_64' machine='q35'>hvm</type></os>"
			 "<features>%s</features><devices><disk type='file' device='disk'>"
			 "<driver name='qemu' type='raw'/><source file='/disks/%s.img'/>"
			 "<target dev='vda' bus='virtio'/></disk></devices></domain>",
		dom->name, dom->uuid, dom->acpi ? "<acpi/>" : "", dom->name);
}

static void do_describe(struct world *w, const struct op *op, struct op_result *result)
{
	const struct fake_domain *dom = fake_find(w, op->domain);

	if (!dom) {
		err_set(&result->err, ERR_NOT_FOUND, "libvirt has no domain '%s'", op->domain);
		return;
	}
	add_info(w, result, dom);
	result->detail = xcalloc(1, sizeof(*result->detail));
	result->detail->config_xml = xml_of(dom);
	result->detail->live_xml = dom->active ? xml_of(dom) : NULL;
	result->detail->persistent = true;
	result->detail->autostart = dom->autostart;
}

static void do_claim(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = fake_find_uuid(w, op->uuid);
	char owner[UID_SIZE];

	if (!domain_metadata_parse(op->xml, owner, NULL) || !streq(owner, op->vmi_uid))
		world_fail(w, "the metadata for '%s' do not say whose it is", op->domain);
	if (!dom) {
		err_set(&result->err, ERR_DOMAIN_GONE, "domain '%s' is gone", op->domain);
	} else if (dom->owner[0] && !is_ours(dom, op, &result->err)) {
		return;
	} else {
		dom->foreign = dom->autostart = false;
		copy_str(dom->owner, UID_SIZE, op->vmi_uid);
	}
}

/* As virt_make_room() does: the shut-off domain that the VM adopted gets our name. */
static void make_room(struct fake_domain *dom, const struct op *op, struct err *err)
{
	if (!dom || !op->replaces || dom->owner[0] ||
		(!streq(dom->name, op->replaces) && !streq(dom->name, op->domain)))
		return;
	if (dom->active) {
		err_set(err, ERR_CONFLICT, "domain '%s' runs already, and not by vmagent",
			dom->name);
		return;
	}
	copy_str(dom->name, sizeof(dom->name), op->domain);
	copy_str(dom->owner, UID_SIZE, op->vmi_uid);
	dom->foreign = false;
}

static void do_start(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = fake_find_uuid(w, op->uuid);
	char owner[UID_SIZE];

	make_room(dom, op, &result->err);
	if (result->err.code || (dom && !is_ours(dom, op, &result->err)))
		return;
	if (!dom && fake_find(w, op->domain)) {
		err_set(&result->err, ERR_CONFLICT,
			"there is a domain '%s' already, with another UUID", op->domain);
		return;
	}
	if (!dom)
		dom = fake_add(w, op->domain);
	if (!domain_metadata_parse(op->xml, owner, NULL) || !streq(owner, op->vmi_uid))
		world_fail(w, "the XML of '%s' does not say whose it is", op->domain);
	copy_str(dom->uuid, UID_SIZE, op->uuid);
	copy_str(dom->owner, UID_SIZE, op->vmi_uid);
	dom->acpi = strstr(op->xml, "<acpi/>");
	copy_disk(dom, op->xml);
	dom->panic_device = strstr(op->xml, "<panic ");
	fake_nvram_take(dom, op);
	if (!dom->active) {
		fake_take_share(w, dom, op->xml);
		fake_nvram_boot(w, dom);
		domain_boot(w, dom);
		if (op->paused)
			domain_pause(w, dom, true);
	}
	add_info(w, result, dom);
}

static void do_shutdown(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = fake_find_uuid(w, op->uuid);

	if (!dom)
		err_set(&result->err, ERR_DOMAIN_GONE, "domain '%s' is gone", op->domain);
	else if (is_ours(dom, op, &result->err))
		domain_press(w, dom);
}

/* The domain, if it is there, ours and alive; else the error that libvirt has for it. */
static struct fake_domain *ours_alive(struct world *w, const struct op *op, struct err *err)
{
	struct fake_domain *dom = fake_find_uuid(w, op->uuid);

	if (!dom)
		err_set(err, ERR_DOMAIN_GONE, "domain '%s' is gone", op->domain);
	else if (is_ours(dom, op, err) && !dom->active)
		err_set(err, ERR_HYPERVISOR, "domain is not running");
	return err->code ? NULL : dom;
}

bool fake_agent_hangs(struct world *w, const struct op *op)
{
	struct fake_guest *guest = fake_guest(w, op->domain);
	bool hangs = guest->agent == FAKE_AGENT_HUNG;

	guest->unanswered += hangs;
	return hangs;
}

/* The domain, if it is ours and alive and its agent answers; else the error that
 * libvirt has for it. */
static struct fake_domain *ours_answering(struct world *w, const struct op *op, struct err *err)
{
	struct fake_domain *dom = ours_alive(w, op, err);

	if (dom && fake_guest(w, dom->name)->agent == FAKE_AGENT_OFF)
		err_set(err, ERR_TIMEOUT, "the guest agent is not connected");
	return err->code ? NULL : dom;
}

static void do_agent_shutdown(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = ours_answering(w, op, &result->err);

	if (dom)
		domain_ask(w, dom);
}

static void do_agent_reboot(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = ours_answering(w, op, &result->err);

	if (!dom)
		return;
	fake_guest(w, dom->name)->agent_reboots++;
	domain_ask_reboot(w, dom);
}

static void do_agent_time(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = ours_answering(w, op, &result->err);

	if (dom)
		fake_guest(w, dom->name)->clocks++;
}

/* Of a user "nobody" it knows nothing. */
static void do_agent_credentials(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = ours_answering(w, op, &result->err);

	if (dom && op->question && strstr(op->question, "\"nobody\""))
		err_set(&result->err, ERR_HYPERVISOR, "there is no such user");
	else if (dom)
		fake_guest(w, dom->name)->credentials++;
}

static void do_agent_info(struct world *w, const struct op *op, struct op_result *result)
{
	static const char *const commands[] = { "guest-ping", "guest-get-time", "guest-info",
		"guest-shutdown", "guest-network-get-interfaces", "guest-get-fsinfo",
		"guest-get-host-name", "guest-get-users", "guest-get-timezone",
		"guest-get-osinfo" };
	struct fake_domain *dom = ours_answering(w, op, &result->err);
	struct buf text = { 0 };

	if (!dom)
		return;
	fake_guest(w, dom->name)->infos++;
	buf_puts(&text, "{\"return\":{\"version\":\"7.2.22\",\"supported_commands\":[");
	for (size_t i = fake_guest(w, dom->name)->agent == FAKE_AGENT_OLD; i < ARRAY_SIZE(commands);
		i++)
		buf_printf(&text, "{\"enabled\":true,\"name\":\"%s\"}%s", commands[i],
			i + 1 < ARRAY_SIZE(commands) ? "," : "]}}");
	result->text = text.data;
}

static void do_suspend(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = ours_alive(w, op, &result->err);

	if (!dom)
		return;
	fake_guest(w, dom->name)->suspends++;
	domain_pause(w, dom, true);
}

static void do_resume(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = ours_alive(w, op, &result->err);

	if (!dom)
		return;
	fake_guest(w, dom->name)->resumes++;
	domain_pause(w, dom, false);
}

static void do_reboot(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = ours_alive(w, op, &result->err);

	if (!dom)
		return;
	fake_guest(w, dom->name)->reboots++;
	domain_press_reboot(w, dom);
}

/* No lifecycle event tells of it. */
static void do_reset(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = ours_alive(w, op, &result->err);

	if (dom)
		fake_guest(w, dom->name)->resets++;
}

static void do_destroy(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = fake_find_uuid(w, op->uuid);
	struct fake_guest *guest;

	if (!dom || !dom->active || !is_ours(dom, op, &result->err))
		return;
	if (dom->incoming) { /* libvirt keeps no definition of it */
		dom->exists = dom->active = false;
		return;
	}
	watch_discard(w, dom);
	guest = fake_guest(w, dom->name);
	guest->kills++;
	guest->killed_at = w->t;
	domain_end(w, dom, REASON_DESTROYED);
}

static void do_undefine(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = fake_find_uuid(w, op->uuid);
	struct domain_event event = { .kind = DOMAIN_EVENT_UNDEFINED };

	if (!dom || !is_ours(dom, op, &result->err))
		return;
	if (dom->active) {
		err_set(&result->err, ERR_CONFLICT, "domain '%s' is still active", dom->name);
		return;
	}
	fake_emit(w, dom, &event);
	dom->exists = false;
}

static void add_dir(struct fake *f, const char *uid)
{
	for (size_t i = 0; i < f->n_dirs; i++) {
		if (streq(f->dirs[i], uid))
			return;
	}
	if (f->n_dirs < TRACKED_MAX)
		copy_str(f->dirs[f->n_dirs++], UID_SIZE, uid);
}

static void remove_dir(struct fake *f, const char *uid)
{
	for (size_t i = 0; i < f->n_dirs; i++) {
		if (streq(f->dirs[i], uid))
			memmove(f->dirs[i], f->dirs[--f->n_dirs], UID_SIZE);
	}
}

/* The folder of a claim is there, or is not. */
static void fake_claim(struct world *w, const char *folder, bool there)
{
	struct fake *f = &w->fake;
	size_t i = 0;

	while (i < f->n_claims && !streq(f->claims[i], folder))
		i++;
	if (!there && i < f->n_claims)
		memmove(f->claims[i], f->claims[--f->n_claims], CLAIM_PATH_SIZE);
	else if (there && i == f->n_claims && i < ARRAY_SIZE(f->claims))
		copy_str(f->claims[f->n_claims++], CLAIM_PATH_SIZE, folder);
}

static bool fake_has_claim(const struct world *w, const char *folder)
{
	for (size_t i = 0; i < w->fake.n_claims; i++)
		if (streq(w->fake.claims[i], folder))
			return true;
	return false;
}

static void make_claims(struct world *w, const struct op *op)
{
	for (size_t i = 0; i < op->n_work; i++) {
		const struct volume_work *work = &op->work[i];
		bool claimed = work->claimed && work->kind == VOLUME_WORK_OVERLAY;
		const char *file = claimed ? work->base : work->target;
		autofree char *folder = xstrndup(file, (size_t)(strrchr(file, '/') - file));

		if (claimed || work->kind == VOLUME_WORK_CLAIM ||
			work->kind == VOLUME_WORK_CLAIM_FOLDER)
			fake_claim(w, folder, true);
	}
}

/* Of what must be there, all that is not: in the words of the first one, or of all. */
static void miss(struct world *w, const struct op *op, struct err *err, struct findings *ret)
{
	for (size_t i = 0; i < op->n_work; i++) {
		const struct volume_work *work = &op->work[i];
		const char *file = work->base ? work->base : work->target;

		if (!volume_work_is_expected(work) || !*w->fake.missing ||
			!streq(file, w->fake.missing))
			continue;
		err_set(err, ERR_NOT_FOUND, "volume '%s': '%s': No such file or directory",
			work->volume, file);
		findings_add(ret, NULL, migration_check_name(MIGRATION_CHECK_VOLUMES), "%s",
			err->msg);
	}
}

static void do_look(struct world *w, const struct op *op, struct op_result *result)
{
	struct findings missing = { 0 };
	struct err ignored;

	miss(w, op, &ignored, &missing);
	result->text = migration_findings_write(&missing);
	findings_done(&missing);
}

static void do_prepare(struct world *w, const struct op *op, struct op_result *result)
{
	struct findings missing = { 0 };

	miss(w, op, &result->err, &missing);
	findings_done(&missing);
	if (result->err.code)
		return;
	make_claims(w, op);
	add_dir(&w->fake, op->vmi_uid);
	if (op->kept) /* <state>/vm/<the VM's UID> */
		add_dir(&w->fake, strrchr(op->kept, '/') + 1);
}

static void do_migrate_prepare(struct world *w, const struct op *op, struct op_result *result)
{
	do_prepare(w, op, result);
	if (strstr(op->xml, "firmware=\"efi\""))
		world_fail(w, "libvirt chooses no firmware for what arrives: its daemon crashes");
	if (!result->err.code)
		result->text = op->post_copy ? xstrdup("{\"postCopy\":true}") : NULL;
}

/* … without the UID. */
static void keep_aside(struct world *w, const struct op *op)
{
	autofree char *name = op->aside
		? xstrndup(op->aside, (size_t)(strrchr(op->aside, '.') - op->aside))
		: NULL;

	if (name)
		fake_claim(w, name, true);
}

static void do_clean(struct world *w, const struct op *op, struct op_result *result)
{
	(void)result;
	remove_dir(&w->fake, op->vmi_uid);
	keep_aside(w, op);
}

static void do_purge(struct world *w, const struct op *op, struct op_result *result)
{
	(void)result;
	remove_dir(&w->fake, strrchr(op->kept, '/') + 1);
	fake_nvram_purge(w, strrchr(op->kept, '/') + 1);
	keep_aside(w, op);
}

static void do_migrate_abort(struct world *w, const struct op *op, struct op_result *result)
{
	(void)result;
	fake_migrate_abort(w, op);
}

static void do_migrate_pass(struct world *w, const struct op *op, struct op_result *result)
{
	(void)result;
	fake_pass(w, op);
}

static void do_migrate_seal(struct world *w, const struct op *op, struct op_result *result)
{
	fake_seal(w, op, &result->err);
}

static void do_migrate_relay(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = fake_find_uuid(w, op->uuid);

	if (dom)
		dom->relay = op->recovery;
	result->text = xasprintf("{\"recovery\":%u}", op->recovery);
}

static void do_migrate_announce(struct world *w, const struct op *op, struct op_result *result)
{
	ours_alive(w, op, &result->err);
}

static void do_migrate_resume(struct world *w, const struct op *op, struct op_result *result)
{
	struct fake_domain *dom = ours_alive(w, op, &result->err);

	if (dom && dom->incoming)
		err_set(&result->err, ERR_HYPERVISOR, "the domain is being migrated");
	if (!dom || dom->incoming)
		return;
	fake_nvram_boot(w, dom); /* the file has them before */
	domain_pause(w, dom, false);
}

static void do_fill(struct world *w, const struct op *op, struct op_result *result)
{
	if (fake_has_claim(w, op->directory))
		result->text = xstrdup("kept");
	fake_claim(w, op->directory, true);
}

static void do_drop(struct world *w, const struct op *op, struct op_result *result)
{
	(void)result;
	fake_claim(w, op->directory, false);
}

static void do_words(struct world *w, const struct op *op, struct op_result *result)
{
	result->words = xstrdup(fake_guest(w, op->domain)->words);
}

typedef void effect_fn(struct world *w, const struct op *op, struct op_result *result);

static void do_probe(struct world *w, const struct op *op, struct op_result *result)
{
	const struct fake_domain *dom = fake_find_uuid(w, op->uuid);

	if (!dom || dom->state != DOMAIN_RUNNING)
		err_set(&result->err, ERR_HYPERVISOR, "no answer from port %u", op->port);
	else if (is_ours(dom, op, &result->err) && fake_guest(w, dom->name)->ill)
		err_set(&result->err, ERR_HYPERVISOR, "HTTP status 500 from port %u", op->port);
}

static void do_compare(struct world *w, const struct op *op, struct op_result *result)
{
	struct host_report report = { .libvirt = 9000000,
		.qemu = w->fake.qemu ? w->fake.qemu : 7002000,
		.cpu = "<cpu/>",
		.machines = w->fake.no_machine ? "pc=pc-i440fx-7.2,"
					       : "q35=pc-q35-7.2,pc-q35-7.2=pc-q35-7.2,",
		.firmwares = w->fake.no_firmware ? "" : FAKE_FIRMWARE "\n",
		.misfit = op->xml && *w->fake.misfit ? w->fake.misfit : NULL,
		.space = w->fake.full ? 1 << 20 : INT64_C(1) << 40 };

	result->text = host_report_write(&report);
}

/* clang-format off */
static effect_fn *const effects[OP_KIND_MAX] = {
	[OP_LIST]     = do_list,
	[OP_READ]     = do_read,
	[OP_PREPARE]  = do_prepare,
	[OP_DESCRIBE] = do_describe,
	[OP_COMPARE]  = do_compare,
	[OP_LOOK]     = do_look,
	[OP_CLAIM]    = do_claim,
	[OP_START]    = do_start,
	[OP_SHUTDOWN] = do_shutdown,
	[OP_AGENT_SHUTDOWN] = do_agent_shutdown,
	[OP_AGENT_REBOOT] = do_agent_reboot,
	[OP_AGENT_TIME] = do_agent_time,
	[OP_AGENT_INFO] = do_agent_info,
	[OP_AGENT_CREDENTIALS] = do_agent_credentials,
	[OP_AGENT_LOOK] = do_agent_info,
	[OP_PROBE]    = do_probe,
	[OP_SUSPEND]  = do_suspend,
	[OP_RESUME]   = do_resume,
	[OP_REBOOT]   = do_reboot,
	[OP_RESET]    = do_reset,
	[OP_DESTROY]  = do_destroy,
	[OP_UNDEFINE] = do_undefine,
	[OP_CLEAN]    = do_clean,
	[OP_PURGE]    = do_purge,
	[OP_DROP]     = do_drop,
	[OP_FILL]     = do_fill,
	[OP_WORDS]    = do_words,
	[OP_MIGRATE_PREPARE] = do_migrate_prepare,
	[OP_MIGRATE_PASS] = do_migrate_pass,
	[OP_MIGRATE_RELAY] = do_migrate_relay,
	[OP_MIGRATE_SEAL] = do_migrate_seal,
	[OP_MIGRATE_ABORT] = do_migrate_abort,
	[OP_MIGRATE_ANNOUNCE] = do_migrate_announce,
	[OP_MIGRATE_READ_NVRAM] = fake_nvram_read,
	[OP_MIGRATE_WRITE_NVRAM] = fake_nvram_keep,
	[OP_MIGRATE_RESUME] = do_migrate_resume,
};
/* clang-format on */

void fake_effect(struct world *w, const struct op *op, struct op_result *result)
{
	effects[op->kind](w, op, result);
}
