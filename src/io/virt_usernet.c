/* SPDX-License-Identifier: Apache-2.0 */
#include "io/virt_usernet.h"

#include <stdio.h>
#include <string.h>

/* "  TCP[HOST_FORWARD]  15  127.0.0.1 35745   10.0.2.15    22     0     0" */
static bool read_line(const char *line, struct usernet_line *ret)
{
	return sscanf(line, " TCP[%23[^]]] %*d %47s %u %*s %u", ret->state, ret->address,
		       &ret->port, &ret->guest_port) == 4;
}

bool usernet_next(const char **text, struct usernet_line *ret)
{
	while (**text) {
		const char *line = *text;

		*text += strcspn(line, "\n");
		*text += **text == '\n' ? 1 : 0;
		if (read_line(line, ret))
			return true;
	}
	return false;
}
