/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of spec_parse() that is about devices beside disks and interfaces.
 *
 * Owns what an absent part of them comes to. It must not judge: which values are
 * possible has been checked.
 */
#include "core/spec_private.h"

#define DEVICES "domain.devices."

static int parse_inputs(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	const struct node *list;
	size_t n;

	if (spec_list(spec, DEVICES "inputs", &list, &n, err))
		return -ERR_INVALID;
	s->inputs = n ? xcalloc(n, sizeof(*s->inputs)) : NULL;
	for (size_t i = 0; i < n; i++)
		s->inputs[i].virtio = streq(node_text(list->children[i], "bus"), "virtio");
	s->n_inputs = n;
	return 0;
}

static int parse_panic_devices(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	const struct node *list;
	size_t n;

	if (spec_list(spec, "domain.devices.panicDevices", &list, &n, err))
		return -ERR_INVALID;
	if (n > PANIC_DEVICES_MAX)
		return err_set(err, ERR_INVALID, "over %d panicDevices", PANIC_DEVICES_MAX);
	for (size_t i = 0; i < n; i++) {
		const char *model = node_text(list->children[i], "model");

		if (model && !panic_model_parse(model, &s->panic_devices[i]))
			return err_set(err, ERR_INVALID, "unknown panic device '%.64s'", model);
	}
	s->n_panic_devices = n;
	return 0;
}

static enum tpm tpm_of(const struct node *tpm)
{
	if (!tpm || !spec_bool(tpm, "enabled", true))
		return TPM_NONE;
	return spec_bool(tpm, "persistent", false) ? TPM_PERSISTENT : TPM_OF_RUN;
}

int spec_parse_peripherals(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	const struct node *sound = node_at(spec, DEVICES "sound");
	const char *policy = node_text(spec, "domain.ioThreadsPolicy");

	s->no_balloon = !spec_bool(spec, DEVICES "autoattachMemBalloon", true);
	s->multi_queue = spec_bool(spec, DEVICES "blockMultiQueue", false);
	if (sound)
		s->sound = xstrdup(node_text(sound, "model") ? node_text(sound, "model") : "ich9");
	s->tpm = tpm_of(node_at(spec, DEVICES "tpm"));
	s->transitional = spec_bool(spec, DEVICES "useVirtioTransitional", false);
	s->video = spec_copy(spec, DEVICES "video.type");
	s->watchdog = spec_copy(spec, DEVICES "watchdog.i6300esb.action");
	if (policy && !io_threads_policy_parse(policy, &s->io_threads))
		return err_set(err, ERR_INVALID, "unknown ioThreadsPolicy '%.64s'", policy);
	if (spec_unsigned(spec, "domain.ioThreads.supplementalPoolThreadCount", &s->io_pool, err))
		return -ERR_INVALID;
	if (parse_panic_devices(spec, s, err))
		return -ERR_INVALID;
	return parse_inputs(spec, s, err);
}
