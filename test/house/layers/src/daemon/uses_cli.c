/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: the daemon knows no command line. */
#include "cli/print.h"
