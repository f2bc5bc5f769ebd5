# SPDX-License-Identifier: Apache-2.0
# Thin front for CMake. `make help` lists what there is.
.DEFAULT_GOAL := build
.PHONY: build demo setup test test-all test-release test-asan test-tsan fuzz determinism bench measure format help clean install package docs bench-python

JOBS ?= $(shell nproc)
CTEST = ctest --output-on-failure -j $(JOBS)

build: setup ## the release library, tests, benchmarks and examples in build/
	@cmake --preset release >build.log 2>&1 || { cat build.log; exit 1; }
	@rm -f build.log
	cmake --build build -j $(JOBS)

# A build folder that is there stays as it was configured.
demo: ## simulate a pile of spheres: run.h5 and run.html, to be opened in a browser
	@scripts/setup demo
	@cmake $$([ -f build/CMakeCache.txt ] && echo build || echo --preset demo) >build.log 2>&1 || { cat build.log; exit 1; }
	@rm -f build.log
	cmake --build build -j $(JOBS) --target cairn cairn-io cairn-command
	build/cairn run granular --set spheres=1000 --threads $(JOBS) --out run.h5 --force
	build/cairn report run.h5 -o run.html
	@echo "make demo: the run is in $(CURDIR)/run.h5"
	@echo "make demo: open $(CURDIR)/run.html in a browser"

setup: ## install what is missing for build and tests (apt, npm; root or sudo); nothing the second time
	@scripts/setup all

test: test-release test-asan determinism ## everything that must pass before a change lands (about 25 minutes on 2 cores)
	@echo "make test: all passed"

test-release: build
	$(CTEST) --test-dir build

test-asan: setup ## unit, truth, command and Python tests with clang's address and undefined-behaviour sanitizers
	cmake --preset asan >/dev/null
	cmake --build build-asan -j $(JOBS)
	$(CTEST) --test-dir build-asan -L "unit|truth|examples|cli|python"

test-tsan: setup ## the tests that use threads under the thread sanitizer
	cmake --preset tsan >/dev/null
	cmake --build build-tsan -j $(JOBS)
	$(CTEST) --test-dir build-tsan -L "unit|determinism"

SECONDS ?= 600
FUZZ = scene expression problem fclib answer run checkpoint snapshot step solve shapes mesh robot
fuzz: setup ## fuzz the parsers for SECONDS (default 600); what is new goes to build-fuzz/corpus
	cmake --preset fuzz >/dev/null
	cmake --build build-fuzz -j $(JOBS)
	@set -e; for name in $(FUZZ); do \
	  mkdir -p build-fuzz/corpus/$$name; \
	  echo "fuzz: $$name, $$(($(SECONDS) / $(words $(FUZZ)))) s"; \
	  build-fuzz/fuzz_$$name -max_total_time=$$(($(SECONDS) / $(words $(FUZZ)))) -timeout=10 -rss_limit_mb=2048 \
	    -max_len=$$([ $$name = problem ] && echo 20000 || echo 4096) \
	    $$([ -f tests/fuzz/$$name.dict ] && echo -dict=tests/fuzz/$$name.dict) -artifact_prefix=build-fuzz/$$name- -print_final_stats=1 \
	    build-fuzz/corpus/$$name tests/fuzz/corpus/$$name $$([ $$name = scene ] && echo tests/scenes/good examples/scenes) $$([ $$name = solve ] && echo tests/fuzz/corpus/problem) 2>build-fuzz/$$name.log \
	    || { tail -40 build-fuzz/$$name.log; exit 1; }; \
	  grep -E "number_of_executed_units|DONE" build-fuzz/$$name.log; \
	done

determinism: build ## one state hash for gcc and clang, -O1 -O2 -O3, SIMD on and off
	scripts/determinism

measure: build ## figures of docs/performance.md on this quiet machine (RUNS="quick", "all" or names), kept in bench/results
	scripts/measure $(RUNS)

test-all: test test-tsan ## test, thread sanitizer, every combination of compilers and levels, long runs
	scripts/determinism all
	$(CTEST) --test-dir build -L long -C long
	$(MAKE) package docs
	@echo "make test-all: all passed"

bench: measure ## the same as measure

bench-python: build ## what Python costs, and batches on two cores, beside what is asked (quiet machine, 2 minutes)
	PYTHONPATH=build/python /usr/bin/python3 python/bench/overhead.py

format: ## clang-format over all C files
	@git ls-files '*.c' '*.h' '*.inc' | xargs clang-format -i

# What the demo needs is enough; a build folder that has tests is brought up to date with them.
install: ## build, and install to PREFIX (default /usr/local)
	@scripts/setup demo
	@cmake $$([ -f build/CMakeCache.txt ] && echo build || echo --preset demo) >build.log 2>&1 || { cat build.log; exit 1; }
	@rm -f build.log
	cmake --build build -j $(JOBS)
	cmake --install build --prefix $(or $(PREFIX),/usr/local)

package: ## Debian packages in build-package/packages: libcairn, cairn, libcairn-dev, python3-cairn, cairn-mpi
	@scripts/setup package
	cmake --preset package >/dev/null
	cmake --build build-package -j $(JOBS)
	cd build-package && cpack >cpack.log || { cat cpack.log; exit 1; }
	tests/package/deb . build-package/packages

docs: ## the documentation site in build/site: pages, reference of C and Python; open index.html
	@scripts/setup docs
	scripts/reference

clean: ## remove all build folders
	rm -rf build build-*

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | awk -F'\t' '{printf "  make %-13s %s\n", $$1, $$2}'
