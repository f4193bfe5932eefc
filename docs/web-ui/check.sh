#!/usr/bin/env bash
# Answers an agent's question in the Web UI, as an operator does, in a headless Chromium against a real Temporal server;
# takes the screenshots of README.md, and looks at a forgotten thread beside a readable one through the codec server.
#
#     docs/web-ui/check.sh [--screenshots DIR]
#
# One line a check, "ok" or "FAILED", on stdout; exit code 0 when all hold, 1 when one does not, 2 when it cannot run.
# Screenshots go to DIR, by default to where this script is.
#
# Needs Node.js 18 or newer, chromium and chromedriver (Debian: apt-get install chromium chromium-driver), and the
# temporal command on PATH, in TEMPORAL_CLI or in Go's bin directory. Server, Web UI and browser get free ports on
# 127.0.0.1 and a directory of their own, and are ended with the script.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
screenshots=$here

die() {
    echo "check: $*" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
        --screenshots)
            [ $# -gt 1 ] || die "no directory: --screenshots. Name one"
            mkdir -p "$2"
            screenshots=$(cd "$2" && pwd -P)
            shift 2
            ;;
        *) die "unknown option: $1. See the script's head" ;;
    esac
done

for program in node chromium chromedriver; do
    command -v "$program" >/dev/null || die "not found: $program. Install it"
done

# The same places where ./waymark looks. Without the real server there is no Web UI.
if [ -z "${TEMPORAL_CLI:-}" ]; then
    TEMPORAL_CLI=$(command -v temporal || true)
    if [ -z "$TEMPORAL_CLI" ] && command -v go >/dev/null; then
        TEMPORAL_CLI=$(go env GOPATH)/bin/temporal
    fi
fi
[ -x "$TEMPORAL_CLI" ] || die "not found: temporal. Put it on PATH, or set TEMPORAL_CLI"
export TEMPORAL_CLI

work=$(mktemp -d "${TMPDIR:-/tmp}/waymark-web-ui.XXXXXX")
dev=
browser=
codec=
finish() {
    local process
    for process in $browser $codec $dev; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

failed=0
check() { # WHAT COMMAND...
    local what=$1
    shift
    if "$@"; then
        echo "ok      $what"
    else
        echo "FAILED  $what"
        failed=1
    fi
}

# Prints a field of the JSON document on stdin.
field() { node -e 'console.log(JSON.parse(require("fs").readFileSync(0, "utf8"))[process.argv[1]] ?? "")' "$1"; }

# --- A server, a worker, and a run that waits for an answer -----------------------------------------------------------

# Nobody's settings but these. What is missing is built by the first call.
unset TEMPORAL_NAMESPACE TEMPORAL_PROFILE TEMPORAL_API_KEY TEMPORAL_TLS WAYMARK_TASK_QUEUE WAYMARK_SAVER WAYMARK_CODEC_KEYS \
    WAYMARK_THREAD_KEYS WAYMARK_CODEC_TOKEN
export TEMPORAL_CONFIG_FILE=$work/no-config.toml
"$root/waymark" --version >/dev/null

# Waits for the line that a program ($1, its name; $2, its process) prints when it is ready.
ready() {
    for _ in $(seq 600); do
        [ ! -s "$work/$1.json" ] || return 0
        kill -0 "$2" 2>/dev/null || break
        sleep 0.1
    done
    die "waymark $1 does not become ready: $(tail -n 5 "$work/$1.log")"
}

"$root/waymark" dev --json --agents "$here/agents" --db "$work/temporal.db" --port 0 --ui-port 0 \
    >"$work/dev.json" 2>"$work/dev.log" &
dev=$!
ready dev "$dev"
TEMPORAL_ADDRESS=$(field address <"$work/dev.json")
export TEMPORAL_ADDRESS
ui=$(field ui <"$work/dev.json")

thread=$("$root/waymark" run --json --no-wait --agent booking "A table for two, please" | field thread)
waits() { [ "$("$root/waymark" result --json --timeout 30s "$thread" | field question)" = "Thursday or Friday?" ]; }
check "the run waits for an answer" waits

# --- In the browser ---------------------------------------------------------------------------------------------------

node "$here/browser.mjs" "$ui" "$thread" "$work" "$screenshots" &
browser=$!
wait "$browser" || failed=1
browser=

# --- As the history tells it ------------------------------------------------------------------------------------------

completed() {
    local result
    result=$("$root/waymark" result --json --timeout 30s "$thread") &&
        [ "$(field status <<<"$result")" = complete ] && [ "$(field text <<<"$result")" = "Your table is booked." ]
}
answered() { "$root/waymark" show --json "$thread" | grep -qE '"(content|text)":"Friday"'; }
check "./waymark result: the run is complete" completed
check "./waymark show: the answer is in the conversation" answered

# --- An encrypted thread that can be read, and a forgotten one --------------------------------------------------------

kill "$dev"
wait "$dev" 2>/dev/null || true
rm "$work/dev.json"
mkdir -m 700 "$work/keys"
WAYMARK_CODEC_KEYS=check:$(head -c 32 /dev/urandom | base64)
export WAYMARK_CODEC_KEYS WAYMARK_THREAD_KEYS=file:$work/keys WAYMARK_CODEC_TOKEN=check-$RANDOM
"$root/waymark" dev --json --agents "$here/agents" --db "$work/encrypted.db" --port 0 --ui-port 0 \
    >"$work/dev.json" 2>"$work/dev.log" &
dev=$!
ready dev "$dev"
TEMPORAL_ADDRESS=$(field address <"$work/dev.json")
ui=$(field ui <"$work/dev.json")
"$root/waymark" codec --json --port 0 --ui-origin "$ui" >"$work/codec.json" 2>"$work/codec.log" &
codec=$!
ready codec "$codec"
for thread in kept trip; do
    "$root/waymark" run --json --agent booking --thread "$thread" "A table for canary-4711" >/dev/null || true
done
forgets() { "$root/waymark" forget trip --terminate --yes >/dev/null 2>&1; }
check "a thread is forgotten" forgets

rm -rf "$work/chromium"
node "$here/forgotten.mjs" "$ui" kept "$work" "$screenshots" trip "$(field address <"$work/codec.json")" \
    "$WAYMARK_CODEC_TOKEN" canary-4711 &
browser=$!
wait "$browser" || failed=1
browser=

exit "$failed"
