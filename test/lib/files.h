/* SPDX-License-Identifier: Apache-2.0 */
/* Files of tests, as a whole. */
#ifndef VMAGENT_TEST_FILES_H
#define VMAGENT_TEST_FILES_H

#include <vmagent/base.h>

/* What the file holds, with a NUL behind it, for buf_done(); nothing but that NUL if
 * it cannot be read. */
struct buf slurp_buf(const char *path);

/* The same as text; owned by the caller, never NULL. */
char *slurp(const char *path);

/* The file holds that from now on, or the test has failed. */
void spill(const char *path, const char *text);

#endif
