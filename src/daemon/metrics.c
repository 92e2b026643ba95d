/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's figures as a page in Prometheus' text format: one table, a row for each name, made
 * anew for each reader. Guests and migrations have KubeVirt's names where the meaning is the same;
 * the daemon's own begin with vmagentd_. Reads the model and changes nothing.
 */
#include <stdio.h>

#include "daemon/agent_private.h"
#include "daemon/migrations.h"

struct page {
	const struct agent *agent;
	struct now now;
	const char *name; /* of the metric whose samples are being written */
	struct buf text;
};

typedef void samples_fn(struct page *p);

struct label {
	const char *name, *value;
};

/* labels end with one that has no name; NULL: none. Their values are names as in DNS, phases and
 * versions: none has what would have to be escaped. */
static void sample(struct page *p, const struct label *labels, double value)
{
	buf_puts(&p->text, p->name);
	for (const struct label *l = labels; l && l->name; l++) {
		buf_printf(&p->text, "%s%s=\"%s\"", l == labels ? "{" : ",", l->name, l->value);
	}
	buf_printf(&p->text, "%s %.15g\n", labels && labels->name ? "}" : "", value);
}

#define LABELS(...)                  \
	(const struct label[])       \
	{                            \
		__VA_ARGS__,         \
		{                    \
			.name = NULL \
		}                    \
	}

/* ---- the agent ------------------------------------------------------------------------------- */

static void build(struct page *p)
{
	sample(p, LABELS({ "version", VMAGENT_VERSION }), 1);
}

static void healthy(struct page *p)
{
	struct err ignored;

	sample(p, NULL, agent_is_healthy(p->agent, &ignored));
}

static void libvirt_up(struct page *p)
{
	sample(p, NULL, p->agent->connected);
}

static void rebuilding(struct page *p)
{
	sample(p, NULL, p->agent->rebuilding);
}

/* ---- guests ---------------------------------------------------------------------------------- */

static void vms(struct page *p)
{
	const struct machines *ms = &p->agent->machines;
	unsigned n = 0;

	for (size_t i = 0; i < ms->n; i++) { /* sorted by namespace */
		n += ms->list[i]->vm != NULL;
		if (i + 1 < ms->n && streq(ms->list[i]->ns, ms->list[i + 1]->ns))
			continue;
		if (n)
			sample(p, LABELS({ "namespace", ms->list[i]->ns }), n);
		n = 0;
	}
}

static void vmi_phases(struct page *p)
{
	const struct machines *ms = &p->agent->machines;
	unsigned n[PHASE_MAX] = { 0 };

	for (size_t i = 0; i < ms->n; i++)
		n[ms->list[i]->vmi ? ms->list[i]->vmi->phase : PHASE_UNSET]++;
	for (unsigned phase = PHASE_UNSET + 1; phase < PHASE_MAX; phase++)
		sample(p,
			LABELS({ "node", p->agent->options->node_name },
				{ "phase", phase_name(phase) }),
			n[phase]);
}

/* ---- migrations ------------------------------------------------------------------------------ */

/* The source counts them; both would count each twice. */
static unsigned phases_between(const struct page *p, enum migration_phase first,
	enum migration_phase last)
{
	const struct migrations *gs = &p->agent->migrations;
	unsigned n = 0;

	for (size_t i = 0; i < gs->n; i++) {
		enum migration_phase phase = migration_phase_of(gs->list[i]);

		n += gs->list[i]->role == MIGRATION_SOURCE && phase >= first && phase <= last;
	}
	return n;
}

static void migrations_pending(struct page *p)
{
	sample(p, NULL, phases_between(p, MIGRATION_PHASE_PENDING, MIGRATION_PHASE_PENDING));
}

static void migrations_scheduling(struct page *p)
{
	sample(p, NULL, phases_between(p, MIGRATION_PHASE_SCHEDULING, MIGRATION_PHASE_SCHEDULING));
}

static void migrations_running(struct page *p)
{
	sample(p, NULL, phases_between(p, MIGRATION_PHASE_SCHEDULED, MIGRATION_PHASE_RUNNING));
}

static void ended(struct page *p, enum migration_phase phase)
{
	const struct migrations *gs = &p->agent->migrations;
	const char *node = p->agent->options->node_name;

	for (size_t i = 0; i < gs->n; i++) {
		const struct migration *g = gs->list[i];
		bool source = g->role == MIGRATION_SOURCE;

		if (migration_phase_of(g) == phase)
			sample(p,
				LABELS({ "namespace", g->meta.ns }, { "vmi", g->vmi },
					{ "vmim", g->meta.name },
					{ "source", source ? node : g->peer },
					{ "target", source ? g->peer : node }),
				1);
	}
}

