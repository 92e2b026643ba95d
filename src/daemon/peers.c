/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the configured peers, and what they are told of this node. None of it is stored:
 * after a restart every peer is unreachable until it has answered. A change is one log line; what
 * stays as it is, or is wrong for the same reason again, none.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "core/codec.h"
#include "core/json.h"
#include "daemon/agent_private.h"
#include "daemon/migrations.h"

#define EXPIRY_WARNING_DAYS 30
#define DAY_MS              SECONDS(24 * 60 * 60)
/* Logs and events of two hosts can no longer be read together. */
#define CLOCK_WARNING_MS    SECONDS(5)
#define MIB                 (1 << 20)

void peers_init(struct agent *agent)
{
	const struct agent_options *o = agent->options;
	struct peers *peers = &agent->peers;

	peers->list = xcalloc(o->n_peers, sizeof(*peers->list));
	for (size_t i = 0; i < o->n_peers; i++) {
		peers->list[i].config = &o->peer_list[i];
		copy_str(peers->list[i].why, sizeof(peers->list[i].why), "it was not asked yet");
	}
	peers->status = o->capacity;
}

void peers_done(struct agent *agent)
{
	free(agent->peers.list);
}

/* ---- what they are told ---------------------------------------------------------------------- */

void peers_count(struct agent *agent, struct machine *m)
{
	struct peer_status *status = &agent->peers.status;
	bool runs = m->vmi && (m->vmi->phase == PHASE_SCHEDULED || m->vmi->phase == PHASE_RUNNING);
	int64_t memory = runs ? m->vmi->typed.memory : 0;

	status->guest_memory += memory - m->counted_memory;
	status->guests += (unsigned)runs - (unsigned)m->counted;
	m->counted = runs;
	m->counted_memory = memory;
}

void peers_tell(struct agent *agent)
{
	struct peers *peers = &agent->peers;

	if (!agent->options->peers ||
		memcmp(&peers->told, &peers->status, sizeof(peers->told)) == 0)
		return;
	peers->told = peers->status;
	peer_publish(agent->options->peers, &peers->told);
}

/* ---- what they tell -------------------------------------------------------------------------- */

/* Owned by the caller; NULL: it is long until then, or nobody knows. */
static char *expiry_words(const char *whose, msec expires, struct now now)
{
	char text[TIME_SIZE];

	if (!expires || expires - now.wall > EXPIRY_WARNING_DAYS * DAY_MS)
		return NULL;
	format_time(expires, text);
	return xasprintf(PEER_EXPIRY_WORDS, whose, expires > now.wall ? "expires" : "has expired",
		text);
}

static void warn_of_expiry(const char *whose, msec expires, msec *warned, struct now now)
{
	autofree char *words = expiry_words(whose, expires, now);

	if (!words || now.wall - *warned < DAY_MS)
		return;
	*warned = now.wall;
	log_text(LOG_LEVEL_WARNING, "%s", words);
}

char *peers_expiry_words(struct agent *agent, const char *name, struct now now)
{
	const struct peer_facts *peer = peers_find(agent, name);
	autofree char *whose = xasprintf("'%s'", name);
	autofree char *theirs = expiry_words(whose, peer ? peer->expires : 0, now);
	autofree char *ours = expiry_words("this node", agent->peers.self_expires, now);

	if (ours && theirs)
		return xasprintf("%s; %s", ours, theirs);
	return take(ours ? &ours : &theirs);
}

void peers_check_self(const struct agent *agent, struct findings *ret)
{
	if (agent->peers.self_why[0])
		findings_add(ret, NULL, "certificate", "this node's certificate cannot be used: %s",
			agent->peers.self_why);
}

