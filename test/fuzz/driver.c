/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over every file in and below corpus folders, so that `make check` replays what
 * fuzzing found without needing clang: fuzz_NAME FOLDER... Prints one line `ok NAME: N inputs`; a
 * crash is the failure, and with VERBOSE set the last path on stderr is the input that did it.
 *
 * A target that can change its inputs by itself is also given that many changed ones (MUTATIONS,
 * 2000; from SEED, 1), always the same; with LAST set, that file then holds the input that did it.
 */
#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUTATIONS   2000
#define MUTATED_MAX (64 * 1024) /* bytes */
#define GENERATIONS 12          /* changes of changes of one input */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
	unsigned seed);

struct mutations {
	unsigned wanted, seed, done;
	const char *last; /* path of a file, or NULL */
};

static void keep(const char *path, const uint8_t *data, size_t size)
{
	FILE *file = path ? fopen(path, "wb") : NULL;

	if (!file)
		return;
	fwrite(data, 1, size, file);
	fclose(file);
}

/* As many as are this input's share. */
static void run_mutations(struct mutations *m, const uint8_t *data, size_t size, unsigned share)
{
	uint8_t *changed = malloc(MUTATED_MAX);
	size_t len = 0;

	for (unsigned i = 0; changed && i < share; i++, m->done++) {
		if (i % GENERATIONS == 0) {
			len = size < MUTATED_MAX ? size : MUTATED_MAX;
			memcpy(changed, data, len);
		}
		len = LLVMFuzzerCustomMutator(changed, len, MUTATED_MAX, m->seed++);
		keep(m->last, changed, len);
		LLVMFuzzerTestOneInput(changed, len);
	}
	free(changed);
}

static int run_file(const char *path, struct mutations *m, unsigned share)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size;
	long end;

	if (!file || fseek(file, 0, SEEK_END) || (end = ftell(file)) < 0)
		goto fail;
	rewind(file);
	size = (size_t)end;
	data = malloc(size ? size : 1);
	if (!data || fread(data, 1, size, file) != size)
		goto fail;
	fclose(file);
	if (getenv("VERBOSE"))
		fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(data, size);
	if (LLVMFuzzerCustomMutator)
		run_mutations(m, data, size, share);
	free(data);
	return 0;
fail:
	perror(path);
	free(data);
	if (file)
		fclose(file);
	return -1;
}

/* In one order on every machine, as the changes depend on it. */
static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_hidden(const FTSENT *entry)
{
	return entry->fts_level > FTS_ROOTLEVEL && entry->fts_name[0] == '.';
}

/* Every file of the folders and of those in them, each with its share of the wanted changes; with
 * no `m` they are only counted. Negative if one cannot be read. */
static int run_folders(char **folders, struct mutations *m, unsigned share)
{
	FTS *walk = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *entry;
	int run = 0;

	while (walk && run >= 0 && (entry = fts_read(walk))) {
		if (is_hidden(entry))
			fts_set(walk, entry, FTS_SKIP);
		else if (entry->fts_info == FTS_F)
			run = m && run_file(entry->fts_path, m, share) ? -1 : run + 1;
		else if (entry->fts_info != FTS_D && entry->fts_info != FTS_DP) {
			fprintf(stderr, "%s: %s\n", entry->fts_path,
				strerror(entry->fts_errno ? entry->fts_errno : EINVAL));
			run = -1;
		}
	}
	if (walk)
		fts_close(walk);
	return walk ? run : -1;
}

static unsigned number(const char *variable, unsigned fallback)
{
	const char *text = getenv(variable);

	return text ? (unsigned)strtoul(text, NULL, 10) : fallback;
}

int main(int argc, char **argv)
{
	struct mutations m = { number("MUTATIONS", MUTATIONS), number("SEED", 1), 0,
		getenv("LAST") };
	const char *name = strrchr(argv[0], '/');
	int count;

	name = name ? name + 1 : argv[0];
	if (argc < 2) {
		fprintf(stderr, "usage: %s FOLDER...\n", name);
		return EXIT_FAILURE;
	}
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	count = run_folders(argv + 1, NULL, 0);
	if (count > 0)
		count = run_folders(argv + 1, &m, m.wanted / (unsigned)(count + 1) + 1);
	if (count <= 0) {
		printf("FAIL %s: %s\n", name, count ? "an input cannot be read" : "no inputs");
		return EXIT_FAILURE;
	}
	if (m.done)
		printf("ok %s: %d inputs, %u changed ones\n", name, count, m.done);
	else
		printf("ok %s: %d inputs\n", name, count);
	return EXIT_SUCCESS;
}
