#!/bin/sh
# Installs the published packages of Standard Webhooks into a directory, from wherever npm and pip get their packages,
# with the programs next to this script. Gives up soon without a network. What is there already stays.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
cp "$here/verify.mjs" "$here/verify.py" .
[ ! -e complete-1 ] || exit 0

# Without it, npm would install into a directory above.
echo '{}' > package.json
npm install --no-save --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error --fetch-retries=0 \
    --fetch-timeout=20000 standardwebhooks@1.1.1
[ -e python ] || python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --retries 0 --timeout 20 standardwebhooks==1.1.0
: > complete-1
