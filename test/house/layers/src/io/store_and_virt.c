/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: one adapter that knows another. */
#include "io/virt.h"
