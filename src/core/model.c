/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model's vocabulary: names and parsers of its enums, the kinds of object, the typed spec's
 * end.
 *
 * Owns only constants. It must not know any rule: those lie in phase.c, strategy.c, verbs.c,
 * status.c.
 */
#include <vmagent/model.h>

#include <string.h>

#include "core/enum.h"

ENUM_DEFINE(disk_device, DISK_DEVICE, DISK_DEVICES)
ENUM_DEFINE(disk_bus, DISK_BUS, DISK_BUSES)
ENUM_DEFINE(disk_cache, DISK_CACHE, DISK_CACHES)
ENUM_DEFINE(volume_kind, VOLUME, VOLUME_KINDS)
ENUM_DEFINE(bootloader, BOOTLOADER, BOOTLOADERS)
ENUM_DEFINE(probe_kind, PROBE, PROBE_KINDS)
ENUM_DEFINE(panic_model, PANIC_MODEL, PANIC_MODELS)
ENUM_DEFINE(binding, BINDING, BINDINGS)
ENUM_DEFINE(io_threads_policy, IO_THREADS, IO_THREADS_POLICIES)

ENUM_DEFINE(phase, PHASE, PHASES)
ENUM_DEFINE(run_strategy, STRATEGY, RUN_STRATEGIES)
ENUM_DEFINE(domain_state, DOMAIN, DOMAIN_STATES)
ENUM_DEFINE(domain_reason, REASON, DOMAIN_REASONS)
ENUM_DEFINE(printable, PRINTABLE, PRINTABLES)
ENUM_DEFINE(request_action, REQUEST, REQUEST_ACTIONS)
ENUM_DEFINE(verb, VERB, VERBS)
ENUM_DEFINE(vmi_verb, VMI_VERB, VMI_VERBS)
ENUM_DEFINE(guest_look, GUEST_LOOK, GUEST_LOOKS)
ENUM_DEFINE(propagation, PROPAGATION, PROPAGATIONS)
ENUM_DEFINE(pause, PAUSE, PAUSES)
ENUM_DEFINE(act, ACT, ACTS)
ENUM_DEFINE(type_trouble, TYPE_TROUBLE, TYPE_TROUBLES)

static const struct {
	const char *name;
	const char *plural;
	const char *api_version;
	bool namespaced;
	enum object_home home;
} kinds[] = {
#define X(c, kind, plural, group, namespaced, home) \
	[KIND_##c] = { kind, plural, group, namespaced, HOME_##home },
	OBJECT_KINDS(X)
#undef X
};
_Static_assert(ARRAY_SIZE(kinds) == KIND_MAX, "a row for each kind");

const char *object_kind_name(enum object_kind kind)
{
	return (size_t)kind < KIND_MAX ? kinds[kind].name : "?";
}

const char *object_kind_plural(enum object_kind kind)
{
	return (size_t)kind < KIND_MAX ? kinds[kind].plural : "?";
}

const char *object_kind_api_version(enum object_kind kind)
{
	return (size_t)kind < KIND_MAX ? kinds[kind].api_version : "?";
}

char *object_kind_resource(enum object_kind kind)
{
	const char *version = object_kind_api_version(kind), *slash = strchr(version, '/');

	return xasprintf("%s%s%.*s", object_kind_plural(kind), slash ? "." : "",
		slash ? (int)(slash - version) : 0, version);
}

bool object_kind_is_namespaced(enum object_kind kind)
{
	return (size_t)kind < KIND_MAX && kinds[kind].namespaced;
}

enum object_home object_kind_home(enum object_kind kind)
{
	return (size_t)kind < KIND_MAX ? kinds[kind].home : HOME_AGENT;
}

bool object_kind_parse(const char *kind, enum object_kind *ret_kind)
{
	for (size_t i = 0; i < KIND_MAX; i++) {
		if (streq(kinds[i].name, kind)) {
			*ret_kind = (enum object_kind)i;
			return true;
		}
	}
	return false;
}

static void kernel_boot_done(struct kernel_boot *boot)
{
	free(boot->image);
	free(boot->kernel);
	free(boot->initrd);
	free(boot->args);
}

static void disks_free(struct disk *disks, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(disks[i].name);
		free(disks[i].serial);
		free(disks[i].tag);
		free(disks[i].io);
		free(disks[i].error_policy);
		free(disks[i].pci_address);
	}
	free(disks);
}

static void volumes_free(struct volume *volumes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(volumes[i].name);
		free(volumes[i].path);
		free(volumes[i].inner);
		media_source_free(volumes[i].media);
		free(volumes[i].claim);
	}
	free(volumes);
}

static void interfaces_free(struct interface *interfaces, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(interfaces[i].name);
		free(interfaces[i].model);
		free(interfaces[i].mac);
		free(interfaces[i].pci_address);
		free(interfaces[i].tag);
		free(interfaces[i].network);
		free(interfaces[i].cidr);
		free(interfaces[i].cidr6);
		free(interfaces[i].ports);
	}
	free(interfaces);
}

static void cpu_features_free(struct cpu_feature *features, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(features[i].name);
		free(features[i].policy);
	}
	free(features);
}

static void clock_done(struct clock *clock)
{
	free(clock->timezone);
	for (size_t i = 0; i < TIMER_MAX; i++) {
		free(clock->timers[i].tick_policy);
		free(clock->timers[i].track);
	}
}

static void chassis_done(struct chassis *chassis)
{
	free(chassis->manufacturer);
	free(chassis->version);
	free(chassis->serial);
	free(chassis->asset);
	free(chassis->sku);
}

static void device_asks_free(struct device_ask *asks, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(asks[i].name);
		free(asks[i].resource);
	}
	free(asks);
}

void vmi_spec_done(struct vmi_spec *spec)
{
	cpu_features_free(spec->cpu_features, spec->n_cpu_features);
	free(spec->features.hyperv.vendor_id);
	clock_done(&spec->clock);
	chassis_done(&spec->chassis);
	free(spec->inputs);
	free(spec->realtime_mask);
	device_asks_free(spec->devices, spec->n_devices);
	for (int i = 0; i < PROBE_OF_MAX; i++) {
		free(spec->probes[i].question);
		free(spec->probes[i].host);
	}
	free(spec->sound);
	free(spec->watchdog);
	free(spec->video);
	free(spec->launch.dh_cert);
	free(spec->launch.session);
	placement_done(&spec->placement);
	free(spec->cpu_model);
	free(spec->machine_type);
	free(spec->serial);
	kernel_boot_done(&spec->kernel_boot);
	disks_free(spec->disks, spec->n_disks);
	volumes_free(spec->volumes, spec->n_volumes);
	credentials_free(spec->credentials, spec->n_credentials);
	free(spec->hostname);
	interfaces_free(spec->interfaces, spec->n_interfaces);
	*spec = (struct vmi_spec){ 0 };
}
