/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which path is which resource. Pure.
 */
#ifndef VMAGENT_DAEMON_API_ROUTE_H
#define VMAGENT_DAEMON_API_ROUTE_H

#include <vmagent/model.h>

#include "daemon/api/resources.h"

struct route_path {
	const struct api_group *group;   /* NULL: the path names none */
	const char *version;             /* of the group, as asked; NULL: none */
	const struct resource *resource; /* NULL: none */
	enum object_kind kind;           /* of the resource's objects */
	enum verb verb;
	enum vmi_verb vmi_verb;
	enum guest_look look;
	unsigned port; /* 0: the path has none, or not one between 1 and 65535 */
	char protocol[8];
	char ns[NAME_MAX_LEN + 1];   /* "": all namespaces */
	char name[NAME_MAX_LEN + 1]; /* "": a collection */
};

/*
 * Compares path with pattern, segment by segment. A segment of pattern is literal or one of
 *   {api}     three segments, "apis/GROUP/VERSION", or two, "api/v1": what is served
 *   {subapi}  the same of the subresources' group
 *   {group}   a group that is not the core
 *   {namespaced} {cluster}  the plural of a resource of the group whose objects lie in a namespace, or do not
 *   {vm} {vmi}  "virtualmachines", "virtualmachineinstances", of the subresources' group
 *   {ns} {name}  anything within Kubernetes' length      {verb} start, stop, restart
 *   {port} {protocol}  any; the first is read as a number
 *   {vmiverb} pause, unpause, softreboot, reset      {look} guestosinfo, userlist, filesystemlist
 * *ret is filled only on a match.
 */
bool route_matches(const char *pattern, const char *path, struct route_path *ret);

#endif
