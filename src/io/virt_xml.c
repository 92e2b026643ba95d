/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Domain XML and the host's files: see the header. The tree that is read here is either ours or
 * libvirt's, and a domain's document is small (some 10 KB).
 */
#include "core/domxml.h"
#include "core/firmware.h"
#include "core/image_format.h"
#include "core/names.h"
#include "io/virt_xml_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR         512
#define WEIGHT_MAX     10000 /* of a control group */
#define FILE_BLOCK_MAX 32768 /* beyond, guests have trouble */

struct completion {
	const struct virt_host *host;
	char *kept; /* owned */
	struct err *err;
};

/* Of a channel that is the guest agent's: whether its other end is open. */
static bool is_agent_connected(xmlNodePtr channel)
{
	xmlNodePtr target = xml_child(channel, "target");
	autofree char *name = xml_get(target, "name"), *state = xml_get(target, "state");

	return streq(name, DOMAIN_AGENT_CHANNEL) && streq(state, "connected");
}

/* Of a VNC server that listens on one; else NULL. */
static char *vnc_socket(xmlNodePtr graphics)
{
	autofree char *type = xml_get(graphics, "type");

	return streq(type, "vnc") ? xml_get(xml_child(graphics, "listen"), "socket") : NULL;
}

/* What is between its tags; owned by the caller, NULL: it is not there. */
static char *text_of(xmlNodePtr node)
{
	xmlChar *text = node ? xmlNodeGetContent(node) : NULL;
	char *copy = xstrdup((const char *)text);

	xmlFree(text);
	return copy;
}

char *virt_xml_firmware(xmlNodePtr os)
{
	xmlNodePtr loader = xml_child(os, "loader");
	autofree char *type = xml_get(loader, "type"), *secure = xml_get(loader, "secure");
	struct firmware f = { .loader = text_of(loader),
		.variables = xml_get(xml_child(os, "nvram"), "template"),
		.format = xml_get(loader, "format"),
		.secure = streq(secure, "yes") };
	char *text = NULL;

	if (!f.format)
		f.format = xstrdup("raw");
	if (f.loader && f.variables && streq(type, "pflash"))
		text = firmware_write(&f);
	firmware_done(&f);
	return text;
}

void virt_xml_live(const char *xml, struct domain_info *info)
{
	xmlDocPtr doc = tree_read(xml);
	xmlNodePtr root = doc ? xmlDocGetRootElement(doc) : NULL;
	xmlNodePtr devices = xml_child(root, "devices");
	xmlNodePtr channel = xml_child(devices, "channel");

	info->console = xml_get(xml_child(xml_child(devices, "serial"), "source"), "path");
	info->firmware = virt_xml_firmware(xml_child(root, "os"));
	info->graphics = NULL;
	for (xmlNodePtr g = xml_child(devices, "graphics"); g && !info->graphics;
		g = xml_next(g->next, "graphics"))
		info->graphics = vnc_socket(g);
	virt_xml_nics(devices, info);
	info->agent = false;
	for (; channel; channel = xml_next(channel->next, "channel"))
		info->agent |= is_agent_connected(channel);
	xmlFreeDoc(doc);
}

static bool is_dac(xmlNodePtr secmodel)
{
	xmlChar *model = xmlNodeGetContent(xml_child(secmodel, "model"));
	bool is = streq((const char *)model, "dac");

	xmlFree(model);
	return is;
}

bool virt_xml_qemu_uid(const char *capabilities, unsigned *ret_uid)
{
	xmlDocPtr doc = tree_read(capabilities);
	xmlNodePtr host = xml_child(doc ? xmlDocGetRootElement(doc) : NULL, "host");
	xmlNodePtr model = xml_child(host, "secmodel");
	bool found = false;

	for (; model && !found; model = xml_next(model->next, "secmodel")) {
		xmlChar *label = is_dac(model) ? xmlNodeGetContent(xml_child(model, "baselabel"))
					       : NULL;

		found = label && sscanf((const char *)label, "+%u:", ret_uid) == 1;
		xmlFree(label);
	}
	xmlFreeDoc(doc);
	return found;
}

static void user_of(const char *capabilities, struct virt_identity *ret)
{
	char space[4096];
	struct passwd entry, *user = NULL;
	unsigned uid;

	if (virt_xml_qemu_uid(capabilities, &uid) && uid != geteuid() &&
		!getpwuid_r(uid, &entry, space, sizeof(space), &user) && user)
		copy_str(ret->user, sizeof(ret->user), user->pw_name);
}

void virt_xml_identity(const char *capabilities, struct virt_identity *ret)
{
	xmlDocPtr doc = tree_read(capabilities);
	xmlNodePtr host = xml_child(doc ? xmlDocGetRootElement(doc) : NULL, "host");
	xmlChar *uuid = xmlNodeGetContent(xml_child(host, "uuid"));

	if (uuid && is_uuid((const char *)uuid))
		copy_str(ret->host_uuid, UID_SIZE, (const char *)uuid);
	xmlFree(uuid);
	xmlFreeDoc(doc);
	user_of(capabilities, ret);
}

/* ---- completion of disks --------------------------------------------------------------------- */

static void keep_owner(xmlNodePtr source)
{
	xmlNodePtr label = xmlNewChild(source, NULL, BAD_CAST "seclabel", NULL);

	xmlNewProp(label, BAD_CAST "model", BAD_CAST "dac");
	xmlNewProp(label, BAD_CAST "relabel", BAD_CAST "no");
}

/* root's files and those that are QEMU's already may be handed over. */
static bool is_a_users(const struct stat *st, const struct virt_host *host)
{
	return host->switches_user && st->st_uid != 0 && st->st_uid != host->qemu_uid;
}

