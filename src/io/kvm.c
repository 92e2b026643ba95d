/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether KVM works, asked of the processor and of the kernel. Neither alone is enough: a kernel
 * may offer /dev/kvm on a processor without virtualization, and make virtual machines in which no
 * ordinary kernel gets anywhere (pagetable virtual machines: seen); and a processor may have what
 * the kernel was told not to use. Owns nothing.
 */
#include "io/kvm.h"

#include <fcntl.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

static bool processor_virtualizes(void)
{
	unsigned a, b, c, d;
	bool vmx = __get_cpuid(1, &a, &b, &c, &d) && c & 1 << 5;
	bool svm = __get_cpuid(0x80000001, &a, &b, &c, &d) && c & 1 << 2;

	return vmx || svm;
}
#else
static bool processor_virtualizes(void)
{
	return true; /* elsewhere the kernel's word is good */
}
#endif

/* The descriptor that an ioctl on another made; closes that other one. */
static int next_fd(int fd, unsigned long request)
{
	int made = fd < 0 ? -1 : ioctl(fd, request, 0);

	if (fd >= 0)
		close(fd);
	return made;
}

bool virt_kvm_works(void)
{
	int kvm = processor_virtualizes() ? open("/dev/kvm", O_RDWR | O_CLOEXEC) : -1;
	int vcpu = next_fd(next_fd(kvm, KVM_CREATE_VM), KVM_CREATE_VCPU);

	if (vcpu < 0)
		return false;
	close(vcpu);
	return true;
}
