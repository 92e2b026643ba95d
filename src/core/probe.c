/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubelet's rules for probes: so many answers of a kind in a row count.
 */
#include "core/probe.h"

#include <cjson/cJSON.h>
#include <stdio.h>

msec probe_at(const struct probe *probe, const struct probe_state *state, msec running)
{
	return state->next_at ? state->next_at : running + SECONDS(probe->delay_s);
}

void probe_note(struct probe_state *state, const struct probe *probe, const char *wrong, msec now)
{
	state->next_at = now + SECONDS(probe->period_s);
	state->good = wrong ? 0 : MIN(state->good, UINT32_MAX - 1) + 1;
	state->bad = wrong ? MIN(state->bad, UINT32_MAX - 1) + 1 : 0;
	copy_str(state->why, sizeof(state->why), wrong ? wrong : "");
}

enum probe_verdict probe_verdict(const struct probe *probe, const struct probe_state *state)
{
	if (probe->kind != PROBE_NONE && state->bad >= probe->failures)
		return PROBE_FAILED;
	if (probe->kind != PROBE_NONE && state->good >= probe->successes)
		return PROBE_PASSED;
	return PROBE_UNDECIDED;
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool number_of(const cJSON *map, const char *name, int64_t *ret)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(map, name);

	if (!cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble > INT32_MAX)
		return false;
	*ret = (int64_t)item->valuedouble;
	return true;
}

bool probe_exec_pid(const char *answer, int64_t *ret_pid)
{
	cJSON *json = cJSON_Parse(answer);
	bool found = number_of(cJSON_GetObjectItemCaseSensitive(json, "return"), "pid", ret_pid);

	cJSON_Delete(json);
	return found;
}

bool probe_exec_status(const char *answer, bool *ret_exited, int64_t *ret_code)
{
	cJSON *json = cJSON_Parse(answer);
	const cJSON *map = cJSON_GetObjectItemCaseSensitive(json, "return");
	const cJSON *exited = cJSON_GetObjectItemCaseSensitive(map, "exited");
	bool is_status = cJSON_IsBool(exited);

	*ret_exited = cJSON_IsTrue(exited);
	if (!number_of(map, "exitcode", ret_code))
		*ret_code = -1;
	cJSON_Delete(json);
	return is_status;
}

int probe_http_status(const char *answer)
{
	int major, minor, status;

	if (sscanf(answer, "HTTP/%1d.%1d %3d", &major, &minor, &status) != 3 || status < 100)
		return 0;
	return status;
}
