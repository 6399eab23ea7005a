#!/bin/sh
# Builds build/everything-c. Argument: the cargo profile.
set -eu
cd "$(dirname "$0")/../../.."
profile=${1:-quick}
cargo build --profile "$profile" -p tocsin-ffi
mkdir -p build
# The library is found where it was built; it is known by its SONAME.
ln -sf libtocsin.so "target/$profile/libtocsin.so.0"
gcc -std=c11 -O2 -Wall -Wextra -Werror -Iinclude tests/everything/c/*.c -o build/everything-c \
    -L"target/$profile" -ltocsin -pthread -Wl,-rpath,"\$ORIGIN/../target/$profile"
