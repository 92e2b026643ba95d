/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One port, three adapters behind it: volumes are made and removed by the image adapter, QEMU's log is
 * read by its own, everything else is libvirt's.
 */
#include "daemon/host.h"

static bool is_volume_op(enum op_kind kind)
{
	return kind == OP_PREPARE || kind == OP_CLEAN || kind == OP_DROP;
}

static void host_start(struct hypervisor *hv)
{
	struct host *host = (struct host *)hv;

	hv_start(virt_hypervisor(host->virt));
}

static void host_submit(struct hypervisor *hv, const struct op *op)
{
	struct host *host = (struct host *)hv;

	if (is_volume_op(op->kind))
		image_submit(host->image, op);
	else if (op->kind == OP_WORDS)
		qemu_log_submit(host->log, op);
	else
		hv_submit(virt_hypervisor(host->virt), op);
}

static const struct hypervisor_ops host_ops = { .start = host_start, .submit = host_submit };

void host_init(struct host *host, uv_loop_t *loop, const struct config *config, struct hv_sink sink)
{
	struct image_roots roots = {
		.host_disks = (const char *const *)config->host_disk_roots,
		.images = (const char *const *)config->image_roots,
		.map = &config->images,
	};

	host->port.ops = &host_ops;
	host->port.sink = sink;
	host->virt = virt_new(loop, config->libvirt, sink);
	host->image = image_new(loop, &roots, sink);
	host->log = qemu_log_new(loop, config->libvirt, sink);
}

bool host_is_busy(const struct host *host)
{
	return virt_busy(host->virt) > 0 || image_busy(host->image) > 0 ||
		qemu_log_busy(host->log) > 0;
}

void host_close(struct host *host)
{
	qemu_log_free(host->log);
	image_free(host->image);
	virt_free(host->virt);
}