static void migrations_succeeded(struct page *p)
{
	ended(p, MIGRATION_PHASE_SUCCEEDED);
}

static void migrations_failed(struct page *p)
{
	ended(p, MIGRATION_PHASE_FAILED);
}

static void in_doubt(struct page *p)
{
	const struct migrations *gs = &p->agent->migrations;

	for (size_t i = 0; i < gs->n; i++) {
		const struct migration *g = gs->list[i];

		if (g->doubt_wall)
			sample(p,
				LABELS({ "namespace", g->meta.ns }, { "vmi", g->vmi },
					{ "vmim", g->meta.name }, { "peer", g->peer },
					{ "role", migration_role_name(g->role) }),
				(double)MAX(p->now.wall - g->doubt_wall, 0) / 1000);
	}
}

/* ---- peers ----------------------------------------------------------------------------------- */

static void peer_up(struct page *p)
{
	for (size_t i = 0; i < p->agent->options->n_peers; i++) {
		const struct peer_facts *peer = &p->agent->peers.list[i];

		sample(p, LABELS({ "peer", peer->config->name }), peer->up);
	}
}

static void peer_clock(struct page *p)
{
	for (size_t i = 0; i < p->agent->options->n_peers; i++) {
		const struct peer_facts *peer = &p->agent->peers.list[i];

		if (peer->has_clock)
			sample(p, LABELS({ "peer", peer->config->name }),
				(double)peer->ahead / 1000);
	}
}

static void certificates(struct page *p)
{
	const struct peers *peers = &p->agent->peers;

	if (peers->self_expires)
		sample(p, LABELS({ "node", p->agent->options->node_name }),
			(double)(peers->self_expires / 1000));
	for (size_t i = 0; i < p->agent->options->n_peers; i++) {
		const struct peer_facts *peer = &peers->list[i];

		if (peer->expires)
			sample(p, LABELS({ "node", peer->config->name }),
				(double)(peer->expires / 1000));
	}
}

/* ---- the table ------------------------------------------------------------------------------- */

/* clang-format off */
static const struct { /* all are gauges */
	const char *name, *help;
	samples_fn *samples;
} metrics[] = {
	{ "vmagentd_build_info", "1, with the agent's version.", build },
	{ "vmagentd_healthy", "Whether the agent can store what it decides and libvirt answers.", healthy },
	{ "vmagentd_libvirt_up", "Whether the agent is connected to libvirt.", libvirt_up },
	{ "vmagentd_rebuilding",
	  "Whether the database was lost and what does not run here is held until each peer has answered.", rebuilding },
	{ "vmagentd_peer_up", "Whether that peer can be reached.", peer_up },
	{ "vmagentd_peer_clock_ahead_seconds", "By how much that peer's wall clock is ahead of this host's.", peer_clock },
	{ "vmagentd_certificate_expiry_timestamp_seconds",
	  "When the certificate that this node, or that peer, shows expires.", certificates },
	{ "vmagentd_migration_in_doubt_seconds",
	  "For how long that guest has stood still, or been nobody's, because only that peer can say who has it.", in_doubt },
	{ "kubevirt_number_of_vms", "The number of VirtualMachines by namespace.", vms },
	{ "kubevirt_vmi_phase_count", "The number of VirtualMachineInstances by phase.", vmi_phases },
	{ "kubevirt_vmi_migrations_in_pending_phase",
	  "Migrations away from this node that wait for their turn.", migrations_pending },
	{ "kubevirt_vmi_migrations_in_scheduling_phase",
	  "Migrations away from this node whose target is asked.", migrations_scheduling },
	{ "kubevirt_vmi_migrations_in_running_phase",
	  "Migrations away from this node that are under way.", migrations_running },
	{ "kubevirt_vmi_migration_succeeded", "Of those that are kept, the migrations that succeeded.", migrations_succeeded },
	{ "kubevirt_vmi_migration_failed", "Of those that are kept, the migrations that failed.", migrations_failed },
};
/* clang-format on */

char *agent_metrics(const struct agent *agent, struct now now)
{
	struct page p = { .agent = agent, .now = now };

	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		p.name = metrics[i].name;
		buf_printf(&p.text, "# HELP %s %s\n# TYPE %s gauge\n", p.name, metrics[i].help,
			p.name);
		metrics[i].samples(&p);
	}
	return p.text.data;
}
