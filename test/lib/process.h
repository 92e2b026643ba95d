/* SPDX-License-Identifier: Apache-2.0 */
/* What a process holds just now, as the kernel counts it; pid 0 is this one. Nothing that leaks
 * can hide from these. */
#ifndef VMAGENT_TEST_LIB_PROCESS_H
#define VMAGENT_TEST_LIB_PROCESS_H

#include <sys/types.h>

unsigned process_files(pid_t pid); /* descriptors */
unsigned process_tasks(pid_t pid); /* threads */
unsigned process_children(void);   /* of this one, dead ones among them */
long process_memory_kb(pid_t pid); /* that is resident */

/* By how much that may grow where nothing leaks: an allocator keeps some, and the address sanitizer
 * what was freed, 256 MiB of it by default. */
#ifdef __SANITIZE_ADDRESS__
#define PROCESS_GROWTH_KB (320 * 1024)
#else
#define PROCESS_GROWTH_KB 2048
#endif

#endif
