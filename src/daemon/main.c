/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmagent: builds the parts, connects them, runs the loop. The order matters: the embedded driver
 * forks before there is a thread, the store is open before the agent, and libvirt is asked last.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/capacity.h"
#include "core/domxml.h"
#include "core/peer_frame.h"
#include "daemon/api/api.h"
#include "daemon/host.h"
#include "daemon/loop.h"
#include "daemon/travel.h"
#include "io/embed.h"
#include "io/host_cpus.h"
#include "io/journal.h"
#include "io/kvm.h"
#include "io/manifest_dir.h"
#include "io/notify.h"
#include "io/peer_relay.h"
#include "io/peer_relay_spawn.h"
#include "io/peer_tls.h"

#define BOOT_ID_FILE       "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_ENV        "VMAGENT_BOOT_ID"
#define EXIT_USAGE         2
#define DESCRIPTORS_WANTED 8192
#define RELAY_FOLDERS      "mig"
#define ARENAS_MAX         2 /* malloc's: workers only pass strings, and each arena costs memory */

struct program {
	struct config config;
	struct loop loop;
	struct host host;
	struct store *store;
	struct agent *agent;
	struct api *api;
	struct manifest_dir *folder;
	struct agent_options options;
	struct peer_config peers[PEERS_MAX]; /* borrowed from the configuration, without this node */
	size_t n_peers;
	struct peer_tls *peer_tls; /* owned or NULL: no peers are configured */
	struct utsname host_name;
	const char *node_name;
	char boot_id[UID_SIZE];
	char *migrations;         /* owned: the folder of their relays, beside the socket */
	char host_uuid[UID_SIZE]; /* libvirt's, as soon as it is known */
};

/* ---- inputs: one callback each --------------------------------------------------------------- */

static void identify(struct program *p)
{
	const char *uuid = virt_identity(p->host.virt)->host_uuid;

	copy_str(p->host_uuid, UID_SIZE, uuid);
	if (p->peer_tls)
		peer_tls_identify(p->peer_tls, uuid);
}

static void on_connection(void *ctx, bool up, const char *why)
{
	struct program *p = ctx;
	struct input input = { .kind = INPUT_CONNECTION, .connection = { up, why } };

	if (up)
		identify(p);
	agent_input(p->agent, &input, clock_now());
}

static void on_event(void *ctx, const struct domain_event *event)
{
	struct program *p = ctx;
	struct input input = { .kind = INPUT_EVENT, .event = event };

	agent_input(p->agent, &input, clock_now());
}

static void on_result(void *ctx, const struct op_result *result)
{
	struct program *p = ctx;
	struct input input = { .kind = INPUT_RESULT, .result = result };

	agent_input(p->agent, &input, clock_now());
}

static void on_peer(void *ctx, const struct peer_event *event)
{
	struct program *p = ctx;
	struct input input = { .kind = INPUT_PEER, .peer = event };

	agent_input(p->agent, &input, clock_now());
}

static void on_folder(void *ctx, const struct folder_input *folder)
{
	struct program *p = ctx;
	struct input input = { .kind = INPUT_FOLDER, .folder = *folder };

	agent_input(p->agent, &input, clock_now());
}

static void on_rescan(void *ctx)
{
	struct program *p = ctx;

	manifest_dir_rescan(p->folder);
}

