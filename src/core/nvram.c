/* SPDX-License-Identifier: Apache-2.0 */
/* {"size": 540672, "blocks": {"0": "<base64>", "4096": …}}; a flash that was erased is all ones. */
#include "core/nvram.h"

#include <errno.h>
#include <string.h>

#include "core/base64.h"

#define BLANK 0xff

bool nvram_is_kept(const struct vmi *vmi)
{
	return vmi->typed.bootloader != BOOTLOADER_BIOS && vmi->typed.efi_persistent && *vmi->owner;
}

static bool is_blank(const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] != BLANK)
			return false;
	return true;
}

void nvram_done(struct nvram *nvram)
{
	free(nvram->data);
	*nvram = (struct nvram){ 0 };
}

cJSON *nvram_pack(const struct nvram *nvram)
{
	cJSON *json = cJSON_CreateObject(), *blocks;

	cJSON_AddNumberToObject(json, "size", (double)nvram->len);
	blocks = cJSON_AddObjectToObject(json, "blocks");
	for (size_t at = 0; at < nvram->len; at += NVRAM_BLOCK) {
		size_t len = MIN(nvram->len - at, (size_t)NVRAM_BLOCK);
		autofree char *key = xasprintf("%zu", at), *text = NULL;

		if (is_blank(nvram->data + at, len))
			continue;
		text = base64_encode(nvram->data + at, len);
		cJSON_AddStringToObject(blocks, key, text);
	}
	return json;
}

static size_t size_of(const cJSON *json)
{
	const cJSON *size = cJSON_GetObjectItemCaseSensitive(json, "size");

	return cJSON_IsNumber(size) && size->valuedouble >= 1 && size->valuedouble <= NVRAM_MAX
		? (size_t)size->valuedouble
		: 0;
}

/* Where it is to lie; false: nowhere. */
static bool place_of(const cJSON *block, size_t size, size_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoul(block->string, &end, 10);
	return end != block->string && !*end && !errno && *ret % NVRAM_BLOCK == 0 && *ret < size;
}

static bool take_block(const cJSON *block, struct nvram *nvram)
{
	const char *text = cJSON_GetStringValue(block);
	size_t at, len = 0, room;
	autofree char *data = NULL;

	if (!text || !place_of(block, nvram->len, &at))
		return false;
	data = base64_decode(text, &len);
	room = MIN(nvram->len - at, (size_t)NVRAM_BLOCK);
	if (!data || len != room)
		return false;
	memcpy(nvram->data + at, data, len);
	return true;
}

int nvram_unpack(const cJSON *json, struct nvram *ret, struct err *err)
{
	const cJSON *blocks = cJSON_GetObjectItemCaseSensitive(json, "blocks"), *block;
	struct nvram nvram = { .len = size_of(json) };

	if (!nvram.len || !cJSON_IsObject(blocks))
		return err_set(err, ERR_INVALID, "what should be the firmware's variables is not");
	nvram.data = xcalloc(1, nvram.len);
	memset(nvram.data, BLANK, nvram.len);
	cJSON_ArrayForEach(block, blocks)
	{
		if (take_block(block, &nvram))
			continue;
		nvram_done(&nvram);
		return err_set(err, ERR_INVALID,
			"the firmware's variables: the block '%.20s' is wrong", block->string);
	}
	*ret = nvram;
	return 0;
}
