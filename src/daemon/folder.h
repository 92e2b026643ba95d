/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One manifest file on its way into the objects: manifest_file.c reads and applies it, folder.c
 * knows which files there are and what it means that some are not.
 */
#ifndef VMAGENT_DAEMON_FOLDER_H
#define VMAGENT_DAEMON_FOLDER_H

#include "daemon/agent_private.h"

struct file { /* one manifest file in the fold */
	struct agent *agent;
	const char *name;
	struct now now;
	bool good;                  /* its manifests are to be applied */
	struct manifest *manifests; /* owned */
	size_t n, cap;
	struct buf errors;
};

/* Reads it: what it no longer declares is marked as gone; a bad one is rejected and changes
 * nothing. */
void file_read(struct file *f, const struct folder_doc_file *in);
/* Merges what it declares into the objects; what cannot be is rejected. */
void file_apply(struct file *f);
/* Applies its text again, alone, now that nothing is in the way. */
void file_apply_text(struct file *f, const char *text);
void file_done(struct file *f);

/* An event about a file, or about the folder by the name "manifests". */
void note_file(struct agent *agent, const char *name, const char *reason, const char *text);

#endif
