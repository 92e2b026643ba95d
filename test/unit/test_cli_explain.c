/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl explain: what is said of a machine in each situation that people ask about, from its
 * objects and events. To read what it says, read the right-hand sides.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "cli/explain.h"
#include "cli/json.h"

Suite *test_cli_explain_suite(void);

#define NOW 1795911000000 /* 2026-11-29T00:10:00Z */

/* Objects, as far as they are looked at. */
#define VM_STATUS(strategy, status, more)                                                        \
	"{\"spec\":{\"runStrategy\":\"" strategy "\"},\"status\":{\"printableStatus\":\"" status \
	"\"" more "}}"
#define CONDITION(type, status, reason, message)                                                 \
	",\"conditions\":[{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" reason \
	"\",\"message\":\"" message "\"}]"
#define VMI_IN(phase, since, meta, more)                                                          \
	"{\"metadata\":{\"uid\":\"u1\"" meta "},\"spec\":{},\"status\":{\"phase\":\"" phase "\"," \
	"\"phaseTransitionTimestamps\":[{\"phase\":\"" phase                                      \
	"\",\"phaseTransitionTimestamp\":\"2026-11-29T" since "Z\"}]" more "}}"
/* On its way from a to b. */
#define VMI_ON(host, phase, meta, more)                                                           \
	"{\"metadata\":{\"uid\":\"u1\"" meta "},\"spec\":{},\"status\":{\"phase\":\"" phase "\"," \
	"\"nodeName\":\"" host                                                                    \
	"\",\"migrationState\":{\"sourceNode\":\"a\",\"targetNode\":\"b\"" more "}}}"
#define MOVES "00:09:40 u1 Migrating agent|moving to 'b'\n"
#define DOUBT                                 \
	"00:09:50 u1 MigrationInDoubt agent|" \
	"it was handed over to 'b', which has not said that it has it\n"
#define DELETED ",\"deletionTimestamp\":\"2026-11-29T00:09:50Z\""

/* One event a line: TIME UID REASON ACTOR | MESSAGE */
#define CREATED "00:00:00 v ManifestApplied file.web.yaml|manifest applied\n"
#define BOOTED                                                                                    \
	"00:00:01 v SuccessfulCreate agent|Started the virtual machine by creating the new …\n" \
	"00:00:01 u1 Created agent|phase Scheduling -> Scheduled\n"                               \
	"00:00:02 u1 Started agent|phase Scheduled -> Running\n"
#define POWEROFF                                                                              \
	"00:05:00 u1 Stopped guest|phase Running -> Succeeded: the guest powered itself off " \
	"(libvirt: Shutoff/Shutdown)\n"
#define CRASHED                                                                            \
	"00:09:00 u1 Stopped host|phase Running -> Failed: QEMU ended without a shutdown " \
	"(libvirt: Shutoff/Crashed)\n"
#define STOP   "00:09:50 v StopRequested user.1000|stop accepted\n"
#define SIGNAL "00:09:50 u1 ShuttingDown agent|signalled the guest to shut down\n"

