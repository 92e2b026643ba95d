/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every layer stands on: time, ownership and allocation.
 *
 * Out of memory aborts, so the allocators never return NULL, and every size that comes from
 * outside is bounded before it is allocated. All functions may be called on any thread.
 */
#ifndef VMAGENT_BASE_H
#define VMAGENT_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Milliseconds. Durable deadlines count CLOCK_BOOTTIME, displayed times the wall clock. */
typedef int64_t msec;

#define SECONDS(n)  ((msec)(n)*1000)
#define NEVER       INT64_MAX /* the deadline that does not come */
#define WALL_MAX_MS 1e14      /* of a wall time that another host tells: the year is 5138 */

/* What time it is, handed to everything that decides: no decision reads a clock. */
struct now {
	msec boot; /* CLOCK_BOOTTIME */
	msec wall; /* CLOCK_REALTIME, for display only */
};

#define UID_SIZE      37  /* a UUID in text, with its NUL */
#define NAME_MAX_LEN  253 /* Kubernetes: a DNS-1123 subdomain */
#define LABEL_MAX_LEN 63  /* Kubernetes: a DNS-1123 label */

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#undef MIN /* <sys/param.h> has them too */
#undef MAX
#define MIN(a, b)          ((a) < (b) ? (a) : (b))
#define MAX(a, b)          ((a) > (b) ? (a) : (b))
#define PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

void *xcalloc(size_t count, size_t size);
void *xrealloc_array(void *p, size_t count, size_t size);
char *xstrdup(const char *s); /* NULL gives NULL */
char *xstrndup(const char *s, size_t len);
char *xasprintf(const char *fmt, ...) PRINTF(1, 2);
char *xvasprintf(const char *fmt, va_list ap) PRINTF(1, 0);

/* Replaces an owned string: frees *p, keeps a copy of s (or NULL). */
void replace_str(char **p, const char *s);

/* Copies s into a fixed field, cut to its size, always terminated. */
void copy_str(char *dst, size_t size, const char *s);

bool streq(const char *a, const char *b); /* NULL equals only NULL */
bool starts_with(const char *s, const char *prefix);

static inline void free_ptr(void *p)
{
	free(*(void **)p);
}

/* autofree char *s = …; is freed at the end of its scope, unless handed on with take(&s). */
#define autofree __attribute__((cleanup(free_ptr)))
#define take(p)                                 \
	(__extension__({                        \
		__typeof__(*(p)) taken_ = *(p); \
		*(p) = NULL;                    \
		taken_;                         \
	}))

/* A growing text. Zero-initialised is empty; data is NULL until something was added. */
struct buf {
	char *data; /* owned, NUL-terminated */
	size_t len;
	size_t cap;
};
void buf_add(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
void buf_done(struct buf *b);

#endif
