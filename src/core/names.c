/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grammars of single strings: names as Kubernetes has them, addresses, serials, paths. Everything
 * that later becomes part of a path, of XML or of a command goes through one of these.
 *
 * Owns nothing. It must not know which field a string stands in: schema.c says that. Paths are
 * judged by their text only; whether a symlink leads out is the adapter's to see.
 */
#include "core/names.h"

#include <ctype.h>
#include <string.h>

#include "core/image_ref.h"

#define LOWER    "abcdefghijklmnopqrstuvwxyz"
#define UPPER    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS   "0123456789"
#define ALNUM    LOWER UPPER DIGITS
#define UUID_LEN 36
#define MAC_LEN  17

/* 1 to max characters, all of them among allowed. */
static bool consists_of(const char *s, const char *allowed, size_t max)
{
	size_t len = strlen(s);

	return len && len <= max && strspn(s, allowed) == len;
}

/* … and the first and last are neither of edges. */
static bool has_no_edge(const char *s, const char *edges)
{
	return !strchr(edges, s[0]) && !strchr(edges, s[strlen(s) - 1]);
}

static bool is_dns_label_of(const char *s, size_t len)
{
	return len && len <= LABEL_MAX_LEN && strspn(s, LOWER DIGITS "-") >= len && s[0] != '-' &&
		s[len - 1] != '-';
}

bool is_dns_label(const char *s)
{
	return is_dns_label_of(s, strlen(s));
}

/* A part may be as long as the whole: Kubernetes bounds only that. */
bool is_dns_subdomain(const char *s)
{
	if (!consists_of(s, LOWER DIGITS "-.", NAME_MAX_LEN))
		return false;
	while (s) {
		const char *end = strchrnul(s, '.');

		if (end == s || s[0] == '-' || end[-1] == '-')
			return false;
		s = *end ? end + 1 : NULL;
	}
	return true;
}

bool is_interface_name(const char *s)
{
	return consists_of(s, ALNUM "-_", LABEL_MAX_LEN);
}

bool is_label_value(const char *s)
{
	return !*s || (consists_of(s, ALNUM "-_.", LABEL_MAX_LEN) && has_no_edge(s, "-_."));
}

bool is_network_name(const char *s)
{
	const char *slash = strchr(s, '/');

	if (slash && !is_dns_label_of(s, (size_t)(slash - s)))
		return false;
	return is_dns_subdomain(slash ? slash + 1 : s);
}

bool is_label_key(const char *s)
{
	const char *slash = strchr(s, '/');
	autofree char *prefix = slash ? xstrndup(s, (size_t)(slash - s)) : NULL;
	const char *name = slash ? slash + 1 : s;

	if (prefix && !is_dns_subdomain(prefix))
		return false;
	return *name && is_label_value(name);
}

bool is_uuid(const char *s)
{
	if (strlen(s) != UUID_LEN)
		return false;
	for (int i = 0; i < UUID_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? s[i] != '-' : !isxdigit((unsigned char)s[i]))
			return false;
	}
	return true;
}

void uuid_copy(char ret[UID_SIZE], const char *uuid)
{
	copy_str(ret, UID_SIZE, uuid);
	for (char *c = ret; *c; c++)
		*c = (char)tolower((unsigned char)*c);
}

bool is_mac(const char *s)
{
	if (strlen(s) != MAC_LEN)
		return false;
	for (int i = 0; i < MAC_LEN; i++) {
		if (i % 3 == 2 ? s[i] != s[2] || !strchr(":-", s[i])
			       : !isxdigit((unsigned char)s[i]))
			return false;
	}
	return !strchr("13579bBdDfF", s[1]) && strspn(s, "0:-") != MAC_LEN;
}

bool is_disk_serial(const char *s)
{
	return consists_of(s, ALNUM "_.+-", SERIAL_LEN_MAX);
}

bool is_firmware_serial(const char *s)
{
	size_t len = strlen(s);

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)s[i] < 0x20 || (unsigned char)s[i] > 0x7E)
			return false;
	}
	return len && len <= SERIAL_LEN_MAX;
}

bool is_machine_type(const char *s)
{
	return consists_of(s, ALNUM "-_.", WORD_LEN_MAX) &&
		(starts_with(s, "q35") || starts_with(s, "pc-q35"));
}

bool is_cpu_model(const char *s)
{
	return consists_of(s, ALNUM "-_.+", WORD_LEN_MAX);
}

bool is_hyperv_vendor(const char *s)
{
	return is_firmware_serial(s) && strlen(s) <= HYPERV_VENDOR_LEN_MAX && !strchr(s, ',');
}

