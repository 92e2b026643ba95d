/* SPDX-License-Identifier: Apache-2.0 */
/* The source's word on a migration as JSON, and what the target believes of it. Owns nothing. */
#include "core/migration_told.h"

#include "core/address.h"
#include "core/json.h"
#include "core/migration_policy.h"
#include "core/names.h"

#define ENTERED       "entered" /* a time for each phase */
#define READY         "ready"
#define SIZE          "size"
#define MODE          "mode"
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
}

static void tell_passed(cJSON *json, const struct migration *g)
{
	cJSON *entered = cJSON_AddArrayToObject(json, ENTERED);

	for (unsigned phase = 0; phase <= MIGRATION_PHASE_RUNNING; phase++)
		cJSON_AddItemToArray(entered, cJSON_CreateNumber((double)g->phase_wall[phase]));
	cJSON_AddNumberToObject(json, SIZE, (double)g->size);
	cJSON_AddNumberToObject(json, MODE, g->mode);
}

void migration_tell_course(cJSON *json, const struct migration *g)
{
	tell_passed(json, g);
	cJSON_AddNumberToObject(json, READY, (double)g->ready_wall);
	if (g->progress.total)
		tell_progress(cJSON_AddObjectToObject(json, PROGRESS), &g->progress);
}

char *migration_course(const struct migration *g)
{
	cJSON *json = cJSON_CreateObject();

	migration_tell_course(json, g);
	return json_take_text(json);
}

char *migration_last_word(const struct migration *g)
{
	cJSON *json = cJSON_CreateObject();

	tell_passed(json, g);
	return json_take_text(json);
}

/* ---- what is believed ------------------------------------------------------------------------ */

static double number_of(const cJSON *item, double max)
{
	return cJSON_IsNumber(item) && item->valuedouble > 0 && item->valuedouble < max
		? item->valuedouble
		: 0;
}

static double number_at(const cJSON *json, const char *key, double max)
{
	return number_of(cJSON_GetObjectItemCaseSensitive(json, key), max);
}

static msec time_of(const cJSON *item)
{
	return (msec)number_of(item, WALL_MAX_MS);
}

static bool follow_time(msec *wall, msec told)
{
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
	p.mode = g->mode;
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

static bool follow_mode(struct migration *g, const cJSON *json)
{
	enum migration_mode mode =
		(enum migration_mode)number_at(json, MODE, MIGRATION_MODE_PAUSED + 1);
	bool is_new = mode != g->mode;

	g->mode = mode;
	return is_new;
}

bool migration_follow(struct migration *g, const cJSON *json)
{
	const cJSON *entered = cJSON_GetObjectItemCaseSensitive(json, ENTERED);
	bool runs = time_of(cJSON_GetArrayItem(entered, MIGRATION_PHASE_RUNNING));
	bool is_new = runs && !g->copying;

	if (!cJSON_IsArray(entered))
		return false; /* of an agent that does not say it */
	g->copying |= runs;
	for (unsigned phase = 0; phase <= MIGRATION_PHASE_RUNNING; phase++) {
		msec told = time_of(cJSON_GetArrayItem(entered, (int)phase));

		follow_time(&g->told_wall[phase], told);
		if (phase < MIGRATION_PHASE_RUNNING || g->phase_wall[phase])
			is_new |= follow_time(&g->phase_wall[phase], told);
	}
	is_new |=
		follow_time(&g->ready_wall, time_of(cJSON_GetObjectItemCaseSensitive(json, READY)));
	is_new |= follow_size(g, json);
	is_new |= follow_mode(g, json);
	is_new |= follow_progress(g, cJSON_GetObjectItemCaseSensitive(json, PROGRESS));
	return is_new;
}

void migration_follow_end(struct migration *g, const cJSON *json)
{
	const cJSON *entered = cJSON_GetObjectItemCaseSensitive(json, ENTERED);

	if (!cJSON_IsArray(entered))
		return; /* it knows nothing of it */
	for (unsigned phase = 0; phase <= MIGRATION_PHASE_RUNNING; phase++)
		g->phase_wall[phase] = time_of(cJSON_GetArrayItem(entered, (int)phase));
	g->ready_wall = 0;
	follow_size(g, json);
	follow_mode(g, json);
}
