/* SPDX-License-Identifier: Apache-2.0 */
/* The libvirt adapter and domains that somebody else has made: they are described,
 * claimed, and make room. */
#include <check.h>
#include <libvirt/libvirt.h>
#include <string.h>

#include "lib/virt_fixture.h"

Suite *test_virt_adopt_suite(void);

static struct fixture *f;

static void set_up(void)
{
	f = fixture_new();
}

static void tear_down(void)
{
	fixture_free(f);
}

#define THEIRS_XML                                                                    \
	"<domain type='test'><name>theirs</name><uuid>" THEIRS "</uuid><memory>65536" \
	"</memory><vcpu>1</vcpu><os><type>hvm</type></os></domain>"
#define THEIRS "6d307ca9-b3ef-428c-8861-06e72d69f999"

/* As somebody else makes it. */
static void make_theirs(bool run)
{
	virConnectPtr conn = virConnectOpen(FIXTURE_URI);
	virDomainPtr dom = virDomainDefineXML(conn, THEIRS_XML);

	ck_assert_ptr_nonnull(dom);
	ck_assert_int_eq(virDomainSetAutostart(dom, 1), 0);
	if (run)
		ck_assert_int_eq(virDomainCreate(dom), 0);
	virDomainFree(dom);
	virConnectClose(conn);
}

static enum err_code theirs_op(enum op_kind kind, const char *vmi_uid)
{
	struct op op = { .kind = kind, .domain = "theirs" };
	struct domain_context context = fixture_context(vmi_uid, "/run/a");
	autofree char *xml = domain_metadata_xml(&context);

	copy_str(op.uuid, UID_SIZE, THEIRS);
	copy_str(op.vmi_uid, UID_SIZE, vmi_uid);
	op.xml = xml;
	return fixture_do(f, &op);
}

START_TEST(describe)
{
	struct op op = { .kind = OP_DESCRIBE, .domain = "nobody" };

	ck_assert_int_eq(fixture_do(f, &op), ERR_NOT_FOUND);
	ck_assert_str_eq(f->result.err.msg, "libvirt has no domain 'nobody'");
	make_theirs(true);
	ck_assert_msg(!theirs_op(OP_DESCRIBE, VMI_A), "%s", f->result.err.msg);
	ck_assert_uint_eq(f->result.n_domains, 1);
	ck_assert_str_eq(f->result.domains[0].uuid, THEIRS);
	ck_assert_str_eq(f->result.domains[0].owner, "");
	ck_assert(f->result.detail->persistent && f->result.detail->autostart);
	ck_assert(!f->result.detail->saved && !f->result.detail->snapshots);
	ck_assert_ptr_nonnull(strstr(f->result.detail->config_xml, THEIRS));
	ck_assert_ptr_nonnull(strstr(f->result.detail->live_xml, "id="));
	op.domain = THEIRS; /* by its UUID */
	ck_assert_int_eq(fixture_do(f, &op), ERR_OK);
	ck_assert_str_eq(f->result.domains[0].name, "theirs");
	ck_assert_int_eq(theirs_op(OP_CLAIM, VMI_A), ERR_OK);
	ck_assert_int_eq(theirs_op(OP_DESTROY, VMI_A), ERR_OK);
	ck_assert_int_eq(theirs_op(OP_UNDEFINE, VMI_A), ERR_OK);
	ck_assert_int_eq(theirs_op(OP_CLAIM, VMI_A), ERR_DOMAIN_GONE);
}
END_TEST

/* Running or not; only what nobody claims is claimed, and it is ours afterwards, in both
 * definitions. */
START_TEST(claim)
{
	make_theirs(_i);
	ck_assert_int_eq(theirs_op(OP_DESTROY, VMI_A), _i ? ERR_CONFLICT : ERR_OK);
	ck_assert_msg(!theirs_op(OP_CLAIM, VMI_A), "%s", f->result.err.msg);
	ck_assert_int_eq(theirs_op(OP_DESCRIBE, VMI_A), ERR_OK);
	ck_assert_str_eq(f->result.domains[0].owner, VMI_A);
	ck_assert(!f->result.detail->autostart);
	ck_assert_ptr_nonnull(strstr(f->result.detail->config_xml, VMI_A));
	ck_assert_int_eq(f->result.domains[0].active, _i);
	ck_assert_int_eq(theirs_op(OP_CLAIM, VMI_A), ERR_OK); /* again: it is done */
	ck_assert_int_eq(theirs_op(OP_CLAIM, VMI_B), ERR_CONFLICT);
	ck_assert_ptr_nonnull(strstr(f->result.err.msg, "the metadata of another VMI, " VMI_A));
	ck_assert_int_eq(theirs_op(OP_DESTROY, VMI_A), ERR_OK);
	ck_assert_int_eq(theirs_op(OP_DESCRIBE, VMI_A), ERR_OK);
	ck_assert_str_eq(f->result.domains[0].owner, VMI_A); /* the persistent one has it */
	ck_assert_int_eq(theirs_op(OP_UNDEFINE, VMI_A), ERR_OK);
}
END_TEST

/* A shut-off domain that was adopted makes room for the first start; any other one does not. */
START_TEST(make_room)
{
	struct vmi_spec spec = fixture_spec();
	struct domain_context context = fixture_context(VMI_A, "/run/a");
	struct op op = { .kind = OP_START, .domain = FIXTURE_DOMAIN, .vmi_uid = VMI_A };

	make_theirs(false);
	copy_str(spec.uuid, UID_SIZE, THEIRS);
	copy_str(op.uuid, UID_SIZE, THEIRS);
	op.xml = domain_xml(&spec, &context);
	ck_assert_int_eq(fixture_do(f, &op), ERR_CONFLICT);
	op.replaces = "another";
	ck_assert_int_eq(fixture_do(f, &op), ERR_CONFLICT);
	ck_assert_str_eq(f->result.err.msg, "domain 'theirs' was not made by vmagent");
	op.replaces = "theirs";
	ck_assert_msg(!fixture_do(f, &op), "%s", f->result.err.msg);
	ck_assert_str_eq(f->result.domains[0].name, FIXTURE_DOMAIN);
	ck_assert_str_eq(f->result.domains[0].owner, VMI_A);
	free(op.xml);
	ck_assert_int_eq(theirs_op(OP_DESTROY, VMI_A), ERR_OK);
	ck_assert_int_eq(theirs_op(OP_UNDEFINE, VMI_A), ERR_OK);
	make_theirs(true);
	op.xml = domain_xml(&spec, &context);
	ck_assert_int_eq(fixture_do(f, &op), ERR_CONFLICT);
	ck_assert_ptr_nonnull(strstr(f->result.err.msg, "runs already, and not by vmagent"));
	free(op.xml);
	ck_assert_int_eq(theirs_op(OP_CLAIM, VMI_A), ERR_OK);
	ck_assert_int_eq(theirs_op(OP_DESTROY, VMI_A), ERR_OK);
	ck_assert_int_eq(theirs_op(OP_UNDEFINE, VMI_A), ERR_OK);
}
END_TEST

Suite *test_virt_adopt_suite(void)
{
	Suite *suite = suite_create("virt adopt");
	TCase *tc = tcase_create("test driver");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, describe);
	tcase_add_loop_test(tc, claim, 0, 2);
	tcase_add_test(tc, make_room);
	suite_add_tcase(suite, tc);
	return suite;
}
