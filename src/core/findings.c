/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a manifest, collected: each finding with its place, its field and words.
 *
 * Owns the findings' strings; their number is bounded. It must not know any rule.
 */
#include <string.h>

#include "core/check.h"

#define STEP_MAX 320 /* characters of one key in a field's path; a label's key may have 317 */

/* A finding is one line, whatever it quotes. */
static void flatten(char *s)
{
	for (; *s; s++) {
		if ((unsigned char)*s < ' ')
			*s = ' ';
	}
}

static void add(struct findings *f, int line, int column, char *field, char *message)
{
	flatten(field);
	flatten(message);
	if (f->n == FINDINGS_MAX) {
		f->more = true;
		free(field);
		free(message);
		return;
	}
	f->list[f->n++] = (struct finding){ line, column, field, message };
}

void findings_add(struct findings *f, const struct node *at, const char *field, const char *fmt,
	...)
{
	va_list ap;

	va_start(ap, fmt);
	add(f, at ? at->line : 0, at ? at->column : 0, xstrdup(field ? field : ""),
		xvasprintf(fmt, ap));
	va_end(ap);
}

void findings_done(struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->list[i].field);
		free(f->list[i].message);
	}
	*f = (struct findings){ 0 };
}

char *findings_text(const struct findings *f, const char *source)
{
	struct buf out = { 0 };

	buf_puts(&out, "");
	for (size_t i = 0; i < f->n; i++) {
		const struct finding *one = &f->list[i];

		buf_printf(&out, "%s:", source);
		if (one->line)
			buf_printf(&out, "%d:%d:", one->line, one->column);
		buf_printf(&out, " %s%s%s\n", one->field, *one->field ? ": " : "", one->message);
	}
	if (f->more)
		buf_printf(&out, "%s: over %d findings, the rest is left off\n", source,
			FINDINGS_MAX);
	return out.data;
}

char *findings_words(const struct findings *f)
{
	struct buf out = { 0 };

	for (size_t i = 0; f && i < f->n; i++)
		buf_printf(&out, "%s%s%s%s", i ? "; " : "", f->list[i].field,
			*f->list[i].field ? ": " : "", f->list[i].message);
	return out.data;
}

/* ---- the check's place ----------------------------------------------------------------------- */

size_t check_enter(struct check *c, const char *key)
{
	size_t mark = c->path.len;

	buf_printf(&c->path, "%s%.*s", mark ? "." : "", STEP_MAX, key);
	return mark;
}

size_t check_enter_item(struct check *c, const char *list, size_t index)
{
	size_t mark = c->path.len;

	buf_printf(&c->path, "%s%s[%zu]", mark && *list ? "." : "", list, index);
	return mark;
}

void check_leave(struct check *c, size_t mark)
{
	c->path.len = mark;
	c->path.data[mark] = '\0';
}

static void check_vadd(struct check *c, const struct node *place, const char *field,
	const char *fmt, va_list ap) __attribute__((format(printf, 4, 0)));

static void check_vadd(struct check *c, const struct node *place, const char *field,
	const char *fmt, va_list ap)
{
	size_t mark = *field ? check_enter(c, field) : c->path.len;

	add(c->findings, place->line, place->column, xstrdup(c->path.data ? c->path.data : ""),
		xvasprintf(fmt, ap));
	if (c->path.data)
		check_leave(c, mark);
}

void check_add(struct check *c, const struct node *at, const char *field, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	check_vadd(c, at, field, fmt, ap);
	va_end(ap);
}

void check_add_key(struct check *c, const struct node *at, const char *field, const char *fmt, ...)
{
	struct node key = { .line = at->key_line, .column = at->key_column };
	va_list ap;

	va_start(ap, fmt);
	check_vadd(c, at->key_line ? &key : at, field, fmt, ap);
	va_end(ap);
}

void check_warn_key(struct check *c, const struct node *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(c->warnings, at->key_line, at->key_column, xstrdup(c->path.data ? c->path.data : ""),
		xvasprintf(fmt, ap));
	va_end(ap);
}
