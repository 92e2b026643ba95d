/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placements as people write them, held against a host and the runs that are on it. The words are
 * those that an admin reads.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/manifest.h"
#include "core/placement.h"

Suite *test_placement_suite(void);

#define NODE_TERMS \
	"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
#define SELECTOR_WORDS \
	"0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector: "

/* clang-format off */
/* The host is node1 with labels disk=ssd, cores=8 and a taint gpu=yes:NoSchedule
 * where `taint` is there. */
static const struct {
	const char *spec;
	bool taint;
	const char *words; /* NULL: it suits */
} hosts[] = {
	{ "", false, NULL },
	{ "nodeSelector: {disk: ssd}", false, NULL },
	{ "nodeSelector: {disk: ssd, cores: '8'}", false, NULL },
	{ "nodeSelector: {disk: hdd}", false,
		SELECTOR_WORDS "host 'node1' has no label disk=hdd" },
	{ "nodeSelector: {zone: a}", false,
		SELECTOR_WORDS "host 'node1' has no label zone=a" },
	{ NODE_TERMS "[{matchExpressions: [{key: disk, operator: In, values: [hdd, ssd]}]}]}}}", false, NULL },
	{ NODE_TERMS "[{matchExpressions: [{key: disk, operator: In, values: [hdd]}]}]}}}", false,
		SELECTOR_WORDS "none of the nodeSelectorTerms matches host 'node1'" },
	{ NODE_TERMS "[{matchExpressions: [{key: disk, operator: NotIn, values: [hdd]}]}]}}}", false, NULL },
	{ NODE_TERMS "[{matchExpressions: [{key: disk, operator: NotIn, values: [ssd]}]}]}}}", false,
		SELECTOR_WORDS "none of the nodeSelectorTerms matches host 'node1'" },
	{ NODE_TERMS "[{matchExpressions: [{key: zone, operator: NotIn, values: [a]}]}]}}}", false, NULL },
	{ NODE_TERMS "[{matchExpressions: [{key: disk, operator: Exists}]}]}}}", false, NULL },
	{ NODE_TERMS "[{matchExpressions: [{key: zone, operator: Exists}]}]}}}", false,
		SELECTOR_WORDS "none of the nodeSelectorTerms matches host 'node1'" },
	{ NODE_TERMS "[{matchExpressions: [{key: zone, operator: DoesNotExist}]}]}}}", false, NULL },
	{ NODE_TERMS "[{matchExpressions: [{key: disk, operator: DoesNotExist}]}]}}}", false,
		SELECTOR_WORDS "none of the nodeSelectorTerms matches host 'node1'" },
	{ NODE_TERMS "[{matchExpressions: [{key: cores, operator: Gt, values: ['7']}]}]}}}", false, NULL },
	{ NODE_TERMS "[{matchExpressions: [{key: cores, operator: Gt, values: ['8']}]}]}}}", false,
		SELECTOR_WORDS "none of the nodeSelectorTerms matches host 'node1'" },
	{ NODE_TERMS "[{matchExpressions: [{key: cores, operator: Lt, values: ['9']}]}]}}}", false, NULL },
	{ NODE_TERMS "[{matchExpressions: [{key: disk, operator: Lt, values: ['9']}]}]}}}", false,
		SELECTOR_WORDS "none of the nodeSelectorTerms matches host 'node1'" },
	{ NODE_TERMS "[{matchExpressions: [{key: zone, operator: Lt, values: ['9']}]}]}}}", false,
		SELECTOR_WORDS "none of the nodeSelectorTerms matches host 'node1'" },
	/* all of a term, any of the terms */
	{ NODE_TERMS "[{matchExpressions: [{key: disk, operator: Exists}, {key: zone, operator: Exists}]}]}}}", false,
		SELECTOR_WORDS "none of the nodeSelectorTerms matches host 'node1'" },
	{ NODE_TERMS "[{matchExpressions: [{key: zone, operator: Exists}]}, "
		"{matchExpressions: [{key: disk, operator: Exists}]}]}}}", false, NULL },
	{ NODE_TERMS "[{matchFields: [{key: metadata.name, operator: In, values: [node1]}]}]}}}", false, NULL },
	{ NODE_TERMS "[{matchFields: [{key: metadata.name, operator: In, values: [node2]}]}]}}}", false,
		SELECTOR_WORDS "none of the nodeSelectorTerms matches host 'node1'" },
	{ NODE_TERMS "[{}]}}}", false, SELECTOR_WORDS "none of the nodeSelectorTerms matches host 'node1'" },
	{ "nodeSelector: {disk: ssd}, " NODE_TERMS "[{matchExpressions: [{key: zone, operator: Exists}]}]}}}", false,
		SELECTOR_WORDS "none of the nodeSelectorTerms matches host 'node1'" },
	/* taints */
	{ "", true, "0/1 nodes are available: 1 node(s) had untolerated taint {gpu: yes}" },
	{ "tolerations: [{key: gpu, operator: Exists}]", true, NULL },
	{ "tolerations: [{operator: Exists}]", true, NULL },
	{ "tolerations: [{key: gpu, value: 'yes', effect: NoSchedule}]", true, NULL },
	{ "tolerations: [{key: gpu, value: 'yes', effect: NoExecute}]", true,
		"0/1 nodes are available: 1 node(s) had untolerated taint {gpu: yes}" },
	{ "tolerations: [{key: gpu, value: 'no'}]", true,
		"0/1 nodes are available: 1 node(s) had untolerated taint {gpu: yes}" },
	{ "tolerations: [{key: gpu}]", true,
		"0/1 nodes are available: 1 node(s) had untolerated taint {gpu: yes}" },
	{ "tolerations: [{key: cpu, operator: Exists}, {key: gpu, operator: Equal, value: 'yes'}]", true, NULL },
};

