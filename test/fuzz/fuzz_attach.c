/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes NetworkAttachmentDefinitions, which are anybody's. The input is the resource that an
 * annotation names, on a line of its own, and the CNI configuration. It ends in an answer or in
 * words that say why not; and what is taken of it as the name of a device or a network is one,
 * for it becomes libvirt's.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/attach.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static bool has_source(const struct attachment *a)
{
	return a->kind != ATTACH_USER && a->kind != ATTACH_PASST;
}

static void check(const struct attachment *a)
{
	require(a->kind < ATTACH_KIND_MAX);
	require(a->vlan <= VLAN_MAX);
	require(has_source(a) == (a->source != NULL));
	if (a->kind == ATTACH_NETWORK || a->kind == ATTACH_SRIOV)
		require(is_net_name(a->source));
	else if (a->source)
		require(is_netdev_name(a->source) && !strchr(a->source, '/'));
	require((a->kind == ATTACH_MACVTAP) == (a->mode != NULL));
	if (a->mode)
		require(streq(a->mode, "bridge") || streq(a->mode, "vepa") ||
			streq(a->mode, "private") || streq(a->mode, "passthrough"));
	require(!a->made && !a->or_user);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *text = xstrndup((const char *)data, strnlen((const char *)data, size));
	char *config = text;
	const char *resource = strsep(&config, "\n");
	struct node *nad = node_new(NODE_MAP, NULL), *annotations = node_new(NODE_MAP, NULL);
	struct attachment a = { 0 };
	struct err err = { 0 };

	node_set(annotations, "k8s.v1.cni.cncf.io/resourceName", node_new(NODE_STRING, resource));
	node_set_path(nad, "metadata.annotations", annotations);
	if (config)
		node_set_path(nad, "spec.config", node_new(NODE_STRING, config));
	if (attach_parse_nad(nad, &a, &err) == 0)
		check(&a);
	else
		require(err.msg[0]);
	attachment_done(&a);
	node_free(nad);
	return 0;
}
