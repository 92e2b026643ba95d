/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Being the host of libvirt's QEMU driver oneself: qemu:///embed?root=DIR. libvirt's QEMUs are then
 * children of this program that are left to whoever reaps orphans, and it waits until that has
 * happened; so the program splits in two: a parent that only reaps, and the agent.
 */
#ifndef VMAGENT_IO_EMBED_H
#define VMAGENT_IO_EMBED_H

#include <vmagent/err.h>

/* libvirt makes ROOT/lib/qemu/domain-<id>-<20 of the name>/monitor.sock of it, which has to fit
 * into a socket's address of 107 characters; this leaves five digits for the id. */
#define EMBED_ROOT_MAX 50

/* Bytes of ROOT/log/libvirt.log at a start beyond which it is set aside. */
#define EMBED_LOG_MAX (4 << 20)

/*
 * Does nothing unless uri is an embed one. Else it makes the root ready (its folder, a qemu.conf
 * and the place of libvirt's log, each only if there is none), removes what a libvirt that died in
 * the middle of a start left of it, which the next one could not cope with, and forks: it returns
 * in the child alone, which dies with its parent. The parent forwards SIGTERM, SIGINT, SIGHUP,
 * SIGUSR1 and SIGUSR2, reaps every orphan below it, and ends as the child ended, so guests are
 * left to PID 1.
 *
 * To be called before the first thread and before anything calls libvirt or libuv; nothing in the
 * child may ever wait for any child (waitpid(-1)). Errors: ERR_INVALID (the root), ERR_IO.
 */
int embed_enter(const char *uri, struct err *err);

#endif
