/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens on the host without the agent: guests live and die, libvirtd comes and goes, an
 * admin uses virsh. What libvirt shows of each is as it was probed on the real one: events are lost
 * while libvirtd is down, reasons are forgotten, and its first list may still be wrong.
 */
#include <stdio.h>
#include <string.h>

#include "sim.h"

#define SHUTDOWN_TIME  1000 /* of a guest that obeys the power button */
#define POWEROFF_TIME  10   /* from SHUTDOWN to STOPPED */
#define NOTICE_TIME    250  /* until a new libvirtd sees that a guest has powered off */
#define PANIC_TIME     1000 /* … that it has panicked */
#define RECONNECT_TIME 250
#define LOSS_TIME      1
#define WRITE_TIME     20 /* until a resumed guest writes to the disk that fails */

/* ---- domains --------------------------------------------------------------------------------- */

static void emit(struct world *w, struct fake_domain *dom, enum domain_event_kind kind)
{
	struct domain_event event = { .kind = kind, .guest = kind == DOMAIN_EVENT_SHUTDOWN };

	fake_emit(w, dom, &event);
}

void domain_boot(struct world *w, struct fake_domain *dom)
{
	watch_boot(w, dom, dom->owner);
	dom->active = true;
	dom->going = false;
	dom->sick[0] = '\0';
	dom->boot++;
	dom->state = DOMAIN_RUNNING;
	dom->reason = REASON_UNKNOWN;
	dom->incoming = dom->arrived = dom->stale = dom->unheard = false;
	fake_runs(w, dom);
	fake_guest(w, dom->name)->boots++;
	fake_guest(w, dom->name)->words = NULL;
	if (w->fake.odd)
		emit(w, dom, DOMAIN_EVENT_LOOK_AGAIN); /* RESUMED */
	emit(w, dom, DOMAIN_EVENT_STARTED);
	if (!w->fake.odd)
		emit(w, dom, DOMAIN_EVENT_LOOK_AGAIN);
}

void domain_end(struct world *w, struct fake_domain *dom, enum domain_reason reason)
{
	struct domain_event event = { .kind = DOMAIN_EVENT_STOPPED, .reason = reason };

	dom->active = dom->going = false;
	dom->arrived = dom->stale = dom->unheard = false;
	dom->exists = !dom->incoming;
	dom->unseen = UNSEEN_NOTHING;
	dom->state = DOMAIN_SHUTOFF;
	dom->reason = reason;
	fake_emit(w, dom, &event);
}

static struct pending *domain_later(struct world *w, const struct fake_domain *dom, msec delay,
	void (*fire)(struct world *w, struct pending *p))
{
	struct pending *p = world_later(w, delay, fire);

	p->domain = (int)(dom - w->fake.domains);
	p->boot = dom->boot;
	return p;
}

/* The domain that p is about, if it is still the same QEMU. */
static struct fake_domain *domain_of(struct world *w, const struct pending *p)
{
	struct fake_domain *dom = &w->fake.domains[p->domain];

	return dom->exists && dom->active && dom->boot == p->boot ? dom : NULL;
}

static void powered_off(struct world *w, struct pending *p)
{
	struct fake_domain *dom = domain_of(w, p);

	if (!dom)
		return;
	if (w->fake.down)
		dom->unseen = UNSEEN_POWEROFF;
	else
		domain_end(w, dom, REASON_SHUTDOWN);
}

static void guest_poweroff(struct world *w, struct fake_domain *dom)
{
	dom->going = true;
	if (w->fake.down) {
		dom->unseen = UNSEEN_POWEROFF;
		return;
	}
	dom->state = DOMAIN_SHUTTING_DOWN;
	emit(w, dom, DOMAIN_EVENT_SHUTDOWN);
	domain_later(w, dom, POWEROFF_TIME, powered_off);
}

static void guest_obeys(struct world *w, struct pending *p)
{
	struct fake_domain *dom = domain_of(w, p);

	if (dom && dom->state == DOMAIN_RUNNING)
		guest_poweroff(w, dom);
}

void domain_press(struct world *w, struct fake_domain *dom)
{
	struct fake_guest *guest = fake_guest(w, dom->name);

	if (guest->signals++ == 0)
		guest->first_signal = w->t;
	if (!dom->active || guest->deaf || !dom->acpi || dom->going)
		return;
	domain_later(w, dom, SHUTDOWN_TIME, guest_obeys);
}

void domain_ask(struct world *w, struct fake_domain *dom)
{
	struct fake_guest *guest = fake_guest(w, dom->name);

	guest->asked++;
	if (guest->agent != FAKE_AGENT_DEAF && !dom->going)
		domain_later(w, dom, SHUTDOWN_TIME, guest_obeys);
}

/* libvirt resets QEMU behind the guest's shutdown, which it tells nobody; then it says
 * "resumed". */
static void guest_reboots(struct world *w, struct pending *p)
{
	struct fake_domain *dom = domain_of(w, p);

	if (dom && dom->state == DOMAIN_RUNNING && !w->fake.down)
		emit(w, dom, DOMAIN_EVENT_LOOK_AGAIN);
}

