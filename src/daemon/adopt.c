/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adoption requests: the domain is looked at (one op), then the answer is either what an adoption
 * would come to, or the VM, which with its run is created in one commit. The run carries a claim:
 * its domain is given our metadata by an op of its own, and only then is it ours (decide_run.c).
 */
#include <stdio.h>
#include <string.h>

#include "core/adopt.h"
#include "daemon/obstacles.h"

#define ADOPTIONS_MAX       8  /* at a time */
#define ADOPTION_PATIENCE_S 30 /* who asked has gone away by then: nothing is done any more */
#define ANNOTATION          "vmagent.io/adopted-domain"
#define DEFINITION_MAX      (128 * 1024) /* bytes of XML that are kept in it */

static void refuse(struct agent *agent, const struct request *request, enum err_code code,
	const char *words)
{
	struct err err;

	err_set(&err, code, "%s", words);
	agent_answer(agent, request, &err, NULL);
}

void input_adopt(struct agent *agent, const struct input *input, struct now now)
{
	const struct request *request = &input->request;
	struct asked_adoption *asked;

	if (request_is_unsaved(agent, request))
		return;
	if (!agent->connected) {
		refuse(agent, request, ERR_UNAVAILABLE, "libvirt is not connected");
		return;
	}
	if (agent->n_adoptions == ADOPTIONS_MAX) {
		refuse(agent, request, ERR_TOO_MANY, "too many adoptions at a time; try again");
		return;
	}
	asked = LIST_ADD(agent->adoptions, agent->n_adoptions, agent->cap_adoptions);
	asked->op = ops_plan_describe(agent, request->domain);
	asked->until = now.boot + SECONDS(ADOPTION_PATIENCE_S);
	asked->reply = request->reply;
	asked->actor = request->actor;
	asked->dry_run = request->dry_run;
	asked->ns = xstrdup(request->ns);
	asked->name = xstrdup(request->name);
	asked->digest = xstrdup(request->digest);
}

static void asked_done(struct asked_adoption *asked)
{
	free(asked->ns);
	free(asked->name);
	free(asked->digest);
}

/* ---- what it would come to ------------------------------------------------------------------- */

static struct node *list_node(const struct texts *texts)
{
	struct node *list = node_new(NODE_LIST, NULL);

	for (size_t i = 0; i < texts->n; i++)
		node_append(list, node_new(NODE_STRING, texts->list[i]));
	return list;
}

static char *review_json(const struct adoption *adoption, const struct domain_info *info)
{
	struct node *root = node_new(NODE_MAP, NULL);
	autofree char *digest = adoption_digest(adoption);
	char *json;

	node_set(root, "apiVersion", node_new(NODE_STRING, "vmagent.io/v1"));
	node_set(root, "kind", node_new(NODE_STRING, "DomainAdoption"));
	node_set_path(root, "metadata.name", node_new(NODE_STRING, info->name));
	node_set_path(root, "metadata.uid", node_new(NODE_STRING, info->uuid));
	node_set(root, "active", node_new(NODE_BOOL, info->active ? "true" : "false"));
	if (adoption->manifest)
		node_set(root, "manifest", node_copy(adoption->manifest));
	node_set(root, "losses", list_node(&adoption->losses));
	node_set(root, "reasons", list_node(&adoption->reasons));
	node_set(root, "digest", node_new(NODE_STRING, digest));
	json = node_json(root);
	node_free(root);
	return json;
}

static int check(const struct agent *agent, const struct node *root, struct manifest *ret,
	struct err *err)
{
	struct findings findings = { 0 };
	int rc = manifest_check(root, &agent->options->policy, ret, &findings);

	if (rc < 0)
		err_set(err, ERR_INVALID, "%s: %s", findings.list[0].field,
			findings.list[0].message);
	findings_done(&findings);
	return rc;
}

/* Names and UUIDs that are in use are only known here. */
static void check_in_use(const struct agent *agent, struct adoption *adoption)
{
	const struct machine *m;
	struct manifest manifest;
	struct err err;

	if (adoption->reasons.n || check(agent, adoption->manifest, &manifest, &err) < 0)
		return;
	m = machines_find(&agent->machines, manifest.ns, manifest.name);
	if (agent_check_create(agent, &manifest, &err) < 0)
		texts_add(&adoption->reasons, "%s", err.msg);
	else if (m && m->vmi) /* a VM would adopt that run: not this domain */
		texts_add(&adoption->reasons, "a VirtualMachineInstance named '%s' is in the way",
			manifest.name);
	manifest_done(&manifest);
}

/* ---- taking it over -------------------------------------------------------------------------- */

/* What the manifest cannot say is not lost for good: the definition is kept with the VM. */
static void keep_definition(struct node *root, const char *xml)
{
	struct node *annotations = node_new(NODE_MAP, NULL);

	if (strlen(xml) <= DEFINITION_MAX)
		node_set(annotations, ANNOTATION, node_new(NODE_STRING, xml));
	node_set(node_get(root, "metadata"), "annotations", annotations);
}

/* A run that began before it was ours. */
static int give_run(struct agent *agent, struct machine *m, const char *domain, struct now now,
	struct err *err)
{
	struct step_env env = { .now = now };
	struct vmi *vmi;

