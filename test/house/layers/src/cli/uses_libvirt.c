/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: vmactl starts in milliseconds, without libvirt. */
#include <libvirt/libvirt.h>