/* It becomes QEMU's TZ, which may also name a file: so no path that leads anywhere else. */
bool is_timezone(const char *s)
{
	return consists_of(s, ALNUM "_+-/", TIMEZONE_LEN_MAX) && *s != '/';
}

bool is_pci_address(const char *s)
{
	static const char form[] = "xxxx:xx:xx.f";
	size_t i = 0;

	for (; form[i] && s[i]; i++) {
		if (form[i] == 'x'               ? !isxdigit((unsigned char)s[i])
				: form[i] == 'f' ? s[i] < '0' || s[i] > '7'
						 : s[i] != form[i])
			return false;
	}
	return !form[i] && !s[i];
}

bool is_kernel_args(const char *s)
{
	return strlen(s) <= KERNEL_ARGS_LEN_MAX && !strpbrk(s, "\r\n");
}

/* Each part between slashes is there and is neither "." nor "..". */
static bool parts_are_clean(const char *s)
{
	while (s) {
		size_t len = strcspn(s, "/");

		if (!len || (len <= 2 && strspn(s, ".") >= len))
			return false;
		s = s[len] ? s + len + 1 : NULL;
	}
	return true;
}

static bool is_printable(const char *s, const char *besides)
{
	for (; *s; s++) {
		if (*s < ' ' || *s > '~' || strchr(besides, *s))
			return false;
	}
	return true;
}

bool is_url_path(const char *s)
{
	return s[0] == '/' && strlen(s) <= HTTP_TEXT_MAX && is_printable(s, " ");
}

bool is_header_name(const char *s)
{
	return s[0] && strlen(s) <= HTTP_TEXT_MAX && is_printable(s, " ()<>@,;:\\\"/[]?={}");
}

bool is_header_value(const char *s)
{
	return strlen(s) <= HTTP_TEXT_MAX && is_printable(s, "");
}

bool is_host(const char *s)
{
	return consists_of(s, LOWER UPPER DIGITS "-._:", NAME_MAX_LEN) && *s != '-';
}

bool is_login(const char *s)
{
	size_t len = strlen(s);

	return len && len <= LOGIN_MAX && !strpbrk(s, "/:\t\r\n");
}

bool is_probe_word(const char *s)
{
	return strlen(s) <= PROBE_WORD_MAX;
}

bool is_clean_path(const char *s)
{
	return *s == '/' && strlen(s) <= PATH_LEN_MAX && !strpbrk(s, "\t\r\n") &&
		parts_are_clean(s + 1);
}

bool is_inner_path(const char *s)
{
	return strlen(s) <= PATH_LEN_MAX && !strpbrk(s, "\t\r\n") &&
		parts_are_clean(s + (*s == '/'));
}

const char *image_path(const char *image)
{
	return starts_with(image, FILE_SCHEME) ? image + strlen(FILE_SCHEME) : image;
}

/* It is a child's argument. */
bool is_volume_label(const char *s)
{
	return consists_of(s, ALNUM "-_. ", VOLUME_LABEL_LEN_MAX) && has_no_edge(s, "-. ");
}

/* The fields of a run that a downwardAPI file may be; keys stand in brackets and quotes. */
bool is_downward_field(const char *s)
{
	static const char *const plain[] = { "metadata.name", "metadata.namespace", "metadata.uid",
		"metadata.labels", "metadata.annotations" };
	static const char *const maps[] = { "metadata.labels['", "metadata.annotations['" };

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (streq(s, plain[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		size_t from = strlen(maps[i]), len = strlen(s);
		autofree char *key = NULL;

		if (!starts_with(s, maps[i]) || len < from + 2 || !streq(s + len - 2, "']"))
			continue;
		key = xstrndup(s + from, len - from - 2);
		return is_label_key(key);
	}
	return false;
}

bool is_local_image(const char *s)
{
	return *s == '/' || starts_with(s, FILE_SCHEME);
}

bool is_image(const char *s)
{
	return is_local_image(s) ? is_clean_path(image_path(s)) : is_image_ref(s);
}

bool is_registry_url(const char *s)
{
	return starts_with(s, REGISTRY_SCHEME) && is_image_ref(s + strlen(REGISTRY_SCHEME));
}

bool path_is_below(const char *path, const char *const *roots)
{
	for (; roots && *roots; roots++) {
		size_t len = strlen(*roots);

		while (len && (*roots)[len - 1] == '/')
			len--;
		if (strncmp(path, *roots, len) == 0 && path[len] == '/')
			return true;
	}
	return false;
}
