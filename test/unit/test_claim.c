/* SPDX-License-Identifier: Apache-2.0 */
/* PersistentVolumeClaims: what is refused, how big their files are and where they lie, what may
 * change, what is told. */
#include <check.h>
#include <string.h>

#include "core/claim.h"
#include "core/domxml.h"
#include "core/edit.h"
#include "core/record.h"
#include "test/lib/manifest.h"

Suite *test_claim_suite(void);

#define CLAIM(spec) \
	"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {" spec "}}"
#define SIZE(size) "resources: {requests: {storage: " size "}}"
#define ONCE(size) "accessModes: [ReadWriteOnce], " SIZE(size)
#define UPLOAD     "cdi.kubevirt.io/storage.upload.target"
#define ANNOTATED(annotations)                                                                         \
	"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, annotations: {" annotations \
	"}}, spec: {" ONCE("1Gi") "}}"
#define CONTENT(spec) "{spec: {" spec "}}"

/* ---- what is refused ------------------------------------------------------------------------- */

static const struct {
	const char *spec, *field, *message;
} bad[] = {
	{ CLAIM(SIZE("1Gi")), "spec.accessModes", "required" },
	{ CLAIM("accessModes: [], " SIZE("1Gi")), "spec.accessModes", "at least 1 access mode" },
	{ CLAIM("accessModes: [ReadWriteOnly], " SIZE("1Gi")), "spec.accessModes[0]",
		"did you mean 'ReadWriteOnce'?" },
	{ CLAIM("accessModes: [ReadWriteOnce, ReadWriteOncePod], " SIZE("1Gi")), "spec.accessModes",
		"ReadWriteOncePod does not go with other" },
	{ CLAIM("accessModes: [ReadWriteOnce]"), "spec.resources", "required" },
	{ CLAIM("accessModes: [ReadWriteOnce], resources: {requests: {}}"),
		"spec.resources.requests.storage", "required" },
	{ CLAIM(ONCE("much")), "spec.resources.requests.storage", "expected a quantity" },
	{ CLAIM(ONCE("1Mi") ", volumeMode: Files"), "spec.volumeMode", "Filesystem" },
	{ CLAIM(ONCE("1023Ki")), "spec.resources.requests.storage", "1048576" },
	{ CLAIM("accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}, limits: {storage: 2047Mi}}"),
		"spec.resources.requests.storage", "storage limit of 2047Mi" },
	{ CLAIM(ONCE("1Gi") ", dataSource: {kind: PersistentVolumeClaim, name: b}"),
		"spec.dataSource", "put the content into the claim's disk.img" },
	{ CLAIM(ONCE("1Gi") ", storageClassNam: x"), "spec.storageClassNam",
		"did you mean 'storageClassName'?" },
	{ CLAIM(ONCE("1Gi") "}, extra: {"), "extra", "not supported" },
	{ ANNOTATED(UPLOAD ": ''"), "metadata.annotations." UPLOAD, "uploads are not built" },
};

START_TEST(bad_ones_are_refused)
{
	struct findings findings = { 0 };

	manifest_of(bad[_i].spec, &findings, -ERR_INVALID);
	ck_assert_msg(findings.n == 1, "%s: %zu findings", bad[_i].spec, findings.n);
	ck_assert_str_eq(findings.list[0].field, bad[_i].field);
	ck_assert_msg(strstr(findings.list[0].message, bad[_i].message), "%s: %s", bad[_i].spec,
		findings.list[0].message);
	findings_done(&findings);
}
END_TEST

/* What was uploaded to elsewhere, and is applied here as it was read there. */
START_TEST(one_that_was_filled_is_taken)
{
	struct findings findings = { 0 };
	struct manifest manifest =
		manifest_of(ANNOTATED(UPLOAD ": '', cdi.kubevirt.io/storage.pod.phase: Succeeded"),
			&findings, 0);

	ck_assert_uint_eq(findings.n, 0);
	manifest_done(&manifest);
	findings_done(&findings);
}
END_TEST

START_TEST(what_a_host_has_not_is_warned_of)
{
	struct findings findings = { 0 };
	struct manifest plain =
		manifest_of(CLAIM(ONCE("1Gi") ", storageClassName: ssd"), &findings, 0);
	struct manifest bound = manifest_of(CLAIM(ONCE("1Gi") ", volumeName: pv7"), &findings, 0);

	ck_assert_ptr_null(plain.warnings);
	ck_assert_ptr_nonnull(bound.warnings);
	ck_assert_msg(strstr(bound.warnings->list[0].message, "there are no PersistentVolumes"),
		"%s", bound.warnings->list[0].message);
	manifest_done(&plain);
	manifest_done(&bound);
}
END_TEST

