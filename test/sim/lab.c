/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several hosts: each is a world with an agent, a libvirt and a database of its own; they share
 * the clock, and between their agents lies a network that can be cut, and that loses, doubles and
 * delays what they say. The first host stands for all of them where there is one of something:
 * the log, the failure.
 */
#include <stdio.h>
#include <string.h>

#include "core/peer_frame.h"
#include "daemon/agent_private.h"
#include "sim.h"

#define LINK_TIME    20    /* until two agents that can reach each other do */
#define NOTICE_TIME  5     /* until an agent's death is noticed … */
#define SILENCE_TIME 15000 /* … a cut link, where nobody says that it is one */
#define TRAVEL_TIME  2
#define DOUBLE_TIME  700 /* from a message to its double */

struct world *world_main(struct world *w)
{
	return w->lab ? w->lab->hosts[0] : w;
}

struct world *world_host(struct world *w, unsigned i)
{
	if (!w->lab)
		return i ? NULL : w;
	return i < w->lab->n ? w->lab->hosts[i] : NULL;
}

struct world *world_named(struct world *w, const char *node)
{
	struct world *host;

	for (unsigned i = 0; (host = world_host(w, i)); i++) {
		if (streq(host->node, node))
			return host;
	}
	return NULL;
}

enum trouble world_trouble(const struct world *w)
{
	return w->lab ? w->lab->mishap.trouble : w->mishap.trouble;
}

bool world_happened(const struct world *w)
{
	return w->lab ? w->lab->hosts[w->lab->mishap.host]->happened : w->happened;
}

/* ---- who reaches whom ------------------------------------------------------------------------ */

static bool is_linked(const struct world *w, unsigned other)
{
	return w->agent && w->lab->hosts[other]->agent && !w->lab->cut[w->host][other];
}

/* What the agent should be told: which life it can reach, or 0. */
static uint64_t reach_of(const struct world *w, unsigned other)
{
	return is_linked(w, other) ? w->lab->hosts[other]->life : 0;
}

static void tell(struct world *w, const struct peer_event *event)
{
	struct input input = { .kind = INPUT_PEER, .peer = event };

	world_input(w, &input);
}

static void tell_up(struct world *w, const struct world *other)
{
	struct peer_hello hello = { .version = PEER_HANDOVER_VERSION,
		.capabilities = 1U << PEER_CAN_CHECK,
		.wall = WALL_START + w->t,
		.status = other->agent->peers.status };

	copy_str(hello.agent, sizeof(hello.agent), "sim");
	copy_str(hello.node, sizeof(hello.node), other->node);
	copy_str(hello.boot_id, sizeof(hello.boot_id), other->boot_id);
	copy_str(hello.database, UID_SIZE, agent_database_id(other->agent));
	tell(w,
		&(struct peer_event){ .kind = PEER_UP,
			.name = other->node,
			.hello = &hello,
			.expires = WALL_START + SECONDS(86400) * other->certificate_days });
}

static void follow_link(struct world *w, unsigned other);

/* It is so only if it is so still. Of a connection with another life this one ends first. */
static void link_changes(struct world *w, struct pending *p)
{
	struct world *other = w->lab->hosts[p->peer];
	bool was_up = w->told_up[p->peer];

	if (!w->agent || p->life != w->life || reach_of(w, p->peer) == w->told_up[p->peer])
		return;
	w->told_up[p->peer] = was_up ? 0 : other->life;
	if (!was_up)
		tell_up(w, other);
	else
		tell(w,
			&(struct peer_event){ .kind = PEER_DOWN,
				.name = other->node,
				.why = w->lab->cut[w->host][p->peer]
					? "it has not answered for 15 s"
					: "it has ended the connection" });
	follow_link(w, p->peer);
}

static void follow_link(struct world *w, unsigned other)
{
	struct pending *p;
	msec delay = w->lab->cut[w->host][other] ? SILENCE_TIME : NOTICE_TIME;

	if (!w->agent || other == w->host || reach_of(w, other) == w->told_up[other])
		return;
	p = world_later(w, w->told_up[other] ? delay : LINK_TIME, link_changes);
	p->life = w->life;
	p->peer = other;
}

