#!/usr/bin/env bash
# Healthy: the server has heard this container's worker ask for workflow tasks in the last 80 seconds. A poll lasts one
# minute at most, so a worker that hangs, or has lost its server, is told apart from one that has nothing to do.
# (Activity tasks do not count: a worker whose slots are all taken by long tools rightly stops asking for more.)
# Reads TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, WAYMARK_TASK_QUEUE.
set -euo pipefail

# Java workers are called PID@HOST.
last=$(temporal task-queue describe --task-queue "${WAYMARK_TASK_QUEUE:-waymark}" --output jsonl |
    tr '{' '\n' | grep '"workflow"' | grep -F "@$(hostname)\"" |
    grep -o '"lastAccessTime": *"[^"]*"' | cut -d'"' -f4 | sort | tail -n 1)
[ -n "$last" ] && [ $(($(date +%s) - $(date -d "$last" +%s))) -lt 80 ]