/* ---- what is read of it ---------------------------------------------------------------------- */

static const struct {
	const char *content;
	int64_t size;
	bool shared;
} sizes[] = {
	{ CONTENT(ONCE("1Gi")), 1073741824 - CLAIM_RESERVE, false },
	{ CONTENT(ONCE("1Mi")), 1048576 - CLAIM_RESERVE, false },
	{ CONTENT(ONCE("1Gi") ", volumeMode: Filesystem"), 1073741824 - CLAIM_RESERVE, false },
	{ CONTENT(ONCE("1Gi") ", volumeMode: Block"), 1073741824, false },
	{ CONTENT("accessModes: [ReadOnlyMany, ReadWriteMany], " SIZE("1G")),
		1000000000 - CLAIM_RESERVE, true },
};

static const struct {
	const char *modes, *text;
} shorts[] = {
	{ "[]", NULL },
	{ "[\"ReadWriteOncePod\"]", "RWOP" },
	{ "[\"ReadWriteMany\",\"ReadWriteOnce\",\"ReadOnlyMany\"]", "RWO,ROX,RWX" },
};

START_TEST(its_modes_as_they_are_listed)
{
	struct node *modes = text_tree(shorts[_i].modes);
	autofree char *text = claim_modes_text(modes);

	ck_assert_pstr_eq(text, shorts[_i].text);
	node_free(modes);
}
END_TEST

START_TEST(its_size_and_who_may_write)
{
	struct claim claim;

	claim_read(sizes[_i].content, &claim);
	ck_assert_int_eq(claim.size, sizes[_i].size);
	ck_assert_int_eq(claim.shared, sizes[_i].shared);
	ck_assert_ptr_null(claim.class_name);
	claim_done(&claim);
}
END_TEST

START_TEST(where_it_lies)
{
	char all[] = "/all", ssd[] = "ssd", folder[] = "/mnt/ssd";
	struct storage storage = { .directory = all,
		.classes = { { ssd, folder } },
		.n_classes = 1 };
	struct claim claim;

	claim_read(CONTENT(ONCE("1Gi") ", storageClassName: ssd"), &claim);
	ck_assert_str_eq(storage_directory(&storage, claim.class_name), "/mnt/ssd");
	ck_assert_str_eq(storage_directory(&storage, "standard"), "/all");
	ck_assert_str_eq(storage_directory(&storage, ""), "/all");
	ck_assert_str_eq(storage_directory(&storage, NULL), "/all");
	claim_done(&claim);
}
END_TEST

/* ---- what may change, and what is told ------------------------------------------------------- */

static struct record *stored(const char *text)
{
	struct findings findings = { 0 };
	struct manifest manifest = manifest_of(text, &findings, 0);
	struct record *r = record_new(&manifest);

	copy_str(r->meta.uid, UID_SIZE, "11111111-2222-4333-8444-555555555555");
	r->meta.rv = 7;
	r->meta.created = 1795910400000;
	manifest_done(&manifest);
	return r;
}

static const struct {
	const char *after, *refusal;
} changes[] = {
	{ CONTENT(ONCE("2Gi")), NULL },
	{ CONTENT(ONCE("1024Mi")), NULL },
	{ CONTENT(ONCE("1Gi")), NULL },
	{ CONTENT(ONCE("1023Mi")), "spec.resources.requests.storage: a claim can grow, and not" },
	{ CONTENT(ONCE("1Gi") ", storageClassName: other"), "spec: field is immutable" },
	{ CONTENT("accessModes: [ReadWriteMany], " SIZE("1Gi")), "spec: field is immutable" },
	{ CONTENT(ONCE("1Gi") ", volumeMode: Block"), "spec: field is immutable" },
};

START_TEST(it_may_grow)
{
	struct record *r = stored(CLAIM(ONCE("1Gi")));
	struct node *after = text_tree(changes[_i].after);
	struct err err = { 0 };
	int ret = record_replace(r, after, &err);

	ck_assert_msg(ret == (changes[_i].refusal ? -ERR_INVALID : 0), "%s: %s", changes[_i].after,
		err.msg);
	if (changes[_i].refusal)
		ck_assert_msg(starts_with(err.msg, changes[_i].refusal), "%s", err.msg);
	record_free(r);
	node_free(after);
}
END_TEST

