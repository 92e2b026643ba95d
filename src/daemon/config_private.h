/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two sources of the configuration share: config.c has the tables of settings and reads
 * the command line, config_file.c reads the file, config_peers.c, config_images.c, config_storage.c
 * and config_networks.c what it says of those.
 */
#ifndef VMAGENT_DAEMON_CONFIG_PRIVATE_H
#define VMAGENT_DAEMON_CONFIG_PRIVATE_H

#include "core/node.h"
#include "daemon/config.h"

struct setting {
	const char *name;   /* spec.NAME in the file */
	const char *option; /* --OPTION on the command line, or NULL */
	const char *value;  /* default, or NULL */
	size_t offset;
};

/* Where manifests may point at files; a missing list is <state>/FOLDER. */
struct root_list {
	const char *name; /* spec.NAME */
	const char *folder;
	size_t offset;
};

/* Of spec.NAME, or NULL. */
const struct setting *setting_find(const char *name);
const struct root_list *roots_find(const char *name);
bool setting_is_below(const char *group); /* there is one called spec.GROUP.… */

char **setting_at(struct config *config, const struct setting *setting);
char **roots_at(struct config *config, const struct root_list *list); /* NULL-terminated */
void roots_done(char **roots);

/* Reads the file into *config. Errors: ERR_NOT_FOUND; ERR_IO; ERR_INVALID with path:line:column. */
int config_read_file(struct config *config, const char *path, struct err *err);

/* Refuses what stands there: ERR_INVALID with path:line:column. */
int config_refuse(const char *path, const struct node *at, struct err *err, const char *expected);

/* What the text spec.NAME should be and is not; NULL: nothing is wrong with it. */
const char *config_expects(const char *name, const char *text);

int config_read_peers(struct config *config, const char *path, const struct node *list,
	struct err *err);
int config_read_images(struct config *config, const char *path, const struct node *list,
	struct err *err);
int config_read_storage(struct config *config, const char *path, const struct node *map,
	struct err *err);
int config_read_labels(struct config *config, const char *path, const struct node *map,
	struct err *err);
int config_read_taints(struct config *config, const char *path, const struct node *list,
	struct err *err);
void config_peers_done(struct config *config);

/* config_networks.c: spec.podNetwork, spec.networks, spec.sriovPools. */
int config_read_pod_network(struct config *config, const char *path, const struct node *map,
	struct err *err);
int config_read_networks(struct config *config, const char *path, const struct node *map,
	struct err *err);
int config_read_pools(struct config *config, const char *path, const struct node *list,
	struct err *err);

/* config_devices.c: spec.dedicatedCPUs, spec.hostDevices. */
int config_read_dedicated(struct config *config, const char *path, const struct node *at,
	struct err *err);
int config_read_host_devices(struct config *config, const char *path, const struct node *list,
	struct err *err);

#endif
