/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes a manifest by what the schema's table says: a field more, with a value that it may
 * have or one that means no good, a field less, an element twice. So most of what comes out is
 * judged by the rules between fields, and much is accepted, which a search that changes bytes
 * hardly ever gets to.
 */
#ifndef VMAGENT_TEST_MANIFEST_MUTATOR_H
#define VMAGENT_TEST_MANIFEST_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

/* As libFuzzer wants it: data, of size bytes, becomes another manifest (as JSON) of at most max
 * bytes; its size. The same seed makes the same. What is none becomes one. */
size_t manifest_mutate(uint8_t *data, size_t size, size_t max, unsigned seed);

#endif
