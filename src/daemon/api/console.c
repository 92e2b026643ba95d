/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams that a socket of QEMU's is the other end of: the serial console, and the display by
 * VNC. One session per machine and stream, a newcomer displaces the one before (semantics §5.4). A
 * console's earlier output is replayed from the log that QEMU writes beside its socket.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/domxml.h"
#include "daemon/api/bridge.h"
#include "daemon/api/port.h"
#include "daemon/api/reply.h"
#include "daemon/api/selection.h"

#define CONSOLE_REPLAY (16 * 1024) /* bytes of earlier output that a newcomer sees */

static const struct bridge_plan console_plan = {
	.what = "console",
	.ended = "the console has ended with its guest",
	.lossy = true,
	.exclusive = true,
};

static const struct bridge_plan vnc_plan = {
	.what = "VNC session",
	.ended = "the display has ended with its guest",
	.exclusive = true,
};

/* ---- what was before ------------------------------------------------------------------------- */

static char *log_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash || starts_with(path, "/dev/"))
		return NULL;
	return xasprintf("%.*s/%s", (int)(slash - path), path, DOMAIN_CONSOLE_LOG_FILE);
}

/* The beginning of a text that was cut within a line is left out. */
static void add_lines(struct buf *out, const char *text, size_t len, bool cut)
{
	const char *newline = cut ? memchr(text, '\n', len) : NULL;
	size_t skip = newline ? (size_t)(newline + 1 - text) : 0;

	buf_add(out, text + skip, len - skip);
}

/* The last whole lines of the log that QEMU keeps beside a socket; nothing when there is none. */
static void add_history(const char *path, struct buf *out)
{
	autofree char *file = log_path(path);
	int fd = file ? open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) : -1;
	char text[CONSOLE_REPLAY];
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, text, sizeof(text), MAX(0, st.st_size - CONSOLE_REPLAY));
	if (n > 0)
		add_lines(out, text, (size_t)n, st.st_size > CONSOLE_REPLAY);
	close(fd);
}

/* ---- the two streams ------------------------------------------------------------------------- */

void console_open(const struct call *call)
{
	struct bridge *b = bridge_new(call, &console_plan);
	const char *file;
	struct err err;
	int port;

	if (!b)
		return;
	if (reach_console(call->api->options.agent, call->path.ns, call->path.name, &file, &err) ||
		(port = port_open(file, "serial console", &err)) < 0) {
		reply_error(call, &err);
		return;
	}
	add_history(file, bridge_output(b));
	bridge_connect(b, port);
}

/* preserveSession is KubeVirt's: the one who is there is not ended, and the newcomer
 * refused in its words. */
void vnc_open(const struct call *call)
{
	const struct route_path *path = &call->path;
	struct bridge *b = bridge_new(call, &vnc_plan);
	const char *file;
	struct err err;
	int port;

	if (!b)
		return;
	if (reach_display(call->api->options.agent, path->ns, path->name, &file, &err)) {
		reply_error(call, &err);
	} else if (query_bool(call, "preserveSession") &&
		bridge_is_taken(call->api, &vnc_plan, path->ns, path->name)) {
		reply_refuse(call, ERR_UNAVAILABLE,
			"Active VNC connection. Request denied: somebody else is connected to '%s'",
			path->name);
	} else {
		port = port_open(file, "VNC server", &err);
		if (port < 0)
			reply_error(call, &err);
		else
			bridge_connect(b, port);
	}
}
