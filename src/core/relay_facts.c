/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of what is free, what reaches and what binds; sets, and their comparison. */
#include "core/relay_facts.h"

#include <string.h>

#include "core/relay_xml.h"

#define SHOWN "%.120s"    /* of what comes from outside, in words */
#define SLACK (64 * 1024) /* KiB that libvirt may round up: to whole MiB, for each node of memory */

/* ---- what reaches nothing of the host -------------------------------------------------------- */

/* Elements with all that is below them; * is any one element. libvirt adds, drops and spells
 * out these by itself. */
static const char *const harmless[] = {
	"domain/title",
	"domain/description",
	"domain/genid",
	"domain/memory",
	"domain/currentMemory",
	"domain/maxMemory",
	"domain/vcpu",
	"domain/vcpus",
	"domain/cputune",
	"domain/iothreads",
	"domain/iothreadids",
	"domain/os/type",
	"domain/os/boot",
	"domain/os/bootmenu",
	"domain/features",
	"domain/cpu",
	"domain/clock",
	"domain/pm",
	"domain/devices/controller",
	"domain/devices/memballoon",
	"domain/devices/video",
	"domain/devices/panic",
	"domain/devices/hub",
	"domain/devices/*/address",
	"domain/devices/*/alias",
	"domain/devices/*/boot",
	"domain/devices/*/protocol",
	"domain/devices/disk/target",
	"domain/devices/disk/iotune",
	"domain/devices/disk/blockio",
	"domain/devices/disk/geometry",
	"domain/devices/disk/serial",
	"domain/devices/disk/wwn",
	"domain/devices/serial/target",
	"domain/devices/channel/target",
	"domain/devices/parallel/target",
	"domain/devices/interface/mac",
	"domain/devices/interface/model",
	"domain/devices/interface/bandwidth",
	"domain/devices/interface/mtu",
	"domain/devices/interface/link",
};

/* Attributes that may name a file, a device or a place in the network: prepared, or not
 * there, wherever they stand. */
static const char *const reaching[] = { "file", "dev", "path", "dir", "rendernode", "evdev",
	"script", "uri", "socket", "host", "bridge", "network" };

/* Of a cookie: all but the domain. Their texts are names of hosts, numbers, and what
 * the CPU can do. */
static const char *const cookie_parts[] = {
	"qemu-migration/name",
	"qemu-migration/uuid",
	"qemu-migration/hostname",
	"qemu-migration/hostuuid",
	"qemu-migration/feature",
	"qemu-migration/graphics",
	"qemu-migration/lockstate",
	"qemu-migration/network",
	"qemu-migration/nbd",
	"qemu-migration/statistics",
	"qemu-migration/cpu",
	"qemu-migration/capabilities",
	"qemu-migration/blockDirtyBitmaps",
};

/* Single facts that libvirt adds to every domain. */
static const char *const added[] = {
	"domain",
	"domain/os",
	"domain/devices",
	"domain/os/boot@dev=hd",
	"domain/on_poweroff",
	"domain/on_poweroff=destroy",
	"domain/on_reboot",
	"domain/on_reboot=restart",
	"domain/on_crash",
	"domain/on_crash=destroy",
	"domain/devices/input",
	"domain/devices/input@type=mouse",
	"domain/devices/input@type=keyboard",
	"domain/devices/input@bus=ps2",
	"domain/devices/audio",
	"domain/devices/audio@id=1",
	"domain/devices/audio@type=none",
	"domain/devices/disk/backingStore",
	"domain/resource",
	"domain/resource/partition",
	"domain/resource/partition=/machine",
};

/* What bounds what it belongs to: where it was prepared it is there. Each with all
 * that is below it. */
static const char *const binding[] = {
	"domain/os/loader@readonly",
	"domain/os/loader@type",
	"domain/devices/disk/driver@type",  /* else a guest's bytes are read as an image's header */
	"domain/devices/disk/backingStore", /* else what the image names is opened */
	"domain/devices/disk/readonly",
	"domain/devices/filesystem@accessmode",
	"domain/devices/filesystem/readonly",
	"domain/devices/filesystem/binary",
	"domain/devices/interface/vlan",
	"domain/devices/interface/filterref",
	"domain/devices/interface/virtualport",
	"domain/devices/interface/port",
};

