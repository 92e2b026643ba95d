/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a domain needs of its host beside QEMU itself, said in words where it is missing: libvirt's
 * own are of options and schemas. A table: where the domain says it, where the host's capabilities
 * do, or which file it takes.
 */
#include "io/virt_needs.h"

#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <string.h>
#include <unistd.h>

struct need {
	const char *domain; /* XPath: the domain wants it */
	const char *host;   /* XPath: the host has it; NULL: file is what counts */
	const char *file;
	const char *words;
};

#define OS                "/domainCapabilities/os"
#define LAUNCH            "/domainCapabilities/features/launchSecurity/enum[@name='sectype']"
#define DEVICES           "/domainCapabilities/devices"
#define ENUM(name, value) "/enum[@name='" name "']/value[.='" value "']"

/* clang-format off */
static const struct need needs[] = {
	{ "/domain/os[@firmware='efi']", OS ENUM("firmware", "efi"), NULL,
		"it has no EFI firmware: install the package ovmf" },
	{ "/domain/os/firmware/feature[@name='secure-boot'][@enabled='yes']",
		OS "/loader" ENUM("secure", "yes"), NULL,
		"it has no EFI firmware with secure boot: install the package ovmf, or set "
		"bootloader.efi.secureBoot: false" },
	{ "/domain/devices/tpm", DEVICES "/tpm[@supported='yes']" ENUM("backendModel", "emulator"), NULL,
		"it cannot make a TPM: install the packages swtpm and swtpm-tools" },
	{ "/domain/launchSecurity[@type='sev']", "/domainCapabilities/features/sev[@supported='yes']", NULL,
		"it cannot encrypt a guest's memory by AMD's SEV" },
	{ "/domain/launchSecurity[@type='sev-snp']", LAUNCH "/value[.='sev-snp']", NULL,
		"it cannot encrypt a guest's memory by AMD's SEV-SNP" },
	{ "/domain/launchSecurity[@type='tdx']", LAUNCH "/value[.='tdx']", NULL,
		"it cannot encrypt a guest's memory by Intel's TDX" },
	{ "/domain/devices/disk/source/reservations", NULL, "/usr/bin/qemu-pr-helper",
		"it has no qemu-pr-helper, which persistent reservations need: install the package "
		"qemu-system-common" },
};
/* clang-format on */

static xmlDocPtr parse(const char *xml)
{
	return xml ? xmlReadMemory(xml, (int)strlen(xml), NULL, NULL,
			     XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING)
		   : NULL;
}

static bool has(xmlDocPtr doc, const char *path)
{
	xmlXPathContextPtr context = xmlXPathNewContext(doc);
	xmlXPathObjectPtr found = xmlXPathEval(BAD_CAST path, context);
	bool is = found && found->nodesetval && found->nodesetval->nodeNr > 0;

	xmlXPathFreeObject(found);
	xmlXPathFreeContext(context);
	return is;
}

int virt_needs_check(const char *xml, const char *capabilities, struct err *err)
{
	xmlDocPtr domain = parse(xml), host = parse(capabilities);
	int rc = 0;

	for (size_t i = 0; domain && !rc && i < ARRAY_SIZE(needs); i++) {
		const struct need *need = &needs[i];
		bool there = need->host ? !host || has(host, need->host)
					: !access(need->file, F_OK);

		if (!there && has(domain, need->domain))
			rc = err_set(err, ERR_INVALID, "this host cannot run it: %s", need->words);
	}
	xmlFreeDoc(domain);
	xmlFreeDoc(host);
	return rc;
}