	agent_uuid(agent, env.uid);
	vmi = m->vmi = vmi_of_vm(m->vm, &env, err);
	if (!vmi)
		return -(int)err->code;
	vmi_set_phase(vmi, PHASE_SCHEDULING, now);
	vmi_set_phase(vmi, PHASE_SCHEDULED, now);
	vmi->prepared = vmi->claim = true;
	vmi->domain = xstrdup(domain);
	memset(&m->dom, 0, sizeof(m->dom));
	m->vmi_changed = true;
	disks_update(agent, m);
	return 0;
}

static int take_over(struct agent *agent, const struct manifest *manifest,
	const struct domain_info *info, struct now now, struct err *err)
{
	struct machine *m;
	int ret = agent_create_object(agent, manifest, NULL, now, err);

	if (ret < 0)
		return ret;
	m = machines_find(&agent->machines, manifest->ns, manifest->name);
	if (info->active)
		ret = give_run(agent, m, info->name, now, err);
	else
		m->vm->adopts = xstrdup(info->name);
	agent_mark(agent, m);
	return ret;
}

static void note_adopted(struct agent *agent, const struct asked_adoption *asked,
	const struct manifest *manifest, const struct domain_info *info)
{
	struct machine *m = machines_find(&agent->machines, manifest->ns, manifest->name);
	struct happening what = { .actor = asked->actor };

	happen(&what, KIND_VM, "Adopted", "domain '%s' adopted as it %s", info->name,
		info->active ? "runs" : "is, shut off: it becomes the VM's at its first start");
	agent_note(agent, &m->vm->meta, &what);
}

static int check_shown(const struct asked_adoption *asked, const struct adoption *adoption,
	const char *domain, struct now now, struct err *err)
{
	autofree char *digest = adoption_digest(adoption);

	if (adoption->reasons.n)
		return err_set(err, ERR_CONFLICT, "domain '%s' cannot be adopted: %.380s", domain,
			adoption->reasons.list[0]);
	if (asked->digest && *asked->digest && !streq(asked->digest, digest))
		return err_set(err, ERR_CONFLICT,
			"domain '%s' has changed since it was shown: look at it again", domain);
	if (now.boot >= asked->until)
		return err_set(err, ERR_TIMEOUT, "libvirt took too long to show domain '%s'",
			domain);
	return 0;
}

struct answering { /* one request, now that its domain was looked at */
	const struct asked_adoption *asked;
	const struct op_result *result;
	struct adoption adoption; /* owned */
	struct err err;
	char *object; /* owned or NULL: of the answer; else it is the VM */
};

static void adopt(struct agent *agent, struct answering *a, struct now now)
{
	const struct domain_info *info = a->result->domains;
	struct manifest manifest;

	if (check_shown(a->asked, &a->adoption, info->name, now, &a->err) < 0)
		return;
	keep_definition(a->adoption.manifest, a->result->detail->config_xml);
	if (check(agent, a->adoption.manifest, &manifest, &a->err) < 0)
		return;
	if (take_over(agent, &manifest, info, now, &a->err) == 0)
		note_adopted(agent, a->asked, &manifest, info);
	manifest_done(&manifest);
}

static void answer(struct agent *agent, struct answering *a, struct now now)
{
	const struct domain_info *info = a->result->domains;
	struct adopt_wish wish = { .ns = a->asked->ns,
		.name = a->asked->name,
		.policy = &agent->options->policy };

	adopt_review(info, a->result->detail, &wish, &a->adoption);
	check_in_use(agent, &a->adoption);
	if (a->asked->dry_run)
		a->object = review_json(&a->adoption, info);
	else
		adopt(agent, a, now);
}

/* ---- the op's result ------------------------------------------------------------------------- */

static bool asked_take(struct agent *agent, uint64_t op, struct asked_adoption *ret)
{
	for (size_t i = 0; i < agent->n_adoptions; i++) {
		if (agent->adoptions[i].op != op)
			continue;
		*ret = agent->adoptions[i];
		agent->adoptions[i] = agent->adoptions[--agent->n_adoptions];
		return true;
	}
	return false;
}

void adopt_result(struct agent *agent, const struct op_result *result, struct now now)
{
	struct asked_adoption asked;
	struct answering a = { .asked = &asked, .result = result, .err = result->err };
	struct request request = { .kind = KIND_VM };

	if (!asked_take(agent, result->id, &asked))
		return;
	request.reply = asked.reply;
	request.ns = asked.ns;
	request.name = asked.name;
	if (result->n_domains && !*asked.name)
		request.name = result->domains->name;
	if (!request_is_unsaved(agent, &request)) {
		if (!a.err.code)
			answer(agent, &a, now);
		agent_answer(agent, &request, &a.err, NULL);
		agent->replies[agent->n_replies - 1].object = a.object;
	}
	adoption_done(&a.adoption);
	asked_done(&asked);
}

void adoptions_done(struct agent *agent)
{
	for (size_t i = 0; i < agent->n_adoptions; i++) {
		struct request request = { .kind = KIND_VM,
			.reply = agent->adoptions[i].reply,
			.ns = agent->adoptions[i].ns,
			.name = agent->adoptions[i].name };

		refuse(agent, &request, ERR_UNAVAILABLE, "the agent is ending");
		asked_done(&agent->adoptions[i]);
	}
	free(agent->adoptions);
}
