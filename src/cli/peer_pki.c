/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certtool is run as a child: linked in, GnuTLS would cost every command more than a millisecond.
 * What it makes lies in a folder of its own until all of it is there.
 */
#include "cli/peer_pki.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CA_DAYS   3650
#define NODE_DAYS 1095
#define LOG       "certtool.log"
#define LOG_TAIL  300
#define MARK      "# vmagent peer "

/* ---- files ----------------------------------------------------------------------------------- */

static int io_fault(struct fault *fault, const char *what, const char *path)
{
	return fault_set(fault, EXIT_ERROR, "%s '%s': %s", what, path, strerror(errno));
}

static bool write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return false;
		data += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

int peer_pki_write(const char *path, const void *data, size_t len, int mode, struct fault *fault)
{
	autofree char *temp = xasprintf("%s.new", path);
	int fd;
	bool ok;

	unlink(temp);
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return io_fault(fault, "cannot write", temp);
	ok = write_all(fd, data, len) && fchmod(fd, (mode_t)mode) == 0 && fsync(fd) == 0;
	ok = close(fd) == 0 && ok;
	if (!ok || rename(temp, path) < 0) {
		io_fault(fault, "cannot write", path);
		unlink(temp);
		return -1;
	}
	return 0;
}

/* NULL with errno; the file may be absent. */
static char *read_file(const char *folder, const char *name)
{
	autofree char *path = xasprintf("%s/%s", folder, name);
	char *text = xcalloc(1, PKI_TEXT_MAX + 1);
	FILE *file = fopen(path, "re");

	if (!file) {
		free(text);
		return NULL;
	}
	text[fread(text, 1, PKI_TEXT_MAX, file)] = '\0';
	fclose(file);
	return text;
}

static int copy_in(const char *folder, const char *name, const char *text, struct fault *fault)
{
	autofree char *path = xasprintf("%s/%s", folder, name);
	bool secret = streq(name, PKI_KEY) || streq(name, PKI_CA_KEY);

	return peer_pki_write(path, text, strlen(text), secret ? 0600 : 0644, fault);
}

static int make_folder(const char *folder, struct fault *fault)
{
	autofree char *parent = xstrdup(folder);
	char *slash = strrchr(parent, '/');

	if (slash && slash != parent) {
		*slash = '\0';
		if (mkdir(parent, 0750) < 0 && errno != EEXIST)
			return io_fault(fault, "cannot create the folder", parent);
	}
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return io_fault(fault, "cannot create the folder", folder);
	return 0;
}

/* ---- certtool -------------------------------------------------------------------------------- */

struct workshop {     /* where certtool works; gone with all that is in it afterwards */
	char *folder; /* owned */
	struct fault *fault;
};

/* clang-format off */
static const char *const makings[] = { PKI_CA, PKI_CA_KEY, PKI_CERT, PKI_KEY, "ca.info", "node.info", LOG };
/* clang-format on */

static int workshop_open(struct workshop *w, const char *folder, struct fault *fault)
{
	*w = (struct workshop){ .folder = xasprintf("%s/.new.XXXXXX", folder), .fault = fault };
	if (mkdtemp(w->folder))
		return 0;
	io_fault(fault, "cannot work in", folder);
	free(take(&w->folder));
	return -1;
}

static void workshop_close(struct workshop *w)
{
	for (size_t i = 0; w->folder && i < ARRAY_SIZE(makings); i++) {
		autofree char *path = xasprintf("%s/%s", w->folder, makings[i]);

		unlink(path);
	}
	if (w->folder)
		rmdir(w->folder);
	free(w->folder);
}

static int certtool_failed(struct workshop *w, int status)
{
	autofree char *said = read_file(w->folder, LOG);
	size_t len = said ? strlen(said) : 0;

	while (len && strchr("\n ", said[len - 1]))
		said[--len] = '\0';
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return fault_set(w->fault, EXIT_ERROR,
			"certtool is missing: install gnutls-bin (or gnutls-utils), or make the "
			"certificates as vmagent(8) shows");
	return fault_set(w->fault, EXIT_ERROR, "certtool failed: %s",
		len > LOG_TAIL ? said + len - LOG_TAIL
			: len  ? said
			       : "it says nothing");
}

