/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which CPUs, devices and CID a run gets: the lowest CPUs that are free, those of one NUMA node
 * before those of several; of each device the first one in the configuration; the lowest CID. Or
 * what it lacks, in words.
 */
#include "core/holding.h"

#include <stdio.h>
#include <string.h>

#define NAMED_MAX 4 /* holders that are named, before the rest are a number */

/* ---- who has them ---------------------------------------------------------------------------- */

struct holders {
	const struct machine *list[CPU_SET_MAX];
	unsigned has[CPU_SET_MAX];
	size_t n;
};

static const struct machine *holder_of(const struct shares_view *view, const char *key)
{
	return view->holder(view->ctx, key);
}

static void add_holder(struct holders *h, const struct machine *m)
{
	size_t i = 0;

	while (i < h->n && h->list[i] != m)
		i++;
	if (i == ARRAY_SIZE(h->list))
		return;
	h->n = MAX(h->n, i + 1);
	h->list[i] = m;
	h->has[i]++;
}

/* "; 'default/a' has 3, 'default/b' has 2" */
static void holders_put(struct buf *out, const struct holders *h)
{
	for (size_t i = 0; i < MIN(h->n, (size_t)NAMED_MAX); i++)
		buf_printf(out, "%s '%s/%s' has %u", i ? "," : ";", h->list[i]->ns,
			h->list[i]->name, h->has[i]);
	if (h->n > NAMED_MAX)
		buf_printf(out, " and %zu more have the rest", h->n - NAMED_MAX);
}

/* ---- CPUs ------------------------------------------------------------------------------------ */

static unsigned cpus_needed(const struct vmi_spec *spec)
{
	return spec->sockets * spec->cores * spec->threads + spec->isolate_emulator;
}

/* Those of the set that are free, at most so many of them; ret may be NULL. */
static unsigned gather(const struct shares_view *view, const struct cpu_set *within, unsigned most,
	struct cpu_set *ret)
{
	unsigned n = 0, end = cpu_set_end(&view->host->dedicated);
	char key[32];

	for (unsigned cpu = 0; cpu < end && n < most; cpu++) {
		if (!cpu_set_has(&view->host->dedicated, cpu) || !cpu_set_has(within, cpu))
			continue;
		snprintf(key, sizeof(key), "cpu:%u", cpu);
		if (holder_of(view, key))
			continue;
		if (ret)
			cpu_set_add(ret, cpu);
		n++;
	}
	return n;
}

/* The node that has them all; -1: none has. */
static int find_node(const struct shares_view *view, unsigned need)
{
	for (size_t i = 0; i < view->host->n_nodes; i++)
		if (gather(view, &view->host->nodes[i], need, NULL) == need)
			return (int)i;
	return -1;
}

/* The most that one node has free, or that is free at all; *ret_all is how many there are there. */
static unsigned most_free(const struct shares_view *view, bool one_node, unsigned *ret_all)
{
	const struct host_shares *host = view->host;
	unsigned best = 0;

	*ret_all = cpu_set_count(&host->dedicated);
	if (!one_node)
		return gather(view, &host->dedicated, CPU_SET_MAX, NULL);
	for (size_t i = 0; i < host->n_nodes; i++)
		best = MAX(best, gather(view, &host->nodes[i], CPU_SET_MAX, NULL));
	return best;
}

static char *lack_of_cpus(const struct shares_view *view, const struct vmi_spec *spec)
{
	struct holders holders = { .n = 0 };
	struct buf out = { 0 };
	unsigned all, left = most_free(view, spec->numa_passthrough, &all);
	char key[32];

	if (!all)
		return xstrdup(
			"0/1 nodes are available: dedicatedCpuPlacement needs CPUs that are set "
			"aside for it: list them in the agent's configuration as dedicatedCPUs");
	for (unsigned cpu = 0; cpu < CPU_SET_MAX; cpu++) {
		snprintf(key, sizeof(key), "cpu:%u", cpu);
		if (cpu_set_has(&view->host->dedicated, cpu) && holder_of(view, key))
			add_holder(&holders, holder_of(view, key));
	}
	buf_printf(&out,
		"0/1 nodes are available: 1 Insufficient dedicated CPUs: needs %u%s, %u of %u is free%s",
		cpus_needed(spec), spec->numa_passthrough ? " of one NUMA node" : "", left, all,
		spec->numa_passthrough ? " there" : "");
	holders_put(&out, &holders);
	if (!holders.n)
		buf_puts(&out, ", which is never enough");
	return out.data;
}

