/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: core knows nothing above it. */
#include "daemon/agent.h"
