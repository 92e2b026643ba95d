/* SPDX-License-Identifier: Apache-2.0 */
/* Probes against semantics §8.4: when a guest is asked, what its answers come to,
 * and with which words. */
#include <check.h>

#include "core/manifest.h"
#include "core/probe.h"

Suite *test_probe_suite(void);

#define T0 SECONDS(1000)

static const struct probe probe = { .kind = PROBE_TCP,
	.delay_s = 10,
	.period_s = 5,
	.timeout_s = 1,
	.successes = 2,
	.failures = 3 };

START_TEST(a_guest_is_asked_in_time)
{
	struct probe_state state = { 0 };

	ck_assert_int_eq(probe_at(&probe, &state, T0), T0 + SECONDS(10));
	ck_assert_int_eq(probe_at(&probe, &state, 0), SECONDS(10)); /* long ago */
	probe_note(&state, &probe, NULL, T0 + SECONDS(11));
	ck_assert_int_eq(probe_at(&probe, &state, T0), T0 + SECONDS(16));
}
END_TEST

/* Answers in order: + is a good one, - a bad one; with what has been decided after each. */
static const struct {
	const char *answers, *verdicts; /* . undecided, P passed, F failed */
} lives[] = {
	{ "+++", ".PP" },
	{ "---+", "..F." },
	{ "--+--+", "......" },
	{ "++-++", ".P..P" },
	{ "----++", "..FF.P" },
};

START_TEST(answers_in_a_row_count)
{
	struct probe_state state = { 0 };

	ck_assert_int_eq(probe_verdict(&probe, &state), PROBE_UNDECIDED);
	for (size_t i = 0; lives[_i].answers[i]; i++) {
		bool good = lives[_i].answers[i] == '+';

		probe_note(&state, &probe, good ? NULL : "it is ill", T0);
		ck_assert_msg(".PF"[probe_verdict(&probe, &state)] == lives[_i].verdicts[i],
			"%s: answer %zu", lives[_i].answers, i);
		ck_assert_str_eq(state.why, good ? "" : "it is ill");
	}
}
END_TEST

START_TEST(without_a_probe_nothing_is_decided)
{
	struct probe none = { 0 };
	struct probe_state state = { 0 };

	ck_assert_int_eq(probe_verdict(&none, &state), PROBE_UNDECIDED);
}
END_TEST

static const struct {
	const char *answer;
	int status;
} answers[] = {
	{ "HTTP/1.1 200 OK\r\n", 200 },
	{ "HTTP/1.0 404 Not Found\r\nServer:", 404 },
	{ "HTTP/1.1 302\r\n", 302 },
	{ "HTTP/1.1 20", 0 },
	{ "SSH-2.0-OpenSSH_9.2\r\n", 0 },
	{ "HTTP/1.1 -12 OK", 0 },
	{ "", 0 },
};

START_TEST(the_status_of_an_answer)
{
	ck_assert_int_eq(probe_http_status(answers[_i].answer), answers[_i].status);
}
END_TEST

START_TEST(what_an_agent_says_of_a_process)
{
	int64_t pid = 0, code = 0;
	bool exited = false;

	ck_assert(probe_exec_pid("{\"return\":{\"pid\":841}}", &pid));
	ck_assert_int_eq(pid, 841);
	ck_assert(!probe_exec_pid("{\"return\":{}}", &pid));
	ck_assert(!probe_exec_pid("{\"return\":{\"pid\":1e300}}", &pid));
	ck_assert(!probe_exec_pid("no JSON", &pid));
	ck_assert(probe_exec_status("{\"return\":{\"exited\":false}}", &exited, &code));
	ck_assert(!exited);
	ck_assert(
		probe_exec_status("{\"return\":{\"exitcode\":3,\"exited\":true}}", &exited, &code));
	ck_assert(exited);
	ck_assert_int_eq(code, 3);
	ck_assert(probe_exec_status("{\"return\":{\"signal\":9,\"exited\":true}}", &exited, &code));
	ck_assert_int_eq(code, -1);
	ck_assert(!probe_exec_status("{\"return\":{}}", &exited, &code));
}
END_TEST

/* ---- as the manifest has them ---------------------------------------------------------------- */

#define SPEC(probes) "{domain: {}, " probes "}"
#define UUID         "5d307ca9-b3ef-428c-8861-06e72d69f223"

static struct vmi_spec parse(const char *text)
{
	struct documents docs = { 0 };
	struct vmi_spec spec;
	struct place place;
	struct err err;

	ck_assert_msg(!nodes_parse(text, strlen(text), &docs, &place, &err), "%s", err.msg);
	node_set_path(docs.roots[0], "domain.memory.guest", node_new(NODE_STRING, "64Mi"));
	node_set_path(docs.roots[0], "domain.firmware.uuid", node_new(NODE_STRING, UUID));
	vmi_spec_default(docs.roots[0]);
	ck_assert_msg(!spec_parse(docs.roots[0], &spec, &err), "%s", err.msg);
	documents_done(&docs);
	return spec;
}

