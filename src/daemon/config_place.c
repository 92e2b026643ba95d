/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the configuration file says of this host to those who choose where guests run: labels and
 * taints, as a node of Kubernetes has them.
 */
#include <stdio.h>
#include <string.h>

#include "core/names.h"
#include "core/schema.h"
#include "daemon/config_private.h"

static int refuse(const char *path, const struct node *at, struct err *err, const char *what,
	const char *expected)
{
	char words[300];

	snprintf(words, sizeof(words), "spec.%s: expected %s", what, expected);
	return config_refuse(path, at, err, words);
}

int config_read_labels(struct config *config, const char *path, const struct node *map,
	struct err *err)
{
	if (map->kind != NODE_MAP)
		return refuse(path, map, err, "labels", "a map of labels");
	for (size_t i = 0; i < map->n_children; i++) {
		const struct node *label = map->children[i];

		if (!is_label_key(label->key))
			return refuse(path, label, err, "labels",
				schema_rule_words(RULE_LABEL_KEY));
		if (label->kind != NODE_STRING || !is_label_value(label->text))
			return refuse(path, label, err, "labels",
				"a text of letters, digits, '-', '_' and '.', at most 63 of them; "
				"numbers and true in quotes");
		if (!host_place_label(&config->place, label->key, label->text))
			return refuse(path, label, err, "labels", "fewer of them");
	}
	return 0;
}

/* What is wrong with a taint's field, or NULL. */
static const char *refusal(const struct node *field)
{
	bool text = field->kind == NODE_STRING;

	if (streq(field->key, "key"))
		return text && is_label_key(field->text) ? NULL : schema_rule_words(RULE_LABEL_KEY);
	if (streq(field->key, "value"))
		return text && is_label_value(field->text) ? NULL
							   : schema_rule_words(RULE_LABEL_VALUE);
	if (streq(field->key, "effect"))
		return text &&
				schema_value_is_in("NoSchedule|PreferNoSchedule|NoExecute",
					field->text)
			? NULL
			: "one of NoSchedule, PreferNoSchedule, NoExecute";
	return "key, value and effect, and nothing else";
}

static int read_taint(struct config *config, const char *path, const struct node *taint,
	struct err *err)
{
	const char *key = node_text(taint, "key"), *value = node_text(taint, "value");
	const char *effect = node_text(taint, "effect");
	struct host_place *place = &config->place;

	for (size_t i = 0; i < taint->n_children; i++) {
		const char *wrong = refusal(taint->children[i]);

		if (wrong)
			return refuse(path, taint->children[i], err, "taints", wrong);
	}
	if (!key || !effect)
		return refuse(path, taint, err, "taints", "a key and an effect");
	if (place->n_taints == HOST_TAINTS_MAX)
		return refuse(path, taint, err, "taints", "fewer of them");
	place->taints[place->n_taints++] =
		(struct host_taint){ xstrdup(key), xstrdup(value ? value : ""), xstrdup(effect) };
	return 0;
}

int config_read_taints(struct config *config, const char *path, const struct node *list,
	struct err *err)
{
	int ret = 0;

	if (list->kind != NODE_LIST)
		return refuse(path, list, err, "taints", "a list of taints");
	for (size_t i = 0; i < list->n_children && ret == 0; i++) {
		if (list->children[i]->kind != NODE_MAP)
			return refuse(path, list->children[i], err, "taints",
				"key, value and effect");
		ret = read_taint(config, path, list->children[i], err);
	}
	return ret;
}
