/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One poll over four descriptors. Nothing blocks: it is written only what poll() promised to take.
 */
#include "cli/relay.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define WINDOW 65536 /* bytes that wait to be written; then the websocket is not read */
/* Bytes of one read and write; a pipe that poll() calls writable takes as many. */
#define PIECE  4096

struct state {
	struct relay *relay;
	struct buf came; /* from the agent, to be written */
	bool open;       /* the websocket */
	bool reading;    /* the input has not ended */
	msec deadline;   /* after its end; NEVER */
};

int relay_signals(int extra)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	if (extra)
		sigaddset(&set, extra);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static void put_off(struct state *s)
{
	if (!s->reading)
		s->deadline = http_clock() + s->relay->drain;
}

static void take_input(struct state *s)
{
	struct relay *r = s->relay;
	char data[PIECE];
	ssize_t n = read(r->in, data, sizeof(data));
	const char *escape;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		s->reading = false;
		put_off(s);
		return;
	}
	escape = r->escape >= 0 ? memchr(data, r->escape, (size_t)n) : NULL;
	r->left = escape;
	if (escape)
		n = escape - data;
	if (n)
		wsclient_send(r->ws, data, (size_t)n);
}

static void write_output(struct state *s)
{
	size_t len = MIN(s->came.len, (size_t)PIECE);
	ssize_t n = send(s->relay->out, s->came.data, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno == ENOTSOCK)
		n = write(s->relay->out, s->came.data, len);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0) {
		s->relay->left = true;
		return;
	}
	s->came.len -= (size_t)n;
	memmove(s->came.data, s->came.data + n, s->came.len);
}

static void step(struct state *s, const struct pollfd *fds)
{
	size_t before = s->came.len;

	if (fds[1].revents)
		take_input(s);
	if (fds[2].revents)
		s->relay->left = true;
	if (s->open && before < WINDOW)
		s->open = wsclient_step(s->relay->ws, &s->came);
	else if (s->open)
		s->open = wsclient_flush(s->relay->ws);
	if (s->relay->until_quiet && s->came.len > before)
		put_off(s);
	if (fds[3].revents)
		write_output(s);
}

static void set_polls(const struct state *s, struct pollfd *fds)
{
	const struct relay *r = s->relay;
	short of_ws = (short)(s->open ? wsclient_events(r->ws) : 0);
	bool reads = s->open && s->reading && !wsclient_is_full(r->ws);

	if (s->came.len >= WINDOW)
		of_ws = (short)(of_ws & ~POLLIN);
	fds[0] = (struct pollfd){ .fd = of_ws ? wsclient_fd(r->ws) : -1, .events = of_ws };
	fds[1] = (struct pollfd){ .fd = reads ? r->in : -1, .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = r->signals, .events = POLLIN };
	fds[3] = (struct pollfd){ .fd = s->came.len ? r->out : -1, .events = POLLOUT };
}

/* What comes by the websocket after the deadline is not waited for. */
static bool wait_for(struct state *s, struct pollfd *fds)
{
	msec left;

	if (s->open && wsclient_events(s->relay->ws) & POLLOUT)
		put_off(s);
	left = s->deadline == NEVER ? -1 : MAX(s->deadline - http_clock(), (msec)0);
	if (left && (poll(fds, 4, (int)MIN(left, INT32_MAX)) >= 0 || errno == EINTR))
		return true;
	s->relay->left = true;
	return false;
}

void relay_run(struct relay *relay)
{
	struct state s = { .relay = relay, .reading = true, .deadline = NEVER };
	struct pollfd fds[4] = { 0 };

	relay->left = false;
	/* What came with the handshake waits for no poll. */
	s.open = wsclient_step(relay->ws, &s.came);
	while (!relay->left && (s.open || s.came.len)) {
		set_polls(&s, fds);
		if (wait_for(&s, fds))
			step(&s, fds);
	}
	buf_done(&s.came);
}
