/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: an adapter that knows the daemon. */
#include "daemon/agent.h"
