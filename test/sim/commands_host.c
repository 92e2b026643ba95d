/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of scenarios that do something to the host: guests, virsh, libvirtd,
 * the agent, the disk. */
#include <string.h>

#include "commands.h"
#include "io/store_private.h"

#define RESTART_TIME 500 /* of libvirtd */

static void store_up(struct world *w, struct pending *p)
{
	(void)p;
	w->store_down = false;
}

/* For some seconds, because requests wait until they are answered. */
void do_store(struct command *c)
{
	c->w->store_down = true;
	world_later(c->w, (msec)(atof(c->words[1]) * 1000), store_up);
}

/* guest NAME ioerror DISK REASON, or one of the acts */
void do_guest(struct command *c)
{
	bool agent = streq(c->words[1], "agent") && c->n > 2;

	if (streq(c->words[1], "ioerror") && c->n > 2)
		host_guest_sick(c->w, c->words[0], c->words[2], c->n > 3 ? c->words[3] : "");
	else if (agent ? !host_guest_agent(c->w, c->words[0], c->words[2])
		       : !host_guest_act(c->w, c->words[0], c->words[1]))
		world_fail(c->w, "guests cannot %s", c->words[1]);
}

void do_virsh(struct command *c)
{
	/* clang-format off */
	static const struct { const char *word, *name; bool runs, stray; } made[] = {
		{ "foreign", "default_%s", true,  false }, /* by somebody else, under our name */
		{ "stray",   "default_%s", true,  true },  /* ours by its metadata, of a run that is not known */
		{ "run",     "%s",         true,  false }, /* by somebody else, under a name of its own */
		{ "define",  "%s",         false, false },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		if (!streq(made[i].word, c->words[0]))
			continue;
		autofree char *name = strchr(made[i].name, '_')
			? xasprintf("default_%s", c->words[1])
			: xstrdup(c->words[1]);

		host_add_foreign(c->w, name, made[i].runs, made[i].stray);
		return;
	}
	if (!host_guest_act(c->w, c->words[1], c->words[0]))
		world_fail(c->w, "virsh cannot %s", c->words[0]);
}

static void script(struct command *c)
{
	struct fake *f = &c->w->fake;

	for (int kind = 0; kind < OP_KIND_MAX; kind++) {
		struct op_script *s = &f->scripts[kind];

		if (c->n < 2 || !streq(op_kind_name(kind), c->words[1]))
			continue;
		s->hangs = streq(c->words[0], "hang");
		s->only[0] = '\0';
		if (starts_with(c->words[c->n - 1], "only="))
			copy_str(s->only, sizeof(s->only), c->words[--c->n] + strlen("only="));
		s->fails = c->n > 2 ? (unsigned)atoi(c->words[2]) : 0;
		s->code = streq(c->words[0], "invalid")  ? ERR_INVALID
			: streq(c->words[0], "no-image") ? ERR_NO_IMAGE
							 : ERR_HYPERVISOR;
		copy_str(s->text, sizeof(s->text), c->n > 3 ? c->words[3] : "it does not work");
		return;
	}
	world_fail(c->w, "libvirt knows no such op");
}

void do_libvirt(struct command *c)
{
	struct world *w = c->w;
	const char *what = c->words[0];

	if (streq(what, "down")) {
		host_libvirt_down(w);
	} else if (streq(what, "up")) {
		host_libvirt_up(w);
	} else if (streq(what, "answers")) {
		fake_release_ops(w);
	} else if (streq(what, "stop-at")) {
		fake_stop_at(w, c->n > 1 ? c->words[1] : "");
	} else if (streq(what, "go-on")) {
		fake_stop_at(w, "");
	} else if (streq(what, "busy")) { /* busy on|off: what its guests do to their memory */
		w->fake.busy = c->n > 1 && streq(c->words[1], "on");
	} else if (streq(what, "odd")) {
		w->fake.odd = true;
	} else if (streq(what, "silent")) {
		w->fake.silent = true;
	} else if (streq(what, "late")) {
		w->fake.late = c->n > 1 ? atoll(c->words[1]) : 0;
	} else if (streq(what, "restart")) {
		host_libvirt_down(w);
		world_run(w, w->t + RESTART_TIME);
		host_libvirt_up(w);
	} else {
		script(c);
	}
}

void do_agent(struct command *c)
{
	if (!streq(c->words[0], "up"))
		agent_down(c->w);
	if (!streq(c->words[0], "down"))
		agent_up(c->w);
}

/* dedicated-cpus 2-5, host-device NAME=pci:ADDRESS */
static bool tune_shares(struct world *w, const char *name, const char *value)
{
	const char *mark = strstr(value, "=pci:");
	autofree char *device = mark ? xstrndup(value, (size_t)(mark - value)) : NULL;

	if (streq(name, "dedicated-cpus"))
		return cpu_set_parse(value, &w->shares.dedicated);
	return streq(name, "host-device") && mark &&
		host_shares_add(&w->shares, device, HOST_DEVICE_PCI, mark + strlen("=pci:"));
}

