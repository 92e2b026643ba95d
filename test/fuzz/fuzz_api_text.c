/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what the API reads itself: paths, selectors, and JSON text that it looks into. The input
 * is a path, a selector and a JSON text, a line each.
 */
#include <string.h>

#include "daemon/api/jsonspan.h"
#include "daemon/api/route.h"
#include "daemon/api/selector.h"
#include "io/websocket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_path(const char *path)
{
	static const char *const patterns[] = {
		"/healthz",
		"/{api}/namespaces/{ns}/{namespaced}/{name}",
		"/{api}/namespaces/{ns}/{vm}/{name}/{verb}",
		"/{api}/{namespaced}",
		"/{api}/{cluster}/{name}",
		"/openapi/v3/{api}",
	};
	struct route_path found;

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		route_matches(patterns[i], path, &found);
}

static void try_selector(const char *text, const char *json)
{
	struct selector s;

	if (selector_parse_labels(text, &s, NULL) == 0) {
		selector_matches_labels(&s, json);
		selector_matches_object_labels(&s, json);
		selector_done(&s);
	}
	for (int kind = 0; kind < KIND_MAX; kind++) {
		if (selector_parse_fields(text, kind, &s, NULL))
			continue;
		selector_matches_fields(&s, json);
		selector_done(&s);
	}
}

static void try_json(const char *json)
{
	struct jsonspan value = jsonspan_of(json);

	while (jsonspan_member(value, "a", &value))
		if (value.at < json || value.at + value.len > json + strlen(json))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *text = memcpy(xcalloc(1, size + 1), data, size);
	char *rest = text;
	const char *path = strsep(&rest, "\n"), *selector = rest ? strsep(&rest, "\n") : "";
	autofree char *json =
		xstrdup(rest ? rest : ""); /* of its own, so that no step over is missed */
	char accept[WEBSOCKET_ACCEPT_SIZE];

	try_path(path);
	try_selector(selector, json);
	try_json(json);
	websocket_accept(path, accept);
	return 0;
}
