/* SPDX-License-Identifier: Apache-2.0 */
/* What the API says that it serves: to clients that ask version by version, and to
 * those that ask once. */
#include <check.h>
#include <string.h>

#include "core/edit.h"
#include "daemon/api/accept.h"
#include "daemon/api/resources.h"
#include "test/lib/api_fixture.h"

Suite *test_api_discovery_suite(void);

#define AGGREGATED(version) \
	"application/json;g=apidiscovery.k8s.io;v=" version ";as=APIGroupDiscoveryList"
#define KUBECTL AGGREGATED("v2") "," AGGREGATED("v2beta1") ",application/json"

static struct api_fixture f;

static void set_up(void)
{
	api_fixture_start(&f);
}

static void tear_down(void)
{
	api_fixture_stop(&f);
}

/* The answer to a GET, as a tree; owned by the caller. */
static struct node *get(const char *path, const char *accept)
{
	autofree char *line = xasprintf("GET %s", path), *body = NULL;
	autofree char *headers = accept ? xasprintf("Accept: %s\r\n", accept) : NULL;
	struct client_request request = { .line = line, .headers = headers };
	struct node *tree;

	ck_assert_int_eq(client_request(&f.loop, f.path, &request, NULL, &body), 200);
	tree = text_tree(body);
	ck_assert_msg(tree != NULL, "no JSON: %s", body);
	return tree;
}

static const struct node *item_of(const struct node *list, const char *field, const char *value)
{
	for (size_t i = 0; list && i < list->n_children; i++)
		if (streq(node_text(list->children[i], field), value))
			return list->children[i];
	return NULL;
}

/* Every row of the tables is found where a client looks for it. */
START_TEST(test_each_resource_has_its_document)
{
	for (const struct resource *r = api_resources; r->plural; r++) {
		const struct api_group *group = api_group_find(r->group, strlen(r->group));
		autofree char *path = *r->group
			? xasprintf("/apis/%s/%s", r->group, group->versions[0])
			: xstrdup("/api/v1");
		struct node *tree = get(path, NULL);
		const struct node *found = item_of(node_get(tree, "resources"), "name", r->plural);

		ck_assert_msg(found != NULL, "%s has no %s", path, r->plural);
		ck_assert_str_eq(node_text(found, "kind"), r->kind);
		node_free(tree);
	}
}
END_TEST

START_TEST(test_all_in_one)
{
	struct node *tree = get("/apis", KUBECTL), *core = get("/api", KUBECTL);
	const struct node *group = item_of(node_get(tree, "items"), "metadata.name", "kubevirt.io");
	const struct node *version = item_of(node_get(group, "versions"), "version", "v1");
	const struct node *vms =
		item_of(node_get(version, "resources"), "resource", "virtualmachines");

	ck_assert_str_eq(node_text(tree, "kind"), "APIGroupDiscoveryList");
	ck_assert_str_eq(node_text(tree, "apiVersion"), "apidiscovery.k8s.io/v2");
	ck_assert_ptr_eq(item_of(node_get(tree, "items"), "metadata.name", ""), NULL);
	ck_assert_str_eq(node_text(vms, "responseKind.kind"), "VirtualMachine");
	ck_assert_str_eq(node_text(vms, "scope"), "Namespaced");
	ck_assert_uint_eq(node_get(vms, "shortNames")->n_children, 2);
	ck_assert_uint_eq(node_get(core, "items")->n_children, 1);
	ck_assert_str_eq(node_text(node_get(core, "items")->children[0], "metadata.name"), "");
	node_free(tree);
	node_free(core);
}
END_TEST

static void add_alls(struct buf *out, const struct node *resources)
{
	for (size_t i = 0; resources && i < resources->n_children; i++) {
		const struct node *categories = node_get(resources->children[i], "categories");

		if (categories && streq(categories->children[0]->text, "all"))
			buf_printf(out, "%s ", node_text(resources->children[i], "resource"));
	}
}

/* What 'kubectl get all' gets, in its order: upstream's category of each kind, so no kind
 * of the whole cluster. */
START_TEST(test_what_all_is)
{
	struct node *trees[] = { get("/api", KUBECTL), get("/apis", KUBECTL) };
	struct buf names = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		const struct node *groups = node_get(trees[i], "items");

		for (size_t g = 0; g < groups->n_children; g++)
			add_alls(&names,
				node_get(node_get(groups->children[g], "versions")->children[0],
					"resources"));
		node_free(trees[i]);
	}
	ck_assert_str_eq(names.data,
		"pods datavolumes virtualmachineinstancetypes virtualmachinepreferences kubevirts "
		"virtualmachineinstancemigrations virtualmachineinstances virtualmachines ");
	buf_done(&names);
}
END_TEST

