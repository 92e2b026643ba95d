/* SPDX-License-Identifier: Apache-2.0 */
/* A socket in a folder of its own where vmactl looks for the agent, for tests that play one. */
#ifndef VMAGENT_TEST_LIB_AGENT_SOCKET_H
#define VMAGENT_TEST_LIB_AGENT_SOCKET_H

/* Checked fixture: the folder, and VMAGENT_SOCKET. */
void agent_socket_set_up(void);
void agent_socket_tear_down(void);

const char *agent_socket_path(void);
int agent_socket_listen(void); /* the listening socket; the caller closes it */

#endif
