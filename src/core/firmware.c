/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of JSON, both ways; a description has more in it than is wanted. */
#include "core/firmware.h"

#include <string.h>

#include "core/json.h"

#define LOADER    "loader"
#define VARIABLES "variables"
#define FORMAT    "format"
#define SECURE    "secure"

void firmware_done(struct firmware *f)
{
	free(f->loader);
	free(f->variables);
	free(f->format);
	*f = (struct firmware){ 0 };
}

char *firmware_write(const struct firmware *f)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, LOADER, f->loader);
	cJSON_AddStringToObject(json, VARIABLES, f->variables);
	cJSON_AddStringToObject(json, FORMAT, f->format);
	cJSON_AddBoolToObject(json, SECURE, f->secure);
	return json_take_text(json);
}

static char *text_at(const cJSON *json, const char *key)
{
	return xstrdup(json_text(json, key));
}

/* Nothing that is odd in XML, in a log or in words. */
static bool is_path(const char *path)
{
	if (!path || path[0] != '/' || strlen(path) > FIRMWARE_PATH_MAX)
		return false;
	for (const char *c = path; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			return false;
	return true;
}

static bool is_format(const char *format)
{
	return streq(format, "raw") || streq(format, "qcow2");
}

static bool is_firmware(const struct firmware *f)
{
	return is_path(f->loader) && is_path(f->variables) && is_format(f->format);
}

int firmware_read(const char *text, struct firmware *ret, struct err *err)
{
	cJSON *json = text && strlen(text) <= FIRMWARE_TEXT_MAX ? cJSON_Parse(text) : NULL;
	struct firmware f = { .loader = text_at(json, LOADER),
		.variables = text_at(json, VARIABLES),
		.format = text_at(json, FORMAT),
		.secure = json_is_true(json, SECURE) };

	cJSON_Delete(json);
	if (!is_firmware(&f)) {
		firmware_done(&f);
		return err_set(err, ERR_INVALID, "what should be a firmware is none");
	}
	*ret = f;
	return 0;
}

/* ---- descriptions ---------------------------------------------------------------------------- */

static bool has(const cJSON *json, const char *key, const char *text)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, key))
	{
		if (streq(cJSON_GetStringValue(item), text))
			return true;
	}
	return false;
}

/* Not of a firmware that has its variables in the same file as its code, or none. */
static bool is_split(const cJSON *mapping)
{
	autofree char *device = text_at(mapping, "device"), *mode = text_at(mapping, "mode");

	return streq(device, "flash") && (!mode || streq(mode, "split"));
}

bool firmware_described(const char *json, struct firmware *ret)
{
	cJSON *root = cJSON_Parse(json);
	const cJSON *mapping = cJSON_GetObjectItemCaseSensitive(root, "mapping");
	const cJSON *code = cJSON_GetObjectItemCaseSensitive(mapping, "executable");
	const cJSON *variables = cJSON_GetObjectItemCaseSensitive(mapping, "nvram-template");
	autofree char *format = text_at(variables, "format");
	struct firmware f = { .loader = text_at(code, "filename"),
		.variables = text_at(variables, "filename"),
		.format = text_at(code, "format"),
		.secure = has(root, "features", "requires-smm") };
	bool is = has(root, "interface-types", "uefi") && is_split(mapping) &&
		streq(f.format, format) && is_firmware(&f);

	cJSON_Delete(root);
	if (is)
		*ret = f;
	else
		firmware_done(&f);
	return is;
}

bool firmwares_have(const char *list, const struct firmware *f)
{
	autofree char *wanted = firmware_write(f);
	size_t len = strlen(wanted);

	for (const char *at = list; at && *at;) {
		size_t line = strcspn(at, "\n");

		if (line == len && strncmp(at, wanted, len) == 0)
			return true;
		at += line + (at[line] == '\n');
	}
	return false;
}
