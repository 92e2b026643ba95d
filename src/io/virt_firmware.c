/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of descriptions, read one by one; whoever may write there may say what firmware guests
 * get. */
#include "io/virt_firmware.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/firmware.h"
#include "io/virt_xml_tree.h"

#define DESCRIPTION_MAX 65536 /* bytes */

static const char *const system_folders[] = { "/etc/qemu/firmware", "/usr/share/qemu/firmware" };

struct reading {
	struct buf names; /* "/NAME/NAME/" of descriptions that were met */
	struct buf list;
	unsigned n;
};

static bool is_new(struct reading *r, const char *name)
{
	autofree char *mark = xasprintf("/%s/", name);

	if (r->names.data && strstr(r->names.data, mark))
		return false;
	buf_puts(&r->names, mark);
	return true;
}

/* Ours or root's, and nobody else's to change. */
static bool is_trusted(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		(st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Owned by the caller, or NULL. */
static char *read_description(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = xcalloc(1, DESCRIPTION_MAX + 1);
	ssize_t n = fd >= 0 && is_trusted(fd) ? read(fd, text, DESCRIPTION_MAX) : -1;

	if (fd >= 0)
		close(fd);
	if (n > 0)
		return text;
	free(text);
	return NULL;
}

static void take_one(struct reading *r, int folder, const char *name)
{
	autofree char *json = read_description(folder, name), *text = NULL;
	struct firmware f;

	if (!json || r->n == FIRMWARES_MAX || !firmware_described(json, &f))
		return;
	text = firmware_write(&f);
	if (access(f.loader, R_OK) == 0 && access(f.variables, R_OK) == 0) {
		buf_printf(&r->list, "%s\n", text);
		r->n++;
	}
	firmware_done(&f);
}

static bool is_description(const char *name)
{
	const char *dot = strrchr(name, '.');

	return name[0] != '.' && streq(dot, ".json");
}

static void read_folder(struct reading *r, const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_description(entry->d_name) && is_new(r, entry->d_name))
			take_one(r, dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
}

char *virt_firmwares_in(const char *const *folders, size_t n)
{
	struct reading r = { .n = 0 };

	for (size_t i = 0; i < n; i++)
		read_folder(&r, folders[i]);
	buf_done(&r.names);
	return r.list.data ? r.list.data : xstrdup("");
}

char *virt_firmwares(void)
{
	return virt_firmwares_in(system_folders, ARRAY_SIZE(system_folders));
}

static int check(xmlNodePtr os, const char *list, struct err *err)
{
	autofree char *choice = xml_get(os, "firmware"), *text = NULL;
	struct firmware f;
	int ret = 0;

	if (choice)
		return err_set(err, ERR_INVALID,
			"the other host does not say which firmware the guest has");
	if (!xml_child(os, "loader"))
		return 0;
	text = virt_xml_firmware(os);
	if (firmware_read(text, &f, err) < 0)
		return -(int)err->code;
	if (!firmwares_have(list, &f))
		ret = err_set(err, ERR_FORBIDDEN,
			"this host has no firmware '%s' with variables as in '%s'", f.loader,
			f.variables);
	firmware_done(&f);
	return ret;
}

int virt_firmware_check(const char *xml, const char *list, struct err *err)
{
	xmlDocPtr doc = tree_read(xml);
	int ret = doc ? check(xml_child(xmlDocGetRootElement(doc), "os"), list, err)
		      : err_set(err, ERR_INVALID, "the domain's definition is not XML");

	xmlFreeDoc(doc);
	return ret;
}
