/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of spec_parse() that is about probes: when a guest is asked, and with what words.
 *
 * Owns what an absent part of them comes to (semantics §8.4). It must not judge: which values are
 * possible has been checked.
 */
#include <strings.h>

#include "core/spec_private.h"

#define PROBE_DELAY_S   10 /* what KubeVirt allows a guest beyond initialDelaySeconds */
#define PROBE_AGENT_S   1  /* … and its agent beyond timeoutSeconds */
#define PROBE_PERIOD_S  10
#define PROBE_TIMEOUT_S 1
#define PROBE_SUCCESSES 1
#define PROBE_FAILURES  3

static enum probe_kind kind_of(const struct node *from)
{
	for (int kind = PROBE_NONE + 1; kind < PROBE_KIND_MAX; kind++) {
		if (node_get(from, probe_kind_name(kind)))
			return (enum probe_kind)kind;
	}
	return PROBE_NONE;
}

static bool has_header(const struct node *headers, const char *name)
{
	for (size_t i = 0; headers && i < headers->n_children; i++) {
		const char *is = node_text(headers->children[i], "name");

		if (is && strcasecmp(is, name) == 0)
			return true;
	}
	return false;
}

static char *http_request(const struct node *get)
{
	const struct node *headers = node_get(get, "httpHeaders");
	const char *path = node_text(get, "path"), *host = node_text(get, "host");
	struct buf text = { 0 };

	buf_printf(&text, "GET %s HTTP/1.0\r\n", path ? path : "/");
	if (host && !has_header(headers, "Host"))
		buf_printf(&text, "Host: %s\r\n", host);
	for (size_t i = 0; headers && i < headers->n_children; i++)
		buf_printf(&text, "%s: %s\r\n", node_text(headers->children[i], "name"),
			node_text(headers->children[i], "value"));
	buf_printf(&text, "User-Agent: kube-probe/vmagent\r\nConnection: close\r\n\r\n");
	return text.data;
}

static char *exec_arguments(const struct node *command)
{
	struct node *arguments = node_new(NODE_MAP, NULL), *rest = node_new(NODE_LIST, NULL);
	char *json;

	node_set(arguments, "path", node_copy(command->children[0]));
	for (size_t i = 1; i < command->n_children; i++)
		node_append(rest, node_copy(command->children[i]));
	node_set(arguments, "arg", rest);
	json = node_json(arguments);
	node_free(arguments);
	return json;
}

static int parse_question(const struct node *from, struct probe *probe, struct err *err)
{
	const struct node *command = node_at(from, "exec.command");

	switch (probe->kind) {
	case PROBE_EXEC:
		if (!command || !command->n_children)
			return err_set(err, ERR_INVALID, "a probe has no command");
		probe->question = exec_arguments(command);
		return 0;
	case PROBE_HTTP:
		probe->question = http_request(node_get(from, "httpGet"));
		probe->host = spec_copy(from, "httpGet.host");
		return spec_unsigned(from, "httpGet.port", &probe->port, err);
	case PROBE_TCP:
		probe->host = spec_copy(from, "tcpSocket.host");
		return spec_unsigned(from, "tcpSocket.port", &probe->port, err);
	case PROBE_NONE:
	case PROBE_PING:
	case PROBE_KIND_MAX:
		break;
	}
	return 0;
}

/* As Kubernetes has it: 0 is as good as none. */
static int parse_number(const struct node *from, const char *field, unsigned absent, unsigned *ret,
	struct err *err)
{
	*ret = 0;
	if (spec_unsigned(from, field, ret, err))
		return -ERR_INVALID;
	if (!*ret)
		*ret = absent;
	return 0;
}

static int parse_probe(const struct node *from, struct probe *probe, struct err *err)
{
	if (!from)
		return 0;
	probe->kind = kind_of(from);
	if (parse_number(from, "initialDelaySeconds", 0, &probe->delay_s, err) ||
		parse_number(from, "periodSeconds", PROBE_PERIOD_S, &probe->period_s, err) ||
		parse_number(from, "timeoutSeconds", PROBE_TIMEOUT_S, &probe->timeout_s, err) ||
		parse_number(from, "successThreshold", PROBE_SUCCESSES, &probe->successes, err) ||
		parse_number(from, "failureThreshold", PROBE_FAILURES, &probe->failures, err))
		return -ERR_INVALID;
	probe->delay_s += PROBE_DELAY_S;
	if (probe->kind == PROBE_EXEC || probe->kind == PROBE_PING)
		probe->timeout_s += PROBE_AGENT_S;
	return parse_question(from, probe, err);
}

int spec_parse_probes(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	if (parse_probe(node_get(spec, "livenessProbe"), &s->probes[PROBE_OF_LIVENESS], err))
		return -ERR_INVALID;
	return parse_probe(node_get(spec, "readinessProbe"), &s->probes[PROBE_OF_READINESS], err);
}
