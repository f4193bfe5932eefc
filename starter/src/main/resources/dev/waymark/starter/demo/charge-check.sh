#!/bin/sh
# Tells whether the charge of this key is in the ledger.
set -eu
if grep -q "^$WAYMARK_IDEMPOTENCY_KEY " ledger; then
    echo '{"landed":true,"result":"Charged, as the ledger says."}'
else
    echo '{"landed":false}'
fi
