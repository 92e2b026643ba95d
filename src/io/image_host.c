/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run needs of its host beside files: network devices, programs. It runs on the pool, with
 * the checks of files.
 */
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/image_private.h"

static int check_device(struct job *job, const struct volume_work *work)
{
	autofree char *bridge = xasprintf("/sys/class/net/%s/bridge", work->target);

	if (!if_nametoindex(work->target))
		return err_set(&job->err, ERR_IO,
			"interface '%s': there is no network device '%s': make it, or name another "
			"in its network",
			work->volume, work->target);
	if (work->kind == VOLUME_WORK_BRIDGE && access(bridge, F_OK) < 0)
		return err_set(&job->err, ERR_IO,
			"interface '%s': '%s' is no Linux bridge; for one of Open vSwitch the network's "
			"type is ovs",
			work->volume, work->target);
	return 0;
}

/* Where libvirtd looks for it, if it has the same PATH. */
static int check_program(struct job *job, const struct volume_work *work)
{
	const char *path = getenv("PATH");

	for (path = path && *path ? path : "/usr/bin:/bin"; *path; path += strspn(path, ":")) {
		size_t len = strcspn(path, ":");
		autofree char *file = xasprintf("%.*s/%s", (int)len, path, work->target);

		if (access(file, X_OK) == 0)
			return 0;
		path += len;
	}
	return err_set(&job->err, ERR_IO,
		"interface '%s' needs '%s', which is not there: install it", work->volume,
		work->target);
}

/* What the kernel shows there is there; whether it can be used is libvirt's to say. */
static int check_path(struct job *job, const struct volume_work *work)
{
	bool is_node = strncmp(work->target, "/dev/", 5) == 0;

	if (access(work->target, F_OK) == 0)
		return 0;
	return err_set(&job->err, ERR_IO, "'%s' needs '%s', which this host does not have: %s",
		work->volume, work->target,
		is_node ? "load the kernel's module for it, or leave the field out"
			: "mend hostDevices in the agent's configuration");
}

static int check_port(struct job *job, const struct volume_work *work)
{
	bool udp = starts_with(work->target, "udp");
	unsigned port = (unsigned)strtoul(strchr(work->target, ':') + 1, NULL, 10);
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, (udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0), on = 1, ret;

	if (fd < 0)
		return err_set(&job->err, ERR_IO, "cannot make a socket: %s", strerror(errno));
	if (!udp) /* as QEMU does, or a connection that ended just now would be in the way */
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	ret = bind(fd, (struct sockaddr *)&address, sizeof(address));
	if (ret < 0)
		err_set(&job->err, ERR_IO,
			"annotation %s: port %u/%.3s of this host: %s; see 'ss -lntup', or give "
			"another",
			work->volume, port, work->target, strerror(errno));
	close(fd);
	return ret < 0 ? -(int)job->err.code : 0;
}

int image_check_host(struct job *job, const struct volume_work *work)
{
	if (work->kind == VOLUME_WORK_PATH)
		return check_path(job, work);
	if (work->kind == VOLUME_WORK_PORT)
		return check_port(job, work);
	return work->kind == VOLUME_WORK_PROGRAM ? check_program(job, work)
						 : check_device(job, work);
}
