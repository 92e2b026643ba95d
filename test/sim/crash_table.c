/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The crash table: how far a move has come, what fails then, and where the guest must be in the
 * end. Each cell is a scenario of its own; all of them end with the truth on both hosts.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/agent_private.h"
#include "scenario.h"

/* Where the guest is in the end, X(constant, words, the lines that must hold).
 * Warm: it never stopped. */
#define ENDS(X)                                                                    \
	X(NONE, "", NULL)                                                          \
	X(S_RUN, "it goes on at the source",                                       \
		"expect domain web running|expect vmi web uid=same|"               \
		"@node2 expect no vmi web")                                        \
	X(S_COLD, "it boots at the source",                                        \
		"expect domain web running|expect vmi web uid=new|"                \
		"@node2 expect no vmi web")                                        \
	X(T_RUN, "it goes on at the target",                                       \
		"@node2 expect domain web running|@node2 expect vmi web uid=same|" \
		"expect no vm web")                                                \
	X(T_COLD, "it boots at the target",                                        \
		"@node2 expect domain web running|@node2 expect vmi web uid=new|expect no vm web")

enum end_kind {
#define X(c, words, lines) END_##c,
	ENDS(X)
#undef X
};
static const struct {
	const char *words, *lines;
} ends[] = {
#define X(c, words, lines) { words, lines },
	ENDS(X)
#undef X
};

/* X(constant, words, how it is done; "|" between lines) */
#define FAULTS(X)                                                                            \
	X(AGENT_S, "agent S", "agent down|wait 4|agent up")                                  \
	X(LIBVIRT_S, "libvirtd S", "libvirt restart")                                        \
	X(QEMU_S, "QEMU S", "try guest web crash")                                           \
	X(HOST_S, "host S", "host reboot")                                                   \
	X(AGENT_T, "agent T", "@node2 agent down|wait 4|@node2 agent up")                    \
	X(LIBVIRT_T, "libvirtd T", "@node2 libvirt restart")                                 \
	X(QEMU_T, "QEMU T", "@node2 try guest web crash")                                    \
	X(HOST_T, "host T", "@node2 host reboot")                                            \
	X(CUT, "network", "net cut node1 node2|wait 20|net heal node1 node2")                \
	X(CUT_LONG, "network for long", "net cut node1 node2|wait 150|net heal node1 node2") \
	X(RELAY, "relay", "net break node1 node2")

enum fault {
#define X(c, words, lines) FAULT_OF_##c,
	FAULTS(X)
#undef X
		FAULTS_MAX
};
static const struct {
	const char *words, *lines;
} faults[] = {
#define X(c, words, lines) { words, lines },
	FAULTS(X)
#undef X
};

#define F(end)                      \
	{                           \
		END_##end, "Failed" \
	}
#define S(end)                         \
	{                              \
		END_##end, "Succeeded" \
	}
#define NO                     \
	{                      \
		END_NONE, NULL \
	} /* it cannot be */

/* A guest whose migration does not end, until the second attempt is begun. */
#define POST_COPY \
	"tune post-copy on|libvirt busy on|migrate web node2|wait 1|libvirt stop-at copy|wait 1"