static bool choose_cpus(const struct shares_view *view, const struct vmi_spec *spec,
	struct buf *out, char **ret_words)
{
	unsigned need = cpus_needed(spec);
	int node = find_node(view, need);
	const struct cpu_set *within = node < 0 ? &view->host->dedicated : &view->host->nodes[node];
	struct cpu_set chosen = { { 0 } };

	if ((node < 0 && spec->numa_passthrough) || gather(view, within, need, &chosen) < need) {
		*ret_words = lack_of_cpus(view, spec);
		return false;
	}
	for (unsigned cpu = 0; cpu < CPU_SET_MAX; cpu++)
		if (cpu_set_has(&chosen, cpu))
			buf_printf(out, " cpu:%u", cpu);
	if (spec->numa_passthrough)
		buf_printf(out, " node:%d", node);
	return true;
}

/* ---- devices --------------------------------------------------------------------------------- */

static const char *device_words(const struct device_ask *ask)
{
	return ask->gpu ? "gpu" : "hostDevice";
}

static unsigned count_asked(const struct vmi_spec *spec, const char *resource)
{
	unsigned n = 0;

	for (size_t i = 0; i < spec->n_devices; i++)
		n += streq(spec->devices[i].resource, resource);
	return n;
}

static char *lack_of_device(const struct shares_view *view, const struct vmi_spec *spec,
	const struct device_ask *ask)
{
	struct holders holders = { .n = 0 };
	unsigned all = 0, asked = count_asked(spec, ask->resource);
	struct buf out = { 0 };

	for (size_t i = 0; i < view->host->n_devices; i++) {
		const struct host_device *device = &view->host->devices[i];

		if (!streq(device->name, ask->resource))
			continue;
		all++;
		if (holder_of(view, device->key))
			add_holder(&holders, holder_of(view, device->key));
	}
	buf_printf(&out, "0/1 nodes are available: %s '%s': ", device_words(ask), ask->name);
	if (!all)
		buf_printf(&out,
			"this host has no device of the name '%s': list it in the agent's configuration "
			"as one of hostDevices",
			ask->resource);
	else if (asked > all)
		buf_printf(&out, "needs %u of '%s', of which this host has %u", asked,
			ask->resource, all);
	else
		buf_printf(&out, "1 Insufficient '%s': too few of %u are free", ask->resource, all);
	if (asked <= all)
		holders_put(&out, &holders);
	return out.data;
}

/* Whether the text has that word. */
static bool has_word(const char *text, const char *key)
{
	bool found = false;

	for (char *word; !found && (word = holding_word(&text)); free(word))
		found = streq(word, key);
	return found;
}

static const struct host_device *find_device(const struct shares_view *view, const char *resource,
	const char *taken)
{
	for (size_t i = 0; i < view->host->n_devices; i++) {
		const struct host_device *device = &view->host->devices[i];

		if (streq(device->name, resource) && !holder_of(view, device->key) &&
			!has_word(taken, device->key))
			return device;
	}
	return NULL;
}

static bool choose_devices(const struct shares_view *view, const struct vmi_spec *spec,
	struct buf *out, char **ret_words)
{
	for (size_t i = 0; i < spec->n_devices; i++) {
		const struct host_device *device =
			find_device(view, spec->devices[i].resource, out->data);

		if (!device) {
			*ret_words = lack_of_device(view, spec, &spec->devices[i]);
			return false;
		}
		buf_printf(out, " %s", device->key);
	}
	return true;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* There are four thousand million, so that one is always free. */
static void choose_cid(const struct shares_view *view, struct buf *out)
{
	unsigned cid = VSOCK_CID_FIRST;
	char key[32];

	do {
		snprintf(key, sizeof(key), "cid:%u", cid++);
	} while (holder_of(view, key));
	buf_printf(out, " %s", key);
}

char *holding_choose(const struct shares_view *view, const struct vmi_spec *spec, char **ret_words)
{
	struct buf out = { 0 };

	if ((spec->dedicated && !choose_cpus(view, spec, &out, ret_words)) ||
		!choose_devices(view, spec, &out, ret_words)) {
		buf_done(&out);
		return NULL;
	}
	if (spec->vsock)
		choose_cid(view, &out);
	if (out.data) /* without the blank that each word begins with */
		memmove(out.data, out.data + 1, out.len);
	return out.data;
}
