/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a host one run has to itself: CPUs, devices, a CID of vsock. All of it is allocated in
 * one way: things have keys, "cpu:2", "pci:0000:65:00.0", "cid:1024", of which each is one run's at
 * most, and what a run has is kept with it as a text of such words. Pure.
 */
#ifndef VMAGENT_CORE_HOLDING_H
#define VMAGENT_CORE_HOLDING_H

#include <vmagent/model.h>

#include "core/cpuset.h"
#include "core/machine.h"

#define HOST_DEVICES_MAX 256
#define HOST_NODES_MAX   64
#define VSOCK_CID_FIRST  1024 /* below are those that libvirt itself gives, from 3 on */

#define HOST_DEVICE_KINDS(X) X(PCI, "pci") X(USB, "usb") X(MDEV, "mdev")
enum host_device_kind {
#define X(c, t) HOST_DEVICE_##c,
	HOST_DEVICE_KINDS(X)
#undef X
		HOST_DEVICE_KIND_MAX
};
ENUM_DECLARE(host_device_kind, HOST_DEVICE, HOST_DEVICE_KINDS)

struct host_device {
	char *name; /* owned; the manifests' deviceName: several may have the same */
	char *key;  /* owned; its kind and its address */
};

struct host_shares {              /* what there is to allocate */
	struct cpu_set online;    /* the host's; empty: not known */
	struct cpu_set dedicated; /* … of which these are for guests that want theirs alone */
	struct cpu_set nodes[HOST_NODES_MAX]; /* of each NUMA node */
	size_t n_nodes;
	struct host_device devices[HOST_DEVICES_MAX];
	size_t n_devices;
};
void host_shares_done(struct host_shares *shares);

/* Adds a device; false: there are too many, or its address is none of that kind. */
bool host_shares_add(struct host_shares *shares, const char *name, enum host_device_kind kind,
	const char *address);

/* What is left for guests that share: the set as text, owned by the caller, or NULL: every CPU,
 * or none is known. */
char *shared_cpus(const struct host_shares *shares);

struct holding {        /* what one run has */
	unsigned *cpus; /* owned; of each vCPU, then the emulator's, if that has its own */
	size_t n_cpus;
	int node;       /* NUMA node of all of them; -1: of any */
	char **devices; /* owned: the key of each device of its spec */
	size_t n_devices;
	unsigned cid; /* 0: none */
};

/* From its text, which may be NULL; words that it does not know are passed over. */
void holding_parse(const char *text, struct holding *ret);
void holding_done(struct holding *holding);

/* The next word of a text at *at: owned by the caller; NULL: it was the last. The words
 * but "node:N" are keys. */
char *holding_word(const char **at);

/* Where a device's address begins in its key; its kind is *ret. */
const char *device_address(const char *key, enum host_device_kind *ret);

/* Whether a run with this spec needs any of it. */
bool spec_shares(const struct vmi_spec *spec);

struct shares_view { /* what there is, and who has what of it */
	const struct host_shares *host;
	const struct machine *(*holder)(const void *ctx, const char *key); /* NULL: nobody */
	const void *ctx;
};

/* What a run with this spec would have, as text; NULL with *ret_words: what is not there, how many
 * there are, and who has them. Both are owned by the caller. */
char *holding_choose(const struct shares_view *view, const struct vmi_spec *spec, char **ret_words);

#endif
