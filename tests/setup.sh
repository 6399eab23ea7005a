#!/bin/sh
# Installs system packages that a test needs and the machine lacks. Arguments: Debian package names, each also the name
# of its program.
set -eu
missing=
for name in "$@"; do
    command -v "$name" >/dev/null 2>&1 || missing="$missing $name"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
    echo "the tests need these programs:$missing; install them and try again" >&2
    exit 1
fi