/* clang-format off */
static const struct {
	const char *name, *vm, *vmi, *events, *trouble, *text;
} cases[] = {
{ "running",
  VM_STATUS("Always", "Running", ""), VMI_IN("Running", "00:00:02", "", ""), CREATED BOOTED, NULL,
  "default/web is Running: its guest runs, and was started 9m58s ago\n"
  "Wanted:   run strategy Always\n"
  "Now:      a run in phase Running, since 9m58s ago\n"
  "History:  2026-11-29T00:00:00Z  manifest applied (file web.yaml)\n"
  "          2026-11-29T00:00:02Z  phase Scheduled -> Running\n" },
{ "goes to another host",
  VM_STATUS("Always", "Migrating", ""), VMI_ON("a", "Running", "", ""), CREATED BOOTED MOVES, NULL,
  "default/web is Migrating: its guest is on its way to 'b': 'vmactl get vmim -o wide' shows how far it is\n"
  "Wanted:   run strategy Always\n"
  "Now:      a run in phase Running\n"
  "History:  2026-11-29T00:00:00Z  manifest applied (file web.yaml)\n"
  "          2026-11-29T00:00:02Z  phase Scheduled -> Running\n"
  "          2026-11-29T00:09:40Z  moving to 'b'\n" },
{ "comes from another host",
  VM_STATUS("WaitAsReceiver", "WaitingForReceiver", CONDITION("Ready", "False", "GuestNotRunning", "it does not run")),
  VMI_ON("b", "WaitingForSync", "", ""), "", NULL,
  "default/web is WaitingForReceiver: its guest is on its way here from 'a'\n"
  "Wanted:   run strategy WaitAsReceiver\n"
  "Now:      a run in phase WaitingForSync\n" },
{ "in doubt",
  VM_STATUS("Always", "Migrating", ""), VMI_ON("a", "Running", "", ""), MOVES DOUBT, NULL,
  "default/web is Migrating: it was handed over to 'b', which has not said that it has it\n"
  "Wanted:   run strategy Always\n"
  "Now:      a run in phase Running\n"
  "History:  2026-11-29T00:09:40Z  moving to 'b'\n"
  "          2026-11-29T00:09:50Z  it was handed over to 'b', which has not said that it has it\n" },
{ "no longer in doubt",
  VM_STATUS("Always", "Running", ""), VMI_ON("a", "Running", "", ",\"completed\":true,\"failed\":true"),
  DOUBT "00:09:55 u1 FailedMigration agent|migration to 'b' failed: …\n", NULL,
  "default/web is Running: its guest runs\n"
  "Wanted:   run strategy Always\n"
  "Now:      a run in phase Running\n"
  "History:  2026-11-29T00:09:50Z  it was handed over to 'b', which has not said that it has it\n"
  "          2026-11-29T00:09:55Z  migration to 'b' failed: …\n" },
{ "has just moved",
  VM_STATUS("Always", "Terminating", ""), VMI_ON("a", "Succeeded", DELETED, ",\"completed\":true"),
  "00:01:00 v DeleteRequested user.0|delete accepted\n" MOVES, NULL,
  "default/web is Terminating: it has moved to 'b': ask there\n"
  "Wanted:   run strategy Always\n"
  "Now:      a run in phase Succeeded; it is to end\n"
  "History:  2026-11-29T00:01:00Z  delete accepted (user 0)\n"
  "          2026-11-29T00:09:40Z  moving to 'b'\n" },
{ "waits for what it names",
  VM_STATUS("Always", "Stopped", CONDITION("Failure", "True", "FailedFindInstancetype",
    "virtualmachineclusterinstancetypes.instancetype.kubevirt.io \\\"u1\\\" not found")), NULL, CREATED, NULL,
  "default/web is Stopped: it cannot be started: virtualmachineclusterinstancetypes.instancetype.kubevirt.io \"u1\" not found\n"
  "Wanted:   run strategy Always\n"
  "Now:      no run\n"
  "History:  2026-11-29T00:00:00Z  manifest applied (file web.yaml)\n" },
{ "stopped by a user",
  VM_STATUS("Halted", "Stopped", ""), NULL, CREATED BOOTED STOP SIGNAL
  "00:09:51 u1 Stopped guest|phase Running -> Succeeded: the guest shut down when asked to (libvirt: Shutoff/Shutdown)\n",
  NULL,
  "default/web is Stopped: user 1000 asked for 'stop' 10s ago\n"
  "Wanted:   run strategy Halted\n"
  "Now:      no run\n"
  "History:  2026-11-29T00:00:00Z  manifest applied (file web.yaml)\n"
  "          2026-11-29T00:00:02Z  phase Scheduled -> Running\n"
  "          2026-11-29T00:09:50Z  stop accepted (user 1000)\n"
  "          2026-11-29T00:09:50Z  signalled the guest to shut down\n"
  "          2026-11-29T00:09:51Z  phase Running -> Succeeded: the guest shut down when asked to (libvirt: Shutoff/Shutdown) (guest)\n"
  "To do:    vmactl start web\n" },
{ "stopped by its file",
  VM_STATUS("Halted", "Stopped", ""), NULL, CREATED, NULL,
  "default/web is Stopped: file web.yaml wants it halted, applied 10m ago\n"
  "Wanted:   run strategy Halted\n"
  "Now:      no run\n"
  "History:  2026-11-29T00:00:00Z  manifest applied (file web.yaml)\n"
  "To do:    vmactl start web\n" },
{ "the guest powered itself off",
  VM_STATUS("RerunOnFailure", "Stopped", ""), NULL, CREATED BOOTED POWEROFF, NULL,
  "default/web is Stopped: the guest powered itself off, 5m ago; RerunOnFailure starts it anew only after a failure\n"
  "Wanted:   run strategy RerunOnFailure\n"
  "Now:      no run\n"
  "History:  2026-11-29T00:00:00Z  manifest applied (file web.yaml)\n"
  "          2026-11-29T00:00:02Z  phase Scheduled -> Running\n"
  "          2026-11-29T00:05:00Z  phase Running -> Succeeded: the guest powered itself off (libvirt: Shutoff/Shutdown) (guest)\n"
  "To do:    vmactl start web\n" },
{ "nobody has started it",
  VM_STATUS("Manual", "Stopped", ""), NULL, CREATED, NULL,
  "default/web is Stopped: nobody has started it yet\n"
  "Wanted:   run strategy Manual\n"
  "Now:      no run\n"
  "History:  2026-11-29T00:00:00Z  manifest applied (file web.yaml)\n"
  "To do:    vmactl start web\n" },
{ "crash loop: a file is missing",
  VM_STATUS("Always", "CrashLoopBackOff", ",\"startFailure\":{\"consecutiveFailCount\":3,"
    "\"retryAfterTimestamp\":\"2026-11-29T00:11:30Z\"}"), NULL,
  "00:09:00 u1 SyncFailed agent|prepare failed: volume 'root': '/disks/web.img' does not exist\n"
  "00:09:00 u1 Stopped agent|phase Scheduling -> Failed: volume 'root': '/disks/web.img' does not exist\n"
  "00:09:00 v StartFailed agent|start failed 3 times in a row; next try in 150 s\n", NULL,
  "default/web is CrashLoopBackOff: 3 runs in a row failed, the last one because: volume 'root': '/disks/web.img' does not exist\n"
  "Wanted:   run strategy Always\n"
  "Now:      no run\n"
  "Next:     it is started again in 90s, at 2026-11-29T00:11:30Z\n"
  "History:  2026-11-29T00:09:00Z  prepare failed: volume 'root': '/disks/web.img' does not exist\n"
  "          2026-11-29T00:09:00Z  phase Scheduling -> Failed: volume 'root': '/disks/web.img' does not exist\n"
  "          2026-11-29T00:09:00Z  start failed 3 times in a row; next try in 150 s\n"
  "To do:    see to /disks/web.img\n" },
{ "crash loop: its guest ends again and again",
  VM_STATUS("Always", "CrashLoopBackOff", CONDITION("CrashLoop", "True", "GuestKeepsEnding",
    "ended 4 times in a row within 120 s of its start, the last time: the guest panicked; next try at 2026-11-29T00:10:12Z")),
  NULL, "00:09:59 u1 Stopped guest|phase Running -> Failed: the guest panicked (libvirt: Shutoff/Crashed)\n", NULL,
  "default/web is CrashLoopBackOff: it ended 4 times in a row within 120 s of its start, the last time: the guest panicked\n"
  "Wanted:   run strategy Always\n"
  "Now:      no run\n"
  "Next:     it is started again in 12s, at 2026-11-29T00:10:12Z\n"
  "History:  2026-11-29T00:09:59Z  phase Running -> Failed: the guest panicked (libvirt: Shutoff/Crashed) (guest)\n" },
{ "its start fails, in QEMU's words",
  VM_STATUS("Always", "Starting", CONDITION("Synchronized", "False", "x", "start domain 'default_web': QEMU ended")),
  VMI_IN("Scheduled", "00:09:00", "", ""),
  "00:09:01 u1 SyncFailed agent|start failed: start domain 'default_web': QEMU ended\n"
  "00:09:01 u1 QEMUOutput agent|QEMU wrote:~qemu: no such thing~qemu: giving up\n"
  "00:09:03 u1 SyncFailed agent|start failed: start domain 'default_web': QEMU ended\n"
  "00:09:06 u1 SyncFailed agent|start failed: start domain 'default_web': QEMU ended\n", NULL,
  "default/web is Starting: its start fails, and is tried again: start domain 'default_web': QEMU ended\n"
  "Wanted:   run strategy Always\n"
  "Now:      a run in phase Scheduled, since 60s ago\n"
  "History:  2026-11-29T00:09:06Z  start failed: start domain 'default_web': QEMU ended, 3 times\n"
  "QEMU:     qemu: no such thing\n"
  "          qemu: giving up\n" },
{ "crashed after it ran",
  VM_STATUS("Manual", "Stopped", ""), VMI_IN("Failed", "00:09:00", "", ""), BOOTED CRASHED
  "00:09:00 u1 QEMUOutput agent|QEMU wrote:~malloc(): corrupted top size\n", NULL,
  "default/web is Stopped: QEMU ended without a shutdown, 60s ago; Manual starts it only when asked to\n"
  "Wanted:   run strategy Manual\n"
  "Now:      a run in phase Failed, since 60s ago\n"
  "History:  2026-11-29T00:00:02Z  phase Scheduled -> Running\n"
  "          2026-11-29T00:09:00Z  phase Running -> Failed: QEMU ended without a shutdown (libvirt: Shutoff/Crashed) (host)\n"
  "QEMU:     malloc(): corrupted top size\n"
  "To do:    vmactl start web\n" },
{ "the words of a run before the last are not shown",
  VM_STATUS("Manual", "Stopped", ""), NULL,
  "00:01:00 u0 Stopped host|phase Running -> Failed: QEMU ended without a shutdown (libvirt: Shutoff/Crashed)\n"
  "00:01:00 u0 QEMUOutput agent|QEMU wrote:~old\n" POWEROFF, NULL,
  "default/web is Stopped: the guest powered itself off, 5m ago; Manual starts it only when asked to\n"
  "Wanted:   run strategy Manual\n"
  "Now:      no run\n"
  "History:  2026-11-29T00:01:00Z  phase Running -> Failed: QEMU ended without a shutdown (libvirt: Shutoff/Crashed) (host)\n"
  "          2026-11-29T00:05:00Z  phase Running -> Succeeded: the guest powered itself off (libvirt: Shutoff/Shutdown) (guest)\n"
  "To do:    vmactl start web\n" },
{ "a bare run that panicked",
  NULL, VMI_IN("Failed", "00:09:00", "", ""),
  "00:09:00 u1 GuestPanicked guest|the guest panicked\n"
  "00:09:00 u1 Stopped guest|phase Running -> Failed: the guest panicked (libvirt: Shutoff/Crashed)\n", NULL,
  "default/web is Failed: the guest panicked, 60s ago\n"
  "Wanted:   one run, which no VM owns\n"
  "Now:      a run in phase Failed, since 60s ago\n"
  "History:  2026-11-29T00:09:00Z  the guest panicked (guest)\n"
  "          2026-11-29T00:09:00Z  phase Running -> Failed: the guest panicked (libvirt: Shutoff/Crashed) (guest)\n" },
{ "killed after its grace",
  VM_STATUS("Halted", "Stopped", ""), NULL, CREATED BOOTED
  "00:01:00 v StopRequested user.0|stop accepted\n"
  "00:01:00 u1 ShuttingDown agent|signalled the guest to shut down\n"
  "00:01:30 u1 Deleted agent|killing the guest: its grace period is over\n"
  "00:01:30 u1 Stopped agent|phase Running -> Failed: killed when its grace period was over (libvirt: Shutoff/Destroyed)\n",
  NULL,
  "default/web is Stopped: user 0 asked for 'stop' 9m ago\n"
  "Wanted:   run strategy Halted\n"
  "Now:      no run\n"
  "History:  2026-11-29T00:00:00Z  manifest applied (file web.yaml)\n"
  "          2026-11-29T00:00:02Z  phase Scheduled -> Running\n"
  "          2026-11-29T00:01:00Z  stop accepted (user 0)\n"
  "          2026-11-29T00:01:00Z  signalled the guest to shut down\n"
  "          2026-11-29T00:01:30Z  killing the guest: its grace period is over\n"
  "          2026-11-29T00:01:30Z  phase Running -> Failed: killed when its grace period was over (libvirt: Shutoff/Destroyed)\n"
  "To do:    vmactl start web\n" },
{ "being stopped",
  VM_STATUS("Halted", "Stopping", ""), VMI_IN("Running", "00:00:02", DELETED, ""), BOOTED STOP SIGNAL, NULL,
  "default/web is Stopping: user 1000 asked for 'stop' 10s ago\n"
  "Wanted:   run strategy Halted\n"
  "Now:      a run in phase Running, since 9m58s ago; it is to end\n"
  "Next:     it is killed in 20s, if the guest does not end before\n"
  "History:  2026-11-29T00:00:02Z  phase Scheduled -> Running\n"
  "          2026-11-29T00:09:50Z  stop accepted (user 1000)\n"
  "          2026-11-29T00:09:50Z  signalled the guest to shut down\n" },
{ "paused by a user",
  VM_STATUS("Always", "Paused", CONDITION("Paused", "True", "PausedByUser", "the domain is paused, reason 'User'")),
  VMI_IN("Running", "00:00:02", "", ""), BOOTED "00:09:00 u1 Paused user.1000|pause accepted\n", NULL,
  "default/web is Paused: user 1000 asked for 'pause' 60s ago\n"
  "Wanted:   run strategy Always\n"
  "Now:      a run in phase Running, since 9m58s ago\n"
  "History:  2026-11-29T00:00:02Z  phase Scheduled -> Running\n"
  "          2026-11-29T00:09:00Z  pause accepted (user 1000)\n"
  "To do:    vmactl unpause vm web\n" },
{ "paused by a disk",
  VM_STATUS("Always", "Paused", CONDITION("Paused", "True", "PausedIOError", "the domain is paused: no space left for disk 'root'")),
  VMI_IN("Running", "00:00:02", "", ""), "", NULL,
  "default/web is Paused: the domain is paused: no space left for disk 'root'\n"
  "Wanted:   run strategy Always\n"
  "Now:      a run in phase Running, since 9m58s ago\n" },
{ "libvirt is not connected",
  VM_STATUS("Always", "Running", ""), VMI_IN("Running", "00:00:02", "", ""), "",
  "libvirt is not connected: connect to libvirt at 'qemu:///system': no such socket",
  "default/web is Running: its guest runs, and was started 9m58s ago\n"
  "Wanted:   run strategy Always\n"
  "Now:      a run in phase Running, since 9m58s ago\n"
  "But:      libvirt is not connected: connect to libvirt at 'qemu:///system': no such socket\n"
  "To do:    see to libvirt: its service and its log\n" },
{ "libvirt hangs",
  VM_STATUS("Always", "Starting", ""), VMI_IN("Scheduled", "00:07:00", "", ""),
  "00:09:00 u1 LibvirtHangs agent|libvirt has not answered 'start' for 120 s\n", NULL,
  "default/web is Starting: its start is under way, in phase Scheduled\n"
  "Wanted:   run strategy Always\n"
  "Now:      a run in phase Scheduled, since 3m ago\n"
  "But:      libvirt has not answered 'start' for 120 s\n"
  "History:  2026-11-29T00:09:00Z  libvirt has not answered 'start' for 120 s\n" },
{ "its manifest is rejected",
  VM_STATUS("Always", "Running", CONDITION("ManifestRejected", "True", "ManifestRejected",
    "web.yaml:10:7: spec.template.spec.domain.memroy: field 'memroy' is not known")),
  VMI_IN("Running", "00:00:02", "", ""), CREATED, NULL,
  "default/web is Running: its guest runs, and was started 9m58s ago\n"
  "Wanted:   run strategy Always\n"
  "Now:      a run in phase Running, since 9m58s ago\n"
  "But:      its manifest, as it is now, is not applied: web.yaml:10:7: spec.template.spec.domain.memroy: field 'memroy' is not known\n"
  "History:  2026-11-29T00:00:00Z  manifest applied (file web.yaml)\n"
  "To do:    mend web.yaml:10:7\n" },
{ "waits to be deleted",
  "{\"metadata\":{\"deletionTimestamp\":\"2026-11-29T00:09:50Z\"},\"spec\":{\"running\":true},\"status\":{\"printableStatus\":\"Terminating\"}}",
  VMI_IN("Running", "00:00:02", DELETED, ""), "00:09:50 v DeleteRequested user.1000|delete accepted\n" SIGNAL, NULL,
  "default/web is Terminating: user 1000 asked for 'delete' 10s ago\n"
  "Wanted:   run strategy Always; to be deleted\n"
  "Now:      a run in phase Running, since 9m58s ago; it is to end\n"
  "Next:     it is killed in 20s, if the guest does not end before\n"
  "History:  2026-11-29T00:09:50Z  delete accepted (user 1000)\n"
  "          2026-11-29T00:09:50Z  signalled the guest to shut down\n" },
{ "deleted, its events are left",
  NULL, NULL, "00:09:50 v DeleteRequested file.web.yaml|its manifest is gone: deleting\n", NULL,
  "default/web is gone: its manifest is gone: deleting (file web.yaml), 10s ago\n"
  "History:  2026-11-29T00:09:50Z  its manifest is gone: deleting (file web.yaml)\n" },
{ "moved away",
  NULL, NULL, BOOTED "00:09:00 u1 Migrated agent|moved to 'host-b'\n", NULL,
  "default/web is gone: it has moved to 'host-b': ask there\n"
  "History:  2026-11-29T00:00:02Z  phase Scheduled -> Running\n"
  "          2026-11-29T00:09:00Z  moved to 'host-b'\n" },
{ "moved here, and deleted",
  NULL, NULL, "00:09:00 u1 Migrated agent|moved here from 'host-b'\n", NULL,
  "default/web is gone: only its events are left\n"
  "History:  2026-11-29T00:09:00Z  moved here from 'host-b'\n" },
{ "the host was restarted",
  VM_STATUS("Manual", "Stopped", ""), VMI_IN("Failed", "00:09:00", "", ""), BOOTED
  "00:09:00 u1 NodeUnresponsive host|phase Running -> Failed: the host was restarted (libvirt: Shutoff/Unknown)\n", NULL,
  "default/web is Stopped: the host was restarted, 60s ago; Manual starts it only when asked to\n"
  "Wanted:   run strategy Manual\n"
  "Now:      a run in phase Failed, since 60s ago\n"
  "History:  2026-11-29T00:00:02Z  phase Scheduled -> Running\n"
  "          2026-11-29T00:09:00Z  phase Running -> Failed: the host was restarted (libvirt: Shutoff/Unknown) (host)\n"
  "To do:    vmactl start web\n" },
{ "no more than eight",
  NULL, NULL,
  "00:00:01 v a agent|1\n00:00:02 v a agent|2\n00:00:03 v a agent|3\n00:00:04 v a agent|4\n00:00:05 v a agent|5\n"
  "00:00:06 v a agent|6\n00:00:07 v a agent|7\n00:00:08 v a agent|8\n00:00:09 v a agent|9\033[31m\n", NULL,
  "default/web is gone: only its events are left\n"
  "History:  2026-11-29T00:00:02Z  2\n"
  "          2026-11-29T00:00:03Z  3\n"
  "          2026-11-29T00:00:04Z  4\n"
  "          2026-11-29T00:00:05Z  5\n"
  "          2026-11-29T00:00:06Z  6\n"
  "          2026-11-29T00:00:07Z  7\n"
  "          2026-11-29T00:00:08Z  8\n"
  "          2026-11-29T00:00:09Z  9?[31m\n" },
};
/* clang-format on */

