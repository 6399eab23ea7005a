#!/bin/sh
# Builds the Node package and build/everything-node. Argument: the cargo profile.
set -eu
cd "$(dirname "$0")/../../.."
export CARGO_PROFILE_NODE="${1:-quick}"
here=tests/everything/node
[ bindings/node/node_modules/.package-lock.json -nt bindings/node/package-lock.json ] || npm ci --silent --prefix bindings/node
npm run --silent --prefix bindings/node build
mkdir -p build $here/node_modules
ln -sfn ../../../../bindings/node $here/node_modules/tocsin
# Renamed into place: somebody may be running the old one.
cat > build/everything-node.new <<'END'
#!/bin/sh
exec node "$(dirname "$0")/../tests/everything/node/everything.mjs" "$@"
END
chmod +x build/everything-node.new
mv build/everything-node.new build/everything-node
