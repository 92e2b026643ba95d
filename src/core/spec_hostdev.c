/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of spec_parse() that is about devices of the host.
 *
 * Owns what an absent part of them comes to. It must not judge: which values are
 * possible has been checked.
 */
#include "core/spec_private.h"

#define DEVICES "domain.devices."
#define DISPLAY "virtualGPUOptions.display"

/* Adds those of one of both lists. */
static int parse_list(const struct node *spec, const char *path, struct vmi_spec *s,
	struct err *err)
{
	const struct node *list;
	size_t n;

	if (spec_list(spec, path, &list, &n, err))
		return -ERR_INVALID;
	s->devices = xrealloc_array(s->devices, s->n_devices + n + 1, sizeof(*s->devices));
	for (size_t i = 0; i < n; i++) {
		const struct node *from = list->children[i];
		struct device_ask *ask = &s->devices[s->n_devices++];

		*ask = (struct device_ask){
			.name = spec_copy(from, "name"),
			.resource = spec_copy(from, "deviceName"),
			.gpu = streq(path, DEVICES "gpus"),
			.display = spec_toggle(from, DISPLAY),
			.ramfb = spec_toggle(from, DISPLAY ".ramFB"),
		};
		if (!ask->name || !ask->resource)
			return err_set(err, ERR_INVALID, "a device has no name or no deviceName");
	}
	return 0;
}

int spec_parse_host_devices(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	s->vsock = spec_bool(spec, DEVICES "autoattachVSOCK", false);
	if (parse_list(spec, DEVICES "gpus", s, err))
		return -ERR_INVALID;
	return parse_list(spec, DEVICES "hostDevices", s, err);
}
