/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libvirt adapter on libvirt's test driver, which lives in this process: connecting, events one
 * to one, every op, and what it must refuse. The default domain of that driver is the foreign one.
 * Starts threads, so it needs CK_FORK=no.
 */
#include <arpa/inet.h>
#include <check.h>
#include <libvirt/libvirt.h>
#include <string.h>
#include <unistd.h>

#include "lib/virt_fixture.h"

#include "io/virt_private.h"
#include "io/virt_xml.h"

Suite *test_virt_suite(void);

static struct fixture *f;

static void set_up(void)
{
	f = fixture_new();
}

static void tear_down(void)
{
	fixture_free(f);
}

START_TEST(start_and_read)
{
	const struct domain_info *info;

	ck_assert_ptr_null(fixture_read(f));
	ck_assert_msg(!fixture_start_as(f, VMI_A), "%s", f->result.err.msg);
	ck_assert_uint_eq(f->result.n_domains, 1);
	info = fixture_read(f);
	ck_assert_str_eq(info->name, FIXTURE_DOMAIN);
	ck_assert_str_eq(info->uuid, FIXTURE_UUID);
	ck_assert_str_eq(info->owner, VMI_A);
	ck_assert_str_eq(info->held, "cid:1024");
	ck_assert_int_eq(info->state, DOMAIN_RUNNING);
	ck_assert(info->active);
	ck_assert_str_eq(info->console, "/run/a/serial0");
}
END_TEST

START_TEST(start_again_only_looks)
{
	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	fixture_await(f, &f->n_events, 2, 10); /* defined, started */
	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	ck_assert_int_eq(f->result.domains[0].state, DOMAIN_RUNNING);
	ck_assert_uint_eq(f->n_events, 2);
}
END_TEST

START_TEST(start_of_a_stopped_run)
{
	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_op(f, OP_DESTROY, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_read(f)->state, DOMAIN_RUNNING);
}
END_TEST

