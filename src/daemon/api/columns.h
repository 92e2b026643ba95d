/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of each kind's Table. Constants only. */
#ifndef VMAGENT_DAEMON_API_COLUMNS_H
#define VMAGENT_DAEMON_API_COLUMNS_H

#include <vmagent/model.h>

enum cell {
	CELL_VALUE,
	CELL_AGE,
	CELL_CONDITION,
	CELL_WELL,
	CELL_READY,
	CELL_INVOLVED,
	CELL_PHASE, /* … or Terminating */
	CELL_COUNT,
	CELL_MODES /* "RWO,RWX" of a claim */
};

struct column {
	const char *title, *type, *format;
	int priority; /* 0: always printed; else only with -o wide */
	enum cell cell;
	const char *path; /* CONDITION: the condition's type */
};

/* They end with a NULL title. A kind without a table of its own shows name and age. */
const struct column *columns_of(enum object_kind kind);

#endif
