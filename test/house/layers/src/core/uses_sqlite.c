/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: core knows no store. */
#include <sqlite3.h>
