# Runs one program behind a fence: when its time is up or the worker is gone, the program and its whole session are
# killed. Only these shells are needed for that; the worker may be dead or stopped.
#
#   stdin    the words of the reports, in the order START LATE UNSTARTED TIMEOUT EXIT GONE; one line with the program's
#            arguments, read completely before it starts; then the lifeline: a line sends SIGTERM to the program, the end
#            kills it at once
#   stdout   "LATE" if it does not run. Otherwise "START SESSION", "TIMEOUT" if it is killed at its deadline, then
#            "UNSTARTED" (it could not be run) or "EXIT CODE". "GONE" when nothing of it is left
#   $1       a private directory, with the pipes out and err for the program's output
#   $2       the deadline, in 1/100 s of the clock
#   $3       setsid, or empty: then this is bash, and a process group replaces the session
#   $4       date, or empty: then the clock is /proc/uptime, which cannot be set and which advances during a suspend
#   $5-$6    sleep, rm: the PATH is the program's and may be anything
#   $7-      the program
#
# Other programs of the same user can write into the pipes of these shells. So the words are random. They are only in
# variables, since programs can read environments and command lines. And writing a report can take forever, since a pipe
# may be full: whatever keeps the deadline is started before.
#
# The shells and the program are in different sessions, so that signals to one do not reach the other. Names start with
# waymark_, since assigning to an exported variable of the same name would change it for the program.

waymark_dir=$1 waymark_deadline=$2 waymark_setsid=$3 waymark_date=$4 waymark_sleep=$5 waymark_rm=$6
shift 6

# The program would get those that are in its environment.
unset waymark_start waymark_late waymark_unstarted waymark_timeout waymark_exit waymark_gone
read -r waymark_start waymark_late waymark_unstarted waymark_timeout waymark_exit waymark_gone
# Incomplete arguments: a program that ran on them might do anything.
IFS= read -r waymark_args && [ "$waymark_gone" ] || {
    "$waymark_rm" -rf "$waymark_dir"
    exit
}
exec 4<&0 </dev/null

