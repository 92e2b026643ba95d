/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: core does no I/O. */
#include <sys/socket.h>
