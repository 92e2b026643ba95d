/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulation's main: runs the scenarios that are named, plain and in the walks.
 *
 *   sim FILE…                         everything
 *   sim --plain FILE…                 without the walks
 *   sim --print FILE…                 plain, and shows the log
 *   sim --accept FILE…                plain, and writes the log into the scenario, for review
 *   sim --only TROUBLE:N[:FATE] FILE  one run of a walk, as its FAIL line names it, with its log
 */
#include <stdio.h>
#include <string.h>

#include "sim.h"

struct settings {
	bool plain, print, accept;
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
		good = walks_run(&s, &plain);
	outcome_done(&plain);
	scenario_done(&s);
	fflush(stdout);
	return good;
}

int main(int argc, char **argv)
{
	struct settings settings = { 0 };
	bool good = true;

	for (int i = 1; i < argc; i++) {
		if (streq(argv[i], "--plain"))
			settings.plain = true;
		else if (streq(argv[i], "--print"))
			settings.print = true;
		else if (streq(argv[i], "--accept"))
			settings.accept = true;
		else if (streq(argv[i], "--only") && i + 1 < argc)
			settings.only = argv[++i];
		else
			good &= run_scenario(argv[i], &settings);
	}
	return good ? 0 : 1;
}
