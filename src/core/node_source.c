/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source's text to its documents: sets libyaml up, bridges what JSON allows and libyaml does not
 * (surrogate pairs), and turns libyaml's complaints into words with a place.
 *
 * Owns the parser. It must not know how values are made of events (node_parse.c).
 */
#include "core/node_parse.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define BOM        "\xEF\xBB\xBF"
#define ESCAPE_LEN 6 /* of \uXXXX */

#define fail_mark(p, mark, ...) fail_at(p, (mark).line + 1, (mark).column + 1, __VA_ARGS__)

/* The place of a byte, for libyaml's reader, which reports only an offset. */
static yaml_mark_t mark_of_offset(const struct parse *p, size_t offset)
{
	yaml_mark_t mark = { 0 };

	for (size_t i = 0; i < offset && i < p->len; i++) {
		if (p->text[i] == '\n') {
			mark.line++;
			mark.column = 0;
		} else if (((unsigned char)p->text[i] & 0xC0) != 0x80) {
			mark.column++;
		}
	}
	return mark;
}

/* Whether a tab stands at a mark or before it on its line, where YAML allows none. */
static bool is_tab_at(const struct parse *p, yaml_mark_t mark)
{
	const char *s = p->text, *end = p->text + p->len;

	for (size_t line = 0; s && line < mark.line; line++) {
		s = memchr(s, '\n', (size_t)(end - s));
		s = s ? s + 1 : NULL;
	}
	while (s && s < end && *s == ' ')
		s++;
	return s && s < end && *s == '\t';
}

static int fail_yaml(struct parse *p)
{
	const yaml_parser_t *yaml = &p->yaml;
	const char *problem = yaml->problem ? yaml->problem : "unreadable";

	if (yaml->error == YAML_READER_ERROR)
		return fail_mark(p, mark_of_offset(p, yaml->problem_offset), "not YAML: %s",
			problem);
	if (is_tab_at(p, yaml->problem_mark))
		return fail_mark(p, yaml->problem_mark,
			"not YAML: a tab indents this line, use spaces");
	if (yaml->context)
		return fail_mark(p, yaml->problem_mark, "not YAML: %s, %s", yaml->context, problem);
	return fail_mark(p, yaml->problem_mark, "not YAML: %s", problem);
}

int parse_next(struct parse *p)
{
	yaml_event_delete(&p->event);
	return yaml_parser_parse(&p->yaml, &p->event) ? 0 : fail_yaml(p);
}

/* ---- documents ------------------------------------------------------------------------------- */

static int parse_document(struct parse *p, struct documents *docs)
{
	struct node *root;

	parse_forget(p);
	if (parse_next(p) || parse_value(p, 0, &root))
		return -ERR_BAD_REQUEST;
	if (root->kind == NODE_NULL) {
		node_append(p->attic, root);
	} else if (docs->n == NODE_DOCUMENTS_MAX) {
		node_append(p->attic, root);
		return fail_at(p, root->line, root->column, "over %d documents",
			NODE_DOCUMENTS_MAX);
	} else {
		docs->roots = xrealloc_array(docs->roots, docs->n + 1, sizeof(*docs->roots));
		docs->roots[docs->n++] = root;
	}
	return parse_next(p); /* the document's end */
}

static int parse_stream(struct parse *p, struct documents *docs)
{
	do {
		if (parse_next(p))
			return -ERR_BAD_REQUEST;
		if (p->event.type == YAML_DOCUMENT_START_EVENT && parse_document(p, docs))
			return -ERR_BAD_REQUEST;
	} while (p->event.type != YAML_STREAM_END_EVENT);
	return 0;
}

static int parse_text(struct parse *p, struct documents *ret_docs)
{
	struct documents docs = { 0 };
	int rc;

	if (!yaml_parser_initialize(&p->yaml))
		abort(); /* out of memory, as everywhere */
	yaml_parser_set_encoding(&p->yaml, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&p->yaml, (const unsigned char *)p->text, p->len);
	rc = parse_stream(p, &docs);
	yaml_event_delete(&p->event);
	yaml_parser_delete(&p->yaml);
	parse_forget(p);
	node_free(p->attic);
	if (rc)
		documents_done(&docs);
	else
		*ret_docs = docs;
	return rc;
}

/* ---- surrogate pairs ------------------------------------------------------------------------- */

static bool is_json(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && isspace((unsigned char)text[i]))
		i++;
	return i < len && (text[i] == '{' || text[i] == '[');
}

/* The code unit of an escape \uXXXX at s, or 0. */
static unsigned unit_at(const char *s, size_t len)
{
	unsigned unit = 0;

	if (len < ESCAPE_LEN || s[0] != '\\' || s[1] != 'u')
		return 0;
	for (int i = 2; i < ESCAPE_LEN; i++) {
		unsigned char c = (unsigned char)s[i];

		if (!isxdigit(c))
			return 0;
		unit = unit * 16 + (unsigned)(isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return unit;
}

/* Adds what stands at s within a JSON string, and returns how long it is. */
static size_t join_one(struct buf *out, const char *s, size_t len)
{
	unsigned high = unit_at(s, len);
	unsigned low = high ? unit_at(s + ESCAPE_LEN, len - ESCAPE_LEN) : 0;
	size_t step = *s == '\\' && len > 1 ? 2 : 1;

	if ((high & 0xFC00) != 0xD800 || (low & 0xFC00) != 0xDC00) {
		buf_add(out, s, step);
		return step;
	}
	buf_printf(out, "\\U%08X" FILLER, 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF));
	return (size_t)2 * ESCAPE_LEN;
}

/* The text with its surrogate pairs in libyaml's notation; false without any. */
static bool join_surrogates(const char *text, size_t len, struct buf *out)
{
	bool inside = false, any = false;

	if (!is_json(text, len) || (!memmem(text, len, "\\ud", 3) && !memmem(text, len, "\\uD", 3)))
		return false;
	for (size_t i = 0; i < len;) {
		inside ^= text[i] == '"';
		if (inside) {
			size_t step = join_one(out, text + i, len - i);

			any |= step > 2;
			i += step;
		} else {
			buf_add(out, text + i, 1);
			i++;
		}
	}
	return any;
}

int nodes_parse(const char *text, size_t len, struct documents *ret_docs, struct place *ret_place,
	struct err *err)
{
	struct parse p = { .err = err };
	struct buf joined = { 0 };
	int rc;

	*ret_place = (struct place){ 0 };
	if (!text)
		text = "";
	if (len > NODE_TEXT_MAX)
		return err_set(err, ERR_BAD_REQUEST, "over %d bytes", NODE_TEXT_MAX);
	if (len >= strlen(BOM) && memcmp(text, BOM, strlen(BOM)) == 0) {
		text += strlen(BOM);
		len -= strlen(BOM);
	}
	p.filled = join_surrogates(text, len, &joined);
	p.text = p.filled ? joined.data : text;
	p.len = p.filled ? joined.len : len;
	rc = parse_text(&p, ret_docs);
	*ret_place = p.place;
	buf_done(&joined);
	return rc;
}
