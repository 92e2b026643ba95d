/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An API with the real agent and a store in memory behind it; the hypervisor is one that says yes:
 * a domain that is started runs, and one that is told to stop has stopped.
 */
#ifndef TEST_LIB_API_FIXTURE_H
#define TEST_LIB_API_FIXTURE_H

#include "daemon/api/api.h"
#include "test/lib/client.h"

#define YES_DOMAINS_MAX 16
#define YES_OPS_MAX     256

struct yes_hypervisor {
	struct hypervisor hv; /* first */
	struct domain_info domains[YES_DOMAINS_MAX];
	size_t n;
	struct op ops[YES_OPS_MAX]; /* submitted, not answered */
	size_t n_ops;
	const char *console;  /* of every domain */
	const char *looks;    /* what every guest's agent answers; NULL: there is none */
	unsigned n_looks;     /* how often it was asked */
	const char *graphics; /* the same; NULL: none */
	bool hold;            /* guests do not stop */
	struct err refusal;   /* of the next errands; code OK: done */
	const char *image;    /* SCREENSHOT … */
	size_t image_len;
	bool late;        /* errands wait */
	int fd;           /* FORWARD: given away, and 0 then */
	struct op errand; /* the last one's numbers; its strings are gone */
};

struct api_fixture {
	uv_loop_t loop;
	uv_prepare_t turn;
	struct yes_hypervisor yes;
	struct store *store;
	struct policy policy;
	struct agent_options options;
	struct agent *agent;
	struct api *api;
	char *path;
	char *ro_path; /* of the socket for reading */
	bool frozen;   /* no turns */
};

void api_fixture_start(struct api_fixture *f);
void api_fixture_stop(struct api_fixture *f);

/* A request; the answer's body is owned by the caller. */
int api_ask(struct api_fixture *f, const char *line, const char *body, char **ret_body);
/* … and what it must be answered with: its status, and a text in its body (NULL: any). */
void api_expect(struct api_fixture *f, const char *line, const char *body, int status,
	const char *text);

/* Asks again and again until it is answered with that status. */
void api_until(struct api_fixture *f, const char *line, int status);
/* … until the answer has that text. */
void api_until_text(struct api_fixture *f, const char *line, const char *text);

/* A VirtualMachine's YAML of this name and strategy; static storage. */
const char *api_vm(const char *name, const char *strategy);

#endif
