/* SPDX-License-Identifier: Apache-2.0 */
/* The other half of ENUM_DECLARE: one X-macro list defines the names and the parser of an enum. */
#ifndef VMAGENT_CORE_ENUM_H
#define VMAGENT_CORE_ENUM_H

#include <string.h>

#include <vmagent/base.h>

#define ENUM_TEXT_(c, t) t,

/* The index of text, or n. */
static inline size_t enum_find_(const char *const *texts, size_t n, const char *text)
{
	size_t i = 0;

	while (i < n && (!text || strcmp(texts[i], text) != 0))
		i++;
	return i;
}

/* type_name() of a value outside of the list is "?"; type_parse() is exact, case included. */
#define ENUM_DEFINE(type, prefix, LIST)                                              \
	static const char *const type##_texts[] = { LIST(ENUM_TEXT_) };              \
	const char *type##_name(enum type value)                                     \
	{                                                                            \
		size_t i = (size_t)value;                                            \
                                                                                     \
		return i < ARRAY_SIZE(type##_texts) ? type##_texts[i] : "?";         \
	}                                                                            \
	bool type##_parse(const char *text, enum type *ret_value)                    \
	{                                                                            \
		size_t i = enum_find_(type##_texts, ARRAY_SIZE(type##_texts), text); \
                                                                                     \
		if (i == ARRAY_SIZE(type##_texts))                                   \
			return false;                                                \
		*ret_value = (enum type)i;                                           \
		return true;                                                         \
	}

#endif
