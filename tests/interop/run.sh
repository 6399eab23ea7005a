#!/bin/sh
# Real clients against the everything servers, over stdio. Sets up what it needs, once.
# TOCSIN_SERVERS=rust,c limits the servers; naming "node" or "python" as an argument limits the clients.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../.." && pwd)
venv=$root/build/interop-venv
clients=${*:-node python}
failed=

# Set-up is repeated only when the pinned versions change.
fresh() { [ -f "$1" ] && cmp -s "$1" "$2"; }

for client in $clients; do
  case $client in
  node)
    mark=$here/node/node_modules/.interop-lock
    if ! fresh "$mark" "$here/node/package-lock.json"; then
      (cd "$here/node" && npm ci --no-audit --no-fund)
      cp "$here/node/package-lock.json" "$mark"
    fi
    (cd "$here/node" && node --test --test-reporter=spec) || failed="$failed node"
    ;;
  python)
    mark=$venv/requirements.txt
    if ! fresh "$mark" "$here/python/requirements.txt"; then
      python3 -m venv "$venv"
      "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/python/requirements.txt"
      cp "$here/python/requirements.txt" "$mark"
    fi
    (cd "$here/python" && "$venv/bin/python" -B -m pytest -q) || failed="$failed python"
    ;;
  *)
    echo "run.sh: no client '$client'; there are node and python" >&2
    exit 2
    ;;
  esac
done

if [ -n "$failed" ]; then
  echo "interop: failed:$failed" >&2
  exit 1
fi