void lab_changed(struct world *w)
{
	for (unsigned i = 0; w->lab && i < w->lab->n; i++) {
		for (unsigned k = 0; k < w->lab->n; k++)
			follow_link(w->lab->hosts[i], k);
	}
}

/* ---- what they say --------------------------------------------------------------------------- */

static void status_arrives(struct world *w, struct pending *p)
{
	if (w->told_up[p->peer])
		tell(w,
			&(struct peer_event){ .kind = PEER_STATUS,
				.name = w->lab->hosts[p->peer]->node,
				.status = &p->status });
}

static void publish(struct peer_port *port, const struct peer_status *status)
{
	struct world *w = port->sink.ctx;

	for (unsigned i = 0; i < w->lab->n; i++) {
		struct pending *p;

		if (!is_linked(w, i) || !w->told_up[i])
			continue;
		p = world_later(w->lab->hosts[i], TRAVEL_TIME, status_arrives);
		p->peer = w->host;
		p->status = *status;
	}
}

/* Worse than TCP: what is late may meet another life of the agent that it was meant for. */
static void handover_arrives(struct world *w, struct pending *p)
{
	if (w->agent && !w->lab->cut[w->host][p->peer])
		tell(w,
			&(struct peer_event){ .kind = PEER_HANDOVER,
				.name = w->lab->hosts[p->peer]->node,
				.handover = &p->handover });
}

static void post(struct world *from, struct world *to, const struct handover *handover, msec delay)
{
	const struct net_script *s = &from->lab->scripts[handover->kind];
	struct pending *p = world_later(to, delay, handover_arrives);

	p->peer = from->host;
	p->handover = *handover;
	if (streq(s->path, "epoch"))
		p->handover.epoch = atoll(s->value);
	else if (s->path && handover->document)
		p->document = forge(handover->document, s->path, s->value);
	if (!p->document)
		p->document = xstrdup(handover->document);
	p->handover.document = p->document;
}

static bool take_one(unsigned *count)
{
	return *count && (*count)--;
}

static void send(struct peer_port *port, const char *peer, const struct handover *handover)
{
	struct world *w = port->sink.ctx, *to = world_named(w, peer);
	struct net_script *script = &w->lab->scripts[handover->kind];

	if (!world_action(w) || !to || !is_linked(w, to->host))
		return;
	if (take_one(&script->lost))
		return;
	post(w, to, handover, take_one(&script->late) ? script->delay : TRAVEL_TIME);
	if (take_one(&script->doubled))
		post(w, to, handover, DOUBLE_TIME);
}

/* ---- commands -------------------------------------------------------------------------------- */

static void set_cut(struct world *w, const char *a, const char *b, bool cut)
{
	struct world *one = world_named(w, a), *two = world_named(w, b);

	if (!one || !two)
		return;
	w->lab->cut[one->host][two->host] = w->lab->cut[two->host][one->host] = cut;
	lab_changed(w);
}

/* "@node2/web" is the UID of the run that it has there. */
static const char *forged_value(struct world *w, char *value)
{
	char *slash = *value == '@' ? strchr(value, '/') : NULL;
	const struct world *host;
	const struct machine *m;

	if (!slash)
		return value;
	*slash = '\0';
	host = world_named(w, value + 1);
	m = host ? machines_find(&host->agent->machines, "default", slash + 1) : NULL;
	return m && m->vmi ? m->vmi->meta.uid : value;
}

static void forge_from_now_on(struct world *w, struct net_script *s, char *const *rest, size_t n)
{
	replace_str(&s->path, n > 1 ? rest[0] : NULL);
	replace_str(&s->value, n > 1 ? forged_value(w, rest[1]) : NULL);
}

static void script(struct net_script *s, const char *what, char *const *rest, size_t n)
{
	unsigned count = n ? (unsigned)atoi(rest[0]) : 1;

	if (streq(what, "lose"))
		s->lost = count;
	else if (streq(what, "double"))
		s->doubled = count;
	else
		s->late = count;
	s->delay = n > 1 ? atoll(rest[1]) : SECONDS(3);
}

/* The relays of what goes from one to the other end. */
static void break_way(struct world *w, const char *a, const char *b)
{
	struct world *one = world_named(w, a), *two = world_named(w, b);

	if (one && two)
		fake_break_way(one, two);
}

