/* SPDX-License-Identifier: Apache-2.0 */
/* DataVolumes: what is refused, the claim that one makes, what comes next, and what
 * is told of it. */
#include <check.h>
#include <string.h>

#include "core/claim.h"
#include "core/data_volume.h"
#include "core/edit.h"
#include "core/record.h"
#include "test/lib/manifest.h"

Suite *test_data_volume_suite(void);

#define DV(spec)                                                                                    \
	"{apiVersion: cdi.kubevirt.io/v1beta1, kind: DataVolume, metadata: {name: a}, spec: {" spec \
	"}}"
#define SIZE  "resources: {requests: {storage: 1Gi}}"
#define SHORT "storage: {" SIZE "}"
#define FULL  "pvc: {accessModes: [ReadWriteOnce], " SIZE "}"
#define BLANK "source: {blank: {}}"
#define COPY  "source: {pvc: {name: b, namespace: c}}"
#define VM(templates, volumes)                                                            \
	"{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: a}, spec: {" \
	"runStrategy: Halted, dataVolumeTemplates: [" templates "], template: {spec: {"   \
	"domain: {memory: {guest: 64Mi}}, volumes: [" volumes "]}}}}"
#define TEMPLATE(name, spec) "{metadata: {name: " name "}, spec: {" spec "}}"
#define VOLUME(name)         "{name: v, dataVolume: {name: " name "}}"

/* ---- what is refused ------------------------------------------------------------------------- */

static const struct {
	const char *text, *field, *message;
} bad[] = {
	{ DV(BLANK), "spec.pvc", "or storage" },
	{ DV(BLANK ", " FULL ", " SHORT), "spec.storage", "not both" },
	{ DV(BLANK ", storage: {}"), "spec.storage.resources.requests.storage", "how big" },
	{ DV(BLANK ", storage: {accessModes: [], " SIZE "}"), "spec.storage.accessModes",
		"at least 1" },
	{ DV(BLANK ", pvc: {" SIZE "}"), "spec.pvc.accessModes", "required" },
	{ DV(SHORT), "spec.source", "required" },
	{ DV(SHORT ", source: {}"), "spec.source", "give one source" },
	{ DV(SHORT ", source: {blank: {}, pvc: {name: b}}"), "spec.source", "one source, not 2" },
	{ DV(SHORT ", source: {registry: {url: 'debian:12'}}"), "spec.source.registry.url",
		"docker://" },
	{ DV(SHORT ", source: {registry: {url: 'docker:///etc/passwd'}}"),
		"spec.source.registry.url", "docker://" },
	{ DV(BLANK ", storage: {resources: {requests: {storage: 2Gi}, limits: {storage: 1Gi}}}"),
		"spec.storage.resources.requests.storage", "storage limit of 1Gi" },
	{ DV(BLANK ", pvc: {accessModes: [ReadWriteOnce], "
		   "resources: {requests: {storage: 2Gi}, limits: {storage: 1Gi}}}"),
		"spec.pvc.resources.requests.storage", "storage limit of 1Gi" },
	{ DV(SHORT ", source: {pvc: {name: ../b}}"), "spec.source.pvc.name", "lower case" },
	{ DV(SHORT ", source: {s3: {url: x}}"), "spec.source.s3", "fetch the image" },
	{ DV(SHORT ", source: {upload: {}}"), "spec.source.upload", "`images`" },
	{ DV(SHORT ", source: {snapshot: {name: b, namespace: c}}"), "spec.source.snapshot",
		"source.pvc" },
	{ DV(SHORT ", " BLANK ", sourceRef: {kind: DataSource, name: b}"), "spec.sourceRef",
		"under source.pvc" },
	{ DV(SHORT ", " BLANK ", contentType: archive"), "spec.contentType", "kubevirt" },
	{ VM(TEMPLATE("d", BLANK ", " SHORT), ""), "spec.dataVolumeTemplates[0].metadata.name",
		"no volume of the template" },
	{ VM(TEMPLATE("d", BLANK ", " SHORT) ", " TEMPLATE("d", BLANK ", " SHORT), VOLUME("d")),
		"spec.dataVolumeTemplates[1].metadata.name", "there twice" },
	{ VM(TEMPLATE("d", BLANK), VOLUME("d")), "spec.dataVolumeTemplates[0].spec.pvc",
		"or storage" },
};

