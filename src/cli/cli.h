/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of vmactl share: the command table's entry, the options that were given, and how a
 * command fails. A command returns 0, or -1 with a fault that says what to print and how to exit.
 */
#ifndef VMAGENT_CLI_CLI_H
#define VMAGENT_CLI_CLI_H

#include <stdio.h>

#include <vmagent/err.h>

#include "core/node.h"

#define SOCKET_DEFAULT "/run/vmagent/vmagent.sock"

/* Documented in vmactl(1). */
enum exit_code { EXIT_DONE, EXIT_ERROR, EXIT_USAGE, EXIT_UNREACHABLE, EXIT_TIMEOUT };

struct fault {
	enum exit_code exit;
	int status;      /* HTTP status when the agent refused; 0: a fault of our own */
	bool expired;    /* a watch that is older than the agent's change log: list again */
	struct buf text; /* owned; what to print, with its "error: " or "Error from server (…): " */
};

/* Replaces the fault by "error: <words>" and returns -1. */
int fault_set(struct fault *fault, enum exit_code exit, const char *fmt, ...) PRINTF(3, 4);
void fault_done(struct fault *fault); /* leaves it empty */

#define FILES_MAX 64 /* how often -f may be given */

struct args { /* all strings are borrowed from argv */
	const char *ns, *socket, *output, *selector, *sort_by, *for_what, *cascade, *dry_run, *name,
		*pki;
	const char *files[FILES_MAX];
	size_t n_files;
	bool help, all_namespaces, watch, watch_only, no_headers, show_labels, force, paused, all,
		client;
	bool check; /* migrate */
	bool proxy_only, preserve_session, move_cursor, stdio;
	bool recursive, ignore_not_found, now, yes, cancel, if_system_stops;
	bool power_off_verified;
	bool wait, validate; /* true unless =false was given */
	uint64_t given;      /* bits of enum option */
	int64_t grace;       /* GRACE_UNSET: not given */
	int64_t port;        /* -1: not given */
	msec timeout;        /* -1: not given */
	msec request_timeout;
	const char *to;
	msec drain;
	const char **names; /* owned; what is no option */
	size_t n_names;
};

struct cli {
	const struct command *command;
	struct args args;
	enum exit_code worst; /* of the faults that were printed on the way */
};

struct command {
	const char *name;
	const char *synopsis; /* what follows the name */
	const char *summary;  /* one line */
	const char *details;  /* the rest of --help, or NULL */
	uint64_t options;     /* bits of enum option */
	int (*run)(struct cli *cli, struct fault *fault);
};

/* The table ends with an entry without a name. */
extern const struct command *const commands[];
const struct command *command_find(const char *name); /* NULL: none */

/* All of vmactl but the program's name: what argv says, its output, its exit code. */
enum exit_code cli_main(int argc, char *const *argv);

/* Prints a fault of one of several objects and goes on; main() exits with the worst of them. */
void cli_report(struct cli *cli, struct fault *fault);

/* Says that there is nothing of what was asked for, which lies in no namespace if
 * it is the host's. */
void cli_report_none(const struct cli *cli, bool of_the_host);

/* The namespace in force; NULL for all. */
const char *cli_namespace(const struct cli *cli);

/* A mistake in how the command was typed: the words, and where to find help. Returns -1. */
int cli_usage(const struct cli *cli, struct fault *fault, const char *fmt, ...) PRINTF(3, 4);

#endif
