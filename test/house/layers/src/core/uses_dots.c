/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: an include that leaves its folder. */
#include "../io/store.h"
