#!/bin/sh
# Installs reference servers and the official SDKs of the Model Context Protocol into a directory, from wherever npm, pip
# and Maven get their packages, with the programs next to this script. Gives up soon without a network. What is there
# already stays.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
cp "$here/server.mjs" "$here/server.py" "$here/SdkServer.java" "$here/pom.xml" .
[ ! -e complete-3 ] || exit 0

npm install --no-save --no-package-lock --no-audit --no-fund --loglevel=error --fetch-retries=0 --fetch-timeout=20000 \
    @modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31
# The servers above need another version of the SDK than the newest.
mkdir -p sdk
cp server.mjs sdk
# Without it, npm would install into the directory above.
echo '{}' > sdk/package.json
(cd sdk && npm install --no-save --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error --fetch-retries=0 \
    --fetch-timeout=20000 @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/server@2.4.0 \
    @modelcontextprotocol/node@2.1.2 zod@4)
mkdir -p conformance
echo '{}' > conformance/package.json
(cd conformance && npm install --no-save --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error \
    --fetch-retries=0 --fetch-timeout=20000 @modelcontextprotocol/conformance@0.2.0-alpha.12)
# Only a command that is not used here needs globSync, which Node.js has since version 22.
sed -i 's/globSync as a,//' conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js
[ -e python ] || python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --retries 0 --timeout 20 \
    mcp==2.3.0 mcp-server-time==2026.10.19
mvn -B -ntp -q -f pom.xml dependency:copy-dependencies -DoutputDirectory=java
: > complete-3
