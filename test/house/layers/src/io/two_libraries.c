/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: an adapter with two libraries. */
#include <sqlite3.h>
#include <libvirt/libvirt.h>
