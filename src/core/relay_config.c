/* SPDX-License-Identifier: Apache-2.0 */
/* One table of texts, one of switches; a field that is not known is an error: both ends
 * are of one program. */
#include "core/relay_config.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"

enum when { OPTIONAL, ALWAYS, SOURCE, TARGET, TLS };

static const struct {
	const char *name;
	enum when when; /* it must be there */
	size_t offset;
} texts[] = {
#define TEXT(member, when)                                           \
	{                                                            \
#member, when, offsetof(struct relay_config, member) \
	}
	TEXT(id, ALWAYS),
	TEXT(peer, ALWAYS),
	TEXT(address, SOURCE),
	TEXT(ca, TLS),
	TEXT(cert, TLS),
	TEXT(key, TLS),
	TEXT(libvirt, TARGET),
	TEXT(user, OPTIONAL),
	TEXT(xml, TARGET),
#undef TEXT
};

static const struct {
	const char *name;
	size_t offset;
} switches[] = {
#define SWITCH(member)                                         \
	{                                                      \
#member, offsetof(struct relay_config, member) \
	}
	SWITCH(source),
	SWITCH(plain),
	SWITCH(disks),
	SWITCH(postcopy),
#undef SWITCH
};

static char **text_at(struct relay_config *config, size_t i)
{
	return (char **)((char *)config + texts[i].offset);
}

static bool *switch_at(struct relay_config *config, size_t i)
{
	return (bool *)((char *)config + switches[i].offset);
}

void relay_config_done(struct relay_config *config)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(*text_at(config, i));
	memset(config, 0, sizeof(*config));
}

bool relay_token_read(const char *hex, uint8_t ret[RELAY_TOKEN_SIZE])
{
	if (!hex || strlen(hex) != 2 * (size_t)RELAY_TOKEN_SIZE ||
		strspn(hex, "0123456789abcdef") != strlen(hex))
		return false;
	for (size_t i = 0; i < RELAY_TOKEN_SIZE; i++) {
		unsigned byte = 0;

		sscanf(hex + 2 * i, "%2x", &byte);
		ret[i] = (uint8_t)byte;
	}
	return true;
}

void relay_token_write(const uint8_t token[RELAY_TOKEN_SIZE], char ret[RELAY_TOKEN_TEXT])
{
	for (size_t i = 0; i < RELAY_TOKEN_SIZE; i++)
		snprintf(ret + 2 * i, 3, "%02x", token[i]);
}

static bool read_field(struct relay_config *config, const cJSON *field)
{
	const char *name = field->string;

	for (size_t i = 0; cJSON_IsString(field) && i < ARRAY_SIZE(texts); i++) {
		if (streq(texts[i].name, name) && !*text_at(config, i)) {
			*text_at(config, i) = xstrdup(field->valuestring);
			return true;
		}
	}
	for (size_t i = 0; cJSON_IsBool(field) && i < ARRAY_SIZE(switches); i++) {
		if (streq(switches[i].name, name)) {
			*switch_at(config, i) = cJSON_IsTrue(field);
			return true;
		}
	}
	if (streq(name, "token"))
		return relay_token_read(cJSON_GetStringValue(field), config->token);
	if (streq(name, "hold"))
		return relay_hold_parse(cJSON_GetStringValue(field), &config->hold);
	if (streq(name, "idleSeconds") && cJSON_IsNumber(field) && field->valueint > 0) {
		config->idle_s = (unsigned)field->valueint;
		return true;
	}
	return false;
}

static bool must_be(const struct relay_config *config, enum when when)
{
	return when == ALWAYS || (when == SOURCE && config->source) ||
		(when == TARGET && !config->source) || (when == TLS && !config->plain);
}

static int check(struct relay_config *config, struct err *err)
{
	static const uint8_t none[RELAY_TOKEN_SIZE];
	uint8_t preface[PEER_STREAM_PREFACE_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (must_be(config, texts[i].when) && !*text_at(config, i))
			return err_set(err, ERR_INVALID, "the field '%s' is missing",
				texts[i].name);
	if (memcmp(config->token, none, sizeof(none)) == 0)
		return err_set(err, ERR_INVALID, "the field 'token' is missing");
	if (!peer_stream_preface_write(PEER_STREAM_RPC, config->id, preface))
		return err_set(err, ERR_INVALID, "'id' is no UUID");
	return 0;
}

int relay_config_read(const char *json, struct relay_config *ret, struct err *err)
{
	struct relay_config config = { .idle_s = RELAY_IDLE_DEFAULT };
	cJSON *root = cJSON_ParseWithOpts(json, NULL, true);
	const cJSON *field;
	int rc = 0;

	if (!cJSON_IsObject(root))
		rc = err_set(err, ERR_INVALID, "what should be a JSON object is none");
	cJSON_ArrayForEach(field, root)
	{
		if (rc == 0 && !read_field(&config, field))
			rc = err_set(err, ERR_INVALID,
				"the field '%.40s' is not known, twice, or wrong", field->string);
	}
	if (rc == 0)
		rc = check(&config, err);
	cJSON_Delete(root);
	if (rc < 0)
		relay_config_done(&config);
	else
		*ret = config;
	return rc;
}

char *relay_config_write(const struct relay_config *config)
{
	struct relay_config *c = (struct relay_config *)(uintptr_t)config;
	cJSON *root = cJSON_CreateObject();
	char token[RELAY_TOKEN_TEXT];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (*text_at(c, i))
			cJSON_AddStringToObject(root, texts[i].name, *text_at(c, i));
	for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
		cJSON_AddBoolToObject(root, switches[i].name, *switch_at(c, i));
	relay_token_write(config->token, token);
	cJSON_AddStringToObject(root, "token", token);
	cJSON_AddStringToObject(root, "hold", relay_hold_name(config->hold));
	cJSON_AddNumberToObject(root, "idleSeconds",
		config->idle_s ? config->idle_s : RELAY_IDLE_DEFAULT);
	return json_take_text(root);
}
