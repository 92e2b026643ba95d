/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start: define persistently, so that the reason of the end can be read afterwards, then create. It
 * may be asked for a run that is started already (the agent was killed in between): then it only
 * looks. A definition that is not this run's is never overwritten.
 */
#include <string.h>
#include <unistd.h>

#include "io/virt_needs.h"
#include "io/virt_private.h"
#include "io/virt_xml.h"

/* Our name must not be another domain's. */
static int check_name_is_free(virConnectPtr conn, const struct op *op, struct err *err)
{
	virDomainPtr dom = virDomainLookupByName(conn, op->domain);
	char uuid[UID_SIZE] = "";

	if (!dom) {
		if (virt_error_last() == VIR_ERR_NO_DOMAIN)
			return 0;
		return virt_error(err, "look for domain '%s'", op->domain);
	}
	virDomainGetUUIDString(dom, uuid);
	virDomainFree(dom);
	return err_set(err, ERR_CONFLICT,
		"there is a domain '%s' already, with another UUID (%s); undefine or rename it",
		op->domain, uuid);
}

static void host_of(virConnectPtr conn, struct virt_host *ret)
{
	char *capabilities = virConnectGetCapabilities(conn);

	*ret = (struct virt_host){ .unified_cgroups =
					   access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0 };
	if (capabilities)
		ret->switches_user = virt_xml_qemu_uid(capabilities, &ret->qemu_uid);
	free(capabilities);
}

static int check_needs(virConnectPtr conn, const struct op *op, struct err *err)
{
	bool kvm = strstr(op->xml, "<domain type=\"kvm\"");
	autofree char *capabilities =
		virConnectGetDomainCapabilities(conn, NULL, NULL, "q35", kvm ? "kvm" : "qemu", 0);

	return virt_needs_check(op->xml, capabilities, err);
}

/* Our definition, as it is in op or without its limits. */
struct definition {
	virConnectPtr conn;
	const struct op *op;
	const char *xml; /* borrowed */
	char *kept;      /* owned or NULL: a disk that is not handed over to QEMU */
};

virDomainPtr virt_define(virConnectPtr conn, const struct op *op, const char *given,
	char **ret_kept, struct err *err)
{
	autofree char *xml = NULL;
	struct virt_host host;
	virDomainPtr dom;

	host_of(conn, &host);
	if (check_needs(conn, op, err))
		return NULL;
	if (virt_xml_complete(given, &host, &xml, ret_kept, err))
		return NULL;
	dom = virDomainDefineXMLFlags(conn, xml, 0);
	if (!dom) {
		virt_error(err, "define domain '%s'", op->domain);
		if (strstr(err->msg, "virtiofs is not"))
			err_wrap(err,
				"only an agent that runs as root can give a guest filesystems");
		return NULL;
	}
	virDomainSetAutostart(dom, 0); /* it may have been set by hand; who starts VMs is us */
	return dom;
}

/* The test driver takes no flags. */
static int create(virDomainPtr dom, bool paused)
{
	if (!paused)
		return virDomainCreate(dom);
	if (virDomainCreateWithFlags(dom, VIR_DOMAIN_START_PAUSED) == 0)
		return 0;
	if (virt_error_last() != VIR_ERR_INVALID_ARG || virDomainCreate(dom) < 0)
		return -1;
	return virDomainSuspend(dom);
}

/* Words that tell what to do about it, where we know. */
static void create_failed(const struct op *op, const char *kept, struct err *err)
{
	autofree char *locked = virt_locked_image(virGetLastErrorMessage());

	virt_error(err, "start domain '%s'", op->domain);
	if (strstr(err->msg, "satisfying virtiofsd"))
		err_wrap(err,
			"this host has no virtiofsd, which filesystems need: install the package "
			"virtiofsd, or with QEMU before 8 qemu-system-common");
	if (locked)
		err_wrap(err,
			"disk image '%s' is open in another process; find it with 'fuser -v %s' "
			"and end it",
			locked, locked);
	else if (kept && strstr(err->msg, "Permission denied"))
		err_wrap(err, "'%s' keeps its owner, so QEMU's user needs access to it", kept);
}

static void define_and_create(struct definition *d, struct err *err)
{
	virDomainPtr dom;

	free(take(&d->kept));
	dom = virt_define(d->conn, d->op, d->xml, &d->kept, err);
	if (!dom)
		return;
	if (create(dom, d->op->paused) < 0)
		create_failed(d->op, d->kept, err);
	virDomainFree(dom);
}

/* A host that cannot limit a guest runs it all the same, and result->text says so. */
static void start(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	autofree char *xml = NULL, *unlimited = NULL, *why = NULL;
	struct definition d = { .conn = conn, .op = op };
	struct err *err = &result->err;

	if (virt_networks_prepare(conn, op, &xml, &result->fallback, err))
		return;
	d.xml = xml;
	define_and_create(&d, err);
	if (err->code && virt_limits_are_refused(err->msg))
		unlimited = virt_xml_without_limits(xml);
	if (unlimited) {
		why = xstrdup(err->msg);
		*err = (struct err){ 0 };
		d.xml = unlimited;
		define_and_create(&d, err);
	}
	if (unlimited && !err->code)
		result->text = take(&why);
	free(d.kept);
}

/* Whether it runs already; else it is to be defined and created, unless err says why not. */
static bool is_started(virConnectPtr conn, const struct op *op, struct err *err)
{
	bool active = false;
	virDomainPtr dom;

	switch (virt_find(conn, op->uuid, &dom, err)) {
	case FOUND_ERROR:
		return false;
	case FOUND_NONE:
		check_name_is_free(conn, op, err);
		return false;
	case FOUND_ONE:
		break;
	}
	if (!virt_make_room(dom, op, err) && !err->code && !virt_check_owner(dom, op, err))
		active = virDomainIsActive(dom) == 1;
	virDomainFree(dom);
	return active;
}

void virt_do_start(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	if (!is_started(conn, op, &result->err) && !result->err.code)
		start(conn, op, result);
	if (!result->err.code && op->forwards)
		virt_host_forwards(conn, op, &result->err);
	if (!result->err.code)
		virt_do_read(conn, op, result); /* as it runs now */
}
