/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function a check, each of which looks at the facts alone; what has no function of its own was
 * found by the rules of a start.
 */
#include "core/migration_check.h"

#include <string.h>

#include "core/capacity.h"
#include "core/enum.h"
#include "core/firmware.h"
#include "core/json.h"
#include "core/printable.h"

/* Why not, owned by the caller; or NULL. */
typedef char *check_fn(const struct migration_facts *f);

static char *check_enabled(const struct migration_facts *f)
{
	if (f->enabled)
		return NULL;
	return xstrdup(
		"it takes no guests from other hosts: say 'migrations: {enabled: true}' in its "
		"configuration");
}

static char *check_host(const struct migration_facts *f)
{
	if (!f->our_host || !*f->our_host || !streq(f->our_host, f->their_host))
		return NULL;
	return xstrdup("it is the same host, by its UUID: give each a 'host_uuid' of its own in "
		       "libvirtd.conf");
}

static char *check_going_down(const struct migration_facts *f)
{
	return f->going_down ? xstrdup("it is shutting down") : NULL;
}

static char *check_libvirt(const struct migration_facts *f)
{
	return f->connected ? NULL : xstrdup("its libvirt cannot be reached at the moment");
}

static char *check_epoch(const struct migration_facts *f)
{
	return f->stale ? xstrdup("it had that guest later than the one who wants to send it")
			: NULL;
}

static char *check_name(const struct migration_facts *f)
{
	return f->has_name ? xstrdup("it has a virtual machine of that name") : NULL;
}

/* Nobody sends, or takes, in the clear what the other end wants encrypted. */
static char *check_encryption(const struct migration_facts *f)
{
	if (f->they_disable_tls == f->we_disable_tls)
		return NULL;
	return xasprintf("it takes only guests that are %sencrypted on their way: 'migrations.disableTLS' is "
			 "for both hosts or none",
		f->we_disable_tls ? "not " : "");
}

static char *check_adopted(const struct migration_facts *f)
{
	if (!f->adopted)
		return NULL;
	return xstrdup("its domain was made by somebody else and adopted: restart it first");
}

static char *check_acceleration(const struct migration_facts *f)
{
	if (f->needs_kvm && !f->has_kvm)
		return xstrdup("the guest runs on KVM, which does not work there");
	if (f->needs_tcg && f->has_kvm)
		return xstrdup("the guest is emulated, and guests run on KVM there");
	return NULL;
}

static char *version_text(long v)
{
	return xasprintf("%ld.%ld.%ld", v / 1000000, v / 1000 % 1000, v % 1000);
}

/* The other way round QEMU keeps its promise, by versioned machine types. */
static char *check_qemu(const struct migration_facts *f)
{
	autofree char *theirs = version_text(f->their_qemu), *ours = version_text(f->our_qemu);

	if (!f->their_qemu || !f->our_qemu || f->our_qemu / 1000 >= f->their_qemu / 1000)
		return NULL;
	return xasprintf("its QEMU is %s, older than that of the guest, %s: upgrade it", ours,
		theirs);
}

static char *check_machine(const struct migration_facts *f)
{
	if (!f->machine || f->has_machine)
		return NULL;
	return xasprintf("its QEMU has no machine type '%s', which the guest has", f->machine);
}

static char *check_cpu(const struct migration_facts *f)
{
	return f->cpu ? xasprintf("the guest's CPU cannot be had there: %s", f->cpu) : NULL;
}

/* A path is used only if this host describes it. */
static char *check_firmware(const struct migration_facts *f)
{
	struct firmware told;
	struct err err;
	char *words = NULL;

	if (!f->firmware)
		return NULL;
	if (firmware_read(f->firmware, &told, &err) < 0)
		return xstrdup("it is not told which EFI firmware the guest has");
	if (f->firmwares && !firmwares_have(f->firmwares, &told))
		words = xasprintf("it does not have the guest's EFI firmware, '%s' with variables as in '%s': "
				  "install the package that it is of",
			told.loader, told.variables);
	firmware_done(&told);
	return words;
}