static void check_probe(const struct probe *is, const struct probe *want)
{
	ck_assert_int_eq(is->kind, want->kind);
	ck_assert_uint_eq(is->delay_s, want->delay_s);
	ck_assert_uint_eq(is->period_s, want->period_s);
	ck_assert_uint_eq(is->timeout_s, want->timeout_s);
	ck_assert_uint_eq(is->successes, want->successes);
	ck_assert_uint_eq(is->failures, want->failures);
	ck_assert_uint_eq(is->port, want->port);
	ck_assert_pstr_eq(is->question, want->question);
	ck_assert_pstr_eq(is->host, want->host);
}

static struct {
	const char *spec;
	struct probe liveness, readiness;
} manifests[] = {
	{ SPEC("readinessProbe: {tcpSocket: {port: 22}}"), { 0 },
		{ PROBE_TCP, 10, 10, 1, 1, 3, 22, NULL, NULL } },
	{ SPEC("livenessProbe: {guestAgentPing: {}, initialDelaySeconds: 120, timeoutSeconds: 5, "
	       "periodSeconds: 20, failureThreshold: 10}"),
		{ PROBE_PING, 130, 20, 6, 1, 10, 0, NULL, NULL }, { 0 } },
	{ SPEC("livenessProbe: {exec: {command: [cat, /tmp/healthy]}, periodSeconds: 0}, "
	       "readinessProbe: {httpGet: {port: 1500}, successThreshold: 2}"),
		{ PROBE_EXEC, 10, 10, 2, 1, 3, 0, NULL,
			"{\"path\":\"cat\",\"arg\":[\"/tmp/healthy\"]}" },
		{ PROBE_HTTP, 10, 10, 1, 2, 3, 1500, NULL,
			"GET / HTTP/1.0\r\nUser-Agent: kube-probe/vmagent\r\nConnection: "
			"close\r\n\r\n" } },
	{ SPEC("readinessProbe: {httpGet: {port: 80, path: /healthz?full, httpHeaders: [{name: Host, value: a.b}, "
	       "{name: X-A, value: ''}]}}"),
		{ 0 },
		{ PROBE_HTTP, 10, 10, 1, 1, 3, 80, NULL,
			"GET /healthz?full HTTP/1.0\r\nHost: a.b\r\nX-A: \r\nUser-Agent: "
			"kube-probe/vmagent\r\nConnection: close\r\n\r\n" } },
	{ SPEC("livenessProbe: {tcpSocket: {port: 22, host: \"::1\"}}, "
	       "readinessProbe: {httpGet: {port: 80, host: www.example.org}}"),
		{ PROBE_TCP, 10, 10, 1, 1, 3, 22, (char *)"::1", NULL },
		{ PROBE_HTTP, 10, 10, 1, 1, 3, 80, (char *)"www.example.org",
			"GET / HTTP/1.0\r\nHost: www.example.org\r\nUser-Agent: "
			"kube-probe/vmagent\r\nConnection: close\r\n\r\n" } },
	{ SPEC("readinessProbe: {httpGet: {port: 80, host: 10.0.0.1, httpHeaders: [{name: host, value: a.b}]}}"),
		{ 0 },
		{ PROBE_HTTP, 10, 10, 1, 1, 3, 80, (char *)"10.0.0.1",
			"GET / HTTP/1.0\r\nhost: a.b\r\nUser-Agent: "
			"kube-probe/vmagent\r\nConnection: close\r\n\r\n" } },
};

START_TEST(a_manifests_probes)
{
	struct vmi_spec spec = parse(manifests[_i].spec);

	check_probe(&spec.probes[PROBE_OF_LIVENESS], &manifests[_i].liveness);
	check_probe(&spec.probes[PROBE_OF_READINESS], &manifests[_i].readiness);
	vmi_spec_done(&spec);
}
END_TEST

Suite *test_probe_suite(void)
{
	Suite *suite = suite_create("probe");
	TCase *tc = tcase_create("§8.4 probes");

	tcase_add_test(tc, a_guest_is_asked_in_time);
	tcase_add_loop_test(tc, answers_in_a_row_count, 0, ARRAY_SIZE(lives));
	tcase_add_test(tc, without_a_probe_nothing_is_decided);
	tcase_add_loop_test(tc, the_status_of_an_answer, 0, ARRAY_SIZE(answers));
	tcase_add_test(tc, what_an_agent_says_of_a_process);
	tcase_add_loop_test(tc, a_manifests_probes, 0, ARRAY_SIZE(manifests));
	suite_add_tcase(suite, tc);
	return suite;
}
