/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a migration may take and do, frozen when it begins, and how far it has come: between the
 * agent that decides it, and whoever watches libvirt's job.
 */
#ifndef VMAGENT_MIGRATION_LIMITS_H
#define VMAGENT_MIGRATION_LIMITS_H

#include <vmagent/base.h>

#define MIGRATION_DOWNTIME_MAX_MS 2000000 /* KubeVirt's bound, and QEMU's */
#define MIGRATION_SECONDS_MAX     2147483647

struct migration_limits {              /* as they were when it began */
	int64_t bandwidth;             /* bytes a second; 0: as fast as it goes */
	unsigned completion_s_per_gib; /* of memory and copied disks; 0: no limit */
	unsigned progress_s;           /* without a new low of what remains; 0: no limit */
	unsigned max_downtime_ms;
	bool auto_converge;
	bool post_copy; /* may be used when time is up */
	bool disrupt;   /* the guest may be paused, or go over to post-copy, when time is up */
};

#define MIGRATION_LIMITS_DEFAULT             \
	((struct migration_limits){          \
		.completion_s_per_gib = 150, \
		.progress_s = 150,           \
		.max_downtime_ms = 900,      \
	})

enum migration_mode { /* KubeVirt's, of the copying */
	MIGRATION_MODE_PRE_COPY,
	MIGRATION_MODE_POST_COPY,
	MIGRATION_MODE_PAUSED
};

struct migration_progress { /* of libvirt's job; total 0: nothing is known */
	msec elapsed;
	int64_t total, processed, remaining; /* bytes of memory and of the disks that are copied */
	/* Bytes a second that are sent; 0: libvirt does not say, see migration_rate(). */
	int64_t rate;
	int64_t dirty;        /* … that the guest changes meanwhile */
	unsigned iteration;   /* how often the memory was gone through */
	unsigned throttle;    /* percent of its time that is taken from the guest */
	unsigned downtime_ms; /* for which it may stand still at the end */
	enum migration_mode mode;
	bool given_up; /* whoever watches it has called it off */
};

/* Of disks libvirt tells no rate: then it is what was sent since the last look, or since the
 * beginning. */
static inline int64_t migration_rate(const struct migration_progress *p,
	const struct migration_progress *before)
{
	msec time = p->elapsed - before->elapsed;
	int64_t sent = p->processed - before->processed;

	if (p->rate || time <= 0 || sent <= 0 || sent > INT64_MAX / 1000)
		return p->rate;
	return sent * 1000 / time;
}

/* Seconds until all of it is there, at the present rate; -1: nobody knows. */
static inline int64_t migration_seconds_left(const struct migration_progress *p)
{
	int64_t gain = p->rate - (p->mode == MIGRATION_MODE_PRE_COPY ? p->dirty : 0);

	return p->total && gain > 0 ? (p->remaining + gain - 1) / gain : -1;
}

#endif
