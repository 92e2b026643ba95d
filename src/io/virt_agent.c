/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked of the agent in a guest. Each question has a time limit of ours: libvirt's own
 * calls for the same (shutdown, reboot) wait a minute for the guest to be gone, and the limit that
 * libvirt can be given holds for whoever else talks to that agent, who may need longer.
 *
 * An agent that hangs costs 5 s the first time, for so long libvirt waits to get in step
 * with it. Meanwhile the domain can be read, signalled, destroyed: libvirt keeps agents out
 * of the domain's own jobs.
 */
#include <libvirt/libvirt-qemu.h>

#include <string.h>

#include "core/credentials.h"
#include "core/guest_look.h"
#include "io/virt_private.h"

#define PING_S   2            /* to see whether it lives */
#define ANSWER_S 4            /* to what takes it a while */
#define LOOK_MAX (256 * 1024) /* bytes of an answer that is looked at */
#define LEAVE_S  1            /* for it to refuse: a shutdown that works has no answer */

/* Its answer, to be freed; NULL: none, and virt_error_last() tells why. */
static char *ask(virDomainPtr dom, const char *command, int seconds)
{
	return virDomainQemuAgentCommand(dom, command, seconds, 0);
}

/* Whether there was an answer. */
static bool order(virDomainPtr dom, const char *command, int seconds)
{
	char *answer = ask(dom, command, seconds);

	free(answer);
	return answer != NULL;
}

/* One that answers and then falls silent is doing as it was told. */
static void leave(virDomainPtr dom, const char *command, const char *what, struct err *err)
{
	const char *name = virDomainGetName(dom);

	if (!order(dom, "{\"execute\":\"guest-ping\"}", PING_S))
		virt_error(err, "ask the guest agent of '%s' to %s", name, what);
	else if (!order(dom, command, LEAVE_S) && virt_error_last() != VIR_ERR_AGENT_UNRESPONSIVE)
		virt_error(err, "ask the guest agent of '%s' to %s", name, what);
	if (err->code && virDomainIsActive(dom) == 0)
		*err = (struct err){ 0 }; /* it was quick */
}

void virt_do_agent_shutdown(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr dom = virt_find_ours(conn, op, &result->err);

	if (!dom)
		return;
	leave(dom, "{\"execute\":\"guest-shutdown\",\"arguments\":{\"mode\":\"powerdown\"}}",
		"shut down", &result->err);
	virDomainFree(dom);
}

void virt_do_agent_reboot(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr dom = virt_find_ours(conn, op, &result->err);

	if (!dom)
		return;
	leave(dom, "{\"execute\":\"guest-shutdown\",\"arguments\":{\"mode\":\"reboot\"}}", "reboot",
		&result->err);
	virDomainFree(dom);
}

/* From its hardware clock, which went on. */
void virt_do_agent_time(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr dom = virt_find_ours(conn, op, &result->err);

	if (!dom)
		return;
	if (!order(dom, "{\"execute\":\"guest-set-time\"}", ANSWER_S))
		virt_error(&result->err, "have the guest agent of '%s' set the clock", op->domain);
	virDomainFree(dom);
}

void virt_do_agent_info(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr dom = virt_find_ours(conn, op, &result->err);

	if (!dom)
		return;
	result->text = ask(dom, "{\"execute\":\"guest-info\"}", ANSWER_S);
	if (!result->text)
		virt_error(&result->err, "ask the guest agent of '%s' what it can do", op->domain);
	virDomainFree(dom);
}

/* Whether it is worth while to ask on: it lives, and only that command is none of its. */
static bool is_refusal(virDomainPtr dom)
{
	return virt_error_last() != VIR_ERR_AGENT_UNRESPONSIVE && virDomainIsActive(dom) == 1;
}

static bool add_answer(virDomainPtr dom, const char *command, struct buf *out)
{
	autofree char *question = xasprintf("{\"execute\":\"%s\"}", command);
	autofree char *answer = ask(dom, question, ANSWER_S);

	if (!answer)
		return is_refusal(dom);
	if (strlen(answer) <= LOOK_MAX)
		buf_printf(out, "%s\"%s\":%s", out->len > 1 ? "," : "", command, answer);
	return true;
}

void virt_do_agent_look(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	const char *const *command = guest_look_commands(op->look);
	virDomainPtr dom = virt_find_ours(conn, op, &result->err);
	struct buf text = { 0 };

	if (!dom)
		return;
	buf_puts(&text, "{");
	while (*command && add_answer(dom, *command, &text))
		command++;
	if (*command)
		virt_error(&result->err, "ask the guest agent of '%s' for '%s'", op->domain,
			*command);
	buf_puts(&text, "}");
	result->text = text.data;
	virDomainFree(dom);
}

/* Its words name the command and the user, never what it was told. False: there is no such
 * command, or it failed. */
static bool tell(virDomainPtr dom, const struct op *op, size_t i, struct err *err)
{
	autofree char *what = NULL, *command = credentials_command(op->question, i, &what);

	if (!command)
		return false;
	if (!order(dom, command, ANSWER_S))
		virt_error(err, "%s", what);
	return !err->code;
}

/* In order, up to the first that it refuses. */
void virt_do_agent_credentials(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr dom = virt_find_ours(conn, op, &result->err);
	size_t i = 0;

	if (!dom)
		return;
	while (tell(dom, op, i, &result->err))
		i++;
	virDomainFree(dom);
}
