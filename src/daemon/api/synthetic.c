/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each document is a template into which parts of others are copied as they stand.
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/codec.h"
#include "core/migration_policy.h"
#include "core/names.h"
#include "daemon/api/jsonspan.h"
#include "daemon/api/synthetic.h"

enum object_kind synthetic_source(enum object_kind kind)
{
	if (kind == KIND_NEW_EVENT)
		return KIND_EVENT;
	return kind == KIND_POD ? KIND_VMI : kind;
}

/* ---- a run's Pod ----------------------------------------------------------------------------- */

struct run { /* what a Pod takes from its VMI; spans are JSON, with their quotes */
	struct jsonspan name, ns, uid, rv, created, labels, node, phase;
	bool ready;
};

static const struct jsonspan empty_text = { "\"\"", 2 };

static struct jsonspan part(struct jsonspan vmi, const char *path)
{
	struct jsonspan value;

	return jsonspan_path(vmi, path, &value) ? value : empty_text;
}

static bool is_ready(struct jsonspan vmi)
{
	struct jsonspan status;

	return jsonspan_condition(vmi, "Ready", &status) && jsonspan_is(status, "True");
}

static struct run run_of(struct jsonspan vmi)
{
	struct run run = {
		.name = part(vmi, "metadata.name"),
		.ns = part(vmi, "metadata.namespace"),
		.uid = part(vmi, "metadata.uid"),
		.rv = part(vmi, "metadata.resourceVersion"),
		.created = part(vmi, "metadata.creationTimestamp"),
		.node = part(vmi, "status.nodeName"),
		.phase = part(vmi, "status.phase"),
		.ready = is_ready(vmi),
	};

	if (!jsonspan_path(vmi, "metadata.labels", &run.labels))
		run.labels = (struct jsonspan){ "{}", 2 };
	return run;
}