static void entropy(void *ctx, void *bytes, size_t n)
{
	(void)ctx;
	if (getrandom(bytes, n, 0) != (ssize_t)n)
		abort();
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* QEMU's user must reach its disks, whatever the umask is. What is there already stays as it is. */
static int make_folder(const char *path, mode_t mode, struct err *err)
{
	if (mkdir(path, mode) == 0 ? chmod(path, mode) == 0 : errno == EEXIST)
		return 0;
	return err_set(err, ERR_IO, "cannot create the folder '%s': %s", path, strerror(errno));
}

static int open_store(struct program *p, struct err *err)
{
	autofree char *folder = xasprintf("%s/db", p->config.state);
	autofree char *runs = xasprintf("%s/vmi", p->config.state);
	autofree char *vms = xasprintf("%s/vm", p->config.state);
	autofree char *path = xasprintf("%s/vmagent.db", folder);
	struct err why = { 0 };

	if (strlen(runs) + UID_SIZE > DOMAIN_DIRECTORY_MAX)
		return err_set(err, ERR_INVALID,
			"the state folder '%s' has too long a name: sockets lie below it, so %zu characters "
			"are the most",
			p->config.state, DOMAIN_DIRECTORY_MAX - UID_SIZE - strlen("/vmi"));
	if (make_folder(p->config.state, 0711, err) < 0 || make_folder(folder, 0700, err) < 0 ||
		make_folder(runs, 0711, err) < 0 || make_folder(vms, 0711, err) < 0)
		return -(int)err->code;
	if (store_open_or_rebuild(path, clock_now(), &p->store, &why, err) < 0)
		return err_wrap(err, "database '%s'", path);
	p->options.rebuilt = why.code != ERR_OK;
	if (p->options.rebuilt)
		log_text(LOG_LEVEL_ERROR,
			"the database was not usable (%s): it is kept aside, and an empty one is "
			"filled from the manifests; running guests are not touched",
			why.msg);
	return 0;
}

/* systemd's form of it, without dashes, into the kernel's. */
static bool take_boot_id(struct program *p, const char *id)
{
	if (!id || strlen(id) != 32 || strspn(id, "0123456789abcdef") != 32)
		return false;
	snprintf(p->boot_id, UID_SIZE, "%.8s-%.4s-%.4s-%.4s-%.12s", id, id + 8, id + 12, id + 16,
		id + 20);
	return true;
}

/* In a container the unit's confinement shows the kernel's own, of the host;
 * systemd knows the container's. */
static void read_boot_id(struct program *p)
{
	FILE *file;

	if (take_boot_id(p, getenv(BOOT_ID_ENV)))
		return;
	file = fopen(BOOT_ID_FILE, "re");
	if (!file || fread(p->boot_id, 1, UID_SIZE - 1, file) != UID_SIZE - 1)
		copy_str(p->boot_id, UID_SIZE, "unknown");
	if (file)
		fclose(file);
}

/* What it says of itself comes after what the configuration says, and over it. */
static void fill_place(struct program *p)
{
	struct host_place *place = &p->config.place;
	const char *machine = p->host_name.machine;
	const struct {
		const char *key, *value;
	} labels[] = {
		{ "kubernetes.io/hostname", p->node_name },
		{ "kubernetes.io/arch", streq(machine, "x86_64") ? "amd64" : machine },
		{ "kubernetes.io/os", "linux" },
		{ "kubevirt.io/schedulable", "true" },
	};

	place->name = p->node_name;
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		if (!host_place_label(place, labels[i].key, labels[i].value))
			log_text(LOG_LEVEL_WARNING,
				"no room for the label %s: too many are configured", labels[i].key);
	p->options.place = *place; /* borrows its strings */
}

/* Nothing starts where KVM is asked for and does not work; test:///'s guests need none. */
static void fill_kvm(struct program *p)
{
	bool works = p->config.emulation != EMULATION_TCG && virt_kvm_works();

	p->options.kvm = p->config.emulation == EMULATION_KVM || works;
	p->options.kvm_is_missing = p->options.kvm && !works;
}

/* A CPU that is not there can be nobody's. */
static void fill_shares(struct program *p)
{
	struct host_shares *shares = &p->config.shares;
	struct cpu_set missing = shares->dedicated;
	autofree char *text = NULL;

	host_cpus_read("", shares);
	cpu_set_remove(&missing, &shares->online);
	if (!cpu_set_count(&shares->online) || !cpu_set_count(&missing))
		return;
	text = cpu_set_text(&missing);
	log_text(LOG_LEVEL_WARNING, "dedicatedCPUs: this host has no CPU %s: left out", text);
	cpu_set_remove(&shares->dedicated, &missing);
}

/* One configuration may serve all nodes: who is named like this one is no peer. */
static void read_names(struct program *p)
{
	uname(&p->host_name);
	p->node_name = p->config.node_name ? p->config.node_name : p->host_name.nodename;
	for (size_t i = 0; i < p->config.n_peers; i++)
		if (!streq(p->config.peers[i].name, p->node_name))
			p->peers[p->n_peers++] = p->config.peers[i];
}

static void fill_options(struct program *p)
{
	read_boot_id(p);
	read_names(p);
	p->options = (struct agent_options){
		.store = p->store,
		.hv = &p->host.port,
		.policy = { .host_disk_roots = (const char *const *)p->config.host_disk_roots,
			.image_roots = (const char *const *)p->config.image_roots,
			.default_namespace = "default" },
		.state_dir = p->config.state,
		.storage = &p->config.storage,
		.node_name = p->node_name,
		.boot_id = p->boot_id,
		.pvpanic = virt_has_pvpanic(),
		.networks = &p->config.networks,
		.shares = &p->config.shares,
		.tuning = p->config.tuning,
		.rebuilt = p->options.rebuilt,
		.peer_list = p->peers,
		.n_peers = p->n_peers,
		.peer_listen = p->config.peer_listen,
		.host_uuid = p->host_uuid,
		.capacity = { .cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
			.memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) },
		.entropy = entropy,
	};
	fill_kvm(p);
	fill_shares(p);
	fill_place(p);
	if (!starts_with(p->config.libvirt, "test:")) /* its guests are none of this host's */
		p->options.host = (struct resources){ .memory = p->options.capacity.memory,
			.cpu = INT64_C(1000) * p->options.capacity.cpus };
}