static bool matches(const char *pattern, const char *path)
{
	for (; *pattern; pattern++) {
		if (*pattern == '*') {
			path += strcspn(path, "/");
			continue;
		}
		if (*pattern != *path++)
			return false;
	}
	return *path == '\0';
}

static bool is_in(const char *const *list, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (matches(list[i], path))
			return true;
	return false;
}

bool facts_harmless(const char *path)
{
	return is_in(harmless, ARRAY_SIZE(harmless), path) ||
		is_in(cookie_parts, ARRAY_SIZE(cookie_parts), path) ||
		streq(path, "qemu-migration");
}

bool facts_reaches(const char *attribute)
{
	return is_in(reaching, ARRAY_SIZE(reaching), attribute);
}

static bool is_binding(const char *fact)
{
	for (size_t i = 0; i < ARRAY_SIZE(binding); i++) {
		size_t len = strlen(binding[i]);

		if (strncmp(fact, binding[i], len) == 0 && strchr("/@=", fact[len]))
			return true; /* strchr() finds the end as well */
	}
	return false;
}

/* ---- sets ------------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t facts_add_device(struct xml_facts *facts, const char *path)
{
	if (facts->n == facts->cap) {
		facts->cap = facts->cap ? 2 * facts->cap : 16;
		facts->sets = xrealloc_array(facts->sets, facts->cap, sizeof(*facts->sets));
	}
	facts->sets[facts->n] = (struct facts_set){ .path = xstrdup(path) };
	return facts->n++;
}

struct xml_facts *facts_new(void)
{
	struct xml_facts *facts = xcalloc(1, sizeof(*facts));

	facts_add_device(facts, "domain");
	return facts;
}

void facts_add(struct xml_facts *facts, size_t device, const char *fact)
{
	struct facts_set *set = &facts->sets[device];

	if (set->n == set->cap) {
		set->cap = set->cap ? 2 * set->cap : 16;
		set->list = xrealloc_array(set->list, set->cap, sizeof(*set->list));
	}
	set->list[set->n++] = xstrdup(fact);
}

void facts_sort(struct xml_facts *facts)
{
	for (size_t i = 0; i < facts->n; i++)
		if (facts->sets[i].n)
			qsort(facts->sets[i].list, facts->sets[i].n, sizeof(char *), by_text);
}

void xml_facts_free(struct xml_facts *facts)
{
	if (!facts)
		return;
	for (size_t i = 0; i < facts->n; i++) {
		for (size_t k = 0; k < facts->sets[i].n; k++)
			free(facts->sets[i].list[k]);
		free(facts->sets[i].list);
		free(facts->sets[i].path);
	}
	free(facts->sets);
	free(facts->name);
	free(facts->uuid);
	free(facts);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool is_added(const char *fact)
{
	for (size_t i = 0; i < ARRAY_SIZE(added); i++)
		if (streq(added[i], fact))
			return true;
	return false;
}

/* How often it stands there; the set is sorted. */
static size_t times(const struct facts_set *set, const char *fact)
{
	char **found = set->n ? bsearch(&fact, set->list, set->n, sizeof(char *), by_text) : NULL;
	char **from = found, **to = found;

	if (!found)
		return 0;
	while (from > set->list && streq(from[-1], fact))
		from--;
	while (to < set->list + set->n && streq(*to, fact))
		to++;
	return (size_t)(to - from);
}

/* The first that is told more often than it was prepared there, or NULL: of two elements of a name
 * libvirt may read either. */
static const char *first_other(const struct facts_set *prepared, const struct facts_set *told)
{
	size_t run;

	for (size_t i = 0; i < told->n; i += run) {
		const char *fact = told->list[i];

		for (run = 1; i + run < told->n && streq(told->list[i + run], fact);)
			run++;
		if (run > MAX(times(prepared, fact), (size_t)is_added(fact)))
			return fact;
	}
	return NULL;
}

/* The first that binds, and is not told, or NULL. */
static const char *first_lacking(const struct facts_set *prepared, const struct facts_set *told)
{
	for (size_t i = 0; i < prepared->n; i++)
		if (is_binding(prepared->list[i]) && !times(told, prepared->list[i]))
			return prepared->list[i];
	return NULL;
}

