/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libvirt's RPC, as far as a migration between two daemons needs it. Pure, and reads from untrusted
 * bytes: every length is bounded before it is used, and nothing is copied.
 *
 * A frame is a length in four bytes, which counts itself; a header of six words (program, version,
 * procedure, type, serial, status); and a payload in XDR: words of four bytes, most significant
 * first, texts and opaques with their length in front and filled up to whole words. Numbers are of
 * libvirt 9.0's remote_protocol.x; libvirt never changes one.
 */
#ifndef VMAGENT_CORE_LIBVIRT_RPC_H
#define VMAGENT_CORE_LIBVIRT_RPC_H

#include <vmagent/err.h>

#define RPC_HEADER_SIZE   28        /* with the length */
#define RPC_FRAME_MAX     (4 << 20) /* libvirt allows 32 MiB; two XMLs and a cookie take some 50 KiB */
#define RPC_PARAMS_MAX    64        /* of a migration call */
#define RPC_REMOTE        0x20008086u
#define RPC_REMOTE_V      1u
#define RPC_KEEPALIVE     0x6b656570u
#define RPC_KEEPALIVE_V   1u
#define RPC_KEEPALIVE_MAX 2 /* procedures: ping, pong */

enum rpc_type { /* on the wire */
	RPC_CALL = 0,
	RPC_REPLY = 1,
	RPC_EVENT = 2,
	RPC_TYPE_MAX = 7 /* streams, and calls with descriptors: no business of ours */
};

enum rpc_status { RPC_OK = 0, RPC_ERROR = 1 };

/* X(constant, number, name): what is spoken of here */
#define RPC_PROCEDURES(X)                                            \
	X(CONNECT_OPEN, 1, "ConnectOpen")                            \
	X(CONNECT_CLOSE, 2, "ConnectClose")                          \
	X(DOMAIN_DEFINE_XML, 11, "DomainDefineXML")                  \
	X(DOMAIN_DESTROY, 12, "DomainDestroy")                       \
	X(DOMAIN_LOOKUP_BY_NAME, 23, "DomainLookupByName")           \
	X(CONNECT_SUPPORTS_FEATURE, 60, "ConnectSupportsFeature")    \
	X(AUTH_LIST, 66, "AuthList")                                 \
	X(CONNECT_GET_URI, 110, "ConnectGetURI")                     \
	X(MIGRATE_PREPARE, 303, "DomainMigratePrepare3Params")       \
	X(MIGRATE_PERFORM, 305, "DomainMigratePerform3Params")       \
	X(MIGRATE_FINISH, 306, "DomainMigrateFinish3Params")         \
	X(MIGRATE_CONFIRM, 307, "DomainMigrateConfirm3Params")       \
	X(CLOSE_CALLBACK, 360, "ConnectRegisterCloseCallback")       \
	X(CLOSE_CALLBACK_OFF, 361, "ConnectUnregisterCloseCallback") \
	X(CONNECTION_CLOSED, 362, "ConnectEventConnectionClosed")

enum rpc_procedure {
#define X(constant, number, name) RPC_##constant = (number),
	RPC_PROCEDURES(X)
#undef X
};

struct rpc_frame { /* borrowed from the bytes it was found in */
	uint32_t program, version, procedure, type, serial, status;
	const uint8_t *payload;
	size_t len; /* of the payload */
};

/* The first frame in data: how many bytes it takes; 0 when it is not complete yet;
 * ERR_BAD_REQUEST when it can be none (too short, over RPC_FRAME_MAX, of an unknown type), as
 * soon as its header tells. */
int rpc_frame_take(const void *data, size_t len, struct rpc_frame *ret, struct err *err);

/* "DomainDestroy", or "procedure 4711" in buf. */
const char *rpc_procedure_name(uint32_t procedure, char buf[32]);

/* A payload that is read from its begin on. Whatever does not fit sets bad, and all that is
 * read then is zero. */
struct rpc_reader {
	const uint8_t *at;
	size_t left;
	bool bad;
};

struct rpc_text { /* borrowed, not terminated; data is NULL where there is none */
	const char *data;
	size_t len;
};

struct rpc_reader rpc_reader_of(const struct rpc_frame *frame);
uint32_t rpc_read_word(struct rpc_reader *r);
struct rpc_text rpc_read_opaque(struct rpc_reader *r, size_t max);
struct rpc_text rpc_read_text(struct rpc_reader *r, size_t max); /* an opaque without NUL in it */
struct rpc_text rpc_read_optional_text(struct rpc_reader *r, size_t max); /* may be absent */
bool rpc_read_end(const struct rpc_reader *r); /* all was read, and was good */

bool rpc_text_is(struct rpc_text text, const char *s);

enum rpc_value { /* libvirt's virTypedParameterType */
	RPC_INT = 1,
	RPC_UINT,
	RPC_LLONG,
	RPC_ULLONG,
	RPC_DOUBLE,
	RPC_BOOLEAN,
	RPC_STRING
};

struct rpc_param { /* a typed parameter; borrowed */
	struct rpc_text name;
	enum rpc_value type;
	struct rpc_text text; /* STRING */
};

/* Reads how many follow, at most RPC_PARAMS_MAX, and one of them. */
uint32_t rpc_read_params(struct rpc_reader *r);
struct rpc_param rpc_read_param(struct rpc_reader *r);

#endif
