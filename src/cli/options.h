/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options as kubectl's users type them: anywhere on the line, --name=value, --name value, -o
 * json, -ojson; a flag is turned off by --name=false. One table holds all; a command names
 * those it takes. Pure.
 */
#ifndef VMAGENT_CLI_OPTIONS_H
#define VMAGENT_CLI_OPTIONS_H

#include "cli/cli.h"

/* clang-format off */
/* X(constant, letter, name, kind, field of struct args, value's name, help) */
#define OPTIONS(X)                                                                                   \
	X(HELP, 'h', "help", FLAG, help, NULL, "print this help")                                    \
	X(NAMESPACE, 'n', "namespace", TEXT, ns, "NS", "namespace (default: default)")               \
	X(SOCKET, 0, "socket", TEXT, socket, "PATH",                                                 \
		"the agent's socket (default: $VMAGENT_SOCKET, " SOCKET_DEFAULT ")")                 \
	X(REQUEST_TIMEOUT, 0, "request-timeout", DURATION, request_timeout, "TIME",                  \
		"how long the agent may take to answer (default: 30s)")                              \
	X(OUTPUT, 'o', "output", TEXT, output, "FORMAT",                                             \
		"wide, json, yaml, name, jsonpath=TEMPLATE, custom-columns=NAME:PATH,...")           \
	X(ALL_NAMESPACES, 'A', "all-namespaces", FLAG, all_namespaces, NULL, "of every namespace")   \
	X(WATCH, 'w', "watch", FLAG, watch, NULL, "go on printing what changes")                     \
	X(WATCH_ONLY, 0, "watch-only", FLAG, watch_only, NULL, "print only what changes from now on")\
	X(SELECTOR, 'l', "selector", TEXT, selector, "SELECTOR", "only objects with these labels")   \
	X(SORT_BY, 0, "sort-by", TEXT, sort_by, "PATH", "sort by a field, given as jsonpath")        \
	X(NO_HEADERS, 0, "no-headers", FLAG, no_headers, NULL, "print no column names")              \
	X(SHOW_LABELS, 0, "show-labels", FLAG, show_labels, NULL, "a column with all labels")         \
	X(FILE, 'f', "filename", FILES, files, "FILE", "a file, a folder, or - for standard input")  \
	X(RECURSIVE, 'R', "recursive", FLAG, recursive, NULL, "folders with the folders in them")    \
	X(VALIDATE, 0, "validate", FLAG, validate, NULL,                                             \
		"check the files first, to name line and column (default: true)")                    \
	X(ALL, 0, "all", FLAG, all, NULL, "every object of that type in the namespace")              \
	X(WAIT, 0, "wait", FLAG, wait, NULL, "return only when it is done, or at once: =false")    \
	X(TIMEOUT, 0, "timeout", DURATION, timeout, "TIME", "how long to wait: 90s, 5m; 0: for ever")\
	X(GRACE, 0, "grace-period", GRACE, grace, "SECONDS",                                         \
		"how long the guest may take to end; infinity: it is never killed")                  \
	X(NOW, 0, "now", FLAG, now, NULL, "the same as --grace-period=1")                            \
	X(CASCADE, 0, "cascade", TEXT, cascade, "HOW", "background, foreground, or orphan: leave the VMI") \
	X(IGNORE_NOT_FOUND, 0, "ignore-not-found", FLAG, ignore_not_found, NULL,                     \
		"an object that is not there is no error")                                           \
	X(FORCE, 0, "force", FLAG, force, NULL, "do not wait for the guest; with --grace-period")    \
	X(PAUSED, 0, "paused", FLAG, paused, NULL, "start it paused")                                \
	X(DRY_RUN, 0, "dry-run", CHOICE, dry_run, "HOW", "server (which it is without a value): check it all, change nothing") \
	X(NAME, 0, "name", TEXT, name, "NAME", "what the VM, or this node, is to be called")         \
	X(PKI, 0, "pki", TEXT, pki, "DIR", "folder of certificates (default: /etc/vmagent/pki)")     \
	X(YES, 'y', "yes", FLAG, yes, NULL, "do not ask")                                            \
	X(CANCEL, 0, "cancel", FLAG, cancel, NULL, "the host does not go down after all")            \
	X(IF_SYSTEM_STOPS, 0, "if-system-stops", FLAG, if_system_stops, NULL,                        \
		"do nothing unless systemd says that the system is stopping")                        \
	X(POWER_OFF_VERIFIED, 0, "power-off-verified", FLAG, power_off_verified, NULL,               \
		"you have made sure that the host is without power, and stays so")                   \
	X(FOR, 0, "for", TEXT, for_what, "WHAT", "what to wait for, or whose events")                \
	X(CLIENT, 0, "client", FLAG, client, NULL, "only vmactl's own version")                      \
	X(PORT, 0, "port", NUMBER, port, "N", "the port to listen on; 0: any that is free")          \
	X(PROXY_ONLY, 0, "proxy-only", FLAG, proxy_only, NULL, "start no viewer, print the port")    \
	X(PRESERVE_SESSION, 0, "preserve-session", FLAG, preserve_session, NULL,                     \
		"do not displace who is connected")                                                  \
	X(MOVE_CURSOR, 0, "move-cursor", FLAG, move_cursor, NULL,                                    \
		"move the pointer before, to end a screen saver")                                    \
	X(STDIO, 0, "stdio", FLAG, stdio, NULL, "forward standard input and output")                 \
	X(TO, 0, "to", TEXT, to, "PEER", "to which host (default: the best of those that would take it)") \
	X(CHECK, 0, "check", FLAG, check, NULL, "only ask what stands in its way, there and here")   \
	X(DRAIN, 0, "drain", DURATION, drain, "TIME",                                                \
		"how long to go on reading after the end of the input (default: 2s)")
/* clang-format on */

enum option {
#define X(c, letter, name, kind, field, value, help) OPTION_##c,
	OPTIONS(X)
#undef X
		OPTION_MAX
};

#define TAKES(c)     (UINT64_C(1) << OPTION_##c)
#define TAKES_ALWAYS (TAKES(HELP) | TAKES(NAMESPACE) | TAKES(SOCKET) | TAKES(REQUEST_TIMEOUT))

/*
 * Splits argv (without the program's name) into options and names. The first name is the command:
 * it is looked up at once, because it says which options may follow; *ret_command stays NULL
 * without one. ret_args->names is owned by the caller. Returns 0, or -1 with a usage fault.
 */
int options_parse(int argc, char *const *argv, const struct command **ret_command,
	struct args *ret_args, struct fault *fault);

/* The options' lines of a command's help. */
void options_help(uint64_t options, FILE *out);

/* "90s", "1h30m", "500ms", "0". False when it is none. */
bool duration_parse(const char *text, msec *ret);

#endif
