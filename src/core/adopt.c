/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The adoption as a whole: the manifest's frame, what makes it impossible, in what a running domain
 * differs from its definition, and the digest by which two looks are compared.
 */
#include "core/adopt_private.h"

#include <inttypes.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <string.h>

#include "core/names.h"

void texts_add(struct texts *texts, const char *fmt, ...)
{
	va_list ap;

	if (texts->n == texts->cap) {
		texts->cap = texts->cap ? texts->cap * 2 : 8;
		texts->list = xrealloc_array(texts->list, texts->cap, sizeof(*texts->list));
	}
	va_start(ap, fmt);
	texts->list[texts->n++] = xvasprintf(fmt, ap);
	va_end(ap);
}

void texts_done(struct texts *texts)
{
	for (size_t i = 0; i < texts->n; i++)
		free(texts->list[i]);
	free(texts->list);
	*texts = (struct texts){ 0 };
}

void adoption_done(struct adoption *adoption)
{
	node_free(adoption->manifest);
	texts_done(&adoption->losses);
	texts_done(&adoption->reasons);
	*adoption = (struct adoption){ 0 };
}

static void hash_text(uint64_t *hash, const char *text) /* FNV-1a */
{
	for (; *text; text++)
		*hash = (*hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
	*hash = (*hash ^ '\n') * UINT64_C(1099511628211);
}

char *adoption_digest(const struct adoption *adoption)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	autofree char *manifest = adoption->manifest ? node_json(adoption->manifest) : NULL;

	hash_text(&hash, manifest ? manifest : "");
	for (size_t i = 0; i < adoption->losses.n; i++)
		hash_text(&hash, adoption->losses.list[i]);
	return xasprintf("%016" PRIx64, hash);
}

/* ---- what makes it impossible ---------------------------------------------------------------- */

/* A name that would do: lower case, and what is not allowed becomes a hyphen. */
static char *name_like(const char *name)
{
	char *like = xstrdup(name);
	size_t n = 0;

	for (const char *c = name; *c && n < LABEL_MAX_LEN; c++) {
		bool upper = *c >= 'A' && *c <= 'Z';
		char one = upper ? (char)(*c - 'A' + 'a') : *c;

		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789", one))
			one = '-';
		if (one != '-' || (n && like[n - 1] != '-'))
			like[n++] = one;
	}
	while (n && like[n - 1] == '-')
		n--;
	like[n] = '\0';
	return like;
}

static void check_name(struct texts *reasons, const char *name, bool of_domain)
{
	autofree char *like = NULL;

	if (is_dns_subdomain(name))
		return;
	like = name_like(name);
	texts_add(reasons,
		"'%s' cannot be the name of a VM (lower case letters, digits, '-' and '.'): "
		"give %s with --name%s%s",
		name, of_domain ? "one" : "another one", *like ? ", such as " : "", like);
}

static bool can_run_on(enum domain_state state)
{
	return state == DOMAIN_RUNNING || state == DOMAIN_BLOCKED || state == DOMAIN_PAUSED ||
		state == DOMAIN_PMSUSPENDED;
}

static void check_domain(struct texts *reasons, const struct domain_info *info,
	const struct domain_detail *detail)
{
	if (info->owner[0])
		texts_add(reasons, "it carries the metadata of a run of vmagent's already (%s)",
			info->owner);
	if (!detail->persistent)
		texts_add(reasons,
			"it is transient and would vanish at its end: make it persistent "
			"first ('virsh dumpxml %s' into a file, then 'virsh define' that file)",
			info->name);
	if (detail->saved)
		texts_add(reasons,
			"it has a managed save image: start it, or remove the image with "
			"'virsh managedsave-remove %s'",
			info->name);
	if (detail->snapshots)
		texts_add(reasons,
			"it has snapshots (%u), which would be in the way: remove them with "
			"'virsh snapshot-delete %s --metadata'",
			detail->snapshots, info->name);
	if (info->active ? !can_run_on(info->state) : info->state != DOMAIN_SHUTOFF)
		texts_add(reasons, "its state is %s: wait, or end it",
			domain_state_name(info->state));
	if (detail->autostart && !info->active)
		texts_add(reasons,
			"libvirt would start it at boot: turn that off first with 'virsh "
			"autostart --disable %s'",
			info->name);
}

/* ---- the manifest's frame -------------------------------------------------------------------- */

