/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and XDR: bounds first, then borrowed pointers. */
#include "core/libvirt_rpc.h"

#include <stdio.h>
#include <string.h>

#define WORD           4
#define PARAM_NAME_MAX 80 /* VIR_TYPED_PARAM_FIELD_LENGTH */

static uint32_t word_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

const char *rpc_procedure_name(uint32_t procedure, char buf[32])
{
	static const struct {
		uint32_t number;
		const char *name;
	} names[] = {
#define X(constant, number, name) { number, name },
		RPC_PROCEDURES(X)
#undef X
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].number == procedure)
			return names[i].name;
	snprintf(buf, 32, "procedure %u", procedure);
	return buf;
}

/* ---- frames ---------------------------------------------------------------------------------- */

int rpc_frame_take(const void *data, size_t len, struct rpc_frame *ret, struct err *err)
{
	const uint8_t *p = data;
	size_t size;

	if (len < WORD)
		return 0;
	size = word_at(p);
	if (size < RPC_HEADER_SIZE || size > RPC_FRAME_MAX)
		return err_set(err, ERR_BAD_REQUEST,
			"a frame of libvirt's protocol has %zu bytes; %d to %d are possible", size,
			RPC_HEADER_SIZE, RPC_FRAME_MAX);
	if (len < RPC_HEADER_SIZE)
		return 0;
	if (word_at(p + 4 * WORD) >= RPC_TYPE_MAX)
		return err_set(err, ERR_BAD_REQUEST,
			"a frame of libvirt's protocol has the unknown type %u",
			word_at(p + 4 * WORD));
	if (len < size)
		return 0;
	*ret = (struct rpc_frame){
		.program = word_at(p + WORD),
		.version = word_at(p + 2 * WORD),
		.procedure = word_at(p + 3 * WORD),
		.type = word_at(p + 4 * WORD),
		.serial = word_at(p + 5 * WORD),
		.status = word_at(p + 6 * WORD),
		.payload = p + RPC_HEADER_SIZE,
		.len = size - RPC_HEADER_SIZE,
	};
	return (int)size;
}

/* ---- XDR ------------------------------------------------------------------------------------- */

struct rpc_reader rpc_reader_of(const struct rpc_frame *frame)
{
	return (struct rpc_reader){ .at = frame->payload, .left = frame->len };
}

/* NULL where that many bytes are not left. */
static const uint8_t *take_bytes(struct rpc_reader *r, size_t n)
{
	const uint8_t *at = r->at;

	if (r->bad || n > r->left) {
		r->bad = true;
		return NULL;
	}
	r->at += n;
	r->left -= n;
	return at;
}

uint32_t rpc_read_word(struct rpc_reader *r)
{
	const uint8_t *at = take_bytes(r, WORD);

	return at ? word_at(at) : 0;
}

struct rpc_text rpc_read_opaque(struct rpc_reader *r, size_t max)
{
	size_t len = rpc_read_word(r);
	const uint8_t *at;

	if (len > max)
		r->bad = true;
	at = r->bad ? NULL : take_bytes(r, (len + WORD - 1) / WORD * WORD);
	return at ? (struct rpc_text){ (const char *)at, len } : (struct rpc_text){ 0 };
}

struct rpc_text rpc_read_text(struct rpc_reader *r, size_t max)
{
	struct rpc_text text = rpc_read_opaque(r, max);

	if (text.data && memchr(text.data, '\0', text.len)) {
		r->bad = true;
		return (struct rpc_text){ 0 };
	}
	return text;
}

struct rpc_text rpc_read_optional_text(struct rpc_reader *r, size_t max)
{
	uint32_t there = rpc_read_word(r);

	if (there > 1)
		r->bad = true;
	return there == 1 ? rpc_read_text(r, max) : (struct rpc_text){ 0 };
}

bool rpc_read_end(const struct rpc_reader *r)
{
	return !r->bad && r->left == 0;
}

bool rpc_text_is(struct rpc_text text, const char *s)
{
	return text.data && s && strlen(s) == text.len && memcmp(text.data, s, text.len) == 0;
}

/* ---- typed parameters ------------------------------------------------------------------------ */

uint32_t rpc_read_params(struct rpc_reader *r)
{
	uint32_t n = rpc_read_word(r);

	if (n > RPC_PARAMS_MAX)
		r->bad = true;
	return r->bad ? 0 : n;
}

static void read_value(struct rpc_reader *r, enum rpc_value type, struct rpc_text *ret_text)
{
	switch (type) {
	case RPC_INT:
	case RPC_UINT:
	case RPC_BOOLEAN:
		take_bytes(r, WORD);
		return;
	case RPC_LLONG:
	case RPC_ULLONG:
	case RPC_DOUBLE:
		take_bytes(r, (size_t)2 * WORD);
		return;
	case RPC_STRING:
		*ret_text = rpc_read_text(r, RPC_FRAME_MAX);
		return;
	}
	r->bad = true;
}

struct rpc_param rpc_read_param(struct rpc_reader *r)
{
	struct rpc_param param = { .name = rpc_read_text(r, PARAM_NAME_MAX) };

	param.type = (enum rpc_value)rpc_read_word(r);
	read_value(r, param.type, &param.text);
	return r->bad ? (struct rpc_param){ 0 } : param;
}
