/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peer that the agent's memory is measured against: a program that opens one connection to
 * libvirt, with an event loop to keep it, and does nothing else. It says when it is connected.
 */
#include <libvirt/libvirt.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	virConnectPtr conn;

	if (virEventRegisterDefaultImpl() < 0)
		return 1;
	conn = virConnectOpen(argc > 1 ? argv[1] : "qemu:///system");
	if (!conn)
		return 1;
	puts("connected");
	fflush(stdout);
	while (virEventRunDefaultImpl() == 0)
		;
	virConnectClose(conn);
	return 0;
}
