/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields that a manifest may have: where, of which type, by which rule, and how treated. Their
 * tables are schema_*.c; manifest_check() goes by them, and documents are made of them. Pure.
 */
#ifndef VMAGENT_CORE_SCHEMA_H
#define VMAGENT_CORE_SCHEMA_H

#include "core/node.h"

#define CPU_COUNT_MAX       1024    /* cores, sockets, threads, each */
#define VCPUS_MAX           4096    /* their product */
#define BLOCK_SIZE_MAX      2097152 /* bytes */
#define BOOT_ORDER_MAX      65535
#define CLOCK_OFFSET_MAX_S  INT32_MAX
#define GRACE_MAX_S         GRACE_FOREVER_S
#define OVERHEAD_MAX        (INT64_C(1) << 40)  /* bytes */
#define MEMORY_MIN          1000000             /* bytes; KubeVirt: 1M */
#define MEMORY_MAX          (INT64_C(1) << 52)  /* bytes: what 52 bits of address reach */
#define OBJECT_LEN_MAX      (NODE_TEXT_MAX / 2) /* bytes of one object as JSON */
#define PROBE_SECONDS_MAX   86400
#define PROBE_TIMEOUT_MAX_S 60
#define PROBE_TIMES_MAX     1000
#define PROBE_WORDS_MAX     64           /* of a command, and headers of a request */
#define ANNOTATIONS_LEN_MAX (256 * 1024) /* bytes of one object's; Kubernetes */

/* Defaults of semantics §9.5, which defaults.c writes. */
#define HOST_ARCHITECTURE "amd64"
#define DEFAULT_MACHINE   "q35"
#define DEFAULT_CPU_MODEL "host-model"
#define DEFAULT_DISK_BUS  "sata"
#define DEFAULT_LUN_BUS   "scsi" /* a lun on sata is none of libvirt's */
#define DEFAULT_NETWORK   "default"
#define DEFAULT_NIC_MODEL "virtio" /* never written into the object */

/* Paths are relative to these. */
enum schema_scope {
	SCOPE_VM,
	SCOPE_VMI,
	SCOPE_META,          /* metadata of an object */
	SCOPE_TEMPLATE_META, /* metadata of a VM's template */
	SCOPE_SPEC,          /* spec of a VMI, spec.template.spec of a VM */
	SCOPE_INSTANCETYPE,  /* a whole one, of a namespace or of the host */
	SCOPE_PREFERENCE,
	SCOPE_PROBE,     /* of liveness or readiness */
	SCOPE_CLAIM,     /* a whole PersistentVolumeClaim */
	SCOPE_POLICY,    /* a whole MigrationPolicy */
	SCOPE_MIGRATION, /* a whole VirtualMachineInstanceMigration */
	SCOPE_CLAIM_SPEC,
	SCOPE_DATA_VOLUME,
	SCOPE_DATA_VOLUME_SPEC, /* spec of one, or of a VM's template of one */
	SCOPE_MAX
};

enum schema_type {
	TYPE_MAP,
	TYPE_LIST,
	TYPE_STRING,
	TYPE_BOOL,
	TYPE_INTEGER,
	TYPE_QUANTITY, /* number or string */
	TYPE_ENUM,
	TYPE_ANY,
	TYPE_SCOPE, /* what is below is described under another scope */
	TYPE_AS     /* the value is what another row's is */
};

enum schema_treat {
	TREAT_USED,
	TREAT_IGNORED, /* accepted and kept, without effect; note says why */
	TREAT_DROPPED, /* accepted and removed: the server sets it */
	TREAT_REFUSED  /* known, refused; note says what to do */
};

