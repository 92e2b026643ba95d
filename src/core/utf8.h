/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as RFC 3629 has it, and which of its characters may stand in an object's text. Pure. */
#ifndef VMAGENT_CORE_UTF8_H
#define VMAGENT_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* How many of the left bytes at s the character there has, and its code; 0: there is none, or it is
 * cut off, longer than it need be, half of a surrogate pair, or beyond U+10FFFF. */
size_t utf8_char(const char *s, size_t left, unsigned *ret_code);

bool utf8_is_control(unsigned code); /* C0, delete, C1 */

/*
 * Whether all of it is characters that XML, JSON and terminals can take: no control characters but
 * tab, line ends and U+0085, no NUL, neither U+FFFE nor U+FFFF.
 */
bool utf8_is_clean(const char *s, size_t len);

#endif
