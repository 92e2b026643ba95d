/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One port, three adapters behind it: volumes are made and removed by the image adapter, which also
 * has the file of EFI variables, QEMU's log is read by its own, everything else is libvirt's.
 */
#include "daemon/host.h"

#include <string.h>
#include <unistd.h>

#include "daemon/travel.h"

static bool is_of_files(const struct op *op)
{
	enum op_kind kind = op->kind;

	return kind == OP_PREPARE || kind == OP_CLEAN || kind == OP_DROP || kind == OP_FILL ||
		kind == OP_LOOK || kind == OP_MIGRATE_READ_NVRAM ||
		kind == OP_MIGRATE_WRITE_NVRAM || (kind == OP_PURGE && op->aside);
}

static void host_start(struct hypervisor *hv)
{
	struct host *host = (struct host *)hv;

	hv_start(virt_hypervisor(host->virt));
}

static void host_submit(struct hypervisor *hv, const struct op *op)
{
	struct host *host = (struct host *)hv;

	if (travel_is_op(op->kind))
		travel_submit(host, op);
	else if (is_of_files(op))
		image_submit(host->image, op);
	else if (op->kind == OP_WORDS)
		qemu_log_submit(host->log, op);
	else
		hv_submit(virt_hypervisor(host->virt), op);
}

/* ---- what comes back ------------------------------------------------------------------------- */

static void on_connection(void *ctx, bool up, const char *why)
{
	struct host *host = ctx;

	host->sink.connection(host->sink.ctx, up, why);
}

static void on_event(void *ctx, const struct domain_event *event)
{
	struct host *host = ctx;

	host->sink.event(host->sink.ctx, event);
}

static void on_result(void *ctx, const struct op_result *result)
{
	struct host *host = ctx;

	if (!travel_took(host, result))
		host->sink.result(host->sink.ctx, result);
}

/* Where libvirt's own clients find it, which is where the peer's libvirt is
 * connected to; NULL: nowhere. */
static char *socket_of(const char *uri)
{
	static const char *const sockets[] = { "/run/libvirt/virtqemud-sock",
		"/run/libvirt/libvirt-sock" };
	const char *given = strstr(uri, "socket=");

	if (!starts_with(uri, "qemu:///system") && !starts_with(uri, "qemu+unix:///system"))
		return NULL;
	if (given)
		return xasprintf("%.*s", (int)strcspn(given + 7, "&"), given + 7);
	return xstrdup(sockets[access(sockets[0], F_OK) != 0]);
}

static const struct hypervisor_ops host_ops = { .start = host_start, .submit = host_submit };

void host_init(struct host *host, uv_loop_t *loop, const struct config *config, struct hv_sink sink)
{
	struct hv_sink own = { host, on_connection, on_event, on_result };
	struct image_roots roots = {
		.host_disks = (const char *const *)config->host_disk_roots,
		.images = (const char *const *)config->image_roots,
		.map = &config->images,
	};

	host->port.ops = &host_ops;
	host->port.sink = host->sink = sink;
	host->loop = loop;
	host->config = config;
	host->libvirt_socket = socket_of(config->libvirt);
	host->virt = virt_new(loop, config->libvirt, own);
	host->image = image_new(loop, &roots, own);
	host->log = qemu_log_new(loop, config->libvirt, sink);
}

bool host_is_busy(const struct host *host)
{
	return virt_busy(host->virt) > 0 || image_busy(host->image) > 0 ||
		qemu_log_busy(host->log) > 0 || host->travels || host->endings > 0;
}

void host_close(struct host *host)
{
	qemu_log_free(host->log);
	image_free(host->image);
	virt_free(host->virt);
	free(host->libvirt_socket);
}