static char *check_space(const struct migration_facts *f)
{
	char needed[AMOUNT_SIZE], free[AMOUNT_SIZE];

	if (f->space < 0 || f->copies <= f->space)
		return NULL;
	memory_text(f->copies, needed);
	memory_text(f->space, free);
	return xasprintf("copies of its disks may take %s, and %s are free in '%s'", needed, free,
		f->folder ? f->folder : "?");
}

/* clang-format off */
static const char *const fields[] = { MIGRATION_CHECKS(ENUM_TEXT_) };
static check_fn *const functions[MIGRATION_CHECK_MAX] = {
	[MIGRATION_CHECK_ENABLED]      = check_enabled,
	[MIGRATION_CHECK_HOST]         = check_host,
	[MIGRATION_CHECK_GOING_DOWN]   = check_going_down,
	[MIGRATION_CHECK_LIBVIRT]      = check_libvirt,
	[MIGRATION_CHECK_EPOCH]        = check_epoch,
	[MIGRATION_CHECK_NAME]         = check_name,
	[MIGRATION_CHECK_ADOPTED]      = check_adopted,
	[MIGRATION_CHECK_ENCRYPTION] = check_encryption,
	[MIGRATION_CHECK_ACCELERATION] = check_acceleration,
	[MIGRATION_CHECK_QEMU]         = check_qemu,
	[MIGRATION_CHECK_MACHINE]      = check_machine,
	[MIGRATION_CHECK_CPU]          = check_cpu,
	[MIGRATION_CHECK_FIRMWARE]     = check_firmware,
	[MIGRATION_CHECK_SPACE]        = check_space,
};
/* clang-format on */

const char *migration_check_name(enum migration_check check)
{
	return fields[check];
}

bool migration_findings_are_late(const struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		if (streq(findings->list[i].field, fields[MIGRATION_CHECK_LATE]))
			return true;
	return false;
}

void migration_facts_done(struct migration_facts *facts)
{
	for (size_t i = 0; i < ARRAY_SIZE(facts->words); i++)
		free(take(&facts->words[i]));
}

void migration_check(const struct migration_facts *facts, struct findings *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		autofree char *why = functions[i] ? functions[i](facts) : NULL;

		if (why)
			findings_add(ret, NULL, fields[i], "%s", why);
		if (facts->words[i])
			findings_add(ret, NULL, fields[i], "%s", facts->words[i]);
	}
}

/* ---- told ------------------------------------------------------------------------------------ */

char *migration_findings_write(const struct findings *findings)
{
	cJSON *list = cJSON_CreateArray();
	size_t size = 0;

	for (size_t i = 0; i < findings->n; i++) {
		const struct finding *f = &findings->list[i];
		cJSON *item;

		size += strlen(f->field) + strlen(f->message);
		if (size > MIGRATION_FINDINGS_MAX /
				4) /* text within text: each byte may be two of them */
			break;
		item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "check", f->field);
		cJSON_AddStringToObject(item, "message", f->message);
		cJSON_AddItemToArray(list, item);
	}
	return json_take_text(list);
}

static char *printable(const cJSON *item, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, key));
	char *copy = xstrdup(text ? text : "?");

	copy_printable(copy, strlen(copy) + 1, copy);
	return copy;
}

void migration_findings_read(const char *json, struct findings *ret)
{
	cJSON *list = json_read(json);
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		autofree char *field = printable(item, "check"),
			      *message = printable(item, "message");

		findings_add(ret, NULL, field, "%s", message);
	}
	cJSON_Delete(list);
}

char *migration_findings_words(const struct findings *findings)
{
	struct buf words = { 0 };

	for (size_t i = 0; i < findings->n; i++)
		buf_printf(&words, "%s%s", i ? "; " : "", findings->list[i].message);
	return words.data;
}
