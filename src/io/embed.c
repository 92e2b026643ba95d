/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The split of an agent that embeds libvirt's QEMU driver, and the folder that driver lives in. The
 * parent has no thread, no libvirt and hardly any memory: it waits for signals, and nothing else.
 *
 * Why not reap in the agent: as a subreaper itself it makes libvirt wait 80 s for each start, and a
 * waitpid(-1) takes children away from libvirt, which then fails.
 */
#include "io/embed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#define EMBED_URI "qemu:///embed?root="

static const int forwarded[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 };

static const char qemu_conf[] =
	"# Made by vmagent, because there was none. It is not written again: edit it as you like.\n"
	"\n"
	"# An embedded driver has no virtlogd beside it.\n"
	"stdio_handler = \"file\"\n";

static const char qemu_conf_of_root[] =
	"\n"
	"# QEMU runs as root, and libvirt changes no file's owner: so this folder, and those of the disks,\n"
	"# need not be open to another user. To have QEMU run as a user of its own, take these six lines\n"
	"# out, and let that user pass (mode 0711) through every folder above a disk and above this file.\n"
	"user = \"root\"\n"
	"group = \"root\"\n"
	"swtpm_user = \"root\"\n"
	"swtpm_group = \"root\"\n"
	"dynamic_ownership = 0\n"
	"remember_owner = 0\n"
	"\n"
	"# Confinement by AppArmor or SELinux knows the paths of a system libvirt, not the ones in here.\n"
	"security_driver = \"none\"\n";

static const char qemu_conf_without_cgroups[] =
	"\n"
	"# Control groups are read-only here, as in a container: none is made for a guest.\n"
	"cgroup_controllers = [ ]\n";

/* ---- the root -------------------------------------------------------------------------------- */

static int make_folder(const char *path, struct err *err)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return err_set(err, ERR_IO, "make libvirt's folder '%s': %s", path,
			strerror(errno));
	return 0;
}

static int write_new(const char *path, const char *text, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ssize_t n;

	if (fd < 0 && errno == EEXIST)
		return 0;
	if (fd < 0)
		return err_set(err, ERR_IO, "write '%s': %s", path, strerror(errno));
	n = write(fd, text, strlen(text));
	close(fd);
	if (n == (ssize_t)strlen(text))
		return 0;
	unlink(path); /* a part of it would be kept for good */
	return err_set(err, ERR_NO_SPACE, "write '%s': not enough space", path);
}

/* libvirt makes a group for each guest when it is root, and starts none where it cannot. */
static bool cgroups_are_read_only(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;
	bool ret = false;

	while (mounts && !ret && (mount = getmntent(mounts)))
		ret = starts_with(mount->mnt_type, "cgroup") && access(mount->mnt_dir, W_OK) &&
			errno == EROFS;
	if (mounts)
		endmntent(mounts);
	return ret;
}

static int make_root(const char *root, struct err *err)
{
	autofree char *etc = xasprintf("%s/etc", root);
	autofree char *log = xasprintf("%s/log", root);
	autofree char *conf = xasprintf("%s/etc/qemu.conf", root);
	bool is_root = geteuid() == 0;
	autofree char *text = xasprintf("%s%s%s", qemu_conf, is_root ? qemu_conf_of_root : "",
		is_root && cgroups_are_read_only() ? qemu_conf_without_cgroups : "");

	if (make_folder(root, err) || make_folder(etc, err) || make_folder(log, err))
		return -err->code;
	return write_new(conf, text, err);
}

static int check_root(const char *root, struct err *err)
{
	if (*root != '/' || strpbrk(root, "%&"))
		return err_set(err, ERR_INVALID,
			"libvirt's root '%s' is not an absolute path without %% and &", root);
	if (strlen(root) > EMBED_ROOT_MAX)
		return err_set(err, ERR_INVALID,
			"libvirt's root '%s' is %zu characters long, and its sockets' paths leave room for %d",
			root, strlen(root), EMBED_ROOT_MAX);
	return 0;
}

/* ---- starts that were cut off ---------------------------------------------------------------- */

#define STATUS_HEAD_MAX 1024 /* bytes of a status file that have its first element */

/* libvirt keeps that file locked while it runs on this root. */
static bool libvirt_runs(const char *run)
{
	autofree char *path = xasprintf("%s/driver.pid", run);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	bool held = fd >= 0 && (fcntl(fd, F_GETLK, &lock) || lock.l_type != F_UNLCK);

	if (fd >= 0)
		close(fd);
	return held;
}

