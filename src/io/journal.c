/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log's two ends. journald's native protocol is one datagram of FIELD=value lines, a value with
 * a newline in it being sent with its length. Lines may come from any thread: each is one write.
 */
#include "io/journal.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

struct journal { /* the sink's state; lives as long as the program */
	int fd;  /* of the journal; -1: stderr */
	bool tty;
};

static void add_field(struct buf *b, const char *name, const char *value)
{
	uint64_t len;

	if (!value)
		return;
	len = htole64(strlen(value));
	buf_puts(b, name);
	if (strchr(value, '\n')) {
		buf_puts(b, "\n");
		buf_add(b, &len, sizeof(len));
	} else {
		buf_puts(b, "=");
	}
	buf_puts(b, value);
	buf_puts(b, "\n");
}

static bool journal_send(const struct journal *journal, const struct log_line *line)
{
	char level[12];
	struct buf b = { 0 };
	ssize_t sent;

	snprintf(level, sizeof(level), "%d", (int)line->level);
	add_field(&b, "MESSAGE", line->text);
	add_field(&b, "PRIORITY", level);
	add_field(&b, "SYSLOG_IDENTIFIER", "vmagent");
	add_field(&b, "VMAGENT_VM", line->machine);
	add_field(&b, "VMAGENT_UID", line->uid);
	add_field(&b, "VMAGENT_REASON", line->reason);
	sent = send(journal->fd, b.data, b.len, MSG_NOSIGNAL);
	buf_done(&b);
	return sent >= 0;
}

static void print_line(const struct journal *journal, const struct log_line *line)
{
	char stamp[16] = "";
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	if (journal->tty)
		strftime(stamp, sizeof(stamp), "%H:%M:%S ", &tm);
	else
		snprintf(stamp, sizeof(stamp), "<%d>", (int)line->level);
	fprintf(stderr, "%s%s\n", stamp, line->text);
}

static void journal_sink(void *ctx, const struct log_line *line)
{
	const struct journal *journal = ctx;

	if (journal->fd < 0 || !journal_send(journal, line))
		print_line(journal, line);
}

/* $JOURNAL_STREAM names the device and inode of the stream; a redirected stderr is another one. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	if (!stream || sscanf(stream, "%llu:%llu", &device, &inode) != 2)
		return false;
	return fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

static int journal_connect(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

void journal_open(void)
{
	struct journal *journal = xcalloc(1, sizeof(*journal));

	journal->fd = stderr_is_journal() ? journal_connect() : -1;
	journal->tty = isatty(STDERR_FILENO);
	log_to(journal_sink, journal);
}
