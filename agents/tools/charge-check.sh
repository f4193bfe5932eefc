#!/bin/sh
# Looks whether the charge of this key is in the ledger.
set -eu
if grep -q "^$WAYMARK_IDEMPOTENCY_KEY " "${TMPDIR:-/tmp}/waymark-ledger.txt"; then
    echo '{"landed":true}'
else
    echo '{"landed":false}'
fi
