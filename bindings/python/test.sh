#!/bin/sh
# Tests the Python package, built into build/venv-python. Argument: the cargo profile.
set -eu
cd "$(dirname "$0")/../.."
sh tests/everything/python/build.sh "${1:-quick}"
cd bindings/python
exec ../../build/venv-python/bin/python -B -m pytest -q -n 2
