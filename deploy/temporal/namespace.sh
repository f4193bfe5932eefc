#!/bin/sh
# Creates the namespace TEMPORAL_NAMESPACE, which keeps closed runs for RETENTION, and waits until the server finds it.
# Does not change an existing namespace, because a shorter retention would delete histories. Then creates the missing
# search attributes of threads, as `waymark setup` does. Reads
# TEMPORAL_ADDRESS.
set -eu

tries=30
until temporal workflow list --namespace "$TEMPORAL_NAMESPACE" --limit 1 >/dev/null 2>&1; do
    temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
        temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION" || true
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || exit 1
    sleep 1
done

temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" \
    --name WaymarkAgent --type Keyword \
    --name WaymarkStatus --type Keyword \
    --name WaymarkWaitingFor --type KeywordList
