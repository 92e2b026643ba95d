/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests of tests, as short text. */
#ifndef VMAGENT_TEST_MANIFEST_H
#define VMAGENT_TEST_MANIFEST_H

#include "core/manifest.h"

/* What becomes of a manifest in the namespace "default"; manifest_check() returns `want`, or the
 * test has failed. The caller's, for manifest_done() and findings_done(). */
struct manifest manifest_of(const char *text, struct findings *findings, int want);

#endif
