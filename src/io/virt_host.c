/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of this host decides whether a guest of another one can go on here: versions, machine types,
 * firmware, the CPU, free space. Workers. What libvirt cannot tell is not known, which is no error.
 */
#include <string.h>
#include <sys/statvfs.h>

#include <libxml/parser.h>

#include "core/host_report.h"
#include "core/xml_read.h"
#include "io/virt_firmware.h"
#include "io/virt_private.h"

static void add_machine(struct buf *list, xmlNodePtr machine)
{
	autofree char *canonical = xml_get(machine, "canonical");
	xmlChar *name = xmlNodeGetContent(machine);

	buf_printf(list, "%s=%s,", (const char *)name, canonical ? canonical : (const char *)name);
	xmlFree(name);
}

/* Of the host's own architecture, which its first guest element is not for sure; names
 * are unique over all. */
static char *machines_of(const char *capabilities)
{
	xmlDocPtr doc = xmlReadMemory(capabilities, (int)strlen(capabilities), NULL, NULL,
		XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	xmlNodePtr guest = doc ? xml_child(xmlDocGetRootElement(doc), "guest") : NULL;
	struct buf list = { 0 };

	for (; guest; guest = xml_next(guest->next, "guest")) {
		xmlNodePtr m = xml_child(xml_child(guest, "arch"), "machine");

		for (; m; m = xml_next(m->next, "machine"))
			add_machine(&list, m);
	}
	xmlFreeDoc(doc);
	return list.data;
}

static xmlNodePtr host_model(xmlNodePtr capabilities)
{
	xmlNodePtr mode = xml_child(xml_child(capabilities, "cpu"), "mode");

	for (; mode; mode = xml_next(mode->next, "mode")) {
		autofree char *name = xml_get(mode, "name");

		if (streq(name, "host-model") && xml_child(mode, "model"))
			return mode;
	}
	return NULL;
}

/* Under the name that libvirt has for a CPU; owned by the caller. */
static char *as_cpu(xmlNodePtr mode)
{
	xmlBufferPtr text = xmlBufferCreate();
	char *copy;

	xmlNodeSetName(mode, BAD_CAST "cpu");
	while (mode->properties)
		xmlRemoveProp(mode->properties);
	xmlNodeDump(text, mode->doc, mode, 0, 0);
	copy = xstrdup((const char *)xmlBufferContent(text));
	xmlBufferFree(text);
	return copy;
}

/* The host's model as a guest would have it; libvirt's, or NULL. */
static char *cpu_of(virConnectPtr conn, const char *type)
{
	char *all = virConnectGetDomainCapabilities(conn, NULL, NULL, NULL, type, 0);
	xmlDocPtr doc = all ? xmlReadMemory(all, (int)strlen(all), NULL, NULL,
				      XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING)
			    : NULL;
	xmlNodePtr mode = doc ? host_model(xmlDocGetRootElement(doc)) : NULL;
	autofree char *model = mode ? as_cpu(mode) : NULL;
	const char *list[] = { model };

	xmlFreeDoc(doc);
	free(all);
	return model ? virConnectBaselineHypervisorCPU(conn, NULL, NULL, NULL, type, list, 1, 0)
		     : NULL;
}

/* In libvirt's words, which name what is missing. */
static char *misfit_of(virConnectPtr conn, const char *type, const char *cpu)
{
	int fits = virConnectCompareHypervisorCPU(conn, NULL, NULL, NULL, type, cpu,
		VIR_CONNECT_COMPARE_CPU_FAIL_INCOMPATIBLE);
	struct err err;

	if (fits == VIR_CPU_COMPARE_IDENTICAL || fits == VIR_CPU_COMPARE_SUPERSET)
		return NULL;
	if (fits == VIR_CPU_COMPARE_INCOMPATIBLE)
		return xstrdup("it lacks features");
	if (virt_error_last() != VIR_ERR_CPU_INCOMPATIBLE)
		return NULL;
	virt_error(&err, "compare CPUs");
	return xstrdup(err.msg);
}

static int64_t space_in(const char *folder)
{
	struct statvfs fs;

	if (!folder || statvfs(folder, &fs) < 0)
		return -1;
	return (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
}

void virt_do_compare(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	const char *type = op->question ? op->question : "qemu";
	char *capabilities = virConnectGetCapabilities(conn);
	struct host_report facts = { .space = space_in(op->directory) };
	unsigned long version = 0;

	if (virConnectGetLibVersion(conn, &version) == 0)
		facts.libvirt = (long)version;
	if (virConnectGetVersion(conn, &version) == 0)
		facts.qemu = (long)version;
	facts.machines = capabilities ? machines_of(capabilities) : NULL;
	facts.cpu = cpu_of(conn, type);
	facts.firmwares = virt_firmwares();
	facts.misfit = op->xml ? misfit_of(conn, type, op->xml) : NULL;
	result->text = host_report_write(&facts);
	host_report_done(&facts);
	free(capabilities);
}
