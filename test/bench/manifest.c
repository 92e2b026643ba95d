/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a manifest costs from its text to the domain's XML: parse, validate, default
 * and type, write. One file, many rounds; prints the medians in us, one line each:
 * NAME MEDIAN. For test/bench/run.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/domxml.h"
#include "core/manifest.h"

#define ROUNDS   2001
#define TEXT_MAX (64 * 1024)
#define RUN_UUID "5d307ca9-b3ef-428c-8861-06e72d69f223"

enum part { PARSE, VALIDATE, TYPE, XML, WHOLE, PART_MAX };

static const char *const names[PART_MAX] = { "parse", "validate", "type", "xml", "whole" };

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static size_t read_text(const char *path, char *ret_text)
{
	FILE *file = fopen(path, "r");
	size_t len = file ? fread(ret_text, 1, TEXT_MAX, file) : 0;

	if (file)
		fclose(file);
	return len;
}

static int run(const char *text, size_t len, double ret_us[PART_MAX])
{
	static const char *const anywhere[] = { "/", NULL };
	static const struct policy policy = { .host_disk_roots = anywhere };
	static const struct domain_context context = { .ns = "default",
		.name = "a",
		.vmi_uid = RUN_UUID,
		.vm_uid = RUN_UUID,
		.epoch = 1,
		.directory = "/run/a" };
	struct findings findings = { 0 };
	struct documents docs = { 0 };
	struct manifest m = { 0 };
	struct vmi_spec spec;
	struct place place;
	struct node *tree;
	double at[PART_MAX];

	at[PARSE] = now_us();
	if (nodes_parse(text, len, &docs, &place, NULL) || docs.n != 1)
		return -1;
	at[VALIDATE] = now_us();
	if (manifest_check(docs.roots[0], &policy, &m, &findings))
		return -1;
	at[TYPE] = now_us();
	manifest_default(m.kind, m.root, RUN_UUID);
	tree = vmi_spec_tree(node_get(m.root, "spec"));
	if (spec_parse(tree, &spec, NULL))
		return -1;
	at[XML] = now_us();
	free(domain_xml(&spec, &context));
	at[WHOLE] = now_us();
	for (int part = PARSE; part < WHOLE; part++)
		ret_us[part] = at[part + 1] - at[part];
	ret_us[WHOLE] = at[WHOLE] - at[PARSE];
	vmi_spec_done(&spec);
	node_free(tree);
	manifest_done(&m);
	documents_done(&docs);
	return 0;
}

int main(int argc, char **argv)
{
	static double us[PART_MAX][ROUNDS];
	static char text[TEXT_MAX];
	size_t len = argc == 2 ? read_text(argv[1], text) : 0;

	for (size_t i = 0; i < ROUNDS; i++) {
		double one[PART_MAX];

		if (!len || run(text, len, one)) {
			fprintf(stderr,
				"usage: %s FILE, which has one VirtualMachine that is accepted\n",
				argv[0]);
			return EXIT_FAILURE;
		}
		for (int part = 0; part < PART_MAX; part++)
			us[part][i] = one[part];
	}
	for (int part = 0; part < PART_MAX; part++) {
		qsort(us[part], ROUNDS, sizeof(us[part][0]), by_size);
		printf("%s %.0f\n", names[part], us[part][ROUNDS / 2]);
	}
	return EXIT_SUCCESS;
}
