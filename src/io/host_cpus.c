/* SPDX-License-Identifier: Apache-2.0 */
#include "io/host_cpus.h"

#include <stdio.h>
#include <string.h>

#define LINE_SIZE 4096

static bool read_set(const char *path, struct cpu_set *ret)
{
	char line[LINE_SIZE] = "";
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return cpu_set_parse(line, ret);
}

/* A node without CPUs has only memory: nothing is pinned to it. */
void host_cpus_read(const char *root, struct host_shares *ret)
{
	autofree char *online = xasprintf("%s/sys/devices/system/cpu/online", root);

	read_set(online, &ret->online);
	for (size_t i = 0; i < HOST_NODES_MAX; i++) {
		autofree char *path =
			xasprintf("%s/sys/devices/system/node/node%zu/cpulist", root, i);

		if (read_set(path, &ret->nodes[i]))
			ret->n_nodes = i + 1;
	}
}
