/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent's own files do for each other; agent_state.h is what they share. agent.c lets
 * inputs in; requests.c, folder.c and observe.c fold them; turn.c decides, commits and acts; ops.c
 * and notes.c keep what leaves with the commit.
 */
#ifndef VMAGENT_DAEMON_AGENT_PRIVATE_H
#define VMAGENT_DAEMON_AGENT_PRIVATE_H

#include "daemon/agent_state.h"

/* Lists after a connect, then until every run's domain is agreed upon, then slowly (design §4). */
#define LIST_SECOND_S        1
#define LIST_THIRD_S         4
#define LIST_AGAIN_S         5
#define LIST_SLOW_S          300
#define COMMIT_RETRY_FIRST_S 1
#define COMMIT_RETRY_MAX_S   30
#define PASSES_MAX           32 /* turns in a row that one machine may change without news: more is a bug */

/* Grows a list of structs by one zeroed element and returns it. */
void *list_grow(void *list, size_t *n, size_t *cap, size_t size);
#define LIST_ADD(list, n, cap) \
	((list) = list_grow((list), &(n), &(cap), sizeof(*(list))), &(list)[(n)-1])

void agent_uuid(struct agent *agent, char ret[UID_SIZE]);
uint32_t agent_random(struct agent *agent);

/* requests.c, folder.c, observe.c: one handler per kind of input. */
typedef void input_fn(struct agent *agent, const struct input *input, struct now now);
void input_create(struct agent *agent, const struct input *input, struct now now);
void input_replace(struct agent *agent, const struct input *input, struct now now);
void input_patch(struct agent *agent, const struct input *input, struct now now);
void input_delete(struct agent *agent, const struct input *input, struct now now);
void input_verb(struct agent *agent, const struct input *input, struct now now);
void input_vmi_verb(struct agent *agent, const struct input *input, struct now now);
void input_adopt(struct agent *agent, const struct input *input, struct now now);
void input_host_shutdown(struct agent *agent, const struct input *input, struct now now);
void input_errand(struct agent *agent, const struct input *input, struct now now);
void input_folder(struct agent *agent, const struct input *input, struct now now);
void input_connection(struct agent *agent, const struct input *input, struct now now);
void input_event(struct agent *agent, const struct input *input, struct now now);
void input_result(struct agent *agent, const struct input *input, struct now now);
void input_migrate(struct agent *agent, const struct input *input, struct now now);
void input_declare_dead(struct agent *agent, const struct input *input, struct now now);
void input_accept(struct agent *agent, const struct input *input, struct now now);
void input_peer(struct agent *agent, const struct input *input, struct now now);

/* notes.c: says what happened to an object; copies everything. */
void agent_note(struct agent *agent, const struct object_meta *object,
	const struct happening *what);
int notes_save(struct agent *agent, struct now now, struct err *err);
int notes_save_seq(struct agent *agent, struct err *err); /* the last number given */
void notes_publish(struct agent *agent); /* log lines, after the commit; empties the list */
void notes_done(struct agent *agent);

/* requests.c: what all requests share. */
/* While nothing can be saved a request is refused: true, and it is answered. */
bool request_is_unsaved(struct agent *agent, const struct request *request);
int request_find(struct agent *agent, const struct request *request, struct target *ret,
	struct err *err);
/* The preconditions: the object is still the one, and still as, the caller means. ERR_CONFLICT. */
int request_check(const struct request *request, const struct target *t, struct err *err);
/* Says what a request did, or why it was refused, on the object that it named; a dry
 * run leaves no trace. */
void request_note(struct agent *agent, const struct request *request, const char *reason,
	const char *done, const struct err *err);

/* ops.c: puts the op of a step in the outbox and books its lane. */
void ops_plan(struct agent *agent, struct machine *m, enum op_kind kind, struct now now);
/* Of a VM, for what outlives its runs; owned by the caller, NULL for none. */
char *agent_kept_directory(const struct agent *agent, const char *vm_uid);
/* Owned by the caller. */
char *agent_run_directory(const struct agent *agent, const struct vmi *vmi);
/* Under which name that, or the VM's own, is kept when it is another host's by right;
 * owned by the caller. */
char *agent_aside_directory(const struct agent *agent, const struct object_meta *meta);
/* It is: there are disks in it of which each host has its own. */
bool agent_keeps_disks(const struct vmi *vmi);
void ops_plan_list(struct agent *agent, struct now now);
/* The op of an errand for m's run; returns its id. */
uint64_t ops_plan_errand(struct agent *agent, struct machine *m, const struct errand *errand);
uint64_t ops_plan_describe(struct agent *agent, const char *domain); /* returns its id */
/* What libvirt says of this host, and whether it can have that CPU (NULL: none); takes
 * cpu; returns its id. */
