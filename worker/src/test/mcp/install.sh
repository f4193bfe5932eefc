#!/bin/sh
# Installs reference servers of the Model Context Protocol into a directory, from wherever npm and pip get their packages.
# Gives up soon without a network. What is there already stays.
set -eu
mkdir -p "$1"
cd "$1"
[ ! -e complete ] || exit 0

npm install --no-save --no-package-lock --no-audit --no-fund --loglevel=error --fetch-retries=0 --fetch-timeout=20000 \
    @modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --retries 0 --timeout 20 mcp-server-time==2026.10.19
: > complete
