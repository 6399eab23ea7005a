#!/bin/sh
# Builds build/everything-rust. Argument: the cargo profile.
set -eu
cd "$(dirname "$0")/../../.."
profile=${1:-quick}
cargo build --profile "$profile" -p everything
mkdir -p build
cp "target/$profile/everything" build/everything-rust
