/* SPDX-License-Identifier: Apache-2.0 */
/* Must be refused: core knows no event loop. */
#include <uv.h>
