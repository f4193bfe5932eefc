#!/bin/sh
# Charges a card: one line in a ledger, which stands for the bank, under the call's idempotency key.
set -eu
read -r arguments
printf '%s %s\n' "$WAYMARK_IDEMPOTENCY_KEY" "$arguments" >> "${TMPDIR:-/tmp}/waymark-ledger.txt"
printf 'charged %s' "$arguments"
