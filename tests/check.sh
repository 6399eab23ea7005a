#!/bin/sh
# Formatters and linters of all languages; any finding fails. Argument: the cargo profile.
set -eu
cd "$(dirname "$0")/.."
profile=${1:-quick}
cargo fmt --all --check
cargo clippy --profile "$profile" --workspace --exclude tocsin-node --all-targets -- -D warnings
# Its exports are only there where Node loads it, so as a test it would be all dead code.
cargo clippy --profile "$profile" -p tocsin-node -- -D warnings
sh bindings/python/check.sh
sh bindings/node/check.sh
for standard in c99 c11; do
    echo '#include <tocsin.h>' | gcc -std=$standard -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -x c -
done
printf '#include <tocsin.h>\n#include <tocsin.hpp>\n' |
    g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -x c++ -
echo 'checks passed'
