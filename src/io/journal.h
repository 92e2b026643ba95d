/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where log lines go: to journald natively when stderr is its stream (fields VMAGENT_VM,
 * VMAGENT_UID, VMAGENT_REASON, so that `journalctl VMAGENT_VM=default/web` works), else one line on
 * stderr, with a `<level>` prefix unless it is a terminal.
 */
#ifndef VMAGENT_IO_JOURNAL_H
#define VMAGENT_IO_JOURNAL_H

#include <vmagent/log.h>

/* Looks at stderr and installs the sink by log_to(). Before the first thread starts. */
void journal_open(void);

#endif
