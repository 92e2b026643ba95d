/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A domain that is put together from nothing but what was prepared, and yet is another one:
 * pieces of one device in another, what bounds a device left out, a device too many, more memory
 * than was agreed upon.
 */
#include <check.h>
#include <string.h>

#include "core/relay_xml.h"

Suite *test_relay_xml_suite(void);

#define DOMAIN(memory, os, devices)                                                            \
	"<domain type='kvm'><name>one</name><uuid>d0000000-0000-4000-8000-f97c5d29941b</uuid>" \
	"<memory unit='KiB'>" memory "</memory><vcpu>2</vcpu><iothreads>1</iothreads>"         \
	"<os><type>hvm</type>" os "</os><devices><emulator>/usr/bin/qemu</emulator>" devices   \
	"</devices></domain>"

#define MEMORY "1048576"
#define OS     "<loader readonly='yes' type='pflash'>/fw/CODE.fd</loader><nvram>/vm/nvram</nvram>"
#define BASE \
	"<backingStore type='file'><format type='raw'/><source file='/images/base'/><backingStore/></backingStore>"
#define OVERLAY                                                                                               \
	"<disk type='file' device='disk'><driver name='qemu' type='qcow2'/><source file='/vm/overlay'/>" BASE \
	"<target dev='vda'/></disk>"
#define DATA \
	"<disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='/vm/data'/><target dev='vdb'/></disk>"
#define SEED \
	"<disk type='file' device='cdrom'><driver name='qemu' type='raw'/><source file='/images/seed'/><target dev='sda'/><readonly/></disk>"
#define FENCED \
	"<interface type='bridge'><source bridge='br0'/><vlan><tag id='7'/></vlan><filterref filter='clean'/></interface>"
#define PLAIN "<interface type='bridge'><source bridge='br1'/></interface>"
#define SHARED \
	"<filesystem type='mount' accessmode='mapped'><source dir='/shared'/><target dir='s'/><readonly/></filesystem>"
#define SERIAL  "<serial type='unix'><source mode='bind' path='/vm/console'/></serial>"
#define CONSOLE "<console type='unix'><source mode='bind' path='/vm/console'/></console>"
#define DIMM \
	"<memory model='dimm'><target><size unit='KiB'>1048576</size><node>0</node></target></memory>"
#define DEVICES OVERLAY DATA SEED FENCED PLAIN SHARED SERIAL CONSOLE DIMM

static struct xml_facts *facts;
static struct err err;

static void setup(void)
{
	ck_assert_msg(xml_facts_new(DOMAIN(MEMORY, OS, DEVICES), &facts, &err) == 0, "%s", err.msg);
}

static void teardown(void)
{
	xml_facts_free(facts);
}