void domain_press_reboot(struct world *w, struct fake_domain *dom)
{
	if (!fake_guest(w, dom->name)->deaf && dom->acpi && !dom->going)
		domain_later(w, dom, SHUTDOWN_TIME, guest_reboots);
}

/* The event comes also from a guest that is paused already, whose requests were under way. */
static void disk_fails(struct world *w, struct fake_domain *dom)
{
	struct domain_event event = { .kind = DOMAIN_EVENT_IO_ERROR };

	copy_str(event.disk, sizeof(event.disk), dom->sick);
	copy_str(event.io_reason, sizeof(event.io_reason), dom->sick_reason);
	fake_emit(w, dom, &event);
	if (dom->state == DOMAIN_PAUSED)
		return;
	dom->state = DOMAIN_PAUSED;
	dom->reason = REASON_IOERROR;
	emit(w, dom, DOMAIN_EVENT_LOOK_AGAIN);
}

static void guest_writes(struct world *w, struct pending *p)
{
	struct fake_domain *dom = domain_of(w, p);

	if (dom && dom->state == DOMAIN_RUNNING && dom->sick[0])
		disk_fails(w, dom);
}

void domain_ask_reboot(struct world *w, struct fake_domain *dom)
{
	if (fake_guest(w, dom->name)->agent != FAKE_AGENT_DEAF && !dom->going)
		domain_later(w, dom, SHUTDOWN_TIME, guest_reboots);
}

void domain_pause(struct world *w, struct fake_domain *dom, bool paused)
{
	if (paused == (dom->state == DOMAIN_PAUSED))
		return;
	dom->state = paused ? DOMAIN_PAUSED : DOMAIN_RUNNING;
	dom->reason = paused ? REASON_USER : REASON_UNKNOWN;
	if (!paused)
		fake_runs(w, dom);
	emit(w, dom, DOMAIN_EVENT_LOOK_AGAIN);
	if (!paused && dom->sick[0])
		domain_later(w, dom, WRITE_TIME, guest_writes);
}

/* ---- what guests and admins do --------------------------------------------------------------- */

static void guest_panic(struct world *w, struct fake_domain *dom)
{
	if (!dom->panic_device)
		return; /* nobody sees it */
	if (w->fake.down) {
		dom->unseen = UNSEEN_PANIC;
		return;
	}
	emit(w, dom, DOMAIN_EVENT_PANICKED);
	domain_end(w, dom, REASON_CRASHED); /* on_crash destroy */
}

static void guest_crash(struct world *w, struct fake_domain *dom)
{
	fake_guest(w, dom->name)->words = "qemu-system-x86_64: malloc(): corrupted top size";
	if (w->fake.down)
		dom->unseen = UNSEEN_CRASH;
	else
		domain_end(w, dom, REASON_CRASHED);
}

static void guest_reboot(struct world *w, struct fake_domain *dom)
{
	emit(w, dom, DOMAIN_EVENT_LOOK_AGAIN);
}

static void guest_pause(struct world *w, struct fake_domain *dom)
{
	domain_pause(w, dom, true);
}

static void guest_heals(struct world *w, struct fake_domain *dom)
{
	(void)w;
	dom->sick[0] = '\0';
}

static void guest_resume(struct world *w, struct fake_domain *dom)
{
	domain_pause(w, dom, false);
}

static void virsh_destroy(struct world *w, struct fake_domain *dom)
{
	domain_end(w, dom, REASON_DESTROYED);
}

/* Both, so that it is gone without a trace. */
static void virsh_vanish(struct world *w, struct fake_domain *dom)
{
	emit(w, dom, DOMAIN_EVENT_UNDEFINED);
	dom->active = dom->exists = false;
}

static const struct {
	const char *name;
	void (*act)(struct world *w, struct fake_domain *dom);
} acts[] = {
	{ "poweroff", guest_poweroff },
	{ "crash", guest_crash },
	{ "panic", guest_panic },
	{ "reboot", guest_reboot },
	{ "pause", guest_pause },
	{ "resume", guest_resume },
	{ "heals", guest_heals },
	{ "destroy", virsh_destroy },
	{ "vanish", virsh_vanish },
};

/* From now on each write to that disk fails, the first one at once. */
void host_guest_sick(struct world *w, const char *name, const char *disk, const char *reason)
{
	autofree char *domain = xasprintf("default_%s", name);
	struct fake_domain *dom = fake_find(w, domain);

	if (!dom || !dom->active) {
		world_fail(w, "guest %s has no disk that could fail: it is not running", name);
		return;
	}
	copy_str(dom->sick, sizeof(dom->sick), disk);
	copy_str(dom->sick_reason, sizeof(dom->sick_reason), reason);
	disk_fails(w, dom);
}

