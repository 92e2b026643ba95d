/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a guest's interface is attached to the host: what a NetworkAttachmentDefinition's CNI
 * configuration says, or the same words in the agent's own configuration, and what the pod network
 * is on this host. Pure.
 */
#ifndef VMAGENT_CORE_ATTACH_H
#define VMAGENT_CORE_ATTACH_H

#include <vmagent/spec.h>

#include "core/node.h"

/* X(constant, the type in words). SRIOV's source is a pool of the configuration's. */
#define ATTACH_KINDS(X)               \
	X(USER, "user")               \
	X(PASST, "passt")             \
	X(NETWORK, "libvirt-network") \
	X(BRIDGE, "bridge")           \
	X(OVS, "ovs")                 \
	X(MACVTAP, "macvtap")         \
	X(SRIOV, "sriov")

enum attach_kind {
#define X(c, t) ATTACH_##c,
	ATTACH_KINDS(X)
#undef X
		ATTACH_KIND_MAX
};
ENUM_DECLARE(attach_kind, ATTACH, ATTACH_KINDS)

struct attachment {
	enum attach_kind kind;
	char *source;  /* owned; bridge, device, libvirt's network or pool; NULL: user, passt */
	char *mode;    /* owned or NULL; of MACVTAP: as libvirt has it, bridge unless given */
	unsigned vlan; /* 0: untagged */
	bool made;     /* NETWORK: the agent makes it where it is not there */
	bool or_user;  /* … and where it cannot be made, QEMU's own stack takes its place */
};
void attachment_done(struct attachment *a);
void attachment_copy(struct attachment *dst, const struct attachment *src);

#define VLAN_MAX         4094
#define NETDEV_LEN_MAX   15 /* Linux: of an interface's name */
#define NET_NAME_LEN_MAX 64

bool is_netdev_name(const char *s);
/* Of a libvirt network, or of a pool; may have '/' as resources do. */
bool is_net_name(const char *s);

/*
 * One configuration: {type: …, …}. resource is the pool that an annotation names, or NULL. Errors:
 * ERR_INVALID, naming the field.
 */
int attach_parse(const struct node *config, const char *resource, struct attachment *ret,
	struct err *err);

/* The same of a whole NetworkAttachmentDefinition (record_tree()): its spec.config is JSON, one
 * plugin or a list. */
int attach_parse_nad(const struct node *nad, struct attachment *ret, struct err *err);

#endif
