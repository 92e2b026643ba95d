/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs Check suites: build/test/unit [SUITE [CASE]]. The files to run are found by name
 * (tools/suites), so a new test file needs no entry anywhere.
 */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

extern Suite *(*const suites[])(void); /* made by tools/suites, ends with NULL */

int main(int argc, char **argv)
{
	SRunner *runner;
	int failed;

	setenv("CK_DEFAULT_TIMEOUT", "60", false); /* 4 s are little where much else runs */
	runner = srunner_create(NULL);
	for (int i = 0; suites[i]; i++)
		srunner_add_suite(runner, suites[i]());
	srunner_run(runner, argc > 1 ? argv[1] : NULL, argc > 2 ? argv[2] : NULL, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
