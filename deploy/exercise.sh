#!/usr/bin/env bash
# Exercises docker-compose.yml on a machine without a container engine: the same programs at the versions that it pins,
# started with the commands, environment, files and health checks that it gives them.
#
#     sudo deploy/exercise.sh [--server-only]
#
# Everything runs in separate namespaces: a loopback interface that nothing else reaches, on which the services' names
# resolve to 127.0.0.1, and a process tree that ends with this script. Running processes are not affected.
#
# Needs root (for the namespaces, and to become the postgres user), util-linux, iproute2, jq, curl and Go. The first
# time it builds Temporal's programs with Go, in a few minutes, into ~/.cache/waymark, and installs PostgreSQL from
# Debian's packages if it is missing.
set -euo pipefail
umask 077

root=$(cd "$(dirname "$0")/.." && pwd -P)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/waymark
# Used only to read the compose file if `docker compose` is missing.
compose_version=2.40.3

note() { echo "exercise: $*" >&2; }

die() {
    note "$@"
    exit 2
}

# --- Reading the composition ------------------------------------------------------------------------------------------

# Writes the resolved compose file as one JSON document to $work/compose.json.
composition() {
    local compose=(docker compose)
    if ! docker compose version >/dev/null 2>&1; then
        compose=("$cache/docker-compose-$compose_version")
        [ -x "${compose[0]}" ] || (
            note "building docker compose $compose_version, to read the compose file with"
            cd "$(module_dir "github.com/docker/compose/v2@v$compose_version")" && go build -p 1 -o "${compose[0]}" ./cmd
        )
    fi
    # Uses only these settings. The password shows that secrets come from the environment, with any characters.
    env -i PATH="$PATH" HOME="$HOME" POSTGRES_PASSWORD="p:w@$RANDOM/?#%&\"'" WAYMARK_AGENTS="$work/agents" \
        WAYMARK_TOKENS="$work/tokens" WAYMARK_SETTINGS="$work/settings" WAYMARK_CODEC_KEYS=file:/settings/codec-keys \
        WAYMARK_RECEIVERS=/settings/receivers.yaml WAYMARK_SHARES=agent:clerk=2 \
        "${compose[@]}" --env-file /dev/null --project-directory "$root" --file "$root/docker-compose.yml" \
        --profile http config --format json
}

# The tag of a service's image.
tag() { jq -r --arg service "$1" '.services[$service].image | split(":")[1]' "$work/compose.json"; }

# Prints the strings that a jq expression finds in service $1, as words of this shell. Paths in the container's volumes
# are replaced by paths of this machine.
words() {
    jq -r --arg service "$1" --arg work "$work" '
        .services[$service] as $s
        | def here: reduce ($s.volumes // [])[] as $v (gsub("\\$\\$"; "$");
            (if $v.type == "volume" then "\($work)/volumes/\($v.source)" else $v.source end) as $source
            | sub("(?<before>^|[=:])\($v.target)(?<after>/|$)"; "\(.before)\($source)\(.after)"));
        $s | '"$2"' | map(tostring | here) | @sh' "$work/compose.json"
}

# Prints the JSON list at the end of the Dockerfile's line with $1.
dockerfile() { sed -n "s/^$1[^[]*\(\[.*\]\)\$/\1/p" "$root/Dockerfile"; }

# --- Programs ---------------------------------------------------------------------------------------------------------

module_dir() { go mod download -json "$1" | jq -r .Dir; }

# Installs Go programs into a separate directory, because the name of one of Temporal's is just `server`.
install_go() {
    local dir=$cache/$1
    shift
    [ -e "$dir/complete" ] && return
    note "building $*"
    GOBIN=$dir go install -p 1 "$@"
    touch "$dir/complete"
}

