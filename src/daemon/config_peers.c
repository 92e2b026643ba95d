/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peers in the configuration file: who they are and where, and what a few texts beside
 * them must look like.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "core/address.h"
#include "core/names.h"
#include "daemon/config_private.h"

static bool is_absolute(const char *text)
{
	return text[0] == '/';
}

static bool is_numeric(const char *text)
{
	unsigned char bytes[sizeof(struct in6_addr)];
	struct address address;

	return address_parse(text, &address) &&
		(inet_pton(AF_INET, address.host, bytes) == 1 ||
			inet_pton(AF_INET6, address.host, bytes) == 1);
}

const char *config_expects(const char *name, const char *text)
{
	/* clang-format off */
	static const struct { const char *name; bool (*is_good)(const char *text); const char *expected; } texts[] = {
		{ "imageDir",   is_absolute,      "an absolute path" },
		{ "nodeName",   is_dns_subdomain, "a name in lower case, as in DNS" },
		{ "peerListen", is_numeric,       "a numeric address, or one with a port: 192.0.2.1:16516" },
		{ "tls.ca",     is_absolute,      "an absolute path" },
		{ "tls.cert",   is_absolute,      "an absolute path" },
		{ "tls.key",    is_absolute,      "an absolute path" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (streq(texts[i].name, name) && !texts[i].is_good(text))
			return texts[i].expected;
	return NULL;
}

static bool is_known(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->n_peers; i++)
		if (streq(config->peers[i].name, name))
			return true;
	return false;
}

/* What is wrong with a peer's field, or NULL. */
static const char *refusal(const struct config *config, const struct node *field)
{
	struct address address;
	bool text = field->kind == NODE_STRING;

	if (streq(field->key, "name")) {
		if (!text || !is_dns_subdomain(field->text))
			return "name: expected a name in lower case, as in DNS: the one that its "
			       "certificate carries";
		return is_known(config, field->text) ? "name: a peer of that name is there already"
						     : NULL;
	}
	if (streq(field->key, "address"))
		return text && address_parse(field->text, &address) && address.port
			? NULL
			: "address: expected HOST, or HOST:PORT";
	return "no such field: a peer has a name and an address";
}

static int read_peer(struct config *config, const char *path, const struct node *peer,
	struct err *err)
{
	const char *name = node_text(peer, "name"), *address = node_text(peer, "address");

	if (peer->kind != NODE_MAP)
		return config_refuse(path, peer, err,
			"expected a peer: {name: NAME, address: HOST}");
	for (size_t i = 0; i < peer->n_children; i++) {
		const char *why = refusal(config, peer->children[i]);

		if (why)
			return config_refuse(path, peer->children[i], err, why);
	}
	if (!name || !address)
		return config_refuse(path, peer, err, "a peer has a name and an address");
	config->peers[config->n_peers++] =
		(struct peer_config){ .name = xstrdup(name), .address = xstrdup(address) };
	return 0;
}

int config_read_peers(struct config *config, const char *path, const struct node *list,
	struct err *err)
{
	char words[100];
	int ret = 0;

	snprintf(words, sizeof(words), "peers: expected a list of at most %d peers", PEERS_MAX);
	if (list->kind != NODE_LIST || list->n_children > PEERS_MAX)
		return config_refuse(path, list, err, words);
	config_peers_done(config);
	for (size_t i = 0; i < list->n_children && ret == 0; i++)
		ret = read_peer(config, path, list->children[i], err);
	return ret;
}

void config_peers_done(struct config *config)
{
	while (config->n_peers) {
		struct peer_config *peer = &config->peers[--config->n_peers];

		free(take(&peer->name));
		free(take(&peer->address));
	}
}
