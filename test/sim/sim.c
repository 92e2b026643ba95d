/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulation's main: runs the scenarios that are named, plain and in the walks.
 *
 *   sim FILE…                         everything
 *   sim --full FILE…                  … and beginnings that scenarios share in each of them
 *   sim --plain FILE…                 without the walks
 *   sim --print FILE…                 plain, and shows the log
 *   sim --accept FILE…                plain, and writes the log into the scenario, for review
 *   sim --random SEED COUNT           that many scenarios, drawn by chance
 *   sim --table                       the crash table of a move, cell by cell
 *   sim --moves SEED COUNT            … in which a guest moves between hosts
 *   sim --without FILE…               with each rule of a move left out: one of them must notice
 *   sim --only TROUBLE:N[:FATE] FILE  one run of a walk, as its FAIL line names it, with its log
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenario.h"

#define JOBS_MAX 16

struct settings {
	bool plain, print, accept, full;
	const char *only;
};

static bool run_plain(struct scenario *s, const struct settings *settings, struct outcome *ret)
{
	struct run_options options = { .accept = settings->accept, .print = settings->print };

	scenario_run(s, &options, ret);
	if (ret->failure) {
		printf("FAIL %s: %s\n", s->name, ret->failure);
		return false;
	}
	if (settings->print)
		printf("%s", ret->end);
	printf("ok %s (plain)\n", s->name);
	return true;
}

static bool run_scenario(const char *path, const struct settings *settings)
{
	struct scenario s;
	struct outcome plain = { 0 };
	struct err err;
	bool good;

	if (scenario_load(path, &s, &err) < 0) {
		printf("FAIL %s: %s\n", path, err.msg);
		return false;
	}
	good = run_plain(&s, settings, &plain);
	if (settings->accept && scenario_save(&s, &err) < 0)
		printf("FAIL %s: %s\n", path, err.msg);
	if (good && settings->only)
		good = walks_only(&s, &plain, settings->only);
	else if (good && !settings->plain && !settings->print && !settings->accept)
		good = walks_run(&s, &plain, settings->full);
	outcome_done(&plain);
	scenario_done(&s);
	fflush(stdout);
	return good;
}

/* ---- several at once ------------------------------------------------------------------------- */

struct job {
	pid_t pid;
	FILE *output; /* owned */
};

static bool run_share(char **paths, size_t n, const struct settings *settings, size_t step)
{
	bool good = true;

	for (size_t i = 0; i < n; i += step)
		good &= run_scenario(paths[i], settings);
	return good;
}

static void show(FILE *output)
{
	char buf[4096];
	size_t n;

	rewind(output);
	while ((n = fread(buf, 1, sizeof(buf), output)) > 0)
		fwrite(buf, 1, n, stdout);
	fclose(output);
}

/* Each job takes every jobs-th scenario in a process of its own. */
static bool run_jobs(char **paths, size_t n, const struct settings *settings, size_t jobs)
{
	struct job list[JOBS_MAX];
	bool good = true;
	int status;

	for (size_t i = 0; i < jobs; i++) {
		list[i].output = tmpfile();
		list[i].pid = list[i].output ? fork() : -1;
		if (list[i].pid == 0) {
			dup2(fileno(list[i].output), STDOUT_FILENO);
			exit(run_share(paths + i, n - i, settings, jobs) ? 0 : 1);
		}
	}
	for (size_t i = 0; i < jobs; i++) {
		status = 1;
		if (list[i].pid > 0)
			waitpid(list[i].pid, &status, 0);
		if (list[i].output)
			show(list[i].output);
		if (WIFSIGNALED(status))
			printf("FAIL sim: ended by signal %d\n", WTERMSIG(status));
		good &= status == 0;
	}
	return good;
}

static bool run_random(char **argv)
{
	unsigned long seed = strtoul(argv[2], NULL, 10), count = strtoul(argv[3], NULL, 10);

	return (streq(argv[1], "--moves") ? random_hosts : random_walk)(seed, count);
}

int main(int argc, char **argv)
{
	struct settings settings = { 0 };
	size_t n = 0, jobs = MIN((size_t)sysconf(_SC_NPROCESSORS_ONLN), JOBS_MAX);

	if (argc == 2 && streq(argv[1], "--table"))
		return crash_table() ? 0 : 1;
	if (argc > 2 && streq(argv[1], "--without"))
		return random_without(argv + 2, (size_t)argc - 2) ? 0 : 1;
	if (argc == 4 && (streq(argv[1], "--random") || streq(argv[1], "--moves")))
		return run_random(argv) ? 0 : 1;
	for (int i = 1; i < argc; i++) {
		if (streq(argv[i], "--plain"))
			settings.plain = true;
		else if (streq(argv[i], "--full"))
			settings.full = true;
		else if (streq(argv[i], "--print"))
			settings.print = true;
		else if (streq(argv[i], "--accept"))
			settings.accept = true;
		else if (streq(argv[i], "--only") && i + 1 < argc)
			settings.only = argv[++i];
		else
			argv[n++] = argv[i];
	}
	if (n < 2 || settings.plain || settings.print || settings.accept || settings.only)
		return run_share(argv, n, &settings, 1) ? 0 : 1;
	return run_jobs(argv, n, &settings, MIN(jobs, n)) ? 0 : 1;
}