void host_add_foreign(struct world *w, const char *name, bool runs, bool stray)
{
	struct fake_domain *dom = fake_add(w, name);

	snprintf(dom->uuid, UID_SIZE, "f0f0f0f0-0000-4000-8000-%012d",
		(int)(dom - w->fake.domains) + 1);
	dom->foreign = dom->acpi = true;
	dom->active = runs;
	if (stray)
		copy_str(dom->owner, UID_SIZE, "0a0a0a0a-0000-4000-8000-000000000002");
	dom->state = runs ? DOMAIN_RUNNING : DOMAIN_SHUTOFF;
	emit(w, dom, runs ? DOMAIN_EVENT_STARTED : DOMAIN_EVENT_LOOK_AGAIN);
}

bool host_guest_act(struct world *w, const char *name, const char *act)
{
	struct fake_domain *dom = fake_find_any(w, name);
	autofree char *domain = dom ? xstrdup(dom->name) : xasprintf("default_%s", name);

	if (streq(act, "deaf") || streq(act, "hears")) {
		fake_guest(w, domain)->deaf = streq(act, "deaf");
		return true;
	}
	if (streq(act, "ill") || streq(act, "well")) {
		fake_guest(w, domain)->ill = streq(act, "ill");
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(acts); i++) {
		if (!streq(acts[i].name, act))
			continue;
		if (!dom || !dom->active)
			world_fail(w, "guest %s cannot %s: it is not running", name, act);
		else
			acts[i].act(w, dom);
		return true;
	}
	return false;
}

/* Each time an agent of its own: one that was there before goes. */
bool host_guest_agent(struct world *w, const char *name, const char *word)
{
	static const char *const words[] = { FAKE_AGENTS(ENUM_TEXT_) };
	autofree char *domain = xasprintf("default_%s", name);
	struct fake_domain *dom = fake_find(w, domain);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!streq(words[i], word))
			continue;
		fake_guest(w, domain)->agent = (enum fake_agent)i;
		if (dom && dom->active)
			emit(w, dom, DOMAIN_EVENT_AGENT);
		return true;
	}
	return false;
}

/* ---- libvirtd -------------------------------------------------------------------------------- */

static void link_lost(struct world *w, struct pending *p)
{
	if (w->agent && p->life == w->life)
		w->hv.sink.connection(w->hv.sink.ctx, false, "the connection was lost");
}

void host_libvirt_down(struct world *w)
{
	w->fake.down = true;
	if (w->fake.linked)
		world_later(w, LOSS_TIME, link_lost)->life = w->life;
	w->fake.linked = false;
	fake_lose_ops(w);
}

static void notice(struct world *w, struct pending *p)
{
	struct fake_domain *dom = domain_of(w, p);

	if (!dom)
		return;
	if (dom->unseen == UNSEEN_POWEROFF) {
		domain_end(w, dom, REASON_SHUTDOWN);
	} else if (dom->unseen == UNSEEN_PANIC) {
		dom->state = DOMAIN_CRASHED; /* QEMU stays, and no event comes */
		dom->reason = REASON_PANICKED;
	}
	dom->unseen = UNSEEN_NOTHING;
}

/* What a new libvirtd finds: reasons of old ends are forgotten, new ends are seen late. */
static void look_at(struct world *w, struct fake_domain *dom)
{
	if (!dom->active)
		dom->reason = REASON_UNKNOWN;
	else if (dom->unseen == UNSEEN_CRASH)
		domain_end(w, dom, REASON_CRASHED);
	else if (dom->unseen == UNSEEN_POWEROFF)
		domain_later(w, dom, RECONNECT_TIME + NOTICE_TIME, notice);
	else if (dom->unseen == UNSEEN_PANIC)
		domain_later(w, dom, RECONNECT_TIME + PANIC_TIME, notice);
}

static void reconnected(struct world *w, struct pending *p)
{
	if (!w->agent || p->life != w->life || w->fake.down || w->fake.linked)
		return;
	w->fake.linked = true;
	w->fake.link++;
	w->hv.sink.connection(w->hv.sink.ctx, true, NULL);
}

void host_libvirt_up(struct world *w)
{
	w->fake.down = false;
	fake_release_ops(w);
	for (size_t i = 0; i < DOMAINS_MAX; i++) {
		if (w->fake.domains[i].exists)
			look_at(w, &w->fake.domains[i]);
	}
	world_later(w, RECONNECT_TIME, reconnected)->life = w->life;
}

/* The whole host goes, and persistent domains remain as definitions. */
void host_off(struct world *w)
{
	agent_down(w);
	fake_drop_ops(w, FATE_VANISH);
	for (size_t i = 0; i < DOMAINS_MAX; i++) {
		struct fake_domain *dom = &w->fake.domains[i];

		dom->active = dom->going = dom->arrived = dom->stale = dom->unheard = false;
		dom->unseen = UNSEEN_NOTHING;
		dom->state = DOMAIN_SHUTOFF;
		dom->reason = REASON_UNKNOWN;
	}
	fake_lose_jobs(w);
	w->fake.down = true;
}

/* Its clock begins anew. */
void host_boot(struct world *w)
{
	w->fake.down = false;
	w->boot_base = w->t - SECONDS(20);
	w->boot_id[0]++;
	w->going_down = false;
	agent_up(w);
}
