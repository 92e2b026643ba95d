/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run needs of its host beside files: network devices, programs. It runs on the pool, with the checks of files.
 */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/image_private.h"

static int check_device(struct job *job, const struct volume_work *work)
{
	autofree char *bridge = xasprintf("/sys/class/net/%s/bridge", work->target);

	if (!if_nametoindex(work->target))
		return err_set(&job->err, ERR_IO,
			"interface '%s': this host has no network device '%s': make it, or name "
			"another in its network",
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
		"interface '%s' needs '%s', which this host does not have: install it",
		work->volume, work->target);
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

int image_check_host(struct job *job, const struct volume_work *work)
{
	if (work->kind == VOLUME_WORK_PATH)
		return check_path(job, work);
	return work->kind == VOLUME_WORK_PROGRAM ? check_program(job, work)
						 : check_device(job, work);
}
