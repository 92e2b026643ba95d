/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: vmactl sees the API, not the database. */
#include "io/store.h"
