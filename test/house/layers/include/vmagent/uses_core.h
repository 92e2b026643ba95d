/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: a shared header that needs a private one. */
#include "core/phase.h"
