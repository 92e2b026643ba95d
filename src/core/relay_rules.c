/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of procedures, each with what its arguments may be; the list of a migration's
 * parameters, likewise. What is on neither does not pass.
 */
#include "core/relay_rules.h"

#include <string.h>

#define COOKIE_MAX   RPC_FRAME_MAX
#define OPEN_URI     "qemu:///system"
#define URI_MAX      256
#define EVENT_CLOSED RPC_CONNECTION_CLOSED
#define SHOWN        "%.*s"
#define SHOWN_MAX    80
#define SHOW(text)   (int)MIN((text).len, (size_t)SHOWN_MAX), (text).data ? (text).data : ""

/* libvirt's virDomainMigrateFlags */
enum {
	FLAG_LIVE = 1 << 0,
	FLAG_PEER2PEER = 1 << 1,
	FLAG_PERSIST_DEST = 1 << 3,
	FLAG_PAUSED = 1 << 5,
	FLAG_NON_SHARED_DISK = 1 << 6,
	FLAG_NON_SHARED_INC = 1 << 7,
	FLAG_CHANGE_PROTECTION = 1 << 8,
	FLAG_UNSAFE = 1 << 9,
	FLAG_COMPRESSED = 1 << 11,
	FLAG_ABORT_ON_ERROR = 1 << 12,
	FLAG_AUTO_CONVERGE = 1 << 13,
	FLAG_POSTCOPY = 1 << 15,
	FLAG_PARALLEL = 1 << 17,
	FLAG_SYNCHRONOUS_WRITES = 1 << 18,
	FLAG_POSTCOPY_RESUME = 1 << 19,
};

#define FLAGS_ALWAYS   (FLAG_LIVE | FLAG_PEER2PEER)
#define FLAGS_DISKS    (FLAG_NON_SHARED_DISK | FLAG_NON_SHARED_INC | FLAG_SYNCHRONOUS_WRITES)
#define FLAGS_POSTCOPY (FLAG_POSTCOPY | FLAG_POSTCOPY_RESUME)
#define FLAGS_ANY                                                                     \
	(FLAG_PERSIST_DEST | FLAG_CHANGE_PROTECTION | FLAG_UNSAFE | FLAG_COMPRESSED | \
		FLAG_ABORT_ON_ERROR | FLAG_AUTO_CONVERGE | FLAG_PARALLEL)

static int bad_arguments(struct err *err)
{
	return err_set(err, ERR_BAD_REQUEST, "its arguments cannot be read");
}

/* ---- parameters of a migration --------------------------------------------------------------- */

static int check_xml(const struct relay_rules *rules, struct rpc_text text, struct err *err)
{
	return xml_facts_check_domain(rules->facts, text.data, text.len, err);
}

static int same(struct rpc_text text, const char *wanted, struct err *err)
{
	if (rpc_text_is(text, wanted))
		return 0;
	return err_set(err, ERR_FORBIDDEN, "it is '" SHOWN "', not '%.150s'", SHOW(text),
		wanted ? wanted : "");
}

static int check_name(const struct relay_rules *rules, struct rpc_text text, struct err *err)
{
	return same(text, xml_facts_name(rules->facts), err);
}

static int check_data(const struct relay_rules *rules, struct rpc_text text, struct err *err)
{
	return same(text, rules->data_uri, err);
}

static int check_disks(const struct relay_rules *rules, struct rpc_text text, struct err *err)
{
	return same(text, rules->disks_uri, err);
}

/* What a parameter may be: check for texts; free where any number or text will do. NEED: a Prepare
 * without it is none. */
enum need { NEED_NOT, NEED_PREPARE, NEED_FINISH = 1 << 1, NEED_BOTH = NEED_PREPARE | NEED_FINISH };

struct param_rule {
	const char *name;
	enum need need;
	int (*check)(const struct relay_rules *rules, struct rpc_text text, struct err *err);
};

static const struct param_rule param_rules[] = {
	{ "destination_xml", NEED_PREPARE, check_xml },
	{ "persistent_xml", NEED_NOT, check_xml },
	{ "destination_name", NEED_FINISH, check_name },
	{ "migrate_uri", NEED_PREPARE, check_data },
	{ "disks_uri", NEED_NOT, check_disks },
	{ "migrate_disks", NEED_NOT, NULL },
	{ "bandwidth", NEED_NOT, NULL },
	{ "bandwidth.postcopy", NEED_NOT, NULL },
	{ "parallel.connections", NEED_NOT, NULL },
	{ "auto_converge.initial", NEED_NOT, NULL },
	{ "auto_converge.increment", NEED_NOT, NULL },
	{ "compression", NEED_NOT, NULL },
	{ "compression.mt.level", NEED_NOT, NULL },
	{ "compression.mt.threads", NEED_NOT, NULL },
	{ "compression.mt.dthreads", NEED_NOT, NULL },
	{ "compression.xbzrle.cache", NEED_NOT, NULL },
};