static void peer_up(struct peer_facts *peer, const struct peer_event *event, struct now now)
{
	autofree char *whose = xasprintf("peer '%s'", peer->config->name);

	if (!peer->up)
		log_text(LOG_LEVEL_NOTICE, "peer '%s' is reachable: vmagent %s, protocol %u",
			peer->config->name, event->hello->agent, event->hello->version);
	else if (!streq(peer->hello.boot_id, event->hello->boot_id))
		log_text(LOG_LEVEL_NOTICE, "peer '%s' was booted", peer->config->name);
	if (!peer->up)
		peer->since = now.wall;
	peer->up = peer->known = true;
	peer->hello = *event->hello;
	peer->expires = event->expires;
	warn_of_expiry(whose, peer->expires, &peer->warned, now);
}

static void peer_down(struct peer_facts *peer, const struct peer_event *event, struct now now)
{
	char why[PEER_WHY_SIZE];

	copy_str(why, sizeof(why), event->why);
	if (!peer->up && streq(peer->why, why))
		return;
	log_text(LOG_LEVEL_WARNING, "peer '%s' cannot be reached: %s", peer->config->name, why);
	if (peer->up || !peer->since)
		peer->since = now.wall;
	peer->up = peer->has_clock = false;
	peer->one_way[0] = '\0';
	copy_str(peer->why, sizeof(peer->why), why);
}

/* Its connection serves both; but the streams of a guest that moves there are ours to open. */
static void peer_one_way(struct peer_facts *peer, const struct peer_event *event, struct now now)
{
	const char *why = event->why ? event->why : "";

	(void)now;
	if (*why && !streq(peer->one_way, why))
		log_text(LOG_LEVEL_WARNING,
			"peer '%s' reaches this node, but not the other way, so that no guest can be moved "
			"there: %s",
			peer->config->name, why);
	copy_str(peer->one_way, sizeof(peer->one_way), why);
}

static void peer_clock(struct peer_facts *peer, const struct peer_event *event, struct now now)
{
	bool off = llabs(event->ahead) >= CLOCK_WARNING_MS;

	(void)now;
	if (off && !peer->clock_warned)
		log_text(LOG_LEVEL_WARNING, "the clock of peer '%s' is %lld s %s ours",
			peer->config->name, llabs(event->ahead) / 1000,
			event->ahead > 0 ? "ahead of" : "behind");
	peer->clock_warned = off;
	peer->has_clock = true;
	peer->ahead = event->ahead;
	peer->round_trip = event->round_trip;
}

static void peer_told(struct peer_facts *peer, const struct peer_event *event, struct now now)
{
	(void)now;
	peer->hello.status = *event->status;
}

static void own_certificate(struct agent *agent, const struct peer_event *event, struct now now)
{
	struct peers *peers = &agent->peers;
	const char *why = event->why ? event->why : "";

	if (*why && !streq(peers->self_why, why))
		log_text(LOG_LEVEL_ERROR, "no peer can be reached: %s", why);
	copy_str(peers->self_why, sizeof(peers->self_why), why);
	peers->self_expires = event->expires;
	if (event->expires)
		warn_of_expiry("this node", event->expires, &peers->self_warned, now);
}

bool peers_is_up(const struct agent *agent, const char *name)
{
	for (size_t i = 0; i < agent->options->n_peers; i++) {
		if (streq(agent->peers.list[i].config->name, name))
			return agent->peers.list[i].up;
	}
	return false;
}

bool peers_can_check(const struct agent *agent, const char *name, struct findings *why)
{
	for (size_t i = 0; i < agent->options->n_peers; i++) {
		const struct peer_facts *peer = &agent->peers.list[i];

		if (!streq(peer->config->name, name))
			continue;
		if (peer->up && peer->one_way[0])
			findings_add(why, NULL, "port",
				"this host does not reach its port, over which the guest would go: %s",
				peer->one_way);
		if (peer->up && peer->hello.capabilities & 1U << PEER_CAN_CHECK)
			return true;
		if (peer->up)
			findings_add(why, NULL, "version",
				"its vmagent %s cannot be asked about guests: upgrade it",
				peer->hello.agent);
		else
			findings_add(why, NULL, "peer", "it cannot be reached: %s", peer->why);
		return false;
	}
	findings_add(why, NULL, "peer", "it is no peer in the configuration");
	return false;
}

