/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that are kept as given: what is checked of them, and that nothing of them is lost. */
#include <check.h>
#include <string.h>

#include "core/base64.h"
#include "core/edit.h"
#include "daemon/records.h"

Suite *test_record_suite(void);

static const struct policy policy = { .default_namespace = "default" };

static struct node *parse(const char *text)
{
	struct node *root = text_tree(text);

	ck_assert_msg(root != NULL, "%s", text);
	return root;
}

static struct manifest good(const char *text)
{
	struct findings findings = { 0 };
	struct manifest manifest;
	struct node *root = parse(text);

	ck_assert_msg(manifest_check(root, &policy, &manifest, &findings) == 0, "%s: %s", text,
		findings.n ? findings.list[0].message : "");
	findings_done(&findings);
	node_free(root);
	return manifest;
}

/* ---- what is checked ------------------------------------------------------------------------- */

#define V1(kind, rest) "{apiVersion: v1, kind: " kind ", metadata: {name: a}" rest "}"
#define TYPES(kind, spec)                                            \
	"{apiVersion: instancetype.kubevirt.io/v1beta1, kind: " kind \
	", metadata: {name: a}, spec: " spec "}"

#define PRIORITY(rest) \
	"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: a}" rest "}"

static const struct {
	const char *text, *field, *message;
} bad[] = {
	{ PRIORITY(""), "value", "field 'value' is required" },
	{ PRIORITY(", value: high"), "value", "expected a whole number" },
	{ PRIORITY(", value: 1.5"), "value", "expected a whole number up to 1000000000" },
	{ PRIORITY(", value: 1000000001"), "value", "expected a whole number up to 1000000000" },
	{ PRIORITY(", value: 1, preemptionPolicy: Always"), "preemptionPolicy",
		"expected Never or PreemptLowerPriority" },
	{ PRIORITY(", value: 1, spec: {}"), "spec", "unknown field" },
	{ "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: system-mine}, value: 1}",
		"metadata.name", "Kubernetes' own" },
	{ "{apiVersion: v2, kind: Secret, metadata: {name: a}}", "apiVersion", "expected v1" },
	{ "{kind: Secret, metadata: {name: a}}", "apiVersion", "expected v1" },
	{ "{apiVersion: v1, kind: Secret}", "metadata", "expected a map with a name" },
	{ "{apiVersion: v1, kind: Secret, metadata: {name: A}}", "metadata.name", "lower case" },
	{ V1("Secret", ", data: {x: '*'}"), "data.x", "expected base64" },
	{ V1("Secret", ", data: {x: YWJ}"), "data.x", "expected base64" },
	{ V1("Secret", ", data: {x: 1}"), "data.x", "put it in quotes" },
	{ V1("Secret", ", data: {a b: YWJj}"), "data.a b", "a key has letters" },
	{ V1("Secret", ", data: {'..': YWJj}"), "data...", "a key has letters" },
	{ V1("Secret", ", data: []"), "data", "expected a map of texts in base64" },
	{ V1("Secret", ", datas: {}"), "datas", "unknown field 'datas' of a Secret" },
	{ V1("Secret", ", immutable: 1"), "immutable", "expected true or false" },
	{ V1("ConfigMap", ", data: {x: true}"), "data.x", "put it in quotes" },
	{ V1("ConfigMap", ", stringData: {x: y}"), "stringData", "unknown field" },
	{ V1("Namespace", ", spec: 1"), "spec", "expected a map" },
	{ "{apiVersion: v1, kind: Namespace, metadata: {name: a.b}}", "metadata.name",
		"63 characters" },
	{ "{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: b}}",
		"metadata.namespace", "lies in no namespace" },
	{ V1("PersistentVolumeClaim", ""), "spec", "required" },
	{ "{apiVersion: cdi.kubevirt.io/v1, kind: DataVolume, metadata: {name: a}, "
	  "spec: {source: {blank: {}}, storage: {resources: {requests: {storage: 1Gi}}}}}",
		"apiVersion", "expected cdi.kubevirt.io/v1beta1" },
	{ TYPES("VirtualMachineInstancetype", "{cpu: {guest: 2}}"), "spec.memory", "is required" },
	{ TYPES("VirtualMachineInstancetype", "{cpu: {guest: 0}, memory: {guest: 1Gi}}"),
		"spec.cpu.guest", "from 1 to" },
	{ TYPES("VirtualMachineInstancetype",
		  "{cpu: {guest: 1}, memory: {guest: 1Gi, overcommitPercent: 101}}"),
		"spec.memory.overcommitPercent", "from 0 to 100" },
	{ TYPES("VirtualMachinePreference", "{cpu: {preferredCPUTopology: preferCore}}"),
		"spec.cpu.preferredCPUTopology", "did you mean 'preferCores'?" },
	{ TYPES("VirtualMachinePreference", "{devices: {preferredDiskBus: ide}}"),
		"spec.devices.preferredDiskBus", "known: virtio, sata" },
	{ TYPES("VirtualMachinePreference",
		  "{features: {preferredHyperv: {spinlocks: {spinlocks: 1}}}}"),
		"spec.features.preferredHyperv.spinlocks.spinlocks", "from 4096" },
	{ TYPES("VirtualMachinePreference", "{feature: {}}"), "spec.feature",
		"did you mean 'features'?" },
	{ V1("Secrets", ""), "kind", "did you mean 'Secret'?" },
	{ V1("Event", ""), "kind", "not supported" },
	{ V1("Pod", ""), "kind", "not supported" },
};

