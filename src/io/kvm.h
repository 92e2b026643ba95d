/* SPDX-License-Identifier: Apache-2.0 */
/* Whether guests can run on KVM here. */
#ifndef VMAGENT_IO_KVM_H
#define VMAGENT_IO_KVM_H

#include <vmagent/base.h>

/*
 * Makes a virtual machine with a CPU and drops it again: /dev/kvm may exist and open, and yet run
 * nothing, so the processor is asked too. Takes about a millisecond; any thread.
 * It answers for this process's user: whether QEMU's user may open /dev/kvm is libvirt's to see to.
 */
bool virt_kvm_works(void);

#endif
