/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a VM keeps from run to run beside its disks: the firmware's variables, in a file of the VM's
 * own folder, and its TPM's, which libvirt keeps in a place of its own under the domain's UUID
 * (before its version 10.10 it takes no other). A VMI without a VM keeps nothing. The variables of
 * a run that came from another host, and that are not kept, lie in the run's folder, so that they
 * go with it even if nothing came of it.
 */
#include "core/domxml_write.h"

char *domain_nvram(const struct vmi_spec *spec, const struct domain_context *context)
{
	if (spec->bootloader == BOOTLOADER_BIOS)
		return NULL;
	if (spec->efi_persistent && context->kept)
		return xasprintf("%s/" DOMAIN_NVRAM_FILE, context->kept);
	return context->firmware ? xasprintf("%s/" DOMAIN_NVRAM_FILE, context->directory) : NULL;
}

bool domain_is_kept(const struct vmi_spec *spec)
{
	return (spec->bootloader != BOOTLOADER_BIOS && spec->efi_persistent) ||
		spec->tpm == TPM_PERSISTENT;
}

void domain_tpm(xmlTextWriterPtr w, enum tpm tpm, bool kept)
{
	if (tpm == TPM_NONE)
		return;
	xml_open(w, "tpm");
	xml_attr(w, "model", tpm == TPM_PERSISTENT ? "tpm-crb" : "tpm-tis");
	xml_empty(w, "backend", "type", "emulator", "version", "2.0", "persistent_state",
		tpm == TPM_PERSISTENT && kept ? "yes" : NULL, NULL);
	xml_close(w);
}

char *domain_purge_xml(const char *uuid, const struct domain_context *context)
{
	struct xml_text text = xml_begin();
	autofree char *name = domain_name(context->ns, context->name);

	xml_open(text.w, "domain");
	xml_attr(text.w, "type", "qemu");
	xml_leaf(text.w, "name", name);
	xml_leaf(text.w, "uuid", uuid);
	domain_metadata(text.w, context);
	xml_bytes(text.w, "memory", 1 << 20);
	xml_open(text.w, "os");
	xml_leaf(text.w, "type", "hvm");
	xml_close(text.w);
	xml_open(text.w, "devices");
	domain_tpm(text.w, TPM_PERSISTENT, true);
	xml_close(text.w);
	xml_close(text.w);
	return xml_end(&text);
}