START_TEST(destroy_and_undefine)
{
	const struct domain_info *info;

	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_op(f, OP_UNDEFINE, VMI_A), ERR_CONFLICT);
	ck_assert_ptr_nonnull(strstr(f->result.err.msg, "still active"));
	ck_assert_int_eq(fixture_op(f, OP_DESTROY, VMI_A), ERR_OK);
	info = fixture_read(f);
	ck_assert_int_eq(info->state, DOMAIN_SHUTOFF);
	ck_assert_int_eq(info->reason, REASON_DESTROYED);
	ck_assert_str_eq(info->owner, VMI_A);
	ck_assert(!info->active);
	ck_assert_int_eq(fixture_op(f, OP_DESTROY, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_op(f, OP_UNDEFINE, VMI_A), ERR_OK);
	ck_assert_ptr_null(fixture_read(f));
	ck_assert_int_eq(fixture_op(f, OP_DESTROY, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_op(f, OP_UNDEFINE, VMI_A), ERR_OK);
}
END_TEST

START_TEST(shutdown_of_it)
{
	ck_assert_int_eq(fixture_op(f, OP_SHUTDOWN, VMI_A), ERR_DOMAIN_GONE);
	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	ck_assert_msg(!fixture_op(f, OP_SHUTDOWN, VMI_A), "%s", f->result.err.msg);
	ck_assert_int_eq(fixture_read(f)->reason, REASON_SHUTDOWN);
	ck_assert_int_eq(fixture_op(f, OP_SHUTDOWN, VMI_A), ERR_HYPERVISOR);
	ck_assert_ptr_nonnull(strstr(f->result.err.msg, "not running")); /* libvirt's words */
}
END_TEST

START_TEST(suspend_and_resume)
{
	ck_assert_int_eq(fixture_op(f, OP_SUSPEND, VMI_A), ERR_DOMAIN_GONE);
	ck_assert_int_eq(fixture_op(f, OP_RESUME, VMI_A), ERR_DOMAIN_GONE);
	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	ck_assert_msg(!fixture_op(f, OP_SUSPEND, VMI_A), "%s", f->result.err.msg);
	ck_assert_int_eq(fixture_read(f)->state, DOMAIN_PAUSED);
	ck_assert_int_eq(fixture_read(f)->reason, REASON_USER);
	ck_assert(fixture_read(f)->active);
	ck_assert_msg(!fixture_op(f, OP_RESUME, VMI_A), "%s", f->result.err.msg);
	ck_assert_int_eq(fixture_read(f)->state, DOMAIN_RUNNING);
	ck_assert_int_eq(fixture_op(f, OP_DESTROY, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_op(f, OP_SUSPEND, VMI_A), ERR_HYPERVISOR);
	ck_assert_ptr_nonnull(strstr(f->result.err.msg, "suspend domain 'default_web1': "));
}
END_TEST

START_TEST(start_paused)
{
	struct vmi_spec spec = fixture_spec();
	struct domain_context context = fixture_context(VMI_A, "/run/a");
	autofree char *xml = domain_xml(&spec, &context);
	struct op op = { .kind = OP_START,
		.domain = FIXTURE_DOMAIN,
		.uuid = FIXTURE_UUID,
		.vmi_uid = VMI_A,
		.xml = xml,
		.paused = true };

	ck_assert_msg(!fixture_do(f, &op), "%s", f->result.err.msg);
	ck_assert_int_eq(f->result.domains[0].state, DOMAIN_PAUSED);
	ck_assert_int_eq(f->result.domains[0].reason, REASON_USER);
	ck_assert_int_eq(fixture_op(f, OP_RESUME, VMI_A), ERR_OK);
	ck_assert_msg(!fixture_do(f, &op), "%s", f->result.err.msg); /* it runs already */
	ck_assert_int_eq(f->result.domains[0].state, DOMAIN_RUNNING);
}
END_TEST

START_TEST(reboot_and_reset)
{
	ck_assert_int_eq(fixture_op(f, OP_REBOOT, VMI_A), ERR_DOMAIN_GONE);
	ck_assert_int_eq(fixture_op(f, OP_RESET, VMI_A), ERR_DOMAIN_GONE);
	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	ck_assert_msg(!fixture_op(f, OP_REBOOT, VMI_A), "%s", f->result.err.msg);
	ck_assert_int_eq(fixture_read(f)->state, DOMAIN_RUNNING);
	ck_assert_msg(!fixture_op(f, OP_RESET, VMI_A), "%s", f->result.err.msg);
	ck_assert_int_eq(fixture_read(f)->state, DOMAIN_RUNNING);
}
END_TEST

/* Another run's domain is left alone by every op, running or not. */
START_TEST(foreign_run)
{
	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_start_as(f, VMI_B), ERR_CONFLICT);
	ck_assert_str_eq(f->result.err.msg, "domain 'default_web1' runs for another VMI, " VMI_A);
	ck_assert_int_eq(fixture_op(f, OP_SHUTDOWN, VMI_B), ERR_CONFLICT);
	ck_assert_int_eq(fixture_op(f, OP_SUSPEND, VMI_B), ERR_CONFLICT);
	ck_assert_int_eq(fixture_op(f, OP_RESUME, VMI_B), ERR_CONFLICT);
	ck_assert_int_eq(fixture_op(f, OP_REBOOT, VMI_B), ERR_CONFLICT);
	ck_assert_int_eq(fixture_op(f, OP_RESET, VMI_B), ERR_CONFLICT);
	ck_assert_int_eq(fixture_op(f, OP_DESTROY, VMI_B), ERR_CONFLICT);
	ck_assert_int_eq(fixture_op(f, OP_UNDEFINE, VMI_B), ERR_CONFLICT);
	ck_assert_int_eq(fixture_read(f)->state, DOMAIN_RUNNING);
	ck_assert_int_eq(fixture_op(f, OP_DESTROY, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_start_as(f, VMI_B), ERR_CONFLICT);
	ck_assert_int_eq(fixture_op(f, OP_UNDEFINE, VMI_B), ERR_CONFLICT);
	ck_assert_str_eq(fixture_read(f)->owner, VMI_A);
}
END_TEST

/* The domain "test", which that driver comes with. */
static void uuid_of_theirs(char ret_uuid[UID_SIZE])
{
	virConnectPtr conn = virConnectOpen(FIXTURE_URI);
	virDomainPtr dom = virDomainLookupByName(conn, "test");

	ck_assert_ptr_nonnull(dom);
	virDomainGetUUIDString(dom, ret_uuid);
	virDomainFree(dom);
	virConnectClose(conn);
}

/* A domain that somebody made by hand, with our UUID or under our name. */
START_TEST(foreign_domain)
{
	struct op op = { .kind = OP_DESTROY, .domain = "test" };
	struct vmi_spec spec = fixture_spec();
	struct domain_context context = fixture_context(VMI_A, "/run/a");

	uuid_of_theirs(op.uuid);
	ck_assert_int_eq(fixture_do(f, &op), ERR_CONFLICT);
	ck_assert_str_eq(f->result.err.msg, "domain 'test' was not made by vmagent");
	op.kind = OP_READ;
	ck_assert_int_eq(fixture_do(f, &op), ERR_OK);
	ck_assert_str_eq(f->result.domains[0].owner, "");
	ck_assert_int_eq(f->result.domains[0].state, DOMAIN_RUNNING);

	op.kind = OP_START;
	op.xml = domain_xml(&spec, &context);
	copy_str(op.uuid, sizeof(op.uuid), FIXTURE_UUID);
	ck_assert_int_eq(fixture_do(f, &op), ERR_CONFLICT);
	ck_assert_ptr_nonnull(strstr(f->result.err.msg, "with another UUID"));
	free(op.xml);
}
END_TEST

START_TEST(bad_definition)
{
	struct op op = { .kind = OP_START, .domain = FIXTURE_DOMAIN, .uuid = FIXTURE_UUID };

	op.xml = "<domain type='test'><name>default_web1</name></domain>";
	ck_assert_int_eq(fixture_do(f, &op), ERR_INVALID);
	op.xml = "<domain";
	ck_assert_int_eq(fixture_do(f, &op), ERR_INVALID);
	ck_assert_ptr_null(strchr(f->result.err.msg, '\n'));
}
END_TEST

static size_t count(enum domain_event_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_events; i++)
		n += f->events[i].kind == kind;
	return n;
}

/* Every lifecycle event arrives once, in order, with what cannot be read later. */
START_TEST(events)
{
	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_op(f, OP_DESTROY, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_op(f, OP_UNDEFINE, VMI_A), ERR_OK);
	fixture_await(f, &f->n_events, 4, 10);
	ck_assert_int_eq(f->events[0].kind, DOMAIN_EVENT_LOOK_AGAIN); /* defined */
	ck_assert_int_eq(f->events[1].kind, DOMAIN_EVENT_STARTED);
	ck_assert_int_eq(f->events[2].kind, DOMAIN_EVENT_STOPPED);
	ck_assert_int_eq(f->events[2].reason, REASON_DESTROYED);
	ck_assert_int_eq(f->events[3].kind, DOMAIN_EVENT_UNDEFINED);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_str_eq(f->events[i].uuid, FIXTURE_UUID);
		ck_assert_str_eq(f->events[i].name, FIXTURE_DOMAIN);
	}
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
		ck_assert_int_eq(fixture_op(f, OP_DESTROY, VMI_A), ERR_OK);
	}
	fixture_await(f, &f->n_events, 4 + 1 + 99 + 200, 10); /* each start defines anew */
	ck_assert_uint_eq(f->n_events, 4 + 300);
	ck_assert_uint_eq(count(DOMAIN_EVENT_STARTED), 101);
	ck_assert_uint_eq(count(DOMAIN_EVENT_STOPPED), 101);
}
END_TEST