static int probe_format(const char *path, const char **ret_format, struct err *err)
{
	unsigned char head[IMAGE_HEAD_SIZE];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	if (n < 0)
		err_set(err, ERR_IO, "backing image '%s': %s", path, strerror(errno));
	else
		*ret_format = image_format_of(head, (size_t)n, NULL);
	if (fd >= 0)
		close(fd);
	if (n >= 0 && !*ret_format)
		return err_set(err, ERR_INVALID, "backing image '%s' is neither raw nor qcow2",
			path);
	return n < 0 ? -ERR_IO : 0;
}

static int complete_backing(struct completion *c, xmlNodePtr backing)
{
	xmlNodePtr source = xml_child(backing, "source");
	autofree char *path = xml_get(source, "file");
	const char *format;
	xmlNodePtr node;

	if (!path || xml_child(backing, "format"))
		return 0;
	if (probe_format(path, &format, c->err) < 0)
		return -(int)c->err->code;
	node = xmlNewNode(NULL, BAD_CAST "format");
	xmlNewProp(node, BAD_CAST "type", BAD_CAST format);
	xmlAddPrevSibling(source, node);
	if (c->host->switches_user) {
		keep_owner(source);
		replace_str(&c->kept, path);
	}
	return 0;
}

struct block_sizes {
	int logical, physical; /* bytes; 0: not known */
};

/* A file's are its file system's, within what QEMU takes. */
static struct block_sizes sizes_of(const char *path, const struct stat *st)
{
	struct block_sizes sizes = { 0 };
	int fd;

	if (!S_ISBLK(st->st_mode)) {
		sizes.logical = (int)MAX(MIN(st->st_blksize, FILE_BLOCK_MAX), SECTOR);
		sizes.physical = sizes.logical;
		return sizes;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || ioctl(fd, BLKSSZGET, &sizes.logical) ||
		ioctl(fd, BLKPBSZGET, &sizes.physical))
		sizes = (struct block_sizes){ 0 };
	if (fd >= 0)
		close(fd);
	return sizes;
}

static void set_int(xmlNodePtr node, const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	xmlSetProp(node, BAD_CAST name, BAD_CAST text);
}

/* <blockio/> without sizes is to get the volume's; SATA knows sectors only. */
static void complete_block_size(xmlNodePtr disk, const char *path, const struct stat *st)
{
	xmlNodePtr blockio = xml_child(disk, "blockio");
	autofree char *bus = xml_get(xml_child(disk, "target"), "bus");
	struct block_sizes sizes;

	if (!blockio || blockio->properties)
		return;
	sizes = sizes_of(path, st);
	set_int(blockio, "logical_block_size",
		streq(bus, "sata") || !sizes.logical ? SECTOR : sizes.logical);
	set_int(blockio, "physical_block_size", MAX(sizes.physical, SECTOR));
}

/* A file that is not there is libvirt's to complain about. */
static int complete_source(struct completion *c, xmlNodePtr disk, xmlNodePtr source)
{
	autofree char *file = xml_get(source, "file"), *lun = xml_get(source, "dev");
	const char *path = lun ? lun : file;
	struct stat st;

	if (!path || stat(path, &st))
		return 0;
	if (!S_ISBLK(st.st_mode) && lun)
		return err_set(c->err, ERR_INVALID,
			"a lun needs a block device, and '%s' is a file: make it a disk", path);
	complete_block_size(disk, path, &st);
	if (S_ISBLK(st.st_mode)) {
		xmlUnsetProp(source, BAD_CAST "file");
		xmlSetProp(source, BAD_CAST "dev", BAD_CAST path);
		xmlSetProp(disk, BAD_CAST "type", BAD_CAST "block");
	}
	if (is_a_users(&st, c->host)) {
		keep_owner(source);
		replace_str(&c->kept, path);
	}
	return 0;
}

static int complete_disks(struct completion *c, xmlDocPtr doc)
{
	xmlNodePtr devices = xml_child(xmlDocGetRootElement(doc), "devices");
	xmlNodePtr disk;

	for (disk = xml_child(devices, "disk"); disk; disk = xml_next(disk->next, "disk")) {
		xmlNodePtr source = xml_child(disk, "source");

		if (source && complete_source(c, disk, source))
			return -c->err->code;
		if (complete_backing(c, xml_child(disk, "backingStore")))
			return -c->err->code;
	}
	return 0;
}

/* A domain that says nothing has 1024 shares, or a weight of 100. */
static void complete_shares(const struct virt_host *host, xmlDocPtr doc)
{
	xmlNodePtr shares = xml_child(xml_child(xmlDocGetRootElement(doc), "cputune"), "shares");
	xmlChar *text = shares && host->unified_cgroups ? xmlNodeGetContent(shares) : NULL;
	long long weight = text ? strtoll((const char *)text, NULL, 10) * 100 / 1024 : 0;
	char number[24];

	snprintf(number, sizeof(number), "%lld", MAX(MIN(weight, WEIGHT_MAX), 1));
	if (text)
		xmlNodeSetContent(shares, BAD_CAST number);
	xmlFree(text);
}

int virt_xml_complete(const char *xml, const struct virt_host *host, char **ret_xml,
	char **ret_kept, struct err *err)
{
	struct completion c = { .host = host, .err = err };
	xmlDocPtr doc = tree_read(xml);
	int rc;

	if (!doc)
		return err_set(err, ERR_INVALID, "the domain's definition is not XML");
	complete_shares(host, doc);
	rc = complete_disks(&c, doc);
	if (!rc) {
		*ret_xml = tree_print(doc);
		*ret_kept = take(&c.kept);
	}
	free(c.kept);
	xmlFreeDoc(doc);
	return rc;
}
