/* SPDX-License-Identifier: Apache-2.0 */
/* The source's word on a migration as JSON, and what the target believes of it. Owns nothing. */
#include "core/migration_told.h"

#include "core/address.h"
#include "core/json.h"
#include "core/migration_policy.h"
#include "core/names.h"

#define ENTERED       "entered"
#define READY         "ready"
#define SIZE          "size"
#define PROGRESS      "progress"
#define CONFIGURATION "configuration"
#define POLICY        "policy"
#define ADDRESS       "address"

#define NUMBER_MAX 1e15

/* ---- terms ----------------------------------------------------------------------------------- */

void migration_tell_terms(cJSON *json, const struct migration *g)
{
	cJSON_AddItemToObject(json, CONFIGURATION, migration_limits_json(&g->limits));
	if (g->policy)
		cJSON_AddStringToObject(json, POLICY, g->policy);
	if (g->address)
		cJSON_AddStringToObject(json, ADDRESS, g->address);
}

void migration_take_terms(struct migration *g, const cJSON *json)
{
	const cJSON *configuration = cJSON_GetObjectItemCaseSensitive(json, CONFIGURATION);
	const char *policy = json_text(json, POLICY), *address = json_text(json, ADDRESS);
	struct address parsed;

	g->frozen = cJSON_IsObject(configuration);
	migration_limits_read(configuration, &g->limits);
	if (policy && is_dns_subdomain(policy))
		replace_str(&g->policy, policy);
	if (address && address_parse(address, &parsed))
		replace_str(&g->address, address);
}

/* ---- course ---------------------------------------------------------------------------------- */

/* clang-format off */
static const struct number {
	const char *key;
	size_t offset;
	bool is_unsigned;
} numbers[] = {
	{ "elapsed",   offsetof(struct migration_progress, elapsed),     false },
	{ "total",     offsetof(struct migration_progress, total),       false },
	{ "sent",      offsetof(struct migration_progress, processed),   false },
	{ "remaining", offsetof(struct migration_progress, remaining),   false },
	{ "rate",      offsetof(struct migration_progress, rate),        false },
	{ "dirty",     offsetof(struct migration_progress, dirty),       false },
	{ "iteration", offsetof(struct migration_progress, iteration),   true },
	{ "throttle",  offsetof(struct migration_progress, throttle),    true },
	{ "downtime",  offsetof(struct migration_progress, downtime_ms), true },
};
/* clang-format on */

static void tell_progress(cJSON *json, const struct migration_progress *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		const void *at = (const char *)p + numbers[i].offset;

		cJSON_AddNumberToObject(json, numbers[i].key,
			numbers[i].is_unsigned ? (double)*(const unsigned *)at
					       : (double)*(const int64_t *)at);
	}
	cJSON_AddNumberToObject(json, "mode", p->mode);
}

void migration_tell_course(cJSON *json, const struct migration *g)
{
	cJSON *entered = cJSON_AddObjectToObject(json, ENTERED);

	cJSON_AddNumberToObject(json, READY, (double)g->ready_wall);
	cJSON_AddNumberToObject(json, SIZE, (double)g->size);
	for (unsigned phase = 0; phase <= MIGRATION_PHASE_RUNNING; phase++)
		if (g->phase_wall[phase])
			cJSON_AddNumberToObject(entered, migration_phase_name(phase),
				(double)g->phase_wall[phase]);
	if (g->progress.total)
		tell_progress(cJSON_AddObjectToObject(json, PROGRESS), &g->progress);
}

char *migration_course(const struct migration *g)
{
	cJSON *json = cJSON_CreateObject();

	migration_tell_course(json, g);
	return json_take_text(json);
}

static double number_at(const cJSON *json, const char *key, double max)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);

	return cJSON_IsNumber(item) && item->valuedouble > 0 && item->valuedouble < max
		? item->valuedouble
		: 0;
}

static bool follow_time(msec *wall, const cJSON *json, const char *key)
{
	msec told = (msec)number_at(json, key, WALL_MAX_MS);

	if (!told || told == *wall)
		return false;
	*wall = told;
	return true;
}

static bool follow_progress(struct migration *g, const cJSON *json)
{
	struct migration_progress p = { .total = 0 };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		void *at = (char *)&p + numbers[i].offset;

		if (numbers[i].is_unsigned)
			*(unsigned *)at = (unsigned)number_at(json, numbers[i].key, INT32_MAX);
		else
			*(int64_t *)at = (int64_t)number_at(json, numbers[i].key, NUMBER_MAX);
	}
	p.mode = (enum migration_mode)number_at(json, "mode", MIGRATION_MODE_PAUSED + 1);
	if (!p.total || (p.elapsed == g->progress.elapsed && p.mode == g->progress.mode))
		return false;
	g->progress = p;
	return true;
}

/* Its time limit follows from it. */
static bool follow_size(struct migration *g, const cJSON *json)
{
	int64_t size = (int64_t)number_at(json, SIZE, NUMBER_MAX);
	bool is_new = size > g->size;

	g->size = MAX(g->size, size);
	return is_new;
}

bool migration_follow(struct migration *g, const cJSON *json)
{
	const cJSON *entered = cJSON_GetObjectItemCaseSensitive(json, ENTERED);
	bool runs = number_at(entered, migration_phase_name(MIGRATION_PHASE_RUNNING), WALL_MAX_MS);
	bool is_new = runs && !g->copying;

	g->copying |= runs;
	for (unsigned phase = 0; phase <= MIGRATION_PHASE_RUNNING; phase++) {
		const char *key = migration_phase_name(phase);

		follow_time(&g->told_wall[phase], entered, key);
		if (phase < MIGRATION_PHASE_RUNNING || g->phase_wall[phase])
			is_new |= follow_time(&g->phase_wall[phase], entered, key);
	}
	is_new |= follow_time(&g->ready_wall, json, READY);
	is_new |= follow_size(g, json);
	is_new |= follow_progress(g, cJSON_GetObjectItemCaseSensitive(json, PROGRESS));
	return is_new;
}
