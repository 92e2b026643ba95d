/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a run can be reached from outside, and where: questions to the model, which change
 * nothing.
 */
#include "daemon/agent_private.h"

static const struct vmi *find_vmi(const struct agent *agent, const char *ns, const char *name,
	struct err *err)
{
	const struct machine *m = machines_find(&agent->machines, ns, name);

	if (m && m->vmi)
		return m->vmi;
	agent_not_found(agent, KIND_VMI, ns, name, err);
	return NULL;
}

static int check_running(const struct vmi *vmi, struct err *err)
{
	if (vmi->phase == PHASE_RUNNING)
		return 0;
	return err_set(err, ERR_BAD_REQUEST, "VMI is not running: the phase of '%s' is %s",
		vmi->meta.name, phase_name(vmi->phase));
}

int reach_console(const struct agent *agent, const char *ns, const char *name,
	const char **ret_path, struct err *err)
{
	const struct vmi *vmi = find_vmi(agent, ns, name, err);

	if (!vmi)
		return -(int)err->code;
	if (!vmi->typed.serial_console)
		return err_set(err, ERR_BAD_REQUEST,
			"No serial consoles are present: autoattachSerialConsole of '%s' is false",
			name);
	if (vmi->phase == PHASE_FAILED)
		return err_set(err, ERR_CONFLICT, "VMI is in failed status: '%s'", name);
	if (check_running(vmi, err))
		return -(int)err->code;
	if (!vmi->console)
		return err_set(err, ERR_BAD_REQUEST,
			"No serial consoles are present: '%s' was started without one", name);
	*ret_path = vmi->console;
	return 0;
}

int reach_display(const struct agent *agent, const char *ns, const char *name,
	const char **ret_path, struct err *err)
{
	const struct vmi *vmi = find_vmi(agent, ns, name, err);

	if (!vmi)
		return -(int)err->code;
	if (!vmi->typed.graphics)
		return err_set(err, ERR_BAD_REQUEST,
			"No graphics devices are present: autoattachGraphicsDevice of '%s' is false",
			name);
	if (check_running(vmi, err))
		return -(int)err->code;
	if (!vmi->graphics)
		return err_set(err, ERR_BAD_REQUEST,
			"No graphics devices are present: '%s' was started without a VNC server on a "
			"unix socket; it has one from its next start on",
			name);
	*ret_path = vmi->graphics;
	return 0;
}

/* Of the interface to the pod network: KubeVirt lets in what it lists, or all
 * where it lists nothing. */
static bool is_open(const struct vmi_spec *spec, unsigned port)
{
	for (size_t i = 0; i < spec->n_interfaces; i++) {
		const struct interface *nic = &spec->interfaces[i];

		if (nic->network || !nic->n_ports)
			continue;
		for (size_t p = 0; p < nic->n_ports; p++)
			if (!nic->ports[p].udp && port >= nic->ports[p].first &&
				port <= nic->ports[p].last)
				return true;
		return false;
	}
	return true;
}

int reach_network(const struct machine *m, unsigned port, struct err *err)
{
	const struct vmi *vmi = m->vmi;

	if (check_running(vmi, err))
		return -(int)err->code;
	if (m->dom.state == DOMAIN_PAUSED)
		return err_set(err, ERR_CONFLICT, "VMI is paused: unpause '%s' first",
			vmi->meta.name);
	if (!vmi->typed.n_interfaces)
		return err_set(err, ERR_BAD_REQUEST, "no network interfaces are present in '%s'",
			vmi->meta.name);
	if (!is_open(&vmi->typed, port))
		return err_set(err, ERR_BAD_REQUEST,
			"port %u of '%s' is closed: the ports of its interface do not list it",
			port, vmi->meta.name);
	return 0;
}