static const struct {
	const char *accept, *kind, *version;
} forms[] = {
	{ KUBECTL, "APIGroupDiscoveryList", "apidiscovery.k8s.io/v2" },
	{ AGGREGATED("v2beta1") ",application/json", "APIGroupDiscoveryList",
		"apidiscovery.k8s.io/v2beta1" },
	{ AGGREGATED("v3") ",application/json", "APIGroupList", "v1" },
	{ "application/json," AGGREGATED("v2"), "APIGroupList", "v1" },
	{ "*/*", "APIGroupList", "v1" },
	{ NULL, "APIGroupList", "v1" },
};

START_TEST(test_the_form_is_the_clients_choice)
{
	struct node *tree = get("/apis", forms[_i].accept);

	ck_assert_str_eq(node_text(tree, "kind"), forms[_i].kind);
	ck_assert_str_eq(node_text(tree, "apiVersion"), forms[_i].version);
	node_free(tree);
}
END_TEST

START_TEST(test_subresources_are_found_in_both)
{
	struct node *all = get("/apis", KUBECTL),
		    *one = get("/apis/subresources.kubevirt.io/v1", NULL);
	const struct node *list = node_get(one, "resources");

	for (const struct subresource *s = api_subresources; s->name; s++) {
		autofree char *name = xasprintf("%s/%s", s->parent, s->name);

		if (streq(s->group, SUBRESOURCES_GROUP))
			ck_assert_msg(item_of(list, "name", name) != NULL, "no %s", name);
	}
	ck_assert(item_of(node_get(all, "items"), "metadata.name", SUBRESOURCES_GROUP) != NULL);
	node_free(all);
	node_free(one);
}
END_TEST

START_TEST(test_what_is_read_only)
{
	api_expect(&f, "POST /api/v1/nodes", "{}", 405, "MethodNotAllowed");
	api_expect(&f, "DELETE /api/v1/namespaces/default/pods/x", NULL, 405, "the VM or VMI");
	api_expect(&f, "DELETE /api/v1/namespaces/default/events", NULL, 405, "go by themselves");
	api_expect(&f, "DELETE /apis/events.k8s.io/v1/namespaces/default/events/x", NULL, 405,
		"go by themselves");
	api_expect(&f, "PATCH /api/v1/nodes/node", "{}", 405, "this host as it is");
	api_expect(&f, "PATCH /apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts/kubevirt", "{}",
		405, "change its configuration file");
	api_expect(&f, "PATCH /apis/kubevirt.io/v1/namespaces/default/virtualmachines", "{}", 405,
		"does not allow method PATCH on the requested resource\"");
	api_expect(&f, "GET /api/v1/namespaces/default/nodes/x", NULL, 404, "could not find");
	api_expect(&f, "GET /apis/vmagent.io/v1/manifestfiles", NULL, 404, "could not find");
}
END_TEST

START_TEST(test_parameters_of_media)
{
	struct media m = { "application/json; as=Table ;v=v1;g=meta.k8s.io", 0 };

	m.len = strlen(m.at);
	ck_assert(media_is_as(m, "Table", "meta.k8s.io", "v1"));
	ck_assert(!media_is_as(m, "Tabl", "meta.k8s.io", "v1"));
	ck_assert(!media_is_as(m, "Table", "meta.k8s.io", "v1beta1"));
	ck_assert(media_has_form(m));
	m.len = strlen("application/json");
	ck_assert(!media_has_form(m) && media_is(m, "Application/JSON"));
}
END_TEST

Suite *test_api_discovery_suite(void)
{
	Suite *suite = suite_create("api_discovery");
	TCase *tcase = tcase_create("discovery");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_each_resource_has_its_document);
	tcase_add_test(tcase, test_all_in_one);
	tcase_add_test(tcase, test_what_all_is);
	tcase_add_loop_test(tcase, test_the_form_is_the_clients_choice, 0, (int)ARRAY_SIZE(forms));
	tcase_add_test(tcase, test_subresources_are_found_in_both);
	tcase_add_test(tcase, test_what_is_read_only);
	tcase_add_test(tcase, test_parameters_of_media);
	suite_add_tcase(suite, tcase);
	return suite;
}
