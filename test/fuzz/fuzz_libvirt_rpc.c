/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what a peer's libvirtd sends through a relay, both ways: frames one after the other,
 * judged as calls and as answers, and the bytes as XML of their own. Nothing that is cut short or
 * too large may be read over its end, and what passes as a call is one of the few.
 */
#include <string.h>

#include "core/relay_rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char prepared[] =
	"<domain type='qemu'><name>one</name><uuid>d0000000-0000-4000-8000-f97c5d29941b</uuid>"
	"<os><kernel>/tmp/ve.x5XR/img/vmlinuz</kernel></os><devices><emulator>/usr/bin/qemu-system-x86_64"
	"</emulator><disk type='file' device='disk'><driver name='qemu' type='raw' cache='none'/>"
	"<source file='/tmp/ve.x5XR/b/disks/one.img'/></disk></devices></domain>";

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void judge(const struct relay_rules *rules, struct relay_talk *talk,
	const struct rpc_frame *frame)
{
	bool passes = relay_rules_call(rules, frame, NULL) == 0;
	unsigned waiting = talk->n;

	require(!passes || relay_is_keepalive(frame) || frame->program == RPC_REMOTE);
	require(!passes || frame->procedure != RPC_DOMAIN_DESTROY);
	if (passes)
		relay_talk_call(talk, frame, NULL);
	require(talk->n <= RELAY_CALLS_MAX);
	if (relay_talk_answer(talk, frame, NULL) == 0)
		require(talk->n <= waiting + passes);
	relay_is_finish_call(frame);
	relay_is_finish_reply(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct relay_rules rules = { .data_uri = "unix:///run/vmagent/m/data",
		.disks_uri = "unix:///run/vmagent/m/nbd" };
	struct relay_talk talk = { 0 };
	struct xml_facts *facts = NULL;
	size_t at = 0;
	int used = 1;

	require(xml_facts_new(prepared, &facts, NULL) == 0);
	rules.facts = facts;
	while (used > 0) {
		struct rpc_frame frame;

		used = rpc_frame_take(data + at, size - at, &frame, NULL);
		require(used <= (int)(size - at));
		if (used <= 0)
			break;
		require(frame.payload + frame.len == data + at + used);
		judge(&rules, &talk, &frame);
		at += (size_t)used;
	}
	xml_facts_check_domain(facts, (const char *)data, size, NULL);
	xml_facts_check_cookie(facts, (const char *)data, size, NULL);
	xml_facts_free(facts);
	return 0;
}
