#!/bin/sh
# Builds the Python package and build/everything-python. Argument: the cargo profile.
set -eu
cd "$(dirname "$0")/../../.."
profile=${1:-quick}
venv=build/venv-python
requirements=bindings/python/requirements.txt

# Set-up is repeated only when the pinned versions change.
if ! cmp -s "$venv/requirements.txt" $requirements; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r $requirements
    cp $requirements "$venv/requirements.txt"
fi
# As a wheel, and only if it is a new one: whoever runs the old one is left in peace. A fixed date makes equal sources
# an equal wheel.
wheels=build/wheels
rm -rf $wheels
SOURCE_DATE_EPOCH=1577836800 "$venv/bin/maturin" build --quiet --profile "$profile" --compatibility linux \
    --out $wheels -m bindings/python/Cargo.toml
if ! cmp -s $wheels/tocsin-*.whl "$venv/tocsin.whl"; then
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall $wheels/tocsin-*.whl
    cp $wheels/tocsin-*.whl "$venv/tocsin.whl"
fi

cat > build/everything-python.new <<'END'
#!/bin/sh
cd "$(dirname "$0")/.."
exec build/venv-python/bin/python tests/everything/python/everything.py "$@"
END
chmod +x build/everything-python.new
mv build/everything-python.new build/everything-python
