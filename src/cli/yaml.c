/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML out. A string is left bare only if no reader of YAML 1.1 or 1.2 could take it for anything
 * else; several lines become a block, and all else JSON's quoted form, which is YAML too.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/yaml.h"

static void print_value(const struct node *node, int depth, struct buf *out);

static bool is_word(const char *s)
{
	static const char *const words[] = { "", "~", "null", "true", "false", "yes", "no", "on",
		"off", "y", "n", "-", "<<", "=" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcasecmp(s, words[i]))
			return true;
	return false;
}

/* Numbers in any base, times and dates, .inf and .nan: at least everything that may be one. */
static bool is_number_like(const char *s)
{
	if (!strchr("0123456789+-.", *s))
		return false;
	s += *s == '+' || *s == '-';
	return !s[strspn(s, "0123456789eETtZz_:.+-")] || starts_with(s, "0x") ||
		starts_with(s, "0o") || !strcasecmp(s, ".inf") || !strcasecmp(s, ".nan");
}

static bool is_bare(const char *s)
{
	if (is_word(s) || is_number_like(s) || strchr(" -?:,[]{}#&*!|>'\"%@`", *s))
		return false;
	for (const char *c = s; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f ||
			(*c == ':' && (!c[1] || c[1] == ' ')) ||
			(*c == ' ' && (!c[1] || c[1] == '#')))
			return false;
	return true;
}

static bool is_block(const char *s)
{
	if (!strchr(s, '\n') || strchr(" \n", *s))
		return false;
	for (const char *c = s; *c; c++)
		if (((unsigned char)*c < ' ' && *c != '\n') || *c == 0x7f)
			return false;
	return true;
}

static void indent(int depth, struct buf *out)
{
	for (int i = 0; i < depth; i++)
		buf_puts(out, "  ");
}

static void print_block(const char *s, int depth, struct buf *out)
{
	size_t len = strlen(s);
	bool ends = s[len - 1] == '\n';

	buf_puts(out, !ends ? "|-\n" : s[len - 2] == '\n' ? "|+\n" : "|\n");
	while (*s) {
		size_t n = strcspn(s, "\n");

		if (n)
			indent(depth, out);
		buf_add(out, s, n);
		buf_puts(out, "\n");
		s += n + (s[n] == '\n');
	}
}

static void print_quoted(const char *s, struct buf *out)
{
	struct node node = { .kind = NODE_STRING, .text = (char *)s };
	autofree char *json = node_json(&node);

	buf_puts(out, json);
}

static void print_string(const char *s, int depth, struct buf *out)
{
	if (is_block(s)) {
		print_block(s, depth, out);
		return;
	}
	if (is_bare(s))
		buf_puts(out, s);
	else
		print_quoted(s, out);
	buf_puts(out, "\n");
}

static void print_entry(const struct node *child, int depth, struct buf *out)
{
	bool list = child->kind == NODE_LIST && child->n_children;
	bool map = child->kind == NODE_MAP && child->n_children;

	if (is_bare(child->key))
		buf_puts(out, child->key);
	else
		print_quoted(child->key, out);
	buf_puts(out, list || map ? ":\n" : ": ");
	if (list || map)
		indent(list ? depth : depth + 1, out);
	print_value(child, list ? depth : depth + 1, out);
}

/* The cursor stands where the first line begins; other lines are indented by depth. */
static void print_value(const struct node *node, int depth, struct buf *out)
{
	if (node->kind == NODE_STRING) {
		print_string(node->text, depth, out);
		return;
	}
	if (!node->n_children) {
		autofree char *json = node_json(node);

		buf_printf(out, "%s\n", json);
		return;
	}
	for (size_t i = 0; i < node->n_children; i++) {
		if (i)
			indent(depth, out);
		if (node->kind == NODE_MAP) {
			print_entry(node->children[i], depth, out);
		} else {
			buf_puts(out, "- ");
			print_value(node->children[i], depth + 1, out);
		}
	}
}

void yaml_print(const struct node *node, struct buf *out)
{
	print_value(node, 0, out);
}
