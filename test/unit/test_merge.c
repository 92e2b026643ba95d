/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three-way merge of a file into what is stored: base is the file as last applied, theirs the
 * file now, ours the stored object. And the two forms of a VM's strategy.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/manifest.h"

Suite *test_merge_suite(void);

static struct node *parsed(const char *text)
{
	struct documents docs = { 0 };
	struct place place;
	struct err err;
	struct node *root;

	ck_assert_msg(!nodes_parse(text, strlen(text), &docs, &place, &err), "%s: %s", text,
		err.msg);
	root = docs.n ? take(&docs.roots[0]) : NULL;
	documents_done(&docs);
	return root;
}

static const struct {
	const char *what, *base, *theirs, *ours, *merged;
} cases[] = {
	{ "nothing changed: ours stays", "{a: 1}", "{a: 1}", "{a: 2, b: 3}", "{a: 2, b: 3}" },
	{ "a changed value is written", "{a: 1}", "{a: 5}", "{a: 2, b: 3}", "{a: 5, b: 3}" },
	{ "an added one too", "{}", "{a: 5}", "{b: 3}", "{b: 3, a: 5}" },
	{ "a removed one goes", "{a: 1, b: 2}", "{b: 2}", "{a: 7, b: 3}", "{b: 3}" },
	{ "removed and not there", "{a: 1}", "{}", "{b: 3}", "{b: 3}" },
	{ "ours removed, file unchanged", "{a: 1, b: 1}", "{a: 1, b: 2}", "{b: 1}", "{b: 2}" },
	{ "ours removed, file changed", "{a: 1}", "{a: 2}", "{}", "{a: 2}" },
	{ "a stop is not undone", "{spec: {runStrategy: Always, m: 1}}",
		"{spec: {runStrategy: Always, m: 2}}", "{spec: {runStrategy: Halted, m: 1}}",
		"{spec: {runStrategy: Halted, m: 2}}" },
	{ "an edit of the strategy is", "{spec: {runStrategy: Always}}",
		"{spec: {runStrategy: Manual}}", "{spec: {runStrategy: Halted}}",
		"{spec: {runStrategy: Manual}}" },
	{ "a removed map leaves what others set", "{f: {boot: efi}}", "{}",
		"{f: {boot: efi, uuid: x}}", "{f: {uuid: x}}" },
	{ "and goes when nothing is left", "{f: {boot: efi}}", "{}", "{f: {boot: bios}}", "{}" },
	{ "an empty map that is removed goes whole", "{disk: {}}", "{cdrom: {}}",
		"{disk: {bus: sata}}", "{cdrom: {}}" },
	{ "a map becomes a value", "{a: {b: 1}}", "{a: 5}", "{a: {b: 1, c: 2}}", "{a: 5}" },
	{ "a value becomes a map", "{a: 5}", "{a: {b: 1}}", "{a: 5}", "{a: {b: 1}}" },
	{ "a map added beside ours", "{}", "{a: {b: 1}}", "{a: {c: 2}}", "{a: {c: 2, b: 1}}" },
	{ "no base: theirs over ours", "", "{a: {b: 1}, l: [1]}", "{a: {c: 2}, l: [2], x: 1}",
		"{a: {c: 2, b: 1}, l: [1], x: 1}" },
	{ "plain lists are replaced", "[1, 2]", "[1, 3]", "[1, 2, 9]", "[1, 3]" },
	{ "unless unchanged", "{l: [1]}", "{l: [1], a: 1}", "{l: [1, 9]}", "{l: [1, 9], a: 1}" },
	{ "elements merge by name", "[{name: a, x: 1}]", "[{name: a, x: 2}]",
		"[{name: a, x: 1, mac: m}]", "[{name: a, x: 2, mac: m}]" },
	{ "an element is added, ours stay", "[{name: a}]", "[{name: b}, {name: a}]",
		"[{name: a, u: 1}, {name: z}]", "[{name: b}, {name: a, u: 1}, {name: z}]" },
	{ "an element is removed, ours stay", "[{name: a}, {name: b}]", "[{name: b}]",
		"[{name: a}, {name: b}, {name: z}]", "[{name: b}, {name: z}]" },
	{ "an element that ours removed stays away", "[{name: a}, {name: b}]",
		"[{name: a}, {name: b, x: 1}]", "[{name: b}]", "[{name: b, x: 1}]" },
	{ "all elements are removed", "[{name: a}]", "[]", "[{name: a}, {name: z}]",
		"[{name: z}]" },
	{ "the list is removed", "{l: [{name: a}]}", "{}", "{l: [{name: a}, {name: z}]}",
		"{l: [{name: z}]}" },
	{ "the list is removed, none is left", "{l: [{name: a}]}", "{}", "{l: [{name: a}]}", "{}" },
	{ "names twice are no names", "[{name: a}, {name: a}]", "[{name: a}, {name: b}]",
		"[{name: z}]", "[{name: a}, {name: b}]" },
	{ "elements without names", "[{x: 1}]", "[{x: 2}]", "[{x: 1}, {x: 3}]", "[{x: 2}]" },
	{ "a list becomes a map", "{l: [{name: a}]}", "{l: {a: 1}}", "{l: [{name: a}]}",
		"{l: {a: 1}}" },
	{ "running to runStrategy", "{spec: {running: true}}", "{spec: {runStrategy: Halted}}",
		"{spec: {running: false}}", "{spec: {runStrategy: Halted}}" },
	{ "ours left the running form, the file edits it", "{spec: {running: true}}",
		"{spec: {running: false}}", "{spec: {runStrategy: Manual}}",
		"{spec: {running: false}}" },
	{ "ours left it, the file stays", "{spec: {running: true}}",
		"{spec: {running: true, x: 1}}", "{spec: {runStrategy: Manual}}",
		"{spec: {runStrategy: Manual, x: 1}}" },
	{ "the file is no map", "{a: 1}", "[1]", "{a: 1}", "[1]" },
};

