/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration file: kind AgentConfiguration. Unknown fields and values out of bounds are
 * refused with their place.
 */
#include "core/quantity.h"
#include "daemon/config_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum value_type { VALUE_NUMBER, VALUE_BOOL, VALUE_CHOICE, VALUE_MODE, VALUE_MEMORY, VALUE_CPU };

struct value {            /* a setting that is no text, of the file only */
	const char *path; /* spec.PATH */
	enum value_type type;
	size_t offset;
	unsigned min, max;          /* NUMBER */
	const char *const *choices; /* CHOICE: NULL-terminated, by the enum's values */
};

static const char *const emulations[] = { "auto", "kvm", "tcg", NULL };

#define CHOICE_(c, t) t,
static const char *const boot_policies[] = { BOOT_POLICIES(CHOICE_) NULL };

#define VALUE(type, path, member, min, max, choices)                                   \
	{                                                                              \
		path, VALUE_##type, offsetof(struct config, member), min, max, choices \
	}
#define NUMBER(path, member, min, max) VALUE(NUMBER, path, member, min, max, NULL)
#define SWITCH(path, member)           VALUE(BOOL, path, member, 0, 0, NULL)
#define CHOICE(path, member, choices)  VALUE(CHOICE, path, member, 0, 0, choices)
#define MODE(path, member)             VALUE(MODE, path, member, 0, 0777, NULL)
#define AMOUNT(path, member, of)       VALUE(of, path, member, 0, 0, NULL)

/* clang-format off */
static const struct value values[] = {
	CHOICE("emulation",                   emulation, emulations),
	SWITCH("crashLoop.guard",             tuning.crash_guard),
	NUMBER("crashLoop.stableSeconds",     tuning.crash_stable_s, 1, 86400),
	NUMBER("crashLoop.freeRestarts",      tuning.crash_free, 0, 1000),
	CHOICE("hostBoot.policy",             tuning.boot_policy, boot_policies),
	SWITCH("migrations.enabled",          migrations),
	SWITCH("migrations.disableTLS",       disable_tls),
	NUMBER("migrations.parallelOutboundMigrationsPerNode", tuning.migrations.outbound, 1,
		MIGRATIONS_AT_ONCE_MAX),
	NUMBER("migrations.parallelInboundMigrationsPerNode", tuning.migrations.inbound, 1,
		MIGRATIONS_AT_ONCE_MAX),
	AMOUNT("migrations.bandwidthPerMigration", tuning.migrations.limits.bandwidth, MEMORY),
	NUMBER("migrations.completionTimeoutPerGiB", tuning.migrations.limits.completion_s_per_gib, 0,
		MIGRATION_SECONDS_MAX),
	NUMBER("migrations.progressTimeout",  tuning.migrations.limits.progress_s, 0,
		MIGRATION_SECONDS_MAX),
	NUMBER("migrations.maxDowntimeMs",    tuning.migrations.limits.max_downtime_ms, 0,
		MIGRATION_DOWNTIME_MAX_MS),
	SWITCH("migrations.allowAutoConverge", tuning.migrations.limits.auto_converge),
	SWITCH("migrations.allowPostCopy",    tuning.migrations.limits.post_copy),
	SWITCH("migrations.allowWorkloadDisruption", tuning.migrations.limits.disrupt),
	NUMBER("hostBoot.parallelStarts",     tuning.start_slots, 1, 1000),
	NUMBER("hostShutdown.timeoutSeconds", tuning.shutdown_s, 1, HOST_SHUTDOWN_MAX_S),
	MODE  ("readOnlySocket.mode",         ro_mode),
	NUMBER("overcommit.memory",           tuning.memory_percent, 10, 10000),
	NUMBER("overcommit.cpu",              tuning.cpu_ratio, 1, 10000),
	AMOUNT("reserved.memory",             tuning.reserved.memory, MEMORY),
	AMOUNT("reserved.cpu",                tuning.reserved.cpu, CPU),
};
/* clang-format on */

/* KubeVirt's, which mean nothing on one host: accepted, without effect. */
static const char *const ignored[] = {
	"migrations.parallelMigrationsPerCluster", /* there is no cluster */
	"migrations.nodeDrainTaintKey",            /* … and no drain by taint */
	"migrations.matchSELinuxLevelOnMigration", /* of pods */
	"migrations.utilityVolumesTimeout",        /* there are none */
	"migrations.unsafeMigrationOverride",      /* disks are copied, or declared to be shared */
};

int config_refuse(const char *path, const struct node *at, struct err *err, const char *expected)
{
	return err_set(err, ERR_INVALID, "%s:%d:%d: %s", path,
		at->key_line ? at->key_line : at->line, at->key_line ? at->key_column : at->column,
		expected);
}