/* In the workshop, with its output in a file there. */
static int certtool(struct workshop *w, char *const *argv)
{
	autofree char *log = xasprintf("%s/" LOG, w->folder);
	posix_spawn_file_actions_t actions;
	int status = 0, rc;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&actions, 1, 2);
	posix_spawn_file_actions_addchdir_np(&actions, w->folder);
	rc = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc == ENOENT)
		return certtool_failed(w, 127 << 8);
	if (rc)
		return fault_set(w->fault, EXIT_ERROR, "cannot run certtool: %s", strerror(rc));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status ? certtool_failed(w, status) : 0;
}
#define CERTTOOL(w, ...) certtool(w, (char *[]){ "certtool", __VA_ARGS__, NULL })

static int make_authority(struct workshop *w, const char *node)
{
	autofree char *info = xasprintf("cn = \"vmagent peers of %.40s\"\nca\ncert_signing_key\n"
					"expiration_days = %d\n",
		node, CA_DAYS);

	if (copy_in(w->folder, "ca.info", info, w->fault) ||
		CERTTOOL(w, "--generate-privkey", "--key-type", "ecdsa", "--outfile", PKI_CA_KEY))
		return -1;
	return CERTTOOL(w, "--generate-self-signed", "--load-privkey", PKI_CA_KEY, "--template",
		"ca.info", "--outfile", PKI_CA);
}

/* The authority's files lie in the workshop. */
static int make_node(struct workshop *w, const char *node)
{
	/* A common name is 64 characters at most; what counts is the DNS name. */
	autofree char *info = xasprintf("cn = \"%.64s\"\ndns_name = \"%s\"\ntls_www_server\n"
					"tls_www_client\nsigning_key\nexpiration_days = %d\n",
		node, node, NODE_DAYS);

	if (copy_in(w->folder, "node.info", info, w->fault) ||
		CERTTOOL(w, "--generate-privkey", "--key-type", "ecdsa", "--outfile", PKI_KEY))
		return -1;
	return CERTTOOL(w, "--generate-certificate", "--template", "node.info", "--load-privkey",
		PKI_KEY, "--load-ca-certificate", PKI_CA, "--load-ca-privkey", PKI_CA_KEY,
		"--outfile", PKI_CERT);
}

static int copy_between(const char *from, const char *to, const char *name, struct fault *fault)
{
	autofree char *text = read_file(from, name), *path = xasprintf("%s/%s", from, name);

	return text ? copy_in(to, name, text, fault) : io_fault(fault, "cannot read", path);
}

/* ---- what commands do ------------------------------------------------------------------------ */

int peer_pki_init(const char *folder, const char *node, struct fault *fault)
{
	static const char *const order[] = { PKI_CA_KEY, PKI_CA, PKI_KEY, PKI_CERT };
	autofree char *key = xasprintf("%s/" PKI_CA_KEY, folder);
	autofree char *ca = xasprintf("%s/" PKI_CA, folder);
	struct workshop w = { 0 };
	int ret;

	if (access(key, F_OK) == 0)
		return fault_set(fault, EXIT_ERROR,
			"'%s' is there already: 'vmactl peer cert NODE' makes certificates with it",
			key);
	if (access(ca, F_OK) == 0)
		return fault_set(fault, EXIT_ERROR,
			"'%s' is there already: this node trusts another host's authority", ca);
	if (make_folder(folder, fault) || workshop_open(&w, folder, fault))
		return -1;
	ret = make_authority(&w, node) ? -1 : make_node(&w, node);
	for (size_t i = 0; !ret && i < ARRAY_SIZE(order); i++)
		ret = copy_between(w.folder, folder, order[i], fault);
	workshop_close(&w);
	return ret;
}

/* "-----BEGIN …-----" to the end of "-----END …-----"; *text moves behind it. Owned; NULL:
 * there is no more. */