static int refuse_other(const char *fact, const char *but, struct err *err)
{
	return err_set(err, ERR_FORBIDDEN, "the XML has '" SHOWN "', which was %s", fact, but);
}

static int refuse_lacking(const char *fact, struct err *err)
{
	return err_set(err, ERR_FORBIDDEN, "the XML lacks '" SHOWN "', which was prepared with it",
		fact);
}

/* Nothing but what libvirt adds to any domain. */
static bool is_added_whole(const struct facts_set *told)
{
	for (size_t i = 0; i < told->n; i++)
		if (!is_added(told->list[i]))
			return false;
	return true;
}

/* Of no device of that kind; or NULL. */
static const char *first_of_none(const struct xml_facts *prepared, const struct facts_set *told)
{
	for (size_t i = 0; i < told->n; i++) {
		bool known = is_added(told->list[i]);

		for (size_t k = 1; k < prepared->n && !known; k++)
			known = times(&prepared->sets[k], told->list[i]) > 0;
		if (!known)
			return told->list[i];
	}
	return NULL;
}

/* One of those that were prepared, whole: with nothing of another one, and not without its
 * bounds. */
static int compare_device(const struct xml_facts *prepared, const struct facts_set *told,
	struct err *err)
{
	const char *other = NULL, *lacking = NULL, *none;

	for (size_t i = 1; i < prepared->n; i++) {
		const struct facts_set *one = &prepared->sets[i];
		const char *o, *l;

		if (!streq(one->path, told->path))
			continue;
		o = first_other(one, told);
		l = o ? NULL : first_lacking(one, told);
		if (!o && !l)
			return 0;
		other = other ? other : o;
		lacking = lacking ? lacking : l;
	}
	if (lacking)
		return refuse_lacking(lacking, err);
	none = first_of_none(prepared, told);
	return none ? refuse_other(none, "not prepared", err)
		    : refuse_other(other, "prepared for another device", err);
}

static size_t count(const struct xml_facts *facts, const char *path)
{
	size_t n = 0;

	for (size_t i = 1; i < facts->n; i++)
		n += streq(facts->sets[i].path, path) && !is_added_whole(&facts->sets[i]);
	return n;
}

static int compare_devices(const struct xml_facts *prepared, const struct xml_facts *told,
	struct err *err)
{
	for (size_t i = 1; i < told->n; i++) {
		const struct facts_set *one = &told->sets[i];
		int rc;

		if (is_added_whole(one))
			continue;
		rc = compare_device(prepared, one, err);
		if (rc < 0)
			return rc;
		if (count(told, one->path) > count(prepared, one->path))
			return err_set(err, ERR_FORBIDDEN,
				"the XML has more devices '" SHOWN "' than were prepared",
				one->path);
	}
	return 0;
}

/* A cookie may have no domain in it. */
static int compare_domain(const struct facts_set *prepared, const struct facts_set *told,
	struct err *err)
{
	const char *other = first_other(prepared, told);
	const char *lacking = times(told, "domain") ? first_lacking(prepared, told) : NULL;

	if (other)
		return refuse_other(other, "not prepared", err);
	return lacking ? refuse_lacking(lacking, err) : 0;
}

static int compare_amounts(const uint64_t *prepared, const uint64_t *told, struct err *err)
{
	static const struct {
		enum facts_amount one, other;
		uint64_t slack;
		const char *name;
	} rows[] = {
		{ FACTS_MEMORY, FACTS_NUMA, SLACK, "memory" },
		{ FACTS_CPUS, FACTS_CPUS, 0, "CPUs" },
		{ FACTS_IOTHREADS, FACTS_IOTHREAD_IDS, 0, "I/O threads" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (MAX(told[rows[i].one], told[rows[i].other]) >
			MAX(prepared[rows[i].one], prepared[rows[i].other]) + rows[i].slack)
			return err_set(err, ERR_FORBIDDEN, "the XML has more %s than was prepared",
				rows[i].name);
	return 0;
}

int facts_compare(const struct xml_facts *prepared, const struct xml_facts *told, struct err *err)
{
	int rc = compare_domain(&prepared->sets[0], &told->sets[0], err);

	if (rc == 0)
		rc = compare_devices(prepared, told, err);
	return rc < 0 ? rc : compare_amounts(prepared->amounts, told->amounts, err);
}
