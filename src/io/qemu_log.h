/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log that libvirt keeps of each domain's QEMU, read once after an end that it may
 * explain. libvirt cannot be asked for it: it lies where its driver puts it. What cannot be
 * read is not there: no error.
 */
#ifndef VMAGENT_IO_QEMU_LOG_H
#define VMAGENT_IO_QEMU_LOG_H

#include <uv.h>

#include <vmagent/hypervisor.h>

#define QEMU_LOG_TAIL 8192 /* bytes that are read, from the end */

struct qemu_log;

/* uri: of libvirt. Loop thread, all of them. */
struct qemu_log *qemu_log_new(uv_loop_t *loop, const char *uri, struct hv_sink sink);

/* An OP_WORDS; the file is read on the loop's pool, the result comes to the sink. */
void qemu_log_submit(struct qemu_log *log, const struct op *op);

size_t qemu_log_busy(const struct qemu_log *log); /* ops under way */
void qemu_log_free(struct qemu_log *log);         /* when none is busy */

/* Where the libvirt of that URI keeps them; NULL: elsewhere, or nowhere. Owned by the caller. */
char *qemu_log_folder(const char *uri);

#endif
