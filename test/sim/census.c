/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What there is of everything, on every host: rows in its database, objects in its agent's memory,
 * what libvirt and its disk have. Where a guest has come and gone many times nothing of it may have
 * grown. Events are left out: they are kept up to a number of their own.
 */
#include "daemon/agent_private.h"
#include "io/store_private.h"
#include "sim.h"

static void count_rows(struct world *w, struct buf *ret)
{
	static const char *const queries[] = {
		"SELECT kind, count(*) FROM object WHERE kind <> 'Event' GROUP BY kind ORDER BY kind",
		"SELECT 'provenance', count(*) FROM provenance",
		"SELECT 'value', count(*) FROM value"
	};
	sqlite3_stmt *stmt;

	for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
		if (sqlite3_prepare_v2(w->store->db, queries[i], -1, &stmt, NULL) != SQLITE_OK) {
			world_fail(w, "%s", sqlite3_errmsg(w->store->db));
			return;
		}
		while (sqlite3_step(stmt) == SQLITE_ROW)
			buf_printf(ret, " %s %d", (const char *)sqlite3_column_text(stmt, 0),
				sqlite3_column_int(stmt, 1));
		sqlite3_finalize(stmt);
	}
}

static void count_memory(const struct agent *agent, struct buf *ret)
{
	/* clang-format off */
	const struct { const char *name; size_t n; } lists[] = {
		{ "machines",   agent->machines.n },
		{ "contested",  agent->contested.n },
		{ "unprepared", agent->unprepared.n },
		{ "migrations", agent->migrations.n },
		{ "past",       agent->migrations.n_past },
		{ "records",    agent->records.n + agent->records.n_gone },
		{ "origins",    agent->origins.n },
		{ "disks",      agent->disks.n },
		{ "holders",    agent->capacity.holders.n + agent->capacity.waiting.n },
		{ "macs",       agent->macs.n },
		{ "ports",      agent->host_ports.n },
		{ "namesakes",  agent->namesakes.n },
		{ "shares",     agent->shares.n },
		{ "ops",        agent->n_inflight + agent->n_outbox },
		{ "letters",    agent->n_letters },
		{ "replies",    agent->n_replies },
		{ "errands",    agent->n_errands },
		{ "inquiries",  agent->n_inquiries },
		{ "checks",     agent->n_checks },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		buf_printf(ret, " %s %zu", lists[i].name, lists[i].n);
}

static void count_host(const struct fake *f, struct buf *ret)
{
	size_t domains = 0, jobs = 0, variables = 0;

	for (size_t i = 0; i < DOMAINS_MAX; i++) {
		domains += f->domains[i].exists;
		jobs += f->jobs[i].active;
	}
	for (size_t i = 0; i < NVRAMS_MAX; i++)
		variables += f->nvram[i].vm[0] != '\0';
	buf_printf(ret, " domains %zu jobs %zu variables %zu folders %zu claims %zu lanes %zu",
		domains, jobs, variables, f->n_dirs, f->n_claims, f->n_lanes);
}

char *census(struct world *w)
{
	struct buf b = { 0 };
	struct world *host;

	for (unsigned i = 0; (host = world_host(w, i)); i++) {
		buf_printf(&b, "%s%s:", i ? "; " : "", host->node);
		count_rows(host, &b);
		if (host->agent)
			count_memory(host->agent, &b);
		count_host(&host->fake, &b);
	}
	return b.data;
}
