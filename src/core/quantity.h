/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes quantities ("128Mi", "1.5G", "500m", "1e3"). Pure. */
#ifndef VMAGENT_CORE_QUANTITY_H
#define VMAGENT_CORE_QUANTITY_H

#include <vmagent/err.h>

/* Bytes (or units), rounded up to a whole number. Refused: negative, empty, unknown suffix, over
 * INT64_MAX. Errors: ERR_INVALID, saying what was expected. */
int quantity_parse(const char *text, int64_t *ret_value, struct err *err);

/* The same in thousandths, which is how CPUs are counted. */
int quantity_parse_milli(const char *text, int64_t *ret_value, struct err *err);

/* Exact order of two quantities that quantity_parse() accepts ("300m" < "500m"): below, at or above
 * zero. One that it refuses counts as zero. */
int quantity_compare(const char *a, const char *b);

#endif
