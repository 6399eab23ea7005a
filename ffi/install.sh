#!/bin/sh
# Installs the C library: headers, shared and static library, pkg-config and CMake files.
# Arguments: the cargo profile that was built, and the prefix. DESTDIR is honoured.
set -eu
cd "$(dirname "$0")/.."
profile=$1
prefix=$2
root=${DESTDIR:-}$prefix
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
abi=$(sed -n 's/^#define TOCSIN_ABI_VERSION \([0-9]*\).*/\1/p' include/tocsin.h)
# What a program that links the static library needs beside it: rustc's own list.
native='-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc'

mkdir -p "$root/include" "$root/lib/pkgconfig" "$root/lib/cmake/tocsin"
install -m 644 include/tocsin.h include/tocsin.hpp "$root/include"
install -m 755 "target/$profile/libtocsin.so" "$root/lib/libtocsin.so.$version"
ln -sf "libtocsin.so.$version" "$root/lib/libtocsin.so.$abi"
ln -sf "libtocsin.so.$abi" "$root/lib/libtocsin.so"
install -m 644 "target/$profile/libtocsin.a" "$root/lib"

fill() {
    sed -e "s|@PREFIX@|$prefix|; s|@VERSION@|$version|; s|@ABI@|$abi|; s|@NATIVE_LIBS@|$2|" "ffi/pkg/$1.in" >"$3"
}
fill tocsin.pc "$native" "$root/lib/pkgconfig/tocsin.pc"
for file in tocsinConfig.cmake tocsinConfigVersion.cmake; do
    fill "$file" "$(echo "$native" | tr ' ' ';')" "$root/lib/cmake/tocsin/$file"
done
