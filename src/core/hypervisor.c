/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What crosses the port to the hypervisor: the table of operations, copies of them, their end.
 *
 * Owns only constants. It must not know who is behind the port (libvirt or the simulation's fake).
 */
#include <vmagent/hypervisor.h>

#include <string.h>

#include "core/enum.h"

static const struct {
	const char *name;
	enum op_lane lane;
	msec deadline;
} ops[] = {
#define X(c, name, lane, deadline) [OP_##c] = { name, lane, SECONDS(deadline) },
	OPS(X)
#undef X
};
_Static_assert(ARRAY_SIZE(ops) == OP_KIND_MAX, "a row for each kind of op");

const char *op_kind_name(enum op_kind kind)
{
	return (size_t)kind < OP_KIND_MAX ? ops[kind].name : "?";
}

enum op_lane op_kind_lane(enum op_kind kind)
{
	return (size_t)kind < OP_KIND_MAX ? ops[kind].lane : LANE_MAIN;
}

msec op_kind_deadline(enum op_kind kind)
{
	return (size_t)kind < OP_KIND_MAX ? ops[kind].deadline : 0;
}

static const char *const event_kinds[] = { DOMAIN_EVENTS(ENUM_TEXT_) };
_Static_assert(ARRAY_SIZE(event_kinds) == DOMAIN_EVENT_MAX, "a name for each event");

const char *domain_event_kind_name(enum domain_event_kind kind)
{
	return (size_t)kind < DOMAIN_EVENT_MAX ? event_kinds[kind] : "?";
}

bool volume_work_is_expected(const struct volume_work *work)
{
	static const bool expected[VOLUME_WORK_MAX] = {
		[VOLUME_WORK_CHECK] = true,
		[VOLUME_WORK_OVERLAY] = true,
		[VOLUME_WORK_LINK] = true,
		[VOLUME_WORK_BRIDGE] = true,
		[VOLUME_WORK_DEVICE] = true,
		[VOLUME_WORK_PROGRAM] = true,
	};

	return expected[work->kind] && !(work->kind == VOLUME_WORK_OVERLAY && work->claimed);
}

static void files_free(struct media_file *files, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(files[i].path);
		free(files[i].data);
	}
	free(files);
}

static struct media_file *files_copy(const struct media_file *files, size_t n)
{
	struct media_file *copy = n ? xcalloc(n, sizeof(*copy)) : NULL;

	for (size_t i = 0; i < n; i++) {
		copy[i] = (struct media_file){ xstrdup(files[i].path), xcalloc(1, files[i].len + 1),
			files[i].len, files[i].mode };
		memcpy(copy[i].data, files[i].data, files[i].len);
	}
	return copy;
}

void op_done(struct op *op)
{
	for (size_t i = 0; i < op->n_work; i++) {
		free(op->work[i].label);
		files_free(op->work[i].files, op->work[i].n_files);
		free(op->work[i].volume);
		free(op->work[i].target);
		free(op->work[i].base);
		free(op->work[i].inner);
		free(op->work[i].link);
	}
	for (size_t i = 0; i < op->n_networks; i++) {
		free(op->networks[i].name);
		free(op->networks[i].xml);
	}
	free(op->networks);
	free(op->work);
	free(op->ns);
	free(op->name);
	free(op->domain);
	free(op->xml);
	free(op->replaces);
	free(op->peer);
	free(op->migration);
	free(op->offer);
	free(op->relay);
	free(op->copies);
	free(op->jobs);
	free(op->directory);
	free(op->aside);
	free(op->kept);
	free(op->nvram);
	free(op->question);
	free(op->host);
	free(op->forwards);
	*op = (struct op){ 0 };
}

static struct volume_work *work_copy(const struct volume_work *work, size_t n)
{
	struct volume_work *copy;

	if (n == 0)
		return NULL;
	copy = xcalloc(n, sizeof(*copy));
	for (size_t i = 0; i < n; i++) {
		copy[i] = work[i];
		copy[i].volume = xstrdup(work[i].volume);
		copy[i].target = xstrdup(work[i].target);
		copy[i].base = xstrdup(work[i].base);
		copy[i].inner = xstrdup(work[i].inner);
		copy[i].link = xstrdup(work[i].link);
		copy[i].label = xstrdup(work[i].label);
		copy[i].files = files_copy(work[i].files, work[i].n_files);
	}
	return copy;
}

static struct op_network *networks_copy(const struct op_network *networks, size_t n)
{
	struct op_network *copy = n ? xcalloc(n, sizeof(*copy)) : NULL;

	for (size_t i = 0; i < n; i++) {
		copy[i].name = xstrdup(networks[i].name);
		copy[i].xml = xstrdup(networks[i].xml);
		copy[i].or_user = networks[i].or_user;
	}
	return copy;
}

void op_copy(struct op *dst, const struct op *src)
{
	*dst = *src;
	dst->ns = xstrdup(src->ns);
	dst->name = xstrdup(src->name);
	dst->domain = xstrdup(src->domain);
	dst->xml = xstrdup(src->xml);
	dst->replaces = xstrdup(src->replaces);
	dst->peer = xstrdup(src->peer);
	dst->migration = xstrdup(src->migration);
	dst->offer = xstrdup(src->offer);
	dst->relay = xstrdup(src->relay);
	dst->copies = xstrdup(src->copies);
	dst->jobs = xstrdup(src->jobs);
	dst->directory = xstrdup(src->directory);
	dst->aside = xstrdup(src->aside);
	dst->kept = xstrdup(src->kept);
	dst->nvram = xstrdup(src->nvram);
	dst->question = xstrdup(src->question);
	dst->host = xstrdup(src->host);
	dst->forwards = xstrdup(src->forwards);
	dst->work = work_copy(src->work, src->n_work);
	dst->networks = networks_copy(src->networks, src->n_networks);
}

void domain_info_done(struct domain_info *info)
{
	free(info->name);
	free(info->held);
	free(info->console);
	free(info->graphics);
	free(info->firmware);
	free(info->nics);
	*info = (struct domain_info){ 0 };
}

void op_result_done(struct op_result *result)
{
	for (size_t i = 0; i < result->n_domains; i++)
		domain_info_done(&result->domains[i]);
	free(result->domains);
	if (result->detail) {
		free(result->detail->config_xml);
		free(result->detail->live_xml);
	}
	free(result->detail);
	free(result->words);
	free(result->text);
	free(result->fallback);
	free(result->image);
	*result = (struct op_result){ 0 };
}