prepare() {
    [ "$(id -u)" = 0 ] || die "needs root. Run it with sudo"
    local program
    for program in unshare setpriv ip jq curl go; do
        command -v "$program" >/dev/null || die "not found: $program. Install it"
    done
    mkdir -p "$cache" "$work"/{bin,volumes,home,agents,tokens,settings,logs}
    chmod 711 "$work" "$work/volumes"
    composition >"$work/compose.json"

    local server ui postgres
    server=$(tag temporal) ui=$(tag ui) postgres=$(tag postgres)

    install_go "temporal-$server" "go.temporal.io/server/cmd/server@v$server" "go.temporal.io/server/cmd/tools/sql@v$server"
    ln -s "$cache/temporal-$server/server" "$work/bin/temporal-server"
    ln -s "$cache/temporal-$server/sql" "$work/bin/temporal-sql-tool"

    # The image has 1.5.0, which Go cannot install: a module that it needs is not in the checksum database.
    program=${TEMPORAL_CLI:-$(command -v temporal || true)}
    if [ -z "$program" ]; then
        install_go cli-1.5.1 github.com/temporalio/cli/cmd/temporal@v1.5.1
        program=$cache/cli-1.5.1/temporal
    fi
    ln -s "$program" "$work/bin/temporal"

    # As in the image, the program and its configuration are in one directory.
    install_go "ui-$ui" "github.com/temporalio/ui-server/v2/cmd/server@v$ui"
    mkdir -p "$work/ui/config"
    ln -s "$cache/ui-$ui/server" "$work/ui/ui-server"
    cp "$(module_dir "github.com/temporalio/ui-server/v2@v$ui")/config/docker.yaml" "$work/ui/config/"

    if [ -z "$server_only" ] && ! command -v tini >/dev/null; then
        command -v apt-get >/dev/null || die "not found: tini. Install it"
        note "installing tini"
        apt-get update -qq && apt-get install -y -qq tini >/dev/null
    fi

    postgres_bin=/usr/lib/postgresql/${postgres%%.*}/bin
    if [ ! -x "$postgres_bin/postgres" ]; then
        command -v apt-get >/dev/null || die "not found: $postgres_bin/postgres. Install PostgreSQL ${postgres%%.*}"
        note "installing PostgreSQL ${postgres%%.*}"
        apt-get update -qq && apt-get install -y -qq "postgresql-${postgres%%.*}" >/dev/null
    fi

    [ -n "$server_only" ] || { "$root/waymark" --version && "$root/waymark" worker --version; } >/dev/null
}

# --- Services ---------------------------------------------------------------------------------------------------------

declare -A pids=()

# Replaces this process by the command $2…, with the settings that the compose file has for service $1.
become() {
    local service=$1
    shift
    eval "local environment=($(words "$service" '.environment // {} | to_entries | map(select(.value != null) | "\(.key)=\(.value)")'))"
    exec env -i PATH="$work/bin:$postgres_bin:$PATH" HOME="$work/home" ${JAVA_HOME:+JAVA_HOME="$JAVA_HOME"} \
        "${environment[@]}" "$@"
}

# Starts a service in the background, and keeps its process id.
start() {
    local service=$1 directory
    eval "directory=$(words "$service" '[.working_dir // empty]')"
    eval "local command=($(words "$service" '(.entrypoint // []) + (.command // [])'))"
    case $service in # what the image adds
        postgres)
            directory=$work
            command=(setpriv --reuid=postgres --regid=postgres --init-groups env PGDATA="$work/volumes/postgres-data" "${command[@]}")
            ;;
        ui)
            directory=$work/ui
            command=(./ui-server --env docker start)
            ;;
        worker | serve)
            directory=$root
            eval "command=($(dockerfile ENTRYPOINT | jq -r @sh) \"\${command[@]}\")"
            ;;
    esac
    (cd "$directory" && become "$service" "${command[@]}") >>"$work/logs/$service" 2>>"$work/logs/$service.err" &
    pids[$service]=$!
}

# Runs a one-shot service to its end.
job() {
    eval "local directory=$(words "$1" '[.working_dir]')"
    eval "local command=($(words "$1" '.entrypoint + (.command // [])'))"
    (cd "$directory" && become "$1" "${command[@]}")
}

