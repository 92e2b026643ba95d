/* SPDX-License-Identifier: Apache-2.0 */
#include "core/cpuset.h"

#include <ctype.h>

#define WORD_BITS 64

void cpu_set_add(struct cpu_set *set, unsigned cpu)
{
	set->bits[cpu / WORD_BITS] |= UINT64_C(1) << cpu % WORD_BITS;
}

bool cpu_set_has(const struct cpu_set *set, unsigned cpu)
{
	return cpu < CPU_SET_MAX && (set->bits[cpu / WORD_BITS] >> cpu % WORD_BITS & 1);
}

unsigned cpu_set_count(const struct cpu_set *set)
{
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(set->bits); i++)
		n += (unsigned)__builtin_popcountll(set->bits[i]);
	return n;
}

unsigned cpu_set_end(const struct cpu_set *set)
{
	unsigned end = CPU_SET_MAX;

	while (end && !cpu_set_has(set, end - 1))
		end--;
	return end;
}

void cpu_set_remove(struct cpu_set *set, const struct cpu_set *what)
{
	for (size_t i = 0; i < ARRAY_SIZE(set->bits); i++)
		set->bits[i] &= ~what->bits[i];
}

static bool parse_number(const char **at, unsigned *ret)
{
	unsigned value = 0;

	if (!isdigit((unsigned char)**at))
		return false;
	for (; isdigit((unsigned char)**at) && value < CPU_SET_MAX; (*at)++)
		value = value * 10 + (unsigned)(**at - '0');
	*ret = value;
	return value < CPU_SET_MAX;
}

/* "2", "2-5"; with '^' before it, it is taken out. */
static bool parse_part(const char **at, struct cpu_set *set)
{
	struct cpu_set part = { { 0 } };
	bool out = **at == '^';
	unsigned first, last;

	*at += out;
	if (!parse_number(at, &first))
		return false;
	last = first;
	if (**at == '-' && (++*at, !parse_number(at, &last) || last < first))
		return false;
	for (unsigned cpu = first; cpu <= last; cpu++)
		cpu_set_add(out ? &part : set, cpu);
	cpu_set_remove(set, &part);
	return true;
}

bool cpu_set_parse(const char *text, struct cpu_set *ret)
{
	struct cpu_set set = { { 0 } };
	const char *at = text;

	do {
		if (!parse_part(&at, &set))
			return false;
	} while (*at == ',' && *++at);
	if (*at || at[-1] == ',' || !cpu_set_count(&set))
		return false;
	*ret = set;
	return true;
}

bool is_cpu_set(const char *text)
{
	struct cpu_set ignored;

	return cpu_set_parse(text, &ignored);
}

char *cpu_set_text(const struct cpu_set *set)
{
	struct buf out = { 0 };

	for (unsigned first = 0; first < CPU_SET_MAX; first++) {
		unsigned last = first;

		if (!cpu_set_has(set, first))
			continue;
		while (cpu_set_has(set, last + 1))
			last++;
		buf_printf(&out, "%s%u", out.len ? "," : "", first);
		if (last > first)
			buf_printf(&out, "-%u", last);
		first = last;
	}
	return out.data ? out.data : xstrdup("");
}