START_TEST(bad_ones_are_refused)
{
	struct findings findings = { 0 };

	manifest_of(bad[_i].text, &findings, -ERR_INVALID);
	ck_assert_msg(findings.n == 1, "%s: %zu findings, %s: %s", bad[_i].text, findings.n,
		findings.list[1].field, findings.list[1].message);
	ck_assert_str_eq(findings.list[0].field, bad[_i].field);
	ck_assert_msg(strstr(findings.list[0].message, bad[_i].message), "%s: %s", bad[_i].text,
		findings.list[0].message);
	findings_done(&findings);
}
END_TEST

static struct record *stored(const char *text)
{
	struct findings findings = { 0 };
	struct manifest manifest = manifest_of(text, &findings, 0);
	struct record *r = record_new(&manifest);

	copy_str(r->meta.uid, UID_SIZE, "6c0e0a3e-8f0b-4b5e-9d6a-1f2e3d4c5b6a");
	manifest_done(&manifest);
	return r;
}

START_TEST(its_spec_cannot_be_changed)
{
	struct record *r = stored(DV(BLANK ", " SHORT));
	struct node *other = text_tree(DV(COPY ", " SHORT));
	struct node *same = record_tree(r);
	struct err err = { 0 };

	node_set_path(same, "metadata.labels.a", node_new(NODE_STRING, "b"));
	ck_assert_int_eq(record_replace(r, same, &err), 0);
	ck_assert_int_eq(record_replace(r, other, &err), -ERR_INVALID);
	ck_assert_msg(strstr(err.msg, "immutable"), "%s", err.msg);
	node_free(other);
	node_free(same);
	record_free(r);
}
END_TEST

/* ---- its claim ------------------------------------------------------------------------------- */

static const struct {
	const char *text;
	int64_t source, size; /* of the disk */
	const char *mode;
} claims[] = {
	{ DV(BLANK ", " SHORT), 0, 1 << 30, "ReadWriteOnce" },
	{ DV(BLANK ", " FULL), 0, (1 << 30) - CLAIM_RESERVE, "ReadWriteOnce" },
	{ DV(BLANK ", storage: {accessModes: [ReadWriteMany], volumeMode: Block, " SIZE "}"), 0,
		1 << 30, "ReadWriteMany" },
	{ DV(COPY ", storage: {}"), 5000000, 5000000, "ReadWriteOnce" },
	{ DV(COPY ", storage: {volumeMode: Block}"), 5000000, 5000000, "ReadWriteOnce" },
};

START_TEST(the_claim_that_it_makes)
{
	struct record *dv = stored(claims[_i].text);
	struct node *root = data_volume_claim("ns", "a", dv->content, claims[_i].source);
	struct manifest manifest = { KIND_PVC, xstrdup("ns"), xstrdup("a"), root, NULL };
	struct record *r = record_new(&manifest);
	struct claim claim;

	claim_read(r->content, &claim);
	ck_assert_int_eq(claim.size, claims[_i].size);
	ck_assert_str_eq(node_at(root, "spec.accessModes")->children[0]->text, claims[_i].mode);
	claim_done(&claim);
	manifest_done(&manifest);
	record_free(r);
	record_free(dv);
}
END_TEST