# Waits until the service's own health check succeeds.
healthy() {
    local service=$1 tries=120
    if [ "$service" = worker ]; then
        eval "local check=($(dockerfile HEALTHCHECK | jq -r @sh))"
    else
        eval "local check=($(words "$service" '.healthcheck.test[1:]'))"
    fi
    until (cd "$root" && become "$service" timeout 10 "${check[@]}"); do
        kill -0 "${pids[$service]}" || { echo "$service is not running:"; tail -n 10 "$work/logs/$service" "$work/logs/$service.err"; return 1; }
        [ $((tries -= 1)) -gt 0 ] || return 1
        sleep 0.5
    done
}

kill_hard() {
    local service
    for service in "$@"; do kill -9 "${pids[$service]}"; done
    for service in "$@"; do wait "${pids[$service]}" 2>/dev/null || true; done
    # A container's processes end together; here, PostgreSQL's processes notice a moment later that their first one is gone.
    case " $* " in *" postgres "*) while pgrep -u postgres >/dev/null; do sleep 0.1; done ;; esac
}

# Does what the image's entrypoint does if the volume is empty.
init_postgres() {
    local data=$work/volumes/postgres-data password=$work/volumes/password environment
    eval "environment=($(words postgres '[.environment | .POSTGRES_USER, .POSTGRES_PASSWORD, .POSTGRES_INITDB_ARGS]'))"
    install -d -o postgres -m 700 "$data"
    install -o postgres -m 600 /dev/stdin "$password" <<<"${environment[1]}"
    # shellcheck disable=SC2086  # several options in one setting
    (cd / && setpriv --reuid=postgres --regid=postgres --init-groups "$postgres_bin/initdb" -D "$data" \
        --username="${environment[0]}" --pwfile="$password" \
        --auth-host=scram-sha-256 --auth-local=trust ${environment[2]}) &&
        printf "listen_addresses = '*'\nunix_socket_directories = ''\n" >>"$data/postgresql.conf"
}

# --- Checks -----------------------------------------------------------------------------------------------------------

# Runs a check, and prints one line about it. The first that fails ends the exercise.
step() {
    local what=$1 from=$SECONDS status
    shift
    set +e
    (
        set -e
        "$@"
    ) >"$work/logs/step" 2>&1
    status=$?
    set -e
    if [ "$status" = 0 ]; then
        printf 'ok      %s%s\n' "$what" "$([ $((SECONDS - from)) -lt 2 ] || echo " ($((SECONDS - from)) s)")"
        return
    fi
    printf 'FAILED  %s\n' "$what"
    tail -n 30 "$work/logs/step" | sed 's/^/        /'
    echo "        The services' logs: $work/logs"
    exit 1
}

# Succeeds if the command fails. (A plain `!` would not end a check.)
refused() { if "$@"; then return 1; fi; }

only_loopback_is_published() { jq -e 'all(.services[].ports // [] | .[]; .host_ip == "127.0.0.1")' "$work/compose.json"; }

images_are_pinned() {
    jq -r '.services[].image // empty' "$work/compose.json" >"$work/images"
    sed -n 's/^FROM \([^ ]*\).*/\1/p; s/^COPY --from=\([^ ]*[:][^ ]*\).*/\1/p' "$root/Dockerfile" >>"$work/images"
    cat "$work/images"
    refused grep -vE ':v?[0-9]+(\.[0-9]+)+' "$work/images"
    # The Dockerfile and the compose file use the same versions of the tools.
    [ -z "$(sort -u "$work/images" | sed 's/:.*//' | uniq -d)" ]
}

dynamic_config_is_known() {
    local says
    says=$("$work/bin/temporal-server" validate-dynamic-config "$root/deploy/temporal/dynamicconfig.yaml")
    refused grep -E 'error|warning' <<<"$says"
}

password_is_asked_for() {
    eval "local environment=($(words postgres '[.environment | .POSTGRES_USER, .POSTGRES_PASSWORD]'))"
    PGPASSWORD=${environment[1]} psql -h 127.0.0.1 -U "${environment[0]}" -d postgres -c 'select version()'
    PGPASSWORD=wrong refused psql -h 127.0.0.1 -U "${environment[0]}" -d postgres -c 'select 1'
}

