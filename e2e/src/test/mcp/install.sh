#!/bin/sh
# Installs the official clients of the Model Context Protocol, and the programs next to this script, into a directory, with
# npm, pip and Maven as configured. Fails quickly without a network. Keeps what is already installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
cp "$here/client.mjs" "$here/client.py" "$here/SdkClient.java" .
[ ! -e complete-2 ] || exit 0

npm install --no-save --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error --fetch-retries=0 \
    --fetch-timeout=20000 @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0
[ -e python ] || python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --retries 0 --timeout 20 mcp==2.3.0
mvn -B -ntp -q -f "$here/../../../../worker/src/test/mcp/pom.xml" dependency:copy-dependencies -DoutputDirectory="$PWD/java"
: > complete-2
