/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The media of a run: made of the objects that it names, as they are when it is prepared. One that
 * names an object which is not there waits for it.
 */
#include <string.h>

#include "core/domxml.h"
#include "daemon/obstacles.h"

static const char *find(void *ctx, enum object_kind kind, const char *name)
{
	const struct media_finder *finder = ctx;
	const struct record *r = records_look(finder->agent, kind, finder->ns, name);

	return r ? r->content : NULL;
}

struct media_world media_world_of(const struct agent *agent, const struct machine *m,
	struct media_finder *finder)
{
	*finder = (struct media_finder){ agent, m->ns };
	return (struct media_world){ .ns = m->ns,
		.name = m->name,
		.vmi = m->vmi,
		.find = find,
		.ctx = finder };
}

static int files_of(const struct agent *agent, const struct machine *m, const struct volume *volume,
	struct media_files *ret, struct err *err)
{
	struct media_finder finder;
	struct media_world world = media_world_of(agent, m, &finder);

	return media_files_of(volume, &world, ret, err);
}

enum obstacle media_obstacle(const struct agent *agent, const struct machine *m, char **ret_words)
{
	const struct vmi_spec *spec = &m->vmi->typed;

	for (size_t i = 0; i < spec->n_volumes; i++) {
		struct media_files files;
		struct err err;

		if (!spec->volumes[i].media)
			continue;
		if (files_of(agent, m, &spec->volumes[i], &files, &err) < 0) {
			*ret_words = xstrdup(err.msg);
			return OBSTACLE_MISSING;
		}
		media_files_done(&files);
	}
	return OBSTACLE_NONE;
}

void media_fill(const struct agent *agent, const struct machine *m, struct op *op)
{
	for (size_t i = 0; i < op->n_work; i++) {
		struct volume_work *work = &op->work[i];
		const struct volume *volume = volume_of(&m->vmi->typed, work->volume);
		struct media_files files;

		if ((work->kind != VOLUME_WORK_MEDIUM && work->kind != VOLUME_WORK_FOLDER &&
			    work->kind != VOLUME_WORK_TABLE) ||
			files_of(agent, m, volume, &files, NULL) < 0)
			continue;
		work->files = files.list;
		work->n_files = files.n;
	}
}

/* ---- the same again -------------------------------------------------------------------------- */

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* Against changes, not against an enemy: who could make one has the Secrets. */
static uint64_t mix(uint64_t hash, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * FNV_PRIME;
	return (hash ^ len) * FNV_PRIME;
}

static uint64_t mix_files(uint64_t hash, const struct media_files *files)
{
	for (size_t i = 0; i < files->n; i++) {
		hash = mix(hash, files->list[i].path, strlen(files->list[i].path));
		hash = mix(hash, files->list[i].data, files->list[i].len);
	}
	return hash;
}

char *media_digest(const struct agent *agent, const struct machine *m)
{
	uint64_t hash = FNV_BASIS;
	unsigned n = 0;

	for (size_t i = 0; i < m->vmi->typed.n_volumes; i++) {
		const struct volume *volume = &m->vmi->typed.volumes[i];
		struct media_files files;

		if (!volume->media || files_of(agent, m, volume, &files, NULL) < 0)
			continue;
		n++;
		hash = mix(hash, volume->name, strlen(volume->name));
		hash = mix_files(hash, &files);
		media_files_done(&files);
	}
	return n ? xasprintf("%016llx", (unsigned long long)hash) : NULL;
}
