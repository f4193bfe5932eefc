#!/usr/bin/env bash
# Healthy if this container's worker has polled the server for workflow tasks in the last 80 seconds. A poll lasts at
# most one minute, so an idle worker stays healthy, and one that hangs or has lost its server does not.
# (Polls for activity tasks do not count, because a worker stops polling for them while long tools use all its slots.)
# Reads TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, WAYMARK_TASK_QUEUE.
set -euo pipefail

# The identity of a Java worker is PID@HOST.
last=$(temporal task-queue describe --task-queue "${WAYMARK_TASK_QUEUE:-waymark}" --output jsonl |
    tr '{' '\n' | grep '"workflow"' | grep -F "@$(hostname)\"" |
    grep -o '"lastAccessTime": *"[^"]*"' | cut -d'"' -f4 | sort | tail -n 1)
[ -n "$last" ] && [ $(($(date +%s) - $(date -d "$last" +%s))) -lt 80 ]
