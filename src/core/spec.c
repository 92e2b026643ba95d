/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VMI's defaulted, checked spec tree to the typed spec that the domain XML is made of.
 *
 * Owns how texts become values. It must not fill defaults (defaults.c) nor judge (validate.c); what
 * is nevertheless not as expected is an error and never a guess.
 */
#include <inttypes.h>
#include <string.h>

#include "core/defaults.h"
#include "core/manifest.h"
#include "core/names.h"
#include "core/quantity.h"
#include "core/schema.h"
#include "core/spec_private.h"

bool spec_bool(const struct node *map, const char *path, bool absent)
{
	const struct node *node = node_at(map, path);

	return node && node->kind == NODE_BOOL ? streq(node->text, "true") : absent;
}

int spec_int(const struct node *map, const char *path, int64_t absent, int64_t *ret,
	struct err *err)
{
	const struct node *node = node_at(map, path);
	char *end;

	if (!node) {
		*ret = absent;
		return 0;
	}
	if (node->kind != NODE_NUMBER)
		return err_set(err, ERR_INVALID, "'%s' is not a number", path);
	*ret = strtoll(node->text, &end, 10);
	if (*end || *ret < 0 || *ret > INT32_MAX)
		return err_set(err, ERR_INVALID, "'%s' is out of range: %.64s", path, node->text);
	return 0;
}

int spec_quantity(const struct node *map, const char *path, int64_t *ret, struct err *err)
{
	const char *text = node_text(map, path);

	*ret = 0;
	if (!text || !quantity_parse(text, ret, err))
		return 0;
	return err_wrap(err, "'%s'", path);
}

int spec_unsigned(const struct node *map, const char *path, unsigned *ret, struct err *err)
{
	int64_t value;
	int rc = spec_int(map, path, 0, &value, err);

	if (!rc)
		*ret = (unsigned)value;
	return rc;
}

char *spec_copy(const struct node *map, const char *path)
{
	return xstrdup(node_text(map, path));
}

int spec_list(const struct node *spec, const char *path, const struct node **ret_list,
	size_t *ret_n, struct err *err)
{
	const struct node *list = node_at(spec, path);

	*ret_list = list;
	*ret_n = list ? list->n_children : 0;
	if (list && list->kind != NODE_LIST)
		return err_set(err, ERR_INVALID, "'%s' is not a list", path);
	if (*ret_n > SPEC_LIST_MAX)
		return err_set(err, ERR_INVALID, "'%s' has over %d elements", path, SPEC_LIST_MAX);
	return 0;
}

/* ---- firmware -------------------------------------------------------------------------------- */

static enum bootloader bootloader_of(const struct node *spec)
{
	const char *efi = "domain.firmware.bootloader.efi";

	if (!node_at(spec, efi))
		return BOOTLOADER_BIOS;
	return spec_bool(node_at(spec, efi), "secureBoot", true) ? BOOTLOADER_EFI_SECURE
								 : BOOTLOADER_EFI;
}

static void parse_kernel(const struct node *spec, struct kernel_boot *boot)
{
	const struct node *from = node_at(spec, "domain.firmware.kernelBoot");
	const char *image = node_text(from, "container.image");

	if (!image)
		return;
	boot->image = xstrdup(image_path(image));
	boot->kernel = spec_copy(from, "container.kernelPath");
	boot->initrd = spec_copy(from, "container.initrdPath");
	boot->args = spec_copy(from, "kernelArgs");
}

static struct chassis chassis_of(const struct node *spec)
{
	const struct node *from = node_at(spec, "domain.chassis");

	return (struct chassis){
		.manufacturer = spec_copy(from, "manufacturer"),
		.version = spec_copy(from, "version"),
		.serial = spec_copy(from, "serial"),
		.asset = spec_copy(from, "asset"),
		.sku = spec_copy(from, "sku"),
	};
}

static int parse_firmware(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	const char *uuid = node_text(spec, "domain.firmware.uuid");

	if (!uuid || !is_uuid(uuid))
		return err_set(err, ERR_INVALID, "no valid firmware.uuid");
	uuid_copy(s->uuid, uuid);
	s->serial = spec_copy(spec, "domain.firmware.serial");
	s->bios_serial = spec_bool(spec, "domain.firmware.bootloader.bios.useSerial", false);
	s->chassis = chassis_of(spec);
	s->bootloader = bootloader_of(spec);
	spec_parse_launch(spec, s);
	s->efi_persistent = spec_bool(spec, "domain.firmware.bootloader.efi.persistent", false);
	parse_kernel(spec, &s->kernel_boot);
	s->machine_type = spec_copy(spec, "domain.machine.type");
	if (!s->machine_type)
		s->machine_type = xstrdup(DEFAULT_MACHINE);
	s->acpi = spec_bool(spec, "domain.features.acpi.enabled", true);
	return 0;
}

static int parse_life(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	s->ends_at_reboot = streq(node_text(spec, "domain.rebootPolicy"), "Terminate");
	s->start_paused = streq(node_text(spec, "startStrategy"), "Paused");
	return spec_int(spec, "terminationGracePeriodSeconds", GRACE_UNSET, &s->grace, err);
}

int spec_parse(const struct node *vmi_spec, struct vmi_spec *ret_spec, struct err *err)
{
	static int (*const parts[])(const struct node *, struct vmi_spec *, struct err *) = {
		spec_parse_cpu,
		spec_parse_memory,
		parse_firmware,
		spec_parse_features,
		spec_parse_clock,
		parse_life,
		spec_parse_probes,
		spec_parse_disks,
		spec_parse_volumes,
		spec_parse_credentials,
		spec_parse_interfaces,
		spec_parse_peripherals,
		spec_parse_host_devices,
		spec_parse_demands,
		spec_parse_placement,
	};
	struct vmi_spec s = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (parts[i](vmi_spec, &s, err)) {
			vmi_spec_done(&s);
			return -ERR_INVALID;
		}
	}
	s.serial_console = spec_bool(vmi_spec, "domain.devices.autoattachSerialConsole", true);
	s.serial_unlogged = !spec_bool(vmi_spec, "domain.devices.logSerialConsole", true);
	s.graphics = spec_bool(vmi_spec, "domain.devices.autoattachGraphicsDevice", true);
	s.hostname = spec_copy(vmi_spec, "hostname");
	s.rng = node_at(vmi_spec, "domain.devices.rng");
	*ret_spec = s;
	return 0;
}