START_TEST(bad_ones_are_refused)
{
	struct node *root = parse(bad[_i].text);
	struct findings findings = { 0 };
	struct manifest manifest;

	ck_assert_int_eq(manifest_check(root, &policy, &manifest, &findings), -ERR_INVALID);
	ck_assert_uint_eq(findings.n, 1);
	ck_assert_str_eq(findings.list[0].field, bad[_i].field);
	ck_assert_msg(strstr(findings.list[0].message, bad[_i].message) != NULL, "%s",
		findings.list[0].message);
	findings_done(&findings);
	node_free(root);
}
END_TEST

static const struct {
	const char *text, *ns, *path, *is;
} fine[] = {
	{ V1("Secret", ", stringData: {user: root}, data: {user: eA==, x: YWJj}"), "default",
		"data.user", "cm9vdA==" },
	{ V1("Secret", ", stringData: {user: root}"), "default", "type", "Opaque" },
	{ V1("Secret", ", type: kubernetes.io/tls"), "default", "type", "kubernetes.io/tls" },
	{ V1("ConfigMap", ", data: {a.b-c_D: 'x\\ny'}"), "default", "data.a.b-c_D", NULL },
	{ V1("Namespace", ""), "", "metadata.labels", NULL },
	{ "{apiVersion: instancetype.kubevirt.io/v1beta1, kind: VirtualMachineClusterInstancetype, "
	  "metadata: {name: u1}, spec: {cpu: {guest: 1}, memory: {guest: 1Gi}}}",
		"", "spec.cpu.guest", "1" },
	{ "{apiVersion: k8s.cni.cncf.io/v1, kind: NetworkAttachmentDefinition, metadata: {name: net, "
	  "namespace: b}, spec: {config: '{}'}}",
		"b", "spec.config", "{}" },
	{ PRIORITY(", value: -5, globalDefault: true, preemptionPolicy: Never"), "", "value",
		"-5" },
};

START_TEST(good_ones_are_filled)
{
	struct manifest manifest = good(fine[_i].text);

	ck_assert_str_eq(manifest.ns, fine[_i].ns);
	if (fine[_i].is)
		ck_assert_str_eq(node_text(manifest.root, fine[_i].path), fine[_i].is);
	ck_assert_ptr_eq(node_get(manifest.root, "stringData"), NULL);
	manifest_done(&manifest);
}
END_TEST

/* ---- what is kept ---------------------------------------------------------------------------- */

#define TYPE                                                                                            \
	"{\"apiVersion\":\"instancetype.kubevirt.io/v1beta1\",\"kind\":\"VirtualMachineInstancetype\"," \
	"\"metadata\":{\"name\":\"u1\",\"labels\":{\"a\":\"b\"}},\"spec\":{\"cpu\":{\"guest\":1},"      \
	"\"memory\":{\"guest\":1.50e9}}}"

static struct record *stored(const char *text)
{
	struct manifest manifest = good(text);
	struct record *r = record_new(&manifest);

	copy_str(r->meta.uid, UID_SIZE, "11111111-2222-4333-8444-555555555555");
	r->meta.rv = 7;
	r->meta.created = 1795910400000;
	manifest_done(&manifest);
	return r;
}

START_TEST(a_document_comes_back)
{
	struct record *r = stored(TYPE), *again;
	autofree char *before = record_document(r), *after = NULL;
	struct err err;

	ck_assert_int_eq(record_load(r->kind, before, &again, &err), 0);
	after = record_document(again);
	ck_assert_str_eq(after, before);
	ck_assert(strstr(before, "\"guest\":1.50") != NULL); /* as it was written */
	ck_assert(strstr(before, "\"generation\":1,") != NULL);
	ck_assert(strstr(before, "\"namespace\":\"default\",\"uid\":\"11111111-") != NULL);
	record_free(r);
	record_free(again);
}
END_TEST

