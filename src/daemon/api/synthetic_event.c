/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events in the form of events.k8s.io/v1, as Kubernetes converts those of the core group:
 * what they share is copied, some fields have other names, and those that the newer form has
 * no more are "deprecated".
 */
#include "daemon/api/jsonspan.h"
#include "daemon/api/synthetic.h"

static const struct {
	const char *core, *name;
} fields[] = {
	{ "metadata", "metadata" },
	{ "reportingComponent", "reportingController" },
	{ "reportingInstance", "reportingInstance" },
	{ "reason", "reason" },
	{ "involvedObject", "regarding" },
	{ "message", "note" },
	{ "type", "type" },
	{ "source", "deprecatedSource" },
	{ "firstTimestamp", "deprecatedFirstTimestamp" },
	{ "lastTimestamp", "deprecatedLastTimestamp" },
	{ "count", "deprecatedCount" },
};

/* A time of whole seconds, "2026-01-02T03:04:05Z", with the microseconds that this type must
 * have. */
static void add_event_time(struct buf *out, struct jsonspan event)
{
	struct jsonspan time;

	buf_puts(out, "\"eventTime\":");
	if (jsonspan_member(event, "firstTimestamp", &time) && time.len > 3)
		buf_printf(out, "%.*s.000000Z\"", (int)time.len - 2, time.at);
	else
		buf_puts(out, "null");
}

char *synthetic_event(const char *event)
{
	struct jsonspan whole = jsonspan_of(event), value;
	struct buf out = { 0 };

	buf_puts(&out, "{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\",");
	add_event_time(&out, whole);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (jsonspan_member(whole, fields[i].core, &value))
			buf_printf(&out, ",\"%s\":%.*s", fields[i].name, (int)value.len, value.at);
	buf_puts(&out, "}");
	return out.data;
}
