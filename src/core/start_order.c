/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The annotations that order starts. Owns their names and bounds; it must not know
 * who waits for whom.
 */
#include "core/start_order.h"

#include <string.h>

#include "core/json.h"

bool start_annotation_find(const char *key, unsigned *ret_max)
{
	static const struct {
		const char *key;
		unsigned max;
	} known[] = {
		{ START_ORDER_ANNOTATION, START_ORDER_MAX },
		{ START_DELAY_ANNOTATION, START_DELAY_MAX_S },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!streq(known[i].key, key))
			continue;
		*ret_max = known[i].max;
		return true;
	}
	return false;
}

bool start_annotation_parse(const char *text, unsigned max, unsigned *ret)
{
	size_t len = text ? strlen(text) : 0;
	unsigned value = 0;

	if (len < 1 || len > 5 || strspn(text, "0123456789") != len)
		return false;
	for (size_t i = 0; i < len; i++)
		value = value * 10 + (unsigned)(text[i] - '0');
	if (value > max)
		return false;
	*ret = value;
	return true;
}

static void read_one(const cJSON *annotations, const char *key, unsigned *ret)
{
	unsigned max;

	if (start_annotation_find(key, &max))
		start_annotation_parse(cJSON_GetStringValue(
					       cJSON_GetObjectItemCaseSensitive(annotations, key)),
			max, ret);
}

struct start_order start_order_of(const struct machine *m)
{
	const struct object_meta *meta = m->vm ? &m->vm->meta : m->vmi ? &m->vmi->meta : NULL;
	struct start_order order = { .order = START_ORDER_LAST };
	cJSON *annotations;

	if (!meta || !meta->annotations || !strstr(meta->annotations, "vmagent.io/start-"))
		return order;
	annotations = cJSON_Parse(meta->annotations);
	read_one(annotations, START_ORDER_ANNOTATION, &order.order);
	read_one(annotations, START_DELAY_ANNOTATION, &order.delay_s);
	cJSON_Delete(annotations);
	return order;
}
