#!/bin/sh
# Installs published generators of API clients, and the programs next to this script, into a directory, with npm and pip as
# configured. Fails quickly without a network. Keeps what is already installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
cp "$here/calls.ts" "$here/calls.py" "$here/tsconfig.json" .
[ ! -e complete-1 ] || exit 0

# Without it, npm would install into a directory above.
echo '{ "type": "module" }' > package.json
npm install --no-save --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error --fetch-retries=0 \
    --fetch-timeout=20000 openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.3
[ -e python ] || python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --retries 0 --timeout 20 openapi-python-client==0.29.1 \
    mypy==2.4.1
: > complete-1