static int check_param(const struct relay_rules *rules, const struct rpc_param *param,
	unsigned *seen, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(param_rules); i++) {
		const struct param_rule *rule = &param_rules[i];

		if (!rpc_text_is(param->name, rule->name))
			continue;
		if (rule->check && (param->type != RPC_STRING || *seen & 1U << i))
			return err_set(err, ERR_FORBIDDEN,
				"parameter '%s' is no text, or is there twice", rule->name);
		*seen |= 1U << i;
		if (rule->check && rule->check(rules, param->text, err) < 0)
			return err_wrap(err, "parameter '%s'", rule->name);
		return 0;
	}
	return err_set(err, ERR_FORBIDDEN, "parameter '" SHOWN "' is not allowed",
		SHOW(param->name));
}

static int check_params(const struct relay_rules *rules, struct rpc_reader *r, enum need need,
	struct err *err)
{
	uint32_t n = rpc_read_params(r);
	unsigned seen = 0;
	int rc;

	for (uint32_t i = 0; i < n; i++) {
		struct rpc_param param = rpc_read_param(r);

		if (r->bad)
			return bad_arguments(err);
		rc = check_param(rules, &param, &seen, err);
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < ARRAY_SIZE(param_rules); i++)
		if (param_rules[i].need & need && !(seen & 1U << i))
			return err_set(err, ERR_FORBIDDEN, "parameter '%s' is missing",
				param_rules[i].name);
	return 0;
}

/* ---- procedures ------------------------------------------------------------------------------ */

static int check_flags(const struct relay_rules *rules, uint32_t flags, struct err *err)
{
	uint32_t must = FLAGS_ALWAYS | (rules->postcopy ? FLAG_POSTCOPY : FLAG_PAUSED);
	uint32_t may = FLAGS_ANY | must | (rules->postcopy ? FLAGS_POSTCOPY : 0) |
		(rules->disks_uri ? FLAGS_DISKS : 0);

	if ((flags & must) == must && !(flags & ~may))
		return 0;
	return err_set(err, ERR_FORBIDDEN,
		"its flags 0x%x have what is not allowed (0x%x), or not what is needed (0x%x)",
		flags, flags & ~may, must & ~flags);
}

static int check_migration(const struct relay_rules *rules, struct rpc_reader *r, enum need need,
	struct err *err)
{
	struct rpc_text cookie;
	uint32_t flags;
	int rc = check_params(rules, r, need, err);

	if (rc < 0)
		return rc;
	cookie = rpc_read_opaque(r, COOKIE_MAX);
	flags = rpc_read_word(r);
	if (need & NEED_FINISH)
		rpc_read_word(r); /* cancelled */
	if (!rpc_read_end(r))
		return bad_arguments(err);
	if (xml_facts_check_cookie(rules->facts, cookie.data, cookie.len, err) < 0)
		return err_wrap(err, "its cookie");
	return check_flags(rules, flags, err);
}

static int check_prepare(const struct relay_rules *rules, struct rpc_reader *r, struct err *err)
{
	return check_migration(rules, r, NEED_PREPARE, err);
}

static int check_finish(const struct relay_rules *rules, struct rpc_reader *r, struct err *err)
{
	return check_migration(rules, r, NEED_FINISH, err);
}

/* Only to this host's own driver: libvirtd would open a connection to anywhere. */
static int check_open(const struct relay_rules *rules, struct rpc_reader *r, struct err *err)
{
	struct rpc_text uri = rpc_read_optional_text(r, URI_MAX);
	uint32_t flags = rpc_read_word(r);

	(void)rules;
	if (!rpc_read_end(r))
		return bad_arguments(err);
	if (rpc_text_is(uri, OPEN_URI) && flags == 0)
		return 0;
	return err_set(err, ERR_FORBIDDEN, "it opens '" SHOWN "', not '" OPEN_URI "'", SHOW(uri));
}

static int check_word(const struct relay_rules *rules, struct rpc_reader *r, struct err *err)
{
	(void)rules;
	rpc_read_word(r);
	return rpc_read_end(r) ? 0 : bad_arguments(err);
}

static int check_nothing(const struct relay_rules *rules, struct rpc_reader *r, struct err *err)
{
	(void)rules;
	return rpc_read_end(r) ? 0 : bad_arguments(err);
}

static const struct {
	enum rpc_procedure procedure;
	int (*check)(const struct relay_rules *rules, struct rpc_reader *r, struct err *err);
} allowed[] = {
	{ RPC_AUTH_LIST, check_nothing },
	{ RPC_CONNECT_OPEN, check_open },
	{ RPC_CONNECT_CLOSE, check_nothing },
	{ RPC_CONNECT_GET_URI, check_nothing },
	{ RPC_CONNECT_SUPPORTS_FEATURE, check_word },
	{ RPC_CLOSE_CALLBACK, check_nothing },
	{ RPC_CLOSE_CALLBACK_OFF, check_nothing },
	{ RPC_MIGRATE_PREPARE, check_prepare },
	{ RPC_MIGRATE_FINISH, check_finish },
};

