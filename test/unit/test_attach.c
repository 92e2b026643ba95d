/* SPDX-License-Identifier: Apache-2.0 */
/* How interfaces are attached: what NetworkAttachmentDefinitions say, what the configuration
 * does, what fits what. */
#include <check.h>
#include <string.h>

#include "core/cidr.h"
#include "core/edit.h"
#include "core/netconfig.h"

Suite *test_attach_suite(void);

#define SRIOV_NET "intel.com/sriov_net"

/* clang-format off */
static const struct { const char *config, *resource, *want; } nads[] = { /* "KIND SOURCE MODE VLAN", or the refusal */
	{ "{'type':'bridge','bridge':'br0'}", NULL, "bridge br0 - 0" },
	{ "{'cniVersion':'0.3.1','name':'n','type':'bridge','ipam':{},'isGateway':true}", NULL, "bridge cni0 - 0" },
	{ "{'type':'cnv-bridge','bridge':'br-lan','vlan':100}", "bridge.network.kubevirt.io/br-lan", "bridge br-lan - 100" },
	{ "{'type':'cnv-bridge'}", NULL, "spec.config: bridge: field is required for type 'cnv-bridge'" },
	{ "{'plugins':[{'type':'bridge','bridge':'b'},{'type':'tuning','x':[]}]}", NULL, "bridge b - 0" },
	{ "{'plugins':[{'type':'ptp'}]}", NULL, "spec.config: plugins[0]: type: 'ptp' is not one that this host can do: " },
	{ "{'plugins':[]}", NULL, "spec.config: plugins: expected a list of 1 to 16 plugins" },
	{ "{'plugins':{}}", NULL, "spec.config: plugins: expected a list of 1 to 16 plugins" },
	{ "{'type':'ovs','bridge':'ovs1','vlan':20}", NULL, "ovs ovs1 - 20" },
	{ "{'type':'ovs','bridge':'ovs1','tag':20}", NULL, "ovs ovs1 - 20" },
	{ "{'type':'ovs','bridge':'ovs1','trunk':[{'id':42}]}", NULL, "spec.config: trunk: a guest has one VLAN; give each its own network, by vlan" },
	{ "{'type':'ovs','bridge':'ovs1','vlan':4095}", NULL, "spec.config: vlan: expected a number from 0 to 4094" },
	{ "{'type':'ovs','bridge':'ovs1','vlan':-1}", NULL, "spec.config: vlan: expected a number from 0 to 4094" },
	{ "{'type':'ovs','bridge':'ovs1','vlan':'7'}", NULL, "spec.config: vlan: expected a number from 0 to 4094" },
	{ "{'type':'macvtap','master':'eth0'}", NULL, "macvtap eth0 bridge 0" },
	{ "{'type':'macvtap','mtu':1500}", "macvtap.network.kubevirt.io/eth1", "macvtap eth1 bridge 0" },
	{ "{'type':'macvtap','device':'eth0','mode':'passthru'}", NULL, "macvtap eth0 passthrough 0" },
	{ "{'type':'macvlan','master':'eth0','mode':'vepa'}", NULL, "macvtap eth0 vepa 0" },
	{ "{'type':'macvtap','master':'eth0','mode':'shared'}", NULL, "spec.config: mode: expected one of bridge, vepa, private, passthru" },
	{ "{'type':'macvtap','master':'../eth0'}", NULL, "spec.config: master: '../eth0' is no name of one" },
	{ "{'type':'macvtap','master':'averyverylongname'}", NULL, "spec.config: master: 'averyverylongname' is no name of one" },
	{ "{'type':'host-device','device':'eth3'}", NULL, "macvtap eth3 passthrough 0" },
	{ "{'type':'host-device'}", SRIOV_NET, "sriov " SRIOV_NET " - 0" },
	{ "{'type':'sriov','vlan':5}", SRIOV_NET, "sriov " SRIOV_NET " - 5" },
	{ "{'type':'sriov'}", NULL, "spec.config: pool: field is required for type 'sriov'" },
	{ "{'type':'libvirt-network','network':'default'}", NULL, "libvirt-network default - 0" },
	{ "{'type':'user'}", NULL, "user - - 0" },
	{ "{'name':'x'}", NULL, "spec.config: type: expected one of bridge, " },
	{ "['bridge']", NULL, "spec.config: expected a JSON object" },
	{ "{'type':'bridge'", NULL, "spec.config: line 2, column 1: " },
	{ "", NULL, "spec.config: expected a JSON object" },
	{ NULL, NULL, "spec.config: expected the CNI configuration, as a text in JSON" },
};
/* clang-format on */

static struct node *nad_of(const char *config, const char *resource)
{
	struct node *nad = text_tree("{}");
	autofree char *text = xstrdup(config);

