/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects to text and back: the public JSON document as the API serves it (KubeVirt's shape, status
 * derived on the spot), and the private state text, which with the document's metadata and spec is
 * all that a restart needs. Pure.
 */
#ifndef VMAGENT_CORE_CODEC_H
#define VMAGENT_CORE_CODEC_H

#include "core/machine.h"
#include "core/steps.h"

/* The document of m's VM or VMI; owned by the caller. node_name: status.nodeName of a run. */
char *vm_document(const struct machine *m);
char *vmi_document(const struct machine *m, const char *node_name);

/* What that has as metadata.labels: the run's own, and where it runs and goes; owned by
 * the caller. NULL: none. */
char *vmi_labels(const struct machine *m, const char *node_name);
/* Takes the latter out of a document again: all, or those that are as the document shown has
 * them. */
void vmi_labels_strip(struct node *root, const struct node *shown);

/* The private state; owned by the caller. */
char *vm_state(const struct vm *vm);
char *vmi_state(const struct vmi *vmi);

/* What was stored, back as an object. same_boot false: another boot of the host, every durable
 * deadline is over. Errors: ERR_INTERNAL with words. */
int vm_load(const char *document, const char *state, bool same_boot, struct vm **ret_vm,
	struct err *err);
int vmi_load(const char *document, const char *state, bool same_boot, struct vmi **ret_vmi,
	struct err *err);

/* Deadlines of another host's clock, which is behind this one's by so much, become this one's; what
 * lies before its boot is as long ago as that. */
void vmi_shift(struct vmi *vmi, msec by);

/* A core/v1 Event: seq is its number, without gaps. owned by the caller. */
struct event_facts { /* borrowed */
	const struct happening *what;
	const struct object_meta *object;
	const char *node_name; /* this host */
	const char *ns, *name; /* of the Event */
	const char *uid;
	int64_t seq, rv;
	msec wall;
};
char *event_document(const struct event_facts *facts);

/* RFC 3339 in UTC, seconds. */
#define TIME_SIZE 24
void format_time(msec wall, char ret[TIME_SIZE]);

/* "agent", "user 1000", "file web.yaml". */
void actor_text(const struct actor *actor, char *ret, size_t size);

#endif