/* clang-format off */
static const struct {
	const char *step;  /* durable at the source / at the target */
	const char *until; /* lines that bring it there */
	struct {
		enum end_kind end;
		const char *verdict;
	} cells[FAULTS_MAX];
} table[] = {
	/*                                             agent S    libvirtd S QEMU S     host S     agent T    libvirtd T QEMU T     host T     cut        cut for long relay */
	{ "pending (none/none)",
	  "net cut node1 node2|wait 20|migrate web node2|wait 1|net heal node1 node2",
						     { S(T_RUN),  S(T_RUN),  F(S_COLD), F(S_COLD), S(T_RUN),  S(T_RUN),  NO,        S(T_RUN),  S(T_RUN),  S(T_RUN),  NO } },
	{ "PREPARE sent (OUT/IN)",
	  "net lose PREPARED 1000|migrate web node2|wait 0.5",
						     { S(T_RUN),  S(T_RUN),  F(S_COLD), F(S_COLD), S(T_RUN),  S(T_RUN),  NO,        S(T_RUN),  S(T_RUN),  F(S_RUN),  NO } },
	{ "Perform (OUT/IN)",
	  "libvirt stop-at copy|migrate web node2|wait 1",
						     { S(T_RUN),  F(S_RUN),  F(S_COLD), F(S_COLD), S(T_RUN),  F(S_RUN),  F(S_RUN),  F(S_RUN),  S(T_RUN),  S(T_RUN),  F(S_RUN) } },
	{ "S paused, Finish not executed (OUT/IN)",
	  "libvirt stop-at switch|migrate web node2|wait 1",
						     { S(T_RUN),  F(S_RUN),  S(T_RUN),  F(S_COLD), S(T_RUN),  F(S_RUN),  F(S_RUN),  F(S_RUN),  S(T_RUN),  S(T_RUN),  F(S_RUN) } },
	{ "Finish executed, reply not received (OUT/COMPLETE)",
	  "libvirt stop-at finish|migrate web node2|wait 1",
						     { S(T_RUN),  F(S_RUN),  S(T_RUN),  F(S_COLD), S(T_RUN),  F(S_RUN),  F(S_RUN),  F(S_RUN),  S(T_RUN),  S(T_RUN),  F(S_RUN) } },
	{ "the answer is held, and QEMU S is to be ended (OUT/COMPLETE)",
	  "libvirt hang migrate-seal|migrate web node2|wait 1",
						     { S(T_RUN),  F(S_RUN),  S(T_RUN),  F(S_COLD), S(T_RUN),  S(T_RUN),  F(S_COLD), F(T_COLD), F(S_RUN),  F(S_RUN) } },
	{ "the answer is held, and COMPLETE not received (OUT/COMPLETE)",
	  "net lose COMPLETE 1000|migrate web node2|wait 1.5",
						     { S(T_RUN),  F(S_RUN),  S(T_RUN),  F(S_COLD), S(T_RUN),  S(T_RUN),  F(S_RUN),  F(S_RUN),  F(S_RUN),  F(S_RUN) } },
	{ "S dead with evidence, not stored (OUT/COMPLETE)",
	  "net lose COMPLETE 1000|migrate web node2|wait 22",
						     { S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  F(S_COLD), F(S_COLD), S(T_RUN),  F(S_COLD), S(T_RUN) } },
	{ "the same, and libvirt's event was missed", /* so that the evidence does not outlive a host */
	  "libvirt silent|net lose COMPLETE 1000|migrate web node2|wait 22",
						     { S(T_RUN),  S(T_RUN),  S(T_RUN),  F(S_COLD), S(T_RUN),  S(T_RUN),  F(S_COLD), F(S_COLD), S(T_RUN),  F(S_COLD), S(T_RUN) } },
	{ "RELEASED, COMMIT not stored (RELEASED/COMPLETE)",
	  "net lose COMMIT 1000|migrate web node2|wait 1.5",
						     { S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  F(T_COLD), F(T_COLD), S(T_RUN),  S(T_RUN),  S(T_RUN) } },
	{ "OWNER, not resumed (RELEASED/OWNER)",
	  "@node2 libvirt hang migrate-resume|migrate web node2|wait 1.5",
						     { S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  F(T_COLD), F(T_COLD), S(T_RUN),  S(T_RUN),  S(T_RUN) } },
	{ "resumed, FINALIZED not stored (RELEASED/DONE)",
	  "net lose FINALIZED 1000|migrate web node2|wait 1.5",
						     { S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_COLD), S(T_COLD), S(T_RUN),  S(T_RUN),  S(T_RUN) } },
	{ "S cleans (DONE/DONE)",
	  "libvirt hang undefine|migrate web node2|wait 1.5",
						     { S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_RUN),  S(T_COLD), S(T_COLD), S(T_RUN),  S(T_RUN),  S(T_RUN) } },
	{ "P1: the second attempt, not gone over (OUT/IN)",
	  POST_COPY "|wait 1",
						     { S(T_RUN),  F(S_RUN),  F(S_COLD), F(S_COLD), S(T_RUN),  F(S_RUN),  F(S_RUN),  F(S_RUN),  S(T_RUN),  S(T_RUN),  F(S_RUN) } },
	/* Of QEMU T and host T: the source releases before libvirt tells it that
	 * the way broke down. */
	{ "P1b: gone over, not released (OUT/IN)",
	  POST_COPY "|libvirt hang read|libvirt go-on|wait 1",
						     { S(T_RUN),  F(S_COLD), F(S_COLD), F(S_COLD), S(T_RUN),  F(S_COLD), F(T_COLD), F(T_COLD), F(S_COLD), F(S_COLD), F(S_COLD) } },
	{ "P2: post-copy (RELEASED/OWNER)",
	  POST_COPY "|libvirt stop-at finish|wait 2",
						     { S(T_RUN),  S(T_RUN),  F(T_COLD), F(T_COLD), S(T_RUN),  S(T_RUN),  F(T_COLD), F(T_COLD), S(T_RUN),  S(T_RUN),  S(T_RUN) } },
};
/* clang-format on */

#define BEGIN "hosts 2|vm web Always|wait 1|mark web"
#define HEAL                                                                 \
	"net lose all 0|libvirt go-on|libvirt answers|@node2 libvirt go-on|" \
	"@node2 libvirt answers|wait 200"

static void add_lines(struct scenario *s, const char *lines)
{
	autofree char *copy = xstrdup(lines);
	char *rest = copy, *line;

	while ((line = strsep(&rest, "|")))
		random_line(s, line);
}

/* What is stopped at goes on once the fault has been met: else a cut would not be seen by it. */
static void make_cell(struct scenario *s, size_t row, size_t column)
{
	autofree char *verdict =
		xasprintf("expect migration web phase=%s", table[row].cells[column].verdict);

	*s = (struct scenario){ .path = xstrdup("table"), .name = xstrdup("table"), .hosts = 2 };
	add_lines(s, BEGIN);
	add_lines(s, table[row].until);
	add_lines(s, faults[column].lines);
	add_lines(s, HEAL);
	random_line(s, verdict);
	add_lines(s, ends[table[row].cells[column].end].lines);
}

static bool run_cell(size_t row, size_t column)
{
	struct mishap none = { .trouble = TROUBLE_NONE };
	struct scenario s;
	bool good;

	make_cell(&s, row, column);
	autofree char *why = random_failure(&s, none);

	good = !why;
	printf("%s %s: %s dies: %s, %s%s%s\n", good ? "ok" : "FAIL", table[row].step,
		faults[column].words, ends[table[row].cells[column].end].words,
		table[row].cells[column].verdict, good ? "" : ": ", good ? "" : why);
	for (size_t i = 0; i < s.n && !good; i++)
		printf("%s\n%s", s.lines[i].text, s.lines[i].expected ? s.lines[i].expected : "");
	scenario_done(&s);
	return good;
}

bool crash_table(void)
{
	bool good = true;

	for (size_t row = 0; row < ARRAY_SIZE(table); row++) {
		for (size_t column = 0; column < FAULTS_MAX; column++) {
			if (table[row].cells[column].end != END_NONE)
				good &= run_cell(row, column);
		}
	}
	return good;
}
