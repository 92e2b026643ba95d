/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: vmactl needs no event loop. */
#include <uv.h>
