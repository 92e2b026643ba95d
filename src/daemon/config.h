/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's own configuration: defaults, then the file (kind AgentConfiguration, vmagent.io/v1),
 * then the command line, each overriding the one before. Read once, before anything is started.
 */
#ifndef VMAGENT_DAEMON_CONFIG_H
#define VMAGENT_DAEMON_CONFIG_H

#include <vmagent/err.h>
#include <vmagent/peer.h>

#include "core/claim.h"
#include "core/holding.h"
#include "core/image_ref.h"
#include "core/netconfig.h"
#include "core/tuning.h"

#define CONFIG_FILE      "/etc/vmagent/vmagent.yaml"
#define CONFIG_ROOTS_MAX 64
#define CONFIG_RO_GROUP  "vmagent-ro"
#define CONFIG_RO_OFF    "none" /* said in place of its path */

enum emulation { EMULATION_AUTO, EMULATION_KVM, EMULATION_TCG };

enum config_action { CONFIG_RUN, CONFIG_HELP, CONFIG_VERSION };

struct config {
	char *manifests; /* owned, all of them */
	char *state;
	char *socket;
	char *libvirt;
	char *ro_socket; /* "": there is none; default: beside socket */
	char *ro_group;  /* NULL: CONFIG_RO_GROUP, if there is such a group */
	unsigned ro_mode;
	char *node_name;   /* NULL: the host's */
	char *peer_listen; /* as address_parse() reads it */
	char *tls_ca, *tls_cert, *tls_key;
	struct peer_config peers[PEERS_MAX];
	size_t n_peers;
	struct host_place place;                     /* labels and taints; no name */
	char *host_disk_roots[CONFIG_ROOTS_MAX + 1]; /* NULL-terminated; default: <state>/disks */
	char *image_roots[CONFIG_ROOTS_MAX + 1]; /* … of containerDisk images: <state>/images */
	/* What stands for images of registries; its folder: <state>/images. */
	struct image_map images;
	struct storage storage; /* of claims; its folder: <state>/pvc */
	struct network_config networks;
	struct host_shares shares; /* CPUs and devices for guests alone */
	/* Of their streams, not of what agents say: whoever can read the network sees guests. */
	bool disable_tls;
	bool migrations;          /* guests may be moved between this node and its peers */
	enum emulation emulation; /* auto: KVM where it truly works */
	struct tuning tuning;
	/* Migrations.allowWorkloadDisruption was said: it does not follow allowPostCopy. */
	bool disrupts;
};

/*
 * Reads arguments and file. *ret_action says what was asked for; HELP and VERSION read
 * no file. Errors: ERR_BAD_REQUEST for the arguments, ERR_INVALID with file:line:column
 * for the file, ERR_IO.
 */
int config_load(int argc, char **argv, struct config *ret_config, enum config_action *ret_action,
	struct err *err);
void config_done(struct config *config);

/* The text of --help; a constant. */
const char *config_usage(void);

#endif