bool relay_is_keepalive(const struct rpc_frame *frame)
{
	return frame->program == RPC_KEEPALIVE && frame->version == RPC_KEEPALIVE_V &&
		frame->type == RPC_EVENT && frame->len == 0 && frame->procedure &&
		frame->procedure <= RPC_KEEPALIVE_MAX;
}

static bool is_remote(const struct rpc_frame *frame, enum rpc_type type)
{
	return frame->program == RPC_REMOTE && frame->version == RPC_REMOTE_V &&
		frame->type == type;
}

static int refuse_frame(const struct rpc_frame *frame, struct err *err)
{
	char name[32];

	return err_set(err, ERR_FORBIDDEN,
		"%s (program 0x%x, type %u) is no part of a migration, and is not passed on",
		rpc_procedure_name(frame->procedure, name), frame->program, frame->type);
}

int relay_rules_call(const struct relay_rules *rules, const struct rpc_frame *frame,
	struct err *err)
{
	struct rpc_reader r = rpc_reader_of(frame);
	char name[32];

	if (relay_is_keepalive(frame))
		return 0;
	if (!is_remote(frame, RPC_CALL) || frame->status != RPC_OK)
		return refuse_frame(frame, err);
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++) {
		if (allowed[i].procedure != frame->procedure)
			continue;
		if (allowed[i].check(rules, &r, err) < 0)
			return err_wrap(err, "%s", rpc_procedure_name(frame->procedure, name));
		return 0;
	}
	return refuse_frame(frame, err);
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool is_allowed(const struct rpc_frame *frame)
{
	for (size_t i = 0; is_remote(frame, RPC_CALL) && i < ARRAY_SIZE(allowed); i++)
		if (allowed[i].procedure == frame->procedure)
			return true;
	return false;
}

int relay_talk_call(struct relay_talk *talk, const struct rpc_frame *frame, struct err *err)
{
	if (relay_is_keepalive(frame))
		return 0;
	if (!is_allowed(frame))
		return refuse_frame(frame, err);
	if (talk->n == RELAY_CALLS_MAX)
		return err_set(err, ERR_TOO_MANY, "more than %d calls wait for their answer",
			RELAY_CALLS_MAX);
	talk->calls[talk->n].serial = frame->serial;
	talk->calls[talk->n++].procedure = frame->procedure;
	return 0;
}

/* The guest's memory goes where the target says, if it says it. */
static int check_place(const struct relay_talk *talk, const struct rpc_frame *frame,
	struct err *err)
{
	struct rpc_reader r = rpc_reader_of(frame);
	struct rpc_text uri;

	if (frame->procedure != RPC_MIGRATE_PREPARE || frame->status != RPC_OK)
		return 0;
	rpc_read_opaque(&r, COOKIE_MAX);
	uri = rpc_read_optional_text(&r, URI_MAX);
	if (!rpc_read_end(&r))
		return bad_arguments(err);
	if (!uri.data || rpc_text_is(uri, talk->data_uri))
		return 0;
	return err_set(err, ERR_FORBIDDEN,
		"the answer to a Prepare sends the guest to '" SHOWN "', not to '%.150s'",
		SHOW(uri), talk->data_uri ? talk->data_uri : "");
}

int relay_talk_answer(struct relay_talk *talk, const struct rpc_frame *frame, struct err *err)
{
	if (relay_is_keepalive(frame) ||
		(is_remote(frame, RPC_EVENT) && frame->procedure == EVENT_CLOSED))
		return 0;
	for (unsigned i = 0; is_remote(frame, RPC_REPLY) && i < talk->n; i++) {
		if (talk->calls[i].serial != frame->serial ||
			talk->calls[i].procedure != frame->procedure)
			continue;
		talk->calls[i] = talk->calls[--talk->n];
		return check_place(talk, frame, err);
	}
	return refuse_frame(frame, err);
}

/* ---- the switch-over ------------------------------------------------------------------------- */

/* The last word of its arguments. */
static bool is_cancelled(const struct rpc_frame *frame)
{
	struct rpc_reader r = rpc_reader_of(frame);

	if (r.left < 4)
		return false;
	r.at += r.left - 4;
	r.left = 4;
	return rpc_read_word(&r) != 0;
}

bool relay_is_finish_call(const struct rpc_frame *frame)
{
	return is_remote(frame, RPC_CALL) && frame->procedure == RPC_MIGRATE_FINISH &&
		!is_cancelled(frame);
}

bool relay_is_finish_reply(const struct rpc_frame *frame)
{
	return is_remote(frame, RPC_REPLY) && frame->procedure == RPC_MIGRATE_FINISH;
}
