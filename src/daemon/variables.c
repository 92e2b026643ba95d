/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables of a guest's EFI firmware, if they are kept with its VM. QEMU brings them along in
 * the guest's memory, but writes them to the target's file only when the guest goes on there:
 * whatever dies before that would take them along. So the source reads what its file holds when the
 * guest is handed over, and sends it; and the target has it in its own file before it is the owner.
 */
#include "core/json.h"
#include "core/migration.h"
#include "core/nvram.h"
#include "daemon/arrivals.h"
#include "daemon/migrations.h"

#define KEY "nvram"

/* That it cannot be read, now or ever. */
static bool is_hopeless(const struct migration *g, enum err_code code)
{
	return code == ERR_NOT_FOUND || code == ERR_TOO_LARGE || g->nvram_tries == NVRAM_TRIES_MAX;
}

/* What cannot be read is left to QEMU: the guest is not to wait for it. */
void variables_read(struct migration *g, const struct op_result *result)
{
	enum err_code code = result->err.code;

	if (g->state != MIGRATION_RELEASED)
		return;
	g->nvram_tries++;
	g->nvram_known = !code || is_hopeless(g, code);
	replace_str(&g->nvram, result->text);
	if (code && g->nvram_known)
		log_text(LOG_LEVEL_ERROR, "%s/%s: the variables of its firmware: %s", g->meta.ns,
			g->vmi, result->err.msg);
}

void variables_add(cJSON *json, const struct migration *g)
{
	if (g && g->role == MIGRATION_SOURCE && g->nvram)
		cJSON_AddRawToObject(json, KEY, g->nvram);
}

/* Of a VM that keeps none here nothing is taken. */
static char *find(const struct machine *m, const char *document)
{
	cJSON *json = m && m->vmi && nvram_is_kept(m->vmi) ? cJSON_Parse(document) : NULL;
	cJSON *nvram = cJSON_DetachItemFromObjectCaseSensitive(json, KEY);

	cJSON_Delete(json);
	return nvram ? json_take_text(nvram) : NULL;
}

void variables_await(struct migration *g, const struct machine *m)
{
	char *nvram = find(m, g->commit);

	free(g->nvram);
	g->nvram = nvram;
}

static void tell(struct migration *g, const struct err *err)
{
	if (migration_note_trouble(g, err->msg))
		log_text(LOG_LEVEL_ERROR, "%s/%s: the variables of its firmware that '%s' sent: %s",
			g->meta.ns, g->vmi, g->peer, err->msg);
}

/* What makes no sense is passed over: QEMU has them, too. A file that cannot be written is waited
 * for: COMMIT will be said again. */
void variables_written(struct migration *g, const struct op_result *result)
{
	if (!g->commit)
		return;
	if (result->err.code)
		tell(g, &result->err);
	if (result->err.code && result->err.code != ERR_INVALID)
		free(take(&g->commit));
	free(take(&g->nvram));
}
