/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: every way to write an option, which command takes which, and
 * how objects are named. */
#include <check.h>
#include <string.h>

#include "cli/files.h"
#include "cli/options.h"
#include "cli/resource.h"

#include <vmagent/spec.h>

Suite *test_cli_options_suite(void);

#define WORDS_MAX 12

static int parse(const char *line, struct cli *cli, struct fault *fault)
{
	static char copy[256]; /* options borrow from it */
	char *words[WORDS_MAX], *rest = copy, *word;
	int n = 0;

	copy_str(copy, sizeof(copy), line);
	while ((word = strsep(&rest, " ")))
		if (*word)
			words[n++] = word;
	return options_parse(n, words, &cli->command, &cli->args, fault);
}

/* clang-format off */
static const struct {
	const char *line, *output, *ns;
	bool watch, all;
	size_t names;
} forms[] = {
	{ "get vm",                              NULL,   NULL, false, false, 1 },
	{ "get vm web",                          NULL,   NULL, false, false, 2 },
	{ "get -o json vm",                      "json", NULL, false, false, 1 },
	{ "get vm -ojson",                       "json", NULL, false, false, 1 },
	{ "get vm -o=json",                      "json", NULL, false, false, 1 },
	{ "get vm --output json",                "json", NULL, false, false, 1 },
	{ "get vm --output=json",                "json", NULL, false, false, 1 },
	{ "get vm --output=jsonpath={.a}=b",     "jsonpath={.a}=b", NULL, false, false, 1 },
	{ "get vm -w",                           NULL,   NULL, true,  false, 1 },
	{ "get vm -Aw",                          NULL,   NULL, true,  true,  1 },
	{ "get -wA -o name vm",                  "name", NULL, true,  true,  1 },
	{ "get vm -Aoname",                      "name", NULL, false, true,  1 },
	{ "get vm --watch=true",                 NULL,   NULL, true,  false, 1 },
	{ "get vm -w --watch=false",             NULL,   NULL, false, false, 1 },
	{ "-n lab get vm",                       NULL,   "lab", false, false, 1 },
	{ "--namespace=lab get vm",              NULL,   "lab", false, false, 1 },
	{ "get vm -nlab",                        NULL,   "lab", false, false, 1 },
	{ "get vm -n=lab -o wide",               "wide", "lab", false, false, 1 },
	{ "-o json get vm",                      "json", NULL, false, false, 1 },
	{ "get -- vm -w",                        NULL,   NULL, false, false, 2 },
};

static const struct {
	const char *line, *words;
} mistakes[] = {
	{ "frob",                        "unknown command 'frob'" },
	{ "get vm --frob",               "unknown option '--frob'; see 'vmactl get --help'" },
	{ "get vm -x",                   "unknown option '-x'" },
	{ "get vm -wx",                  "unknown option '-wx'" },
	{ "get vm --force",              "unknown option '--force'" },
	{ "--force get vm",              "unknown option 'force'" },
	{ "get vm -o",                   "a value is missing after '-o'" },
	{ "get vm --watch=maybe",        "option '--watch=maybe' does not take 'maybe'" },
	{ "stop web --grace-period=x",   "does not take 'x'" },
	{ "stop web --grace-period=-1",  "does not take '-1'" },
	{ "stop web --grace-period=",    "does not take ''" },
	{ "stop web --grace-period=2147483648", "does not take '2147483648'" },
	{ "stop web --grace-period=infinite", "does not take 'infinite'" },
	{ "stop web --now",              "unknown option '--now'" },
	{ "wait vm --timeout=5",         "does not take '5'" },
	{ "wait vm --timeout=5 m",       "does not take '5'" },
};

static const struct {
	const char *text;
	msec ms; /* -1: refused */
} durations[] = {
	{ "0", 0 }, { "0s", 0 }, { "90s", 90000 }, { "5m", 300000 }, { "1h30m", 5400000 },
	{ "500ms", 500 }, { "1.5s", 1500 }, { "2m30s", 150000 }, { "", -1 }, { "5", -1 }, { "s", -1 },
	{ "5x", -1 }, { "-5s", -1 }, { "1e30h", -1 }, { "nan", -1 }, { "infs", -1 },
};

