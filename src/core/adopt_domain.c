/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A domain's XML but for its devices: identity, size, firmware, CPU, clock, what happens at its
 * ends. Each element stands in a table; what a manifest says is set, what libvirt fills in by
 * itself is passed over, all else is a loss.
 */
#include "core/adopt_private.h"

#include <string.h>

#include "core/names.h"
#include "core/schema.h"

#define CPU_DEFAULT "qemu64" /* QEMU's own, of a domain that names none */

/* ---- size ------------------------------------------------------------------------------------ */

/* Bytes of <memory unit='KiB'>, by libvirt's units. */
static int64_t bytes_of(xmlNodePtr element)
{
	static const struct {
		const char *unit;
		int64_t factor;
	} units[] = { { "b", 1 }, { "bytes", 1 }, { "KB", 1000 }, { "k", 1 << 10 },
		{ "KiB", 1 << 10 }, { "MB", 1000000 }, { "M", 1 << 20 }, { "MiB", 1 << 20 },
		{ "GB", 1000000000 }, { "G", 1 << 30 }, { "GiB", 1 << 30 },
		{ "TB", INT64_C(1000000000000) }, { "T", INT64_C(1) << 40 },
		{ "TiB", INT64_C(1) << 40 } };
	autofree char *unit = xml_get(element, "unit"), *text = xml_text(element);
	int64_t n = text ? strtoll(text, NULL, 10) : 0;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (streq(unit ? unit : "KiB", units[i].unit))
			return n > 0 && n < INT64_MAX / units[i].factor ? n * units[i].factor : 0;
	return 0;
}

static char *quantity_of(int64_t bytes)
{
	if (bytes % (1 << 20) == 0)
		return xasprintf("%lldMi", (long long)(bytes >> 20));
	if (bytes % (1 << 10) == 0)
		return xasprintf("%lldKi", (long long)(bytes >> 10));
	return xasprintf("%lld", (long long)bytes);
}

static void take_memory(struct adopting *a, xmlNodePtr element)
{
	autofree char *text = quantity_of(a->memory = bytes_of(element));

	set_text(a->spec, "domain.memory.guest", text);
}

static void take_current_memory(struct adopting *a, xmlNodePtr element)
{
	if (bytes_of(element) != a->memory)
		lose(a, element, "the guest has all of its memory from the start on");
}

static void take_vcpu(struct adopting *a, xmlNodePtr element)
{
	autofree char *text = xml_text(element), *set = xml_get(element, "cpuset");

	a->vcpus = text ? strtoll(text, NULL, 10) : 1;
	if (set || xml_number(element, "current", a->vcpus) != a->vcpus)
		lose(a, element, "all CPUs are there from the start on, on any of the host's");
}

/* ---- cpu ------------------------------------------------------------------------------------- */

static void take_topology(struct adopting *a, xmlNodePtr element)
{
	int64_t dies = xml_number(element, "dies", 1) * xml_number(element, "clusters", 1);

	a->topology = true;
	set_int(a->spec, "domain.cpu.sockets", xml_number(element, "sockets", 1) * dies);
	set_int(a->spec, "domain.cpu.cores", xml_number(element, "cores", 1));
	set_int(a->spec, "domain.cpu.threads", xml_number(element, "threads", 1));
	if (dies != 1)
		lose(a, element, "dies and clusters become sockets");
}

static void take_model(struct adopting *a, xmlNodePtr element)
{
	autofree char *text = xml_text(element);

	if (!text || !is_cpu_model(text))
		return;
	a->cpu_model = true;
	set_text(a->spec, "domain.cpu.model", text);
}

static const struct element cpu_elements[] = {
	{ "model", take_model },
	{ "topology", take_topology },
};

static void take_cpu(struct adopting *a, xmlNodePtr element)
{
	autofree char *mode = xml_get(element, "mode");
	const char *model = streq(mode, "maximum") ? "host-passthrough" : mode;

	XML_EACH(a, element, cpu_elements);
	if (model && !streq(model, "custom")) {
		a->cpu_model = true;
		set_text(a->spec, "domain.cpu.model", model);
	}
}

/* ---- os -------------------------------------------------------------------------------------- */

static void take_type(struct adopting *a, xmlNodePtr element)
{
	autofree char *arch = xml_get(element, "arch"), *machine = xml_get(element, "machine");
	autofree char *type = xml_text(element);

	if (!streq(type, "hvm") || (arch && !streq(arch, "x86_64")))
		texts_add(&a->out->reasons,
			"it is of type %s and architecture %s; hvm and x86_64 are "
			"possible",
			type ? type : "unknown", arch ? arch : "unknown");
	if (machine && is_machine_type(machine))
		set_text(a->spec, "domain.machine.type", machine);
	else
		lose(a, element,
			"the machine type becomes " DEFAULT_MACHINE
			", which is other hardware to the guest");
}