#define OWNERS                                                                              \
	"[{\"apiVersion\":\"kubevirt.io/v1\",\"kind\":\"VirtualMachine\",\"name\":\"web\"," \
	"\"uid\":\"u1\"}]"
#define OWNED(kind, more)                                                            \
	"{\"apiVersion\":\"v1\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"a\"," \
	"\"ownerReferences\":" OWNERS "}" more "}"

/* virtctl looks whether a Secret is its VM's. Whose a claim is the agent says. */
START_TEST(owners_are_kept)
{
	struct record *secret = stored(OWNED("Secret", "")), *again;
	struct record *claim = stored(OWNED("PersistentVolumeClaim",
		",\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":"
		"{\"storage\":\"1Mi\"}}}"));
	autofree char *text = record_document(secret), *kept = NULL, *without = NULL;
	autofree char *claimed = record_document(claim);
	struct node *root = parse("{\"type\":\"Opaque\"}");
	struct err err;

	ck_assert_int_eq(record_load(KIND_SECRET, text, &again, &err), 0);
	kept = record_document(again);
	ck_assert_str_eq(kept, text);
	ck_assert_ptr_nonnull(strstr(kept, "\"ownerReferences\":" OWNERS));
	ck_assert_ptr_null(again->owner_name); /* nothing is done about it */
	ck_assert_int_eq(record_replace(again, root, &err), 0);
	without = record_document(again);
	ck_assert_ptr_null(strstr(without, "ownerReferences"));
	ck_assert_ptr_null(strstr(claimed, "ownerReferences"));
	node_free(root);
	record_free(secret);
	record_free(again);
	record_free(claim);
}
END_TEST

START_TEST(what_is_not_whole_is_not_loaded)
{
	struct record *r = NULL;
	struct err err;

	ck_assert_int_eq(record_load(KIND_SECRET, "{", &r, &err), -ERR_INTERNAL);
	ck_assert_int_eq(record_load(KIND_SECRET, "{\"metadata\":{\"name\":\"a\"}}", &r, &err),
		-ERR_INTERNAL);
	ck_assert_str_eq(err.msg, "a stored Secret is not whole");
	ck_assert_ptr_eq(r, NULL);
}
END_TEST

START_TEST(a_namespace_that_ends_still_does)
{
	struct record *r = stored(V1("Namespace", "")), *again;
	autofree char *active = record_document(r), *text = NULL;
	struct err err;

	ck_assert(strstr(active, "\"status\":{\"phase\":\"Active\"}") != NULL);
	ck_assert(strstr(active, "\"kubernetes.io/metadata.name\":\"a\"") != NULL);
	ck_assert(strstr(active, "\"namespace\"") == NULL);
	r->meta.deleted = 1795910401000;
	text = record_document(r);
	ck_assert_int_eq(record_load(KIND_NAMESPACE, text, &again, &err), 0);
	ck_assert_int_eq(again->meta.deleted, r->meta.deleted);
	ck_assert(strstr(text, "\"status\":{\"phase\":\"Terminating\"}") != NULL);
	record_free(r);
	record_free(again);
}
END_TEST

/* ---- what may change ------------------------------------------------------------------------- */

static const struct {
	const char *before, *after, *refusal; /* NULL: accepted */
	int64_t generation;
} changes[] = {
	{ TYPE, "{\"spec\":{\"cpu\":{\"guest\":2}}}", NULL, 2 },
	{ TYPE,
		"{\"metadata\":{\"labels\":{}},\"spec\":{\"cpu\":{\"guest\":1},"
		"\"memory\":{\"guest\":1.50e9}}}",
		NULL, 1 },
	{ V1("Secret", ", data: {x: YWJj}"), "{\"type\":\"Opaque\",\"data\":{\"x\":\"YQ==\"}}",
		NULL, 0 },
	{ V1("Secret", ""), "{\"type\":\"kubernetes.io/tls\"}",
		"type: field is immutable; delete 'a'", 0 },
	{ V1("Secret", ", immutable: true, data: {x: YWJj}"),
		"{\"type\":\"Opaque\",\"immutable\":true,\"data\":{\"x\":\"YQ==\"}}",
		"data: field is immutable when `immutable` is set", 0 },
	{ V1("Secret", ", immutable: true"), "{\"type\":\"Opaque\"}",
		"immutable: field is immutable", 0 },
	{ V1("ConfigMap", ", immutable: true"),
		"{\"immutable\":true,\"binaryData\":{\"x\":\"YQ==\"}}",
		"binaryData: field is immutable", 0 },
};