static const struct {
	const char *line, *expected; /* "PLURAL/NAME ..." */
} named[] = {
	{ "get vm",                  "virtualmachines" },
	{ "get VMs",                 "virtualmachines" },
	{ "get vm web db",           "virtualmachines/web virtualmachines/db" },
	{ "get vm,vmi",              "virtualmachines virtualmachineinstances" },
	{ "get vm,vmi web",          "virtualmachines/web virtualmachineinstances/web" },
	{ "get all",                 "virtualmachines virtualmachineinstances" },
	{ "get vm/web",              "virtualmachines/web" },
	{ "get vm/web vmis/db",      "virtualmachines/web virtualmachineinstances/db" },
	{ "get virtualmachines",     "virtualmachines" },
	{ "get virtualmachineinstance.kubevirt.io/web", "virtualmachineinstances/web" },
	{ "get events",              "events" },
	{ "get",                     "error: what? Name a type, for example vm; see 'vmactl get --help'" },
	{ "get services",            "error: there is no resource type 'services' here; 'vmactl get --help' names them all" },
	{ "get vm,",                 "error: there is no resource type '' here; 'vmactl get --help' names them all" },
	{ "get vm/web db",           "error: 'db' is not TYPE/NAME: the two ways of naming objects cannot be mixed" },
	{ "get vm/",                 "error: 'vm/' is not TYPE/NAME: the two ways of naming objects cannot be mixed" },
	{ "get vm/a/b",              "error: 'vm/a/b' is not TYPE/NAME: the two ways of naming objects cannot be mixed" },
};
/* clang-format on */

START_TEST(an_option_may_be_written)
{
	struct fault fault = { 0 };
	struct cli cli = { 0 };

	ck_assert_msg(!parse(forms[_i].line, &cli, &fault), "%s: %s", forms[_i].line,
		fault.text.data);
	ck_assert_str_eq(cli.command->name, "get");
	ck_assert_msg(streq(cli.args.output, forms[_i].output), "%s", forms[_i].line);
	ck_assert_msg(streq(cli.args.ns, forms[_i].ns), "%s", forms[_i].line);
	ck_assert_int_eq(cli.args.watch, forms[_i].watch);
	ck_assert_int_eq(cli.args.all_namespaces, forms[_i].all);
	ck_assert_uint_eq(cli.args.n_names, forms[_i].names);
	ck_assert_str_eq(cli.args.names[0], "vm");
	free(cli.args.names);
}
END_TEST

START_TEST(a_mistake_is_named)
{
	struct fault fault = { 0 };
	struct cli cli = { 0 };

	ck_assert_int_eq(parse(mistakes[_i].line, &cli, &fault), -1);
	ck_assert_int_eq(fault.exit, EXIT_USAGE);
	ck_assert_msg(strstr(fault.text.data, mistakes[_i].words), "%s: %s", mistakes[_i].line,
		fault.text.data);
	fault_done(&fault);
	free(cli.args.names);
}
END_TEST

START_TEST(what_is_not_given_has_its_default)
{
	struct fault fault = { 0 };
	struct cli cli = { 0 };

	ck_assert_int_eq(parse("delete vm web", &cli, &fault), 0);
	ck_assert(cli.args.wait && cli.args.validate && !cli.args.force);
	ck_assert_int_eq(cli.args.grace, GRACE_UNSET);
	ck_assert_int_eq(cli.args.timeout, -1);
	ck_assert_str_eq(cli_namespace(&cli), "default");
	free(cli.args.names);

	ck_assert_int_eq(parse("stop web --force --grace-period 0 -n lab", &cli, &fault), 0);
	ck_assert(cli.args.force);
	ck_assert_int_eq(cli.args.grace, 0);
	ck_assert_str_eq(cli_namespace(&cli), "lab");
	free(cli.args.names);
}
END_TEST

START_TEST(files_add_up)
{
	struct fault fault = { 0 };
	struct cli cli = { 0 };

	ck_assert_int_eq(parse("apply -f a.yaml --filename b.yaml -f=-", &cli, &fault), 0);
	ck_assert_uint_eq(cli.args.n_files, 3);
	ck_assert_str_eq(cli.args.files[0], "a.yaml");
	ck_assert_str_eq(cli.args.files[2], "-");
	free(cli.args.names);
}
END_TEST

