/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A DataVolume: a claim of its own name that is filled from a source, once. What it says, how far
 * it is, and what comes next. Pure.
 */
#ifndef VMAGENT_CORE_DATA_VOLUME_H
#define VMAGENT_CORE_DATA_VOLUME_H

#include "core/check.h"

#define FILL_RETRY_FIRST_S 5
#define FILL_RETRY_MAX_S   300
#define DATA_VOLUME_TIMES  3 /* Bound, Ready, Running */

/* CDI's phases of one, X(constant, name). */
#define DATA_VOLUME_PHASES(X)                  \
	X(PENDING, "Pending")                  \
	X(IMPORT_SCHEDULED, "ImportScheduled") \
	X(IMPORTING, "ImportInProgress")       \
	X(CLONE_SCHEDULED, "CloneScheduled")   \
	X(CLONING, "CloneInProgress")          \
	X(SUCCEEDED, "Succeeded")              \
	X(FAILED, "Failed")

enum data_volume_phase {
#define X(c, t) DATA_VOLUME_##c,
	DATA_VOLUME_PHASES(X)
#undef X
		DATA_VOLUME_PHASE_MAX
};
const char *data_volume_phase_name(enum data_volume_phase phase);

/* What it is filled with, X(constant, field of spec.source). */
#define FILL_SOURCES(X)   \
	X(BLANK, "blank") \
	X(CLAIM, "pvc")   \
	X(REGISTRY, "registry")

enum fill_source {
#define X(c, t) FILL_##c,
	FILL_SOURCES(X)
#undef X
		FILL_SOURCE_MAX
};

struct fill {
	enum fill_source source;
	char *ns, *claim; /* owned or NULL; CLAIM: ns NULL is its own */
	char *image;      /* owned or NULL; REGISTRY: the reference */
	bool preallocate;
};
/* Of a DataVolume's content, as JSON. */
void fill_read(const char *content, struct fill *ret);
void fill_done(struct fill *fill);

/* What is stored of one; part of its record. */
struct data_volume {
	enum data_volume_phase phase;
	bool failing;  /* the last try failed, and there will be another */
	char *words;   /* owned or NULL: what it waits for, or why it failed */
	int64_t tries; /* that failed */
	unsigned percent;
	msec since[DATA_VOLUME_TIMES]; /* wall: of its conditions */
};

/* What is known of its claim. */
enum claim_stand {
	CLAIM_ABSENT,
	CLAIM_FOREIGN, /* there is one of that name, and not its own */
	CLAIM_GOING,   /* … that is being deleted */
	CLAIM_OURS,
};

struct data_volume_view {
	const struct data_volume *now;
	enum fill_source source;
	enum claim_stand claim;
	const char *wait; /* why it cannot be filled now, or NULL */
	bool filling;     /* an op is under way */
	bool early;       /* the time of the next try has not come */
};

enum data_volume_step {
	FILL_NOTHING,
	FILL_MAKE_CLAIM,
	FILL_WAIT,  /* … for what data_volume_decide() says */
	FILL_BEGIN, /* the op leaves */
	FILL_LOST   /* its claim is gone, after it was filled */
};

/* With FILL_WAIT, and only then: *ret_words, borrowed from the view or a constant. */
enum data_volume_step data_volume_decide(const struct data_volume_view *view,
	const char **ret_words);

/* The one setter of a phase, with words or NULL. False if nothing changes. */
bool data_volume_set(struct data_volume *dv, enum data_volume_phase phase, const char *words,
	msec wall);
/* A try of filling it failed. */
void data_volume_fail(struct data_volume *dv, const char *words, msec wall);
/* How long until the next one. */
msec data_volume_pause(const struct data_volume *dv);

/* The claim that it makes: a manifest's tree, owned. size: of the claim that it
 * clones; 0: not known. */
struct node *data_volume_claim(const char *ns, const char *name, const char *content, int64_t size);

/* The DataVolumes that a VM's spec has as templates, in order: objects, owned by the caller. */
size_t data_volume_templates(const struct node *vm_spec, const char *ns, struct node ***ret);

/* Fills in which of them its spec names. */
void vm_take_volumes(struct vm *vm, const struct node *vm_spec);

/* status as it is served, and back from it; ret's strings are owned. */
struct node *data_volume_status(const struct data_volume *dv, const char *name);
void data_volume_load(const struct node *status, struct data_volume *ret);
void data_volume_done(struct data_volume *dv);

/* What CDI and KubeVirt check of a spec; the path at hand is the spec's. */
void data_volume_rules(struct check *c, const struct node *spec);
/* … of a VM's templates; the path at hand is that of the VM's spec. */
void data_volume_template_rules(struct check *c, const struct node *vm_spec);

#endif
