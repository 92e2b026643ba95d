# SPDX-License-Identifier: Apache-2.0
#
# vmagent. `make help` lists the targets. Settings, all on the command line:
#   V=1 shows the commands · SAN=address,undefined or SAN=thread builds into a folder of its own
#   PREFIX, DESTDIR · CC, CFLAGS, LDFLAGS · WERROR= lets warnings pass

VERSION := 0.1.0
PREFIX  ?= /usr/local
CFLAGS  ?= -O2 -g
WERROR  ?= -Werror

comma := ,
B     := build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
Q     := $(if $(V),,@)
say    = $(if $(V),,@printf '  %-5s %s\n' $1 $@)
JOBS   = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
	-Wswitch-enum -Wvla -Wconversion -Wno-sign-conversion -Wimplicit-fallthrough $(WERROR)
HARD := -fPIE -fstack-protector-strong -fstack-clash-protection \
	$(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer,-D_FORTIFY_SOURCE=2)

# pkg-config and the compiler are asked when a recipe runs, not when this file is read: `make deps` may bring them first.
XML   = $(eval XML := $(patsubst -I%,-isystem %,$(shell pkg-config --cflags libxml-2.0)))$(XML)
BUILD = $(CC) -std=gnu11 -D_GNU_SOURCE -DVMAGENT_VERSION='"$(VERSION)"' -Iinclude -Isrc $(INC) $(XML) \
	$(WARN) $(HARD) $(CFLAGS) $(CPPFLAGS)
LINK  = $(CC) $(HARD) $(CFLAGS) -pie -Wl,-z,relro,-z,now,--as-needed $(LDFLAGS) -o $@

# A static archive where the distribution ships one, by the first name that exists; else the shared library.
static     = $(firstword $(filter /%,$(foreach l,$1,$(shell $(CC) -print-file-name=lib$l.a))) -l$(lastword $1))
AGENT_LIBS = $(call static,uv_a uv) $(call static,sqlite3) $(call static,yaml) \
	$(shell pkg-config --libs libvirt libvirt-qemu libcjson libxml-2.0 libmicrohttpd gnutls) -lwslay -lm -pthread
CTL_LIBS   = $(call static,yaml) $(shell pkg-config --libs libcjson) -lwslay -lm
TEST_LIBS  = $(AGENT_LIBS) $(shell pkg-config --libs check)