	for (char *c = text; c && *c; c++)
		if (*c == '\'')
			*c = '"';
	if (text)
		node_set_path(nad, "spec.config", node_new(NODE_STRING, text));
	if (resource) {
		struct node *annotations = node_new(NODE_MAP, NULL);

		node_set(annotations, "k8s.v1.cni.cncf.io/resourceName",
			node_new(NODE_STRING, resource));
		node_set_path(nad, "metadata.annotations", annotations);
	}
	return nad;
}

static char *words_of(const struct attachment *a)
{
	return xasprintf("%s %s %s %u", attach_kind_name(a->kind), a->source ? a->source : "-",
		a->mode ? a->mode : "-", a->vlan);
}

START_TEST(definitions)
{
	struct node *nad = nad_of(nads[_i].config, nads[_i].resource);
	struct attachment a = { 0 };
	struct err err = { 0 };
	bool good = !attach_parse_nad(nad, &a, &err);
	autofree char *words = good ? words_of(&a) : xstrdup(err.msg);

	ck_assert_msg(good ? streq(words, nads[_i].want) : starts_with(words, nads[_i].want),
		"'%s', not '%s'", words, nads[_i].want);
	ck_assert(good || err.code == ERR_INVALID);
	attachment_done(&a);
	node_free(nad);
}
END_TEST

/* clang-format off */
static const struct { enum binding binding; const char *config, *want; } bound[] = { /* "": the words begin so */
	{ BINDING_BRIDGE,  "{'type':'bridge','bridge':'br0'}",   "bridge br0 - 0" },
	{ BINDING_BRIDGE,  "{'type':'macvtap','master':'eth0'}", "macvtap eth0 bridge 0" },
	{ BINDING_MACVTAP, "{'type':'macvtap','master':'eth0'}", "macvtap eth0 bridge 0" },
	{ BINDING_MACVTAP, "{'type':'bridge','bridge':'br0'}",   "network 'net' is of type 'bridge', and interface 'nic' wants macvtap" },
	{ BINDING_SRIOV,   "{'type':'bridge','bridge':'br0'}",   "network 'net' is of type 'bridge', which the binding 'sriov' of interface 'nic' cannot use" },
	{ BINDING_BRIDGE,  "{'type':'sriov','pool':'fast'}",     "network 'net' is of type 'sriov', which the binding 'bridge' of interface 'nic' cannot use" },
	{ BINDING_SRIOV,   "{'type':'sriov','pool':'fast'}",     "sriov fast - 0" },
	{ BINDING_SRIOV,   "{'type':'sriov','pool':'x.com/fast'}", "sriov x.com/fast - 0" },
	{ BINDING_SRIOV,   "{'type':'sriov','pool':'slow'}",     "network 'net' takes devices from the pool 'slow', which the agent's configuration does not have: add it to sriovPools" },
	{ BINDING_BRIDGE,  "{'type':'user','vlan':3}",           "network 'net' is of type 'user', which libvirt gives no VLAN: use a bridge or device that is on VLAN 3, or the type ovs" },
	{ BINDING_BRIDGE,  "{'type':'bridge','bridge':'b','vlan':3}", "network 'net' is of type 'bridge', which libvirt gives no VLAN: " },
	{ BINDING_BRIDGE,  "{'type':'ovs','bridge':'b','vlan':3}", "ovs b - 3" },
	{ BINDING_BRIDGE,  "{'type':'vdpa'}",                    "network 'net': spec.config: type: 'vdpa' is not one" },
	{ BINDING_BRIDGE,  NULL,                                 "there is no NetworkAttachmentDefinition 'net' for interface 'nic': make it, or add it to the agent's networks" },
};
/* clang-format on */

START_TEST(bindings)
{
	struct network_config config = { .pools[0] = { .name = "fast" }, .n_pools = 1 };
	struct interface nic = { .name = "nic", .network = "net", .binding = bound[_i].binding };
	struct node *nad = bound[_i].config ? nad_of(bound[_i].config, NULL) : NULL;
	struct attachment a = { 0 };
	struct err err = { 0 };
	bool good = !attach_named(&config, &nic, nad, &a, &err);
	autofree char *words = good ? words_of(&a) : xstrdup(err.msg);

	ck_assert_msg(good ? streq(words, bound[_i].want) : starts_with(words, bound[_i].want),
		"'%s', not '%s'", words, bound[_i].want);
	attachment_done(&a);
	node_free(nad);
}
END_TEST

