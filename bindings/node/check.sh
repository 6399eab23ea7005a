#!/bin/sh
# Formatter, linter and types of the Node package; any finding fails.
set -eu
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --silent
npm run --silent lint
npm run --silent build:ts
npx tsc -p test/types
