/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of semantics §9.2 between fields of a VMI's spec: memory, CPU, firmware.
 *
 * Owns nothing; single values were judged by schema_check.c, so what is of a wrong kind is passed
 * over here. Devices have rules_devices.c.
 */
#include <inttypes.h>

#include "core/defaults.h"
#include "core/quantity.h"
#include "core/rules_private.h"

#define REQUESTS "domain.resources.requests."
#define LIMITS   "domain.resources.limits."

#define MAX_GUEST_UNIT  (INT64_C(2) << 20)
#define MAX_GUEST_LEAST (INT64_C(1) << 30)

/* The text of a valid quantity at path, or NULL; *ret_node is where it stands. */
static const char *quantity_at(const struct node *spec, const char *path,
	const struct node **ret_node)
{
	int64_t value;

	*ret_node = node_at(spec, path);
	if (!*ret_node || !(*ret_node)->text || quantity_parse((*ret_node)->text, &value, NULL))
		return NULL;
	return (*ret_node)->text;
}

static void not_above(struct check *c, const struct node *spec, const char *path,
	const char *limit_path)
{
	const struct node *at, *limit_at;
	const char *value = quantity_at(spec, path, &at);
	const char *limit = quantity_at(spec, limit_path, &limit_at);

	if (value && limit && quantity_compare(value, limit) > 0)
		check_add(c, at, path, "%s is more than the limit %s of %s", value, limit,
			limit_path);
}

static void memory_rules(struct check *c, const struct node *spec)
{
	const struct node *memory = guest_memory_of(spec);
	const struct node *domain = node_get(spec, "domain");
	int64_t bytes;

	if (!memory && domain && domain->kind == NODE_MAP)
		check_add_key(c, domain, "domain.memory.guest",
			"no memory is given: set domain.memory.guest, for example 512Mi");
	else if (memory && !quantity_parse(memory->text, &bytes, NULL) && bytes < MEMORY_MIN)
		check_add(c, memory, "domain.memory.guest",
			"expected at least 1M of memory, not %s", memory->text);
	else if (memory && !quantity_parse(memory->text, &bytes, NULL) && bytes > MEMORY_MAX)
		check_add(c, memory, "domain.memory.guest",
			"expected at most 4Pi of memory, not %s", memory->text);
	not_above(c, spec, "domain.memory.guest", LIMITS "memory");
	not_above(c, spec, REQUESTS "memory", LIMITS "memory");
}

/* requests.memory: at least 1M, unless it is zero. */
static void request_rules(struct check *c, const struct node *spec)
{
	const struct node *at;
	const char *request = quantity_at(spec, REQUESTS "memory", &at);

	if (request && at != guest_memory_of(spec) && quantity_compare(request, "0") > 0 &&
		quantity_compare(request, "1M") < 0)
		check_add(c, at, REQUESTS "memory", "expected 0 or at least 1M, not %s", request);
}

static void cpu_rules(struct check *c, const struct node *spec)
{
	struct topology t = topology_of(spec);
	const struct node *cpu = node_at(spec, "domain.cpu");
	const struct node *max = node_get(cpu, "maxSockets");
	int64_t most = max && max->kind == NODE_NUMBER ? strtoll(max->text, NULL, 10) : 0;
	int64_t sockets = MAX(t.sockets, most);
	bool each_fits = t.sockets > 0 && sockets <= CPU_COUNT_MAX && t.cores > 0 &&
		t.cores <= CPU_COUNT_MAX && t.threads > 0 && t.threads <= CPU_COUNT_MAX;

	not_above(c, spec, REQUESTS "cpu", LIMITS "cpu");
	if (!t.given && t.sockets > CPU_COUNT_MAX)
		check_add_key(c, node_at(spec, "domain.resources"), "domain.resources",
			"%" PRId64 " vCPUs of one core each, at most %d are possible; give "
			"domain.cpu sockets, cores and threads",
			t.sockets, CPU_COUNT_MAX);
	if (most && t.sockets > most)
		check_add(c, max, "domain.cpu.maxSockets",
			"expected at least as many as sockets, which are %" PRId64, t.sockets);
	if (cpu && each_fits && sockets * t.cores * t.threads > VCPUS_MAX)
		check_add_key(c, cpu, "domain.cpu", "%" PRId64 " vCPUs, at most %d are possible",
			sockets * t.cores * t.threads, VCPUS_MAX);
}

