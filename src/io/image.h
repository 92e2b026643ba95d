/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The volumes of a run: OP_PREPARE makes them, OP_CLEAN removes the run's folder, OP_FILL fills a
 * claim, OP_DROP removes it. OP_CLEAN and OP_PURGE may have it kept under another name. And the
 * file in which its firmware keeps its variables: OP_MIGRATE_READ_NVRAM, OP_MIGRATE_WRITE_NVRAM.
 * OP_LOOK looks for a peer whether PREPARE would find what it needs, in its words, and tells nothing
 * of what is not below the roots.
 * Checks and removals run on libuv's pool, images are made by qemu-img as a limited child that dies
 * with the agent. Nothing appears under its final name before it is whole and on disk.
 */
#ifndef VMAGENT_IO_IMAGE_H
#define VMAGENT_IO_IMAGE_H

#include <vmagent/hypervisor.h>

#include <uv.h>

#include "core/image_ref.h"

#define IMAGE_CHILD_MEMORY "1073741824" /* bytes of address space for qemu-img */
#define IMAGE_CHILD_CPU    "60"         /* seconds of processor time for it */
#define IMAGE_FILL_CPU     "14400"      /* … where it copies a whole image */
#define IMAGE_TMP_SUFFIX   ".tmp"

struct image;

struct image_roots {                   /* NULL-terminated lists; borrowed for the adapter's life */
	const char *const *host_disks; /* hostDisk files lie below one of these, links followed */
	const char *const *images;     /* containerDisk images and kernelBoot folders likewise */
	const struct image_map *map;   /* what stands for the images of registries */
};

/* Loop thread, all of them. loop and what the sink points to must outlive it. */
struct image *image_new(uv_loop_t *loop, const struct image_roots *roots, struct hv_sink sink);

/*
 * Takes a copy of op, which is one of those; sink.result() comes later, exactly once. Errors:
 * ERR_NOT_FOUND (a file or qemu-img is missing), ERR_NO_IMAGE (no file stands for a reference),
 * ERR_FORBIDDEN (outside the roots), ERR_INVALID (not an image that may be used), ERR_NO_SPACE,
 * ERR_IO; the words name volume and path.
 */
void image_submit(struct image *image, const struct op *op);

/* Ops under way: while there are any, image_free() must not be called; the program
 * may end by _exit(). */
size_t image_busy(const struct image *image);
void image_free(struct image *image);

#endif
