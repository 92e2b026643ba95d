/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of CPUs as Linux and libvirt write them: "2-5,8", and what "^3" takes out again. Pure. */
#ifndef VMAGENT_CORE_CPUSET_H
#define VMAGENT_CORE_CPUSET_H

#include <vmagent/base.h>

#define CPU_SET_MAX 1024 /* CPUs are numbered below it */

struct cpu_set {
	uint64_t bits[CPU_SET_MAX / 64];
};

/* Whether text is such a set; an empty one is none. */
bool cpu_set_parse(const char *text, struct cpu_set *ret);
bool is_cpu_set(const char *text);
char *cpu_set_text(const struct cpu_set *set); /* the shortest such text; owned by the caller */

void cpu_set_add(struct cpu_set *set, unsigned cpu);
bool cpu_set_has(const struct cpu_set *set, unsigned cpu);
unsigned cpu_set_count(const struct cpu_set *set);
unsigned cpu_set_end(const struct cpu_set *set); /* one more than its last CPU; 0: it is empty */
void cpu_set_remove(struct cpu_set *set, const struct cpu_set *what);

#endif