START_TEST(a_duration_is_read)
{
	msec ms = -1;

	ck_assert_msg(duration_parse(durations[_i].text, &ms) == (durations[_i].ms >= 0), "%s",
		durations[_i].text);
	ck_assert_int_eq(ms, durations[_i].ms);
}
END_TEST

START_TEST(objects_are_named)
{
	struct targets targets = { 0 };
	struct fault fault = { 0 };
	struct cli cli = { 0 };
	struct buf out = { 0 };

	ck_assert_int_eq(parse(named[_i].line, &cli, &fault), 0);
	if (targets_parse(&cli, &targets, &fault))
		buf_puts(&out, fault.text.data);
	for (size_t i = 0; !fault.exit && i < targets.n; i++)
		buf_printf(&out, "%s%s%s%s", i ? " " : "", targets.list[i].resource->plural,
			targets.list[i].name ? "/" : "",
			targets.list[i].name ? targets.list[i].name : "");
	ck_assert_str_eq(out.data, named[_i].expected);
	targets_done(&targets);
	fault_done(&fault);
	buf_done(&out);
	free(cli.args.names);
}
END_TEST

START_TEST(a_name_cannot_leave_its_path)
{
	autofree char *path = resource_path(resource_vm, "a/../b", "x?y=z &\xc3\xa9");

	ck_assert_str_eq(path,
		"/apis/kubevirt.io/v1/namespaces/a%2F..%2Fb/virtualmachines/"
		"x%3Fy%3Dz%20%26%C3%A9");
}
END_TEST

START_TEST(every_command_has_its_help)
{
	for (size_t i = 0; commands[i]; i++) {
		ck_assert_ptr_eq(command_find(commands[i]->name), commands[i]);
		ck_assert(commands[i]->synopsis && commands[i]->summary && commands[i]->run);
		ck_assert_int_eq(commands[i]->options >> OPTION_MAX, 0);
	}
	ck_assert_ptr_null(command_find("nope"));
}
END_TEST

/* Its path would be the collection's: deleting one of no name deleted all. */
START_TEST(empty_names_are_refused)
{
	const char *words[] = { "vm", "web", "" };
	struct node *root = node_new(NODE_MAP, NULL);
	struct file_object object = { .root = root, .source = (char *)"a.yaml" };
	struct cli cli = { .args = { .names = words, .n_names = 3 } };
	const struct resource *resource;
	struct targets targets = { 0 };
	struct fault fault = { 0 };
	const char *ns;

	ck_assert_int_eq(targets_parse(&cli, &targets, &fault), -1);
	ck_assert_str_eq(fault.text.data, "error: a name may not be empty");
	targets_done(&targets);
	ck_assert_int_eq(targets_of(&cli, resource_vm, &targets, &fault), -1);
	ck_assert_str_eq(fault.text.data, "error: a name may not be empty");
	targets_done(&targets);
	node_set(root, "kind", node_new(NODE_STRING, "VirtualMachine"));
	node_set_path(root, "metadata.name", node_new(NODE_STRING, ""));
	ck_assert_int_eq(file_object_place(&cli, &object, &resource, &ns, &fault), -1);
	ck_assert_str_eq(fault.text.data, "error: a.yaml:0: metadata.name is empty");
	fault_done(&fault);
	node_free(root);
}
END_TEST

Suite *test_cli_options_suite(void)
{
	Suite *s = suite_create("cli options");
	TCase *t = tcase_create("command line");

	tcase_add_loop_test(t, an_option_may_be_written, 0, ARRAY_SIZE(forms));
	tcase_add_loop_test(t, a_mistake_is_named, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(t, what_is_not_given_has_its_default);
	tcase_add_test(t, files_add_up);
	tcase_add_loop_test(t, a_duration_is_read, 0, ARRAY_SIZE(durations));
	tcase_add_test(t, empty_names_are_refused);
	tcase_add_loop_test(t, objects_are_named, 0, ARRAY_SIZE(named));
	tcase_add_test(t, a_name_cannot_leave_its_path);
	tcase_add_test(t, every_command_has_its_help);
	suite_add_tcase(s, t);
	return s;
}
