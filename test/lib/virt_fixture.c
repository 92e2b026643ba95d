/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/virt_fixture.h"

#include <check.h>
#include <stdio.h>

#define OP_SECONDS 60

/* ---- the sink -------------------------------------------------------------------------------- */

static void on_connection(void *ctx, bool up, const char *why)
{
	struct fixture *f = ctx;

	if (up) {
		f->ups++;
		return;
	}
	f->downs++;
	copy_str(f->why, sizeof(f->why), why);
}

static void on_event(void *ctx, const struct domain_event *event)
{
	struct fixture *f = ctx;

	if (f->n_events < SEEN_MAX)
		f->events[f->n_events++] = *event;
}

/* Keeps a result by stealing it: the adapter frees what is left of it. */
static void on_result(void *ctx, const struct op_result *result)
{
	struct fixture *f = ctx;

	if (f->n_results < SEEN_MAX)
		f->codes[f->n_results++] = result->err.code;
	if (result->id != f->last_id)
		return;
	op_result_done(&f->result);
	f->result = *result;
	((struct op_result *)result)->domains = NULL;
	((struct op_result *)result)->n_domains = 0;
	((struct op_result *)result)->detail = NULL;
	((struct op_result *)result)->text = NULL;
	f->has_result = true;
}

/* ---- lifetime -------------------------------------------------------------------------------- */

void fixture_open(struct fixture *f, const char *uri)
{
	*f = (struct fixture){ 0 };
	ck_assert_int_eq(uv_loop_init(&f->loop), 0);
	uv_timer_init(&f->loop, &f->deadline);
	f->deadline.data = f;
	f->virt =
		virt_new(&f->loop, uri, (struct hv_sink){ f, on_connection, on_event, on_result });
	f->hv = virt_hypervisor(f->virt);
}

void fixture_start(struct fixture *f, const char *uri)
{
	fixture_open(f, uri);
	hv_start(f->hv);
	fixture_await_up(f, 1, OP_SECONDS);
}

void fixture_close(struct fixture *f)
{
	virt_free(f->virt);
	uv_close((uv_handle_t *)&f->deadline, NULL);
	uv_run(&f->loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&f->loop), 0);
	op_result_done(&f->result);
}

struct fixture *fixture_new(void)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	fixture_start(f, FIXTURE_URI);
	return f;
}

void fixture_free(struct fixture *f)
{
	fixture_op(f, OP_DESTROY, VMI_A);
	fixture_op(f, OP_UNDEFINE, VMI_A);
	fixture_close(f);
	free(f);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void on_deadline(uv_timer_t *timer)
{
	((struct fixture *)timer->data)->late = true;
}

static void limit(struct fixture *f, unsigned seconds)
{
	f->late = false;
	uv_timer_start(&f->deadline, on_deadline, seconds * 1000, 0);
}

static void turn(struct fixture *f, const char *what)
{
	uv_run(&f->loop, UV_RUN_ONCE);
	ck_assert_msg(!f->late, "waited too long for %s (last trouble: %s)", what, f->why);
}

void fixture_await(struct fixture *f, const size_t *what, size_t at_least, unsigned seconds)
{
	limit(f, seconds);
	while (*what < at_least)
		turn(f, "a count");
	uv_timer_stop(&f->deadline);
}

void fixture_await_up(struct fixture *f, unsigned ups, unsigned seconds)
{
	limit(f, seconds);
	while (f->ups < ups)
		turn(f, "the connection");
	uv_timer_stop(&f->deadline);
}

enum err_code fixture_do(struct fixture *f, const struct op *op)
{
	struct op mine = *op;

	mine.id = ++f->last_id;
	f->has_result = false;
	hv_submit(f->hv, &mine);
	ck_assert_msg(!f->has_result, "a result came from within hv_submit()");
	limit(f, OP_SECONDS);
	while (!f->has_result)
		turn(f, op_kind_name(op->kind));
	uv_timer_stop(&f->deadline);
	return f->result.err.code;
}

static struct op op_of(enum op_kind kind, const char *vmi_uid)
{
	struct op op = { .kind = kind,
		.uuid = FIXTURE_UUID,
		.domain = FIXTURE_DOMAIN,
		.ns = "default",
		.name = "web1" };

	copy_str(op.vmi_uid, sizeof(op.vmi_uid), vmi_uid);
	return op;
}

enum err_code fixture_op(struct fixture *f, enum op_kind kind, const char *vmi_uid)
{
	struct op op = op_of(kind, vmi_uid);

	return fixture_do(f, &op);
}

enum err_code fixture_start_as(struct fixture *f, const char *vmi_uid)
{
	struct vmi_spec spec = fixture_spec();
	struct domain_context context = fixture_context(vmi_uid, "/run/a");
	struct op op = op_of(OP_START, vmi_uid);
	autofree char *xml = NULL;

	context.held = "cid:1024";
	xml = domain_xml(&spec, &context);
	op.xml = xml;
	return fixture_do(f, &op);
}

const struct domain_info *fixture_read(struct fixture *f)
{
	ck_assert_int_eq(fixture_op(f, OP_READ, VMI_A), ERR_OK);
	return f->result.n_domains ? f->result.domains : NULL;
}

/* ---- a domain -------------------------------------------------------------------------------- */

struct vmi_spec fixture_spec(void)
{
	return (struct vmi_spec){
		.cores = 1,
		.sockets = 1,
		.threads = 1,
		.cpu_model = "host-model",
		.memory = 128 << 20,
		.machine_type = "q35",
		.uuid = FIXTURE_UUID,
		.acpi = true,
		.grace = GRACE_UNSET,
		.serial_console = true,
	};
}

struct domain_context fixture_context(const char *vmi_uid, const char *directory)
{
	return (struct domain_context){
		.ns = "default",
		.name = "web1",
		.vmi_uid = vmi_uid,
		.vm_uid = "",
		.epoch = 1,
		.directory = directory,
	};
}
