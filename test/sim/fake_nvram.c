/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests with EFI, whose firmware keeps its variables in a file of the VM's folder. Each run writes
 * one more number there when it begins to execute, also one that goes on after a migration; what
 * QEMU brought along of them is lost with it if it dies before. A run must find the latest,
 * unless they are at a source that was declared dead.
 */
#include <string.h>

#include "core/json.h"
#include "core/nvram.h"
#include "sim.h"

#define WIDTH 8

static struct fake_nvram *find(struct fake_nvram *list, const char *vm)
{
	for (size_t i = 0; i < NVRAMS_MAX; i++)
		if (streq(list[i].vm, vm))
			return &list[i];
	return NULL;
}

static struct fake_nvram *get(struct world *w, struct fake_nvram *list, const char *vm)
{
	struct fake_nvram *one = find(list, vm);

	if (!one)
		one = find(list, "");
	if (!one) {
		world_fail(w, "the simulation has no room for more variables");
		return &list[0];
	}
	copy_str(one->vm, UID_SIZE, vm);
	return one;
}

static struct fake_nvram *latest(struct world *w, const char *vm)
{
	struct world *first = w->lab ? w->lab->hosts[0] : w;

	return get(w, first->fake.nvram_latest, vm);
}

/* Its firmware is EFI, and its variables are kept, as its XML says. */
void fake_nvram_take(struct fake_domain *dom, const struct op *op)
{
	dom->efi = strstr(op->xml, "firmware=\"efi\"") || strstr(op->xml, "<loader ");
	if (op->kept && strstr(op->xml, "/nvram</nvram>"))
		copy_str(dom->variables, UID_SIZE, strrchr(op->kept, '/') + 1);
}

void fake_nvram_boot(struct world *w, const struct fake_domain *dom)
{
	unsigned here, last;

	if (!*dom->variables)
		return;
	here = get(w, w->fake.nvram, dom->variables)->number;
	last = latest(w, dom->variables)->number;
	if (here != last && !watch_took_without_image(w, dom->variables))
		world_fail(w, "%s is to run, and the variables in its file are older: %u, not %u",
			dom->name, here, last);
}

void fake_nvram_write(struct world *w, const struct fake_domain *dom)
{
	if (*dom->variables)
		get(w, w->fake.nvram, dom->variables)->number = ++latest(w, dom->variables)->number;
}

void fake_nvram_purge(struct world *w, const char *vm)
{
	struct fake_nvram *one = find(w->fake.nvram, vm);

	if (one)
		*one = (struct fake_nvram){ .number = 0 };
}

/* ---- what the agent reads and writes --------------------------------------------------------- */

void fake_nvram_read(struct world *w, const struct op *op, struct op_result *result)
{
	const struct fake_nvram *one = find(w->fake.nvram, strrchr(op->kept, '/') + 1);
	struct nvram nvram = { .len = WIDTH, .data = (uint8_t[WIDTH]){ 0 } };

	if (!one) {
		err_set(&result->err, ERR_NOT_FOUND, "there is no '%s/nvram'", op->kept);
		return;
	}
	memcpy(nvram.data, &one->number, sizeof(one->number));
	result->text = json_take_text(nvram_pack(&nvram));
}

void fake_nvram_keep(struct world *w, const struct op *op, struct op_result *result)
{
	cJSON *json = cJSON_Parse(op->nvram);
	struct nvram nvram = { .len = 0 };
	struct fake_nvram *one;

	if (nvram_unpack(json, &nvram, &result->err) == 0 &&
		(nvram.len != WIDTH || w->fake.read_only))
		err_set(&result->err, ERR_IO, "cannot write '%s/nvram'", op->kept);
	if (!result->err.code) {
		one = get(w, w->fake.nvram, strrchr(op->kept, '/') + 1);
		memcpy(&one->number, nvram.data, sizeof(one->number));
	}
	nvram_done(&nvram);
	cJSON_Delete(json);
}