static struct node *tree(const char *json)
{
	struct node *root = NULL;
	struct err err = { 0 };

	ck_assert_msg(!json || !json_parse(json, strlen(json), &root, &err), "%s: %s", json,
		err.msg);
	return root;
}

static void text(struct node *event, const char *path, const char *value)
{
	node_set_path(event, path, node_new(NODE_STRING, value));
}

/* "TIME UID REASON ACTOR|MESSAGE", with '.' for the actor's space and '~' for a message's
 * newline. */
static struct node *event_of(char *line, int seq)
{
	struct node *event = node_new(NODE_MAP, NULL), *notes = node_new(NODE_MAP, NULL);
	const char *time = strsep(&line, " "), *uid = strsep(&line, " ");
	const char *reason = strsep(&line, " ");
	char *actor = strsep(&line, "|"), *dot = strchr(actor, '.');
	autofree char *stamp = xasprintf("2026-11-29T%sZ", time), *number = xasprintf("%d", seq);

	if (dot)
		*dot = ' ';
	for (char *c = line; *c; c++)
		*c = *c == '~' ? '\n' : *c;
	text(event, "involvedObject.uid", uid);
	text(event, "reason", reason);
	text(event, "message", line);
	text(event, "lastTimestamp", stamp);
	node_set_path(event, "metadata.annotations", notes);
	node_set(notes, "vmagent.io/actor", node_new(NODE_STRING, actor));
	node_set(notes, "vmagent.io/seq", node_new(NODE_STRING, number));
	return event;
}

