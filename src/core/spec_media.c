/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of spec_parse() that is about media made for the guest: cloud-init's, of ConfigMaps and
 * Secrets, of what the run itself is; and the credentials that go along with cloud-init.
 *
 * Owns how texts become values. It must not judge: which values are possible has been checked.
 */
#include "core/spec_private.h"

/* KubeVirt's labels, of the media that have one of their own. */
#define LABEL_NO_CLOUD     "cidata"
#define LABEL_CONFIG_DRIVE "config-2"
#define LABEL_SYSPREP      "unattendCD"
#define LABEL_OTHERS       "cfgdata"

static void seed_text_done(struct seed_text *text)
{
	free(text->plain);
	free(text->base64);
	free(text->secret);
}

void media_source_free(struct media_source *media)
{
	if (!media)
		return;
	for (size_t i = 0; i < media->n_items; i++) {
		free(media->items[i].path);
		free(media->items[i].field);
		free(media->items[i].resource);
		free(media->items[i].divisor);
	}
	free(media->items);
	seed_text_done(&media->user);
	seed_text_done(&media->network);
	free(media->label);
	free(media->object);
	free(media);
}

void credentials_free(struct credential *credentials, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		while (credentials[i].n_users)
			free(credentials[i].users[--credentials[i].n_users]);
		free(credentials[i].users);
		free(credentials[i].secret);
	}
	free(credentials);
}

/* ---- one kind after the other ---------------------------------------------------------------- */

typedef int media_parse_fn(const struct node *from, struct media_source *media, struct err *err);

static int parse_cloud_init(const struct node *from, struct media_source *media, struct err *err)
{
	(void)err;
	media->user = (struct seed_text){ spec_copy(from, "userData"),
		spec_copy(from, "userDataBase64"), spec_copy(from, "secretRef.name") };
	media->network = (struct seed_text){ spec_copy(from, "networkData"),
		spec_copy(from, "networkDataBase64"),
		spec_copy(from, "networkDataSecretRef.name") };
	return 0;
}

static int parse_object(const struct node *from, struct media_source *media, struct err *err)
{
	(void)err;
	media->object = spec_copy(from, media->secret ? "secretName" : "name");
	media->optional = spec_bool(from, "optional", false);
	return 0;
}

static int parse_sysprep(const struct node *from, struct media_source *media, struct err *err)
{
	(void)err;
	media->secret = node_get(from, "secret");
	media->object = spec_copy(from, media->secret ? "secret.name" : "configMap.name");
	return 0;
}

static int parse_downward(const struct node *from, struct media_source *media, struct err *err)
{
	const struct node *list;
	size_t n;

	if (spec_list(from, "fields", &list, &n, err))
		return -ERR_INVALID;
	media->items = n ? xcalloc(n, sizeof(*media->items)) : NULL;
	for (size_t i = 0; i < n; i++) {
		const struct node *item = list->children[i];

		media->items[media->n_items++] = (struct media_item){ spec_copy(item, "path"),
			spec_copy(item, "fieldRef.fieldPath"),
			spec_copy(item, "resourceFieldRef.resource"),
			spec_copy(item, "resourceFieldRef.divisor"), 0 };
		if (spec_unsigned(item, "mode", &media->items[i].mode, err))
			return -ERR_INVALID;
	}
	return 0;
}

/* clang-format off */
static const struct {
	enum volume_kind kind;
	const char *label;
	bool secret;
	media_parse_fn *parse;
} media[] = {
	{ VOLUME_NO_CLOUD,     LABEL_NO_CLOUD,     false, parse_cloud_init },
	{ VOLUME_CONFIG_DRIVE, LABEL_CONFIG_DRIVE, false, parse_cloud_init },
	{ VOLUME_CONFIG_MAP,   LABEL_OTHERS,       false, parse_object },
	{ VOLUME_SECRET,       LABEL_OTHERS,       true,  parse_object },
	{ VOLUME_DOWNWARD_API, LABEL_OTHERS,       false, parse_downward },
	{ VOLUME_SYSPREP,      LABEL_SYSPREP,      false, parse_sysprep },
};
/* clang-format on */

int spec_parse_medium(const struct node *from, struct volume *volume, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(media); i++) {
		const struct node *source = node_get(from, volume_kind_name(media[i].kind));
		const char *label = node_text(source, "volumeLabel");

		if (!source)
			continue;
		volume->kind = media[i].kind;
		volume->media = xcalloc(1, sizeof(*volume->media));
		volume->media->label = xstrdup(label ? label : media[i].label);
		volume->media->secret = media[i].secret;
		return media[i].parse(source, volume->media, err);
	}
	return err_set(err, ERR_INVALID, "volume '%s' has no source", volume->name);
}

/* ---- credentials ----------------------------------------------------------------------------- */

#define WAYS "sshPublicKey.propagationMethod."

static enum credential_way way_of(const struct node *from)
{
	if (node_get(from, "userPassword"))
		return CREDENTIAL_AGENT_PASSWORDS;
	if (node_at(from, WAYS "qemuGuestAgent"))
		return CREDENTIAL_AGENT_KEYS;
	return node_at(from, WAYS "configDrive") ? CREDENTIAL_CONFIG_DRIVE : CREDENTIAL_NO_CLOUD;
}

static int parse_users(const struct node *from, struct credential *credential, struct err *err)
{
	const struct node *list;
	size_t n;

	if (spec_list(from, WAYS "qemuGuestAgent.users", &list, &n, err))
		return -ERR_INVALID;
	credential->users = n ? xcalloc(n, sizeof(*credential->users)) : NULL;
	for (size_t i = 0; i < n; i++)
		credential->users[credential->n_users++] =
			xstrdup(list->children[i]->text ? list->children[i]->text : "");
	return 0;
}

int spec_parse_credentials(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	const struct node *list;
	size_t n;

	if (spec_list(spec, "accessCredentials", &list, &n, err))
		return -ERR_INVALID;
	s->credentials = n ? xcalloc(n, sizeof(*s->credentials)) : NULL;
	for (size_t i = 0; i < n; i++) {
		const struct node *from = list->children[i];
		struct credential *credential = &s->credentials[s->n_credentials++];

		credential->way = way_of(from);
		credential->secret = spec_copy(from,
			credential->way == CREDENTIAL_AGENT_PASSWORDS
				? "userPassword.source.secret.secretName"
				: "sshPublicKey.source.secret.secretName");
		if (!credential->secret)
			return err_set(err, ERR_INVALID, "an access credential names no Secret");
		if (parse_users(from, credential, err))
			return -ERR_INVALID;
	}
	return 0;
}