const char *peers_name(const struct agent *agent, const char *name)
{
	for (size_t i = 0; i < agent->options->n_peers; i++) {
		if (streq(agent->options->peer_list[i].name, name))
			return agent->options->peer_list[i].name;
	}
	return NULL;
}

bool peers_have_answered(const struct agent *agent)
{
	for (size_t i = 0; i < agent->options->n_peers; i++) {
		if (!agent->peers.list[i].answered && !agent->peers.list[i].dead.wall)
			return false;
	}
	return true;
}

void peers_ask(struct agent *agent)
{
	for (size_t i = 0; i < agent->options->n_peers; i++) {
		if (agent->peers.list[i].up && !agent->peers.list[i].answered)
			handover_ask(agent, agent->peers.list[i].config->name, NULL);
	}
}

void peers_answered(struct agent *agent, const char *name)
{
	struct peer_facts *peer = peers_find(agent, name);

	if (peer)
		peer->answered = true;
}

struct peer_facts *peers_find(struct agent *agent, const char *name)
{
	for (size_t i = 0; name && i < agent->options->n_peers; i++)
		if (streq(agent->peers.list[i].config->name, name))
			return &agent->peers.list[i];
	return NULL;
}

void input_peer(struct agent *agent, const struct input *input, struct now now)
{
	static void (*const folds[])(struct peer_facts * peer, const struct peer_event *event,
		struct now now) = {
		[PEER_UP] = peer_up,
		[PEER_DOWN] = peer_down,
		[PEER_ONE_WAY] = peer_one_way,
		[PEER_CLOCK] = peer_clock,
		[PEER_STATUS] = peer_told,
	};
	const struct peer_event *event = input->peer;
	struct peer_facts *peer = peers_find(agent, event->name);

	if (peer && event->kind == PEER_UP && peer->dead.wall)
		dead_is_back(agent, peer);
	if (event->kind == PEER_SELF)
		own_certificate(agent, event, now);
	else if (event->kind == PEER_STRANGER)
		log_text(LOG_LEVEL_WARNING, "refused a connection from %s", event->why);
	else if (peer && event->kind == PEER_HANDOVER)
		input_handover(agent, event, now);
	else if (peer)
		folds[event->kind](peer, event, now);
	/* Who waits for its word says whether it can be reached. */
	agent->freed |= agent->contested.n && (event->kind == PEER_UP || event->kind == PEER_DOWN);
}

/* ---- shown ----------------------------------------------------------------------------------- */

static void add_time(cJSON *json, const char *key, msec wall)
{
	char text[TIME_SIZE];

	if (!wall)
		return;
	format_time(wall, text);
	cJSON_AddStringToObject(json, key, text);
}

static void add_mib(cJSON *json, const char *key, int64_t bytes)
{
	char text[32];

	snprintf(text, sizeof(text), "%lldMi", (long long)(bytes / MIB));
	cJSON_AddStringToObject(json, key, text);
}

static void add_status(cJSON *json, const struct peer_status *status)
{
	cJSON *capacity = cJSON_AddObjectToObject(json, "capacity");

	cJSON_AddNumberToObject(capacity, "cpus", status->cpus);
	add_mib(capacity, "memory", status->memory);
	cJSON_AddNumberToObject(json, "guests", status->guests);
	add_mib(json, "guestMemory", status->guest_memory);
}

static cJSON *begin_peer(const char *name, const char *address, cJSON **ret_status)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "apiVersion", "vmagent.io/v1");
	cJSON_AddStringToObject(json, "kind", "Peer");
	cJSON_AddStringToObject(cJSON_AddObjectToObject(json, "metadata"), "name", name);
	cJSON_AddStringToObject(cJSON_AddObjectToObject(json, "spec"), "address", address);
	*ret_status = cJSON_AddObjectToObject(json, "status");
	return json;
}