START_TEST(what_it_is_filled_with)
{
	struct fill fill;

	fill_read("{\"spec\":{\"source\":{\"blank\":{}},\"preallocation\":true}}", &fill);
	ck_assert_int_eq(fill.source, FILL_BLANK);
	ck_assert(fill.preallocate);
	fill_done(&fill);
	fill_read("{\"spec\":{\"source\":{\"pvc\":{\"name\":\"b\"}}}}", &fill);
	ck_assert_int_eq(fill.source, FILL_CLAIM);
	ck_assert_str_eq(fill.claim, "b");
	ck_assert_ptr_null(fill.ns);
	fill_done(&fill);
	fill_read("{\"spec\":{\"source\":{\"registry\":{\"url\":\"docker://x/y:1\"}}}}", &fill);
	ck_assert_int_eq(fill.source, FILL_REGISTRY);
	ck_assert_str_eq(fill.image, "x/y:1");
	fill_done(&fill);
}
END_TEST

/* ---- what comes next ------------------------------------------------------------------------- */

static const struct {
	enum data_volume_phase phase;
	enum claim_stand claim;
	/* W: it cannot be filled now; f: an op is under way; e: it is too early. */
	const char *facts;
	enum data_volume_step step;
} steps[] = {
	{ DATA_VOLUME_PENDING, CLAIM_ABSENT, "", FILL_MAKE_CLAIM },
	{ DATA_VOLUME_PENDING, CLAIM_ABSENT, "w", FILL_WAIT },
	{ DATA_VOLUME_PENDING, CLAIM_FOREIGN, "", FILL_WAIT },
	{ DATA_VOLUME_PENDING, CLAIM_GOING, "", FILL_WAIT },
	{ DATA_VOLUME_PENDING, CLAIM_OURS, "", FILL_BEGIN },
	{ DATA_VOLUME_IMPORT_SCHEDULED, CLAIM_OURS, "", FILL_BEGIN },
	{ DATA_VOLUME_CLONE_SCHEDULED, CLAIM_OURS, "w", FILL_WAIT },
	{ DATA_VOLUME_IMPORTING, CLAIM_OURS, "f", FILL_NOTHING },
	{ DATA_VOLUME_IMPORTING, CLAIM_OURS, "", FILL_BEGIN }, /* after a crash */
	{ DATA_VOLUME_IMPORTING, CLAIM_OURS, "e", FILL_NOTHING },
	{ DATA_VOLUME_IMPORTING, CLAIM_GOING, "f", FILL_NOTHING },
	{ DATA_VOLUME_IMPORTING, CLAIM_ABSENT, "", FILL_MAKE_CLAIM },
	{ DATA_VOLUME_SUCCEEDED, CLAIM_OURS, "", FILL_NOTHING },
	{ DATA_VOLUME_SUCCEEDED, CLAIM_GOING, "", FILL_NOTHING },
	{ DATA_VOLUME_SUCCEEDED, CLAIM_ABSENT, "", FILL_LOST }, /* never filled anew by itself */
	{ DATA_VOLUME_FAILED, CLAIM_ABSENT, "", FILL_NOTHING },
};

START_TEST(what_comes_next)
{
	struct data_volume dv = { .phase = steps[_i].phase };
	struct data_volume_view view = { .now = &dv,
		.claim = steps[_i].claim,
		.wait = strchr(steps[_i].facts, 'w') ? "it waits" : NULL,
		.filling = strchr(steps[_i].facts, 'f'),
		.early = strchr(steps[_i].facts, 'e') };
	const char *words = NULL;

	ck_assert_int_eq(data_volume_decide(&view, &words), steps[_i].step);
	ck_assert_int_eq(words != NULL, steps[_i].step == FILL_WAIT);
}
END_TEST

/* ---- what is told ---------------------------------------------------------------------------- */

static const char *told(const struct node *status, size_t i, const char *what)
{
	const char *text = node_text(node_get(status, "conditions")->children[i], what);

	return text ? text : "";
}

static struct node *again(struct data_volume *dv)
{
	struct node *status = data_volume_status(dv, "a");
	struct data_volume loaded;
	autofree char *before = node_json(status), *after = NULL;