/* The Pod has begun when QEMU can; it ends as its run does. */
static const char *pod_phase(const struct run *run)
{
	static const struct {
		const char *vmi, *pod;
	} phases[] = {
		{ "Scheduled", "Running" },
		{ "Running", "Running" },
		{ "Succeeded", "Succeeded" },
		{ "Failed", "Failed" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
		if (jsonspan_is(run->phase, phases[i].vmi))
			return phases[i].pod;
	}
	return "Pending";
}

static void add_span(struct buf *out, struct jsonspan span)
{
	buf_add(out, span.at, span.len);
}

/* A quoted text's inside. */
static void add_inside(struct buf *out, struct jsonspan text, size_t at, size_t len)
{
	if (text.len >= at + len + 2)
		buf_add(out, text.at + 1 + at, len);
}

#define UID_VERSION_AT 14 /* of a UUID's text: "xxxxxxxx-xxxx-Vxxx-…" */

/* The run's own, as another version of UUID: as stable as that, and not the same. */
static void add_pod_uid(struct buf *out, const struct run *run)
{
	buf_puts(out, "\"");
	add_inside(out, run->uid, 0, UID_VERSION_AT);
	buf_puts(out, "5");
	add_inside(out, run->uid, UID_VERSION_AT + 1, UID_SIZE - 1 - UID_VERSION_AT - 1);
	buf_puts(out, "\"");
}

static void add_pod_name(struct buf *out, const struct run *run)
{
	buf_puts(out, "\"" LAUNCHER_PREFIX);
	add_inside(out, run->name, 0, run->name.len - 2);
	buf_puts(out, "-");
	add_inside(out, run->uid, 0, LAUNCHER_SUFFIX_LEN);
	buf_puts(out, "\"");
}

static void add_pod_labels(struct buf *out, const struct run *run)
{
	buf_puts(out, ",\"labels\":{\"kubevirt.io\":\"virt-launcher\",\"kubevirt.io/created-by\":");
	add_span(out, run->uid);
	buf_puts(out, ",\"vm.kubevirt.io/name\":");
	add_span(out, run->name);
	if (run->labels.len > 2) {
		buf_puts(out, ",");
		buf_add(out, run->labels.at + 1, run->labels.len - 1);
	} else {
		buf_puts(out, "}");
	}
}

static void add_pod_owner(struct buf *out, const struct run *run)
{
	buf_puts(out,
		",\"ownerReferences\":[{\"apiVersion\":\"kubevirt.io/v1\","
		"\"kind\":\"VirtualMachineInstance\",\"name\":");
	add_span(out, run->name);
	buf_puts(out, ",\"uid\":");
	add_span(out, run->uid);
	buf_puts(out, ",\"controller\":true,\"blockOwnerDeletion\":true}]");
}

static void add_pod_metadata(struct buf *out, const struct run *run)
{
	buf_puts(out, "\"metadata\":{\"name\":");
	add_pod_name(out, run);
	buf_puts(out, ",\"namespace\":");
	add_span(out, run->ns);
	buf_puts(out, ",\"uid\":");
	add_pod_uid(out, run);
	buf_puts(out, ",\"resourceVersion\":");
	add_span(out, run->rv);
	buf_puts(out, ",\"creationTimestamp\":");
	add_span(out, run->created);
	add_pod_labels(out, run);
	buf_puts(out, ",\"annotations\":{\"kubevirt.io/domain\":");
	add_span(out, run->name);
	buf_puts(out, "}");
	add_pod_owner(out, run);
	buf_puts(out, "}");
}

static void add_container_state(struct buf *out, const struct run *run, const char *phase)
{
	if (streq(phase, "Running")) {
		buf_puts(out, "{\"running\":{\"startedAt\":");
		add_span(out, run->created);
		buf_puts(out, "}}");
	} else if (streq(phase, "Pending")) {
		buf_puts(out, "{\"waiting\":{\"reason\":\"ContainerCreating\"}}");
	} else {
		buf_printf(out, "{\"terminated\":{\"exitCode\":%d}}", streq(phase, "Failed"));
	}
}

static void add_pod_status(struct buf *out, const struct run *run)
{
	const char *phase = pod_phase(run);

	buf_printf(out, "\"status\":{\"phase\":\"%s\",\"conditions\":[{\"type\":\"Ready\",", phase);
	buf_printf(out, "\"status\":\"%s\"}],\"containerStatuses\":[{\"name\":\"compute\",",
		run->ready ? "True" : "False");
	buf_printf(out,
		"\"ready\":%s,\"restartCount\":0,\"image\":\"\",\"imageID\":\"\",\"state\":",
		run->ready ? "true" : "false");
	add_container_state(out, run, phase);
	buf_puts(out, "}]}");
}

static char *pod_of(const char *vmi)
{
	struct run run = run_of(jsonspan_of(vmi));
	struct buf out = { 0 };

	buf_puts(&out, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",");
	add_pod_metadata(&out, &run);
	buf_puts(&out,
		",\"spec\":{\"containers\":[{\"name\":\"compute\",\"image\":\"\","
		"\"resources\":{}}],\"restartPolicy\":\"Never\",\"nodeName\":");
	add_span(&out, run.node);
	buf_puts(&out, "},");
	add_pod_status(&out, &run);
	buf_puts(&out, "}");
	return out.data;
}

char *synthetic_object(enum object_kind kind, const char *source)
{
	if (kind == KIND_NEW_EVENT)
		return synthetic_event(source);
	return kind == KIND_POD ? pod_of(source) : NULL;
}

/* ---- the host -------------------------------------------------------------------------------- */

#define OS_RELEASE "/etc/os-release"

/* PRETTY_NAME of os-release(5), which is a word of ours to print once it is free of quotes. */
void synthetic_read_os(char *ret, size_t size)
{
	static const char key[] = "PRETTY_NAME=\"";
	FILE *file = fopen(OS_RELEASE, "re");
	char line[256];

	copy_str(ret, size, "Linux");
	while (file && fgets(line, sizeof(line), file)) {
		if (!starts_with(line, key))
			continue;
		line[strcspn(line + sizeof(key) - 1, "\"\\\n") + sizeof(key) - 1] = '\0';
		copy_str(ret, size, line + sizeof(key) - 1);
	}
	if (file)
		fclose(file);
}

/* As an extended resource is shown: by its name, how many there are. */
static void add_devices(struct buf *out, const struct host_shares *shares)
{
	for (size_t i = 0; shares && i < shares->n_devices; i++) {
		const char *name = shares->devices[i].name;
		size_t n = 0, first = 0;

		while (!streq(shares->devices[first].name, name))
			first++;
		for (size_t j = i; j < shares->n_devices; j++)
			n += streq(shares->devices[j].name, name);
		if (first == i)
			buf_printf(out, ",\"%s\":\"%zu\"", name, n);
	}
	buf_puts(out, "},");
}

static void add_capacity(struct buf *out, const struct api_options *options)
{
	const struct resources *some = &options->allocatable;
	struct resources all = {
		.memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
		.cpu = INT64_C(1000) * sysconf(_SC_NPROCESSORS_ONLN),
	};

	buf_printf(out, "\"capacity\":{\"cpu\":\"%lld\",\"memory\":\"%lldKi\"",
		(long long)(all.cpu / 1000), (long long)(all.memory / 1024));
	add_devices(out, options->shares);
	some = some->memory ? some : &all;
	buf_printf(out, "\"allocatable\":{\"cpu\":\"%lldm\",\"memory\":\"%lldKi\"",
		(long long)some->cpu, (long long)(some->memory / 1024));
	add_devices(out, options->shares);
}

static void add_node_conditions(struct buf *out, const struct api *api)
{
	struct err why = { 0 };
	bool well = agent_is_healthy(api->options.agent, &why);
	autofree char *message = well ? xstrdup("vmagent is ready") : xstrdup(why.msg);

	for (char *c = message; *c; c++)
		*c = *c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? '\'' : *c;
	buf_printf(out,
		"\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\",\"reason\":\"%s\","
		"\"message\":\"%s\"}],",
		well ? "True" : "False", well ? "KubeletReady" : "KubeletNotReady", message);
}

static void add_node_info(struct buf *out, const struct api *api)
{
	struct utsname host;

	uname(&host);
	buf_printf(out,
		"\"nodeInfo\":{\"architecture\":\"%s\",\"operatingSystem\":\"linux\","
		"\"kernelVersion\":\"%s\",\"osImage\":\"%s\",",
		streq(host.machine, "x86_64") ? "amd64" : host.machine, host.release, api->os);
	buf_printf(out,
		"\"kubeletVersion\":\"vmagent-%s\",\"kubeProxyVersion\":\"\","
		"\"containerRuntimeVersion\":\"libvirt://qemu\"}",
		VMAGENT_VERSION);
}

static void add_start_metadata(struct buf *out, const struct api *api, const char *name)
{
	char created[TIME_SIZE];

	format_time(api->started, created);
	buf_printf(out,
		"\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"1\","
		"\"creationTimestamp\":\"%s\"",
		name, created);
}

/* Texts of labels and taints have no character that JSON must escape. */
static void add_labels(struct buf *out, const struct host_place *place)
{
	buf_puts(out, ",\"labels\":{");
	for (size_t i = 0; i < place->n_labels; i++)
		buf_printf(out, "%s\"%s\":\"%s\"", i ? "," : "", place->labels[i].key,
			place->labels[i].value);
	buf_puts(out, "}");
}

static void add_taints(struct buf *out, const struct host_place *place)
{
	for (size_t i = 0; i < place->n_taints; i++) {
		const struct host_taint *taint = &place->taints[i];

		buf_printf(out, "%s{\"key\":\"%s\",", i ? "," : "\"taints\":[", taint->key);
		if (*taint->value)
			buf_printf(out, "\"value\":\"%s\",", taint->value);
		buf_printf(out, "\"effect\":\"%s\"}", taint->effect);
	}
	buf_puts(out, place->n_taints ? "]" : "");
}

static char *node_of(const struct api *api)
{
	const struct host_place *place = api->options.place;
	const char *name = api->options.node_name;
	struct buf out = { 0 };

	buf_puts(&out, "{\"apiVersion\":\"v1\",\"kind\":\"Node\",");
	add_start_metadata(&out, api, name);
	if (place)
		add_labels(&out, place);
	buf_puts(&out, "},\"spec\":{");
	if (place)
		add_taints(&out, place);
	buf_puts(&out, "},\"status\":{");
	add_capacity(&out, &api->options);
	add_node_conditions(&out, api);
	buf_printf(&out, "\"addresses\":[{\"type\":\"Hostname\",\"address\":\"%s\"}],", name);
	add_node_info(&out, api);
	buf_puts(&out, "}}");
	return out.data;
}

/* Where KubeVirt's users look for it. */
static void add_configuration(struct buf *out, const struct migration_config *migrations)
{
	autofree char *text = migrations ? migration_config_json(migrations) : NULL;

	if (text)
		buf_printf(out, "\"configuration\":{\"migrations\":%s}", text);
}

static char *kubevirt_of(const struct api *api)
{
	struct buf out = { 0 };

	buf_puts(&out, "{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":\"KubeVirt\",");
	add_start_metadata(&out, api, "kubevirt");
	buf_puts(&out, ",\"namespace\":\"kubevirt\"},\"spec\":{");
	add_configuration(&out, agent_migrations(api->options.agent));
	buf_printf(&out,
		"},\"status\":{\"phase\":\"Deployed\","
		"\"observedKubeVirtVersion\":\"vmagent-%s\","
		"\"conditions\":[{\"type\":\"Available\",\"status\":\"True\","
		"\"reason\":\"AllComponentsReady\"}]}}",
		VMAGENT_VERSION);
	return out.data;
}

char *synthetic_only(const struct api *api, enum object_kind kind)
{
	if (kind == KIND_NODE)
		return node_of(api);
	return kind == KIND_KUBEVIRT ? kubevirt_of(api) : NULL;
}
