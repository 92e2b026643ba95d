/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules on what a VM says of its instancetype and its preference, in KubeVirt's words.
 *
 * Owns nothing; single values were judged by schema_check.c, so what is of a wrong
 * kind is passed over.
 */
#include "core/check.h"
#include "core/instancetype.h"

static void infer_rules(struct check *c, const struct node *field, const char *key)
{
	const struct node *other = node_get(field, key);

	if (other)
		check_add_key(c, other, key,
			"%s already set, should be cleared before setting inferFromVolume", key);
}

static void one_rules(struct check *c, const struct node *vm_spec, enum vm_type which)
{
	const struct node *field = node_get(vm_spec, type_field(which));
	struct type_ref ref;
	size_t mark;

	if (!type_ref_read(vm_spec, which, &ref))
		return;
	mark = check_enter(c, type_field(which));
	if (!ref.name && !ref.from_volume)
		check_add_key(c, field, "", "either name or inferFromVolume should be provided");
	if (ref.kind == KIND_MAX)
		check_add(c, node_get(field, "kind"), "kind",
			"got unexpected kind '%.64s': it is %s or %s", ref.kind_text,
			object_kind_name(type_kind_parse("", which)),
			object_kind_name(
				which == VM_INSTANCETYPE ? KIND_INSTANCETYPE : KIND_PREFERENCE));
	if (ref.from_volume) {
		infer_rules(c, field, "name");
		infer_rules(c, field, "kind");
	}
	check_leave(c, mark);
}

void type_rules(struct check *c, const struct node *vm_spec)
{
	one_rules(c, vm_spec, VM_INSTANCETYPE);
	one_rules(c, vm_spec, VM_PREFERENCE);
}
