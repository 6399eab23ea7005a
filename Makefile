# `make demo` and `make test` are all a newcomer needs; both do their own set-up. `make help` lists the rest.

PROFILE := quick
BUILD   := build
PREFIX  ?= /usr/local

.PHONY: help demo test check everything install test-rust test-c test-python test-node test-readme test-wire test-interop clean

help:
	@echo 'make demo        watch a real client hear changes from servers in four languages'
	@echo 'make test        set up, build, check and test everything'
	@echo 'make check       formatters and linters'
	@echo 'make everything  the reference server in Rust, C, Python and Node: build/everything-*'
	@echo 'make install     the C library, to PREFIX (default $(PREFIX))'

everything: $(BUILD)
	sh tests/everything/rust/build.sh $(PROFILE)
	sh tests/everything/c/build.sh $(PROFILE)
	sh tests/everything/python/build.sh $(PROFILE)
	sh tests/everything/node/build.sh $(PROFILE)

$(BUILD):
	mkdir -p $(BUILD)

demo: everything
	npm ci --silent --prefix examples/demo
	node examples/demo/demo.mjs

# Linters last: a failing test says more than a failing comment.
test: everything test-rust test-c test-python test-node test-readme test-wire test-interop check
	@echo 'all tests passed'

check:
	sh tests/check.sh $(PROFILE)

test-rust:
	cargo test --profile $(PROFILE) -p tocsin -p tocsin-ffi -p everything

test-c:
	sh tests/setup.sh valgrind cmake pkg-config
	sh tests/c/run.sh plain
	sh tests/c/run.sh asan
	sh tests/c/run.sh valgrind

test-python:
	sh bindings/python/test.sh $(PROFILE)

test-node:
	sh bindings/node/test.sh $(PROFILE)

test-readme:
	python3 tests/readme/run.py $(PROFILE)

test-wire:
	sh tests/wire/run.sh

test-interop:
	sh tests/interop/run.sh

install:
	cargo build --release -p tocsin-ffi
	sh ffi/install.sh release '$(PREFIX)'

clean:
	rm -rf $(BUILD) target
