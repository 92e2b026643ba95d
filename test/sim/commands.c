/* SPDX-License-Identifier: Apache-2.0 */
/* What the lines of a scenario do: a table of commands, each a few calls into the simulated
 * world. */
#include <stdio.h>
#include <string.h>

#include "commands.h"

#define EXTRA_WAIT SECONDS(15) /* what a crash may cost */

static const char *option(const struct command *c, const char *key)
{
	size_t length = strlen(key);

	for (size_t i = 0; i < c->n; i++) {
		if (strncmp(c->words[i], key, length))
			continue;
		if (c->words[i][length] == '=')
			return c->words[i] + length + 1;
		if (!c->words[i][length])
			return "";
	}
	return NULL;
}

/* ---- manifests ------------------------------------------------------------------------------- */

#define EFI ", features: {smm: {}}, firmware: {bootloader: {efi: {persistent: true}}}"

static char *manifest(const struct command *c, bool vm)
{
	const char *memory = option(c, "memory"), *grace = option(c, "grace");
	const char *order = option(c, "order"), *delay = option(c, "delay");
	const char *disk = option(c, "disk"), *probe = option(c, "probe");
	const char *claim = option(c, "claim"), *dv = option(c, "dv");
	struct buf b = { 0 };

	buf_printf(&b, "apiVersion: kubevirt.io/v1\nkind: VirtualMachine%s\n",
		vm ? "" : "Instance");
	buf_printf(&b, "metadata:\n  name: %s\n", c->words[0]);
	if (order || delay)
		buf_puts(&b, "  annotations:\n");
	if (order)
		buf_printf(&b, "    vmagent.io/start-order: \"%s\"\n", order);
	if (delay)
		buf_printf(&b, "    vmagent.io/start-delay: \"%s\"\n", delay);
	buf_puts(&b, "spec:\n");
	if (vm)
		buf_printf(&b, "  runStrategy: %s\n  template:\n    spec:\n", c->words[1]);
	if (option(c, "paused"))
		buf_printf(&b, "%sstartStrategy: Paused\n", vm ? "      " : "  ");
	if (grace)
		buf_printf(&b, "%sterminationGracePeriodSeconds: %s\n", vm ? "      " : "  ",
			grace);
	if (probe) /* liveness or readiness */
		buf_printf(&b, "%s%sProbe: {httpGet: {port: 80}, periodSeconds: 5}\n",
			vm ? "      " : "  ", probe);
	if (disk)
		buf_printf(&b, "%svolumes: [{name: data, hostDisk: {path: %s, type: Disk}}]\n",
			vm ? "      " : "  ", disk);
	if (claim)
		buf_printf(&b,
			"%svolumes: [{name: data, persistentVolumeClaim: {claimName: %s}}]\n",
			vm ? "      " : "  ", claim);
	if (dv)
		buf_printf(&b, "%svolumes: [{name: data, dataVolume: {name: %s}}]\n",
			vm ? "      " : "  ", dv);
	buf_printf(&b, "%sdomain: {memory: {guest: %s}%s, devices: {%s}}\n", vm ? "      " : "  ",
		memory ? memory : "64Mi",
		option(c, "noacpi")        ? ", features: {acpi: {enabled: false}}"
			: option(c, "efi") ? EFI
					   : "",
		option(c, "panic")            ? "panicDevices: [{model: isa}]"
			: disk || claim || dv ? "disks: [{name: data, disk: {bus: virtio}}]"
					      : "");
	return b.data;
}

/* create namespace NAME, create secret NAME [ns=NAMESPACE] */
static char *record(const struct command *c, enum object_kind kind)
{
	const char *ns = option(c, "ns");

	return xasprintf("{apiVersion: v1, kind: %s, metadata: {name: %s%s%s}}",
		object_kind_name(kind), c->words[0], ns ? ", namespace: " : "", ns ? ns : "");
}

/* Whoever writes another strategy into the file may have the VM started again. */
static void note_strategy(struct world *w, const char *file, const char *vm, const char *content)
{
	const char *now = strstr(content, "runStrategy: "), *before = NULL;
	size_t length = now ? strcspn(now, "\n") : 0;

	for (size_t i = 0; i < w->n_files; i++) {
		if (streq(w->files[i].name, file))
			before = strstr(w->files[i].content, "runStrategy: ");
	}
	if (!before || strncmp(now ? now : "", before, length))
		watch_stop(w, vm, false);
}

static void do_vm(struct command *c)
{
	autofree char *file = xasprintf("%s.yaml", c->words[0]), *text = manifest(c, true);

	note_strategy(c->w, file, c->words[0], text);
	folder_put(c->w, file, text);
}

static void do_file(struct command *c)
{
	autofree char *vm = xstrndup(c->words[0], strcspn(c->words[0], "."));

	watch_stop(c->w, vm, false);
	folder_put(c->w, c->words[0], c->block ? c->block : "");
}

