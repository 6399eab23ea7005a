#!/bin/sh
# Builds build/everything-rust. Argument: the cargo profile.
set -eu
cd "$(dirname "$0")/../../.."
profile=${1:-quick}
cargo build --profile "$profile" -p everything
mkdir -p build
# A copy in its place, also while the old one runs.
cp "target/$profile/everything" build/everything-rust.new
mv build/everything-rust.new build/everything-rust
