/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done to a domain that is there: suspend, resume, reboot, reset, shutdown, destroy,
 * undefine. Each looks the domain up by its UUID and touches it only if our metadata in it name the
 * run that the op is for (design §4 "Identity").
 */
#include "io/virt_private.h"
#include "io/virt_xml.h"

int virt_check_owner(virDomainPtr dom, const struct op *op, struct err *err)
{
	const char *name = virDomainGetName(dom);
	char owner[UID_SIZE];

	switch (virt_owner(dom, owner, err)) {
	case FOUND_ERROR:
		return -err->code;
	case FOUND_NONE:
		return err_set(err, ERR_DOMAIN_GONE, "domain '%s' is gone", name);
	case FOUND_ONE:
		break;
	}
	if (!*owner)
		return err_set(err, ERR_CONFLICT, "domain '%s' was not made by vmagent", name);
	if (streq(owner, op->vmi_uid))
		return 0;
	return err_set(err, ERR_CONFLICT, "domain '%s' %s another VMI, %s", name,
		virDomainIsActive(dom) == 1 ? "runs for" : "is left from", owner);
}

/* No such domain or not running is what was wanted; else it must be ours. */
static bool has_to_end(virDomainPtr dom, const struct op *op, struct err *err)
{
	return virDomainIsActive(dom) != 0 && !virt_check_owner(dom, op, err);
}

/* The decision to kill has been made, so without VIR_DOMAIN_DESTROY_GRACEFUL, which may refuse. */
static void destroy(virDomainPtr dom, struct err *err)
{
	const char *name = virDomainGetName(dom);

	if (!virDomainDestroyFlags(dom, 0))
		return;
	virt_error(err, "destroy domain '%s'", name);
	if (virDomainIsActive(dom) == 0)
		*err = (struct err){ 0 }; /* it ended by itself */
}

void virt_do_destroy(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr dom;

	if (virt_find(conn, op->uuid, &dom, &result->err) != FOUND_ONE)
		return;
	if (has_to_end(dom, op, &result->err))
		destroy(dom, &result->err);
	if (result->err.code == ERR_DOMAIN_GONE)
		result->err = (struct err){ 0 };
	virDomainFree(dom);
}

/* The power button, never the agent: that is another op, for a hung one blocks (semantics §7.2). */
static void press_button(virDomainPtr dom, struct err *err)
{
	const char *name = virDomainGetName(dom);

	if (!virDomainShutdownFlags(dom, VIR_DOMAIN_SHUTDOWN_ACPI_POWER_BTN))
		return;
	/* The test driver has one way to shut down, and takes no flags. */
	if (virt_error_last() == VIR_ERR_INVALID_ARG && !virDomainShutdown(dom))
		return;
	virt_error(err, "shut down domain '%s'", name);
}

virDomainPtr virt_find_ours(virConnectPtr conn, const struct op *op, struct err *err)
{
	virDomainPtr dom;

	switch (virt_find(conn, op->uuid, &dom, err)) {
	case FOUND_ERROR:
		return NULL;
	case FOUND_NONE:
		err_set(err, ERR_DOMAIN_GONE, "domain '%s' is gone", op->domain);
		return NULL;
	case FOUND_ONE:
		break;
	}
	if (!virt_check_owner(dom, op, err))
		return dom;
	virDomainFree(dom);
	return NULL;
}

/* What only a domain of ours that is there can have done to it. */
static void with_ours(virConnectPtr conn, const struct op *op, struct op_result *result,
	void (*act)(virDomainPtr dom, struct err *err))
{
	virDomainPtr dom = virt_find_ours(conn, op, &result->err);

	if (!dom)
		return;
	act(dom, &result->err);
	virDomainFree(dom);
}

void virt_do_shutdown(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	with_ours(conn, op, result, press_button);
}

