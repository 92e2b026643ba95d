/* SPDX-License-Identifier: Apache-2.0 */
/* Words in tables, both ways. */
#include "core/relay_control.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/printable.h"

#define VERSION   "1 "
#define OK        VERSION "ok\n"
#define ERROR     VERSION "error "
#define LINE_SIZE (RELAY_WHY_SIZE + 32)

enum takes { TAKES_NONE, TAKES_HOLD, TAKES_CHANNEL };

static const struct {
	const char *name, *path;
	enum peer_connection kind;
} channels[] = {
#define X(c, name, kind, path) { name, path, kind },
	RELAY_CHANNELS(X)
#undef X
};
static const char *const holds[] = {
#define X(c, name) name,
	RELAY_HOLDS(X)
#undef X
};
static const char *const finishes[] = {
#define X(c, name) name,
	RELAY_FINISHES(X)
#undef X
};
static const struct {
	const char *name;
	enum takes takes;
} verbs[] = {
#define X(c, name, argument) { name, TAKES_##argument },
	RELAY_VERBS(X)
#undef X
};

const char *relay_channel_name(enum relay_channel channel)
{
	return channels[channel].name;
}

const char *relay_channel_path(enum relay_channel channel)
{
	return channels[channel].path;
}

enum peer_connection relay_channel_kind(enum relay_channel channel)
{
	return channels[channel].kind;
}

enum relay_channel relay_channel_of(enum peer_connection kind)
{
	enum relay_channel i = 0;

	while (i < RELAY_CHANNEL_MAX - 1 && channels[i].kind != kind)
		i++;
	return i;
}

const char *relay_hold_name(enum relay_hold hold)
{
	return holds[hold];
}

static bool index_of(const char *const *list, size_t n, const char *name, unsigned *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (!streq(list[i], name))
			continue;
		*ret = (unsigned)i;
		return true;
	}
	return false;
}

bool relay_hold_parse(const char *name, enum relay_hold *ret)
{
	unsigned i;

	if (!index_of(holds, ARRAY_SIZE(holds), name, &i))
		return false;
	*ret = i;
	return true;
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool read_argument(const char *word, enum takes takes, struct relay_request *ret)
{
	if (takes == TAKES_HOLD)
		return relay_hold_parse(word, &ret->hold);
	if (takes == TAKES_NONE)
		return *word == '\0';
	for (size_t i = 0; i < ARRAY_SIZE(channels); i++) {
		if (!streq(channels[i].name, word))
			continue;
		ret->channel = i;
		return true;
	}
	return false;
}

int relay_request_read(const char *text, struct relay_request *ret, struct err *err)
{
	struct relay_request request = { 0 };
	char verb[16] = "", argument[16] = "";
	const char *words = text + strlen(VERSION);

	if (!starts_with(text, VERSION))
		return err_set(err, ERR_BAD_REQUEST,
			"a request begins with its version, 1: both ends are of the same vmagent?");
	if (strlen(words) < sizeof(verb) + sizeof(argument) - 1 &&
		sscanf(words, "%15s %15s", verb, argument) >= 1) {
		for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
			request.verb = i;
			if (!streq(verbs[i].name, verb) ||
				!read_argument(argument, verbs[i].takes, &request))
				continue;
			*ret = request;
			return 0;
		}
	}
	return err_set(err, ERR_BAD_REQUEST, "'%.40s' is nothing that a relay does", words);
}

void relay_request_write(const struct relay_request *request, struct buf *out)
{
	buf_printf(out, VERSION "%s", verbs[request->verb].name);
	if (verbs[request->verb].takes == TAKES_HOLD)
		buf_printf(out, " %s", holds[request->hold]);
	if (verbs[request->verb].takes == TAKES_CHANNEL)
		buf_printf(out, " %s", channels[request->channel].name);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* X(word, field) of a channel's counts */
#define COUNTS(X)           \
	X("open", open)     \
	X("opened", opened) \
	X("sent", sent)     \
	X("received", received)

/* A line of its own is what its words stay: others would be read as what the relay says. */
void relay_answer_write(const struct relay_status *status, struct buf *out)
{
	char why[RELAY_WHY_SIZE];

	copy_printable(why, sizeof(why), status->why);
	buf_puts(out, OK);
	buf_printf(out, "hold=%s\nfinish=%s\nrefused=%" PRIu64 "\n", holds[status->hold],
		finishes[status->finish], status->refused);
	for (size_t i = 0; i < RELAY_CHANNEL_MAX; i++) {
#define X(word, field) \
	buf_printf(out, "%s.%s=%" PRIu64 "\n", channels[i].name, word, status->channels[i].field);
		COUNTS(X)
#undef X
	}
	buf_printf(out, "why=%s\n", why);
}

void relay_error_write(const char *why, struct buf *out)
{
	buf_printf(out, ERROR "%s", why);
}

static void read_count(struct relay_status *status, const char *key, const char *value)
{
	uint64_t count = strtoull(value, NULL, 10);
	size_t len = strcspn(key, ".");

	if (streq(key, "refused"))
		status->refused = count;
	for (size_t i = 0; key[len] && i < RELAY_CHANNEL_MAX; i++) {
		struct relay_counts *counts = &status->channels[i];

		if (strlen(channels[i].name) != len || strncmp(channels[i].name, key, len) != 0)
			continue;
#define X(word, field)                  \
	if (streq(key + len + 1, word)) \
		counts->field = count;
		COUNTS(X)
#undef X
	}
}

static void read_line(struct relay_status *status, char *line)
{
	char *value = strchr(line, '=');
	unsigned i;

	if (!value)
		return;
	*value++ = '\0';
	if (streq(line, "why"))
		copy_str(status->why, sizeof(status->why), value);
	else if (streq(line, "hold") && index_of(holds, ARRAY_SIZE(holds), value, &i))
		status->hold = i;
	else if (streq(line, "finish") && index_of(finishes, ARRAY_SIZE(finishes), value, &i))
		status->finish = i;
	else
		read_count(status, line, value);
}

int relay_answer_read(const char *text, struct relay_status *ret, struct err *err)
{
	struct relay_status status = { 0 };

	if (starts_with(text, ERROR))
		return err_set(err, ERR_CONFLICT, "the relay: %.300s", text + strlen(ERROR));
	if (!starts_with(text, OK))
		return err_set(err, ERR_BAD_REQUEST, "the relay's answer makes no sense");
	for (const char *at = text + strlen(OK); *at;) {
		char line[LINE_SIZE];
		size_t len = strcspn(at, "\n");

		copy_str(line, MIN(sizeof(line), len + 1), at);
		read_line(&status, line);
		at += len + (at[len] != '\0');
	}
	*ret = status;
	return 0;
}
