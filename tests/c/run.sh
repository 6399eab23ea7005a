#!/bin/sh
# Builds and runs the C and C++ tests, each a program, and the snippets of docs/c.md.
# Arguments: plain, asan or valgrind; then names of tests, if not all are wanted.
set -u
cd "$(dirname "$0")/../.."
mode=${1:-plain}
[ $# -gt 0 ] && shift
profile=${PROFILE:-quick}
library=target/$profile
out=build/c-tests/$mode
mkdir -p "$out"
cargo build --quiet --profile "$profile" -p tocsin-ffi || exit 1
ln -sf libtocsin.so "$library/libtocsin.so.0"

warnings='-Wall -Wextra -Wpedantic -Werror'
flags="-g -O1 -Iinclude -Itests/c"
case $mode in
plain) under= ;;
asan)
    flags="$flags -fsanitize=address,undefined -fno-omit-frame-pointer"
    # The library itself is not instrumented, but its allocations are seen.
    export ASAN_OPTIONS=detect_stack_use_after_return=1:detect_leaks=1
    under=
    ;;
valgrind)
    under="valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect \
        --errors-for-leak-kinds=definite,indirect --trace-children=no --fair-sched=try"
    ;;
*)
    echo "usage: $0 [plain|asan|valgrind] [test...]" >&2
    exit 2
    ;;
esac
link="-L$library -ltocsin -pthread -lm -Wl,-rpath,$PWD/$library"
export TOCSIN_TEST_MODE=$mode

passed=0 failed=0
# Arguments: a name, then the command.
check() {
    name=$1
    shift
    if timeout 300 "$@" >"$out/$name.log" 2>&1; then
        passed=$((passed + 1))
    else
        echo "FAILED $mode $name (status $?)"
        tail -n 40 "$out/$name.log" | sed 's/^/    /'
        failed=$((failed + 1))
    fi
}

wanted() {
    [ -z "$names" ] && return 0
    case " $names " in *" $1 "*) return 0 ;; esac
    return 1
}
names=$*

for source in tests/c/*.c tests/cpp/*.cpp; do
    name=$(basename "$source")
    name=${name%.*}
    wanted "$name" || continue
    case $source in
    *.cpp) compiler="g++ -std=c++17 $warnings" ;;
    *) compiler="gcc -std=c11 $warnings" ;;
    esac
    if $compiler $flags "$source" -o "$out/$name" $link 2>"$out/$name.log"; then
        check "$name" $under "$out/$name"
    else
        echo "FAILED $mode $name (does not compile)"
        sed 's/^/    /' "$out/$name.log" | head -n 40
        failed=$((failed + 1))
    fi
done

# The guide's snippets: whole programs, which serve an empty input.
if wanted docs; then
    rm -rf "$out/docs"
    mkdir -p "$out/docs"
    awk -v out="$out/docs" '
        /^```(c|cpp)$/ { n++; file = sprintf("%s/%02d.%s", out, n, substr($0, 4)); next }
        /^```/ { file = ""; next }
        file != "" { print > file }' docs/c.md
    for source in "$out"/docs/*; do
        name=docs-$(basename "$source" | tr . -)
        case $source in
        *.cpp) compiler="g++ -std=c++17 $warnings" ;;
        *) compiler="gcc -std=c11 $warnings" ;;
        esac
        if $compiler $flags "$source" -o "$out/$name" $link 2>"$out/$name.log"; then
            check "$name" sh -c "$under $out/$name </dev/null"
        else
            echo "FAILED $mode $name (does not compile)"
            sed 's/^/    /' "$out/$name.log" | head -n 40
            failed=$((failed + 1))
        fi
    done
fi

if [ "$mode" = plain ]; then
    wanted headers && check headers sh tests/c/headers.sh
    wanted install && check install sh tests/c/install.sh "$profile"
    wanted exports && check exports sh tests/c/exports.sh "$library"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