/* Room for more memory is a device of libvirt's, which has its own ideas of sizes (semantics
 * §9.5). */
static void max_guest_rules(struct check *c, const struct node *spec)
{
	const struct node *at, *most_at, *page_at;
	const char *field = "domain.memory.maxGuest", *why = NULL;
	const char *most = quantity_at(spec, field, &most_at);
	const char *page = quantity_at(spec, "domain.memory.hugepages.pageSize", &page_at);
	int64_t guest, bytes, unit = MAX_GUEST_UNIT, huge;

	at = guest_memory_of(spec);
	if (!most || !at || quantity_parse(at->text, &guest, NULL) ||
		quantity_parse(most, &bytes, NULL) || bytes == guest)
		return;
	if (page && !quantity_parse(page, &huge, NULL))
		unit = MAX(unit, huge);
	if (bytes < guest)
		why = "it is less than the guest's memory";
	else if (guest < MAX_GUEST_LEAST)
		why = "a guest that can grow has at least 1Gi of memory";
	else if (guest % unit || bytes % unit)
		why = "both it and the guest's memory must be multiples of 2Mi, or of the huge pages";
	if (why)
		check_add(c, most_at, field, "%s", why);
}

static bool is_secure(const struct node *efi)
{
	const struct node *secure = node_get(efi, "secureBoot");

	return !secure || !streq(secure->text, "false");
}

static void bootloader_rules(struct check *c, const struct node *spec)
{
	const struct node *efi = node_at(spec, "domain.firmware.bootloader.efi");
	const struct node *bios = node_at(spec, "domain.firmware.bootloader.bios");
	const char *field = "domain.firmware.bootloader.efi";

	if (efi && bios)
		check_add_key(c, efi, field, "give bios or efi, not both");
	if (efi && is_secure(efi) && !feature_is_on(spec, "domain.features.smm"))
		check_add_key(c, efi, field,
			"secureBoot, which is the default, needs features.smm: {}; or set secureBoot: "
			"false");
}

static void kernel_rules(struct check *c, const struct node *spec)
{
	const struct node *boot = node_at(spec, "domain.firmware.kernelBoot");
	const struct node *container = node_get(boot, "container");
	const char *image = node_text(container, "image");

	if (!boot)
		return;
	if (!container)
		check_add_key(c, boot, "domain.firmware.kernelBoot.container",
			"kernelBoot needs a container: image, kernelPath and initrdPath");
	else if (!node_get(container, "kernelPath") && !node_get(container, "initrdPath"))
		check_add_key(c, container, "domain.firmware.kernelBoot.container",
			"give kernelPath, initrdPath or both");
	if (image)
		image_rules(c, node_get(container, "image"),
			"domain.firmware.kernelBoot.container.image");
}

static void slic_rules(struct check *c, const struct node *spec)
{
	const struct node *slic = node_at(spec, "domain.firmware.acpi.slicNameRef");
	const struct node *volumes = node_get(spec, "volumes"), *volume;

	if (!slic || slic->kind != NODE_STRING)
		return;
	volume = list_find(volumes, list_count(volumes), slic->text);
	if (!volume)
		check_add(c, slic, "domain.firmware.acpi.slicNameRef", "no volume is named '%.64s'",
			slic->text);
	else if (!node_get(volume, "secret"))
		check_add(c, slic, "domain.firmware.acpi.slicNameRef",
			"volume '%.64s' is no secret: the table is the key slic.bin of one",
			slic->text);
}

void spec_rules(struct check *c, const struct node *spec)
{
	memory_rules(c, spec);
	request_rules(c, spec);
	cpu_rules(c, spec);
	max_guest_rules(c, spec);
	bootloader_rules(c, spec);
	kernel_rules(c, spec);
	slic_rules(c, spec);
}
