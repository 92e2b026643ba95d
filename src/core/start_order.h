/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which order machines start when the host was booted, and stop when it goes down: two
 * annotations of a VM, or of a VMI that has none. Pure.
 */
#ifndef VMAGENT_CORE_START_ORDER_H
#define VMAGENT_CORE_START_ORDER_H

#include "core/machine.h"

#define START_ORDER_ANNOTATION "vmagent.io/start-order"
#define START_DELAY_ANNOTATION "vmagent.io/start-delay"
#define START_ORDER_MAX        65535
#define START_DELAY_MAX_S      3600
#define START_ORDER_LAST       (START_ORDER_MAX + 1) /* of a machine without the annotation */

/* What the annotations say now; one that cannot be read counts as absent (apply refuses it). */
struct start_order start_order_of(const struct machine *m);

/* Whether key is one of the two; *ret_max is the most that its value may be. */
bool start_annotation_find(const char *key, unsigned *ret_max);

/* A whole number from 0 to max in decimal digits. */
bool start_annotation_parse(const char *text, unsigned max, unsigned *ret);

#endif