#define NEAR "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
#define AWAY "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
#define HERE "topologyKey: kubernetes.io/hostname"
#define NEAR_WORDS "0/1 nodes are available: 1 node(s) didn't match pod affinity rules: "
#define AWAY_WORDS "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules: "
#define BEAR_WORDS "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules: "

/* In namespace home with the labels app=db, v=1; beside home/web (app=web, v=1) and lab/cache
 * (app=cache, v=2), whose namespace has the label tier=lab. */
static const struct {
	const char *spec;  /* its own */
	const char *other; /* home/web's */
	const char *words;
} neighbours[] = {
	{ "", "", NULL },
	{ NEAR "[{labelSelector: {matchLabels: {app: web}}, " HERE "}]}}", "", NULL },
	{ NEAR "[{labelSelector: {matchLabels: {app: cache}}, " HERE "}]}}", "",
		NEAR_WORDS "no run that podAffinity names is on host 'node1'" },
	{ NEAR "[{labelSelector: {matchLabels: {app: cache}}, namespaces: [lab], " HERE "}]}}", "", NULL },
	{ NEAR "[{labelSelector: {matchLabels: {app: cache}}, namespaceSelector: {}, " HERE "}]}}", "", NULL },
	{ NEAR "[{labelSelector: {matchLabels: {app: cache}}, namespaceSelector: {matchLabels: {tier: lab}}, " HERE
		"}]}}", "", NULL },
	{ NEAR "[{labelSelector: {matchLabels: {app: cache}}, namespaceSelector: {matchLabels: {tier: x}}, " HERE
		"}]}}", "", NEAR_WORDS "no run that podAffinity names is on host 'node1'" },
	/* the first of its kind may start */
	{ NEAR "[{labelSelector: {matchLabels: {app: db}}, " HERE "}]}}", "", NULL },
	{ NEAR "[{labelSelector: {}, " HERE "}]}}", "", NULL },
	{ NEAR "[{" HERE "}]}}", "", NEAR_WORDS "no run that podAffinity names is on host 'node1'" },
	{ NEAR "[{labelSelector: {matchLabels: {app: web}}, topologyKey: zone}]}}", "",
		NEAR_WORDS "host 'node1' has no label 'zone'" },
	{ NEAR "[{labelSelector: {matchLabels: {app: web}}, " HERE "}, "
		"{labelSelector: {matchLabels: {app: x}}, " HERE "}]}}", "",
		NEAR_WORDS "no run that podAffinity names is on host 'node1'" },
	{ NEAR "[{labelSelector: {matchLabels: {vm.kubevirt.io/name: web}}, " HERE "}]}}", "", NULL },
	{ AWAY "[{labelSelector: {matchLabels: {app: web}}, " HERE "}]}}", "",
		AWAY_WORDS "'home/web' is on host 'node1'" },
	{ AWAY "[{labelSelector: {matchLabels: {app: db}}, " HERE "}]}}", "", NULL },
	{ AWAY "[{labelSelector: {matchLabels: {app: cache}}, " HERE "}]}}", "", NULL },
	{ AWAY "[{labelSelector: {matchLabels: {kubevirt.io: virt-launcher}}, " HERE "}]}}", "",
		AWAY_WORDS "'home/web' is on host 'node1'" },
	{ AWAY "[{labelSelector: {matchLabels: {app: web}}, topologyKey: zone}]}}", "", NULL },
	{ AWAY "[{" HERE "}]}}", "", NULL },
	{ AWAY "[{labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [web]}]}, " HERE "}]}}", "",
		NULL },
	{ AWAY "[{labelSelector: {}, matchLabelKeys: [v], " HERE "}]}}", "",
		AWAY_WORDS "'home/web' is on host 'node1'" },
	{ AWAY "[{labelSelector: {}, mismatchLabelKeys: [v], " HERE "}]}}", "", NULL },
	{ AWAY "[{labelSelector: {}, mismatchLabelKeys: [v], namespaces: [lab], " HERE "}]}}", "",
		AWAY_WORDS "'lab/cache' is on host 'node1'" },
	{ AWAY "[{labelSelector: {}, matchLabelKeys: [none], " HERE "}]}}", "",
		AWAY_WORDS "'home/web' is on host 'node1'" },
	/* it must suit those that are there, too; what they want near is no concern of theirs */
	{ "", AWAY "[{labelSelector: {matchLabels: {app: db}}, " HERE "}]}}",
		BEAR_WORDS "'home/web' is on host 'node1'" },
	{ "", AWAY "[{labelSelector: {matchLabels: {app: x}}, " HERE "}]}}", NULL },
	{ "", AWAY "[{labelSelector: {matchLabels: {app: db}}, namespaces: [lab], " HERE "}]}}", NULL },
	{ "", NEAR "[{labelSelector: {matchLabels: {app: x}}, " HERE "}]}}", NULL },
};
/* clang-format on */