static void do_rm(struct command *c)
{
	folder_remove(c->w, c->words, c->n);
}

static void do_mv(struct command *c)
{
	folder_rename(c->w, c->words[0], c->words[1]);
}

static void do_folder(struct command *c)
{
	c->w->folder_missing = streq(c->words[0], "missing");
	folder_scan(c->w);
}

/* ---- requests -------------------------------------------------------------------------------- */

static int64_t grace_of(const char *text)
{
	return streq(text, "infinity") ? GRACE_FOREVER_S : atoll(text);
}

/* Of a machine's migrations the latest, whose name nobody knows; owned by the caller, NULL: it
 * has one of that name, or none. */
static char *migration_of(struct command *c)
{
	autofree char *object = look_object(c->w, KIND_MIGRATION, c->words[1]);
	cJSON *root = cJSON_Parse(object ? object : "");
	char *name = xstrdup(look_text(root, "metadata.name"));

	cJSON_Delete(root);
	return name;
}

static void request(struct command *c, enum wish wish)
{
	struct client_request *client = &c->w->client;
	bool vmi_verb = vmi_verb_parse(c->name, &client->request.vmi_verb);
	bool verb = verb_parse(c->name, &client->request.verb) || vmi_verb;
	const char *grace = option(c, "grace");
	autofree char *migration = !verb && streq(c->words[0], "migration") ? migration_of(c)
									    : NULL;

	client->request.ns = "default";
	client->request.name = migration ? migration : c->words[verb ? 0 : 1];
	client->request.grace = grace ? grace_of(grace) : GRACE_UNSET;
	client->request.propagation = option(c, "orphan") ? PROPAGATION_ORPHAN
							  : PROPAGATION_BACKGROUND;
	client->request.options = (struct verb_options){ .has_grace = grace != NULL,
		.grace = grace ? grace_of(grace) : 0,
		.paused = option(c, "paused") != NULL };
	client->request.kind = vmi_verb ? KIND_VMI : KIND_VM;
	if (!verb && !look_kind(c->words[0], &client->request.kind))
		world_fail(c->w, "there is no kind '%s'", c->words[0]);
	if (!object_kind_is_namespaced(client->request.kind))
		client->request.ns = "";
	client->kind = vmi_verb ? INPUT_VMI_VERB : verb ? INPUT_VERB : INPUT_DELETE;
	client_do(c->w, wish);
}

/* adopt DOMAIN [name=VM] */
static void adopt(struct command *c, enum wish wish)
{
	struct client_request *client = &c->w->client;
	const char *name = option(c, "name");

	client->kind = INPUT_ADOPT;
	client->request.kind = KIND_VM;
	client->request.ns = "default";
	client->request.domain = c->words[0];
	client->request.name = name ? name : c->words[0];
	client->request.dry_run = option(c, "dry") != NULL;
	client_do(c->w, wish);
}

static void create(struct command *c, enum wish wish)
{
	struct command rest = { c->w, c->words + 1, c->n - 1, NULL, c->name };
	enum object_kind kind = KIND_VMI;
	autofree char *text = NULL;

	look_kind(c->words[0], &kind);
	text = object_kind_home(kind) == HOME_RECORD ? record(&rest, kind)
						     : manifest(&rest, kind == KIND_VM);
	client_create(c->w, text);
	if (!c->w->failure[0])
		client_do(c->w, wish);
}

/* migrate NAME NODE|any, check NAME NODE|any, cancel NAME, declare-dead NODE, accept DATABASE */
static void migrate(struct command *c, enum wish wish)
{
	struct client_request *client = &c->w->client;

	client->kind = INPUT_MIGRATE;
	if (streq(c->name, "declare-dead"))
		client->kind = INPUT_DECLARE_DEAD;
	else if (streq(c->name, "accept"))
		client->kind = INPUT_ACCEPT;
	client->request.kind = KIND_VMI;
	client->request.ns = "default";
	client->request.name = c->words[0];
	client->request.to = c->n > 1 ? c->words[1] : "";
	if (streq(client->request.to, "any"))
		client->request.to = NULL;
	client->request.dry_run = streq(c->name, "check");
	client->request.call_off = streq(c->name, "cancel");
	client_do(c->w, wish);
}

static bool is_migration(const char *name)
{
	return streq(name, "migrate") || streq(name, "check") || streq(name, "cancel") ||
		streq(name, "declare-dead") || streq(name, "accept");
}

static void ask(struct command *c, enum wish wish)
{
	client_done(&c->w->client);
	if (is_migration(c->name)) {
		migrate(c, wish);
		return;
	}
	if (streq(c->name, "create"))
		create(c, wish);
	else if (streq(c->name, "adopt"))
		adopt(c, wish);
	else
		request(c, wish);
}

static void do_request(struct command *c)
{
	ask(c, WISH_ACCEPTED);
}

