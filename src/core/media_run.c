/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run knows of itself, as files (downwardAPI): its names, labels, annotations, resources, in
 * the forms that Kubernetes' kubelet writes.
 */
#include <inttypes.h>
#include <string.h>

#include "core/edit.h"
#include "core/media_private.h"
#include "core/quantity.h"

#define RESOURCES "domain.resources."

/* Of a map's texts, sorted by key; NULL for a map that is none. */
static const struct node *next_key(const struct node *map, const char *after)
{
	const struct node *next = NULL;

	for (size_t i = 0; i < map->n_children; i++) {
		const struct node *one = map->children[i];

		if ((!after || strcmp(one->key, after) > 0) &&
			(!next || strcmp(one->key, next->key) < 0))
			next = one;
	}
	return next;
}

/* KEY="VALUE", one a line. */
static char *map_lines(const struct node *map)
{
	struct buf lines = { 0 };

	buf_puts(&lines, "");
	if (map)
		for (const struct node *one = next_key(map, NULL); one;
			one = next_key(map, one->key)) {
			struct node *value = node_new(NODE_STRING, one->text);
			autofree char *quoted = node_json(value);

			buf_printf(&lines, "%s%s=%s", lines.len ? "\n" : "", one->key, quoted);
			node_free(value);
		}
	return lines.data;
}

/* All of a map, or the value of the key that stands in ['…']. */
static char *map_field(const char *json, const char *selector)
{
	struct node *map = json ? text_tree(json) : NULL;
	const struct node *value;
	autofree char *key = NULL;
	char *text;

	if (*selector) {
		key = xstrndup(selector + 2, strlen(selector) - 4);
		value = node_get(map, key);
		text = xstrdup(value ? value->text : "");
	} else {
		text = map_lines(map);
	}
	node_free(map);
	return text;
}

static char *field_text(const struct media_world *world, const char *field)
{
	const struct object_meta *meta = &world->vmi->meta;
	static const char labels[] = "metadata.labels", annotations[] = "metadata.annotations";

	if (streq(field, "metadata.name"))
		return xstrdup(world->name);
	if (streq(field, "metadata.namespace"))
		return xstrdup(world->ns);
	if (streq(field, "metadata.uid"))
		return xstrdup(meta->uid);
	if (starts_with(field, labels))
		return map_field(meta->labels, field + strlen(labels));
	return map_field(meta->annotations, field + strlen(annotations));
}

/* What the spec asks for; else what the guest has. */
static char *resource_quantity(const struct vmi *vmi, const char *resource)
{
	const struct vmi_spec *spec = &vmi->typed;
	autofree char *path = xasprintf(RESOURCES "%s", resource);
	struct node *tree = vmi->spec ? text_tree(vmi->spec) : NULL;
	char *given = xstrdup(node_text(tree, path));

	node_free(tree);
	if (given)
		return given;
	if (strstr(resource, "memory"))
		return xasprintf("%" PRId64, spec->memory);
	return xasprintf("%u", spec->sockets * spec->cores * spec->threads);
}

/* Whole divisors, rounded up. A milli-unit is one where the divisor counts in them. */
static char *resource_text(const struct vmi *vmi, const char *resource, const char *divisor)
{
	autofree char *quantity = resource_quantity(vmi, resource), *milli = NULL;
	int64_t value = 0, unit = 1;
	size_t len = strlen(quantity);

	if (divisor && streq(divisor, "1m")) {
		milli = quantity[len - 1] == 'm' ? xstrndup(quantity, len - 1)
						 : xasprintf("%s000", quantity);
		quantity_parse(milli, &value, NULL);
	} else {
		quantity_parse(quantity, &value, NULL);
		if (divisor)
			quantity_parse(divisor, &unit, NULL);
	}
	unit = MAX(unit, 1);
	return xasprintf("%" PRId64, value / unit + (value % unit != 0));
}

int media_downward(struct maker *maker)
{
	const struct media_source *media = maker->volume->media;
	const struct vmi *vmi = maker->world->vmi;

	for (size_t i = 0; i < media->n_items; i++) {
		const struct media_item *item = &media->items[i];
		char *text = item->field ? field_text(maker->world, item->field)
					 : resource_text(vmi, item->resource, item->divisor);

		media_add_text(maker, item->path + (*item->path == '/'), text)->mode = item->mode;
	}
	return 0;
}
