/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: core knows no hypervisor library. */
#include <libvirt/libvirt.h>