static void do_refused(struct command *c)
{
	struct command inner = { c->w, c->words + 1, c->n - 1, NULL, c->words[0] };

	ask(&inner, WISH_REFUSED);
}

/* guest NAME ACT, virsh ACT NAME: when it can be done. */
static void try_act(struct command *c)
{
	bool guest = streq(c->name, "guest");
	const struct fake_domain *dom;
	autofree char *full = xasprintf("default_%s", c->words[guest ? 0 : 1]);

	dom = fake_find(c->w, full);
	if (dom && dom->active)
		(guest ? do_guest : do_virsh)(c);
}

/* Whether it is accepted or refused, or cannot be done at all. */
static void do_try(struct command *c)
{
	struct command inner = { c->w, c->words + 1, c->n - 1, NULL, c->words[0] };

	if (streq(inner.name, "guest") || streq(inner.name, "virsh"))
		try_act(&inner);
	else
		ask(&inner, WISH_EITHER);
}

static void do_answer(struct command *c)
{
	const struct client_request *client = &c->w->client;
	const char *text = client->err.code ? client->err.msg : client->note;

	if (!world_main(c->w)->quiet && (!text || !strstr(text, c->words[0])))
		world_fail(c->w, "the answer was '%s'", text ? text : "");
}

/* ---- time and expectations ------------------------------------------------------------------- */

static void wait_until(struct command *c)
{
	struct buf why = { 0 };
	msec limit = c->w->t + SECONDS(WAIT_LIMIT_S);
	bool holds;

	world_settle(c->w);
	while (!(holds = look_holds(c->w, c->words + 1, c->n - 1, &why)) && world_step(c->w, limit))
		buf_done(&why);
	if (!holds && !world_main(c->w)->any_end)
		world_fail(c->w, "waited in vain:%s", why.data ? why.data : "");
	buf_done(&why);
}

static void do_wait(struct command *c)
{
	bool before = world_happened(c->w);

	if (streq(c->words[0], "until")) {
		wait_until(c);
		return;
	}
	world_run(c->w, c->w->t + (msec)(atof(c->words[0]) * 1000));
	if (world_happened(c->w) && !before)
		world_run(c->w, c->w->t + EXTRA_WAIT);
}

static void do_expect(struct command *c)
{
	struct buf why = { 0 };

	if (world_trouble(c->w) == TROUBLE_NONE && !look_holds(c->w, c->words, c->n, &why))
		world_fail(c->w, "not as expected:%s", why.data ? why.data : "");
	buf_done(&why);
}

/* Read when the file is: what the walks are to leave out. */
static void do_walk(struct command *c)
{
	(void)c;
}

static void do_net(struct command *c)
{
	if (!lab_command(c->w, c->words, c->n))
		world_fail(c->w, "the network cannot do that");
}

static void do_mark(struct command *c)
{
	look_mark(c->w, c->words[0]);
}

static void do_count(struct command *c)
{
	struct world *all = world_main(c->w);

	free(all->counted);
	all->counted = census(all);
}

/* clang-format off */
static const struct {
	const char *name;
	size_t words;
	void (*run)(struct command *c);
} commands[] = {
	{ "vm",      2, do_vm },
	{ "file",    1, do_file },
	{ "rm",      1, do_rm },
	{ "mv",      2, do_mv },
	{ "folder",  1, do_folder },
	{ "store",   2, do_store },
	{ "start",   1, do_request },
	{ "stop",    1, do_request },
	{ "restart", 1, do_request },
	{ "pause",   1, do_request },
	{ "unpause", 1, do_request },
	{ "softreboot", 1, do_request },
	{ "reset",   1, do_request },
	{ "delete",  2, do_request },
	{ "create",  2, do_request },
	{ "adopt",   1, do_request },
	{ "migrate", 2, do_request },
	{ "check",   2, do_request },
	{ "cancel",  1, do_request },
	{ "declare-dead", 1, do_request },
	{ "accept",  1, do_request },
	{ "refused", 2, do_refused },
	{ "try",     2, do_try },
	{ "answer",  1, do_answer },
	{ "guest",   2, do_guest },
	{ "virsh",   2, do_virsh },
	{ "libvirt", 1, do_libvirt },
	{ "agent",   1, do_agent },
	{ "host",    1, do_host },
	{ "database",1, do_database },
	{ "tune",    2, do_tune },
	{ "wait",    1, do_wait },
	{ "expect",  2, do_expect },
	{ "mark",    1, do_mark },
	{ "count",   0, do_count },
	{ "walk",    1, do_walk },
	{ "hosts",   1, do_walk },
	{ "net",     1, do_net },
};
/* clang-format on */

bool command_run(struct world *w, char *const *words, size_t n, const char *block)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		struct command c = { w, words + 1, n - 1, block, words[0] };

		if (n == 0 || !streq(commands[i].name, words[0]) || c.n < commands[i].words)
			continue;
		commands[i].run(&c);
		return true;
	}
	return false;
}
