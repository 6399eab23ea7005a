#!/bin/sh
# Builds and tests the Node package. Argument: the cargo profile.
set -eu
cd "$(dirname "$0")/../.."
sh tests/everything/node/build.sh "${1:-quick}"
cd bindings/node
npm run --silent lint
npm test --silent