static void suspend(virDomainPtr dom, struct err *err)
{
	const char *name = virDomainGetName(dom);

	if (virDomainSuspend(dom) < 0)
		virt_error(err, "suspend domain '%s'", name);
}

void virt_do_suspend(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	with_ours(conn, op, result, suspend);
}

static void resume(virDomainPtr dom, struct err *err)
{
	const char *name = virDomainGetName(dom);

	if (virDomainResume(dom) < 0)
		virt_error(err, "resume domain '%s'", name);
}

void virt_do_resume(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	with_ours(conn, op, result, resume);
}

/* Its clock stands still until then: the rest comes after it. */
static void resume_arrived(virDomainPtr dom, struct err *err)
{
	resume(dom, err);
	if (!err->code)
		virt_network_arrived(dom);
}

void virt_do_migrate_resume(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	with_ours(conn, op, result, resume_arrived);
}

/* QEMU does so by itself when all of a guest has come, and at no other time. */
static void announce(virDomainPtr dom, struct err *err)
{
	free(virt_monitor(dom, "announce_self", err));
}

void virt_do_migrate_announce(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	with_ours(conn, op, result, announce);
}

/* The power button, after which libvirt resets the guest instead of ending its QEMU. */
static void reboot(virDomainPtr dom, struct err *err)
{
	const char *name = virDomainGetName(dom);

	if (virDomainReboot(dom, VIR_DOMAIN_REBOOT_ACPI_POWER_BTN) < 0)
		virt_error(err, "reboot domain '%s'", name);
}

void virt_do_reboot(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	with_ours(conn, op, result, reboot);
}

static void reset(virDomainPtr dom, struct err *err)
{
	const char *name = virDomainGetName(dom);

	if (virDomainReset(dom, 0) < 0)
		virt_error(err, "reset domain '%s'", name);
}

void virt_do_reset(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	with_ours(conn, op, result, reset);
}

/* The test driver has none of the things that these flags mean, and takes no flags. */
static int undefine_with_all(virDomainPtr dom, bool keep_nvram)
{
	unsigned flags = VIR_DOMAIN_UNDEFINE_MANAGED_SAVE | VIR_DOMAIN_UNDEFINE_SNAPSHOTS_METADATA |
		VIR_DOMAIN_UNDEFINE_CHECKPOINTS_METADATA |
		(keep_nvram ? VIR_DOMAIN_UNDEFINE_KEEP_NVRAM : VIR_DOMAIN_UNDEFINE_NVRAM);
	int rc = virDomainUndefineFlags(dom, flags);

	if (rc < 0 && virt_error_last() == VIR_ERR_INVALID_ARG)
		rc = virDomainUndefine(dom);
	return rc;
}

/* A QEMU that is alive, such as a panicked one, would live on unseen if its definition went. */
static void undefine(virDomainPtr dom, bool keep_nvram, struct err *err)
{
	const char *name = virDomainGetName(dom);
	char *xml = virDomainGetXMLDesc(dom, VIR_DOMAIN_XML_INACTIVE);
	struct domain_info info = { 0 };

	if (xml)
		virt_xml_live(xml, &info);
	free(xml);
	if (virDomainIsActive(dom) == 1)
		err_set(err, ERR_CONFLICT, "domain '%s' is still active", name);
	else if (undefine_with_all(dom, keep_nvram) < 0 && virt_error_last() != VIR_ERR_NO_DOMAIN)
		virt_error(err, "undefine domain '%s'", name);
	else
		virt_network_release(virDomainGetConnect(dom), &info);
	domain_info_done(&info);
}

void virt_do_undefine(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr dom;

	if (virt_find(conn, op->uuid, &dom, &result->err) != FOUND_ONE)
		return;
	if (!virt_check_owner(dom, op, &result->err))
		undefine(dom, op->keep_nvram, &result->err);
	if (result->err.code == ERR_DOMAIN_GONE)
		result->err = (struct err){ 0 };
	virDomainFree(dom);
}
