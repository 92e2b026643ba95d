/* SPDX-License-Identifier: Apache-2.0 */
/* Telling systemd: the one-datagram protocol of sd_notify(3), without its library. */
#ifndef VMAGENT_IO_NOTIFY_H
#define VMAGENT_IO_NOTIFY_H

#include <vmagent/base.h>

/* Sends a state such as "READY=1" to $NOTIFY_SOCKET; without one it does nothing. Any thread. Never
 * blocks, and an error is nobody's business: the service manager notices what it misses. */
void notify_send(const char *state);

/* Half of $WATCHDOG_USEC in ms, i.e. how often to send "WATCHDOG=1"; 0: no watchdog is set. */
msec notify_watchdog_interval(void);

#endif
