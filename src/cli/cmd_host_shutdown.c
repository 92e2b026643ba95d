/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl host-shutdown: has the agent stop the guests because the host goes down, and waits for the
 * last one. The service's ExecStop= is this command, which then does nothing unless the system is
 * really stopping: a restart or an upgrade of the agent touches no guest.
 */
#include <string.h>
#include <time.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/options.h"

#define RESOURCE "/apis/vmagent.io/v1/hostshutdown"

#define LOOK_AGAIN_MS 500
#define AGENT_GONE    SECONDS(15) /* it may be restarting */
#define OVERTIME      SECONDS(30) /* for the last kills */

static bool system_stops(void)
{
	FILE *says = popen("systemctl is-system-running 2>/dev/null", "re");
	char line[64] = "";

	if (!says)
		return false;
	if (!fgets(line, sizeof(line), says))
		line[0] = '\0';
	pclose(says);
	return starts_with(line, "stopping");
}

static void pause_a_little(void)
{
	struct timespec ts = { .tv_nsec = LOOK_AGAIN_MS * 1000000L };

	nanosleep(&ts, NULL);
}

/* ---- how it stands --------------------------------------------------------------------------- */

struct standing {
	bool active;
	long long running, seconds_left;
	struct buf names; /* owned: the guests that are left */
};

static void standing_done(struct standing *s)
{
	buf_done(&s->names);
}

static int look(struct cli *cli, struct standing *ret, struct fault *fault)
{
	struct node *answer = NULL;
	const struct node *guests, *active;

	*ret = (struct standing){ 0 };
	if (client_get(cli, RESOURCE, &answer, fault))
		return -1;
	active = node_at(answer, "status.active");
	ret->active = active && streq(active->text, "true");
	ret->running = json_number_at(answer, "status.running", 0);
	ret->seconds_left = json_number_at(answer, "status.secondsLeft", 0);
	guests = node_at(answer, "status.guests");
	for (size_t i = 0; guests && i < guests->n_children; i++)
		buf_printf(&ret->names, " %s/%s", node_text(guests->children[i], "namespace"),
			node_text(guests->children[i], "name"));
	node_free(answer);
	return 0;
}

/* ---- waiting --------------------------------------------------------------------------------- */

struct waiting {
	char *shown;     /* owned: the line that was printed last */
	msec gone_since; /* of the agent; 0: it is there */
	msec deadline;   /* 0: not known yet */
};

static void show(struct waiting *w, const struct standing *s)
{
	autofree char *line = s->running ? xasprintf("%lld guest%s still running:%s", s->running,
						   s->running == 1 ? " is" : "s are", s->names.data)
					 : xstrdup("no guest is running");

	if (streq(line, w->shown))
		return;
	printf("%s\n", line);
	fflush(stdout);
	replace_str(&w->shown, line);
}

/* 1: no guest is left; 0: some are; -1: a fault. */
static int judge(struct waiting *w, const struct standing *s, struct fault *fault)
{
	if (!s->active)
		return fault_set(fault, EXIT_ERROR, "the shutdown was called off");
	if (!w->deadline)
		w->deadline = http_clock() + SECONDS(s->seconds_left) + OVERTIME;
	show(w, s);
	if (!s->running)
		return 1;
	if (http_clock() >= w->deadline)
		return fault_set(fault, EXIT_TIMEOUT, "timed out; still running:%s", s->names.data);
	return 0;
}

/* An agent that is being restarted goes on with it; one that stays away does not. */
static bool may_come_back(struct waiting *w, const struct fault *fault)
{
	if (fault->exit != EXIT_UNREACHABLE)
		return false;
	if (!w->gone_since)
		w->gone_since = http_clock();
	return http_clock() - w->gone_since < AGENT_GONE;
}

static int wait_for_guests(struct cli *cli, struct fault *fault)
{
	struct waiting w = { .shown = NULL };
	struct standing s;
	int ret = 0;

	while (!ret) {
		ret = look(cli, &s, fault);
		if (ret < 0 && may_come_back(&w, fault)) {
			fault_done(fault);
			ret = 0;
		} else if (!ret) {
			w.gone_since = 0;
			ret = judge(&w, &s, fault);
		}
		standing_done(&s);
		if (!ret)
			pause_a_little();
	}
	free(w.shown);
	return ret < 0 ? ret : 0;
}

/* ---- orders ---------------------------------------------------------------------------------- */

static int call_off(struct cli *cli, struct fault *fault)
{
	if (client_call(cli, "DELETE " RESOURCE, NULL, NULL, fault))
		return -1;
	puts("the host does not go down: machines are started again as their strategies say");
	return 0;
}

static int begin(struct cli *cli, struct fault *fault)
{
	autofree char *body = cli->args.timeout > 0
		? xasprintf("{\"timeoutSeconds\":%lld}",
			  (long long)((cli->args.timeout + 999) / 1000))
		: xstrdup("{}");

	return client_call(cli, "POST " RESOURCE, body, NULL, fault);
}

static int run(struct cli *cli, struct fault *fault)
{
	const struct args *args = &cli->args;

	if (args->n_names)
		return cli_usage(cli, fault,
			"it takes no names: all guests of the host are stopped");
	if (args->cancel)
		return call_off(cli, fault);
	if (args->if_system_stops && !system_stops()) {
		puts("the system is not going down: guests are left alone");
		return 0;
	}
	if (begin(cli, fault))
		return -1;
	if (args->wait)
		return wait_for_guests(cli, fault);
	puts("the host goes down: its guests are being stopped");
	return 0;
}

const struct command command_host_shutdown = {
	.name = "host-shutdown",
	.synopsis = "[--timeout=TIME] [--wait=false] [--if-system-stops] | --cancel",
	.summary = "stop all guests because the host goes down",
	.details =
		"Guests are stopped in the reverse of their start order, each with its own grace, all within\n"
		"TIME (default: hostShutdown.timeoutSeconds of the agent). Nothing is started any more until the\n"
		"host was booted, or --cancel: guests that were told to stop do so all the same, and are then\n"
		"started as their strategies say.",
	.options = TAKES(TIMEOUT) | TAKES(WAIT) | TAKES(IF_SYSTEM_STOPS) | TAKES(CANCEL),
	.run = run,
};
