/* SPDX-License-Identifier: Apache-2.0 */
/* What the image adapter's files share: image.c the course of an op, image_check.c and
 * image_clean.c what runs on the pool, image_child.c qemu-img. */
#ifndef VMAGENT_IO_IMAGE_PRIVATE_H
#define VMAGENT_IO_IMAGE_PRIVATE_H

#include <limits.h>

#include "io/image.h"

#define CHILD_WORDS_MAX 400 /* bytes of qemu-img's stderr that are kept */

struct image {
	uv_loop_t *loop;
	struct image_roots roots;
	struct hv_sink sink;
	size_t busy;
};

struct job { /* one op under way */
	struct image *image;
	struct op op; /* owned copy */
	struct err err;
	uv_work_t work;
	size_t next;          /* the work whose image is made next */
	bool kept;            /* FILL: the claim has a file already */
	char *text;           /* owned or NULL; MIGRATE_READ_NVRAM: what is in the file */
	const char **formats; /* owned list: of each work's base, a constant */
	uv_process_t child;
	uv_pipe_t words; /* its stderr */
	unsigned open;   /* handles of the child that are not closed yet */
	int64_t status;
	char tail[CHILD_WORDS_MAX + 1];
	size_t n_tail;
	bool line_ended; /* of its first line: the rest is dropped */
};

/* On the pool: everything of PREPARE but qemu-img. Fills job->err. */
void image_check(struct job *job);
/* … what of it finds what is there already, and makes nothing: all that is missing, into
 * job->text. */
void image_look(struct job *job);
/* For that alone: whether the way to path, as far as there is one, stays below the roots, or
 * below one of `own` (or NULL). Whoever asks does not learn what else there is. */
int image_check_way(struct job *job, const struct volume_work *work, const char *path,
	const char *const own[2]);
/* image_host.c: whether the host has what is no file. Fills job->err. */
int image_check_host(struct job *job, const struct volume_work *work);
/* On the pool: the images are whole; makes them durable and gives them their names. */
void image_finish(struct job *job);
/* On the pool: removes the run's folder, or a claim's, with all that is in it. */
void image_clean(struct job *job);

/* image_find.c: the file that the work's image is, links followed and judged. */
int image_find(struct job *job, const struct volume_work *work, char ret_real[PATH_MAX]);

/* image_claim.c: the work's file of a claim, at path, is there and has its size. */
int image_make_claim(struct job *job, const struct volume_work *work, const char *path);
/* Whether it is there; makes nothing. */
int image_check_claim(struct job *job, const struct volume_work *work);
/* … or its folder, at the work's target. */
int image_make_claim_folder(struct job *job, const struct volume_work *work);
/* Removes a claim's folder with all that is in it; 0 if there is none, else -errno. */
int image_drop_claim(const char *folder);

/* image_medium.c: lays the files of a medium out for the child, in the folder that work_stage()
 * names. */
int image_stage_medium(struct job *job, const struct volume_work *work);
/* Makes the folder that a guest is to have, with the files. */
int image_make_folder(struct job *job, const struct volume_work *work);
/* Makes the one file that is no medium's, for QEMU itself; libvirt gives it to QEMU's user. */
int image_make_table(struct job *job, const struct volume_work *work);
char *work_stage(const struct volume_work *work); /* owned */

/* The folder of the claim whose file is at path, opened part by part, and made if need be; or
 * -errno, of which image_fail_claim() puts the words into job->err. */
int image_open_claim(const char *path);
int image_fail_claim(struct job *job, const struct volume_work *work, const char *path, int error);

/* image_fill.c: on the pool: all of FILL that needs no child; after that no work is left if there
 * is none for it. */
int image_check_fill(struct job *job);
/* … the child's image becomes the claim's file. */
int image_finish_fill(struct job *job);

/* image_clean.c: removes a folder with all that is in it; 0 if there is none, else -errno. */
int image_remove_tree(const char *folder);
/* So that what was made, or renamed, in it is there after a power cut; or -errno, which is
 * in errno as well. */
int image_sync_folder(const char *path);

/* image_nvram.c, on the pool: the file with the variables of a VM's firmware. Fill job->err. */
void image_read_nvram(struct job *job);
void image_write_nvram(struct job *job);

/* image_check.c: puts the words of an error number into job->err; …_at names the part of
 * the path that fails. */
int image_fail(struct job *job, const struct volume_work *work, const char *path, int error);
int image_fail_at(struct job *job, const struct volume_work *work, const char *path, int error);
/* Whether the file at path is a disk as it is; *ret_format: of which kind, *ret_size: of how many
 * bytes; may be NULL. */
int image_check_format(struct job *job, const struct volume_work *work, const char *path,
	const char **ret_format, int64_t *ret_size);
int image_check_kind(struct job *job, const struct volume_work *work, const char *path);
/* An empty disk of that size in the open folder, on disk before it has its name; -errno,
 * -EEXIST: there is one. */
int image_write_raw(int folder, const char *name, int64_t capacity);
/* Whether an image at real, links followed, lies below an image root, or below one of `own`. */
int image_check_real(struct job *job, const struct volume_work *work, const char *real,
	const char *const own[2]);

bool work_needs_child(const struct volume_work *work);
char *work_tmp(const struct volume_work *work); /* owned */

/* Starts qemu-img for job->next; done(job) is called when it ended, with job->err
 * set if it failed. */
void image_child(struct job *job, void (*done)(struct job *job));

#endif
