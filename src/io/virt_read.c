/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libvirt shows of domains: state and reason by the tables of semantics §3, whose they are,
 * where their console and display are, whether an agent listens. These calls need no job on the
 * domain, so a hung QEMU does not hold them up.
 *
 * A list asks, per domain, for its state and for one more thing: an active one's XML, which has the
 * console and our metadata, or an inactive one's metadata.
 */
#include <string.h>

#include "core/domxml.h"
#include "io/virt_private.h"
#include "io/virt_xml.h"

/* Of a list, domains that are gone before they were looked at are left out. */
#define LIST_FLAGS (VIR_CONNECT_LIST_DOMAINS_ACTIVE | VIR_CONNECT_LIST_DOMAINS_INACTIVE)

/* clang-format off */
static const enum domain_state states[] = {
	[VIR_DOMAIN_NOSTATE]     = DOMAIN_NOSTATE,
	[VIR_DOMAIN_RUNNING]     = DOMAIN_RUNNING,
	[VIR_DOMAIN_BLOCKED]     = DOMAIN_BLOCKED,
	[VIR_DOMAIN_PAUSED]      = DOMAIN_PAUSED,
	[VIR_DOMAIN_SHUTDOWN]    = DOMAIN_SHUTTING_DOWN,
	[VIR_DOMAIN_SHUTOFF]     = DOMAIN_SHUTOFF,
	[VIR_DOMAIN_CRASHED]     = DOMAIN_CRASHED,
	[VIR_DOMAIN_PMSUSPENDED] = DOMAIN_PMSUSPENDED,
};

static const enum domain_reason running_reasons[] = { /* of post-copy, that not all of its memory is here */
	[VIR_DOMAIN_RUNNING_POSTCOPY]        = REASON_POSTCOPY,
	[VIR_DOMAIN_RUNNING_POSTCOPY_FAILED] = REASON_POSTCOPY_FAILED,
};

static const enum domain_reason paused_reasons[] = {
	[VIR_DOMAIN_PAUSED_UNKNOWN]         = REASON_UNKNOWN,
	[VIR_DOMAIN_PAUSED_USER]            = REASON_USER,
	[VIR_DOMAIN_PAUSED_MIGRATION]       = REASON_MIGRATION,
	[VIR_DOMAIN_PAUSED_SAVE]            = REASON_SAVE,
	[VIR_DOMAIN_PAUSED_DUMP]            = REASON_DUMP,
	[VIR_DOMAIN_PAUSED_IOERROR]         = REASON_IOERROR,
	[VIR_DOMAIN_PAUSED_WATCHDOG]        = REASON_WATCHDOG,
	[VIR_DOMAIN_PAUSED_FROM_SNAPSHOT]   = REASON_FROM_SNAPSHOT,
	[VIR_DOMAIN_PAUSED_SHUTTING_DOWN]   = REASON_SHUTTING_DOWN,
	[VIR_DOMAIN_PAUSED_SNAPSHOT]        = REASON_SNAPSHOT,
	[VIR_DOMAIN_PAUSED_CRASHED]         = REASON_CRASHED,
	[VIR_DOMAIN_PAUSED_STARTING_UP]     = REASON_STARTING_UP,
	[VIR_DOMAIN_PAUSED_POSTCOPY]        = REASON_POSTCOPY,
	[VIR_DOMAIN_PAUSED_POSTCOPY_FAILED] = REASON_POSTCOPY_FAILED,
	[14 /* API_ERROR, libvirt 9.2 */]   = REASON_API_ERROR,
};

static const enum domain_reason shutdown_reasons[] = {
	[VIR_DOMAIN_SHUTDOWN_UNKNOWN] = REASON_UNKNOWN,
	[VIR_DOMAIN_SHUTDOWN_USER]    = REASON_USER,
};

static const enum domain_reason shutoff_reasons[] = {
	[VIR_DOMAIN_SHUTOFF_UNKNOWN]       = REASON_UNKNOWN,
	[VIR_DOMAIN_SHUTOFF_SHUTDOWN]      = REASON_SHUTDOWN,
	[VIR_DOMAIN_SHUTOFF_DESTROYED]     = REASON_DESTROYED,
	[VIR_DOMAIN_SHUTOFF_CRASHED]       = REASON_CRASHED,
	[VIR_DOMAIN_SHUTOFF_MIGRATED]      = REASON_MIGRATED,
	[VIR_DOMAIN_SHUTOFF_SAVED]         = REASON_SAVED,
	[VIR_DOMAIN_SHUTOFF_FAILED]        = REASON_FAILED,
	[VIR_DOMAIN_SHUTOFF_FROM_SNAPSHOT] = REASON_FROM_SNAPSHOT,
	[VIR_DOMAIN_SHUTOFF_DAEMON]        = REASON_DAEMON,
};

static const enum domain_reason crashed_reasons[] = {
	[VIR_DOMAIN_CRASHED_UNKNOWN]  = REASON_UNKNOWN,
	[VIR_DOMAIN_CRASHED_PANICKED] = REASON_PANICKED,
};

static const enum domain_reason stopped_details[] = {
	[VIR_DOMAIN_EVENT_STOPPED_SHUTDOWN]      = REASON_SHUTDOWN,
	[VIR_DOMAIN_EVENT_STOPPED_DESTROYED]     = REASON_DESTROYED,
	[VIR_DOMAIN_EVENT_STOPPED_CRASHED]       = REASON_CRASHED,
	[VIR_DOMAIN_EVENT_STOPPED_MIGRATED]      = REASON_MIGRATED,
	[VIR_DOMAIN_EVENT_STOPPED_SAVED]         = REASON_SAVED,
	[VIR_DOMAIN_EVENT_STOPPED_FAILED]        = REASON_FAILED,
	[VIR_DOMAIN_EVENT_STOPPED_FROM_SNAPSHOT] = REASON_FROM_SNAPSHOT,
};

