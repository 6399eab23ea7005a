#!/bin/sh
# Programs outside of the tree build against an installed library: by pkg-config and by CMake, in C and C++, shared and
# static. Argument: the cargo profile.
set -eu
cd "$(dirname "$0")/../.."
for tool in pkg-config cmake; do
    command -v $tool >/dev/null || { echo "this test needs $tool; install it (sh tests/setup.sh $tool)" && exit 1; }
done
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# Staged under DESTDIR, then moved to where it is meant to be.
DESTDIR=$place/stage sh ffi/install.sh "$1" "$place/prefix"
mv "$place/stage$place/prefix" "$place/prefix"
export PKG_CONFIG_PATH=$place/prefix/lib/pkgconfig

cat >"$place/program.c" <<'END'
#include <stdio.h>
#include <tocsin.h>

int main(void) {
    tocsin_server_options options = {.struct_size = sizeof options, .name = tocsin_cstr("p"), .version = tocsin_cstr("1")};
    tocsin_server *server = NULL;
    if (tocsin_server_new(&options, &server, NULL) != TOCSIN_STATUS_OK || tocsin_serve_stdio(server, NULL) != TOCSIN_STATUS_OK) {
        return 1;
    }
    tocsin_server_free(server);
    puts(tocsin_version());
    return 0;
}
END
cat >"$place/program.cpp" <<'END'
#include <iostream>
#include <tocsin.hpp>

int main() {
    tocsin::Server server("p", "1");
    server.serve_stdio();
    std::cout << tocsin_version() << std::endl;
}
END
version=$(pkg-config --modversion tocsin)
try() {
    [ "$(LD_LIBRARY_PATH=$place/prefix/lib "$1" </dev/null)" = "$version" ] || { echo "$1 fails" && exit 1; }
}

cd "$place"
gcc -Wall -Werror program.c -o c-shared $(pkg-config --cflags --libs tocsin)
g++ -std=c++17 -Wall -Werror program.cpp -o cpp-shared $(pkg-config --cflags --libs tocsin)
# The shared library out of the way: --static alone does not keep the linker from it.
mkdir static && cp prefix/lib/libtocsin.a static
gcc -Wall -Werror program.c -o c-static -Lstatic $(pkg-config --static --cflags --libs tocsin | sed "s|-L$place/prefix/lib||")
for program in c-shared cpp-shared c-static; do
    try ./$program
done
ldd c-shared | grep -q 'libtocsin\.so\.0 ' || { echo "c-shared does not ask for libtocsin.so.0" && exit 1; }
! ldd c-static | grep -q libtocsin || { echo "c-static asks for the shared library" && exit 1; }

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(outside C CXX)
find_package(tocsin 0.1 REQUIRED)
set(CMAKE_CXX_STANDARD 17)
add_executable(cmake-c program.c)
target_link_libraries(cmake-c tocsin::tocsin)
add_executable(cmake-cpp program.cpp)
target_link_libraries(cmake-cpp tocsin::tocsin)
add_executable(cmake-static program.c)
target_link_libraries(cmake-static tocsin::static)
END
cmake -S . -B build -DCMAKE_PREFIX_PATH="$place/prefix" >cmake.log 2>&1 || { cat cmake.log && exit 1; }
cmake --build build >>cmake.log 2>&1 || { cat cmake.log && exit 1; }
for program in cmake-c cmake-cpp cmake-static; do
    try build/$program
done