	node_free(status);
	status = text_tree(before);
	data_volume_load(status, &loaded);
	node_free(status);
	status = data_volume_status(&loaded, "a");
	after = node_json(status);
	ck_assert_str_eq(before, after);
	data_volume_done(&loaded);
	return status;
}

START_TEST(a_failure_is_told_and_survives_a_restart)
{
	struct data_volume dv = { 0 };
	struct node *status;

	ck_assert(data_volume_set(&dv, DATA_VOLUME_IMPORTING, NULL, 1000));
	ck_assert(!data_volume_set(&dv, DATA_VOLUME_IMPORTING, NULL, 2000));
	data_volume_fail(&dv, "no such image", 3000);
	status = again(&dv);
	ck_assert_str_eq(node_text(status, "phase"), "ImportInProgress");
	ck_assert_str_eq(node_text(status, "restartCount"), "1");
	ck_assert_str_eq(told(status, 2, "status"), "False");
	ck_assert_str_eq(told(status, 2, "reason"), "Error");
	ck_assert_str_eq(told(status, 2, "message"), "no such image");
	ck_assert_str_eq(told(status, 1, "lastTransitionTime"), "1970-01-01T00:00:01Z");
	ck_assert_str_eq(told(status, 2, "lastTransitionTime"), "1970-01-01T00:00:03Z");
	node_free(status);
	ck_assert(data_volume_set(&dv, DATA_VOLUME_IMPORTING, NULL, 4000));
	ck_assert(!dv.failing);
	data_volume_done(&dv);
}
END_TEST

START_TEST(how_it_ends)
{
	struct data_volume dv = { 0 };
	struct node *status;

	data_volume_set(&dv, DATA_VOLUME_SUCCEEDED, NULL, 1000);
	status = again(&dv);
	ck_assert_str_eq(node_text(status, "progress"), "100.0%");
	for (size_t i = 0; i < 2; i++)
		ck_assert_str_eq(told(status, i, "status"), "True");
	ck_assert_str_eq(told(status, 2, "reason"), "Completed");
	node_free(status);
	data_volume_set(&dv, DATA_VOLUME_FAILED, "its claim is gone", 2000);
	status = again(&dv);
	ck_assert_str_eq(told(status, 2, "reason"), "ClaimLost");
	ck_assert_str_eq(told(status, 2, "message"), "its claim is gone");
	ck_assert_str_eq(told(status, 0, "status"), "False");
	node_free(status);
	data_volume_done(&dv);
}
END_TEST

START_TEST(it_is_tried_again_later_and_later)
{
	static const msec pauses[] = { 5, 10, 20, 40, 80, 160, 300, 300 };
	struct data_volume dv = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(pauses); i++) {
		data_volume_fail(&dv, "no", 1000);
		ck_assert_int_eq(data_volume_pause(&dv), SECONDS(pauses[i]));
	}
	data_volume_done(&dv);
}
END_TEST

Suite *test_data_volume_suite(void)
{
	Suite *suite = suite_create("data volumes");
	TCase *tcase = tcase_create("data volumes");

	tcase_add_loop_test(tcase, bad_ones_are_refused, 0, ARRAY_SIZE(bad));
	tcase_add_test(tcase, its_spec_cannot_be_changed);
	tcase_add_loop_test(tcase, the_claim_that_it_makes, 0, ARRAY_SIZE(claims));
	tcase_add_test(tcase, what_it_is_filled_with);
	tcase_add_loop_test(tcase, what_comes_next, 0, ARRAY_SIZE(steps));
	tcase_add_test(tcase, a_failure_is_told_and_survives_a_restart);
	tcase_add_test(tcase, how_it_ends);
	tcase_add_test(tcase, it_is_tried_again_later_and_later);
	suite_add_tcase(suite, tcase);
	return suite;
}