uint64_t ops_plan_compare(struct agent *agent, char *cpu);
/* Whether that is here which a run of that name would need: takes its work, all that PREPARE would
 * have to do; returns its id. */
uint64_t ops_plan_look(struct agent *agent, struct op *needs);
/* … of which what both hosts of a migration reach is not made. */
void ops_expect_shared(const struct vmi_spec *spec, struct op *op);
uint64_t ops_plan_drop(struct agent *agent, char *folder); /* takes folder; returns its id */
/* What fills a claim; takes work; returns its id. */
uint64_t ops_plan_fill(struct agent *agent, const struct record *claim, struct volume_work *work);
void ops_send(struct agent *agent, struct now now);
/* Whether op id still waits for the commit. */
bool ops_is_unsent(const struct agent *agent, uint64_t id);
/* Takes op id off the books; false if it is not there. The caller frees ns and name. */
bool ops_take(struct agent *agent, uint64_t id, struct inflight *ret);
void ops_done(struct agent *agent);

/* objects.c: from checked manifests to objects of the model, and back. */
/* Its object is NULL when there is none. */
struct target target_find(const struct agent *agent, enum object_kind kind, const char *ns,
	const char *name);
bool target_is_changed(const struct target *t); /* not committed yet */
struct object_meta *machine_meta(const struct machine *m, enum object_kind kind); /* or NULL */
/* A UUID is one domain's: two that claim it could never both run. but: whose it may be; or NULL. */
int agent_check_uuid(const struct agent *agent, const char *uuid, const struct machine *but,
	struct err *err);
/* Whether nothing of that name or of its UUID is in the way. ERR_EXISTS, ERR_CONFLICT, ERR_INVALID,
 * ERR_FORBIDDEN. */
int agent_check_create(const struct agent *agent, const struct manifest *manifest, struct err *err);
/* actor is named with it; NULL when the caller says who it was. */
int agent_create_object(struct agent *agent, const struct manifest *manifest,
	const struct actor *actor, struct now now, struct err *err);
/* Replaces content, labels and annotations by those of root; generation rises if the spec
 * changed. */
int agent_replace_object(struct agent *agent, const struct target *t, const struct node *root,
	struct err *err);
/* The document that the object would have, owned by the caller; NULL with words. Changes
 * nothing. */
char *agent_preview_object(struct agent *agent, const struct target *t, const struct node *root,
	struct err *err);
/* The object as it is served; owned by the caller. */
char *agent_object_document(const struct agent *agent, const struct target *t);
/* The same without what the server sets, or NULL; owned by the caller. */
struct node *agent_object_tree(const struct target *t);
/* Whether it may be deleted at all: ERR_FORBIDDEN. */
int agent_check_delete(const struct agent *agent, const struct target *t, struct err *err);
/* Deletes it gracefully, a record at once. */
void agent_delete_object(struct agent *agent, const struct target *t, const struct actor *actor,
	struct now now);

/* records.c */
/* Also among what comes with the guest that is looked at. */
struct record *records_look(const struct agent *agent, enum object_kind kind, const char *ns,
	const char *name);
int records_load(struct agent *agent, struct err *err);
int records_save(struct agent *agent, struct err *err);
void records_committed(struct agent *agent);

/* namespaces.c */
void namespaces_load(struct agent *agent, struct now now); /* after machines and records */
/* Makes it, if need be. */
void namespace_use(struct agent *agent, const char *name, struct now now);
/* Whether something new may begin in it: ERR_FORBIDDEN. */
int namespace_check(const struct agent *agent, const char *name, struct err *err);
int namespace_check_delete(const struct agent *agent, const struct record *r, struct err *err);
void namespace_delete(struct agent *agent, struct record *r, const struct actor *actor,
	struct now now);
void namespaces_turn(struct agent *agent);          /* forgets those that are empty */
bool namespaces_are_due(const struct agent *agent); /* … of which there are some */
int namespace_drop_events(struct agent *agent, const char *ns, struct err *err);

/* origins.c: the provenance of objects that manifest files declare. */
struct origin *origins_find(const struct agent *agent, enum object_kind kind, const char *ns,
	const char *name);
struct origin *origins_get(struct agent *agent, const char *file, const struct manifest *manifest);
void origin_set(struct agent *agent, struct origin *origin, const char *base, const char *uid);
void origin_remove(struct agent *agent, struct origin *origin);
/* Marks ns/name as deleted by command; the file that still declares it, or NULL. */
const char *origins_deleted(struct agent *agent, enum object_kind kind, const char *ns,
	const char *name);
int origins_load(struct agent *agent, struct err *err);
int origins_save(struct agent *agent, struct err *err);
void origins_committed(struct agent *agent);
void origins_done(struct agent *agent);

/* folder.c: an object is forgotten; what its file declares meanwhile is created. */
void folder_forgotten(struct agent *agent, enum object_kind kind, const struct object_meta *meta,
	struct now now);