static void assert_text(const char *document, const char *path, const char *is)
{
	struct node *root = text_tree(document);

	ck_assert_pstr_eq(node_text(root, path), is);
	node_free(root);
}

START_TEST(it_is_bound_when_its_file_is_made)
{
	struct record *r = stored(CLAIM(ONCE("1Gi"))), *again;
	autofree char *before = record_document(r), *after = NULL, *loaded = NULL;

	assert_text(before, "status.phase", "Pending");
	assert_text(before, "status.capacity.storage", NULL);
	r->capacity = xstrdup("1Gi");
	after = record_document(r);
	assert_text(after, "status.phase", "Bound");
	assert_text(after, "status.capacity.storage", "1Gi");
	ck_assert_ptr_nonnull(strstr(after, "\"accessModes\":[\"ReadWriteOnce\"],\"capacity\""));
	ck_assert_int_eq(record_load(KIND_PVC, after, &again, NULL), 0);
	loaded = record_document(again);
	ck_assert_str_eq(loaded, after);
	record_free(r);
	record_free(again);
}
END_TEST

/* That its data is to go is not forgotten by a restart. */
START_TEST(how_it_is_to_go_is_stored)
{
	struct record *r = stored(CLAIM(ONCE("1Gi"))), *again;
	autofree char *plain = record_document(r), *text = NULL;

	ck_assert_ptr_nonnull(strstr(plain, "\"finalizers\":[\"kubernetes.io/pvc-protection\"]"));
	r->meta.deleted = 1795910401000;
	r->drops_data = true;
	text = record_document(r);
	ck_assert_ptr_nonnull(strstr(text, "\"vmagent.io/claim-data\"]"));
	ck_assert_int_eq(record_load(KIND_PVC, text, &again, NULL), 0);
	ck_assert(again->drops_data);
	ck_assert_int_eq(again->meta.deleted, r->meta.deleted);
	record_free(again);
	ck_assert_int_eq(record_load(KIND_PVC, plain, &again, NULL), 0);
	ck_assert(!again->drops_data);
	record_free(again);
	record_free(r);
}
END_TEST

/* ---- volumes --------------------------------------------------------------------------------- */

static struct vmi_spec spec_of(const char *text)
{
	struct node *root = text_tree(text);
	struct vmi_spec spec = { 0 };
	struct err err;

	vmi_spec_default(root);
	ck_assert_msg(spec_parse(root, &spec, &err) == 0, "%s", err.msg);
	node_free(root);
	return spec;
}

#define VMI(bus, volume)                                                                                                                        \
	"{domain: {firmware: {uuid: 5d307ca9-b3ef-428c-8861-06e72d69f223}, memory: {guest: 64Mi}, devices: {disks: [{name: d, disk: {bus: " bus \
	"}}]}}, "                                                                                                                               \
	"volumes: [{name: d, " volume "}]}"