server_has_the_version() { temporal operator cluster system --output json | jq -e --arg is "$(tag temporal)" '.serverVersion == $is'; }

namespace_has_the_retention() {
    temporal operator namespace describe --namespace default --output json |
        jq -e '.config.workflowExecutionRetentionTtl == "2592000s"'
}

ui_reaches_the_server() {
    curl -fsS http://127.0.0.1:8080/api/v1/cluster-info | jq -e --arg is "$(tag temporal)" '.serverVersion == $is'
    curl -fsSL http://127.0.0.1:8080/ | grep -qi '<html'
}

long_id_is_refused() {
    local id
    id=$(printf 'x%.0s' {1..256})
    refused timeout 10 temporal workflow start --type Probe --task-queue probe --workflow-id "$id" 2>"$work/long"
    cat "$work/long"
    grep 'length exceeds limit' "$work/long"
}

probe_starts() {
    temporal workflow start --type Probe --task-queue probe --workflow-id probe
    temporal workflow signal --workflow-id probe --name first
}

# Succeeds if the probe is open and has received exactly these signals.
probe_has() {
    temporal workflow describe --workflow-id probe --output json | jq -e '.workflowExecutionInfo.status | test("RUNNING")'
    temporal workflow show --workflow-id probe --output json |
        jq -e '[.events[].workflowExecutionSignaledEventAttributes.signalName // empty] == $ARGS.positional' --args "$@"
}

probe_goes_on() { temporal workflow signal --workflow-id probe --name "$1"; }

# Succeeds if the output of `waymark $2…` satisfies the jq expression $1.
says() {
    local condition=$1 answer
    shift
    answer=$(timeout 90 "$root/waymark" "$@" --json)
    jq . <<<"$answer"
    jq -e "$condition" <<<"$answer" >/dev/null
}

becomes() {
    local tries=60
    until says "$@"; do
        [ $((tries -= 1)) -gt 0 ] || return 1
        sleep 0.5
    done
}

settings_files() {
    printf 'k1:%s\n' "$(head -c 32 /dev/urandom | base64)" >"$work/settings/codec-keys"
    "$root/waymark" token ann --role talk,operate --tokens "$work/tokens/tokens.json" >"$work/token"
    cat >"$work/settings/receivers.yaml" <<YAML
desk:
  command: [sh, -c, "cat >>'$work/announced'; echo >>'$work/announced'"]
YAML
}

agent_files() {
    cat >"$work/agents/greeter.yaml" <<'YAML'
model: scripted:greeter.script.yaml
YAML
    cat >"$work/agents/greeter.script.yaml" <<'YAML'
replies:
  - text: Hello to you.
YAML
    cat >"$work/agents/clerk.yaml" <<'YAML'
model: scripted:clerk.script.yaml
announce: { desk: {} }
tools:
  - use: ask_user
YAML
    cat >"$work/agents/clerk.script.yaml" <<'YAML'
replies:
  - tool_calls: [{ id: tu_1, name: ask_user, input: { question: "Which day?" } }]
  - text: Booked.
  - text: You are welcome.
YAML
    cat >"$work/agents/librarian.yaml" <<YAML
model: scripted:librarian.script.yaml
tools:
  - name: look_up
    description: Looks something up, slowly
    input: { type: object }
    command: [sh, -c, "echo begun >>'$work/begun'; sleep 4; echo looked >>'$work/lookups'; echo looked"]
    safe_to_retry: true
YAML
    cat >"$work/agents/librarian.script.yaml" <<'YAML'
replies:
  - tool_calls: [{ id: tu_1, name: look_up, input: {} }]
  - text: Looked up.
YAML
}

worker_is_ready() {
    local tries=120
    until head -n 1 "$work/logs/worker" |
        jq -e '.ready and .server == "temporal" and (.agents | sort) == ["clerk", "greeter", "librarian"]'; do
        kill -0 "${pids[worker]}" || { tail "$work/logs/worker.err"; return 1; }
        [ $((tries -= 1)) -gt 0 ] || return 1
        sleep 0.5
    done
}

