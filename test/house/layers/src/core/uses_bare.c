/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: an include without its layer. */
#include "phase.h"
