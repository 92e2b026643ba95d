/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmactl, the command line of vmagent. It links neither libvirt nor the store: it must start in
 * milliseconds, and it knows the agent only by its API. All of it is in cli_main(), so that
 * tests can call it.
 */
#include "cli/cli.h"

int main(int argc, char **argv)
{
	return (int)cli_main(argc - 1, argv + 1);
}