START_TEST(list)
{
	bool ours = false, theirs = false;

	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_op(f, OP_LIST, ""), ERR_OK);
	for (size_t i = 0; i < f->result.n_domains; i++) {
		const struct domain_info *info = &f->result.domains[i];

		ours |= streq(info->owner, VMI_A) && streq(info->uuid, FIXTURE_UUID);
		theirs |= streq(info->name, "test") && !*info->owner;
	}
	ck_assert(ours && theirs);
}
END_TEST

/* More at once than there are threads: each gets its own answer. */
START_TEST(many_at_once)
{
	struct op op = { .kind = OP_READ, .uuid = FIXTURE_UUID, .domain = FIXTURE_DOMAIN };

	for (int i = 0; i < 500; i++) {
		op.id = 1000 + (uint64_t)i;
		op.kind = i % 2 ? OP_READ : OP_LIST;
		hv_submit(f->hv, &op);
	}
	ck_assert_uint_eq(f->n_results, 0);
	fixture_await(f, &f->n_results, 500, 30);
	for (int i = 0; i < 500; i++)
		ck_assert_int_eq(f->codes[i], ERR_OK);
}
END_TEST

START_TEST(other_ops_are_not_its)
{
	ck_assert_int_eq(fixture_op(f, OP_PREPARE, VMI_A), ERR_INTERNAL);
	ck_assert_int_eq(fixture_op(f, OP_CLEAN, VMI_A), ERR_INTERNAL);
}
END_TEST

