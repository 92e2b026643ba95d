/* SPDX-License-Identifier: Apache-2.0 */
/* Offers to text and back, and which disks are copied. */
#include "core/migration_offer.h"

#include <string.h>

#include "core/domxml.h"
#include "core/json.h"

static int text_of(const cJSON *json, const char *key, char **ret, struct err *err)
{
	const char *text = json_text(json, key);

	if (!text || !*text)
		return err_set(err, ERR_BAD_REQUEST, "the target's offer: '%s': expected text",
			key);
	*ret = xstrdup(text);
	return 0;
}

static int read_token(const cJSON *json, struct migration_offer *offer, struct err *err)
{
	const cJSON *hex = cJSON_GetObjectItemCaseSensitive(json, "token");

	if (relay_token_read(cJSON_GetStringValue(hex), offer->token))
		return 0;
	return err_set(err, ERR_BAD_REQUEST, "the target's offer: 'token': expected %d hex digits",
		2 * RELAY_TOKEN_SIZE);
}

int migration_offer_read(const char *json, struct migration_offer *ret, struct err *err)
{
	struct migration_offer offer = { .folder = NULL };
	cJSON *root = json_read(json);
	int rc;

	if (!cJSON_IsObject(root))
		rc = err_set(err, ERR_BAD_REQUEST, "the target's offer is no JSON object");
	else
		rc = read_token(root, &offer, err);
	if (rc == 0)
		rc = text_of(root, "folder", &offer.folder, err);
	if (rc == 0)
		rc = text_of(root, "xml", &offer.xml, err);
	offer.post_copy = json_is_true(root, "postCopy");
	offer.plain = json_is_true(root, "disableTLS");
	cJSON_Delete(root);
	if (rc < 0)
		migration_offer_done(&offer);
	else
		*ret = offer;
	return rc;
}

char *migration_offer_write(const struct migration_offer *offer)
{
	char token[RELAY_TOKEN_TEXT];
	cJSON *root = cJSON_CreateObject();

	relay_token_write(offer->token, token);
	cJSON_AddStringToObject(root, "token", token);
	cJSON_AddStringToObject(root, "folder", offer->folder);
	cJSON_AddBoolToObject(root, "disableTLS", offer->plain);
	cJSON_AddStringToObject(root, "xml", offer->xml);
	if (offer->post_copy)
		cJSON_AddTrueToObject(root, "postCopy");
	if (offer->recovery)
		cJSON_AddNumberToObject(root, "recovery", offer->recovery);
	return json_take_text(root);
}

void migration_offer_done(struct migration_offer *offer)
{
	free(offer->folder);
	free(offer->xml);
	memset(offer, 0, sizeof(*offer));
}

/* ---- disks ----------------------------------------------------------------------------------- */

static bool is_written(const struct disk *disk, const struct volume *volume)
{
	return volume && !volume->media && !disk->readonly && disk->device != DISK_DEVICE_CDROM;
}

static bool is_copied(const struct disk *disk, const struct volume *volume)
{
	return is_written(disk, volume) && !volume->shared;
}

bool migration_copies_all(const struct vmi_spec *spec)
{
	for (size_t i = 0; i < spec->n_disks; i++) {
		const struct volume *volume = volume_of(spec, spec->disks[i].name);

		if (is_written(&spec->disks[i], volume) && volume->shared)
			return false;
	}
	return true;
}

char *migration_copies(const struct vmi_spec *spec)
{
	struct buf list = { 0 };

	for (size_t i = 0; i < spec->n_disks; i++) {
		const struct disk *disk = &spec->disks[i];
		char target[TARGET_SIZE];

		if (!is_copied(disk, volume_of(spec, disk->name)))
			continue;
		disk_target(spec, disk, target);
		buf_printf(&list, "%s%s", list.len ? "," : "", target);
	}
	return list.data;
}

int64_t migration_copies_size(const struct vmi_spec *spec)
{
	int64_t size = 0;

	for (size_t i = 0; i < spec->n_disks; i++) {
		const struct volume *volume = volume_of(spec, spec->disks[i].name);

		if (is_copied(&spec->disks[i], volume) && volume->capacity > 0)
			size += volume->capacity;
	}
	return size;
}