obj     = $(patsubst %.c,$B/obj/%.o,$(wildcard $1))
CORE   := $(call obj,src/core/*.c)
CLI    := $(call obj,src/cli/*.c)
MAIN   := $B/obj/src/daemon/main.o
AGENT  := $(filter-out $(MAIN),$(CORE) $(call obj,src/io/*.c src/daemon/*.c src/daemon/api/*.c)) $B/obj/gen/schema_sql.o
LIB    := $(call obj,test/lib/*.c) $B/libagent.a
DRIVER := $B/obj/test/fuzz/driver.o

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all demo check guest bench install uninstall layers format-check format sizes deps clean help

define compile
	$(call say,CC)
	@mkdir -p $(@D)
	$Q$(BUILD) -MMD -MP -c -o $@ $<
endef
define link
	$(call say,LD)
	@mkdir -p $(@D)
	$Q$(LINK) $(filter %.o,$^) $(filter %.a,$^)
endef

all: $B/vmagent $B/vmactl ## build the agent and its command line (the default)
$B/vmagent: $(MAIN) $B/libagent.a
	$(link) $(AGENT_LIBS)
$B/vmactl: $(CLI) $B/libcore.a
	$(link) $(CTL_LIBS)
$B/libagent.a: $(AGENT)
$B/libcore.a: $(CORE)
$B/libcli.a: $(filter-out %/main.o,$(CLI))
$B/%.a:
	$(call say,AR)
	$Qrm -f $@ && $(AR) rcs $@ $^

$B/obj/%.o: %.c Makefile | $B/.libs
	$(compile)
$B/obj/%.o: $B/%.c Makefile | $B/.libs
	$(compile)
$B/obj/test/%.o: INC := -I. -Itest
-include $(shell find $B/obj -name '*.d' 2>/dev/null)

$B/gen/schema_sql.c: tools/embed-sql $(wildcard schema/*.sql)
	@mkdir -p $(@D)
	$Qtools/embed-sql $(sort $(filter %.sql,$^)) >$@
$B/gen/%_suites.c: test/% tools/suites
	@mkdir -p $(@D)
	$Qtools/suites test/$*/test_*.c >$@
$B/.libs: tools/deps
	@tools/deps --probe build && mkdir -p $(@D) && touch $@

# Tests. A file test/unit/test_X.c or test/io/test_X.c exports Suite *test_X_suite(void); test/sim has a main of its own.
$B/test/unit: $(call obj,test/unit/test_*.c)
$B/test/io: $(call obj,test/io/test_*.c)
$B/test/unit $B/test/io: $B/test/%: $B/obj/gen/%_suites.o $B/obj/test/suites.o $B/libcli.a $(LIB)
	$(link) $(TEST_LIBS)
$B/test/hostile: $B/obj/test/e2e/hostile.o
	$(link)
$B/test/bench_manifest: $B/obj/test/bench/manifest.o $B/libcore.a
	$(link) $(AGENT_LIBS)
$B/test/sim: $(call obj,test/sim/*.c) $(LIB)
	$(link) $(TEST_LIBS)
$B/test/fuzz_domxml: $B/obj/test/fuzz/manifest_mutator.o
$B/test/fuzz_%: $B/obj/test/fuzz/fuzz_%.o $(filter %.o,$(DRIVER)) $B/libcli.a $(LIB)
	$(link) $(filter -%,$(DRIVER)) $(TEST_LIBS)

RUN = B=$B SAN=$(SAN) MAKE="$(MAKE) --no-print-directory" tools/check
demo: ## start a real guest from a YAML file and watch its life (KEEP=1 leaves the agent running)
	@tools/deps build run guest
	@$(MAKE) --no-print-directory $(JOBS) all guest
	@B=$B tools/demo
check: ## every test there is, and the checks on the source
	@tools/deps build run guest check
	+@$(RUN)
check-%: ## one part of it: check-unit, check-sim, check-io, check-e2e, check-fuzz, check-sanitized, check-long
	+@$(RUN) $*
fuzz-%: ## fuzz one target with clang for TIME seconds (60)
	+@$(MAKE) CC=clang SAN=address,fuzzer-no-link WERROR= DRIVER=-fsanitize=fuzzer build/san-address-fuzzer-no-link/test/fuzz_$*
	@mkdir -p build/fuzz/$* && build/san-address-fuzzer-no-link/test/fuzz_$* -max_total_time=$(or $(TIME),60) \
		-artifact_prefix=build/fuzz/ build/fuzz/$* $$(test/fuzz/seeds $*)
guest: ## build the small Linux guest of demo and tests: build/guest/guest.img, deaf.img
	@tools/deps guest
	@test/guest/build build/guest
bench: all $B/test/bench_manifest ## the figures of the performance table
	@B=$B test/bench/run
	@B=$B test/bench/migration

layers format-check sizes: ## who includes what; formatting; how long functions and files are
	+@$(RUN) $@
format: ## format every C file in place
	@tools/format
deps: ## install what building, running and testing need (tools/deps build for the first alone)
	@tools/deps build run guest check
install uninstall: ## into DESTDIR and PREFIX (/usr/local)
	@$(if $(filter install,$@),$(MAKE) --no-print-directory all)
	@B=$B PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' tools/install $@
clean: ## remove build/
	rm -rf build
help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z% -]*:.*## / { printf "  %-30s %s\n", $$1, $$2 }' Makefile
