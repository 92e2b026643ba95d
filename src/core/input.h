/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that can happen to the agent, as one tagged struct. Whoever notices something checks
 * it, builds an input and hands it to agent_input(); nothing else changes the model. All pointers
 * are borrowed for the call: who keeps an input's content copies it.
 */
#ifndef VMAGENT_CORE_INPUT_H
#define VMAGENT_CORE_INPUT_H

#include <vmagent/hypervisor.h>
#include <vmagent/peer.h>

#include "core/manifest.h"
#include "core/patch.h"
#include "core/verbs.h"

/* X(constant, name) */
#define INPUTS(X)                                                                                  \
	X(NONE, "none")                                                                            \
	X(CREATE, "create")               /* a request: an object to create */                     \
	X(REPLACE, "replace")             /* a request: an object's new content */                 \
	X(PATCH, "patch")                 /* a request: changes to an object */                    \
	X(DELETE, "delete")               /* a request */                                          \
	X(VERB, "verb")                   /* a request: start, stop, restart */                    \
	X(VMI_VERB, "vmi-verb")           /* a request: pause, unpause, ... */                     \
	X(ADOPT, "adopt")                 /* a request: a VM for a domain */                       \
	X(HOST_SHUTDOWN, "host-shutdown") /* a request: the host goes down, or not after all */    \
	X(ERRAND, "errand")               /* something to be fetched from a guest */               \
	X(MIGRATE, "migrate")           /* a request: a guest to another host, or not after all */ \
	X(DECLARE_DEAD, "declare-dead") /* a request: a peer will not come back */                 \
	X(ACCEPT, "accept")             /* a request: nobody else knows what was lost */           \
	X(FOLDER, "folder")             /* what the manifest folder holds now */                   \
	X(CONNECTION, "connection")     /* to the hypervisor: up or down */                        \
	X(EVENT, "event")               /* of a domain */                                          \
	X(PEER, "peer")                 /* another agent: reachable or not, what it says */        \
	X(RESULT, "result")             /* of an operation */

enum input_kind {
#define X(c, t) INPUT_##c,
	INPUTS(X)
#undef X
		INPUT_MAX
};

/* Who caused it, for events and the log. X(constant, text) */
#define ACTORS(X)         \
	X(AGENT, "agent") \
	X(USER, "user") X(FILE, "file") X(GUEST, "guest") X(LIBVIRT, "libvirt") X(HOST, "host")
enum actor_kind {
#define X(c, t) ACTOR_##c,
	ACTORS(X)
#undef X
		ACTOR_MAX
};
struct actor {
	enum actor_kind kind;
	int64_t uid;      /* USER: of the calling process; -1 when not known */
	const char *file; /* FILE: its name within the folder */
};

/* What a request is answered with, once the turn that handled it is committed. */
struct answer {
	const struct err *err;           /* code OK: accepted */
	const char *object;              /* JSON of the object as it is now, or NULL */
	const char *note;                /* something the caller should be told, or NULL */
	const struct findings *findings; /* what is wrong with the object, or NULL */
	enum object_kind kind;           /* of the object the request named, for Status details */
	const char *name;
};
struct reply {
	void *ctx;
	/* Called exactly once; may be NULL. */
	void (*answer)(void *ctx, const struct answer *answer);
};

struct request {
	struct reply reply;
	struct actor actor;
	enum object_kind kind;
	const char *ns, *name;
	bool dry_run;
	/* CREATE, REPLACE: checked by manifest_check() already */
	const struct manifest *manifest;
	int64_t if_rv; /* REPLACE, DELETE: resourceVersion that it must still have; 0: any */
	const struct node *patch; /* PATCH */
	enum patch_kind patch_kind;
	const char *if_uid;           /* DELETE: UID precondition, or NULL */
	int64_t grace;                /* DELETE: gracePeriodSeconds; GRACE_UNSET: none */
	enum propagation propagation; /* DELETE of a VM */
	enum verb verb;               /* VERB */
	struct verb_options options;
	enum vmi_verb vmi_verb; /* VMI_VERB */
	const char *domain; /* ADOPT: its name or UUID; name may be "": the VM's is the domain's */
	const char *digest; /* ADOPT: of the review that was shown, or NULL */
	bool call_off;      /* HOST_SHUTDOWN, MIGRATE */
	const char *to;     /* MIGRATE: the peer */
	unsigned timeout_s; /* … 0: as configured */
};

/* What a client wants of a guest that changes nothing: it is not stored, and its answer
 * waits for no commit. */
struct errand {
	enum op_kind kind;      /* SCREENSHOT, FORWARD, AGENT_LOOK */
	enum object_kind named; /* FORWARD: KIND_VM, or KIND_VMI as the others */
	const char *ns, *name;
	unsigned port;        /* FORWARD */
	bool wake;            /* SCREENSHOT */
	enum guest_look look; /* AGENT_LOOK */
	void *ctx;            /* of these two the agent knows nothing */
	uint64_t id;
	/* Called once, unless the errands are dropped: at once with a refusal, or
	 * later. Both are borrowed. */
	void (*done)(const struct errand *errand, const struct op_result *result);
};

struct folder_doc_file {     /* one file of the manifest folder */
	const char *name;    /* within the folder */
	const char *content; /* NULL: gone, or not readable */
	size_t len;
	const struct err *err; /* why it is not readable; NULL: it is gone or has content */
};

struct folder_input {
	bool missing; /* the folder itself is not there or not readable: why says so */
	const char *why;
	bool complete; /* files names all there are: others are gone */
	const struct folder_doc_file *files;
	size_t n_files;
};

struct input {
	enum input_kind kind;
	union {
		struct request request;     /* CREATE … ADOPT */
		struct errand errand;       /* ERRAND */
		struct folder_input folder; /* FOLDER */
		struct {
			bool up;
			const char *why;
		} connection;
		const struct domain_event *event;
		const struct op_result *result;
		const struct peer_event *peer;
	};
};

#endif
