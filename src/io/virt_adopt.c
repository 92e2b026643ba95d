/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking over a domain that somebody else made: all that libvirt tells of it, our metadata put into
 * it, and a shut-off one's definition making room for ours. A domain with the metadata of another
 * run is never touched.
 */
#include <string.h>

#include "core/domxml.h"
#include "core/names.h"
#include "io/virt_private.h"

/* A driver that lacks the whole thing has none of it. */
static int count_or_none(int n, struct err *err, const char *what)
{
	if (n >= 0)
		return n;
	if (virt_error_last() == VIR_ERR_NO_SUPPORT)
		return 0;
	virt_error(err, "ask for %s", what);
	return 0;
}

static void look_closer(virDomainPtr dom, const struct domain_info *info,
	struct domain_detail *detail, struct err *err)
{
	int autostart = 0;

	detail->persistent = count_or_none(virDomainIsPersistent(dom), err, "persistence") > 0;
	if (detail->persistent)
		count_or_none(virDomainGetAutostart(dom, &autostart), err, "autostart");
	detail->autostart = autostart;
	detail->saved = count_or_none(virDomainHasManagedSaveImage(dom, 0), err,
				"a managed save image") > 0;
	detail->snapshots = (unsigned)count_or_none(virDomainSnapshotNum(dom, 0), err, "snapshots");
	detail->snapshots += (unsigned)count_or_none(virDomainListAllCheckpoints(dom, NULL, 0), err,
		"checkpoints");
	detail->config_xml = virDomainGetXMLDesc(dom, VIR_DOMAIN_XML_INACTIVE);
	if (info->active)
		detail->live_xml = virDomainGetXMLDesc(dom, 0);
	if (!detail->config_xml || (info->active && !detail->live_xml))
		virt_error(err, "read the XML of domain '%s'", info->name);
}

void virt_do_describe(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr dom = virDomainLookupByName(conn, op->domain);

	if (!dom && virt_error_last() == VIR_ERR_NO_DOMAIN && is_uuid(op->domain))
		dom = virDomainLookupByUUIDString(conn, op->domain);
	if (!dom) {
		if (virt_error_last() == VIR_ERR_NO_DOMAIN)
			err_set(&result->err, ERR_NOT_FOUND, "libvirt has no domain '%s'",
				op->domain);
		else
			virt_error(&result->err, "look for domain '%s'", op->domain);
		return;
	}
	result->domains = xcalloc(1, sizeof(*result->domains));
	result->detail = xcalloc(1, sizeof(*result->detail));
	if (virt_info(dom, result->domains, &result->err) == FOUND_ONE) {
		result->n_domains = 1;
		look_closer(dom, result->domains, result->detail, &result->err);
	} else if (!result->err.code) {
		err_set(&result->err, ERR_NOT_FOUND, "domain '%s' is gone", op->domain);
	}
	virDomainFree(dom);
}

/* ---- claim ----------------------------------------------------------------------------------- */

/* The metadata come last: a domain that has them is ours in full. */
static void mark(virDomainPtr dom, const struct op *op, struct err *err)
{
	const char *name = virDomainGetName(dom);
	bool active = virDomainIsActive(dom) == 1, persistent = virDomainIsPersistent(dom) == 1;
	unsigned flags = (active ? VIR_DOMAIN_AFFECT_LIVE : 0) |
		(persistent ? VIR_DOMAIN_AFFECT_CONFIG : 0);

	if (persistent && virDomainSetAutostart(dom, 0) < 0)
		virt_error(err, "turn off autostart of domain '%s'", name);
	else if (virDomainSetMetadata(dom, VIR_DOMAIN_METADATA_ELEMENT, op->xml,
			 DOMAIN_METADATA_KEY, DOMAIN_METADATA_URI, flags) < 0)
		virt_error(err, "write the metadata of domain '%s'", name);
}

void virt_do_claim(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	char owner[UID_SIZE];
	virDomainPtr dom;

	switch (virt_find(conn, op->uuid, &dom, &result->err)) {
	case FOUND_ERROR:
		return;
	case FOUND_NONE:
		err_set(&result->err, ERR_DOMAIN_GONE, "domain '%s' is gone", op->domain);
		return;
	case FOUND_ONE:
		break;
	}
	if (virt_owner(dom, owner, &result->err) == FOUND_ONE) {
		if (!*owner)
			mark(dom, op, &result->err);
		else if (!streq(owner, op->vmi_uid))
			err_set(&result->err, ERR_CONFLICT,
				"domain '%s' carries the metadata of another VMI, %s", op->domain,
				owner);
	}
	virDomainFree(dom);
}

/* ---- making room ----------------------------------------------------------------------------- */

/* Renamed before it is redefined, so that there is a definition at every moment. */
bool virt_make_room(virDomainPtr dom, const struct op *op, struct err *err)
{
	const char *name = virDomainGetName(dom);
	char owner[UID_SIZE];

	if (!op->replaces || virt_owner(dom, owner, err) != FOUND_ONE || *owner)
		return false;
	if (!streq(name, op->replaces) && !streq(name, op->domain))
		return false;
	if (virDomainIsActive(dom) == 1)
		err_set(err, ERR_CONFLICT,
			"domain '%s' runs already, and not by vmagent: shut it down with virsh, or delete "
			"the VM and adopt the domain again",
			name);
	else if (!streq(name, op->domain) && virDomainRename(dom, op->domain, 0) < 0)
		virt_error(err, "rename domain '%s' to '%s'", op->replaces, op->domain);
	return true;
}