# Succeeds once the page at URL $2 has a line that matches $1.
page_has() {
    local tries=120
    until curl -fsS "${@:3}" "$2" >"$work/page" && grep -E "$1" "$work/page"; do
        [ $((tries -= 1)) -gt 0 ] || { cat "$work/page"; return 1; }
        sleep 0.5
    done
}

question_is_announced() {
    local tries=60
    until grep -F '"http://127.0.0.1:8090' "$work/announced"; do
        [ $((tries -= 1)) -gt 0 ] || { cat "$work/announced"; return 1; }
        sleep 0.5
    done
}

# The server stores the question encrypted, with the key in the file.
question_is_encrypted() {
    temporal workflow show --workflow-id desk --output json >"$work/history"
    refused grep 'Which day' "$work/history"
    refused grep "$(printf 'Which day' | base64)" "$work/history"
}

serve_answers() {
    page_has '"clerk"' http://127.0.0.1:8090/v1/agents --header "Authorization: Bearer $(cat "$work/token")"
    refused curl -fsS http://127.0.0.1:8090/v1/agents
}

serve_ends() {
    kill -TERM "${pids[serve]}"
    local tries=60
    while kill -0 "${pids[serve]}"; do
        [ $((tries -= 1)) -gt 0 ] || return 1
        sleep 0.5
    done
}

lookup_begins() {
    rm -f "$work/begun" "$work/lookups"
    says '.status == "running"' run --agent librarian --thread "$1" --no-wait "Look it up"
    local tries=60
    until [ -e "$work/begun" ]; do
        [ $((tries -= 1)) -gt 0 ] || return 1
        sleep 0.5
    done
}

looked_up_once() {
    says '.status == "complete" and .text == "Looked up."' result "$1" --timeout 60s
    [ "$(cat "$work/lookups")" = looked ]
}

worker_drains() {
    becomes '[.. | .status? // empty] | index("completed")' calls drained
    [ "$(cat "$work/lookups")" = looked ]
    # No process is left, so the signal reached Java itself.
    refused pgrep -x java
}

# --- The exercise -----------------------------------------------------------------------------------------------------

