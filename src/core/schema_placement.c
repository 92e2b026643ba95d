/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a VMI may run: what a scheduler reads in a cluster, held against this host.
 */
#include "core/schema_rows.h"

#define PREFERRED    "preferredDuringSchedulingIgnoredDuringExecution"
#define REQUIRED_NOW "requiredDuringSchedulingIgnoredDuringExecution"
#define NODE_TERMS   "affinity.nodeAffinity." REQUIRED_NOW ".nodeSelectorTerms"
#define ONE_HOST     "there is no other host to prefer"
#define OPERATORS    "In|NotIn|Exists|DoesNotExist"
#define NOT_EVEN     "on one host runs are spread as evenly as they can be"

/* A list of matchExpressions, whose elements have a key, an operator and values. */
#define EXPRESSIONS(at, operators)                                         \
	F(SPEC, at, LIST, RANGE(0, SPEC_LIST_MAX)), F(SPEC, at "[]", MAP), \
		F(SPEC, at "[].key", STRING, REQUIRED, RULE(LABEL_KEY)),   \
		F(SPEC, at "[].operator", ENUM, REQUIRED, ONE(operators)), \
		F(SPEC, at "[].values", LIST, RANGE(0, SPEC_LIST_MAX)),    \
		F(SPEC, at "[].values[]", STRING)

#define SELECTOR(at)                                                                     \
	F(SPEC, at, MAP), F(SPEC, at ".matchLabels", MAP),                               \
		F(SPEC, at ".matchLabels{}", STRING, KEY(LABEL_KEY), RULE(LABEL_VALUE)), \
		EXPRESSIONS(at ".matchExpressions", OPERATORS)

#define TEXTS(at) F(SPEC, at, LIST, RANGE(0, SPEC_LIST_MAX)), F(SPEC, at "[]", STRING)

/* podAffinity, podAntiAffinity */
#define POD_TERMS(at)                                                        \
	F(SPEC, at, MAP), F(SPEC, at "." PREFERRED, ANY, IGNORED(ONE_HOST)), \
		F(SPEC, at "." REQUIRED_NOW, LIST, RANGE(0, SPEC_LIST_MAX)), \
		F(SPEC, at "." REQUIRED_NOW "[]", MAP),                      \
		SELECTOR(at "." REQUIRED_NOW "[].labelSelector"),            \
		SELECTOR(at "." REQUIRED_NOW "[].namespaceSelector"),        \
		TEXTS(at "." REQUIRED_NOW "[].namespaces"),                  \
		TEXTS(at "." REQUIRED_NOW "[].matchLabelKeys"),              \
		TEXTS(at "." REQUIRED_NOW "[].mismatchLabelKeys"),           \
		F(SPEC, at "." REQUIRED_NOW "[].topologyKey", STRING, REQUIRED, RULE(LABEL_KEY))

/* clang-format off */
static const struct schema_field rows[] = {
	F(SPEC, "nodeSelector",                                 MAP),
	F(SPEC, "nodeSelector{}",                               STRING, KEY(LABEL_KEY), RULE(LABEL_VALUE)),
	F(SPEC, "affinity",                                     MAP),
	F(SPEC, "affinity.nodeAffinity",                        MAP),
	F(SPEC, "affinity.nodeAffinity." PREFERRED,             ANY, IGNORED(ONE_HOST)),
	F(SPEC, "affinity.nodeAffinity." REQUIRED_NOW,          MAP),
	F(SPEC, NODE_TERMS,                                     LIST, REQUIRED, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, NODE_TERMS "[]",                                MAP),
	EXPRESSIONS(NODE_TERMS "[].matchExpressions",           OPERATORS "|Gt|Lt"),
	EXPRESSIONS(NODE_TERMS "[].matchFields",                OPERATORS "|Gt|Lt"),
	POD_TERMS("affinity.podAffinity"),
	POD_TERMS("affinity.podAntiAffinity"),

	F(SPEC, "tolerations",                                  LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "tolerations[]",                                MAP),
	F(SPEC, "tolerations[].key",                            STRING),
	F(SPEC, "tolerations[].operator",                       ENUM, ONE("Exists|Equal"), DEFAULT("Equal")),
	F(SPEC, "tolerations[].value",                          STRING),
	F(SPEC, "tolerations[].effect",                         ENUM, ONE("NoSchedule|PreferNoSchedule|NoExecute")),
	F(SPEC, "tolerations[].tolerationSeconds",              INTEGER, RANGE(INT64_MIN, INT64_MAX),
		IGNORED("a guest that runs is not driven off its host")),

	F(SPEC, "priorityClassName",                            STRING, RULE(NAME)),
	F(SPEC, "schedulerName",                                STRING, IGNORED("there is no scheduler on one host")),
	F(SPEC, "topologySpreadConstraints",                    ANY, IGNORED(NOT_EVEN)),
};
/* clang-format on */

const struct schema_table schema_placement = { rows, ARRAY_SIZE(rows) };
