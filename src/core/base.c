/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation that never fails, and text.
 *
 * Owns nothing. Running out of memory ends the program here and nowhere else; sizes that come from
 * outside were bounded by the caller. It must not know of anything above it.
 */
#include <vmagent/base.h>

#include <stdio.h>
#include <string.h>

static void *not_null(void *p)
{
	if (p)
		return p;
	fputs("vmagent: out of memory\n", stderr);
	abort();
}

void *xcalloc(size_t count, size_t size)
{
	return not_null(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc_array(void *p, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		not_null(NULL);
	return not_null(realloc(p, total ? total : 1));
}

char *xstrdup(const char *s)
{
	return s ? xstrndup(s, strlen(s)) : NULL;
}

/* strndup() may look at the byte after, which need not be there. */
char *xstrndup(const char *s, size_t len)
{
	size_t n = strnlen(s, len);
	char *copy = xcalloc(n + 1, 1);

	return memcpy(copy, s, n);
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s = NULL;

	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	return not_null(s);
}

void replace_str(char **p, const char *s)
{
	char *copy = xstrdup(s); /* first: s may lie within *p */

	free(*p);
	*p = copy;
}

/* How much of s fits, without cutting a UTF-8 character in two: names end up in JSON. */
static size_t fitting(const char *s, size_t max)
{
	size_t len = strnlen(s, max + 1);

	if (len <= max)
		return len;
	for (len = max; len > 0 && ((unsigned char)s[len] & 0xc0) == 0x80;)
		len--;
	return len;
}

void copy_str(char *dst, size_t size, const char *s)
{
	size_t len;

	if (size == 0)
		return;
	len = s ? fitting(s, size - 1) : 0;
	if (len)
		memmove(dst, s, len);
	dst[len] = '\0';
}

bool streq(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool starts_with(const char *s, const char *prefix)
{
	return s && strncmp(s, prefix, strlen(prefix)) == 0;
}

static void buf_reserve(struct buf *b, size_t more)
{
	size_t need;

	if (__builtin_add_overflow(b->len, more, &need) || need >= SIZE_MAX / 2)
		not_null(NULL);
	if (need + 1 <= b->cap)
		return;
	b->cap = MAX(need + 1, b->cap * 2);
	b->data = xrealloc_array(b->data, b->cap, 1);
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	buf_reserve(b, len);
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	autofree char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	buf_puts(b, s);
}

void buf_done(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}
