/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fold and the turn under any order of inputs: bytes choose what happens next to three machines
 * of the real agent with a store in memory; events, results, reads and lists say anything at all.
 * No input may trip an assertion: phases move only along their table, and a machine comes to rest.
 *
 * What the simulation checks with a hypervisor that obeys its own rules, this checks with one that
 * does not.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "test/lib/bare_agent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS_MAX 400
#define TURNS_MAX 64
#define NAMES     3

struct world {
	struct bare_agent a;
	const uint8_t *data;
	size_t left;
};

static uint8_t next(struct world *w)
{
	if (!w->left)
		return 0;
	w->left--;
	return *w->data++;
}

static const char *const names[NAMES] = { "a", "b", "c" };

static const char *name_of(uint8_t byte)
{
	return names[byte % NAMES];
}

/* A domain as it may be shown: of this run or another, in any state. */
static void any_domain(struct world *w, const struct op *op, struct domain_info *ret)
{
	uint8_t byte = next(w);

	ret->name = (char *)op->domain;
	ret->state = (enum domain_state)(DOMAIN_NONE + 1 + byte % (DOMAIN_STATE_MAX - 2));
	ret->reason = (enum domain_reason)(next(w) % DOMAIN_REASON_MAX);
	ret->active = ret->state != DOMAIN_SHUTOFF;
	copy_str(ret->uuid, UID_SIZE, op->uuid);
	copy_str(ret->owner, UID_SIZE, byte & 0x80 ? "another" : op->vmi_uid);
}

static void do_result(struct world *w)
{
	static const enum err_code codes[] = { ERR_OK, ERR_OK, ERR_OK, ERR_HYPERVISOR,
		ERR_UNAVAILABLE, ERR_INVALID, ERR_CONFLICT, ERR_DOMAIN_GONE };
	struct domain_info info = { 0 };
	struct op_result result = { .domains = &info };
	struct input input = { .kind = INPUT_RESULT, .result = &result };
	struct op op;

	if (!w->a.n_ops)
		return;
	op = bare_agent_take(&w->a, next(w) % w->a.n_ops);
	result.id = op.id;
	result.kind = op.kind;
	result.err.code = codes[next(w) % ARRAY_SIZE(codes)];
	if (op.domain && next(w) % 4) {
		any_domain(w, &op, &info);
		result.n_domains = 1;
	}
	agent_input(w->a.agent, &input, w->a.now);
	op_done(&op);
}

static void do_event(struct world *w)
{
	struct domain_event event = { .guest = next(w) & 1 };
	struct input input = { .kind = INPUT_EVENT, .event = &event };
	const char *name = name_of(next(w));

	event.kind = (enum domain_event_kind)(next(w) % DOMAIN_EVENT_MAX);
	event.reason = (enum domain_reason)(next(w) % DOMAIN_REASON_MAX);
	copy_str(event.disk, sizeof(event.disk), event.guest ? "data" : "root");
	copy_str(event.io_reason, sizeof(event.io_reason), event.reason % 2 ? "enospc" : "");
	snprintf(event.name, sizeof(event.name), "default_%s", name);
	snprintf(event.uuid, sizeof(event.uuid), "%08d-0000-4000-8000-000000000000", name[0]);
	agent_input(w->a.agent, &input, w->a.now);
}

static void do_connection(struct world *w)
{
	struct input input = { .kind = INPUT_CONNECTION, .connection = { next(w) % 3 != 0, "x" } };

	agent_input(w->a.agent, &input, w->a.now);
}

static void do_request(struct world *w)
{
	static const enum input_kind kinds[] = { INPUT_VERB, INPUT_VERB, INPUT_DELETE,
		INPUT_VMI_VERB };
	struct input input = { .kind = kinds[next(w) % ARRAY_SIZE(kinds)] };
	uint8_t byte = next(w);

	input.request = (struct request){ .kind = byte & 0x40 ? KIND_VMI : KIND_VM,
		.ns = "default",
		.name = name_of(byte),
		.grace = byte & 0x20 ? next(w) : GRACE_UNSET,
		.propagation = (enum propagation)(byte / 4 % PROPAGATION_MAX),
		.verb = (enum verb)(next(w) % VERB_MAX) };
	if (input.kind == INPUT_VERB)
		input.request.kind = KIND_VM;
	if (input.kind == INPUT_VMI_VERB)
		input.request.kind = KIND_VMI;
	input.request.vmi_verb = (enum vmi_verb)(input.request.verb + (byte & 0x80 ? 1 : 0));
	input.request.options.has_grace = byte & 0x10;
	input.request.options.grace = byte & 0x08 ? 0 : 5;
	agent_input(w->a.agent, &input, w->a.now);
}

#define RUN_SPEC                                                               \
	"{terminationGracePeriodSeconds: %d, domain: {memory: {guest: 64Mi}, " \
	"firmware: {uuid: %08d-0000-4000-8000-000000000000}, devices: {}}}"

static const char vm_manifest[] =
	"apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: %s}\nspec:\n"
	"  runStrategy: %s\n  template: {spec: " RUN_SPEC "}\n";
static const char vmi_manifest[] =
	"apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: %s}\n"
	"spec: " RUN_SPEC "\n";

/* Runs stand in files of their own, so that VMs adopt them or find them in the way. */
static void do_folder(struct world *w)
{
	static const char *const strategies[] = { "Always", "RerunOnFailure", "Manual", "Halted",
		"Once" };
	const char *name = name_of(next(w));
	char text[400], vmi_file[8];
	struct folder_doc_file file = { .name = name };
	struct input input = { .kind = INPUT_FOLDER,
		.folder = { .files = &file, .n_files = 1, .complete = next(w) % 8 == 0 } };
	const char *strategy = strategies[next(w) % ARRAY_SIZE(strategies)];
	uint8_t grace = next(w);

	snprintf(text, sizeof(text), vm_manifest, name, strategy, grace % 40, name[0]);
	if (grace >= 200) {
		snprintf(vmi_file, sizeof(vmi_file), "vmi-%s", name);
		file.name = vmi_file;
		snprintf(text, sizeof(text), vmi_manifest, name, grace % 40, name[0]);
	}
	if (next(w) % 4) {
		file.content = text;
		file.len = strlen(text);
	}
	agent_input(w->a.agent, &input, w->a.now);
}

static void life(struct world *w)
{
	bare_agent_start(&w->a);
}

static void do_time(struct world *w)
{
	msec step = (msec)next(w) * next(w);

	w->a.now.boot += step;
	w->a.now.wall += step;
}

static void do_fault(struct world *w)
{
	store_fail_after(w->a.store, next(w) % 4);
}

typedef void act(struct world *w);

static act *const acts[] = { do_result, do_result, do_result, do_result, do_event, do_event,
	do_request, do_request, do_folder, do_connection, do_time, do_time, life, do_fault };

/* After each thing that happens the agent comes to rest. */
static void turns(struct world *w)
{
	unsigned n = 0;

	while (agent_turn(w->a.agent, w->a.now))
		assert(++n < TURNS_MAX * NAMES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world w = { .data = data, .left = size };

	bare_agent_init(&w.a, (struct now){ 1000, 1000000 });
	life(&w);
	for (unsigned i = 0; i < STEPS_MAX && w.left; i++) {
		acts[next(&w) % ARRAY_SIZE(acts)](&w);
		turns(&w);
	}
	bare_agent_done(&w.a);
	return 0;
}