static struct node *frame(const struct domain_info *info, const struct adopt_wish *wish)
{
	struct node *root = node_new(NODE_MAP, NULL);
	bool named = wish->name && *wish->name;

	set_text(root, "apiVersion", object_kind_api_version(KIND_VM));
	set_text(root, "kind", object_kind_name(KIND_VM));
	set_text(root, "metadata.name", named ? wish->name : info->name);
	set_text(root, "metadata.namespace", wish->ns);
	/* A guest that powers itself off is to stay off, as it would with libvirt alone. */
	set_text(root, "spec.runStrategy",
		run_strategy_name(info->active ? STRATEGY_RERUN_ON_FAILURE : STRATEGY_HALTED));
	set_text(root, "spec.template.spec.domain.firmware.uuid", info->uuid);
	return root;
}

static void adopting_done(struct adopting *a)
{
	for (size_t i = 0; i < a->n_boot; i++)
		free(a->boot[i]);
	free(a->loader);
	free(a->nvram);
	free(a->kernel);
	free(a->initrd);
	free(a->cmdline);
}

/* Fills out->manifest from one XML; false if it is none. */
static bool translate(const char *xml, const struct domain_info *info,
	const struct adopt_wish *wish, struct adoption *out)
{
	xmlDocPtr doc = xml ? xmlReadMemory(xml, (int)strlen(xml), NULL, NULL,
				      XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
					      XML_PARSE_NOBLANKS)
			    : NULL;
	xmlNodePtr root = doc ? xmlDocGetRootElement(doc) : NULL;
	struct adopting a = { .out = out, .wish = wish };
	bool good = root && streq((const char *)root->name, "domain") && !doc->intSubset;

	if (good) {
		out->manifest = frame(info, wish);
		a.spec = node_at(out->manifest, "spec.template.spec");
		adopt_domain(&a, root);
	}
	adopting_done(&a);
	xmlFreeDoc(doc);
	return good;
}

/* ---- running and defined --------------------------------------------------------------------- */

#define SPEC "spec.template.spec."

/* Where a running domain is another machine than its definition: the manifest is of the
 * definition. */
static void compare_live(const struct domain_info *info, const struct domain_detail *detail,
	const struct adopt_wish *wish, struct adoption *out)
{
	static const struct {
		const char *path, *what;
	} parts[] = { { SPEC "domain.memory", "memory" }, { SPEC "domain.cpu.sockets", "CPUs" },
		{ SPEC "volumes", "disks" }, { SPEC "domain.devices.disks", "disks' properties" },
		{ SPEC "domain.devices.interfaces", "network interfaces" } };
	struct adoption live = { 0 };

	if (!info->active || !translate(detail->live_xml, info, wish, &live)) {
		adoption_done(&live);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const struct node *runs = node_at(live.manifest, parts[i].path);
		const struct node *defined = node_at(out->manifest, parts[i].path);

		if (runs && defined ? !node_equal(runs, defined) : runs != defined)
			texts_add(&out->losses,
				"%s: the running domain differs from its definition; the next start is "
				"by the definition",
				parts[i].what);
	}
	adoption_done(&live);
}

/* The validator has the last word: what it finds beyond what was found here is a reason, too. */
static void check_manifest(const struct adopt_wish *wish, struct adoption *out)
{
	struct findings findings = { 0 };
	struct manifest manifest;

	if (out->reasons.n)
		return;
	if (manifest_check(out->manifest, wish->policy, &manifest, &findings) == 0)
		manifest_done(&manifest);
	for (size_t i = 0; i < findings.n; i++)
		texts_add(&out->reasons, "%s: %s", findings.list[i].field,
			findings.list[i].message);
	findings_done(&findings);
}

void adopt_review(const struct domain_info *info, const struct domain_detail *detail,
	const struct adopt_wish *wish, struct adoption *ret)
{
	bool named = wish->name && *wish->name;

	*ret = (struct adoption){ 0 };
	check_name(&ret->reasons, named ? wish->name : info->name, !named);
	check_domain(&ret->reasons, info, detail);
	if (!translate(detail->config_xml, info, wish, ret)) {
		texts_add(&ret->reasons, "its XML cannot be read");
		return;
	}
	if (detail->autostart && info->active)
		texts_add(&ret->losses, "autostart: is turned off; who starts it is vmagent");
	compare_live(info, detail, wish, ret);
	check_manifest(wish, ret);
}
