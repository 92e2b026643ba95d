/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client fetches of a running guest, as the display's picture: QEMU itself
 * makes the PNG. Workers.
 */
#include <libvirt/libvirt-qemu.h>

#include "io/virt_private.h"

#define PIECE 65536

char *virt_monitor(virDomainPtr dom, const char *command, struct err *err)
{
	const char *name = virDomainGetName(dom);
	char *answer = NULL;

	if (virDomainQemuMonitorCommand(dom, command, &answer,
		    VIR_DOMAIN_QEMU_MONITOR_COMMAND_HMP) < 0) {
		virt_error(err, "tell QEMU of '%s': %s", name, command);
		return NULL;
	}
	return answer ? answer : xstrdup("");
}

/* There and back again. A guest without a pointer that moves is as awake as it was. */
static void wake(virDomainPtr dom)
{
	struct err ignored;

	free(virt_monitor(dom, "mouse_move 1 1", &ignored));
	free(virt_monitor(dom, "mouse_move -1 -1", &ignored));
}

static void receive(virStreamPtr stream, const char *name, struct op_result *result)
{
	struct buf image = { 0 };
	char piece[PIECE];
	int n;

	while ((n = virStreamRecv(stream, piece, sizeof(piece))) > 0 &&
		image.len + (size_t)n <= SCREENSHOT_MAX)
		buf_add(&image, piece, (size_t)n);
	if (n < 0)
		virt_error(&result->err, "take a picture of domain '%s'", name);
	else if (n > 0)
		err_set(&result->err, ERR_TOO_LARGE, "the picture of '%s' is larger than %d bytes",
			name, SCREENSHOT_MAX);
	if (n || virStreamFinish(stream) < 0) {
		virStreamAbort(stream);
		buf_done(&image);
	}
	result->image_len = image.len;
	result->image = image.data;
}

static void take_picture(virConnectPtr conn, virDomainPtr dom, struct op_result *result)
{
	virStreamPtr stream = virStreamNew(conn, 0);
	const char *name = virDomainGetName(dom);
	char *type = stream ? virDomainScreenshot(dom, stream, 0, 0) : NULL;

	if (!type) {
		virt_error(&result->err, "take a picture of domain '%s'", name);
	} else if (!streq(type, "image/png")) {
		virStreamAbort(stream);
		err_set(&result->err, ERR_HYPERVISOR,
			"the picture of '%s' is of type '%.64s': a PNG takes QEMU 7.1 and libvirt 8.5",
			name, type);
	} else {
		receive(stream, name, result);
	}
	free(type);
	if (stream)
		virStreamFree(stream);
}

void virt_do_screenshot(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr dom = virt_find_ours(conn, op, &result->err);

	if (!dom)
		return;
	if (op->wake)
		wake(dom);
	take_picture(conn, dom, result);
	virDomainFree(dom);
}
