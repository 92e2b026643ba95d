/* SPDX-License-Identifier: Apache-2.0 */
/* What a template names that one guest at a time may have. */
#include <check.h>
#include <string.h>

#include "core/edit.h"
#include "core/exclusive.h"

Suite *test_exclusive_suite(void);

#define DISKS(list) "{\"domain\":{\"devices\":{\"disks\":[" list "]}},\"volumes\":[" VOLUME "]}"
#define VOLUME      "{\"name\":\"a\",\"hostDisk\":{\"path\":\"/d/a\",\"type\":\"Disk\"}}"
#define ONE(volume) "{\"domain\":{},\"volumes\":[{\"name\":\"a\"," volume "}]}"
#define NIC(mac) \
	"{\"domain\":{\"devices\":{\"interfaces\":[{\"name\":\"x\"},{\"name\":\"y\"," mac "}]}}}"
#define CLAIM "\"persistentVolumeClaim\":{\"claimName\":\"c\""

/* clang-format off */
static const struct { const char *spec, *want; } specs[] = {
	{ DISKS(""), "volumes[0] disk '/d/a';" },
	{ DISKS("{\"name\":\"b\",\"cdrom\":{}}"), "volumes[0] disk '/d/a';" },
	{ DISKS("{\"name\":\"a\",\"disk\":{\"bus\":\"virtio\"}}"), "volumes[0] disk '/d/a';" },
	{ DISKS("{\"name\":\"a\",\"disk\":{\"readonly\":false}}"), "volumes[0] disk '/d/a';" },
	{ DISKS("{\"name\":\"a\",\"disk\":{\"readonly\":true}}"), "" },
	{ DISKS("{\"name\":\"a\",\"lun\":{}}"), "volumes[0] disk '/d/a';" },
	{ DISKS("{\"name\":\"a\",\"lun\":{\"readonly\":true}}"), "" },
	{ DISKS("{\"name\":\"a\",\"cdrom\":{}}"), "" },
	{ DISKS("{\"name\":\"a\",\"shareable\":true,\"disk\":{}}"), "" },
	{ ONE("\"hostDisk\":{\"path\":\"/d/a\",\"shared\":true}"), "" },
	{ ONE(CLAIM "}"), "volumes[0] claim 'ns/c';" },
	{ ONE(CLAIM ",\"readOnly\":true}"), "" },
	{ ONE("\"dataVolume\":{\"name\":\"c\"}"), "volumes[0] claim 'ns/c';" },
	{ ONE("\"ephemeral\":{" CLAIM "}}"), "" },
	{ ONE("\"emptyDisk\":{\"capacity\":\"1Gi\"}"), "" },
	{ "{\"domain\":{\"devices\":{\"filesystems\":[{\"name\":\"a\"}]}},\"volumes\":[{\"name\":\"a\"," CLAIM "}}]}", "" },
	{ NIC("\"macAddress\":\"02-00-00-00-00-0A\""), "domain.devices.interfaces[1] MAC address 02:00:00:00:00:0a;" },
	{ NIC("\"model\":\"virtio\""), "" },
	{ "{}", "" },
};
/* clang-format on */

START_TEST(what_only_one_may_have)
{
	struct node *spec = text_tree(specs[_i].spec);
	struct exclusives e;
	struct buf out = { 0 };

	ck_assert_ptr_nonnull(spec);
	exclusives_of(spec, "ns", &e);
	buf_puts(&out, "");
	for (size_t i = 0; i < e.n; i++)
		buf_printf(&out, "%s %s;", e.list[i].field, e.list[i].what);
	ck_assert_str_eq(out.data, specs[_i].want);
	exclusives_done(&e);
	buf_done(&out);
	node_free(spec);
}
END_TEST

Suite *test_exclusive_suite(void)
{
	Suite *suite = suite_create("exclusive");
	TCase *tc = tcase_create("exclusive");

	tcase_add_loop_test(tc, what_only_one_may_have, 0, (int)ARRAY_SIZE(specs));
	suite_add_tcase(suite, tc);
	return suite;
}
