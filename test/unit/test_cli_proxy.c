/* SPDX-License-Identifier: Apache-2.0 */
/* What a proxy lets pass, fed at once and byte by byte: the same must come of both. */
#include <check.h>
#include <string.h>

#include "cli/proxy_filter.h"

Suite *test_cli_proxy_suite(void);

#define GET(host) "GET /version HTTP/1.1\r\nHost: " host "\r\n\r\n"

static const char *const passing[] = {
	GET("localhost"),
	GET("localhost:8001"),
	GET("LocalHost"),
	GET("127.0.0.1:8001"),
	GET("127.9.8.7"),
	GET("[::1]:8001"),
	GET("localhost") GET("127.0.0.1"),
	"GET / HTTP/1.1\r\nHOST:localhost \r\nAccept: */*\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello" GET("localhost"),
	"POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n"
	"GET / HTTP/1.1\r\nHost: evil\r\nOrigin: x\r\n" GET("localhost"),
	"POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
	"5;x=y\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n" GET("localhost"),
	"POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
	"1\r\nh\r\n0\r\nX: y\r\n\r\n" GET("localhost"),
	"GET /c HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\r\n\x81\x05\n\0\r\nhost",
};

static const struct {
	const char *text;
	enum err_code code;
	const char *words;
} refused[] = {
	{ GET("evil.example"), ERR_FORBIDDEN, "host 'evil.example' is not this machine" },
	{ GET("localhost.evil.example"), ERR_FORBIDDEN, "is not this machine" },
	{ GET("127.0.0.1.evil.example"), ERR_FORBIDDEN, "is not this machine" },
	{ GET("128.0.0.1"), ERR_FORBIDDEN, "is not this machine" },
	{ GET("[::1].evil"), ERR_FORBIDDEN, "is not this machine" },
	{ GET(""), ERR_FORBIDDEN, "is not this machine" },
	{ GET("localhost\r\nHost: evil"), ERR_BAD_REQUEST, "two hosts" },
	{ GET("localhost\r\nOrigin: http://localhost"), ERR_FORBIDDEN, "Origin" },
	{ GET("localhost\r\norigin: null"), ERR_FORBIDDEN, "Origin" },
	{ GET("localhost\r\n folded"), ERR_BAD_REQUEST, "no name" },
	{ GET("localhost\r\nOrigin : x"), ERR_BAD_REQUEST, "no name" },
	{ GET("localhost\nOrigin: x"), ERR_BAD_REQUEST, "CR LF" },
	{ GET("localhost\r\nContent-Length: 1\r\nContent-Length: 2"), ERR_BAD_REQUEST,
		"Content-Length" },
	{ GET("localhost\r\nContent-Length: -1"), ERR_BAD_REQUEST, "Content-Length" },
	{ GET("localhost\r\nContent-Length: 99999999999999999999"), ERR_BAD_REQUEST,
		"Content-Length" },
	{ GET("localhost\r\nTransfer-Encoding: gzip, chunked"), ERR_BAD_REQUEST,
		"Transfer-Encoding" },
	{ GET("localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 3"), ERR_BAD_REQUEST,
		"in two ways" },
	{ "GET /version HTTP/1.1\r\n\r\n", ERR_BAD_REQUEST, "no host" },
	{ "GET http://evil/ HTTP/1.1\r\nHost: localhost\r\n\r\n", ERR_BAD_REQUEST, "no path" },
	{ "SSH-2.0-x\r\n\r\n", ERR_BAD_REQUEST, "no HTTP/1 request" },
	{ "\x16\x03\x01\r\n\r\n", ERR_BAD_REQUEST, "no HTTP/1 request" },
	{ "POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
		ERR_BAD_REQUEST, "its length" },
	{ "POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\n",
		ERR_BAD_REQUEST, "its length" },
	{ "POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
		ERR_BAD_REQUEST, "its length" },
};

static size_t length_of(int i)
{
	return i == (int)ARRAY_SIZE(passing) - 1 ? strlen(passing[i]) + strlen("\r\nhost") + 1
						 : strlen(passing[i]);
}

static int feed(const char *text, size_t len, size_t piece, struct buf *out, struct err *err)
{
	struct filter f = { 0 };
	int rc = 0;

	for (size_t at = 0; at < len && rc == 0; at += piece)
		rc = filter_feed(&f, text + at, MIN(piece, len - at), out, err);
	filter_done(&f);
	return rc;
}

static void check_passing(int i, size_t piece)
{
	struct buf out = { 0 };
	struct err err = { 0 };

	ck_assert_msg(feed(passing[i], length_of(i), piece, &out, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(out.len, length_of(i));
	ck_assert_mem_eq(out.data, passing[i], out.len);
	buf_done(&out);
}

START_TEST(test_passes)
{
	check_passing(_i, length_of(_i));
	check_passing(_i, 1);
	check_passing(_i, 7);
}
END_TEST

static void check_refused(int i, size_t piece)
{
	struct buf out = { 0 };
	struct err err = { 0 };

	ck_assert_int_eq(feed(refused[i].text, strlen(refused[i].text), piece, &out, &err),
		-(int)refused[i].code);
	ck_assert_msg(strstr(err.msg, refused[i].words) != NULL, "'%s'", err.msg);
	ck_assert_msg(!out.data || !strstr(out.data, "Origin"), "'%s'", out.data);
	buf_done(&out);
}

START_TEST(test_refuses)
{
	check_refused(_i, strlen(refused[_i].text));
	check_refused(_i, 1);
}
END_TEST

START_TEST(test_a_head_is_bounded)
{
	struct filter f = { 0 };
	struct buf out = { 0 };
	struct err err = { 0 };
	int rc = filter_feed(&f, "GET / HTTP/1.1\r\n", 16, &out, &err);

	for (int i = 0; i < FILTER_HEAD_MAX / 8 && rc == 0; i++)
		rc = filter_feed(&f, "a: bcd\r\n", 8, &out, &err);
	ck_assert_int_eq(rc, -ERR_TOO_LARGE);
	ck_assert_uint_eq(out.len, 0);
	filter_done(&f);
}
END_TEST

Suite *test_cli_proxy_suite(void)
{
	Suite *suite = suite_create("cli_proxy");
	TCase *tcase = tcase_create("filter");

	tcase_add_loop_test(tcase, test_passes, 0, (int)ARRAY_SIZE(passing));
	tcase_add_loop_test(tcase, test_refuses, 0, (int)ARRAY_SIZE(refused));
	tcase_add_test(tcase, test_a_head_is_bounded);
	suite_add_tcase(suite, tcase);
	return suite;
}
