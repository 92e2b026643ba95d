/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images in the configuration file: which local file stands for an image of a registry.
 */
#include "core/names.h"
#include "daemon/config_private.h"

static const char *refusal(const struct node *field)
{
	bool text = field->kind == NODE_STRING && *field->text;

	if (streq(field->key, "match"))
		return text ? NULL
			    : "match: expected an image's name, or a pattern such as quay.io/*";
	if (streq(field->key, "path"))
		return text && is_clean_path(field->text)
			? NULL
			: "path: expected an absolute path without '.', '..' or '//'";
	return "no such field: an image has match and path";
}

static int read_rule(struct config *config, const char *path, const struct node *rule,
	struct err *err)
{
	const char *match = node_text(rule, "match"), *file = node_text(rule, "path");

	if (rule->kind != NODE_MAP)
		return config_refuse(path, rule, err, "expected {match: NAME, path: FILE}");
	for (size_t i = 0; i < rule->n_children; i++) {
		const char *why = refusal(rule->children[i]);

		if (why)
			return config_refuse(path, rule->children[i], err, why);
	}
	if (!match || !file)
		return config_refuse(path, rule, err, "an image has match and path");
	config->images.rules[config->images.n_rules++] =
		(struct image_rule){ .match = xstrdup(match), .path = xstrdup(file) };
	return 0;
}

int config_read_images(struct config *config, const char *path, const struct node *list,
	struct err *err)
{
	int ret = 0;

	if (list->kind != NODE_LIST || list->n_children > IMAGE_RULES_MAX)
		return config_refuse(path, list, err,
			"images: expected a list of at most 256 of {match: NAME, path: FILE}");
	image_rules_done(&config->images);
	for (size_t i = 0; i < list->n_children && ret == 0; i++)
		ret = read_rule(config, path, list->children[i], err);
	return ret;
}
