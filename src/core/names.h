/* SPDX-License-Identifier: Apache-2.0 */
/* Grammars of single strings in a manifest. Each says whether a text keeps it. Pure. */
#ifndef VMAGENT_CORE_NAMES_H
#define VMAGENT_CORE_NAMES_H

#include <vmagent/base.h>

#define SERIAL_LEN_MAX        256
#define PATH_LEN_MAX          4095
#define KERNEL_ARGS_LEN_MAX   2047 /* Linux' own bound, its NUL left out */
#define WORD_LEN_MAX          128  /* machine type, CPU model */
#define HYPERV_VENDOR_LEN_MAX 12
#define TIMEZONE_LEN_MAX      64
#define VOLUME_LABEL_LEN_MAX  32   /* of ISO 9660 */
#define HTTP_TEXT_MAX         1024 /* a path, a header */
#define LOGIN_MAX             256
#define PROBE_WORD_MAX        4096
#define LAUNCHER_PREFIX       "virt-launcher-" /* of a run's Pod; its VMI's name follows, … */
#define LAUNCHER_SUFFIX_LEN   5                /* … and so much of its UID, after a dash */
#define FILE_SCHEME           "file://"
#define REGISTRY_SCHEME       "docker://"

bool is_dns_label(const char *s);     /* DNS-1123 label */
bool is_dns_subdomain(const char *s); /* DNS-1123 subdomain */
bool is_interface_name(const char *s);
bool is_network_name(const char *s); /* [label/]subdomain */
bool is_label_key(const char *s);    /* [subdomain/]name, of a label or annotation */
bool is_label_value(const char *s);
bool is_uuid(const char *s);
void uuid_copy(char ret[UID_SIZE], const char *uuid); /* in lower case, as libvirt writes it */
bool is_mac(const char *s);                           /* six bytes, unicast, not zero */
bool is_disk_serial(const char *s);                   /* [A-Za-z0-9_.+-] */
bool is_firmware_serial(const char *s);               /* printable ASCII */
bool is_machine_type(const char *s);                  /* q35…, pc-q35… */
bool is_cpu_model(const char *s);
bool is_hyperv_vendor(const char *s); /* printable ASCII, 12 at most, no comma */
bool is_timezone(const char *s);      /* Area/Place, as in the host's zoneinfo */
bool is_pci_address(const char *s);   /* dddd:bb:ss.f, hexadecimal */
bool is_kernel_args(const char *s);   /* one line */
bool is_url_path(const char *s);      /* from '/', printable ASCII without blanks */
bool is_header_name(const char *s);   /* of HTTP: a token */
bool is_header_value(const char *s);  /* printable ASCII, may be empty */
bool is_host(const char *s);          /* a name or an IP address */
bool is_login(const char *s);         /* of a user in a guest */
bool is_probe_word(const char *s);    /* of a command in a guest */
bool is_clean_path(const char *s);    /* absolute, no empty, "." or ".." part, none at the end */
bool is_inner_path(const char *s);    /* clean within a folder; a leading slash is fine */
bool is_registry_url(const char *s);  /* docker://<reference> */
bool is_image(const char *s);         /* file://<clean path>, a clean path, or a reference */
bool is_local_image(const char *s);   /* one of the first two, if it is an image at all */

bool is_volume_label(const char *s);   /* of a file system: 32 letters, digits, "-_. " */
bool is_downward_field(const char *s); /* metadata.name, metadata.labels['KEY'], … */

/* The path that an image names: what follows file://, or all of it. Borrowed from image. */
const char *image_path(const char *image);

/* Whether path lies below one of the NULL-terminated roots, by its text alone. */
bool path_is_below(const char *path, const char *const *roots);

#endif
