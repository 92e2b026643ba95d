/* SPDX-License-Identifier: Apache-2.0 */
/* Which MigrationPolicy counts, and what it changes: KubeVirt's rules, row by row. */
#include <check.h>
#include <stdio.h>

#include "core/json.h"
#include "core/migration_policy.h"

Suite *test_migration_policy_suite(void);

#define POLICIES_MAX 4
#define OWN(labels)  "{\"virtualMachineInstanceSelector\":{" labels "}}"
#define NS(labels)   "{\"namespaceSelector\":{" labels "}}"
#define BOTH(a, b)   "{\"virtualMachineInstanceSelector\":{" a "},\"namespaceSelector\":{" b "}}"
#define A            "\"a\":\"1\""
#define B            "\"b\":\"2\""
#define C            "\"c\":\"3\""

/* Policies are called p0, p1 … in this order; the machine bears a and b, its namespace c. */
static const struct {
	const char *what;
	const char *selectors[POLICIES_MAX];
	const char *found;
} matches[] = {
	{ "none is there", { NULL }, NULL },
	{ "one that selects nothing is everybody's", { "{}" }, "p0" },
	{ "its own label", { OWN(A) }, "p0" },
	{ "another value", { OWN("\"a\":\"2\"") }, NULL },
	{ "a label that it does not bear", { OWN(A "," C) }, NULL },
	{ "its namespace's", { NS(C) }, "p0" },
	{ "a label of its own is none of its namespace", { NS(A) }, NULL },
	{ "both must hold", { BOTH(A, B), NS(B) }, NULL },
	{ "the one with more labels", { "{}", OWN(A), OWN(A "," B) }, "p2" },
	{ "… of both kinds together", { OWN(A "," B), BOTH(A "," B, C) }, "p1" },
	{ "as many: more of its own", { NS(C), OWN(B) }, "p1" },
	{ "as many of each: the first by name", { OWN(B), OWN(A) }, "p0" },
	{ "one that does not hold counts for nothing", { OWN(A), BOTH(A "," B "," C, C) }, "p0" },
};

static const struct policed whose = { "{" A "," B "}", "{" C "}" };

static struct record *policy(unsigned i, const char *selectors)
{
	struct record *r = xcalloc(1, sizeof(*r));

	r->kind = KIND_MIGRATION_POLICY;
	r->meta.name = xasprintf("p%u", i);
	r->content = xasprintf("{\"spec\":{\"selectors\":%s}}", selectors);
	return r;
}

START_TEST(the_most_specific_counts)
{
	struct record *list[POLICIES_MAX];
	const struct record *found;
	unsigned n = 0;

	while (n < POLICIES_MAX && matches[_i].selectors[n]) {
		list[n] = policy(n, matches[_i].selectors[n]);
		n++;
	}
	found = migration_policy_find(list, n, &whose);
	ck_assert_msg(streq(found ? found->meta.name : NULL, matches[_i].found), "%s: %s",
		matches[_i].what, found ? found->meta.name : "none");
	while (n)
		record_free(list[--n]);
}
END_TEST

START_TEST(nobody_bears_a_label)
{
	struct record *own = policy(0, OWN(A)), *all = policy(1, "{}");
	struct record *list[] = { own, all };
	struct policed bare = { NULL, NULL };

	ck_assert_ptr_eq(migration_policy_find(list, 2, &bare), all);
	all->meta.deleted = 1;
	ck_assert_ptr_null(migration_policy_find(list, 2, &bare));
	record_free(own);
	record_free(all);
}
END_TEST

#define REST ",\"progressTimeout\":150}"

/* Of its spec, and what migrationConfiguration is then; the configuration says 7 bytes a second. */
static const struct {
	const char *spec, *is;
} words[] = {
	{ "",
		"\"allowAutoConverge\":false,\"allowPostCopy\":false,\"allowWorkloadDisruption\":false,"
		"\"bandwidthPerMigration\":\"7\",\"completionTimeoutPerGiB\":150,\"maxDowntimeMs\":900" },
	{ "\"allowAutoConverge\":true,\"completionTimeoutPerGiB\":123456789,\"maxDowntimeMs\":0",
		"\"allowAutoConverge\":true,\"allowPostCopy\":false,\"allowWorkloadDisruption\":false,"
		"\"bandwidthPerMigration\":\"7\",\"completionTimeoutPerGiB\":123456789,\"maxDowntimeMs\":0" },
	{ "\"allowPostCopy\":true,\"bandwidthPerMigration\":\"2Mi\"",
		"\"allowAutoConverge\":false,\"allowPostCopy\":true,\"allowWorkloadDisruption\":true,"
		"\"bandwidthPerMigration\":\"2097152\",\"completionTimeoutPerGiB\":150,\"maxDowntimeMs\":900" },
	{ "\"allowPostCopy\":true,\"allowWorkloadDisruption\":false,\"bandwidthPerMigration\":12",
		"\"allowAutoConverge\":false,\"allowPostCopy\":true,\"allowWorkloadDisruption\":false,"
		"\"bandwidthPerMigration\":\"12\",\"completionTimeoutPerGiB\":150,\"maxDowntimeMs\":900" },
};

START_TEST(what_it_says_counts)
{
	struct migration_limits limits = MIGRATION_LIMITS_DEFAULT;
	struct record *r = policy(0, "{}");
	autofree char *text = NULL, *is = xasprintf("{%s" REST, words[_i].is);

	free(r->content);
	r->content = xasprintf("{\"spec\":{%s}}", words[_i].spec);
	limits.bandwidth = 7;
	migration_policy_apply(r, &limits);
	text = json_take_text(migration_limits_json(&limits));
	ck_assert_str_eq(text, is);
	record_free(r);
}
END_TEST

/* At 10 bytes a second, of which 4 are lost again to what the guest writes. */
START_TEST(seconds_left)
{
	struct migration_progress p = { .total = 100, .remaining = 61, .rate = 10, .dirty = 4 };

	ck_assert_int_eq(migration_seconds_left(&p), 11);
	p.mode = MIGRATION_MODE_PAUSED;
	ck_assert_int_eq(migration_seconds_left(&p), 7);
	p.mode = MIGRATION_MODE_PRE_COPY;
	p.dirty = 10;
	ck_assert_int_eq(migration_seconds_left(&p), -1);
}
END_TEST

Suite *test_migration_policy_suite(void)
{
	Suite *suite = suite_create("migration_policy");
	TCase *tc = tcase_create("migration_policy");

	tcase_add_loop_test(tc, the_most_specific_counts, 0, ARRAY_SIZE(matches));
	tcase_add_test(tc, nobody_bears_a_label);
	tcase_add_loop_test(tc, what_it_says_counts, 0, ARRAY_SIZE(words));
	tcase_add_test(tc, seconds_left);
	suite_add_tcase(suite, tc);
	return suite;
}
