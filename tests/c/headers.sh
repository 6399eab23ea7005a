#!/bin/sh
# Each header compiles by itself, included twice, in every language that it promises.
set -eu
cd "$(dirname "$0")/../.."
for standard in c99 c11 c17; do
    printf '#include <tocsin.h>\n#include <tocsin.h>\n' |
        gcc -std=$standard -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -x c -
done
for standard in c++17 c++20; do
    for header in tocsin.h tocsin.hpp; do
        printf '#include <%s>\n#include <%s>\n' $header $header |
            g++ -std=$standard -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -x c++ -
    done
done
lines=$(wc -l <include/tocsin.h)
[ "$lines" -lt 500 ] || { echo "include/tocsin.h has grown to $lines lines" && exit 1; }
