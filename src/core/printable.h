/* SPDX-License-Identifier: Apache-2.0 */
/* Words from outside, for logs, terminals and lines of text. */
#ifndef VMAGENT_CORE_PRINTABLE_H
#define VMAGENT_CORE_PRINTABLE_H

#include <vmagent/base.h>

/* As copy_str(), in printable ASCII: all else is '?'. */
static inline void copy_printable(char *dst, size_t size, const char *s)
{
	copy_str(dst, size, s);
	for (; size && *dst; dst++)
		if (*dst < 0x20 || *dst > 0x7e)
			*dst = '?';
}

#endif