static const struct {
	const char *xml, *words; /* NULL: it passes */
} rows[] = {
	{ DOMAIN(MEMORY, OS, DEVICES), NULL },
	{ DOMAIN(MEMORY, OS, ""), NULL },
	{ DOMAIN(MEMORY, OS, SEED CONSOLE DATA), NULL }, /* in any order */
	{ DOMAIN(MEMORY, OS, DEVICES "<controller type='usb'/><controller type='sata'/>"), NULL },
	{ DOMAIN(MEMORY, OS, DEVICES "<input type='mouse' bus='ps2'/>"), NULL },
	/* What a guest has written would be read as the header of an image, which
	 * may name any file. */
	{ DOMAIN(MEMORY, OS,
		  "<disk type='file' device='disk'><driver name='qemu' type='qcow2'/><source file='/vm/data'/>" BASE
		  "<target dev='vdb'/></disk>"),
		"has 'domain/devices/disk/source@file=/vm/data', which was prepared for another device" },
	{ DOMAIN(MEMORY, OS, "<disk type='file' device='disk'><source file='/vm/data'/></disk>"),
		"lacks 'domain/devices/disk/driver@type=raw'" },
	{ DOMAIN(MEMORY, OS,
		  "<disk type='file' device='disk'><driver name='qemu' type='qcow2'/><source file='/vm/overlay'/></disk>"),
		"lacks 'domain/devices/disk/backingStore" },
	{ DOMAIN(MEMORY, OS,
		  "<disk type='file' device='disk'><driver name='qemu' type='qcow2'/><source file='/vm/overlay'/><backingStore/></disk>"),
		"lacks 'domain/devices/disk/backingStore" },
	/* … and of two drivers libvirt may take the one without a type. */
	{ DOMAIN(MEMORY, OS,
		  "<disk type='file' device='disk'><driver name='qemu'/><driver type='raw'/><source file='/vm/data'/></disk>"),
		"has 'domain/devices/disk/driver', which was prepared for another device" },
	{ DOMAIN(MEMORY, OS,
		  "<interface type='bridge'><source bridge='br1'/><source bridge='br1'/></interface>"),
		"has 'domain/devices/interface/source" },
	/* What others read as well would be written to. */
	{ DOMAIN(MEMORY, OS,
		  "<disk type='file' device='cdrom'><driver name='qemu' type='raw'/><source file='/images/seed'/></disk>"),
		"lacks 'domain/devices/disk/readonly'" },
	{ DOMAIN(MEMORY, OS,
		  "<disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='/images/seed'/></disk>"),
		"which was prepared for another device" },
	{ DOMAIN(MEMORY, "<loader type='pflash'>/fw/CODE.fd</loader><nvram>/vm/nvram</nvram>", ""),
		"lacks 'domain/os/loader@readonly=yes'" },
	{ DOMAIN(MEMORY, OS,
		  "<filesystem type='mount' accessmode='mapped'><source dir='/shared'/><target dir='s'/></filesystem>"),
		"lacks 'domain/devices/filesystem/readonly'" },
	{ DOMAIN(MEMORY, OS,
		  "<filesystem type='mount'><source dir='/shared'/><target dir='s'/><readonly/></filesystem>"),
		"lacks 'domain/devices/filesystem@accessmode=mapped'" },
	/* What keeps a guest apart from others would be gone. */
	{ DOMAIN(MEMORY, OS,
		  "<interface type='bridge'><source bridge='br0'/><filterref filter='clean'/></interface>"),
		"lacks 'domain/devices/interface/vlan" },
	{ DOMAIN(MEMORY, OS,
		  "<interface type='bridge'><source bridge='br0'/><vlan><tag id='7'/></vlan></interface>"),
		"lacks 'domain/devices/interface/filterref" },
	{ DOMAIN(MEMORY, OS, "<interface type='bridge'><source bridge='br0'/></interface>"),
		"lacks 'domain/devices/interface/" },
	/* More than there was room for. */
	{ DOMAIN(MEMORY, OS, DIMM DIMM),
		"more devices 'domain/devices/memory' than were prepared" },
	{ DOMAIN(MEMORY, OS, SERIAL CONSOLE SERIAL), "more devices 'domain/devices/serial'" },
	{ DOMAIN("1114112", OS, DEVICES), NULL }, /* it rounds up */
	{ DOMAIN("1114113", OS, DEVICES), "more memory than was prepared" },
	{ DOMAIN("99999999999999999999999", OS, DEVICES), "more memory than was prepared" },
	{ DOMAIN(MEMORY "</memory><memory unit='TiB'>1", OS, DEVICES), "domain/memory@unit=TiB'" },
	{ DOMAIN(MEMORY "</memory><vcpu>3</vcpu><memory>1", OS, DEVICES),
		"more CPUs than was prepared" },
	{ DOMAIN(MEMORY "</memory><iothreads>2</iothreads><memory>1", OS, DEVICES),
		"more I/O threads than was prepared" },
	{ DOMAIN(MEMORY
		  "</memory><iothreadids><iothread id='1'/><iothread id='2'/></iothreadids><memory>1",
		  OS, DEVICES),
		"more I/O threads than was prepared" },
	{ DOMAIN(MEMORY
		  "</memory><cpu><numa><cell memory='1048576' unit='KiB'/></numa></cpu><memory>1",
		  OS, DEVICES),
		NULL },
	{ DOMAIN(MEMORY
		  "</memory><cpu><numa><cell memory='1048576'/><cell memory='1048576'/></numa></cpu><memory>1",
		  OS, DEVICES),
		"more memory than was prepared" },
	{ DOMAIN(MEMORY "</memory><cpu><numa><cell memory='1' unit='GiB'/></numa></cpu><memory>1",
		  OS, DEVICES),
		"cell@unit=GiB" },
};

START_TEST(only_what_was_prepared_as_it_was_prepared)
{
	const char *xml = rows[_i].xml, *words = rows[_i].words;
	int rc = xml_facts_check_domain(facts, xml, strlen(xml), &err);

	ck_assert_msg(words ? rc < 0 && strstr(err.msg, words) != NULL : rc == 0, "'%s': %s", xml,
		rc ? err.msg : "passes");
}
END_TEST

/* … and a cookie's domain is held to the same. */
START_TEST(in_a_cookie_as_well)
{
#define COOKIE(inside)                                                                             \
	"<qemu-migration><name>one</name><uuid>d0000000-0000-4000-8000-f97c5d29941b</uuid>" inside \
	"</qemu-migration>"
	static const char two[] = COOKIE("<domain><devices>" DIMM "</devices></domain>"
					 "<domain><devices>" DIMM "</devices></domain>");
	static const char none[] = COOKIE("<hostname>a</hostname>");
	static const char writes[] = COOKIE(
		"<domain type='kvm'><os>" OS "</os><devices><disk device='cdrom'>"
		"<driver type='raw'/></disk></devices></domain>");

	ck_assert_int_eq(xml_facts_check_cookie(facts, none, sizeof(none), &err), 0);
	ck_assert_int_lt(xml_facts_check_cookie(facts, writes, sizeof(writes), &err), 0);
	ck_assert_msg(strstr(err.msg, "lacks 'domain/devices/disk/readonly'") != NULL, "%s",
		err.msg);
	ck_assert_int_lt(xml_facts_check_cookie(facts, two, sizeof(two), &err), 0);
}
END_TEST

Suite *test_relay_xml_suite(void)
{
	Suite *s = suite_create("relay_xml");
	TCase *t = tcase_create("put together");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, only_what_was_prepared_as_it_was_prepared, 0, (int)ARRAY_SIZE(rows));
	tcase_add_test(t, in_a_cookie_as_well);
	suite_add_tcase(s, t);
	return s;
}
