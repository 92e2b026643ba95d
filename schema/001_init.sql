-- SPDX-License-Identifier: Apache-2.0
-- Objects, their change log, what manifest files gave, and small values. Kinds and states are texts, so that
-- the numbers of the program's enums may move.

PRAGMA application_id = 1986884967; -- "vmag"

CREATE TABLE object (
	id     INTEGER PRIMARY KEY,
	kind   TEXT NOT NULL,
	ns     TEXT NOT NULL,
	name   TEXT NOT NULL,
	uid    TEXT NOT NULL,
	rv     INTEGER NOT NULL,
	labels TEXT,
	object TEXT NOT NULL,
	state  TEXT,
	UNIQUE (kind, ns, name)
) STRICT;

-- The oldest event goes first.
CREATE INDEX event_age ON object (rv) WHERE kind = 'Event';

CREATE TABLE change (
	rv            INTEGER PRIMARY KEY,
	kind          TEXT NOT NULL,
	ns            TEXT NOT NULL,
	name          TEXT NOT NULL,
	uid           TEXT NOT NULL,
	type          TEXT NOT NULL CHECK (type IN ('ADDED', 'MODIFIED', 'DELETED')),
	object        TEXT NOT NULL,
	labels_before TEXT
) STRICT;

CREATE TABLE provenance (
	file  TEXT NOT NULL,
	kind  TEXT NOT NULL,
	ns    TEXT NOT NULL,
	name  TEXT NOT NULL,
	uid   TEXT NOT NULL,
	base  TEXT NOT NULL,
	epoch INTEGER NOT NULL,
	state TEXT NOT NULL,
	PRIMARY KEY (file, kind, ns, name)
) STRICT;

CREATE TABLE value (
	key   TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT;

-- One row. rv: the last value of the change counter that a commit has used; floor: the newest change that
-- has left the log, so a watch from before it is too old.
CREATE TABLE counter (
	id    INTEGER PRIMARY KEY CHECK (id = 1),
	rv    INTEGER NOT NULL,
	floor INTEGER NOT NULL
) STRICT;

INSERT INTO counter (id, rv, floor) VALUES (1, 0, 0);
