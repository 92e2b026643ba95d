/* SPDX-License-Identifier: Apache-2.0 */
#include "test/lib/manifest.h"

#include <check.h>

#include "core/edit.h"

struct manifest manifest_of(const char *text, struct findings *findings, int want)
{
	static const struct policy policy = { .default_namespace = "default" };
	struct node *root = text_tree(text);
	struct manifest manifest = { 0 };

	ck_assert_msg(root, "%s", text);
	ck_assert_msg(manifest_check(root, &policy, &manifest, findings) == want, "%s: %s", text,
		findings->n ? findings->list[0].message : "accepted");
	node_free(root);
	return manifest;
}
