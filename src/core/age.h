/* SPDX-License-Identifier: Apache-2.0 */
/* Times as the API writes them, and ages as kubectl prints them. Pure. */
#ifndef VMAGENT_CORE_AGE_H
#define VMAGENT_CORE_AGE_H

#include <vmagent/base.h>

#define AGE_SIZE 24

/* "2026-11-29T18:44:15.123456Z" or with an offset; wall milliseconds. False: it is none. */
bool time_parse(const char *text, msec *ret);

/* "5s", "3m20s", "7h", "5d3h", "2y40d"; of a time to come "0s", far ahead "<invalid>". */
void age_format(msec age, char ret[AGE_SIZE]);

#endif
