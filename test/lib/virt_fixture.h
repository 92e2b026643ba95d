/* SPDX-License-Identifier: Apache-2.0 */
/* A loop, the libvirt adapter and what it said, for tests that talk to a real libvirt. */
#ifndef VMAGENT_TEST_LIB_VIRT_FIXTURE_H
#define VMAGENT_TEST_LIB_VIRT_FIXTURE_H

#include "core/domxml.h"
#include "io/virt.h"

#define SEEN_MAX 4096

struct fixture {
	uv_loop_t loop;
	uv_timer_t deadline;
	bool late;
	struct virt *virt;
	struct hypervisor *hv;
	unsigned ups, downs;
	char why[ERR_MSG_SIZE]; /* of the last down */
	struct domain_event events[SEEN_MAX];
	size_t n_events;
	uint64_t last_id;
	bool has_result;
	struct op_result result; /* of the op that was asked for last */
	size_t n_results;
	enum err_code codes[SEEN_MAX]; /* of every result, in order */
};

void fixture_open(struct fixture *f, const char *uri);
void fixture_start(struct fixture *f, const char *uri); /* opens and waits until it is up */
void fixture_close(struct fixture *f);

/* The same at FIXTURE_URI, on the heap; in the end the domain goes. A driver of its own for each
 * connection would hide what others do to a domain: that one is shared. */
#define FIXTURE_URI "test:///default"
struct fixture *fixture_new(void);
void fixture_free(struct fixture *f);

/* Runs the loop until *what >= at_least, and fails the test after `seconds`. */
void fixture_await(struct fixture *f, const size_t *what, size_t at_least, unsigned seconds);
void fixture_await_up(struct fixture *f, unsigned ups, unsigned seconds);

/* Submits and waits for the result, which stays in f->result until the next. */
enum err_code fixture_do(struct fixture *f, const struct op *op);
enum err_code fixture_op(struct fixture *f, enum op_kind kind, const char *vmi_uid);
enum err_code fixture_start_as(struct fixture *f, const char *vmi_uid);
const struct domain_info *fixture_read(struct fixture *f); /* NULL: there is no such domain */

/* The domain that fixture_op() means. */
#define FIXTURE_UUID   "5d307ca9-b3ef-428c-8861-06e72d69f223"
#define FIXTURE_DOMAIN "default_web1"
#define VMI_A          "aaaaaaaa-6a4c-4f0c-8f0e-0d8f6f2b7c02"
#define VMI_B          "bbbbbbbb-6a4c-4f0c-8f0e-0d8f6f2b7c02"

struct vmi_spec fixture_spec(void);
struct domain_context fixture_context(const char *vmi_uid, const char *directory);

#endif
