/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over every file of corpus folders, so that `make check` replays what fuzzing found
 * without needing clang: fuzz_NAME FOLDER... Prints one line `ok NAME: N inputs`; a crash is the failure, and
 * with VERBOSE set the last path on stderr is the input that did it.
 *
 * A target that can change its inputs by itself is also given that many changed ones (MUTATIONS, 2000; from SEED, 1), always the same; with
 * LAST set, that file then holds the input that did it.
 */
#include <dirent.h>
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

static int count_files(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int count = 0;

	if (!dir) {
		perror(folder);
		return -1;
	}
	while ((entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

static int run_folder(const char *folder, struct mutations *m, unsigned share)
{
	DIR *dir = opendir(folder);
	int run = 0;
	struct dirent *entry;
	char path[4096];

	if (!dir) {
		perror(folder);
		return -1;
	}
	while ((entry = readdir(dir)) && run >= 0) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		run = run_file(path, m, share) < 0 ? -1 : run + 1;
	}
	closedir(dir);
	return run;
}

static int run_folders(char **folders, struct mutations *m)
{
	int count = 0, run = 0;

	for (char **folder = folders; *folder; folder++) {
		int files = count_files(*folder);

		if (files < 0)
			return -1;
		count += files;
	}
	for (; *folders; folders++) {
		int files = run_folder(*folders, m, m->wanted / (unsigned)(count + 1) + 1);

		if (files < 0)
			return -1;
		run += files;
	}
	return run;
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
	count = run_folders(argv + 1, &m);
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
