#!/bin/sh
# Charges a card: one line in the ledger. Then it takes so long to say so that it never does, in this story.
set -eu
read -r arguments
echo $$ > charging
echo "$WAYMARK_IDEMPOTENCY_KEY $arguments" >> ledger
sleep 30
echo charged
