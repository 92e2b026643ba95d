/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay of one migration: a process of its own, so that no restart of an agent cuts the
 * streams. At the source it listens on sockets of its folder for libvirtd and QEMU, and dials the
 * other host for each connection; at the target the agent hands it the connections, and it
 * connects them with libvirtd and QEMU. Between the two lies mutual TLS, and a token that only
 * the two agents know.
 *
 * Its folder, which is named after the migration, is the same on both hosts, as libvirt
 * wants it of paths:
 *   control      for this host's agent, 0600
 *   rpc          source: for libvirtd, 0600
 *   qemu/data    \ 0600, QEMU's: at the source the relay's, at the target QEMU's own
 *   qemu/disks   /
 */
#ifndef VMAGENT_IO_PEER_RELAY_H
#define VMAGENT_IO_PEER_RELAY_H

#include <uv.h>

#include <vmagent/err.h>

#include "core/relay_control.h"

/*
 * vmagent migrate-relay FOLDER             runs one; its configuration (core/relay_config.h) is the standard input, and
 *                                          "ready" its output when it listens
 * vmagent migrate-relay FOLDER VERB [WORD] asks the one that runs there, and prints what it answers
 * Returns the exit status.
 */
int relay_main(int argc, char **argv);

/* Asks the relay of a folder, and waits for its answer, at most a few seconds: for a worker, not
 * for the loop. Errors: ERR_NOT_FOUND (there is none), ERR_CONFLICT, ERR_TIMEOUT, ERR_IO. */
int relay_ask(const char *folder, const struct relay_request *request, struct relay_status *ret,
	struct err *err);

/* Watches the relay of a folder on the loop: each change of its status, its present one
 * first; NULL: it has gone, and nothing more is told. Neither from within the call.
 * NULL: there is none. */
struct relay_watch;
typedef void relay_changed_fn(void *ctx, const struct relay_status *status);
struct relay_watch *relay_watch(uv_loop_t *loop, const char *folder, relay_changed_fn *changed,
	void *ctx);
void relay_unwatch(struct relay_watch *watch); /* or NULL */

/* Removes the folder of a relay that does not run, with all that a relay has in it. */
void relay_remove(const char *folder);

/* Hands a stream's connection, of which only the preface was read, to the relay of its
 * migration below migrations. Never waits; fd stays the caller's. ERR_NOT_FOUND: there is
 * no such migration here. */
int relay_hand_over(const char *migrations, const char *id, enum relay_channel channel, int fd,
	struct err *err);

#endif