static int read_roots(char **roots, const char *path, const struct node *list, struct err *err)
{
	if (list->kind != NODE_LIST || !list->n_children || list->n_children > CONFIG_ROOTS_MAX)
		return config_refuse(path, list, err, "expected a list of 1 to 64 folders");
	roots_done(roots);
	for (size_t i = 0; i < list->n_children; i++) {
		const struct node *root = list->children[i];

		if (root->kind != NODE_STRING || root->text[0] != '/')
			return config_refuse(path, root, err, "expected an absolute path");
		roots[i] = xstrdup(root->text);
	}
	return 0;
}

static int read_number(unsigned *ret, const char *path, const struct value *value,
	const struct node *at, struct err *err)
{
	char words[200], *end = NULL;
	long long n = at->kind == NODE_NUMBER ? strtoll(at->text, &end, 10) : -1;

	if (end && !*end && n >= value->min && n <= value->max) {
		*ret = (unsigned)n;
		return 0;
	}
	snprintf(words, sizeof(words), "spec.%s: expected a whole number from %u to %u",
		value->path, value->min, value->max);
	return config_refuse(path, at, err, words);
}

static int read_bool(bool *ret, const char *path, const struct value *value, const struct node *at,
	struct err *err)
{
	char words[200];

	if (at->kind == NODE_BOOL) {
		*ret = streq(at->text, "true");
		return 0;
	}
	snprintf(words, sizeof(words), "spec.%s: expected true or false", value->path);
	return config_refuse(path, at, err, words);
}

static int read_choice(unsigned *ret, const char *path, const struct value *value,
	const struct node *at, struct err *err)
{
	struct buf words = { 0 };

	for (unsigned i = 0; value->choices[i]; i++) {
		if (at->kind == NODE_STRING && streq(at->text, value->choices[i])) {
			*ret = i;
			return 0;
		}
	}
	buf_printf(&words, "spec.%s: expected one of", value->path);
	for (unsigned i = 0; value->choices[i]; i++)
		buf_printf(&words, "%s %s", i ? "," : "", value->choices[i]);
	config_refuse(path, at, err, words.data);
	buf_done(&words);
	return -(int)err->code;
}

/* YAML's readers disagree about 0660: so it is text. */
static int read_mode(unsigned *ret, const char *path, const struct value *value,
	const struct node *at, struct err *err)
{
	char words[200], *end = NULL;
	unsigned long mode = at->kind == NODE_STRING ? strtoul(at->text, &end, 8) : 0;

	if (end && end - at->text == 4 && at->text[0] == '0' && !*end && mode <= value->max) {
		*ret = (unsigned)mode;
		return 0;
	}
	snprintf(words, sizeof(words), "spec.%s: expected an octal mode in quotes, like \"0660\"",
		value->path);
	return config_refuse(path, at, err, words);
}

/* A quantity: bytes, or thousandths of a CPU. */
static int read_amount(int64_t *ret, const char *path, const struct value *value,
	const struct node *at, struct err *err)
{
	bool scalar = at->kind == NODE_NUMBER || at->kind == NODE_STRING;
	struct err why = { 0 };
	char words[300];

	if (scalar && value->type == VALUE_MEMORY && quantity_parse(at->text, ret, &why) == 0)
		return 0;
	if (scalar && value->type == VALUE_CPU && quantity_parse_milli(at->text, ret, &why) == 0)
		return 0;
	snprintf(words, sizeof(words), "spec.%s: %.200s", value->path,
		scalar ? why.msg : "expected a quantity such as '2Gi' or '0.5'");
	return config_refuse(path, at, err, words);
}

static int read_value(struct config *config, const char *path, const struct value *value,
	const struct node *at, struct err *err)
{
	void *where = (char *)config + value->offset;

	switch (value->type) {
	case VALUE_NUMBER:
		return read_number(where, path, value, at, err);
	case VALUE_BOOL:
		return read_bool(where, path, value, at, err);
	case VALUE_CHOICE:
		return read_choice(where, path, value, at, err);
	case VALUE_MODE:
		return read_mode(where, path, value, at, err);
	case VALUE_MEMORY:
	case VALUE_CPU:
		return read_amount(where, path, value, at, err);
	}
	return 0;
}

static const struct value *value_find(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		if (streq(values[i].path, path))
			return &values[i];
	}
	return NULL;
}

/* Each group has a value that is no text. */
static bool is_group(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		if (starts_with(values[i].path, name) && values[i].path[len] == '.')
			return true;
	}
	return setting_is_below(name);
}

static bool is_ignored(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		if (streq(ignored[i], name))
			return true;
	return false;
}

static int no_such_field(const char *path, const char *name, const struct node *at, struct err *err)
{
	char words[200];

	snprintf(words, sizeof(words), "spec.%.100s: no such field", name);
	return config_refuse(path, at, err, words);
}

static int read_text_field(struct config *config, const char *path, const struct setting *setting,
	const struct node *at, struct err *err)
{
	const char *expected;
	char words[200];

	snprintf(words, sizeof(words), "spec.%.100s: expected text", setting->name);
	if (at->kind != NODE_STRING)
		return config_refuse(path, at, err, words);
	expected = config_expects(setting->name, at->text);
	if (expected) {
		snprintf(words, sizeof(words), "spec.%.60s: expected %s", setting->name, expected);
		return config_refuse(path, at, err, words);
	}
	replace_str(setting_at(config, setting), at->text);
	return 0;
}

