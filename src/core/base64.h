/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648 §4), as Secrets and ConfigMaps have it. Pure. */
#ifndef VMAGENT_CORE_BASE64_H
#define VMAGENT_CORE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* Of len bytes; owned by the caller. */
char *base64_encode(const void *data, size_t len);

/* Whether text is base64, padded, without line breaks. */
bool is_base64(const char *text);

/* Its bytes, with a NUL behind them; NULL if it is none (line breaks are passed over).
 * Owned by the caller. */
char *base64_decode(const char *text, size_t *ret_len);

#endif
