/* SPDX-License-Identifier: Apache-2.0 */
#include "test/lib/process.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <vmagent/base.h>

static unsigned entries(pid_t pid, const char *what)
{
	autofree char *path = xasprintf("/proc/%d/%s", (int)(pid ? pid : getpid()), what);
	DIR *folder = opendir(path);
	const struct dirent *entry;
	unsigned n = 0;

	while (folder && (entry = readdir(folder)))
		n += entry->d_name[0] != '.';
	if (folder)
		closedir(folder);
	return n - (pid == 0 && streq(what, "fd")); /* but for the folder itself */
}

unsigned process_files(pid_t pid)
{
	return entries(pid, "fd");
}

unsigned process_tasks(pid_t pid)
{
	return entries(pid, "task");
}

unsigned process_children(void)
{
	autofree char *path = xasprintf("/proc/self/task/%d/children", (int)getpid());
	FILE *file = fopen(path, "r");
	unsigned n = 0;
	int pid;

	while (file && fscanf(file, "%d", &pid) == 1)
		n++;
	if (file)
		fclose(file);
	return n;
}

long process_memory_kb(pid_t pid)
{
	autofree char *path = xasprintf("/proc/%d/status", (int)(pid ? pid : getpid()));
	FILE *file = fopen(path, "r");
	char line[256];
	long kb = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %ld", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb;
}