/* name is the field's below spec. */
static int read_named(struct config *config, const char *path, const char *name,
	const struct node *at, struct err *err)
{
	const struct setting *setting = setting_find(name);
	const struct value *value = value_find(name);

	if (streq(name, "migrations.allowWorkloadDisruption"))
		config->disrupts = true;
	if (value)
		return read_value(config, path, value, at, err);
	if (is_ignored(name))
		return at->kind == NODE_MAP || at->kind == NODE_LIST
			? config_refuse(path, at, err, "expected a value")
			: 0;
	if (setting)
		return read_text_field(config, path, setting, at, err);
	return no_such_field(path, name, at, err);
}

static int read_group(struct config *config, const char *path, const struct node *group,
	struct err *err)
{
	int ret = 0;

	if (group->kind != NODE_MAP)
		return config_refuse(path, group, err, "expected fields");
	for (size_t i = 0; i < group->n_children && ret == 0; i++) {
		const struct node *field = group->children[i];
		autofree char *name = xasprintf("%s.%s", group->key, field->key);

		ret = read_named(config, path, name, field, err);
	}
	return ret;
}

/* Those with a file of their own. */
static const struct {
	const char *name;
	int (*read)(struct config *config, const char *path, const struct node *at,
		struct err *err);
} parts[] = {
	{ "peers", config_read_peers },
	{ "images", config_read_images },
	{ "storage", config_read_storage },
	{ "labels", config_read_labels },
	{ "taints", config_read_taints },
	{ "podNetwork", config_read_pod_network },
	{ "networks", config_read_networks },
	{ "sriovPools", config_read_pools },
	{ "dedicatedCPUs", config_read_dedicated },
	{ "hostDevices", config_read_host_devices },
};

static int read_field(struct config *config, const char *path, const struct node *field,
	struct err *err)
{
	const struct root_list *roots = roots_find(field->key);

	if (roots)
		return read_roots(roots_at(config, roots), path, field, err);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (streq(parts[i].name, field->key))
			return parts[i].read(config, path, field, err);
	if (is_group(field->key))
		return read_group(config, path, field, err);
	return read_named(config, path, field->key, field, err);
}

/* A misspelt `spec` would otherwise be a file that says nothing. */
static int check_document(const char *path, const struct node *root, struct err *err)
{
	static const char *const known[] = { "apiVersion", "kind", "metadata", "spec" };
	char words[200];

	for (size_t i = 0; i < root->n_children; i++) {
		const struct node *field = root->children[i];
		size_t k = 0;

		while (k < ARRAY_SIZE(known) && !streq(known[k], field->key))
			k++;
		if (k == ARRAY_SIZE(known)) {
			snprintf(words, sizeof(words), "%.100s: no such field", field->key);
			return config_refuse(path, field, err, words);
		}
		if (streq(field->key, "spec") && field->kind != NODE_MAP)
			return config_refuse(path, field, err, "spec: expected fields");
	}
	return 0;
}

static int read_document(struct config *config, const char *path, const struct node *root,
	struct err *err)
{
	const struct node *spec = node_get(root, "spec");
	int ret;

	if (!streq(node_text(root, "kind"), "AgentConfiguration") ||
		!streq(node_text(root, "apiVersion"), "vmagent.io/v1"))
		return config_refuse(path, root, err,
			"expected apiVersion vmagent.io/v1 and kind AgentConfiguration");
	ret = check_document(path, root, err);
	for (size_t i = 0; spec && i < spec->n_children && ret == 0; i++)
		ret = read_field(config, path, spec->children[i], err);
	return ret;
}

static char *read_text(const char *path, size_t *ret_len, struct err *err)
{
	char *text = xcalloc(1, NODE_TEXT_MAX + 1);
	FILE *file = fopen(path, "re");

	if (!file) {
		err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", path,
			strerror(errno));
		free(text);
		return NULL;
	}
	*ret_len = fread(text, 1, NODE_TEXT_MAX + 1, file);
	fclose(file);
	return text;
}

int config_read_file(struct config *config, const char *path, struct err *err)
{
	struct documents docs = { 0 };
	struct err why;
	size_t len = 0;
	autofree char *text = read_text(path, &len, err);
	struct place at = { 0 };
	int ret = 0;

	if (!text)
		return -(int)err->code;
	if (nodes_parse(text, len, &docs, &at, &why) < 0)
		return err_set(err, ERR_INVALID, "%s:%d:%d: %s", path, at.line, at.column, why.msg);
	for (size_t i = 0; i < docs.n && ret == 0; i++)
		ret = read_document(config, path, docs.roots[i], err);
	documents_done(&docs);
	if (!config->disrupts)
		config->tuning.migrations.limits.disrupt =
			config->tuning.migrations.limits.post_copy;
	return ret;
}
