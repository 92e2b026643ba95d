/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables of a guest's EFI firmware, if they are kept with its VM. QEMU brings them along in the guest's memory, but
 * writes them to the target's file only when the guest goes on there: whatever dies before that would take them
 * along. So the source sends what its file holds when the guest is handed over, and the target has it in its own file
 * before it is the owner.
 */
#include "core/domxml.h"
#include "core/nvram.h"
#include "daemon/arrivals.h"

/* Owned by the caller; NULL: they go with the run. */
static char *path_of(const struct agent *agent, const struct vmi *vmi)
{
	autofree char *kept = agent_kept_directory(agent, vmi->owner);
	struct domain_context context = { .kept = kept };

	return domain_nvram(&vmi->typed, &context);
}

void variables_add(cJSON *json, const struct agent *agent, const struct machine *m)
{
	const struct agent_options *o = agent->options;
	autofree char *path = o->nvram_read ? path_of(agent, m->vmi) : NULL;
	struct nvram nvram;
	struct err err;

	if (!path)
		return;
	if (o->nvram_read(o->nvram_ctx, path, &nvram, &err) < 0) {
		log_text(LOG_LEVEL_ERROR, "%s/%s: the variables of its firmware: %s", m->ns,
			m->name, err.msg);
		return;
	}
	cJSON_AddItemToObject(json, "nvram", nvram_pack(&nvram));
	nvram_done(&nvram);
}

static int keep(const struct agent *agent, const struct machine *m, const cJSON *json,
	struct err *err)
{
	const struct agent_options *o = agent->options;
	autofree char *path = path_of(agent, m->vmi);
	struct nvram nvram;
	int rc;

	if (!json || !path)
		return 0;
	rc = nvram_unpack(json, &nvram, err);
	if (rc < 0)
		return rc;
	rc = o->nvram_write(o->nvram_ctx, path, &nvram, err);
	nvram_done(&nvram);
	return rc;
}

int variables_keep(const struct agent *agent, const struct machine *m, const char *document,
	struct err *err)
{
	cJSON *json;
	int rc;

	if (!m->vmi || !agent->options->nvram_write)
		return 0;
	json = cJSON_Parse(document ? document : "");
	rc = keep(agent, m, cJSON_GetObjectItemCaseSensitive(json, "nvram"), err);
	cJSON_Delete(json);
	return rc;
}
