/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes what a VM kept from run to run. Where libvirt keeps a TPM is its own affair, so it is
 * asked to: a domain of the VM's UUID, which was never started, is defined and undefined along with
 * its TPM. A domain that is there and not such a one is left alone.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/domxml.h"
#include "io/virt_private.h"

static virDomainPtr define(virConnectPtr conn, const struct op *op, struct err *err)
{
	virDomainPtr dom = virDomainDefineXML(conn, op->xml);

	if (!dom)
		virt_error(err, "define domain '%s' in order to remove what it kept", op->domain);
	return dom;
}

/* The one to be undefined; NULL: err says why there is none. */
static virDomainPtr find_or_define(virConnectPtr conn, const struct op *op, struct err *err)
{
	virDomainPtr dom;

	switch (virt_find(conn, op->uuid, &dom, err)) {
	case FOUND_ERROR:
		return NULL;
	case FOUND_NONE:
		return define(conn, op, err);
	case FOUND_ONE:
		break;
	}
	if (!virt_check_owner(dom, op, err))
		return dom;
	virDomainFree(dom);
	return NULL;
}

static void undefine(virDomainPtr dom, const struct op *op, struct err *err)
{
	if (virDomainUndefineFlags(dom, VIR_DOMAIN_UNDEFINE_TPM) == 0)
		return;
	if (virt_error_last() == VIR_ERR_INVALID_ARG && virDomainUndefine(dom) == 0)
		return; /* the test driver has no TPMs, and takes no flags */
	virt_error(err, "remove what domain '%s' kept", op->domain);
}

static void remove_folder(const struct op *op, struct err *err)
{
	autofree char *nvram = xasprintf("%s/" DOMAIN_NVRAM_FILE, op->kept);

	if ((unlink(nvram) && errno != ENOENT) || (rmdir(op->kept) && errno != ENOENT))
		err_set(err, ERR_IO, "remove the folder '%s': %s", op->kept, strerror(errno));
}

void virt_do_purge(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr dom = find_or_define(conn, op, &result->err);

	if (dom) {
		undefine(dom, op, &result->err);
		virDomainFree(dom);
	}
	if (!result->err.code)
		remove_folder(op, &result->err);
}
