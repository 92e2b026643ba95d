/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host_ports.h"

#include <string.h>

#include "core/json.h"

#define PORT_MAX   65535
#define DIGITS_MAX 5
#define BLANKS     " \t"
#define FORM       "expected HOST:GUEST[/tcp|/udp], …, such as 8080:80/tcp"

const char *host_port_protocol(const struct host_port *port)
{
	return port->udp ? "udp" : "tcp";
}

static bool read_port(const char **at, unsigned *ret)
{
	size_t len = strspn(*at, "0123456789");

	*ret = 0;
	if (len < 1 || len > DIGITS_MAX)
		return false;
	for (; len; len--)
		*ret = *ret * 10 + (unsigned)(*(*at)++ - '0');
	return true;
}

/* Up to the comma or the end. */
static bool read_one(const char **at, struct host_port *ret)
{
	*at += strspn(*at, BLANKS);
	if (!read_port(at, &ret->host) || *(*at)++ != ':' || !read_port(at, &ret->guest))
		return false;
	ret->udp = starts_with(*at, "/udp");
	if (ret->udp || starts_with(*at, "/tcp"))
		*at += strlen("/tcp");
	*at += strspn(*at, BLANKS);
	return **at == ',' || !**at;
}

static int check_one(const struct host_ports *before, const struct host_port *port, struct err *err)
{
	if (port->host < HOST_PORT_FIRST || port->host > PORT_MAX)
		return err_set(err, ERR_INVALID, "a port of the host is from %d to %d, not %u",
			HOST_PORT_FIRST, PORT_MAX, port->host);
	if (port->guest < 1 || port->guest > PORT_MAX)
		return err_set(err, ERR_INVALID, "a port of the guest is from 1 to %d, not %u",
			PORT_MAX, port->guest);
	for (size_t i = 0; i < before->n; i++)
		if (before->list[i].host == port->host && before->list[i].udp == port->udp)
			return err_set(err, ERR_INVALID, "port %u/%s is there twice", port->host,
				host_port_protocol(port));
	return before->n == HOST_PORTS_MAX
		? err_set(err, ERR_INVALID, "at most %d ports are possible", HOST_PORTS_MAX)
		: 0;
}

int host_ports_parse(const char *text, struct host_ports *ret, struct err *err)
{
	struct host_ports ports = { .n = 0 };
	const char *at = text;
	bool more = true;
	int rc = 0;

	ret->n = 0;
	while (more && !rc) {
		struct host_port port;

		if (!read_one(&at, &port))
			return err_set(err, ERR_INVALID, FORM);
		rc = check_one(&ports, &port, err);
		if (!rc)
			ports.list[ports.n++] = port;
		more = *at++ == ',';
	}
	if (!rc)
		*ret = ports;
	return rc;
}

void host_ports_of(const struct vmi *vmi, struct host_ports *ret)
{
	const char *text = vmi->meta.annotations;
	struct err ignored;
	cJSON *annotations;

	ret->n = 0;
	if (!text || !strstr(text, HOST_PORTS_ANNOTATION))
		return;
	annotations = cJSON_Parse(text);
	text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(annotations, HOST_PORTS_ANNOTATION));
	if (text)
		host_ports_parse(text, ret, &ignored);
	cJSON_Delete(annotations);
}

char *host_ports_rules(const struct host_ports *ports)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < ports->n; i++)
		buf_printf(&text, "%s::%u-:%u\n", host_port_protocol(&ports->list[i]),
			ports->list[i].host, ports->list[i].guest);
	return text.data;
}