START_TEST(a_volume_of_a_claim)
{
	struct vmi_spec spec =
		spec_of(VMI("virtio", "persistentVolumeClaim: {claimName: c, readOnly: true}"));
	struct volume *volume = &spec.volumes[0];
	struct volume_work *work;
	size_t n;

	ck_assert_int_eq(volume->kind, VOLUME_CLAIM);
	ck_assert_str_eq(volume->claim, "c");
	ck_assert(spec.disks[0].readonly);
	volume->path = xstrdup("/pvc/default/c/disk.img");
	volume->capacity = 4194304 - CLAIM_RESERVE;
	volume_works(&spec, "/run", &work, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(work[0].kind, VOLUME_WORK_CLAIM);
	ck_assert_str_eq(work[0].target, "/pvc/default/c/disk.img");
	ck_assert_int_eq(work[0].capacity, 3 << 20); /* aligned down, as KubeVirt does it */
	op_done(&(struct op){ .work = work, .n_work = n });
	vmi_spec_done(&spec);
}
END_TEST

/* What guests share lies beside the disk, and is a folder. */
START_TEST(a_folder_of_a_claim)
{
	struct vmi_spec spec = spec_of(
		"{domain: {firmware: {uuid: 5d307ca9-b3ef-428c-8861-06e72d69f223}, memory: {guest: 64Mi}, "
		"devices: {filesystems: [{name: d, virtiofs: {}}]}}, "
		"volumes: [{name: d, persistentVolumeClaim: {claimName: c}}]}");
	struct volume_work *work;
	size_t n;

	ck_assert(spec.volumes[0].as_folder);
	ck_assert_uint_eq(spec.n_disks, 0);
	spec.volumes[0].path = xstrdup("/pvc/default/c/" CLAIM_FOLDER);
	volume_works(&spec, "/run", &work, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(work[0].kind, VOLUME_WORK_CLAIM_FOLDER);
	ck_assert_str_eq(work[0].target, "/pvc/default/c/files");
	op_done(&(struct op){ .work = work, .n_work = n });
	vmi_spec_done(&spec);
}
END_TEST

START_TEST(an_ephemeral_volume)
{
	struct vmi_spec spec =
		spec_of(VMI("virtio", "ephemeral: {persistentVolumeClaim: {claimName: c}}"));
	struct domain_context context = { .ns = "default",
		.vm_uid = "",
		.name = "a",
		.vmi_uid = "u",
		.directory = "/run",
		.epoch = 1 };
	autofree char *xml = NULL;
	struct volume_work *work;
	size_t n;

	ck_assert_int_eq(spec.volumes[0].kind, VOLUME_EPHEMERAL);
	spec.volumes[0].path = xstrdup("/pvc/default/c/disk.img");
	volume_works(&spec, "/run", &work, &n);
	ck_assert_int_eq(work[0].kind, VOLUME_WORK_OVERLAY);
	ck_assert(work[0].claimed);
	ck_assert_str_eq(work[0].target, "/run/d.qcow2");
	ck_assert_str_eq(work[0].base, "/pvc/default/c/disk.img");
	ck_assert_str_eq(work[0].link, "/run/d.base");
	xml = domain_xml(&spec, &context);
	ck_assert_ptr_nonnull(strstr(xml, "<source file=\"/run/d.qcow2\"/>"));
	ck_assert_ptr_nonnull(strstr(xml, "<format type=\"raw\"/>")); /* never probed */
	ck_assert_ptr_nonnull(strstr(xml, "<source file=\"/run/d.base\"/>"));
	op_done(&(struct op){ .work = work, .n_work = n });
	vmi_spec_done(&spec);
}
END_TEST

/* clang-format off */
static const struct { const char *vmi, *message; } unfit[] = {
	{ VMI("sata", "persistentVolumeClaim: {claimName: c, readOnly: true}"), "cannot be read-only, and its claim is" },
	{ VMI("virtio", "persistentVolumeClaim: {claimName: c}, ephemeral: {persistentVolumeClaim: {claimName: c}}"), "one source" },
	{ VMI("virtio", "persistentVolumeClaim: {claimName: C}"), "lower case letters" },
	{ VMI("virtio", "persistentVolumeClaim: {}"), "required" },
	{ VMI("virtio", "ephemeral: {}"), "required" },
};
/* clang-format on */

START_TEST(volumes_that_are_refused)
{
	autofree char *text =
		xasprintf("{apiVersion: kubevirt.io/v1, kind: VirtualMachineInstance, "
			  "metadata: {name: a}, spec: %s}",
			unfit[_i].vmi);
	struct findings findings = { 0 };

	manifest_of(text, &findings, -ERR_INVALID);
	ck_assert_msg(strstr(findings.list[0].message, unfit[_i].message), "%s",
		findings.list[0].message);
	findings_done(&findings);
}
END_TEST

Suite *test_claim_suite(void)
{
	Suite *suite = suite_create("claims");
	TCase *tcase = tcase_create("claims");

	tcase_add_loop_test(tcase, bad_ones_are_refused, 0, ARRAY_SIZE(bad));
	tcase_add_test(tcase, one_that_was_filled_is_taken);
	tcase_add_test(tcase, what_a_host_has_not_is_warned_of);
	tcase_add_loop_test(tcase, its_size_and_who_may_write, 0, ARRAY_SIZE(sizes));
	tcase_add_loop_test(tcase, its_modes_as_they_are_listed, 0, ARRAY_SIZE(shorts));
	tcase_add_test(tcase, where_it_lies);
	tcase_add_loop_test(tcase, it_may_grow, 0, ARRAY_SIZE(changes));
	tcase_add_test(tcase, it_is_bound_when_its_file_is_made);
	tcase_add_test(tcase, how_it_is_to_go_is_stored);
	tcase_add_test(tcase, a_volume_of_a_claim);
	tcase_add_test(tcase, a_folder_of_a_claim);
	tcase_add_test(tcase, an_ephemeral_volume);
	tcase_add_loop_test(tcase, volumes_that_are_refused, 0, ARRAY_SIZE(unfit));
	suite_add_tcase(suite, tcase);
	return suite;
}