static int open_api(struct program *p, struct err *err)
{
	struct api_options options = {
		.loop = &p->loop.uv,
		.agent = p->agent,
		.store = p->store,
		.policy = &p->options.policy,
		.clock = clock_now,
		.socket_path = p->config.socket,
		.node_name = p->node_name,
		.place = &p->options.place,
		.shares = &p->config.shares,
		.allocatable = allocatable_of(&p->options.host, &p->config.tuning),
	};

	if (*p->config.ro_socket)
		options.read_only = (struct http_socket){ .path = p->config.ro_socket,
			.mode = p->config.ro_mode,
			.group = p->config.ro_group ? p->config.ro_group : CONFIG_RO_GROUP,
			.group_must_exist = p->config.ro_group != NULL,
			.read_only = true };
	return api_new(&options, &p->api, err);
}

static char *migrations_of(const char *socket)
{
	const char *slash = strrchr(socket, '/');

	return xasprintf("%.*s" RELAY_FOLDERS, slash ? (int)(slash - socket) + 1 : 0, socket);
}

static void end_relay(void *ctx, const char *migration)
{
	travel_end_relay(ctx, migration);
}

static bool is_relay_wanted(const void *ctx, const char *migration)
{
	return agent_needs_relay(ctx, migration);
}

/* Where relays have their folders, which QEMU must get to. */
static int enable_migrations(struct program *p, struct err *err)
{
	p->migrations = migrations_of(p->config.socket);
	if (!p->config.migrations)
		return 0;
	if (!p->host.libvirt_socket) {
		log_text(LOG_LEVEL_WARNING,
			"live migration is configured, but needs libvirt at qemu:///system: there is none");
		return 0;
	}
	if (make_folder(p->migrations, 0711, err) < 0)
		return -(int)err->code;
	p->host.migrations = p->migrations;
	p->options.migrations = true;
	p->options.disable_tls = p->config.disable_tls;
	if (p->config.disable_tls)
		log_text(LOG_LEVEL_WARNING,
			"migrations.disableTLS: guests on their way can be read by whoever can read the network");
	p->options.relay_end = end_relay;
	p->options.relay_ctx = &p->host;
	travel_sweep_relays(&p->host, is_relay_wanted, p->agent);
	return 0;
}

