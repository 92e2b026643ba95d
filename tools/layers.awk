# SPDX-License-Identifier: Apache-2.0
# layers.awk: who may include what. Reads the C files of src/ and include/, given by their path, and names every include
# that crosses a layer. Includes are written from the layer on: "core/phase.h", <vmagent/model.h>.

BEGIN {
	# layer   its own folders to include            libraries
	rule("core    core,vmagent                      yaml,cjson,libxml")
	rule("io      io,core,vmagent                   yaml,cjson,libxml,libvirt,sqlite3,microhttpd,wslay,gnutls,curl,systemd")
	rule("daemon  daemon,io,core,vmagent            uv,yaml,cjson,libxml,libvirt,sqlite3,microhttpd,wslay,gnutls,curl,systemd")
	rule("cli     cli,core,vmagent                  yaml,cjson,curl,wslay")
	rule("vmagent vmagent                           ")

	# An adapter in io knows one library; libuv is the loop all of them stand on and counts beside it.
	allowed["io", "uv"] = beside["uv"] = 1

	# Core does no I/O, keeps no thread and reads no clock of its own.
	split("unistd.h fcntl.h poll.h pthread.h signal.h syslog.h threads.h dirent.h netdb.h spawn.h", list, " ")
	for (i in list)
		impure[list[i]] = 1

	# Exceptions, each with its reason: except["src/io/FILE.c", "LIBRARY OR HEADER"] = "why".
}

function rule(line,    field, list, i) {
	split(line, field, " ")
	layers[field[1]] = 1
	for (i = split(field[2], list, ","); i; i--)
		allowed[field[1], list[i] "/"] = 1
	for (i = split(field[3], list, ","); i; i--) {
		allowed[field[1], list[i]] = 1
		library[list[i]] = 1
	}
	library["uv"] = 1
}

function refuse(why) {
	print FILENAME ":" FNR ": " why
	bad = 1
}

# virt of src/io/virt_events.c: the files of one adapter share the name up to the first underscore.
function adapter(path) {
	sub(/.*\//, "", path)
	sub(/[_.].*/, "", path)
	return path
}

FNR == 1 {
	match(FILENAME, /(src|include)\/[a-z]+\//)
	split(substr(FILENAME, RSTART, RLENGTH), part, "/")
	layer = part[2]
	only = ""
	if (!(layer in layers))
		refuse("lies in no known layer")
}

/^[ \t]*#[ \t]*include/ {
	quoted = /"/
	header = $0
	sub(/^[^"<]*["<]/, "", header)
	sub(/[">].*/, "", header)
	if ((FILENAME, header) in except)
		next
	folder = header
	if (!sub(/\/.*/, "", folder))
		folder = ""
	if (header ~ /\.\.\//)
		refuse("crosses a folder: " header)
	else if (quoted || folder == "vmagent")
		own_header()
	else
		library_header()
}

function own_header() {
	if (!(folder in layers))
		refuse("an include of ours is written with its layer: " header)
	else if (!((layer, folder "/") in allowed))
		refuse(layer " includes " header)
	else if (layer == "io" && folder == "io" && adapter(header) != adapter(FILENAME))
		refuse("one adapter includes another: " header)
}

function library_header(    lib) {
	lib = folder == "" ? header : folder
	sub(/\.h$/, "", lib)
	if (layer == "core" && (header in impure || (folder == "sys" && header != "sys/types.h")))
		refuse("core does no I/O: " header)
	if (!(lib in library))
		return
	if (!((layer, lib) in allowed))
		refuse(layer " includes " header)
	else if (layer == "io" && !(lib in beside)) {
		if (only != "" && only != lib)
			refuse("an adapter knows one library, this one knows " only " and " lib)
		only = lib
	}
}

END { exit bad }
