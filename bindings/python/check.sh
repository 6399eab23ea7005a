#!/bin/sh
# Linters and types of the Python package and of the everything server in Python.
set -eu
cd "$(dirname "$0")/../.."
bin=build/venv-python/bin
[ -x "$bin/ruff" ] || sh tests/everything/python/build.sh quick
"$bin/ruff" check --config bindings/python/pyproject.toml bindings/python tests/everything/python examples/first
"$bin/ruff" format --check --config bindings/python/pyproject.toml bindings/python tests/everything/python examples/first
cd bindings/python
../../"$bin/mypy"
# Against the package as it is installed.
../../"$bin/python" -m mypy.stubtest tocsin._native
