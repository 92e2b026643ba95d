/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which run has which MAC address: an index, so that no two guests have the same (users.md
 * 63). A run holds its addresses as it holds its disks: from before it is prepared until
 * it is cleaned away.
 */
#include <string.h>

#include "core/domxml.h"
#include "daemon/obstacles.h"

struct mac_claim {
	char mac[MAC_SIZE];
	const struct machine *m;
};

/* The first claim on that address, or the place of one. */
static size_t place_of(const struct macs *macs, const char *mac)
{
	size_t low = 0, high = macs->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(macs->list[middle].mac, mac) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void claim(struct macs *macs, const struct machine *m, const struct interface *nic)
{
	autofree char *mac = interface_mac(nic, m->vmi->owner, m->vmi->meta.uid);
	size_t at = place_of(macs, mac);

	(void)LIST_ADD(macs->list, macs->n, macs->cap);
	memmove(&macs->list[at + 1], &macs->list[at], (macs->n - 1 - at) * sizeof(*macs->list));
	macs->list[at].m = m;
	copy_str(macs->list[at].mac, MAC_SIZE, mac);
}

static void release(struct macs *macs, const struct machine *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < macs->n; i++)
		if (macs->list[i].m != m)
			macs->list[kept++] = macs->list[i];
	macs->n = kept;
}

void macs_hold(struct agent *agent, const struct machine *m, bool holds)
{
	if (!holds) {
		release(&agent->macs, m);
		return;
	}
	for (size_t i = 0; i < m->vmi->typed.n_interfaces; i++)
		claim(&agent->macs, m, &m->vmi->typed.interfaces[i]);
}

enum obstacle macs_obstacle(const struct agent *agent, const struct machine *m, char **ret_words)
{
	const struct macs *macs = &agent->macs;

	for (size_t i = 0; i < m->vmi->typed.n_interfaces; i++) {
		const struct interface *nic = &m->vmi->typed.interfaces[i];
		autofree char *mac = interface_mac(nic, m->vmi->owner, m->vmi->meta.uid);
		size_t at = place_of(macs, mac);

		if (at == macs->n || !streq(macs->list[at].mac, mac))
			continue;
		*ret_words = xasprintf("interface '%s': the MAC address %s is that of '%s/%s', "
				       "which must stop first; give one of them another",
			nic->name, mac, macs->list[at].m->ns, macs->list[at].m->name);
		return OBSTACLE_IN_USE;
	}
	return OBSTACLE_NONE;
}

void macs_done(struct macs *macs)
{
	free(macs->list);
}