static struct node *events_of(const char *lines)
{
	autofree char *copy = xstrdup(lines);
	struct node *list = node_new(NODE_LIST, NULL);
	char *rest = copy, *line;

	while (rest && (line = strsep(&rest, "\n")))
		if (*line)
			node_append(list, event_of(line, (int)list->n_children + 1));
	return list;
}

START_TEST(it_is_explained)
{
	struct node *vm = tree(cases[_i].vm), *vmi = tree(cases[_i].vmi);
	struct node *events = events_of(cases[_i].events), *explanation;
	struct story story = { "default", "web", vm, vmi, events, cases[_i].trouble, NOW };
	struct buf out = { 0 };

	explanation = explain(&story);
	explain_print(explanation, &out);
	ck_assert_msg(streq(out.data, cases[_i].text), "%s:\n%s\nis not\n%s", cases[_i].name,
		out.data, cases[_i].text);
	buf_done(&out);
	node_free(explanation);
	node_free(events);
	node_free(vm);
	node_free(vmi);
}
END_TEST

Suite *test_cli_explain_suite(void)
{
	Suite *s = suite_create("cli explain");
	TCase *t = tcase_create("texts");

	tcase_add_loop_test(t, it_is_explained, 0, ARRAY_SIZE(cases));
	suite_add_tcase(s, t);
	return s;
}