static char *next_block(const char **text, bool *ret_key)
{
	static const char begin[] = "-----BEGIN ", end[] = "-----END ";
	const char *from = strstr(*text, begin), *to = from ? strstr(from, end) : NULL;
	size_t line = to ? strcspn(to, "\n") : 0;
	autofree char *title = NULL;

	if (!to)
		return NULL;
	title = xstrndup(from, strcspn(from, "\n"));
	*ret_key = strstr(title, "PRIVATE KEY-----") != NULL;
	*text = to + line;
	return xasprintf("%.*s\n", (int)(to + line - from), from);
}

static int add_block(struct buf *out, const char *folder, const char *name, struct fault *fault)
{
	autofree char *text = read_file(folder, name), *block = NULL;
	const char *at = text;
	bool key;

	block = text ? next_block(&at, &key) : NULL;
	if (!block)
		return fault_set(fault, EXIT_ERROR, "'%s/%s' holds nothing", folder, name);
	buf_puts(out, block);
	return 0;
}

int peer_pki_issue(const char *folder, const char *node, struct buf *out, struct fault *fault)
{
	autofree char *key = xasprintf("%s/" PKI_CA_KEY, folder);
	struct workshop w = { 0 };
	int ret;

	if (access(key, F_OK) < 0)
		return fault_set(fault, EXIT_ERROR,
			"'%s' is not there: certificates are made where 'vmactl peer init' was run",
			key);
	if (workshop_open(&w, folder, fault))
		return -1;
	ret = copy_between(folder, w.folder, PKI_CA_KEY, fault);
	if (!ret)
		ret = copy_between(folder, w.folder, PKI_CA, fault);
	if (!ret)
		ret = make_node(&w, node);
	buf_printf(out,
		MARK "'%s': the authority's certificate, the node's, and its key. Whoever has "
		     "it is that node.\n",
		node);
	if (!ret)
		ret = add_block(out, w.folder, PKI_CA, fault);
	if (!ret)
		ret = add_block(out, w.folder, PKI_CERT, fault);
	if (!ret)
		ret = add_block(out, w.folder, PKI_KEY, fault);
	workshop_close(&w);
	return ret;
}

char *peer_pki_bundle_node(const char *bundle)
{
	const char *at = strstr(bundle, MARK "'");
	const char *name = at ? at + strlen(MARK "'") : NULL;

	return name ? xstrndup(name, strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-")) : NULL;
}

/* Two certificates and a key, in that order, and nothing else. */
static int split(const char *bundle, char *ret[3], struct fault *fault)
{
	bool key = false, good = true;
	char *more;

	for (int i = 0; i < 3 && good; i++) {
		ret[i] = next_block(&bundle, &key);
		good = ret[i] && key == (i == 2);
	}
	more = good ? next_block(&bundle, &key) : NULL;
	good = good && !more;
	free(more);
	return good
		? 0
		: fault_set(fault, EXIT_ERROR,
			  "it is no bundle of 'vmactl peer cert': that has two certificates and a key");
}

static int check_authority(const char *folder, const char *ca, struct fault *fault)
{
	autofree char *have = read_file(folder, PKI_CA), *block = NULL;
	const char *at = have;
	bool key;

	block = have ? next_block(&at, &key) : NULL;
	if (!block || streq(block, ca))
		return 0;
	return fault_set(fault, EXIT_ERROR,
		"'%s/" PKI_CA
		"' is another authority's certificate: remove it first if this one is to "
		"take its place",
		folder);
}

int peer_pki_join(const char *folder, const char *bundle, struct fault *fault)
{
	char *parts[3] = { NULL };
	int ret = split(bundle, parts, fault);

	if (!ret)
		ret = check_authority(folder, parts[0], fault);
	if (!ret)
		ret = make_folder(folder, fault);
	if (!ret)
		ret = copy_in(folder, PKI_CA, parts[0], fault);
	if (!ret)
		ret = copy_in(folder, PKI_KEY, parts[2], fault);
	if (!ret)
		ret = copy_in(folder, PKI_CERT, parts[1], fault);
	for (int i = 0; i < 3; i++)
		free(parts[i]);
	return ret;
}
