#!/bin/sh
# The wire tests against the everything servers. Sets up what it needs, once. Arguments go to pytest.
# TOCSIN_SERVERS=rust,c limits the servers.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../.." && pwd)
venv=$root/build/wire-venv

# Set-up is repeated only when the pinned versions change.
if ! cmp -s "$venv/requirements.txt" "$here/requirements.txt"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/requirements.txt"
fi
cd "$here"
exec "$venv/bin/python" -B -m pytest -q -n 2 ${TOCSIN_SERVERS:+--servers "$TOCSIN_SERVERS"} "$@"
