/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of semantics §9.2 between a domain's features, its clock and its huge pages.
 *
 * Owns nothing; single values were judged by schema_check.c, so what is of a wrong
 * kind is passed over.
 */
#include "core/check.h"
#include "core/defaults.h"
#include "core/quantity.h"

#define HYPERV      "domain.features.hyperv"
#define PASSTHROUGH "domain.features.hypervPassthrough"
#define HUGE_PAGES  "domain.memory.hugepages.pageSize"

static void need_rules(struct check *c, const struct node *spec)
{
	const struct node *hyperv = node_at(spec, HYPERV);

	for (size_t i = 0; i < hyperv_n_needs; i++) {
		const struct hyperv_need *need = &hyperv_needs[i];
		size_t mark = check_enter(c, HYPERV);

		if (feature_is_on(hyperv, need->feature) && node_get(hyperv, need->needs) &&
			!feature_is_on(hyperv, need->needs))
			check_add_key(c, node_get(hyperv, need->feature), need->feature,
				"%s needs %s, which is turned off", need->feature, need->needs);
		check_leave(c, mark);
	}
	if (hyperv && feature_is_on(spec, PASSTHROUGH))
		check_add_key(c, hyperv, HYPERV, "give hyperv or hypervPassthrough, not both");
}

static void clock_rules(struct check *c, const struct node *spec)
{
	const struct node *clock = node_at(spec, "domain.clock");

	if (node_get(clock, "utc") && node_get(clock, "timezone"))
		check_add_key(c, node_get(clock, "timezone"), "domain.clock.timezone",
			"give utc or timezone, not both");
}

static void huge_page_rules(struct check *c, const struct node *spec)
{
	const struct node *page = node_at(spec, HUGE_PAGES), *memory = guest_memory_of(spec);
	int64_t size, bytes;

	if (!page || !page->text || quantity_parse(page->text, &size, NULL) || size <= 0)
		return;
	if (!memory || quantity_parse(memory->text, &bytes, NULL))
		return;
	if (bytes < size || bytes % size)
		check_add(c, page, HUGE_PAGES, "memory of %s is no multiple of pages of %s",
			memory->text, page->text);
}

static void launch_rules(struct check *c, const struct node *spec)
{
	static const char *const kinds[] = { "sev", "snp", "tdx" };
	const char *field = "domain.launchSecurity";
	const struct node *launch = node_at(spec, field), *efi, *secure;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		n += node_get(launch, kinds[i]) != NULL;
	efi = node_at(spec, "domain.firmware.bootloader.efi");
	secure = node_get(efi, "secureBoot");
	if (launch && n != 1)
		check_add_key(c, launch, field, "give one of sev, snp and tdx");
	else if (launch && !efi)
		check_add_key(c, launch, field, "it needs firmware.bootloader.efi");
	else if (launch && !node_get(launch, "tdx") && (!secure || !streq(secure->text, "false")))
		check_add_key(c, launch, field, "it needs efi.secureBoot: false");
	else if (node_get(launch, "tdx") && feature_is_on(spec, "domain.features.smm"))
		check_add_key(c, launch, field, "tdx goes without features.smm");
}

void feature_rules(struct check *c, const struct node *spec)
{
	need_rules(c, spec);
	clock_rules(c, spec);
	launch_rules(c, spec);
	huge_page_rules(c, spec);
}
