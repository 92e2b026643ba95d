/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that an I/O error paused is resumed again and again, with a growing pause, for as long as
 * it takes (semantics §8.1). Which disks failed, and why, is kept with it until the guest has run
 * for a while. Pure.
 */
#ifndef VMAGENT_CORE_IORETRY_H
#define VMAGENT_CORE_IORETRY_H

#include <vmagent/hypervisor.h>

#define IO_RETRY_FIRST_S   10
#define IO_RETRY_MAX_S     180
#define IO_RETRY_RELATED_S 30 /* an error later than this after a resume is a new one */

enum io_step {
	IO_RESUME, /* now */
	IO_FAILED, /* the last resume did not help: to be recorded, before any waiting */
	IO_WAIT    /* *ret_delay ms from now; even 0 is not yet time */
};

/* What to do about a guest that is seen paused by an I/O error at boot time now. */
enum io_step io_retry_decide(const struct io_retry *io, msec now, msec *ret_delay);

/* Records the step that was decided: IO_RESUME or IO_FAILED. */
void io_retry_note(struct io_retry *io, enum io_step step, msec now);

/* Whether the guest, which runs, has run long enough for the errors to be over;
 * *ret_at: when it will. */
bool io_retry_is_over(const struct io_retry *io, msec now, msec *ret_at);

/* Forgets all of it, as if there had been no error. */
void io_retry_clear(struct io_retry *io);

bool io_error_is_known(const struct io_retry *io, const char *disk, const char *reason);

/* Notes that disk failed with libvirt's reason; false if that is known already. */
bool io_error_add(struct io_retry *io, const char *disk, const char *reason);

/* "no space left for disk 'data', I/O error on disk 'log'"; owned by the caller. */
char *io_error_text(const struct io_retry *io);

#endif
