/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict JSON reader that builds nodes, and the writer that indents. Depth is bounded because
 * both the reader and the tree's users recurse; the rest is bounded by what the agent sends.
 */
#include <stdio.h>
#include <string.h>

#include "cli/json.h"

struct reader {
	const char *begin, *at, *end;
	int depth;
	struct err *err;
};

static struct node *read_value(struct reader *r);

static struct node *refuse(struct reader *r, const char *expected)
{
	err_set(r->err, ERR_BAD_REQUEST, "not JSON at offset %td: expected %s", r->at - r->begin,
		expected);
	return NULL;
}

static void skip_space(struct reader *r)
{
	while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
		r->at++;
}

static bool take_char(struct reader *r, char c)
{
	skip_space(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static int hex4(struct reader *r)
{
	int value = 0;

	if (r->end - r->at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		const char *digits = "0123456789abcdef";
		char c = r->at[i] >= 'A' && r->at[i] <= 'F' ? (char)(r->at[i] + 32) : r->at[i];
		const char *digit = c ? strchr(digits, c) : NULL;

		if (!digit)
			return -1;
		value = value * 16 + (int)(digit - digits);
	}
	r->at += 4;
	return value;
}

static void add_utf8(struct buf *out, unsigned c)
{
	char bytes[4];
	size_t n = 0;

	if (c < 0x80) {
		bytes[n++] = (char)c;
	} else if (c < 0x800) {
		bytes[n++] = (char)(0xc0 | c >> 6);
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		bytes[n++] = (char)(0xe0 | c >> 12);
		bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	} else {
		bytes[n++] = (char)(0xf0 | c >> 18);
		bytes[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	}
	buf_add(out, bytes, n);
}

/* What follows \u; NUL and halves of pairs, which no C string or UTF-8 holds, become U+FFFD. */
static bool read_unicode(struct reader *r, struct buf *out)
{
	int low, c = hex4(r);

	if (c < 0)
		return false;
	if (c >= 0xd800 && c < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' &&
		r->at[1] == 'u') {
		r->at += 2;
		low = hex4(r);
		if (low < 0)
			return false;
		c = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((c - 0xd800) << 10) + low - 0xdc00
						  : 0xfffd;
	}
	add_utf8(out, !c || (c >= 0xd800 && c < 0xe000) ? 0xfffd : (unsigned)c);
	return true;
}

static bool read_escape(struct reader *r, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (r->at == r->end || !*r->at)
		return false;
	if (*r->at == 'u') {
		r->at++;
		return read_unicode(r, out);
	}
	found = strchr(from, *r->at++);
	if (found)
		buf_add(out, &to[found - from], 1);
	return found;
}

/* A run of plain characters, or one escape; false at a character that may not stand there. */
static bool read_run(struct reader *r, struct buf *out)
{
	const char *run = r->at;

	if (*r->at == '\\') {
		r->at++;
		return read_escape(r, out);
	}
	while (r->at < r->end && !strchr("\"\\", *r->at) && (unsigned char)*r->at >= ' ')
		r->at++;
	buf_add(out, run, (size_t)(r->at - run));
	return r->at > run;
}

/* After the opening quote; NULL when it does not end well. */
static char *read_text(struct reader *r)
{
	struct buf out = { 0 };
	bool good = true;

	buf_puts(&out, "");
	while (good && r->at < r->end && *r->at != '"')
		good = read_run(r, &out);
	if (good && r->at < r->end) {
		r->at++;
		return out.data;
	}
	buf_done(&out);
	refuse(r, "the rest of a string");
	return NULL;
}

static struct node *read_string(struct reader *r)
{
	autofree char *text = read_text(r);

	return text ? node_new(NODE_STRING, text) : NULL;
}

static bool read_entry(struct reader *r, struct node *map)
{
	autofree char *key = NULL;
	struct node *value;

	if (!take_char(r, '"'))
		return refuse(r, "a name in quotes");
	key = read_text(r);
	if (!key)
		return false;
	if (!take_char(r, ':'))
		return refuse(r, "':'");
	value = read_value(r);
	if (value)
		node_set(map, key, value);
	return value;
}

static bool read_element(struct reader *r, struct node *list)
{
	struct node *value = read_value(r);

	if (value)
		node_append(list, value);
	return value;
}

static struct node *read_children(struct reader *r, enum node_kind kind)
{
	struct node *node = node_new(kind, NULL);
	char end = kind == NODE_MAP ? '}' : ']';

	if (take_char(r, end))
		return node;
	do {
		if (!(kind == NODE_MAP ? read_entry(r, node) : read_element(r, node)))
			goto fail;
	} while (take_char(r, ','));
	if (take_char(r, end))
		return node;
	refuse(r, kind == NODE_MAP ? "',' or '}'" : "',' or ']'");
fail:
	node_free(node);
	return NULL;
}

static struct node *read_number(struct reader *r)
{
	size_t len = 0;
	autofree char *text = NULL;
	char *end;

	while (r->at + len < r->end && r->at[len] && strchr("0123456789+-.eE", r->at[len]))
		len++;
	text = xstrndup(r->at, len);
	strtod(text, &end);
	if (!len || *end || !strchr("-0123456789", *text))
		return refuse(r, "a value");
	r->at += len;
	return node_new(NODE_NUMBER, text);
}

static struct node *read_word(struct reader *r)
{
	static const struct {
		const char *word;
		enum node_kind kind;
	} words[] = { { "true", NODE_BOOL }, { "false", NODE_BOOL }, { "null", NODE_NULL } };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t len = strlen(words[i].word);

		if ((size_t)(r->end - r->at) < len || memcmp(r->at, words[i].word, len) != 0)
			continue;
		r->at += len;
		return node_new(words[i].kind, words[i].kind == NODE_BOOL ? words[i].word : NULL);
	}
	return read_number(r);
}

static struct node *read_value(struct reader *r)
{
	struct node *node;

	if (r->depth == JSON_DEPTH_MAX)
		return refuse(r, "less nesting");
	r->depth++;
	if (take_char(r, '{'))
		node = read_children(r, NODE_MAP);
	else if (take_char(r, '['))
		node = read_children(r, NODE_LIST);
	else
		node = take_char(r, '"') ? read_string(r) : read_word(r);
	r->depth--;
	return node;
}

int json_parse(const char *text, size_t len, struct node **ret, struct err *err)
{
	struct err ignored;
	struct reader r = { .begin = text,
		.at = text,
		.end = text + len,
		.err = err ? err : &ignored };
	struct node *node = read_value(&r);

	skip_space(&r);
	if (node && r.at != r.end) {
		node_free(node);
		node = refuse(&r, "nothing more");
	}
	if (!node)
		return -ERR_BAD_REQUEST;
	*ret = node;
	return 0;
}

static void new_line(struct buf *out, int depth)
{
	buf_puts(out, "\n");
	for (int i = 0; i < depth; i++)
		buf_puts(out, "    ");
}

void json_indent(const char *json, struct buf *out)
{
	bool in_string = false;
	int depth = 0;

	for (const char *c = json; *c; c++) {
		bool opens = !in_string && strchr("{[", *c),
		     closes = !in_string && strchr("}]", *c);

		if (closes && c > json && !strchr("{[", c[-1]))
			new_line(out, depth - 1);
		buf_add(out, c, 1);
		depth += opens - closes;
		if (in_string && *c == '\\' && c[1])
			buf_add(out, ++c, 1);
		else if (*c == '"')
			in_string = !in_string;
		else if (!in_string && *c == ':')
			buf_puts(out, " ");
		else if ((opens && !strchr("}]", c[1])) || (!in_string && *c == ','))
			new_line(out, depth);
	}
}

int64_t json_number_at(const struct node *object, const char *path, int64_t absent)
{
	const char *text = node_text(object, path);

	return text ? strtoll(text, NULL, 10) : absent;
}