static void take_loader(struct adopting *a, xmlNodePtr element)
{
	a->secure |= xml_is(element, "secure", "yes");
	if (!xml_is(element, "type", "pflash")) {
		lose(a, element, LOST_UNKNOWN);
		return;
	}
	a->efi = true;
	free(a->loader);
	a->loader = xml_text(element);
}

static void take_nvram(struct adopting *a, xmlNodePtr element)
{
	free(a->nvram);
	a->nvram = xml_text(element);
}

static void take_kernel(struct adopting *a, xmlNodePtr element)
{
	free(a->kernel);
	a->kernel = xml_text(element);
}

static void take_initrd(struct adopting *a, xmlNodePtr element)
{
	free(a->initrd);
	a->initrd = xml_text(element);
}

static void take_cmdline(struct adopting *a, xmlNodePtr element)
{
	free(a->cmdline);
	a->cmdline = xml_text(element);
}

static void take_boot(struct adopting *a, xmlNodePtr element)
{
	if (a->n_boot < BOOT_DEVICES_MAX)
		a->boot[a->n_boot++] = xml_get(element, "dev");
}

static void take_bootmenu(struct adopting *a, xmlNodePtr element)
{
	if (xml_is(element, "enable", "yes"))
		lose(a, element, LOST_UNKNOWN);
}

static void take_firmware(struct adopting *a, xmlNodePtr element)
{
	xmlNodePtr feature = xml_child(element, "feature");

	for (; feature; feature = xml_next(feature->next, "feature"))
		a->secure |= xml_is(feature, "name", "secure-boot") &&
			xml_is(feature, "enabled", "yes");
}

static const struct element os_elements[] = {
	{ "type", take_type }, { "firmware", take_firmware }, { "loader", take_loader },
	{ "nvram", take_nvram }, { "kernel", take_kernel }, { "initrd", take_initrd },
	{ "cmdline", take_cmdline }, { "boot", take_boot }, { "bootmenu", take_bootmenu },
	{ "smbios", NULL }, /* by <sysinfo> */
};

static void take_os(struct adopting *a, xmlNodePtr element)
{
	/* Then libvirt wrote the loader's path itself. */
	bool chosen = xml_is(element, "firmware", "efi");

	XML_EACH(a, element, os_elements);
	a->efi |= chosen;
	if (!a->efi)
		return;
	set_bool(a->spec, "domain.firmware.bootloader.efi.secureBoot", a->secure);
	if (a->secure)
		set_bool(a->spec, "domain.features.smm.enabled", true);
	if (a->loader && !chosen)
		texts_add(&a->out->losses, "<loader> '%s': libvirt chooses the firmware by itself",
			a->loader);
	texts_add(&a->out->losses,
		"<nvram>%s%s%s: the next start begins with new EFI variables; what "
		"is there stays on disk",
		a->nvram ? " '" : "", a->nvram ? a->nvram : "", a->nvram ? "'" : "");
}

/* ---- kernelBoot ------------------------------------------------------------------------------ */

bool adopt_check_root(struct adopting *a, const char *path, const char *const *roots,
	const char *setting)
{
	const char *slash = strrchr(path, '/');
	autofree char *folder = xstrndup(path, slash > path ? (size_t)(slash - path) : 1);

	if (path_is_below(path, roots))
		return true;
	texts_add(&a->out->reasons,
		"'%s' lies in no folder that this node allows: add %s to %s in "
		"vmagent.yaml, and restart vmagent",
		path, folder, setting);
	return false;
}

/* The folder that both lie in, without its slash; "" when that is the root. */
static char *common_folder(const char *one, const char *two)
{
	size_t n = 0, slash = 0;

	if (!two)
		return xstrndup(one, (size_t)(strrchr(one, '/') - one));
	for (; one[n] && one[n] == two[n]; n++)
		if (one[n] == '/')
			slash = n;
	return xstrndup(one, slash);
}

static void set_kernel_boot(struct adopting *a)
{
	const char *first = a->kernel ? a->kernel : a->initrd;
	const char *second = a->kernel ? a->initrd : NULL;
	autofree char *folder = NULL;

	if (!first)
		return;
	if (!is_clean_path(first) || (second && !is_clean_path(second)) ||
		!*(folder = common_folder(first, second))) {
		texts_add(&a->out->losses,
			"<kernel> '%s': kernel and initrd must lie in one folder below the root",
			first);
		return;
	}
	if (a->wish->policy->image_roots)
		adopt_check_root(a, folder, a->wish->policy->image_roots, "imageRoots");
	set_text(a->spec, "domain.firmware.kernelBoot.container.image", folder);
	set_text(a->spec, "domain.firmware.kernelBoot.container.kernelPath",
		a->kernel ? a->kernel + strlen(folder) : NULL);
	set_text(a->spec, "domain.firmware.kernelBoot.container.initrdPath",
		a->initrd ? a->initrd + strlen(folder) : NULL);
	if (a->kernel)
		set_text(a->spec, "domain.firmware.kernelBoot.kernelArgs", a->cmdline);
}

