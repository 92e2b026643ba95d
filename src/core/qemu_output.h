/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QEMU's own words in the log that libvirt keeps of a domain: for each start a header of libvirt's,
 * the environment and command line, then what QEMU wrote to its error output. What is kept of it
 * goes into an event, so it is short, and nothing in it can harm a terminal or a JSON text. Pure.
 */
#ifndef VMAGENT_CORE_QEMU_OUTPUT_H
#define VMAGENT_CORE_QEMU_OUTPUT_H

#include <vmagent/base.h>

struct qemu_log_tail { /* borrowed */
	const char *text;
	size_t len;
	bool cut;     /* the file is longer: the first line is a part of one */
	msec written; /* wall time at which something was last written to it */
	msec since;   /* wall time: what was started before is of no interest */
};

/* At most OUTPUT_LINES_MAX lines and OUTPUT_MAX bytes, the last ones that QEMU wrote since its
 * newest start; NULL if there are none. Owned by the caller. */
char *qemu_output(const struct qemu_log_tail *tail);

#endif
