/* SPDX-License-Identifier: Apache-2.0 */
/* The few words in which adopt*.c reads a domain's XML and writes a manifest. */
#include "core/adopt_private.h"

#include <string.h>

#define SHOWN_MAX 120 /* bytes of an element in a loss */

char *xml_text(xmlNodePtr node)
{
	xmlChar *content = node ? xmlNodeGetContent(node) : NULL;
	const char *text = (const char *)content;
	char *copy;
	size_t len;

	if (!text)
		return NULL;
	text += strspn(text, " \t\r\n");
	len = strlen(text);
	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	copy = xstrndup(text, len);
	xmlFree(content);
	return copy;
}

bool xml_is(xmlNodePtr node, const char *attribute, const char *value)
{
	autofree char *text = xml_get(node, attribute);

	return streq(text, value);
}

int64_t xml_number(xmlNodePtr node, const char *attribute, int64_t absent)
{
	autofree char *text = xml_get(node, attribute);

	return text ? strtoll(text, NULL, 10) : absent;
}

void xml_each(struct adopting *a, xmlNodePtr parent, const struct element *table, size_t n)
{
	for (xmlNodePtr at = parent ? parent->children : NULL; at; at = at->next) {
		size_t i = 0;

		if (at->type != XML_ELEMENT_NODE)
			continue;
		while (i < n && (at->ns || !streq((const char *)at->name, table[i].name)))
			i++;
		if (i == n)
			lose(a, at, LOST_UNKNOWN);
		else if (table[i].read)
			table[i].read(a, at);
	}
}

static void add_name(struct buf *out, xmlNodePtr element)
{
	if (element->ns && element->ns->prefix)
		buf_printf(out, "%s:", (const char *)element->ns->prefix);
	buf_puts(out, (const char *)element->name);
}

/* Within what it stands, unless that says itself what it is. */
static void add_parent(struct buf *out, xmlNodePtr parent)
{
	if (!parent || !parent->parent || parent->parent->type != XML_ELEMENT_NODE ||
		streq((const char *)parent->name, "devices"))
		return;
	buf_puts(out, "<");
	add_name(out, parent);
	buf_puts(out, "> ");
}

void lose(struct adopting *a, xmlNodePtr element, const char *why)
{
	struct buf shown = { 0 };

	add_parent(&shown, element->parent);
	buf_puts(&shown, "<");
	add_name(&shown, element);
	for (xmlAttrPtr at = element->properties; at && shown.len < SHOWN_MAX; at = at->next) {
		autofree char *value = xml_get(element, (const char *)at->name);

		buf_printf(&shown, " %s='%.40s'", (const char *)at->name, value ? value : "");
	}
	texts_add(&a->out->losses, "%s>: %s", shown.data, why);
	buf_done(&shown);
}

/* ---- the manifest ---------------------------------------------------------------------------- */

void set_text(struct node *map, const char *path, const char *text)
{
	if (text)
		node_set_path(map, path, node_new(NODE_STRING, text));
}

void set_int(struct node *map, const char *path, int64_t value)
{
	node_set_path(map, path, node_new_int(value));
}

void set_bool(struct node *map, const char *path, bool value)
{
	node_set_path(map, path, node_new(NODE_BOOL, value ? "true" : "false"));
}

void set_map(struct node *map, const char *path)
{
	if (!node_at(map, path))
		node_set_path(map, path, node_new(NODE_MAP, NULL));
}

struct node *list_of(struct node *map, const char *path)
{
	if (!node_at(map, path))
		node_set_path(map, path, node_new(NODE_LIST, NULL));
	return node_at(map, path);
}
