/* SPDX-License-Identifier: Apache-2.0 */
#include "test/lib/agent_socket.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <vmagent/base.h>

static char folder[] = "/tmp/vmactl-test-XXXXXX";
static char path[64];

void agent_socket_set_up(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s", folder);
	setenv("VMAGENT_SOCKET", path, 1);
}

void agent_socket_tear_down(void)
{
	unlink(path);
	rmdir(folder);
	strcpy(folder + strlen(folder) - 6, "XXXXXX"); /* for the next one */
}

const char *agent_socket_path(void)
{
	return path;
}

int agent_socket_listen(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	copy_str(at.sun_path, sizeof(at.sun_path), path);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(listener, 16), 0);
	return listener;
}