/* ---- sysinfo, features, clock, ends ---------------------------------------------------------- */

static void take_system(struct adopting *a, xmlNodePtr system)
{
	xmlNodePtr entry = xml_child(system, "entry");

	for (; entry; entry = xml_next(entry->next, "entry")) {
		autofree char *text = xml_text(entry);

		if (xml_is(entry, "name", "serial") && text && is_firmware_serial(text))
			set_text(a->spec, "domain.firmware.serial", text);
		else if (!xml_is(entry, "name", "uuid"))
			lose(a, entry, "the guest's SMBIOS will say KubeVirt");
	}
}

static const struct element sysinfo_elements[] = { { "system", take_system } };

static void take_sysinfo(struct adopting *a, xmlNodePtr element)
{
	if (!xml_is(element, "type", "smbios")) {
		lose(a, element, LOST_UNKNOWN);
		return;
	}
	a->smbios = true;
	XML_EACH(a, element, sysinfo_elements);
}

static void take_acpi(struct adopting *a, xmlNodePtr element)
{
	(void)element;
	a->acpi = true;
}

/* It comes with secure boot, and without that makes no difference to a guest. */
static const struct element feature_elements[] = {
	{ "acpi", take_acpi },
	{ "apic", NULL },
	{ "pae", NULL },
	{ "smm", NULL },
};

static void take_features(struct adopting *a, xmlNodePtr element)
{
	XML_EACH(a, element, feature_elements);
}

static void take_clock(struct adopting *a, xmlNodePtr element)
{
	if (!xml_is(element, "offset", "utc"))
		lose(a, element, "the guest's clock begins at UTC");
	XML_EACH(a, element, ((const struct element[]){ { "", NULL } }));
}

static void take_end(struct adopting *a, xmlNodePtr element)
{
	static const char *const kept[][2] = { { "on_poweroff", "destroy" },
		{ "on_reboot", "restart" }, { "on_crash", "destroy" } };
	autofree char *text = xml_text(element);

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		if (streq((const char *)element->name, kept[i][0]) && !streq(text, kept[i][1]))
			texts_add(&a->out->losses, "<%s> '%s': becomes '%s'", kept[i][0],
				text ? text : "", kept[i][1]);
	}
}

static void take_metadata(struct adopting *a, xmlNodePtr element)
{
	for (xmlNodePtr at = element->children; at; at = at->next)
		if (at->type == XML_ELEMENT_NODE)
			lose(a, at, "metadata of others are not kept");
}

static void take_resource(struct adopting *a, xmlNodePtr element)
{
	autofree char *partition = xml_text(xml_child(element, "partition"));

	if (!streq(partition, "/machine"))
		lose(a, element, LOST_UNKNOWN);
}

static void take_seclabel(struct adopting *a, xmlNodePtr element)
{
	if (!xml_is(element, "type", "dynamic"))
		lose(a, element, "libvirt labels it as it does by default");
}

static void take_devices(struct adopting *a, xmlNodePtr element)
{
	adopt_devices(a, element);
}

static const struct element domain_elements[] = {
	{ "name", NULL },
	{ "uuid", NULL },
	{ "metadata", take_metadata },
	{ "memory", take_memory },
	{ "currentMemory", take_current_memory },
	{ "vcpu", take_vcpu },
	{ "os", take_os },
	{ "sysinfo", take_sysinfo },
	{ "features", take_features },
	{ "cpu", take_cpu },
	{ "clock", take_clock },
	{ "on_poweroff", take_end },
	{ "on_reboot", take_end },
	{ "on_crash", take_end },
	{ "resource", take_resource },
	{ "seclabel", take_seclabel },
	{ "devices", take_devices },
};

/* What is absent in the XML is said in the manifest where its default is another. */
static void set_absent(struct adopting *a)
{
	if (!a->topology) {
		set_int(a->spec, "domain.cpu.sockets", MAX(a->vcpus, 1));
		set_int(a->spec, "domain.cpu.cores", 1);
		set_int(a->spec, "domain.cpu.threads", 1);
	}
	if (!a->cpu_model)
		set_text(a->spec, "domain.cpu.model", CPU_DEFAULT);
	if (!a->acpi)
		set_bool(a->spec, "domain.features.acpi.enabled", false);
	if (!node_at(a->spec, "domain.devices.interfaces"))
		set_bool(a->spec, "domain.devices.autoattachPodInterface", false);
	if (!a->serial)
		set_bool(a->spec, "domain.devices.autoattachSerialConsole", false);
	if (!a->display)
		set_bool(a->spec, "domain.devices.autoattachGraphicsDevice", false);
	if (!a->smbios)
		texts_add(&a->out->losses,
			"SMBIOS: the guest's will say manufacturer KubeVirt, and its "
			"UUID as the serial number");
}

void adopt_domain(struct adopting *a, xmlNodePtr root)
{
	XML_EACH(a, root, domain_elements);
	set_kernel_boot(a);
	adopt_boot_order(a);
	set_absent(a);
}