START_TEST(what_may_change)
{
	struct record *r = stored(changes[_i].before);
	struct node *root = parse(changes[_i].after);
	autofree char *before = record_document(r), *after = NULL;
	struct err err = { 0 };
	int ret = record_replace(r, root, &err);

	after = record_document(r);
	ck_assert_int_eq(ret, changes[_i].refusal ? -ERR_INVALID : 0);
	ck_assert_int_eq(streq(before, after), changes[_i].refusal != NULL);
	ck_assert_int_eq(r->changed, changes[_i].refusal == NULL);
	if (changes[_i].refusal)
		ck_assert_msg(starts_with(err.msg, changes[_i].refusal), "%s", err.msg);
	ck_assert_int_eq(r->meta.generation, changes[_i].generation);
	record_free(r);
	node_free(root);
}
END_TEST

/* ---- how much there may be ------------------------------------------------------------------- */

static struct record *sized(unsigned number, size_t size)
{
	struct record *r = xcalloc(1, sizeof(*r));

	r->kind = KIND_SECRET;
	r->meta.ns = xstrdup("default");
	r->meta.name = xasprintf("s%u", number);
	r->size = size;
	return r;
}

START_TEST(so_many_and_no_more)
{
	struct records rs = { 0 };
	struct err err;

	for (unsigned i = 0; i < RECORDS_MAX; i++) {
		ck_assert_int_eq(records_check_room(&rs, NULL, 1, &err), 0);
		records_add(&rs, sized(i, 1), false);
	}
	ck_assert_int_eq(records_check_room(&rs, NULL, 1, &err), -ERR_FORBIDDEN);
	ck_assert(starts_with(err.msg, "exceeded quota: at most 10000 objects"));
	ck_assert_int_eq(records_check_room(&rs, rs.list[0], 1, &err), 0);
	records_done(&rs);
}
END_TEST

START_TEST(so_much_and_no_more)
{
	struct records rs = { 0 };
	struct err err;

	records_add(&rs, sized(1, RECORDS_SIZE_MAX - 10), false);
	ck_assert_int_eq(records_check_room(&rs, NULL, 10, &err), 0);
	ck_assert_int_eq(records_check_room(&rs, NULL, 11, &err), -ERR_FORBIDDEN);
	ck_assert_int_eq(records_check_room(&rs, rs.list[0], RECORDS_SIZE_MAX, &err), 0);
	ck_assert_int_eq(records_check_room(&rs, rs.list[0], RECORDS_SIZE_MAX + 1, &err),
		-ERR_FORBIDDEN);
	records_done(&rs);
}
END_TEST

/* ---- base64 (RFC 4648 §10) ------------------------------------------------------------------- */

static const char *const vectors[][2] = { { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" },
	{ "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy" } };

START_TEST(base64_vectors)
{
	static const char *const not_base64[] = { "Z", "Zg",
		"Zg=", "Z===", "Zg= =", "=Zg=", "Zm9v\n", "Zm-_" };

	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		autofree char *text = base64_encode(vectors[i][0], strlen(vectors[i][0]));

		ck_assert_str_eq(text, vectors[i][1]);
		ck_assert(is_base64(text));
	}
	for (size_t i = 0; i < ARRAY_SIZE(not_base64); i++)
		ck_assert_msg(!is_base64(not_base64[i]), "%s", not_base64[i]);
}
END_TEST

START_TEST(a_class_that_may_preempt_is_warned_of)
{
	static const char *const texts[] = { PRIORITY(", value: 1"),
		PRIORITY(", value: 1, preemptionPolicy: PreemptLowerPriority"),
		PRIORITY(", value: 1, preemptionPolicy: Never") };
	struct manifest manifest = good(texts[_i]);

	ck_assert_uint_eq(manifest.warnings ? manifest.warnings->n : 0, _i < 2);
	manifest_done(&manifest);
}
END_TEST

Suite *test_record_suite(void)
{
	Suite *suite = suite_create("records");
	TCase *tcase = tcase_create("records");

	tcase_add_loop_test(tcase, a_class_that_may_preempt_is_warned_of, 0, 3);
	tcase_add_loop_test(tcase, bad_ones_are_refused, 0, (int)ARRAY_SIZE(bad));
	tcase_add_loop_test(tcase, good_ones_are_filled, 0, (int)ARRAY_SIZE(fine));
	tcase_add_test(tcase, a_document_comes_back);
	tcase_add_test(tcase, owners_are_kept);
	tcase_add_test(tcase, what_is_not_whole_is_not_loaded);
	tcase_add_test(tcase, a_namespace_that_ends_still_does);
	tcase_add_loop_test(tcase, what_may_change, 0, (int)ARRAY_SIZE(changes));
	tcase_add_test(tcase, so_many_and_no_more);
	tcase_add_test(tcase, so_much_and_no_more);
	tcase_add_test(tcase, base64_vectors);
	suite_add_tcase(suite, tcase);
	return suite;
}