START_TEST(merges)
{
	struct node *base = parsed(cases[_i].base), *theirs = parsed(cases[_i].theirs);
	struct node *ours = parsed(cases[_i].ours), *expected = parsed(cases[_i].merged);
	struct node *before = node_copy(ours);
	struct node *merged = merge_three(base, theirs, ours);
	autofree char *said = node_json(merged);
	autofree char *wanted = node_json(expected);

	/* The order of list elements counts, that of keys does not. */
	ck_assert_msg(node_equal(merged, expected), "%s: %s, expected %s", cases[_i].what, said,
		wanted);
	ck_assert_msg(node_equal(before, ours), "%s: ours was changed", cases[_i].what);
	node_free(base);
	node_free(theirs);
	node_free(ours);
	node_free(before);
	node_free(expected);
	node_free(merged);
}
END_TEST

static const struct {
	const char *spec;
	enum run_strategy strategy;
	bool running;
} strategies[] = {
	{ "{runStrategy: Always}", STRATEGY_ALWAYS, false },
	{ "{runStrategy: RerunOnFailure}", STRATEGY_RERUN_ON_FAILURE, false },
	{ "{runStrategy: Manual}", STRATEGY_MANUAL, false },
	{ "{runStrategy: Halted}", STRATEGY_HALTED, false },
	{ "{runStrategy: Once}", STRATEGY_ONCE, false },
	{ "{runStrategy: WaitAsReceiver}", STRATEGY_WAIT_AS_RECEIVER, false },
	{ "{running: true}", STRATEGY_ALWAYS, true },
	{ "{running: false}", STRATEGY_HALTED, true },
	{ "{}", STRATEGY_HALTED, false },
	{ "{runStrategy: always}", STRATEGY_HALTED, false },
	{ "{runStrategy: ''}", STRATEGY_HALTED, false },
	{ "{running: \"true\"}", STRATEGY_HALTED, false },
};

START_TEST(strategy_is_read)
{
	struct node *spec = parsed(strategies[_i].spec);
	bool running = !strategies[_i].running;

	ck_assert_int_eq(spec_run_strategy(spec, &running), strategies[_i].strategy);
	ck_assert_int_eq(running, strategies[_i].running);
	node_free(spec);
}
END_TEST

static const struct {
	const char *spec;
	enum run_strategy strategy;
	const char *written;
} writes[] = {
	{ "{running: true}", STRATEGY_HALTED, "{\"running\":false}" },
	{ "{running: false}", STRATEGY_ALWAYS, "{\"running\":true}" },
	{ "{running: false}", STRATEGY_MANUAL, "{\"runStrategy\":\"Manual\"}" },
	{ "{runStrategy: Always}", STRATEGY_HALTED, "{\"runStrategy\":\"Halted\"}" },
	{ "{}", STRATEGY_ALWAYS, "{\"runStrategy\":\"Always\"}" },
};

START_TEST(strategy_is_written)
{
	struct node *spec = parsed(writes[_i].spec);
	autofree char *json = NULL;
	bool running;

	spec_set_run_strategy(spec, writes[_i].strategy);
	json = node_json(spec);
	ck_assert_str_eq(json, writes[_i].written);
	ck_assert_int_eq(spec_run_strategy(spec, &running), writes[_i].strategy);
	node_free(spec);
}
END_TEST

Suite *test_merge_suite(void)
{
	Suite *suite = suite_create("merge");
	TCase *three = tcase_create("merge"), *strategy = tcase_create("§4.1 effective strategy");

	tcase_add_loop_test(three, merges, 0, ARRAY_SIZE(cases));
	tcase_add_loop_test(strategy, strategy_is_read, 0, ARRAY_SIZE(strategies));
	tcase_add_loop_test(strategy, strategy_is_written, 0, ARRAY_SIZE(writes));
	suite_add_tcase(suite, three);
	suite_add_tcase(suite, strategy);
	return suite;
}