# Without /proc/uptime: whole seconds, rounded up, since ending too early is safe.
waymark_clock='waymark_now() {
    if [ "$waymark_date" ]; then
        waymark_now=$(($("$waymark_date" +%s) * 100 + 100))
    else
        IFS=". " read -r waymark_now waymark_part waymark_rest </proc/uptime
        waymark_now=$waymark_now$waymark_part
        waymark_now=${waymark_now#0}
        waymark_now=${waymark_now#0}
    fi
}
'

# Becomes the program. Checks the time last, after everything that could delay the start. Removes the shell's own
# variables (PWD and so on). A failed exec is reported by a file, since a descriptor would stay open in the program. The
# reports begin with a line feed, which ends any line that another program has begun.
waymark_inner=$waymark_clock'
waymark_dir=$1 waymark_deadline=$2 waymark_date=$3
shift 3
unset PWD OLDPWD SHLVL _
read -r waymark_start waymark_late waymark_unstarted <&5
exec 5<&-
waymark_now
[ "$waymark_now" -lt "$waymark_deadline" ] || { echo "
$waymark_late" >&7; exit; }
echo "
$waymark_start $$" >&7
trap "echo \"\$waymark_unstarted\" >\"\$waymark_dir/unstarted\"" EXIT
command -v shopt >/dev/null && shopt -s execfail
exec "$@" 7>&-
exit 127
'
eval "$waymark_clock"

# Reads the state, the parent, the group and the session of a process from /proc. With the shell's own means: another
# program could write into the pipe of a command substitution, and these numbers are of processes to be killed. All that
# follows the last parenthesis is from the kernel, however the process is called.
waymark_stat() {
    waymark_line=''
    while IFS= read -r waymark_part || [ "$waymark_part" ]; do
        waymark_line=$waymark_line$waymark_part
    done 2>/dev/null <"/proc/$1/stat"
    set -- ${waymark_line##*) }
    [ $# -ge 20 ] || return
    waymark_state=$1 waymark_parent=$2 waymark_group=$3 waymark_of=$4
    case $waymark_state in
    Z | X | x) return 1 ;;
    esac
}

# Finds the live process groups of the session.
waymark_groups() {
    waymark_groups=''
    for waymark_pid in /proc/[0-9]*; do
        if waymark_stat "${waymark_pid#/proc/}" && [ "$waymark_of" = "$waymark_session" ]; then
            waymark_groups="$waymark_groups $waymark_group"
        fi
    done
    [ "$waymark_groups" ]
}

# Kills processes that moved to another session and still descend from this one.
waymark_strays() {
    set --
    for waymark_pid in /proc/[0-9]*; do
        waymark_pid=${waymark_pid#/proc/}
        ! waymark_stat "$waymark_pid" || set -- "$@" "$waymark_pid" "$waymark_parent" "$waymark_of"
    done
    waymark_family=' ' waymark_found='' waymark_more=1
    while [ "$waymark_more" ]; do
        waymark_more='' waymark_pid='' waymark_parent=''
        for waymark_word do
            if [ ! "$waymark_pid" ]; then
                waymark_pid=$waymark_word
            elif [ ! "$waymark_parent" ]; then
                waymark_parent=$waymark_word
            else
                case $waymark_family in
                *" $waymark_pid "*) ;;
                *)
                    if [ "$waymark_word" = "$waymark_session" ]; then
                        waymark_family="$waymark_family$waymark_pid " waymark_more=1
                    else
                        case $waymark_family in
                        *" $waymark_parent "*)
                            waymark_family="$waymark_family$waymark_pid " waymark_more=1
                            waymark_found="$waymark_found $waymark_pid"
                            ;;
                        esac
                    fi
                    ;;
                esac
                waymark_pid='' waymark_parent=''
            fi
        done
    done
    for waymark_pid in $waymark_found; do
        kill -KILL "$waymark_pid"
    done
}

# Signals everything that is left. Signals whole groups, so that a forking process does not escape, and only groups just
# seen in the session, so that no reused number is hit. Several rounds find groups that were being created.
waymark_signal() {
    if [ ! "$waymark_setsid" ] || [ ! -r /proc/self/stat ]; then
        kill -s "$1" -- "-$waymark_session"
        return
    fi
    waymark_strays
    waymark_round=0
    while waymark_groups && [ "$waymark_round" -lt 20 ]; do
        for waymark_group in $waymark_groups; do
            [ "$waymark_group" -gt 1 ] && kill -s "$1" -- "-$waymark_group"
        done
        [ "$1" = KILL ] || return 0
        waymark_round=$((waymark_round + 1))
    done
}

# Whether the program has left processes behind. Without /proc this is not known, and they are killed anyway.
waymark_remains() {
    [ ! "$waymark_setsid" ] || [ ! -r /proc/self/stat ] || waymark_groups
}

# Ends all shells and their sleeps, which share one process group. The worker removes the directory, unless it is gone.
waymark_end() {
    echo "$waymark_gone" || "$waymark_rm" -rf "$waymark_dir"
    kill -KILL 0
}

waymark_lifeline() {
    # The reader of stdout may be gone.
    trap : PIPE
    if read -r waymark_word <&4; then
        waymark_signal TERM
        "$waymark_sleep" 1
    else
        # The worker is gone, but its end of the reports may be open for a moment longer.
        "$waymark_rm" -rf "$waymark_dir" &
    fi
    waymark_signal KILL
    wait
    waymark_end
}

waymark_timer() {
    trap : PIPE
    # A sleep stops while the machine is suspended, but the deadline does not: short sleeps, so that the clock is checked
    # first after a thaw.
    while waymark_now && [ "$waymark_now" -lt "$waymark_deadline" ]; do
        waymark_left=$((waymark_deadline - waymark_now))
        [ "$waymark_left" -lt 200 ] || waymark_left=200
        waymark_part=$((100 + waymark_left % 100))
        # POSIX supports whole seconds only.
        "$waymark_sleep" "$((waymark_left / 100)).${waymark_part#1}" || "$waymark_sleep" 1
    done
    waymark_grace=1
    if [ $((waymark_now - waymark_deadline)) -gt 200 ]; then
        # Just thawed, together with the program, which must not continue: another execution may have replaced it.
        kill -s KILL -- "-$waymark_session"
        waymark_grace=0
    fi
    {
        "$waymark_sleep" "$waymark_grace"
        waymark_signal KILL
        # The end of the program ends the other shells, unless they were stopped or cannot write.
        "$waymark_sleep" 1
        kill -KILL 0
    } &
    echo "$waymark_timeout"
    [ "$waymark_grace" = 0 ] || waymark_signal TERM
}

# Opens the pipes in a subshell, since only the program may hold them open; for reading and writing, since opening for
# one only could block. Runs in the foreground, since a background program would ignore SIGINT.
waymark_run() {
    exec 6<<EOF
$waymark_args
EOF
    [ "$waymark_setsid" ] || set -m
    (
        exec 7>&1 <&6 6<&- 4<&- 1<>"$waymark_dir/out" 2<>"$waymark_dir/err"
        set -- /bin/sh -c "$waymark_inner" launcher "$waymark_dir" "$waymark_deadline" "$waymark_date" "$@"
        [ ! "$waymark_setsid" ] || set -- "$waymark_setsid" "$@"
        exec "$@"
    ) 5<<EOF
$waymark_start $waymark_late $waymark_unstarted
EOF
    echo "
$waymark_exit $?"
}

# Reads the next report of the program's shells, which is one of these words. Ignores what other programs have written.
waymark_next() {
    while read -r waymark_word waymark_number; do
        case $waymark_word in
        "") ;;
        "$1" | "$2" | "$3") return ;;
        esac
    done
    waymark_word=''
}

waymark_watch() {
    trap : PIPE
    # Names of processes may have characters that are invalid in another locale. The program keeps its own.
    LC_ALL=C
    # In KiB: a line of another program may have no end.
    ulimit -d 100000
    waymark_next "$waymark_start" "$waymark_late" "$waymark_exit"
    if [ "$waymark_word" = "$waymark_late" ]; then
        echo "$waymark_late"
        waymark_end
    fi
    # Its shell could not be started, or another program took the report from the pipe. The worker kills what is left.
    [ "$waymark_word" = "$waymark_start" ] || kill -KILL 0
    waymark_session=$waymark_number
    waymark_lifeline &
    waymark_timer &
    echo "$waymark_start $waymark_session"
    waymark_next "$waymark_exit"
    case $waymark_number in
    126 | 127)
        waymark_reason=''
        # Other programs can create the file, but not with this word.
        read -r waymark_reason <"$waymark_dir/unstarted"
        [ "$waymark_reason" != "$waymark_unstarted" ] || waymark_word=$waymark_unstarted
        ;;
    esac
    # Without the first shell, the lifeline is closed, which ends the program: its exit code is not its own.
    if [ "$waymark_word" ] && kill -0 $$; then
        echo "$waymark_word $waymark_number"
    fi
    if waymark_remains; then
        # They may still write output. When it is complete, the worker closes the lifeline.
        "$waymark_sleep" 1
        waymark_signal KILL
    fi
    waymark_end
}

waymark_run "$@" | waymark_watch
