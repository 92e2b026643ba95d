/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far libvirt's job of a migration is, and how the loop is told: as an event, because the op
 * that lasts for as long as the job has one result only. Workers.
 */
#include "io/virt_private.h"

static int64_t number_of(virTypedParameterPtr list, int n, const char *key)
{
	unsigned long long value = 0;
	int small = 0;

	if (virTypedParamsGetULLong(list, n, key, &value) == 1)
		return (int64_t)MIN(value, (unsigned long long)INT64_MAX);
	return virTypedParamsGetInt(list, n, key, &small) == 1 ? small : 0;
}

static struct migration_progress progress_of(virTypedParameterPtr list, int n)
{
	int64_t page = number_of(list, n, VIR_DOMAIN_JOB_MEMORY_PAGE_SIZE);
	int64_t pages = number_of(list, n, VIR_DOMAIN_JOB_MEMORY_DIRTY_RATE);

	return (struct migration_progress){
		.elapsed = number_of(list, n, VIR_DOMAIN_JOB_TIME_ELAPSED),
		.total = number_of(list, n, VIR_DOMAIN_JOB_DATA_TOTAL),
		.processed = number_of(list, n, VIR_DOMAIN_JOB_DATA_PROCESSED),
		.remaining = number_of(list, n, VIR_DOMAIN_JOB_DATA_REMAINING),
		.rate = number_of(list, n, VIR_DOMAIN_JOB_MEMORY_BPS) +
			number_of(list, n, VIR_DOMAIN_JOB_DISK_BPS),
		.dirty = page && pages < INT64_MAX / page ? page * pages : 0,
		.iteration = (unsigned)number_of(list, n, VIR_DOMAIN_JOB_MEMORY_ITERATION),
		.throttle = (unsigned)number_of(list, n, VIR_DOMAIN_JOB_AUTO_CONVERGE_THROTTLE),
	};
}

bool virt_progress(virDomainPtr dom, struct migration_progress *ret)
{
	virTypedParameterPtr list = NULL;
	int type, n = 0;

	if (virDomainGetJobStats(dom, &type, &list, &n, 0) < 0)
		return false;
	*ret = progress_of(list, n);
	virTypedParamsFree(list, n);
	return (type == VIR_DOMAIN_JOB_BOUNDED || type == VIR_DOMAIN_JOB_UNBOUNDED) &&
		ret->total > 0;
}

void virt_progress_tell(struct virt_events *events, const struct op *op,
	const struct migration_progress *progress)
{
	struct domain_event event = { .kind = DOMAIN_EVENT_PROGRESS, .progress = *progress };

	copy_str(event.uuid, UID_SIZE, op->uuid);
	copy_str(event.name, sizeof(event.name), op->domain);
	virt_events_tell(events, &event);
}
