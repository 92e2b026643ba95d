/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which path is which resource. Pure.
 */
#ifndef VMAGENT_DAEMON_API_ROUTE_H
#define VMAGENT_DAEMON_API_ROUTE_H

#include <vmagent/model.h>

#define API_VERSION_MAX 15

struct route_path {
	enum object_kind kind;
	enum verb verb;
	enum vmi_verb vmi_verb;
	char version[API_VERSION_MAX + 1]; /* of the group, as asked */
	char ns[NAME_MAX_LEN + 1];         /* "": all namespaces */
	char name[NAME_MAX_LEN + 1];       /* "": a collection */
};

/*
 * Compares path with pattern, segment by segment. A segment of pattern is literal or one of
 *   {kv}      v1 or v1alpha3, the versions that KubeVirt serves
 *   {kubevirt} the plural of a kind of kubevirt.io       {machine} … that can be written
 *   {core} the plural of a kind of v1                    {cluster} … that is in no namespace
 *   {ns} {name}  anything within Kubernetes' length      {verb} start, stop, restart
 *   {vmiverb} pause, unpause, softreboot, reset
 * *ret is filled only on a match.
 */
bool route_matches(const char *pattern, const char *path, struct route_path *ret);

#endif