/* Its QEMU had no process yet: libvirt writes the number down before it lets QEMU be executed. */
static bool never_began(const char *path)
{
	char head[STATUS_HEAD_MAX + 1] = "";
	const char *element;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return false;
	if (read(fd, head, STATUS_HEAD_MAX) < 0)
		head[0] = '\0';
	close(fd);
	element = strstr(head, "<domstatus ");
	return element && memmem(element, strcspn(element, ">"), " pid='0'", strlen(" pid='0'"));
}

/*
 * A libvirt that dies in the middle of a start leaves a status file behind that names no
 * process. The next one (9.0) takes the domain for active, with the start's job for ever:
 * nothing can be done with it, not even a destroy. So it must not find that file; the domain's
 * definition is another, and stays.
 */
static void forget_cut_starts(const char *root)
{
	autofree char *run = xasprintf("%s/run/qemu", root);
	DIR *dir = libvirt_runs(run) ? NULL : opendir(run);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);
		autofree char *path = xasprintf("%s/%s", run, entry->d_name);

		if (len > 4 && streq(entry->d_name + len - 4, ".xml") && never_began(path))
			unlink(path);
	}
	if (dir)
		closedir(dir);
}

/* Warnings and errors go to a file, unless somebody who debugs has said otherwise. libvirt only
 * ever appends, and to it a look-up that finds nothing is an error: so a big one is set aside. */
static void route_log(const char *root)
{
	autofree char *path = xasprintf("%s/log/libvirt.log", root);
	autofree char *old = xasprintf("%s.old", path);
	autofree char *outputs = xasprintf("3:file:%s", path);
	struct stat st;

	if (!stat(path, &st) && st.st_size > EMBED_LOG_MAX)
		rename(path, old);
	setenv("LIBVIRT_LOG_OUTPUTS", outputs, 0);
}

/* ---- the parent ------------------------------------------------------------------------------ */

/* As the child ended, so that whoever watches the parent sees it. */
__attribute__((noreturn)) static void end_like(int status)
{
	static const struct rlimit no_core = { 0, 0 };
	sigset_t none;

	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	_exit(128 + WTERMSIG(status));
}

static void reap(pid_t child)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == child)
			end_like(status);
}

/* What a terminal sends goes to the child anyway: it is in the same process group. */
static bool is_for_us_alone(const siginfo_t *info)
{
	return info->si_code != SI_KERNEL;
}

__attribute__((noreturn)) static void watch_over(pid_t child, const sigset_t *awaited)
{
	siginfo_t info;

	prctl(PR_SET_NAME, "vmagent-reaper");
	for (;;) {
		int sig = sigwaitinfo(awaited, &info);

		if (sig == SIGCHLD)
			reap(child);
		else if (sig > 0 && is_for_us_alone(&info))
			kill(child, sig);
	}
}

/* ---- the child ------------------------------------------------------------------------------- */

#define LOW_FDS 64 /* more than libvirt opens in a process that it is making ready for QEMU */

/*
 * libuv keeps a pipe for signals and, in every process forked from this one, closes its two
 * numbers and makes another. libvirt closes all files in its own child, opens a pipe there, and
 * forks once more: if that pipe has got libuv's old numbers, it is closed under libvirt's hands,
 * and no guest starts ("Unable to wait for child process: Success"). So libuv's pipe is made to
 * lie above what libvirt uses.
 */
static void move_libuv_aside(void)
{
	int low[LOW_FDS], n = 0;
	uv_loop_t loop;

	do
		low[n] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	while (low[n] >= 0 && low[n++] < LOW_FDS - 1);
	if (!uv_loop_init(&loop))
		uv_loop_close(&loop);
	while (n)
		close(low[--n]);
}

/* ---- the split ------------------------------------------------------------------------------- */

static void awaited_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(forwarded); i++)
		sigaddset(ret, forwarded[i]);
}

/* SIGKILL, because an agent that hangs must die as well; its state is good after any turn. */
static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it was quicker */
		_exit(EXIT_FAILURE);
}

static int split(struct err *err)
{
	sigset_t awaited, before;
	pid_t parent = getpid(), child;

	signal(SIGCHLD, SIG_DFL); /* inherited as ignored, it would never come */
	awaited_signals(&awaited);
	sigprocmask(SIG_BLOCK, &awaited, &before);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) || (child = fork()) < 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return err_set(err, ERR_IO, "split off the reaper: %s", strerror(errno));
	}
	if (child > 0)
		watch_over(child, &awaited);
	die_with(parent);
	sigprocmask(SIG_SETMASK, &before, NULL);
	move_libuv_aside();
	return 0;
}

int embed_enter(const char *uri, struct err *err)
{
	const char *root = uri + strlen(EMBED_URI);

	if (!starts_with(uri, EMBED_URI))
		return 0;
	if (check_root(root, err) || make_root(root, err))
		return -err->code;
	forget_cut_starts(root);
	route_log(root);
	return split(err);
}
