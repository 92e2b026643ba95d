/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes objects in protobuf: what is read must be a tree that can be written. */
#include "core/protobuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *json = NULL;
	struct err err = { 0 };
	struct node *root;

	if (protobuf_parse(data, size, &root, &err))
		return 0;
	json = node_json(root);
	node_free(root);
	return 0;
}