static void add_hello(cJSON *status, const struct peer_facts *peer)
{
	cJSON *list;

	cJSON_AddStringToObject(status, "version", peer->hello.agent);
	cJSON_AddNumberToObject(status, "protocol", peer->hello.version);
	cJSON_AddStringToObject(status, "bootID", peer->hello.boot_id);
	list = cJSON_AddArrayToObject(status, "capabilities");
	for (unsigned i = 0; i < PEER_CAPABILITY_MAX; i++)
		if (peer->hello.capabilities & 1U << i)
			cJSON_AddItemToArray(list, cJSON_CreateString(peer_capability_name(i)));
	add_status(status, &peer->hello.status);
	add_time(status, "certificateExpires", peer->expires);
}

static const char *state_of(const struct peer_facts *peer)
{
	if (peer->up)
		return "Reachable";
	return peer->dead.wall ? "DeclaredDead" : "Unreachable";
}

static void add_death(cJSON *status, const struct peer_facts *peer)
{
	cJSON *death;

	if (!peer->dead.wall)
		return;
	death = cJSON_AddObjectToObject(status, "declaredDead");
	add_time(death, "time", peer->dead.wall);
	cJSON_AddNumberToObject(death, "user", (double)peer->dead.uid);
}

static void add_one_way(cJSON *status, const struct peer_facts *peer)
{
	autofree char *words = NULL;

	if (!peer->one_way[0])
		return;
	words = xasprintf("no guest can be moved there, for this host does not reach it: %s",
		peer->one_way);
	cJSON_AddStringToObject(status, "message", words);
}

static cJSON *peer_json(const struct peer_facts *peer)
{
	cJSON *status, *json = begin_peer(peer->config->name, peer->config->address, &status);

	cJSON_AddStringToObject(status, "state", state_of(peer));
	if (!peer->up)
		cJSON_AddStringToObject(status, "message", peer->why);
	else
		add_one_way(status, peer);
	add_time(status, "since", peer->since);
	add_death(status, peer);
	if (peer->known)
		add_hello(status, peer);
	if (peer->has_clock) {
		cJSON_AddNumberToObject(status, "clockDifferenceMilliseconds", (double)peer->ahead);
		cJSON_AddNumberToObject(status, "roundTripMilliseconds", (double)peer->round_trip);
	}
	return json;
}

/* This node itself, as its peers see it. */
static cJSON *self_json(const struct agent *agent)
{
	const struct peers *peers = &agent->peers;
	cJSON *status, *json;

	json = begin_peer(agent->options->node_name, agent->options->peer_listen, &status);
	cJSON_AddStringToObject(status, "state", "Self");
	if (peers->self_why[0])
		cJSON_AddStringToObject(status, "message", peers->self_why);
	cJSON_AddStringToObject(status, "version", VMAGENT_VERSION);
	cJSON_AddStringToObject(status, "bootID", agent->options->boot_id);
	add_status(status, &peers->status);
	add_time(status, "certificateExpires", peers->self_expires);
	return json;
}

char *agent_peers(struct agent *agent, const char *name)
{
	size_t n = agent->options->n_peers;
	struct peer_facts *peer = peers_find(agent, name);
	cJSON *list, *items;

	if (name && n && streq(name, agent->options->node_name))
		return json_take_text(self_json(agent));
	if (name)
		return peer ? json_take_text(peer_json(peer)) : NULL;
	list = cJSON_CreateObject();
	cJSON_AddStringToObject(list, "apiVersion", "vmagent.io/v1");
	cJSON_AddStringToObject(list, "kind", "PeerList");
	cJSON_AddObjectToObject(list, "metadata");
	items = cJSON_AddArrayToObject(list, "items");
	if (n)
		cJSON_AddItemToArray(items, self_json(agent));
	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(items, peer_json(&agent->peers.list[i]));
	return json_take_text(list);
}
