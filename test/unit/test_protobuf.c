/* SPDX-License-Identifier: Apache-2.0 */
/* Objects in protobuf: as kubectl 1.32 sends them, byte by byte; and bytes that are none,
 * which must change nothing. */
#include <check.h>
#include <string.h>

#include "core/protobuf.h"

Suite *test_protobuf_suite(void);

#define HEAD(n, kind) "k8s\0\n" n "\n\002v1\022" kind
#define META(name)                                \
	"\n\023\n\003" name "\022\0\032\0\"\0*\0" \
	"2\0"                                     \
	"8\0"                                     \
	"B\0"
#define TAIL        "\032\0\"\0"
#define BYTES(text) text, sizeof(text) - 1

/* clang-format off */
static const struct {
	const char *bytes;
	size_t len;
	const char *json;
} objects[] = {
	{ BYTES(HEAD("\017", "\011Namespace") "\022\033" META("lab") "\022\0\032\002\n\0" TAIL),
	  "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"lab\"}}" },
	{ BYTES(HEAD("\017", "\011ConfigMap") "\022\055" META("cfg") "\022\006\n\001a\022\001b\032\016\n\007bin.dat\022\003a\377b" TAIL),
	  "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"cfg\"},\"data\":{\"a\":\"b\"},\"binaryData\":{\"bin.dat\":\"Yf9i\"}}" },
	{ BYTES(HEAD("\014", "\006Secret") "\022\046" META("pwd") "\022\007\n\002pw\022\001x\032\004Mine(\001" TAIL),
	  "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"pwd\"},\"data\":{\"pw\":\"eA==\"},\"type\":\"Mine\",\"immutable\":true}" },
	{ BYTES(HEAD("\017", "\011Namespace") "\022\025\n\023\n\001x\132\010\n\001k\022\003\303\251v\162\001f\162\001g"),
	  "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"x\",\"labels\":{\"k\":\"\303\251v\"},\"finalizers\":[\"f\",\"g\"]}}" },
	{ BYTES(HEAD("\023", "\015DeleteOptions") "\022\022\010\036\022\003\n\001u\"\006Orphan*\001A"),
	  "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"gracePeriodSeconds\":30,\"preconditions\":{\"uid\":\"u\"},\"propagationPolicy\":\"Orphan\",\"dryRun\":[\"A\"]}" },
};

static const struct {
	const char *bytes;
	size_t len;
	enum err_code code;
} refused[] = {
	{ BYTES(""), ERR_BAD_REQUEST },
	{ BYTES("k8s"), ERR_BAD_REQUEST },
	{ BYTES("{\"kind\":\"Namespace\"}"), ERR_BAD_REQUEST },
	{ BYTES("k8s\0"), ERR_MEDIA_TYPE }, /* no kind */
	{ BYTES("k8s\0\n\011\n\002v1\022\003Pod"), ERR_MEDIA_TYPE },
	{ BYTES(HEAD("\017", "\011Namespace") "\022\002j\0"), ERR_MEDIA_TYPE },	      /* field 13 of it */
	{ BYTES(HEAD("\017", "\011Namespace") "\022\004\n\002j\0"), ERR_MEDIA_TYPE },	      /* ownerReferences */
	{ BYTES(HEAD("\017", "\011Namespace") "\022\005\n\003\n\001\377"), ERR_BAD_REQUEST },  /* no UTF-8 */
	{ BYTES(HEAD("\017", "\011Namespace") "\022\005\n\003\n\001\0"), ERR_BAD_REQUEST },    /* NUL */
	{ BYTES(HEAD("\017", "\011Namespace") "\022\007\n\005\n\003\355\240\200"), ERR_BAD_REQUEST }, /* a surrogate */
	{ BYTES(HEAD("\017", "\011ConfigMap") "\022\055" META("cfg") "\022\006\n\001a\022\001\033\032\016\n\007bin.dat\022\003a\377b" TAIL),
	  ERR_BAD_REQUEST }, /* a control character, which could not be read again */
	{ BYTES(HEAD("\017", "\011Namespace") "\022\004\n\002\010\001"), ERR_BAD_REQUEST },     /* a name that is a number */
	{ BYTES(HEAD("\017", "\011Namespace") "\022\004\n\011\n\001"), ERR_BAD_REQUEST },       /* past the end */
	{ BYTES(HEAD("\017", "\011Namespace") "\022\005\n\003\015\001\001"), ERR_BAD_REQUEST }, /* a wire type that none has */
	{ BYTES(HEAD("\017", "\011Namespace") "\022\014\377\377\377\377\377\377\377\377\377\377\377\001"), ERR_BAD_REQUEST },
};
/* clang-format on */

START_TEST(an_object_is_read)
{
	struct err err = { 0 };
	struct node *root;
	autofree char *json = NULL;

	ck_assert_msg(!protobuf_parse(objects[_i].bytes, objects[_i].len, &root, &err), "%s",
		err.msg);
	json = node_json(root);
	ck_assert_str_eq(json, objects[_i].json);
	node_free(root);
}
END_TEST

START_TEST(other_bytes_are_refused)
{
	struct err err = { 0 };
	struct node *root;

	ck_assert_int_eq(protobuf_parse(refused[_i].bytes, refused[_i].len, &root, &err),
		-(int)refused[_i].code);
	ck_assert_ptr_null(root);
	ck_assert_str_ne(err.msg, "");
}
END_TEST

/* Whatever byte is lost or changed, it is read or refused, and nothing beyond the
 * end is looked at. */
START_TEST(damage_is_borne)
{
	size_t len = objects[_i].len;

	for (size_t i = 0; i < len * 256; i++) {
		unsigned char *copy = xcalloc(1, len);
		struct err err = { 0 };
		struct node *root;

		memcpy(copy, objects[_i].bytes, len);
		copy[i / 256] ^= (unsigned char)i;
		protobuf_parse(copy, i % 2 ? len : i / 256, &root, &err);
		node_free(root);
		free(copy);
	}
}
END_TEST

Suite *test_protobuf_suite(void)
{
	Suite *suite = suite_create("protobuf");
	TCase *tc = tcase_create("objects");

	tcase_add_loop_test(tc, an_object_is_read, 0, ARRAY_SIZE(objects));
	tcase_add_loop_test(tc, other_bytes_are_refused, 0, ARRAY_SIZE(refused));
	tcase_add_loop_test(tc, damage_is_borne, 0, ARRAY_SIZE(objects));
	suite_add_tcase(suite, tc);
	return suite;
}
