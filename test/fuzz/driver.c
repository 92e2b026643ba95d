/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over every file of a corpus folder, so that `make check` replays what fuzzing found
 * without needing clang: fuzz_NAME FOLDER. Prints one line `ok NAME: N inputs`; a crash is the failure, and
 * with VERBOSE set the last path on stderr is the input that did it.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
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
	free(data);
	return 0;
fail:
	perror(path);
	free(data);
	if (file)
		fclose(file);
	return -1;
}

static int run_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[4096];
	int count = 0;

	if (!dir) {
		perror(folder);
		return -1;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (run_file(path) < 0) {
			count = -1;
			break;
		}
		count++;
	}
	closedir(dir);
	return count;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	int count;

	name = name ? name + 1 : argv[0];
	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", name);
		return EXIT_FAILURE;
	}
	count = run_folder(argv[1]);
	if (count <= 0) {
		printf("FAIL %s: %s\n", name, count ? "an input cannot be read" : "no inputs");
		return EXIT_FAILURE;
	}
	printf("ok %s: %d inputs\n", name, count);
	return EXIT_SUCCESS;
}