/* The placement of a spec with those fields; the caller ends it. */
static struct vmi_spec spec_of(const char *fields)
{
	autofree char *text = xasprintf("{domain: {memory: {guest: 64Mi}, firmware: {uuid: "
					"5d307ca9-b3ef-428c-8861-06e72d69f223}}%s%s}",
		*fields ? ", " : "", fields);
	struct documents docs = { 0 };
	struct vmi_spec spec;
	struct place place;
	struct err err;

	ck_assert_msg(nodes_parse(text, strlen(text), &docs, &place, &err) == 0, "%s", err.msg);
	ck_assert_msg(spec_parse(docs.roots[0], &spec, &err) == 0, "%s", err.msg);
	documents_done(&docs);
	return spec;
}

static void check_words(const char *words, const char *want)
{
	ck_assert_str_eq(words ? words : "it suits", want ? want : "it suits");
}

static void host_init(struct host_place *host, bool taint)
{
	*host = (struct host_place){ .name = "node1" };
	host_place_label(host, "kubernetes.io/hostname", "node1");
	host_place_label(host, "disk", "hdd");
	host_place_label(host, "disk", "ssd"); /* in its place */
	host_place_label(host, "cores", "8");
	ck_assert_uint_eq(host->n_labels, 3);
	if (taint)
		host->taints[host->n_taints++] = (struct host_taint){ xstrdup("gpu"),
			xstrdup("yes"), xstrdup("NoSchedule") };
	host->taints[host->n_taints++] =
		(struct host_taint){ xstrdup("slow"), xstrdup(""), xstrdup("PreferNoSchedule") };
}

START_TEST(a_host_suits)
{
	struct vmi_spec spec = spec_of(hosts[_i].spec);
	autofree char *words = NULL;
	struct host_place host;

	host_init(&host, hosts[_i].taint);
	words = placement_host_words(&spec.placement, &host);
	check_words(words, hosts[_i].words);
	host_place_done(&host);
	vmi_spec_done(&spec);
}
END_TEST

START_TEST(neighbours_suit)
{
	struct vmi_spec own = spec_of(neighbours[_i].spec), web = spec_of(neighbours[_i].other);
	struct vmi_spec cache = spec_of("");
	struct placed_run run = { "home", "db", "{\"app\":\"db\",\"v\":\"1\"}", NULL,
		&own.placement };
	struct placed_run others[] = {
		{ "home", "web", "{\"app\":\"web\",\"v\":\"1\"}", NULL, &web.placement },
		{ "lab", "cache", "{\"app\":\"cache\",\"v\":\"2\"}", "{\"tier\":\"lab\"}",
			&cache.placement },
	};
	autofree char *words = NULL;
	struct host_place host;

	host_init(&host, false);
	words = placement_runs_words(&run, others, 2, &host);
	check_words(words, neighbours[_i].words);
	ck_assert_int_eq(placement_has_terms(&own.placement),
		strstr(neighbours[_i].spec, "topologyKey") != NULL);
	host_place_done(&host);
	vmi_spec_done(&own);
	vmi_spec_done(&web);
	vmi_spec_done(&cache);
}
END_TEST

START_TEST(labels_have_a_bound)
{
	struct host_place host = { .name = "node1" };
	char key[16];

	for (int i = 0; i < HOST_LABELS_MAX; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		ck_assert(host_place_label(&host, key, "v"));
	}
	ck_assert(!host_place_label(&host, "one-more", "v"));
	ck_assert(host_place_label(&host, "k3", "w"));
	host_place_done(&host);
}
END_TEST

Suite *test_placement_suite(void)
{
	Suite *suite = suite_create("placement");
	TCase *tc = tcase_create("placement");

	tcase_add_loop_test(tc, a_host_suits, 0, ARRAY_SIZE(hosts));
	tcase_add_loop_test(tc, neighbours_suit, 0, ARRAY_SIZE(neighbours));
	tcase_add_test(tc, labels_have_a_bound);
	suite_add_tcase(suite, tc);
	return suite;
}
