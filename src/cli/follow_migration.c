/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl migrate --wait: a watch of the orders to move, of which one is ours. It reads that object
 * and writes to standard output; how a line looks is progress.c's.
 */
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/follow_migration.h"
#include "cli/json.h"
#include "cli/progress.h"

#include "core/age.h"

#define LINES_MS      SECONDS(5) /* between two lines of one phase, where there is no terminal */
#define COLUMNS_USUAL 80

struct awaited {
	const char *vm;
	char *uid;     /* owned; of the migration; NULL: not found yet */
	bool terminal; /* one line, drawn again */
	char *shown;   /* owned; phase and note of the last line; NULL: none yet */
	msec shown_at;
};

/* ---- what an object says --------------------------------------------------------------------- */

static bool is_final(const struct node *migration)
{
	const char *phase = node_text(migration, "status.phase");

	return streq(phase, "Succeeded") || streq(phase, "Failed");
}

/* The words of the condition, or NULL without it. */
static const char *condition_text(const struct node *migration, const char *type)
{
	const struct node *list = node_at(migration, "status.conditions");

	for (size_t i = 0; list && i < list->n_children; i++)
		if (streq(node_text(list->children[i], "type"), type))
			return node_text(list->children[i], "message");
	return NULL;
}

static const char *note_of(const struct node *migration)
{
	const char *mode = node_text(migration, "status.migrationState.mode");

	if (condition_text(migration, "InDoubt")) /* for milliseconds, if nobody fails */
		return "handing over";
	if (streq(mode, "PostCopy"))
		return "post-copy";
	if (streq(mode, "Paused"))
		return "paused";
	return condition_text(migration, "Waiting");
}

static struct progress progress_of(const struct awaited *a, const struct node *migration)
{
	const char *phase = node_text(migration, "status.phase");

	return (struct progress){ .name = a->vm,
		.phase = phase ? phase : "Pending",
		.note = note_of(migration),
		.total = json_number_at(migration, "status.progress.bytesTotal", 0),
		.remaining = json_number_at(migration, "status.progress.bytesRemaining", 0),
		.rate = json_number_at(migration, "status.progress.bytesPerSecond", 0),
		.seconds_left = json_number_at(migration, "status.progress.secondsLeft", -1) };
}

/* ---- what is shown --------------------------------------------------------------------------- */

/* One less than there are: a line that fills the last column would be wrapped. */
static size_t columns(void)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2)
		return COLUMNS_USUAL - 1;
	return size.ws_col - 1U;
}

static void draw(struct awaited *a, const struct progress *p)
{
	autofree char *line = progress_line(p, a->terminal ? columns() : PROGRESS_NO_BAR);
	autofree char *state = xasprintf("%s %s", p->phase, p->note ? p->note : "");

	if (!a->terminal && streq(a->shown, state) && http_clock() - a->shown_at < LINES_MS)
		return;
	printf(a->terminal ? "\r%s\033[K" : "%s\n", line);
	fflush(stdout);
	replace_str(&a->shown, state);
	a->shown_at = http_clock();
}

/* Makes room for what is the end of it. */
static void wipe(const struct awaited *a)
{
	if (a->terminal && a->shown)
		printf("\r\033[K");
	fflush(stdout);
}

static void say_moved(const struct awaited *a, const struct node *migration)
{
	const char *where = node_text(migration, "status.migrationState.targetNode");
	char took[AGE_SIZE];
	msec begun, ended;
	bool timed =
		time_parse(node_text(migration, "status.migrationState.startTimestamp"), &begun) &&
		time_parse(node_text(migration, "status.migrationState.endTimestamp"), &ended);

	if (timed)
		age_format(ended - begun, took);
	printf("VM %s was moved to '%s'%s%s\n", a->vm, where ? where : "", timed ? " in " : "",
		timed ? took : "");
}

/* Whether it has ended: 1, and -1 when it failed. */
static int judge(struct awaited *a, const struct node *migration, struct fault *fault)
{
	const char *why = node_text(migration, "status.migrationState.failureReason");
	struct progress p = progress_of(a, migration);

	if (!is_final(migration))
		return draw(a, &p), 0;
	wipe(a);
	if (streq(p.phase, "Failed"))
		return fault_set(fault, EXIT_ERROR, "VM %s was not moved: %s", a->vm,
			why ? why : "no reason is given");
	say_moved(a, migration);
	return 1;
}

/* ---- which it is, and what becomes of it ----------------------------------------------------- */

/* One that has not ended before those that have, and of these the one that did so last. */
static bool is_later(const struct node *a, const struct node *b)
{
	if (is_final(a) != is_final(b))
		return is_final(b);
	return json_number_at(a, "metadata.resourceVersion", 0) >
		json_number_at(b, "metadata.resourceVersion", 0);
}

static const struct node *pick(const struct awaited *a, const struct node *items)
{
	const struct node *found = NULL;

	for (size_t i = 0; i < items->n_children; i++) {
		const struct node *one = items->children[i];
		bool ours = a->uid ? streq(node_text(one, "metadata.uid"), a->uid)
				   : streq(node_text(one, "spec.vmiName"), a->vm);

		if (ours && (!found || is_later(one, found)))
			found = one;
	}
	return found;
}

static int listed(void *ctx, const struct node *items, struct fault *fault)
{
	struct awaited *a = ctx;
	const struct node *found = pick(a, items);

	if (!found)
		return fault_set(fault, EXIT_ERROR, "the migration of VM %s is not there any more",
			a->vm);
	replace_str(&a->uid, node_text(found, "metadata.uid"));
	return judge(a, found, fault);
}

static int changed(void *ctx, const char *type, const struct node *object, struct fault *fault)
{
	struct awaited *a = ctx;

	if (!streq(node_text(object, "metadata.uid"), a->uid))
		return 0;
	if (!is_final(object) && streq(type, "DELETED"))
		return fault_set(fault, EXIT_ERROR,
			"the migration of VM %s was deleted before it ended", a->vm);
	return judge(a, object, fault);
}

/* ---- interrupts ------------------------------------------------------------------------------ */

/* Says what whoever waits may not know, and leaves the rest to the default. */
static void interrupted(int signo)
{
	static const char words[] =
		"\nthe migration goes on; 'vmactl migrate-cancel' calls it off\n";
	ssize_t n = write(STDERR_FILENO, words, sizeof(words) - 1);

	(void)n;
	raise(signo);
}

static void catch_interrupt(struct sigaction *ret_before)
{
	struct sigaction action = { .sa_handler = interrupted, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &action, ret_before);
	if (ret_before->sa_handler == SIG_IGN) /* as a shell has it for what runs behind */
		sigaction(SIGINT, ret_before, NULL);
}

int follow_migration(const struct cli *cli, const char *vm, msec deadline, struct fault *fault)
{
	struct awaited a = { .vm = vm, .terminal = isatty(STDOUT_FILENO) };
	struct follow follow = { .cli = cli,
		.resource = resource_find("vmim"),
		.ns = cli_namespace(cli),
		.deadline = deadline,
		.ctx = &a,
		.listed = listed,
		.changed = changed };
	struct sigaction before;
	int ret;

	catch_interrupt(&before);
	ret = follow_run(&follow, fault);
	sigaction(SIGINT, &before, NULL);
	if (ret <= 0)
		wipe(&a);
	free(a.uid);
	free(a.shown);
	if (!ret)
		return fault_set(fault, EXIT_TIMEOUT,
			"timed out: VM %s is not moved yet, the migration goes on", vm);
	return ret < 0 ? -1 : 0;
}