/* adopt.c: the domain of an adoption request was looked at. */
void adopt_result(struct agent *agent, const struct op_result *result, struct now now);
void adoptions_done(struct agent *agent); /* whoever still waits is told */

/* reach.c: whether a port of the running m can be reached, as §5.4 "portforward" has it. */
int reach_network(const struct machine *m, unsigned port, struct err *err);

/* errands.c */
void errands_result(struct agent *agent, const struct op_result *result);
void errands_turn(struct agent *agent, struct now now); /* those that took too long */
msec errands_wake_at(const struct agent *agent);

/* domains.c: the domains that are not ours. */
void domains_take_list(struct agent *agent, const struct op_result *list, struct now now);
void domains_look_soon(struct agent *agent); /* lists again, at most every LIST_AGAIN_S */
void domains_done(struct agent *agent);

/* peers.c: other agents. */
void peers_init(struct agent *agent);
void peers_done(struct agent *agent);
void peers_count(struct agent *agent, struct machine *m); /* asked whenever m has changed */
void peers_tell(struct agent *agent);                     /* after the commit: what has changed */
bool peers_is_up(const struct agent *agent, const char *name);
/* Whether it can be asked about guests; false with a finding. */
bool peers_can_check(const struct agent *agent, const char *name, struct findings *why);
/* What soon keeps guests from moving between this node and that one, in words; owned by
 * the caller, or NULL. */
char *peers_expiry_words(struct agent *agent, const char *name, struct now now);
/* What of this node keeps every guest from moving. */
void peers_check_self(const struct agent *agent, struct findings *ret);
/* As configured: it lasts; or NULL. */
const char *peers_name(const struct agent *agent, const char *name);
bool peers_have_answered(const struct agent *agent); /* all of them, what they have */
void peers_ask(struct agent *agent);                 /* those that have not */
void peers_answered(struct agent *agent, const char *name);
struct peer_facts *peers_find(struct agent *agent, const char *name); /* or NULL */

/* declare_dead.c: those that will not come back. */
void dead_load(struct agent *agent);
int dead_save(struct agent *agent, struct err *err);
void dead_is_back(struct agent *agent, struct peer_facts *peer); /* one of them can be reached */

/* rebuild.c: a lost database is filled again from manifests and domains. */
void rebuild_list(struct agent *agent, const struct op_result *list, struct now now);
void rebuild_turn(struct agent *agent, struct now now); /* asks the peers what they have */
void rebuild_heard(struct agent *agent, const char *peer, const char *document, struct now now);
void rebuild_answered(struct agent *agent, const char *peer); /* … or never will */
void rebuild_load(struct agent *agent);
int rebuild_save(struct agent *agent, struct err *err);

struct turn {                     /* the machines that this turn looked at */
	struct machine **touched; /* owned list of borrowed machines */
	size_t n;
	bool changed;
};

/* starts.c: the slots of the turn, and the round of starts after a boot. */
void starts_load(struct agent *agent, const char *stored_boot_id);
int starts_save(struct agent *agent, struct err *err);
void starts_grant(struct agent *agent, const struct turn *turn, struct now now);

/* hostdown.c: guests are stopped because the host goes down. */
void hostdown_load(struct agent *agent);
int hostdown_save(struct agent *agent, struct err *err);
void hostdown_committed(struct agent *agent);
/* What was decided about m: whether it runs, or may. */
void hostdown_follow(struct agent *agent, struct machine *m, bool may_live);
void hostdown_forget(struct agent *agent, struct machine *m);
/* At the turn's end: tells those whose turn it is. */
void hostdown_turn(struct agent *agent, struct now now);
void hostdown_done(struct agent *agent);
/* Whether the verb may be, while the host goes down: ERR_CONFLICT. */
int hostdown_check(const struct agent *agent, enum verb verb, struct err *err);

/* commit.c: saves what the turn changed; on failure nothing may leave, and it is tried again
 * later. */
int turn_commit(struct agent *agent, struct turn *turn, struct now now);

/* namesakes.c: takes what m's VM names into the index, if that has changed. */
void namesakes_update(struct agent *agent, struct machine *m);
/* What is to be said of a manifest that is accepted: what has no effect, and with whom it shares
 * what only one may have. Owned by the caller; NULL: nothing. */
char *agent_warnings(const struct agent *agent, const struct manifest *manifest);
void namesakes_done(struct namesakes *names);

/* turn.c */
void agent_mark(struct agent *agent, struct machine *m); /* news: dirty, passes from 0 */
/* Long enough after the connect that one read of a domain is enough. */
bool agent_is_settled(const struct agent *agent);
void agent_answer(struct agent *agent, const struct request *request, const struct err *err,
	const char *note);
void replies_send(struct agent *agent);
void replies_refuse(struct agent *agent);
void replies_done(struct agent *agent);

#endif
