/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of semantics §8.4 about probes: each asks in one way, and a guest that is asked over
 * the network has one.
 */
#include "core/rules_private.h"

static void handler_rules(struct check *c, const struct node *spec, const struct node *probe,
	const char *field)
{
	static const char *const handlers[] = { "exec", "guestAgentPing", "httpGet", "tcpSocket",
		NULL };
	const struct node *last = NULL;
	size_t n = element_count_keys(probe, handlers, &last);

	if (n != 1)
		check_add_key(c, n ? last : probe, n ? last->key : field,
			"give one of exec, guestAgentPing, httpGet and tcpSocket, not %zu", n);
	else if (!node_get(last, "host") &&
		(streq(last->key, "httpGet") || streq(last->key, "tcpSocket")) &&
		!list_count(node_at(spec, INTERFACES)) &&
		streq(node_text(spec, "domain.devices.autoattachPodInterface"), "false"))
		check_add_key(c, last, last->key,
			"the guest has no network over which it could be asked");
}

void probe_rules(struct check *c, const struct node *spec)
{
	static const char *const probes[] = { "livenessProbe", "readinessProbe" };

	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		const struct node *probe = node_get(spec, probes[i]);
		const struct node *times = node_get(probe, "successThreshold");
		size_t mark;

		if (!probe || probe->kind != NODE_MAP)
			continue;
		mark = check_enter(c, probes[i]);
		handler_rules(c, spec, probe, "");
		if (i == 0 && times && times->text && !streq(times->text, "1") &&
			!streq(times->text, "0"))
			check_add(c, times, "successThreshold", "of a livenessProbe it is 1");
		check_leave(c, mark);
	}
}