static int open_peers(struct program *p, struct err *err)
{
	struct peer_tls_options options = {
		.loop = &p->loop.uv,
		.listen = p->config.peer_listen,
		.peers = p->peers,
		.n_peers = p->n_peers,
		.ca = p->config.tls_ca,
		.cert = p->config.tls_cert,
		.key = p->config.tls_key,
		.hello = { .version_min = PEER_PROTOCOL_MIN,
			.version_max = PEER_PROTOCOL_MAX,
			.agent = VMAGENT_VERSION,
			.capabilities = (p->options.kvm ? 1U << PEER_CAN_KVM : 0) |
				1U << PEER_CAN_CHECK,
			.status = p->options.capacity },
		.clock = clock_now,
		.sink = { p, on_peer },
	};

	if (!p->n_peers)
		return 0;
	if (enable_migrations(p, err) < 0)
		return -(int)err->code;
	options.migrations = p->migrations;
	copy_str(options.hello.node, sizeof(options.hello.node), p->node_name);
	copy_str(options.hello.boot_id, sizeof(options.hello.boot_id), p->boot_id);
	copy_str(options.hello.database, UID_SIZE, agent_database_id(p->agent));
	if (peer_tls_new(&options, &p->peer_tls, err) < 0)
		return -(int)err->code;
	p->options.peers = peer_tls_port(p->peer_tls);
	return 0;
}

static int build(struct program *p, struct err *err)
{
	struct hv_sink sink = { p, on_connection, on_event, on_result };
	struct folder_sink folder = { p, on_folder };

	if (open_store(p, err) < 0 || loop_init(&p->loop, err) < 0)
		return -(int)err->code;
	host_init(&p->host, &p->loop.uv, &p->config, sink);
	fill_options(p);
	if (agent_new(&p->options, clock_now(), &p->agent, err) < 0 || open_api(p, err) < 0 ||
		open_peers(p, err) < 0)
		return -(int)err->code;
	p->folder = manifest_dir_new(&p->loop.uv, p->config.manifests, &folder);
	p->loop.on_rescan = on_rescan;
	p->loop.rescan_ctx = p;
	hv_start(&p->host.port);
	return 0;
}

/* ---- end ------------------------------------------------------------------------------------- */

/* Guests stay. A call that hangs in libvirt cannot be waited for: everything is committed
 * anyway. */
static void end(struct program *p)
{
	notify_send("STOPPING=1");
	log_text(LOG_LEVEL_NOTICE, "ending; guests go on");
	peer_tls_free(p->peer_tls);
	free(p->migrations);
	api_free(p->api);
	manifest_dir_close(p->folder);
	if (host_is_busy(&p->host))
		_exit(EXIT_SUCCESS);
	host_close(&p->host);
	loop_close(&p->loop);
	agent_free(p->agent);
	store_close(p->store);
	config_done(&p->config);
}

static int run(struct program *p, struct err *err)
{
	if (embed_enter(p->config.libvirt, err) < 0 || build(p, err) < 0)
		return -(int)err->code;
	log_text(LOG_LEVEL_NOTICE, "vmagent %s: manifests %s, state %s, socket %s, libvirt %s, %s",
		VMAGENT_VERSION, p->config.manifests, p->config.state, p->config.socket,
		p->config.libvirt, p->options.kvm ? "KVM" : "software emulation");
	notify_send("READY=1");
	loop_run(&p->loop, p->agent);
	end(p);
	return 0;
}

/* A thousand clients need more than a shell usually allows; the unit says the same. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= DESCRIPTORS_WANTED)
		return;
	limit.rlim_cur = MIN(limit.rlim_max, DESCRIPTORS_WANTED);
	setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
	struct program p = { 0 };
	enum config_action action;
	struct err err;

	mallopt(M_ARENA_MAX, ARENAS_MAX);
	if (argc > 1 && streq(argv[1], RELAY_COMMAND)) {
		journal_open();
		return relay_main(argc - 1, argv + 1);
	}
	if (config_load(argc, argv, &p.config, &action, &err) < 0) {
		fprintf(stderr, "vmagent: %s\n", err.msg);
		return err.code == ERR_BAD_REQUEST ? EXIT_USAGE : EXIT_FAILURE;
	}
	if (action != CONFIG_RUN) {
		puts(action == CONFIG_HELP ? config_usage() : "vmagent " VMAGENT_VERSION);
		return EXIT_SUCCESS;
	}
	umask(0027);
	raise_descriptors();
	journal_open();
	if (run(&p, &err) < 0) {
		log_text(LOG_LEVEL_ERROR, "vmagent cannot start: %s", err.msg);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