START_TEST(networks_of_the_configuration)
{
	struct network_config config = {
		.networks[0] = { .name = "net",
			.how = { .kind = ATTACH_OVS, .source = "ovs0", .vlan = 7 } },
		.n_networks = 1
	};
	struct interface nic = { .name = "nic", .network = "net", .binding = BINDING_BRIDGE };
	struct node *nad = nad_of("{'type':'bridge','bridge':'br0'}", NULL);
	struct attachment a = { 0 };
	struct err err;

	ck_assert_int_eq(attach_named(&config, &nic, NULL, &a, &err), 0);
	ck_assert_str_eq(a.source, "ovs0");
	attachment_done(&a);
	ck_assert_int_eq(attach_named(&config, &nic, nad, &a, &err), 0);
	ck_assert_str_eq(a.source, "br0"); /* what was made for it goes first */
	attachment_done(&a);
	node_free(nad);
}
END_TEST

/* clang-format off */
static const struct { enum pod_type type; enum binding binding; const char *cidr, *want; bool made, or_user; } pods[] = {
	{ POD_AUTO,    BINDING_MASQUERADE, NULL,           "libvirt-network vmagent - 0", true,  true },
	{ POD_AUTO,    BINDING_BRIDGE,     NULL,           "libvirt-network vmagent - 0", true,  true },
	{ POD_NAT,     BINDING_MASQUERADE, NULL,           "libvirt-network vmagent - 0", true,  false },
	{ POD_NAT,     BINDING_MASQUERADE, "10.1.2.0/24",  "user - - 0",                  false, false },
	{ POD_AUTO,    BINDING_MASQUERADE, "10.1.2.0/24",  "user - - 0",                  false, false },
	{ POD_AUTO,    BINDING_SLIRP,      NULL,           "user - - 0",                  false, false },
	{ POD_AUTO,    BINDING_PASST,      NULL,           "passt - - 0",                 false, false },
	{ POD_USER,    BINDING_MASQUERADE, NULL,           "user - - 0",                  false, false },
	{ POD_BRIDGE,  BINDING_BRIDGE,     NULL,           "bridge br7 - 0",              false, false },
	{ POD_BRIDGE,  BINDING_MASQUERADE, "10.1.2.0/24",  "bridge br7 - 0",              false, false },
	{ POD_NETWORK, BINDING_MASQUERADE, NULL,           "libvirt-network lab - 0",     false, false },
};
/* clang-format on */

START_TEST(pod_network)
{
	struct network_config config = { .pod = pods[_i].type, .bridge = "br7", .network = "lab" };
	struct interface nic = { .name = "default",
		.binding = pods[_i].binding,
		.cidr = (char *)pods[_i].cidr };
	struct attachment a;
	autofree char *words = NULL;

	attach_pod(&config, &nic, &a);
	words = words_of(&a);
	ck_assert_str_eq(words, pods[_i].want);
	ck_assert(a.made == pods[_i].made && a.or_user == pods[_i].or_user);
	attachment_done(&a);
}
END_TEST

/* clang-format off */
static const struct { const char *text, *first, *last; } cidrs[] = { /* NULL: it is none */
	{ "10.118.96.0/22",   "10.118.96.2",  "10.118.99.254" },
	{ "192.168.1.77/24",  "192.168.1.2",  "192.168.1.254" },
	{ "10.0.0.0/30",      "10.0.0.2",     "10.0.0.2" },
	{ "10.0.0.0/31",      NULL,           NULL },
	{ "10.0.0.0/0",       NULL,           NULL },
	{ "10.0.0.0",         NULL,           NULL },
	{ "10.0.0/24",        NULL,           NULL },
	{ "10.0.0.0/24 ",     NULL,           NULL },
	{ "10.0.0.0/-4",      NULL,           NULL },
	{ "fd10::/64",        NULL,           NULL },
	{ "",                 NULL,           NULL },
};
/* clang-format on */

START_TEST(ranges)
{
	char first[CIDR_TEXT_SIZE], last[CIDR_TEXT_SIZE];
	struct cidr c;

	ck_assert_int_eq(cidr_parse(cidrs[_i].text, &c), cidrs[_i].first != NULL);
	if (!cidrs[_i].first)
		return;
	cidr_address(&c, 2, first);
	cidr_address(&c, cidr_hosts(&c) + 1, last);
	ck_assert_str_eq(first, cidrs[_i].first);
	ck_assert_str_eq(last, cidrs[_i].last);
}
END_TEST

Suite *test_attach_suite(void)
{
	Suite *s = suite_create("attachments (§9.4, §10.2)");
	TCase *tc = tcase_create("attach");

	tcase_add_loop_test(tc, definitions, 0, ARRAY_SIZE(nads));
	tcase_add_loop_test(tc, bindings, 0, ARRAY_SIZE(bound));
	tcase_add_test(tc, networks_of_the_configuration);
	tcase_add_loop_test(tc, pod_network, 0, ARRAY_SIZE(pods));
	tcase_add_loop_test(tc, ranges, 0, ARRAY_SIZE(cidrs));
	suite_add_tcase(s, tc);
	return s;
}