inside() {
    trap 'exit 130' INT TERM
    ip link set lo up
    { cat /etc/hosts; jq -r '.services | keys[] | "127.0.0.1 \(.)"' "$work/compose.json"; } >"$work/hosts"
    chmod 644 "$work/hosts"
    mount --bind "$work/hosts" /etc/hosts
    export TEMPORAL_ADDRESS=127.0.0.1:7233 TEMPORAL_NAMESPACE=default
    PATH=$work/bin:$postgres_bin:$PATH

    step "what is published is on 127.0.0.1 only" only_loopback_is_published
    step "images are pinned, each to one version" images_are_pinned
    step "the server knows every key of the dynamic configuration" dynamic_config_is_known

    step "a cluster of PostgreSQL $("$postgres_bin/postgres" -V | cut -d' ' -f3) is made" init_postgres
    start postgres
    step "postgres is healthy" healthy postgres
    step "postgres wants the password" password_is_asked_for
    step "schema makes the databases" job schema
    step "schema, again, finds nothing to do" job schema

    start temporal
    step "temporal is healthy" healthy temporal
    step "temporal has the version that the compose file names" server_has_the_version
    step "namespace makes the namespace" job namespace
    step "namespace, again, finds nothing to do" job namespace
    step "closed runs are kept for 30 days" namespace_has_the_retention
    start ui
    step "ui is healthy" healthy ui
    step "ui reaches the server" ui_reaches_the_server
    step "an id that is too long for the database is refused" long_id_is_refused

    step "a workflow is started and signalled" probe_starts
    kill_hard temporal
    start temporal
    step "temporal, killed, is healthy again" healthy temporal
    step "the workflow is still there" probe_has first
    step "the workflow goes on" probe_goes_on second
    kill_hard postgres
    start postgres
    step "postgres, killed under the server, is healthy again" healthy postgres
    step "temporal is healthy, with it" healthy temporal
    step "the workflow goes on, still" probe_goes_on third
    kill_hard ui temporal postgres
    start postgres
    step "postgres, killed with everything else, is healthy again" healthy postgres
    step "schema finds nothing to do" job schema
    start temporal
    start ui
    step "temporal is healthy again" healthy temporal
    step "ui is healthy again" healthy ui
    step "nothing of the workflow was lost" probe_has first second third
    [ -z "$server_only" ] || return 0

    settings_files
    agent_files
    export WAYMARK_CODEC_KEYS=file:$work/settings/codec-keys
    start worker
    step "worker is ready, with its agents" worker_is_ready
    step "worker is healthy" healthy worker
    step "run: an agent answers" says '.status == "complete" and .text == "Hello to you."' run --agent greeter "Hello"
    step "run: an agent asks" says '.status == "interrupted" and .question == "Which day?"' run --agent clerk --thread desk "Book"
    step "the question is announced, with a link to the console" question_is_announced
    step "the question is encrypted" question_is_encrypted
    step "worker exports its metrics" page_has '^waymark_turns_total.* 1' http://127.0.0.1:9464/metrics
    start serve
    step "serve is healthy" healthy serve
    step "serve answers with a token, and only then" serve_answers
    step "serve exports how much waits for people" page_has '^waymark_threads_waiting.kind="question".* 1.0' http://127.0.0.1:9465/metrics
    step "serve ends when it is told to" serve_ends
    kill_hard temporal
    start temporal
    step "temporal, killed, is healthy again" healthy temporal
    step "the question is still open" says '[.. | .question? // empty] == ["Which day?"]' pending desk
    step "answer: the thread goes on" says '.status == "complete" and .text == "Booked."' answer desk Friday
    step "say: and on" says '.status == "complete" and .text == "You are welcome."' say desk Thanks
    step "verify: projector and workflow agree" timeout 90 "$root/waymark" verify desk

    step "a lookup begins" lookup_begins midway
    kill_hard temporal
    start temporal
    step "temporal, killed during the lookup, is healthy again" healthy temporal
    step "one lookup was made" looked_up_once midway

    step "another lookup begins" lookup_begins drained
    kill -TERM "${pids[worker]}"
    local status=0
    wait "${pids[worker]}" || status=$?
    # A JVM that SIGTERM ended properly returns 143.
    step "worker, told to stop, exits cleanly ($status)" [ "$status" = 0 -o "$status" = 143 ]
    step "the lookup was finished first, and recorded" worker_drains
    start worker
    step "another worker is healthy" healthy worker
    step "the turn is completed, with one lookup" looked_up_once drained
}

server_only= work=
case ${1:-} in
    '') ;;
    --server-only) server_only=yes ;;
    --inside)
        work=$2 postgres_bin=$3 server_only=$4
        inside
        exit
        ;;
    *) die "unknown: $1. Usage: exercise.sh [--server-only]" ;;
esac

work=$(mktemp -d "${TMPDIR:-/tmp}/waymark-exercise.XXXXXX")
child='' status=1
finish() {
    # The first process of the namespace goes with unshare, and everything in it goes with that.
    [ -z "$child" ] || { kill "$child" && wait "$child"; } 2>/dev/null || true
    [ "$status" = 1 ] && [ -e "$work/logs/step" ] || rm -rf "$work"
}
trap finish EXIT
trap 'status=130; exit 130' INT TERM
prepare
# Even when this script is killed, nothing of it stays.
setpriv --pdeathsig KILL unshare --net --mount --pid --fork --kill-child --mount-proc "$0" --inside "$work" "$postgres_bin" "$server_only" &
child=$!
wait "$child" && status=0 || status=$?
child=''
[ "$status" != 0 ] || echo "The composition works${server_only:+, as far as it was exercised: --server-only}."
exit "$status"