/* Of the other states every reason reads as unknown. */
static const struct { const enum domain_reason *list; int n; } reasons[] = {
	[VIR_DOMAIN_RUNNING]  = { running_reasons,  ARRAY_SIZE(running_reasons) },
	[VIR_DOMAIN_PAUSED]   = { paused_reasons,   ARRAY_SIZE(paused_reasons) },
	[VIR_DOMAIN_SHUTDOWN] = { shutdown_reasons, ARRAY_SIZE(shutdown_reasons) },
	[VIR_DOMAIN_SHUTOFF]  = { shutoff_reasons,  ARRAY_SIZE(shutoff_reasons) },
	[VIR_DOMAIN_CRASHED]  = { crashed_reasons,  ARRAY_SIZE(crashed_reasons) },
};
/* clang-format on */

enum domain_state virt_state(int state)
{
	return state >= 0 && state < (int)ARRAY_SIZE(states) ? states[state] : DOMAIN_NOSTATE;
}

enum domain_reason virt_reason(int state, int reason)
{
	if (state < 0 || state >= (int)ARRAY_SIZE(reasons))
		return REASON_UNKNOWN;
	return reason >= 0 && reason < reasons[state].n ? reasons[state].list[reason]
							: REASON_UNKNOWN;
}

enum domain_reason virt_stopped_reason(int detail)
{
	return detail >= 0 && detail < (int)ARRAY_SIZE(stopped_details) ? stopped_details[detail]
									: REASON_UNKNOWN;
}

/* ---- one domain ------------------------------------------------------------------------------ */

static enum found failed(struct err *err, const char *what, const char *which)
{
	if (virt_error_last() == VIR_ERR_NO_DOMAIN)
		return FOUND_NONE;
	virt_error(err, "%s '%s'", what, which);
	return FOUND_ERROR;
}

enum found virt_find(virConnectPtr conn, const char *uuid, virDomainPtr *ret, struct err *err)
{
	virDomainPtr dom = virDomainLookupByUUIDString(conn, uuid);

	if (!dom)
		return failed(err, "look for domain", uuid);
	*ret = dom;
	return FOUND_ONE;
}

static bool is_active(virDomainPtr dom)
{
	return virDomainGetID(dom) != (unsigned)-1;
}

enum found virt_owner(virDomainPtr dom, char ret_owner[UID_SIZE], struct err *err)
{
	unsigned flags = is_active(dom) ? VIR_DOMAIN_AFFECT_LIVE : VIR_DOMAIN_AFFECT_CONFIG;
	const char *name = virDomainGetName(dom);
	char *element =
		virDomainGetMetadata(dom, VIR_DOMAIN_METADATA_ELEMENT, DOMAIN_METADATA_URI, flags);

	ret_owner[0] = '\0';
	if (!element && virt_error_last() != VIR_ERR_NO_DOMAIN_METADATA)
		return failed(err, "read the metadata of domain", name);
	if (element)
		domain_metadata_parse(element, ret_owner, NULL);
	free(element);
	return FOUND_ONE;
}

static enum found live_xml(virDomainPtr dom, struct domain_info *info, struct err *err)
{
	char *xml = virDomainGetXMLDesc(dom, 0);

	if (!xml)
		return failed(err, "read the XML of domain", info->name);
	domain_metadata_parse(xml, info->owner, NULL);
	info->held = domain_metadata_held(xml);
	virt_xml_live(xml, info);
	free(xml);
	return FOUND_ONE;
}

enum found virt_info(virDomainPtr dom, struct domain_info *ret, struct err *err)
{
	struct domain_info info = { .name = xstrdup(virDomainGetName(dom)),
		.active = is_active(dom) };
	enum found found;
	int state, reason;

	virDomainGetUUIDString(dom, info.uuid);
	if (virDomainGetState(dom, &state, &reason, 0) < 0) {
		found = failed(err, "read the state of domain", info.name);
	} else {
		info.state = virt_state(state);
		info.reason = virt_reason(state, reason);
		found = info.active ? live_xml(dom, &info, err) : virt_owner(dom, info.owner, err);
	}
	if (found == FOUND_ONE)
		*ret = info;
	else
		domain_info_done(&info);
	return found;
}

static void look_for_job(virDomainPtr dom, const struct op *op, struct domain_info *info)
{
	info->migrating = info->active && op->jobs && strstr(op->jobs, info->uuid) &&
		virt_is_migrating(dom);
}

/* ---- the ops --------------------------------------------------------------------------------- */

void virt_do_read(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr dom;

	if (virt_find(conn, op->uuid, &dom, &result->err) != FOUND_ONE)
		return;
	result->domains = xcalloc(1, sizeof(*result->domains));
	if (virt_info(dom, result->domains, &result->err) == FOUND_ONE) {
		result->n_domains = 1;
		look_for_job(dom, op, result->domains);
		virt_network_addresses(dom, result->domains);
	}
	virDomainFree(dom);
}

void virt_do_list(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr *list;
	int n = virConnectListAllDomains(conn, &list, LIST_FLAGS);

	if (n < 0) {
		virt_error(&result->err, "list the domains");
		return;
	}
	result->domains = xcalloc((size_t)n + 1, sizeof(*result->domains));
	for (int i = 0; i < n; i++) {
		struct domain_info *info = &result->domains[result->n_domains];

		if (!result->err.code && virt_info(list[i], info, &result->err) == FOUND_ONE) {
			free(take(&info->nics)); /* their addresses would take a call for each */
			info->n_nics = 0;
			look_for_job(list[i], op, info);
			result->n_domains++;
		}
		virDomainFree(list[i]);
	}
	free(list);
}