/* net cut A B; net heal A B; net break FROM TO; net lose|double|late KIND|all [COUNT [MS]];
 * net forge KIND [PATH|epoch VALUE] */
bool lab_command(struct world *w, char *const *words, size_t n)
{
	bool cut = n == 3 && streq(words[0], "cut"), known = false;

	if (cut || (n == 3 && streq(words[0], "heal"))) {
		set_cut(w, words[1], words[2], cut);
		return true;
	}
	if (n == 3 && streq(words[0], "break")) {
		break_way(w, words[1], words[2]);
		return true;
	}
	for (unsigned kind = 0; n > 1 && kind < HANDOVER_MAX; kind++) {
		if (!streq(words[1], "all") && !streq(words[1], handover_name(kind)))
			continue;
		if (streq(words[0], "forge"))
			forge_from_now_on(w, &w->lab->scripts[kind], words + 2, n - 2);
		else
			script(&w->lab->scripts[kind], words[0], words + 2, n - 2);
		known = true;
	}
	return known;
}

/* ---- birth and death ------------------------------------------------------------------------- */

static void leave_out(struct handover_rules *rules, const char *name)
{
	/* clang-format off */
	const struct { const char *name; bool *at; } all[] = {
		{ "paused",    &rules->paused },
		{ "evidence",  &rules->evidence },
		{ "patience",  &rules->patience },
		{ "memory",    &rules->memory },
		{ "suspicion", &rules->suspicion },
		{ "vouching",  &rules->vouching },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (streq(all[i].name, name))
			*all[i].at = false;
	}
}

void lab_prepare(struct world *w)
{
	static const struct peer_port_ops ops = { .publish = publish, .send = send };
	size_t n = 0;

	for (unsigned i = 0; w->lab && i < w->lab->n; i++) {
		if (i != w->host)
			w->peer_list[n++] = (struct peer_config){ .name = w->lab->hosts[i]->node,
				.address = w->lab->hosts[i]->node };
	}
	if (!w->lab)
		return;
	w->peers = (struct peer_port){ .ops = &ops, .sink = { .ctx = w } };
	w->options.peer_list = w->peer_list;
	w->options.n_peers = n;
	w->options.peers = &w->peers;
	w->options.migrations = true;
	w->options.relay_end = fake_end_relay;
	w->options.relay_ctx = w;
	if (w->without)
		leave_out(&w->options.tuning.handover, w->without);
	w->options.host_uuid = w->node;
	w->certificate_days = 100;
	w->options.peer_listen = w->node;
}

void lab_leave_out(struct world *w, const char *rule)
{
	struct world *host;

	for (unsigned i = 0; (host = world_host(w, i)); i++) {
		host->without = rule;
		leave_out(&host->options.tuning.handover, rule);
	}
}

void lab_open(struct world *w, unsigned n, const struct mishap *mishap)
{
	static const struct mishap none = { .trouble = TROUBLE_NONE };
	struct lab *lab = xcalloc(1, sizeof(*lab));

	lab->n = n;
	lab->mishap = *mishap;
	for (unsigned i = 0; i < n; i++) {
		struct world *host = i ? xcalloc(1, sizeof(*host)) : w;

		if (i)
			world_init(host, i == mishap->host ? mishap : &none);
		lab->hosts[i] = host;
		host->host = i;
		host->seed = i + 1;
		host->t = w->t;
		snprintf(host->node, sizeof(host->node), "node%u", i + 1);
	}
	for (unsigned i = 0; i < n; i++) {
		lab->hosts[i]->lab = lab;
		lab_prepare(lab->hosts[i]);
	}
}

void lab_close(struct world *w)
{
	struct lab *lab = w->lab;

	if (!lab || w->host)
		return;
	for (unsigned i = 0; i < lab->n; i++)
		lab->hosts[i]->lab = NULL; /* each dies alone */
	for (unsigned i = 1; i < lab->n; i++) {
		world_done(lab->hosts[i]);
		free(lab->hosts[i]);
	}
	for (unsigned i = 0; i < HANDOVER_MAX; i++) {
		free(lab->scripts[i].path);
		free(lab->scripts[i].value);
	}
	free(lab);
}