static int listen_on(const char *address, unsigned *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(inet_pton(AF_INET, address, &at.sin_addr), 1);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

/* The guest need not even be there. */
START_TEST(probe_of_another_host)
{
	struct op op = { .kind = OP_PROBE,
		.domain = FIXTURE_DOMAIN,
		.name = (char *)"web1",
		.uuid = FIXTURE_UUID,
		.vmi_uid = VMI_A,
		.probe = PROBE_TCP,
		.host = (char *)"127.0.0.1",
		.timeout_s = 5 };
	int fd = listen_on("127.0.0.1", &op.port);

	ck_assert_msg(!fixture_do(f, &op), "%s", f->result.err.msg);
	op.host = (char *)"localhost"; /* a name, of which one address may be another's */
	ck_assert_msg(!fixture_do(f, &op), "%s", f->result.err.msg);
	close(fd);
	ck_assert_int_eq(fixture_do(f, &op), ERR_HYPERVISOR);
	ck_assert_ptr_nonnull(strstr(f->result.err.msg, "of host 'localhost'"));
	op.host = (char *)"no-such-host.invalid";
	ck_assert_int_eq(fixture_do(f, &op), ERR_HYPERVISOR);
	ck_assert_ptr_nonnull(strstr(f->result.err.msg, "find host 'no-such-host.invalid'"));
}
END_TEST

START_TEST(host_is_known)
{
	const char *uuid = virt_identity(f->virt)->host_uuid;

	ck_assert_msg(strlen(uuid) == UID_SIZE - 1 || !*uuid, "'%s'", uuid);
}
END_TEST

START_TEST(host_by_its_capabilities)
{
	static const char text[] =
		"<capabilities><host><uuid>0b5e55ed-0000-4000-8000-000000000097</uuid>"
		"<secmodel><model>dac</model><baselabel type='kvm'>+1:+1</baselabel></secmodel>"
		"</host></capabilities>";
	struct virt_identity who = { .user = "" };

	virt_xml_identity(text, &who);
	ck_assert_str_eq(who.host_uuid, "0b5e55ed-0000-4000-8000-000000000097");
	ck_assert_str_eq(who.user, "daemon");
	who = (struct virt_identity){ .user = "" };
	virt_xml_identity("<capabilities><host><uuid>no</uuid></host></capabilities>", &who);
	ck_assert_str_eq(who.host_uuid, "");
	ck_assert_str_eq(who.user, "");
	virt_xml_identity("nothing", &who);
}
END_TEST

/* ---- without the running fixture ------------------------------------------------------------- */

START_TEST(without_connection)
{
	struct fixture *own = xcalloc(1, sizeof(*own));

	fixture_open(own, FIXTURE_URI);
	ck_assert_int_eq(fixture_op(own, OP_LIST, ""), ERR_UNAVAILABLE);
	hv_start(own->hv);
	ck_assert_int_eq(fixture_op(own, OP_LIST, ""), ERR_UNAVAILABLE);
	fixture_await_up(own, 1, 10);
	ck_assert_int_eq(fixture_op(own, OP_LIST, ""), ERR_OK);
	fixture_close(own);
	free(own);
}
END_TEST

/* It goes on trying, and says the same thing only once. */
START_TEST(nobody_there)
{
	struct fixture *own = xcalloc(1, sizeof(*own));
	size_t downs = 0;

	fixture_open(own, "qemu+unix:///system?socket=/nonexistent/libvirt-sock");
	hv_start(own->hv);
	for (uint64_t end = uv_now(&own->loop) + 2000; uv_now(&own->loop) < end;) {
		fixture_op(own, OP_LIST, "");
		uv_run(&own->loop, UV_RUN_NOWAIT);
		downs = own->downs;
	}
	ck_assert_uint_eq(downs, 1);
	ck_assert_uint_eq(own->ups, 0);
	ck_assert_ptr_nonnull(strstr(own->why, "connect to libvirt at 'qemu+unix:"));
	ck_assert_ptr_nonnull(strstr(own->why, "/nonexistent/libvirt-sock"));
	fixture_close(own);
	free(own);
}
END_TEST

/* As libvirt gives QEMU's words on. */
START_TEST(an_image_that_is_locked)
{
	char *path = virt_locked_image(
		"internal error: process exited while connecting to monitor: qemu-system-x86_64: -device "
		"virtio-blk-pci: Failed to get \"write\" lock\nIs another process using the image "
		"[/disks/a b.img]?");

	ck_assert_pstr_eq(path, "/disks/a b.img");
	free(path);
	path = virt_locked_image(
		"Failed to get shared \"write\" lock\nIs another process using the image [/a]?\n");
	ck_assert_pstr_eq(path, "/a");
	free(path);
	ck_assert_ptr_null(virt_locked_image("cannot allocate memory"));
	ck_assert_ptr_null(virt_locked_image("Failed to get \"write\" lock"));
	ck_assert_ptr_null(virt_locked_image("Is another process using the image [/a]?"));
	ck_assert_ptr_null(
		virt_locked_image("Failed to get it\nIs another process using the image [/a"));
}
END_TEST

Suite *test_virt_suite(void)
{
	Suite *suite = suite_create("virt");
	TCase *tc = tcase_create("test driver");
	TCase *connection = tcase_create("connection");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, start_and_read);
	tcase_add_test(tc, start_again_only_looks);
	tcase_add_test(tc, start_of_a_stopped_run);
	tcase_add_test(tc, destroy_and_undefine);
	tcase_add_test(tc, shutdown_of_it);
	tcase_add_test(tc, suspend_and_resume);
	tcase_add_test(tc, start_paused);
	tcase_add_test(tc, reboot_and_reset);
	tcase_add_test(tc, foreign_run);
	tcase_add_test(tc, foreign_domain);
	tcase_add_test(tc, bad_definition);
	tcase_add_test(tc, events);
	tcase_add_test(tc, list);
	tcase_add_test(tc, many_at_once);
	tcase_add_test(tc, other_ops_are_not_its);
	tcase_add_test(tc, probe_of_another_host);
	tcase_add_test(tc, host_is_known);
	tcase_add_test(tc, host_by_its_capabilities);
	tcase_add_test(tc, an_image_that_is_locked);
	suite_add_tcase(suite, tc);
	tcase_add_test(connection, without_connection);
	tcase_add_test(connection, nobody_there);
	suite_add_tcase(suite, connection);
	return suite;
}
