/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libvirt's errors in our terms. Which of them can never get better by trying again (the XML, the
 * configuration) is said here and nowhere else: those are ERR_INVALID, and the run fails at once.
 */
#include <stdio.h>
#include <string.h>

#include "io/virt_private.h"

struct mapping {
	int libvirt;
	enum err_code code;
};

/* clang-format off */
static const struct mapping mappings[] = {
	{ VIR_ERR_NO_DOMAIN,            ERR_DOMAIN_GONE },
	{ VIR_ERR_XML_ERROR,            ERR_INVALID },
	{ VIR_ERR_XML_DETAIL,           ERR_INVALID },
	{ VIR_ERR_XML_INVALID_SCHEMA,   ERR_INVALID },
	{ VIR_ERR_CONFIG_UNSUPPORTED,   ERR_INVALID },
	{ VIR_ERR_ARGUMENT_UNSUPPORTED, ERR_INVALID },
	{ VIR_ERR_CPU_INCOMPATIBLE,     ERR_INVALID },
	{ VIR_ERR_OS_TYPE,              ERR_INVALID },
	{ VIR_ERR_INVALID_ARG,          ERR_INVALID },
	{ VIR_ERR_DOM_EXIST,            ERR_CONFLICT },
	{ VIR_ERR_NO_CONNECT,           ERR_UNAVAILABLE },
	{ VIR_ERR_INVALID_CONN,         ERR_UNAVAILABLE },
	{ VIR_ERR_RPC,                  ERR_UNAVAILABLE },
	{ VIR_ERR_AUTH_FAILED,          ERR_FORBIDDEN },
	{ VIR_ERR_OPERATION_DENIED,     ERR_FORBIDDEN },
	{ VIR_ERR_ACCESS_DENIED,        ERR_FORBIDDEN },
	{ VIR_ERR_OPERATION_TIMEOUT,    ERR_TIMEOUT },
	{ VIR_ERR_AGENT_UNRESPONSIVE,   ERR_TIMEOUT },
};
/* clang-format on */

int virt_error_last(void)
{
	virErrorPtr last = virGetLastError();

	return last ? last->code : VIR_ERR_OK;
}

static enum err_code code_of(int libvirt)
{
	for (size_t i = 0; i < ARRAY_SIZE(mappings); i++)
		if (mappings[i].libvirt == libvirt)
			return mappings[i].code;
	return ERR_HYPERVISOR;
}

/*
 * libvirt puts QEMU's whole environment and command line before what QEMU said:
 * "internal error: Child process (…) unexpected exit status 1: words". Only the end is of use.
 */
static const char *without_command_line(const char *words)
{
	const char *command = strstr(words, "Child process (");
	const char *end = command ? strstr(command, ") unexpected ") : NULL;

	return end ? end + strlen(") unexpected ") : words;
}

int virt_error(struct err *err, const char *fmt, ...)
{
	const char *words = without_command_line(virGetLastErrorMessage());
	int length = (int)strcspn(words, "\n");
	char context[ERR_MSG_SIZE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(context, sizeof(context), fmt, ap);
	va_end(ap);
	return err_set(err, code_of(virt_error_last()), "%s: %.*s", context, length, words);
}

char *virt_locked_image(const char *words)
{
	static const char asks[] = "Is another process using the image [";
	const char *path = strstr(words, "Failed to get ") ? strstr(words, asks) : NULL;
	const char *end;

	if (!path)
		return NULL;
	path += sizeof(asks) - 1;
	end = strstr(path, "]?");
	return end ? xstrndup(path, (size_t)(end - path)) : NULL;
}

static void say_nothing(void *data, virErrorPtr error)
{
	(void)data;
	(void)error;
}

void virt_error_silence(void)
{
	virSetErrorFunc(NULL, say_nothing);
}