/* What libvirt says of the host. */
static bool tune_report(struct fake *fake, const char *name, const char *value)
{
	if (streq(name, "qemu"))
		fake->qemu = atol(value);
	else if (streq(name, "machine"))
		fake->no_machine = streq(value, "none");
	else if (streq(name, "firmware"))
		fake->no_firmware = streq(value, "none");
	else if (streq(name, "variables"))
		fake->read_only = streq(value, "read-only");
	else if (streq(name, "space"))
		fake->full = streq(value, "none");
	else if (streq(name, "missing"))
		copy_str(fake->missing, sizeof(fake->missing), streq(value, "none") ? "" : value);
	else if (streq(name, "cpu"))
		copy_str(fake->misfit, sizeof(fake->misfit), value);
	else
		return false;
	return true;
}

/* tune NAME VALUE: as the administrator sets it; for the agent's next life as well. */
void do_tune(struct command *c)
{
	struct tuning *tuning = &c->w->options.tuning;
	const char *value = c->words[1];
	/* clang-format off */
	const struct { const char *name; unsigned *at; } numbers[] = {
		{ "stable-seconds",   &tuning->crash_stable_s },
		{ "free-restarts",    &tuning->crash_free },
		{ "parallel-starts",  &tuning->start_slots },
		{ "shutdown-seconds", &tuning->shutdown_s },
		{ "outbound",         &tuning->migrations.outbound },
		{ "inbound",          &tuning->migrations.inbound },
		{ "certificate-days", &c->w->certificate_days },
	};
	/* clang-format on */

	if (streq(c->words[0], "host-mib")) { /* what its guests may have together */
		tuning->reserved.memory = 0;
		c->w->options.host.memory = atoll(value) << 20;
		return;
	}
	if (tune_shares(c->w, c->words[0], value))
		return;
	if (tune_report(&c->w->fake, c->words[0], value))
		return;
	if (streq(c->words[0], "host-uuid")) {
		c->w->options.host_uuid = "node1"; /* as a copied host has it */
		return;
	}
	if (streq(c->words[0], "host-disks")) { /* where its hostDisks may lie */
		static const char *const elsewhere[] = { "/elsewhere", NULL };

		c->w->options.policy.host_disk_roots = elsewhere;
		return;
	}
	if (streq(c->words[0], "post-copy")) { /* soon */
		tuning->migrations.limits.post_copy = streq(value, "on");
		tuning->migrations.limits.disrupt = streq(value, "on");
		tuning->migrations.limits.completion_s_per_gib = 1;
		return;
	}
	if (streq(c->words[0], "guard")) {
		tuning->crash_guard = streq(value, "on");
		return;
	}
	if (streq(c->words[0], "boot-policy")) {
		tuning->boot_policy = streq(value, "kubevirt") ? BOOT_KUBEVIRT
							       : BOOT_RESTORE_RUNNING;
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (streq(c->words[0], numbers[i].name)) {
			*numbers[i].at = (unsigned)atoi(value);
			return;
		}
	}
	world_fail(c->w, "nothing to tune is called %s", c->words[0]);
}

/* host reboot; host off, then host boot: what reboot does at once; host shutdown [timeout=S];
 * host cancel; host clock SECONDS: somebody sets it by so much. */
void do_host(struct command *c)
{
	struct client_request *client = &c->w->client;
	const char *what = c->words[0];

	if (streq(what, "clock") && c->n > 1) {
		c->w->set += SECONDS(atoll(c->words[1]));
		return;
	}
	if (streq(what, "reboot") || streq(what, "off"))
		host_off(c->w);
	if (streq(what, "reboot") || streq(what, "boot"))
		host_boot(c->w);
	if (streq(what, "reboot") || streq(what, "off") || streq(what, "boot"))
		return;
	client_done(client);
	client->request.actor.uid = 0;
	client->kind = INPUT_HOST_SHUTDOWN;
	client->request.kind = KIND_HOST_SHUTDOWN;
	client->request.call_off = streq(what, "cancel");
	if (c->n > 1 && starts_with(c->words[1], "timeout="))
		client->request.timeout_s = (unsigned)atoi(c->words[1] + strlen("timeout="));
	if (client->request.call_off)
		c->w->going_down = false;
	client_do(c->w, false);
	if (!client->request.call_off)
		c->w->going_down = true;
}

/* The agent ends, its database is gone, and it begins with an empty one. */
void do_database(struct command *c)
{
	struct world *w = c->w;
	unsigned fail_after = w->store->fail_after;
	int64_t rv;

	agent_down(w);
	watch_database_goes(w);
	rv = store_current_rv(w->store) + 1000; /* where a lost database's counter goes on */
	store_close(take(&w->store));
	w->lost = true;
	agent_prepare(w);
	store_fail_after(w->store, fail_after);
	w->store->rv = w->store->committed = rv;
	w->store->now.floor = w->store->before.floor = rv;
	watch_database_lost(w, rv);
	agent_up(w);
}