/* X(constant, predicate, words for what was expected) */
/* clang-format off */
#define SCHEMA_RULES(X)                                                                               \
	X(NAME, is_dns_subdomain, "lower case letters, digits, '-' and '.', at most 253 characters")   \
	X(LABEL, is_dns_label, "lower case letters, digits and '-', at most 63 characters")            \
	X(INTERFACE, is_interface_name, "letters, digits, '-' and '_', at most 63 characters")         \
	X(LABEL_KEY, is_label_key, "a label's name: [domain/]name")                                    \
	X(RESOURCE, is_label_key, "a resource's name such as example.com/gpu")                         \
	X(CPU_SET, is_cpu_set, "a set of CPUs such as 0-3,^1")                                         \
	X(LABEL_VALUE, is_label_value, "letters, digits, '-', '_' and '.', at most 63 characters")     \
	X(UUID, is_uuid, "a UUID such as 5d307ca9-b3ef-428c-8861-06e72d69f223")                        \
	X(MAC, is_mac, "a unicast MAC address such as 02:00:00:12:34:56")                              \
	X(DISK_SERIAL, is_disk_serial, "letters, digits and '_.+-', at most 256 characters")           \
	X(FIRMWARE_SERIAL, is_firmware_serial, "1 to 256 printable ASCII characters")                  \
	X(MACHINE, is_machine_type, "q35 or a version of it, such as pc-q35-7.2")                      \
	X(CPU_MODEL, is_cpu_model, "host-model, host-passthrough or the name of a CPU model")          \
	X(CPU_FEATURE, is_cpu_model, "the name of a CPU feature, such as vmx")                         \
	X(HYPERV_VENDOR, is_hyperv_vendor, "1 to 12 printable ASCII characters, no comma")             \
	X(TIMEZONE, is_timezone, "a time zone such as Europe/Paris")                                   \
	X(KERNEL_ARGS, is_kernel_args, "one line of at most 2047 characters")                          \
	X(NETWORK_NAME, is_network_name, "a NetworkAttachmentDefinition: [namespace/]name")           \
	X(CIDR4, is_cidr4, "a network such as 10.0.2.0/24")                                            \
	X(CIDR6, is_cidr6, "a network such as fd10:0:2::/120")                                         \
	X(PCI_ADDRESS, is_pci_address, "a PCI address such as 0000:81:01.0")                           \
	X(URL_PATH, is_url_path, "a path such as /healthz, in at most 1024 printable ASCII characters without blanks") \
	X(HEADER_NAME, is_header_name, "the name of an HTTP header")                                   \
	X(HEADER_VALUE, is_header_value, "at most 1024 printable ASCII characters")                    \
	X(WORD, is_probe_word, "at most 4096 characters")                                              \
	X(LOGIN, is_login, "a user's name in the guest, at most 256 characters")                       \
	X(HOST, is_host, "a host's name or IP address")                                                \
	X(PATH, is_clean_path, "an absolute path without '.', '..' or '//'")                           \
	X(INNER_PATH, is_inner_path, "a path within it, without '.', '..' or '//'")    \
	X(BASE64, is_base64, "base64, padded and without line breaks")                                          \
	X(VOLUME_LABEL, is_volume_label, "a file system's label: letters, digits, '-', '_', '.', at most 32")  \
	X(DOWNWARD_FIELD, is_downward_field, "metadata.name, namespace, uid, labels, annotations, "            \
		"labels['KEY'] or annotations['KEY']")                                                          \
	X(REGISTRY_URL, is_registry_url, "an image such as docker://quay.io/containerdisks/debian:12")         \
	X(IMAGE, is_image, "an image such as quay.io/containerdisks/debian:12, file:///PATH or an absolute " \
		"path, without '.', '..' or '//'")
/* clang-format on */

enum schema_rule {
	RULE_NONE,
#define X(c, holds, words) RULE_##c,
	SCHEMA_RULES(X)
#undef X
		RULE_MAX
};

struct schema_field {
	enum schema_scope scope;
	const char *path; /* "domain.devices.disks[].name"; [] any element, {} any key */
	size_t len;       /* of path */
	enum schema_type type;
	bool required;
	enum schema_treat treat;
	enum schema_rule rule;     /* STRING */
	enum schema_rule key_rule; /* of the keys that {} stands for */
	enum schema_scope below;   /* SCOPE, AS */
	const char *as;            /* AS: the other row's path, in the scope below */
	int64_t min, max;     /* INTEGER, QUANTITY: value; LIST: max elements. max 0: no bound */
	const char *values;   /* ENUM: "|"-separated, empty ones do not count */
	const char *fallback; /* default, for documents */
	const char *note;
};

struct schema_kind {
	const char *kind;
	enum schema_scope scope; /* of the whole object; MAX: record.h has its rules */
	const char *refused;     /* NULL, or what to do without it */
	const char *unused;      /* NULL, or why it is kept without effect */
};

/* A kind of objects, by its name; NULL: nobody knows it. */
const struct schema_kind *schema_kind(const char *kind);

/* The accepted kind that a text is most like; NULL if none. */
const char *schema_like_kind(const char *text);

struct schema_walk { /* over all fields; begins as { 0 } */
	size_t table, row;
};

/* The next field, NULL after the last. */
const struct schema_field *schema_walk(struct schema_walk *walk);

/* The field `key` of the map described by path in scope ("" for the scope's own map); falls back to
 * the map's {} field. NULL if there is none. */
const struct schema_field *schema_find(enum schema_scope scope, const char *path, const char *key);

/* What describes the field's value: itself, or for AS the other row, or that which stands for
 * it. */
const struct schema_field *schema_meaning(const struct schema_field *field);

/* The description of a list's elements. */
const struct schema_field *schema_element(const struct schema_field *list);

/* Whether field is directly within the map described by path in scope. */
bool schema_is_child(const struct schema_field *field, enum schema_scope scope, const char *path);

bool schema_rule_holds(enum schema_rule rule, const char *text); /* RULE_NONE always holds */
const char *schema_rule_words(enum schema_rule rule);

/* The known key within that map most like `key`, close enough to be meant; NULL if none. */
const char *schema_like_key(enum schema_scope scope, const char *path, const char *key);

/* Whether text is one of "|"-separated values. */
bool schema_value_is_in(const char *values, const char *text);

/* The value of the list most like text, close enough to be meant, owned; NULL if none. */
char *schema_like_value(const char *values, const char *text);

#endif
