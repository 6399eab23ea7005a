#!/bin/sh
# The library exports what the header declares, and nothing else; it has its SONAME, and stays in memory.
set -eu
cd "$(dirname "$0")/../.."
library=$1/libtocsin.so
declared=$(grep -o 'tocsin_[a-z_]*(' include/tocsin.h | tr -d '(' | sort -u |
    grep -v -e '^tocsin_cstr$' | while read -r name; do
    grep -q "^TOCSIN_API .*[ *]$name(" include/tocsin.h && echo "$name"
done)
exported=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort -u)
if [ "$declared" != "$exported" ]; then
    echo "declared in the header, and exported by $library:"
    echo "$declared" >/tmp/tocsin-declared.$$
    echo "$exported" | diff /tmp/tocsin-declared.$$ - || true
    rm -f /tmp/tocsin-declared.$$
    exit 1
fi
readelf -d "$library" | grep -q 'SONAME.*\[libtocsin.so.0\]' || { echo "no SONAME libtocsin.so.0" && exit 1; }
readelf -d "$library" | grep -q 'NODELETE' || { echo "no NODELETE flag" && exit 1; }
# A static library cannot hide its symbols, but it must have the header's.
for name in $declared; do
    nm --defined-only "$1/libtocsin.a" 2>/dev/null | grep -q " T $name$" || { echo "$name is not in libtocsin.a" && exit 1; }
done
